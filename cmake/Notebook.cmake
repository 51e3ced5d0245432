# The Jupyter kernel and the page. Both are optional: a build without what they stand on has tsr alone, which says so when it is asked.

# tsr-kernel: Jupyter's messages by xeus.
find_package(xeus QUIET)
tessera_sources(kernel_sources repl/kernel/*.cpp)
if(xeus_FOUND AND kernel_sources)
  add_executable(tsr-kernel ${kernel_sources})
  target_compile_definitions(tsr-kernel PRIVATE TESSERA_VERSION="${PROJECT_VERSION}")
  target_link_libraries(tsr-kernel PRIVATE tessera_notebook xeus)
  target_compile_options(tsr-kernel PRIVATE $<$<CONFIG:Release>:-Os>)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_link_options(tsr-kernel PRIVATE -s)
  endif()
endif()

# tsr-page: a web server by Boost.Beast; the page's own files and CodeMirror's are embedded (cmake/embed_files.cmake).
find_path(BEAST_INCLUDE boost/beast/websocket.hpp)
find_path(CODEMIRROR_FOLDER codemirror.js PATHS /usr/share/javascript/codemirror/lib /usr/share/javascript/codemirror NO_DEFAULT_PATH)
tessera_sources(page_sources repl/page/*.cpp)
if(BEAST_INCLUDE AND CODEMIRROR_FOLDER AND page_sources)
  add_executable(tsr-page ${page_sources})
  target_compile_definitions(tsr-page PRIVATE TESSERA_VERSION="${PROJECT_VERSION}")
  target_include_directories(tsr-page SYSTEM PRIVATE ${BEAST_INCLUDE})
  target_link_libraries(tsr-page PRIVATE tessera_notebook Threads::Threads)
  target_compile_options(tsr-page PRIVATE $<$<CONFIG:Release>:-Os>)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_link_options(tsr-page PRIVATE -s)
  endif()
endif()
