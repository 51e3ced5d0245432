# The Jupyter kernel and the page. Both are optional: a build without what they stand on has tsr alone, which says so when it is asked.

# tsr-kernel: Jupyter's messages over ZeroMQ. SIGINT and standard input's rules are those of the prompt's terminal.
find_path(ZMQ_INCLUDE zmq.h)
find_library(ZMQ_LIBRARY zmq)
tessera_sources(kernel_sources repl/kernel/*.cpp)
if(ZMQ_INCLUDE AND ZMQ_LIBRARY AND kernel_sources)
  add_executable(tsr-kernel ${kernel_sources})
  target_compile_definitions(tsr-kernel PRIVATE TESSERA_VERSION="${PROJECT_VERSION}")
  target_include_directories(tsr-kernel SYSTEM PRIVATE ${ZMQ_INCLUDE})
  target_link_libraries(tsr-kernel PRIVATE tessera_notebook tessera_prompt ${ZMQ_LIBRARY} Threads::Threads)
  target_compile_options(tsr-kernel PRIVATE ${TESSERA_SMALL_IN_RELEASE})
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_link_options(tsr-kernel PRIVATE -s)
  endif()
endif()

# tessera_page: what of the page knows no socket, a library for the unit tests' sake.
set(page_parts)
foreach(part cells document drafts examples files guard json_spans json_text line_ends log notebook_file notebook_outputs utf16)
  list(APPEND page_parts ${PROJECT_SOURCE_DIR}/repl/page/${part}.cpp)
endforeach()
tessera_library(tessera_page ${page_parts})
target_link_libraries(tessera_page PUBLIC tessera_notebook)
target_include_directories(tessera_page SYSTEM PUBLIC ${NLOHMANN_INCLUDE})
target_compile_options(tessera_page PRIVATE ${TESSERA_SMALL_IN_RELEASE})

# tsr-page: a web server by Boost.Beast; the page's own files, CodeMirror's and the examples are embedded.
find_path(BEAST_INCLUDE boost/beast/websocket.hpp)
find_path(CODEMIRROR_ROOT lib/codemirror.js PATHS /usr/share/javascript/codemirror NO_DEFAULT_PATH)
add_executable(embed_files EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/embed_files.cpp)
target_compile_features(embed_files PRIVATE cxx_std_20)
target_include_directories(embed_files SYSTEM PRIVATE ${ZLIB_INCLUDE} ${LZMA_INCLUDE})
target_link_libraries(embed_files PRIVATE ${ZLIB_LIBRARY} ${LZMA_LIBRARY})

# `out`: a generated source with each of the files "name|path" (repl/page/assets.h).
function(tessera_embed_files out)
  set(generated ${CMAKE_BINARY_DIR}/generated/page_assets.cpp)
  set(list_file ${CMAKE_BINARY_DIR}/generated/page_assets.txt)
  string(REPLACE ";" "\n" lines "${ARGN}")
  file(CONFIGURE OUTPUT ${list_file} CONTENT "${lines}\n" @ONLY)  # touched only when the list changes
  list(TRANSFORM ARGN REPLACE "^[^|]*\\|" "" OUTPUT_VARIABLE paths)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND embed_files ${list_file} ${generated}
    DEPENDS ${paths} ${list_file} embed_files
    COMMENT "Embedding the page"
    VERBATIM)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()

set(page_files)
tessera_sources(web_files repl/page/web/*)
foreach(file ${web_files})
  get_filename_component(name ${file} NAME)
  list(APPEND page_files "${name}|${file}")
endforeach()
foreach(name lib/codemirror.js lib/codemirror.css mode/python/python.js addon/hint/show-hint.js addon/hint/show-hint.css
        addon/edit/matchbrackets.js addon/edit/closebrackets.js addon/comment/comment.js addon/search/search.js
        addon/search/searchcursor.js addon/search/jump-to-line.js addon/dialog/dialog.js addon/dialog/dialog.css
        addon/selection/active-line.js addon/selection/mark-selection.js addon/display/placeholder.js)
  if(EXISTS ${CODEMIRROR_ROOT}/${name})
    list(APPEND page_files "codemirror/${name}|${CODEMIRROR_ROOT}/${name}")
  endif()
endforeach()
# Programs that look for a file beside them are none to be opened from inside of another one.
tessera_sources(example_files scripts/examples/*.tsr scripts/examples/notebooks/*.ipynb)
foreach(file ${example_files})
  file(STRINGS ${file} beside REGEX "__file__" LIMIT_COUNT 1)
  if(NOT beside)
    get_filename_component(name ${file} NAME)
    list(APPEND page_files "examples/${name}|${file}")
  endif()
endforeach()

tessera_sources(page_sources repl/page/*.cpp)
list(REMOVE_ITEM page_sources ${page_parts})
if(BEAST_INCLUDE AND CODEMIRROR_ROOT AND page_sources)
  tessera_embed_files(page_assets ${page_files})
  add_executable(tsr-page ${page_sources} ${page_assets})
  target_compile_definitions(tsr-page PRIVATE TESSERA_VERSION="${PROJECT_VERSION}")
  target_include_directories(tsr-page SYSTEM PRIVATE ${BEAST_INCLUDE} ${ZLIB_INCLUDE})
  target_link_libraries(tsr-page PRIVATE tessera_page tessera_notebook tessera_prompt ${ZLIB_LIBRARY} Threads::Threads)
  target_compile_options(tsr-page PRIVATE ${TESSERA_SMALL_IN_RELEASE})
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_link_options(tsr-page PRIVATE -s)
  endif()
endif()
