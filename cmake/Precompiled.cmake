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
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
list(JOIN TESSERA_COMPILE_OPTIONS " " options)
set(TESSERA_COMPILE "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} -fvisibility=hidden -fvisibility-inlines-hidden ${options} -std=c++20")
# The arguments of cmake that compile a form, with options beside those of all sources (cmake/precompile_form.cmake).
function(tessera_precompile out header form options includes)
  set(${out} -D HEADER=${header} -D FORM=${form} -D "COMPILE=${TESSERA_COMPILE} ${options}" -D "INCLUDES=${includes}"
             -P ${PROJECT_SOURCE_DIR}/cmake/precompile_form.cmake PARENT_SCOPE)
endfunction()
foreach(optimise "" ${TESSERA_SMALL})
  tessera_precompile(arguments ${headers} as_compiled${optimise} "${optimise}" "")
  execute_process(COMMAND ${CMAKE_COMMAND} ${arguments} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
set(TESSERA_STANDARD_HEADERS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include tessera_standard_headers.h>")
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-I${CMAKE_BINARY_DIR}/precompiled> $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess> "${TESSERA_STANDARD_HEADERS}")

# A form for some targets alone, which only they wait for; ARGN: what it is made of beside the standard headers.
function(tessera_precompile_for targets header form options includes)
  tessera_precompile(arguments ${header} ${form} "${options}" "${includes}")
  list(GET targets 0 first)
  add_custom_command(OUTPUT ${header}.gch/${form} COMMAND ${CMAKE_COMMAND} ${arguments} DEPENDS ${header} ${PROJECT_SOURCE_DIR}/cmake/standard_headers.inc
                     ${PROJECT_SOURCE_DIR}/cmake/precompile_form.cmake ${ARGN} COMMENT "Headers of ${first}" VERBATIM)
  add_custom_target(${first}_headers DEPENDS ${header}.gch/${form})
  foreach(target ${targets})
    add_dependencies(${target} ${first}_headers)
  endforeach()
endfunction()
