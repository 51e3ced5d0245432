# Turns the .tsr files of stdlib/ into one generated .cpp: the table that stdlib/embedded.h declares.
# The generated file is rebuilt when one of the scripts, the list of them or the generator changes.
function(tessera_embed out root)
  set(generated ${CMAKE_BINARY_DIR}/generated/embedded_modules.cpp)
  set(list_file ${CMAKE_BINARY_DIR}/generated/embedded_modules.txt)
  set(scripts ${ARGN})
  list(SORT scripts)
  string(REPLACE ";" "\n" lines "${scripts}")
  file(CONFIGURE OUTPUT ${list_file} CONTENT "${lines}\n" @ONLY)  # touched only when the list changes
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DLIST=${list_file} -DOUT=${generated}
            -P ${PROJECT_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    DEPENDS ${scripts} ${list_file} ${PROJECT_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    COMMENT "Embedding stdlib/*.tsr"
    VERBATIM)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
