# Every source begins with cmake/standard_headers.inc, which g++ reads in a compiled form: half of what a small file took (docs/building.md).
# It is compiled while the build is configured, so no target has to wait for it. Where the compiler's own options do not fit a form (an
# instruction set for one file), g++ reads the text. It would take one of another -O as well, and g++ 12 has crashed on that: such files define
# TESSERA_STANDARD_HEADERS_AS_TEXT (cmake/FileOptions.cmake).
option(TESSERA_PRECOMPILED "Compile the headers of the standard library once" ${PROJECT_IS_TOP_LEVEL})
if(NOT TESSERA_PRECOMPILED OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  return()
endif()

# A folder FILE.gch holds several forms, and g++ takes the first that fits. The header is found along the path of includes: clang, which
# reads the same commands for an editor, then sees the text alone.
set(headers ${CMAKE_BINARY_DIR}/precompiled/tessera_standard_headers.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/standard_headers.inc)
configure_file(${PROJECT_SOURCE_DIR}/cmake/standard_headers.inc ${headers} COPYONLY)
file(REMOVE_RECURSE ${headers}.gch)
file(MAKE_DIRECTORY ${headers}.gch)
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
foreach(optimise "" ${TESSERA_SMALL})
  set(compile ${CMAKE_CXX_COMPILER} ${flags} -fvisibility=hidden -fvisibility-inlines-hidden ${TESSERA_COMPILE_OPTIONS} -std=c++20 ${optimise}
              -x c++-header ${headers})
  execute_process(COMMAND ${compile} -o ${headers}.gch/as_compiled${optimise} COMMAND_ERROR_IS_FATAL ANY)
  # The form has this tree's path in it. The compiler's cache, which is to serve all trees, looks at the text and the options instead.
  execute_process(COMMAND ${compile} -E -P OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 sum "${CMAKE_CXX_COMPILER_VERSION} ${TESSERA_COMPILE_OPTIONS} ${flags} ${optimise} ${text}")
  file(WRITE ${headers}.gch/as_compiled${optimise}.sum ${sum})
endforeach()
set(TESSERA_STANDARD_HEADERS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include tessera_standard_headers.h>")
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-I${CMAKE_BINARY_DIR}/precompiled> $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess> "${TESSERA_STANDARD_HEADERS}")
