# Turns the .tsr files of stdlib/ into one generated .cpp: the table that stdlib/embedded.h declares.
# The generated file is rebuilt when one of the scripts, the list of them or the generator changes.
find_path(ZLIB_INCLUDE zlib.h REQUIRED)
find_library(ZLIB_LIBRARY NAMES libz.a z REQUIRED)  # the archive, where there is one: the program then needs no libz
find_path(LZMA_INCLUDE lzma.h REQUIRED)
find_library(LZMA_LIBRARY NAMES liblzma.a lzma REQUIRED)
foreach(tool embed_modules embed_text)
  add_executable(${tool} EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/${tool}.cpp)
  target_compile_features(${tool} PRIVATE cxx_std_20)
  target_include_directories(${tool} SYSTEM PRIVATE ${ZLIB_INCLUDE} ${LZMA_INCLUDE})
  target_link_libraries(${tool} PRIVATE ${ZLIB_LIBRARY} ${LZMA_LIBRARY})
endforeach()

function(tessera_embed out root)
  set(generated ${CMAKE_BINARY_DIR}/generated/embedded_modules.cpp)
  set(list_file ${CMAKE_BINARY_DIR}/generated/embedded_modules.txt)
  set(scripts ${ARGN})
  list(SORT scripts)
  string(REPLACE ";" "\n" lines "${scripts}")
  file(CONFIGURE OUTPUT ${list_file} CONTENT "${lines}\n" @ONLY)  # touched only when the list changes
  add_custom_command(
    OUTPUT ${generated}
    COMMAND embed_modules ${root} ${list_file} ${generated}
    DEPENDS ${scripts} ${list_file} embed_modules
    COMMENT "Embedding stdlib/*.tsr"
    VERBATIM)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()

# One text as an .inc file of the build's generated/ (cmake/embed_text.cpp): `out` is its path.
function(tessera_embed_text out file)
  get_filename_component(name ${file} NAME_WE)
  set(generated ${CMAKE_BINARY_DIR}/generated/${name}.inc)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND embed_text ${file} ${generated}
    DEPENDS ${file} embed_text
    COMMENT "Embedding ${name}"
    VERBATIM)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
