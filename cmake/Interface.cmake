# tessera_interface.h: a function that adds up what the program and a plugin must agree on, the layouts of calls and tables (runtime/device/layout.h).
# A plugin of another number is refused. Included it gives TESSERA_INTERFACE_HEADER and the command that makes it.
add_executable(interface_layouts EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/interface_layouts.cpp)
target_compile_features(interface_layouts PRIVATE cxx_std_20)

file(GLOB_RECURSE interface_headers CONFIGURE_DEPENDS runtime/*.h)
set(TESSERA_INTERFACE_HEADER ${CMAKE_BINARY_DIR}/generated/tessera_interface.h)
add_custom_command(
  OUTPUT ${TESSERA_INTERFACE_HEADER}
  COMMAND interface_layouts ${PROJECT_SOURCE_DIR} ${TESSERA_INTERFACE_HEADER}
  DEPENDS ${interface_headers} interface_layouts
  COMMENT "Interface of plugins")
# Only these two files read it.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/runtime/device/plugin_loader.cpp ${PROJECT_SOURCE_DIR}/backends/cuda/plugin.cpp
  APPEND PROPERTY INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}/generated)
