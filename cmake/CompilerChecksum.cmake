# compiler_checksum.h: a number made of the sources that decide what a text is compiled to. Files of compiled code have it in their heads
# (lang/objects/code_cache.cpp), so that none is read by a program with another compiler. Included it gives the command that makes the
# header; run with -P it makes it.
if(CMAKE_SCRIPT_MODE_FILE)
  set(sums)
  file(GLOB sources ${SOURCE}/lang/syntax/* ${SOURCE}/lang/compiler/* ${SOURCE}/lang/types/*)
  foreach(source ${sources})
    file(SHA256 ${source} sum)
    string(APPEND sums ${sum})
  endforeach()
  string(SHA256 sum "${sums}")
  string(SUBSTRING ${sum} 0 16 sum)
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\ninline constexpr unsigned long long kCompilerChecksum = 0x${sum};\n" @ONLY)
  return()
endif()

file(GLOB compiler_sources CONFIGURE_DEPENDS lang/syntax/* lang/compiler/* lang/types/*)
set(TESSERA_COMPILER_CHECKSUM ${CMAKE_BINARY_DIR}/generated/compiler_checksum.h)
add_custom_command(
  OUTPUT ${TESSERA_COMPILER_CHECKSUM}
  COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D OUTPUT=${TESSERA_COMPILER_CHECKSUM} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${compiler_sources} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Checksum of the compiler"
  VERBATIM)
# Only this file reads it.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/lang/objects/code_cache.cpp APPEND PROPERTY INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}/generated)
