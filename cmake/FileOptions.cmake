# Options of single source files. A source that is compiled in another way than the rest says so near its head, with the reason:
#   // compile: small (runs after an error)
#   // compile: vectors, quiet-math (one loop over all elements)
# The table below has the options of each word. An unknown word, or a line without a reason, ends the configuration.
#
# Run with -P, the file writes the lines of all sources to OUTPUT. Each build does that when a source was edited (0.1 s), and build.ninja
# depends on OUTPUT: CMake configures again when a line was added, changed or removed, and after no other edit.
function(tessera_file_words root files lines)
  file(GLOB_RECURSE found ${root}/lang/*.cpp ${root}/runtime/*.cpp ${root}/backends/*.cpp ${root}/stdlib/*.cpp ${root}/embed/*.cpp ${root}/repl/*.cpp)
  set(${files} "${found}" PARENT_SCOPE)
  set(all)
  foreach(file ${found})
    file(STRINGS ${file} own REGEX "^// compile:|hwy/foreach_target.h")
    if(own)
      list(TRANSFORM own PREPEND "${file}|")
      list(APPEND all "${own}")
    endif()
  endforeach()
  set(${lines} "${all}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  tessera_file_words(${SOURCE} files lines)
  list(JOIN lines "\n" lines)
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${lines}\n" @ONLY)  # written only if it differs
  string(REPLACE " " "\\ " files "${files}")
  string(REPLACE ";" " \\\n  " files "${files}")
  file(WRITE ${OUTPUT}.d "${OUTPUT}: ${files}\n")
  return()
endif()

# Options of one source file. A file that is optimised in another way than the rest reads the text of the standard headers
# (cmake/Precompiled.cmake).
string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags)
string(REGEX MATCH "-O[0-9sg]" TESSERA_OPTIMISE "${${flags}}")
function(tessera_file_options file)
  if(ARGN MATCHES "-O[0-3]" AND NOT CMAKE_MATCH_0 STREQUAL TESSERA_OPTIMISE AND NOT CMAKE_MATCH_0 STREQUAL TESSERA_SMALL)
    list(APPEND ARGN -DTESSERA_STANDARD_HEADERS_AS_TEXT)
  endif()
  set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS ${ARGN})
endfunction()

# A word and its options, for one compiler (GNU, Clang) or for ANY.
set(TESSERA_FILE_WORDS)
function(tessera_file_word word compiler)
  set(TESSERA_FILE_WORDS ${TESSERA_FILE_WORDS} ${word} PARENT_SCOPE)
  if(NOT compiler STREQUAL ANY AND NOT compiler STREQUAL CMAKE_CXX_COMPILER_ID)
    set(ARGN)
  endif()
  set(TESSERA_FILE_WORD_${word} "${ARGN}" PARENT_SCOPE)
endfunction()
# For size: code that runs once, after an error, or seldom in a program's time. The kernels that an op calls stay as they are.
tessera_file_word(small ANY ${TESSERA_SMALL})
# Neither in every step of a program nor rare: functions that are declared inline are called unless they are very short.
tessera_file_word(few-inlines ANY ${TESSERA_FEW_INLINES})
# For size: nothing that the file calls throws. (A precompiled header is of code with exceptions.)
tessera_file_word(no-exceptions ANY -fno-exceptions -DTESSERA_STANDARD_HEADERS_AS_TEXT)
# For speed, in a target that is compiled for size.
tessera_file_word(speed ANY -O2)
# Plain loops over elements that the compiler makes vectors of: at -O2 g++ does so only if it needs no check at run time. A loop of a few
# instructions that crosses the end of a cache line takes twice as long, so there they begin at half a line.
tessera_file_word(vectors ANY ${TESSERA_VECTORS})
# g++ 12 loses -fvect-cost-model=dynamic in functions that have an instruction set of their own if there is a precompiled header. Kernels that are
# compiled for several instruction sets have loops of a fixed length instead (backends/cpu/pointwise_int-inl.h).
tessera_file_word(dynamic-vectors GNU -fvect-cost-model=dynamic -falign-loops=32)
# Loops with functions of the C library: without errno and floating-point traps they become vectors too.
tessera_file_word(quiet-math GNU -fno-math-errno -fno-trapping-math)
# Many templates, which take long to optimise: always, or in a sanitized build alone.
tessera_file_word(templates ANY ${TESSERA_GRAMMAR_OPTIMISE})
set(options)
if(TESSERA_SANITIZE)
  set(options ${TESSERA_GRAMMAR_OPTIMISE})
endif()
tessera_file_word(sanitized-templates ANY ${options})
# Constants that ask whether a function's address is null: under these sanitizers g++ does not accept the question in a constant expression
# (GCC bug 71962).
set(options)
if(TESSERA_SANITIZE)
  set(options -fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
endif()
tessera_file_word(constant-addresses GNU ${options})
# Templates of another library of which half would be looks for null pointers and for alignment, in a sanitized build.
set(options)
if(TESSERA_SANITIZE)
  set(options -fno-sanitize=null,alignment)
endif()
tessera_file_word(foreign-templates ANY ${options})
# The opcode loop: one jump for each opcode, and every target of a jump at the beginning of half a cache line (docs/building.md).
tessera_file_word(opcode-loop GNU -fno-gcse -fno-crossjumping -falign-labels=32)
# No line says this: files that Highway compiles for every instruction set are known by their #include.
tessera_file_word(every-instruction-set ANY ${TESSERA_UNWIND_THROWERS} ${TESSERA_SANITIZED_LANES})

# Options of one file by the line that was found in it.
function(tessera_apply_file_words file line)
  if(line MATCHES "hwy/foreach_target.h")
    set(words every-instruction-set)
  elseif(line MATCHES "^// compile: ([a-z-]+(, [a-z-]+)*) \\(.+\\)$")
    string(REPLACE ", " ";" words ${CMAKE_MATCH_1})
  else()
    message(FATAL_ERROR "${file}: \"${line}\" has another form than \"// compile: WORD, WORD (REASON)\"")
  endif()
  foreach(word ${words})
    if(NOT word IN_LIST TESSERA_FILE_WORDS)
      list(JOIN TESSERA_FILE_WORDS ", " known)
      message(FATAL_ERROR "${file}: \"${line}\": unknown word ${word}; cmake/FileOptions.cmake has ${known}")
    endif()
    tessera_file_options(${file} ${TESSERA_FILE_WORD_${word}})
  endforeach()
endfunction()

tessera_file_words(${PROJECT_SOURCE_DIR} files lines)
foreach(line ${lines})
  string(REGEX MATCH "^([^|]+)\\|(.*)$" line "${line}")
  tessera_apply_file_words(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()
set(output ${CMAKE_BINARY_DIR}/generated/file_words.txt)
list(JOIN lines "\n" lines)
file(CONFIGURE OUTPUT ${output} CONTENT "${lines}\n" @ONLY)
add_custom_command(
  OUTPUT ${output}
  COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D OUTPUT=${output} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${CMAKE_CURRENT_LIST_FILE}
  DEPFILE ${output}.d
  COMMENT "Options of single files"
  VERBATIM)
add_custom_target(tessera_file_words_listed DEPENDS ${output})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${output})
