# What is installed, and the packages made of it.
#
#   cmake --install build/release --prefix DIR      everything that was built
#   cpack --config build/release/CPackConfig.cmake -G "DEB;TGZ"
#
# A host's CMakeLists.txt asks for what it wants:
#   find_package(Tessera REQUIRED)                        # COMPONENTS shared, static, tensor
#   target_link_libraries(host PRIVATE Tessera::tessera)  # the shared library where there is one, else the static one
#   target_link_libraries(host PRIVATE Tessera::static)
#   target_link_libraries(host PRIVATE Tessera::tensor)   # the tensor library alone, <tessera/tensor.h>
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# --- libtessera.so: the C interface and nothing else can be seen of it.
add_library(tessera_shared SHARED ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
set_target_properties(tessera_shared PROPERTIES
  OUTPUT_NAME tessera EXPORT_NAME shared VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(tessera_shared PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,tessera> tessera_lang
  $<LINK_LIBRARY:WHOLE_ARCHIVE,tessera_runtime>)
# Never unloaded: its threads sleep, or work, until the process ends.
target_link_options(tessera_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/embed/symbols.map -Wl,-z,nodelete)
set_target_properties(tessera_shared PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/embed/symbols.map)
if(CMAKE_BUILD_TYPE STREQUAL Release)
  target_link_options(tessera_shared PRIVATE -s)
endif()
target_include_directories(tessera_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/embed/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tessera_shared INTERFACE cxx_std_17)
add_library(Tessera::shared ALIAS tessera_shared)

if(NOT TESSERA_INSTALL)
  return()
endif()

# --- what is installed, in the parts that packages are made of: program, library, development.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
if(TARGET tsr)
  install(TARGETS tsr RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  install(FILES docs/tsr.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES scripts/completions/tsr.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME tsr COMPONENT program)
  install(FILES scripts/completions/_tsr DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
  install(FILES scripts/completions/tsr.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT program)
endif()
foreach(program tsr-kernel tsr-page)  # optional (Notebook.cmake), and looked for beside tsr
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program OPTIONAL)
  endif()
endforeach()
if(TARGET tessera_cuda)  # looked for beside the program
  # It has to be built by name (`plugins`): a build without it is installed without it.
  install(TARGETS tessera_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program OPTIONAL)
endif()
# A build of tsr alone has no libraries: each part that is not there is left out, and find_package says so.
install(TARGETS tessera_shared EXPORT TesseraSharedTargets OPTIONAL
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS tessera tessera_lang EXPORT TesseraStaticTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(TARGETS tessera_runtime EXPORT TesseraTensorTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY embed/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
# The tensor library's own headers name each other as here ("runtime/tensor.h"), below a folder that only it is told of.
install(DIRECTORY runtime backends DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera-tensor COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "cpu" EXCLUDE PATTERN "ref" EXCLUDE PATTERN "cuda" EXCLUDE)
foreach(part Shared Static Tensor)
  install(EXPORT Tessera${part}Targets NAMESPACE Tessera:: DESTINATION ${package_folder} COMPONENT development)
endforeach()
configure_package_config_file(cmake/TesseraConfig.cmake.in ${CMAKE_BINARY_DIR}/TesseraConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TesseraConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TesseraConfig.cmake ${CMAKE_BINARY_DIR}/TesseraConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT development)
configure_file(cmake/tessera.pc.in ${CMAKE_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tessera COMPONENT program)

# --- packages: one Debian package and one tarball with all of it; the wheel is scripts/wheel.
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR Tessera)
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "small embeddable tensor language that runs PyTorch's programs")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES OFF)  # linked with -s
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas0-pthread")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcairo2, libturbojpeg0")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)

# --- `hosts`: the programs that show how to embed, each scripts/hosts/NAME.cpp or NAME.c as host_NAME, linked as a host would.
add_custom_target(hosts)
tessera_sources(host_sources scripts/hosts/*.cpp)
foreach(source IN LISTS host_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(host_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(host_${name} PRIVATE tessera_shared Threads::Threads)
  add_dependencies(hosts host_${name})
endforeach()
