# `cmake --install build/release --prefix DIR`, and then in a host's CMakeLists.txt:
#   find_package(Tessera REQUIRED)
#   target_link_libraries(host PRIVATE Tessera::tessera)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tessera tessera_lang tessera_runtime EXPORT TesseraTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tsr)
  install(TARGETS tsr RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET tessera_cuda)  # looked for beside the program
  # It has to be built by name (`plugins`): a build of tsr alone is installed without it.
  install(TARGETS tessera_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
endif()
install(DIRECTORY embed/include/ DESTINATION include)
install(DIRECTORY runtime backends DESTINATION include/tessera FILES_MATCHING
  PATTERN "*.h" PATTERN "*.def" PATTERN "cpu" EXCLUDE PATTERN "ref" EXCLUDE PATTERN "cuda" EXCLUDE)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${package_folder})
file(WRITE ${CMAKE_BINARY_DIR}/TesseraConfig.cmake
  "include(CMakeFindDependencyMacro)\nfind_dependency(Threads)\n"
  "include(\${CMAKE_CURRENT_LIST_DIR}/TesseraTargets.cmake)\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TesseraConfig.cmake ${CMAKE_BINARY_DIR}/TesseraConfigVersion.cmake
  DESTINATION ${package_folder})

# `hosts`: the programs that show how to embed, each scripts/hosts/NAME.cpp as host_NAME.
add_custom_target(hosts)
tessera_sources(host_sources scripts/hosts/*.cpp)
foreach(source IN LISTS host_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(host_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(host_${name} PRIVATE Tessera::tessera)
  add_dependencies(hosts host_${name})
endforeach()
