# tessera_interface.h: a number for what the program and a plugin must agree on: the text of all headers and op tables
# of the runtime (layouts of calls, numbers of ops and dtypes). Whatever is edited there, a plugin built before is refused.
# Run with -P it writes the header; included it gives TESSERA_INTERFACE_HEADER and the command that makes it.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE headers ${SOURCE}/runtime/*.h ${SOURCE}/runtime/*.def)
  list(SORT headers)
  set(all "")
  foreach(header ${headers})
    file(SHA256 ${header} one)
    string(APPEND all ${one})
  endforeach()
  string(SHA256 all "${all}")
  string(SUBSTRING ${all} 0 16 short)
  file(WRITE ${OUTPUT} "// Made by cmake/Interface.cmake.\n#pragma once\n#define TESSERA_INTERFACE 0x${short}ull\n")
  return()
endif()

file(GLOB_RECURSE interface_headers CONFIGURE_DEPENDS runtime/*.h runtime/*.def)
set(TESSERA_INTERFACE_HEADER ${CMAKE_BINARY_DIR}/generated/tessera_interface.h)
add_custom_command(
  OUTPUT ${TESSERA_INTERFACE_HEADER}
  COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D OUTPUT=${TESSERA_INTERFACE_HEADER}
          -P ${PROJECT_SOURCE_DIR}/cmake/Interface.cmake
  DEPENDS ${interface_headers} ${PROJECT_SOURCE_DIR}/cmake/Interface.cmake
  COMMENT "Interface of plugins")
# Only these two files read it.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/runtime/device/plugin_loader.cpp ${PROJECT_SOURCE_DIR}/backends/cuda/plugin.cpp
  APPEND PROPERTY INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}/generated)
