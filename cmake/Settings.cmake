# Compiler, linker and cache settings of every target. Never -march=native: one binary serves all x86-64 machines and
# the lanes choose their instruction set at run time.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
  else()
    set(CMAKE_BUILD_TYPE Release)  # here, not in the project above
  endif()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The plugin is looked for beside the program.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# Targets of jumps and heads of loops are not padded to 16 bytes: 48 kB of a release.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -fno-align-jumps -fno-align-loops")
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

# Options of every C++ source. No contraction of a*b+c: it would make results depend on the instruction set that was chosen.
# Programs are compiled as libraries are, so that one precompiled header serves both.
set(TESSERA_COMPILE_OPTIONS -fPIC -Wall -Wextra -ffp-contract=off)
if(TESSERA_WERROR)
  list(APPEND TESSERA_COMPILE_OPTIONS -Werror)
endif()
# g++ 12 takes the int in a value's union for a pointer and warns that nothing lies at address 0.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND TESSERA_COMPILE_OPTIONS -Wno-array-bounds)
endif()

set(TESSERA_GRAMMAR_OPTIMISE -O1)
if(CMAKE_BUILD_TYPE STREQUAL Debug)
  set(TESSERA_GRAMMAR_OPTIMISE -O0)
endif()

if(TESSERA_SANITIZE)
  # One build for two sanitizers; that of threads cannot be had with them. The grammar is many templates: 29 s at -O1, 6 s at -O0; but
  # each of a thousand scripts reads itself and the modules that it imports with it, `import torch.nn` alone for 0.3 s at -O0.
  # -Og compiles in two thirds of the time of -O1.
  set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1")
  set(TESSERA_GRAMMAR_OPTIMISE -O1)
  set(kinds address,undefined)
  if(TESSERA_SANITIZE STREQUAL THREAD)
    set(kinds thread)
  endif()
  # Sizes of objects are what the address sanitizer knows better; asked for as well they are half of the 42 s of the opcode loop.
  list(APPEND TESSERA_COMPILE_OPTIONS -fsanitize=${kinds} -fno-sanitize=object-size -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${kinds})
  if(NOT TESSERA_SANITIZE STREQUAL THREAD)
    # What the sanitizers know of the text is 110 MB of pointers. A program whose place may vary writes them all when it starts, 0.1 s.
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  endif()
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Else it keeps nothing that reads a precompiled header, or by all of its bytes (cmake/Precompiled.cmake).
  set(TESSERA_COMPILER_CACHE env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1 ${CCACHE_PROGRAM})
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${TESSERA_COMPILER_CACHE})
    endif()
  endforeach()
endif()

include(CheckLinkerFlag)
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  check_linker_flag(CXX -fuse-ld=mold TESSERA_HAVE_MOLD)
  if(TESSERA_HAVE_MOLD)
    add_link_options(-fuse-ld=mold)
    # What runs once at the start and what hardly ever runs lie apart from the rest, as ld does it unasked: else the start
    # touches a page of every object file, 1.8 MB more. Functions that are [[gnu::hot]], those of `a + b` on four
    # numbers, lie together as well: apart, `a + b` took up to 30 % longer, depending on the size of the code between them.
    # Functions of the same instructions are one (280 kB): no code may tell two functions apart by their addresses. (lld does
    # not look at the tables for unwinding when it compares: with it the cold parts of two functions with different frames
    # become one, and an exception is lost.)
    add_link_options(-Wl,-z,keep-text-section-prefix -Wl,--icf=all)
  endif()
endif()
if(CMAKE_BUILD_TYPE STREQUAL Release)
  list(APPEND TESSERA_COMPILE_OPTIONS -ffunction-sections -fdata-sections)
  add_link_options(-Wl,--gc-sections)
endif()

# What g++ does for size in a release; docs/building.md, "The size of the program", has the figures.
# - Few inlines: of the functions that are declared inline only those of 12 instructions or less are repeated at every call
#   (as g++ counts, before it simplifies; 70 else). What is made of strings, vectors and messages is a fifth smaller and no
#   slower. Where a tensor op's own time counts it is: those files go without.
# - Unwind throwers: functions that throw nothing and call nothing that throws, as most kernels, have no entry in the table
#   for unwinding. g++ leaves them out only of tables that it writes itself, without the assembler's directives. A debugger
#   without such an entry guesses who called.
set(TESSERA_FEW_INLINES)
set(TESSERA_UNWIND_THROWERS)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE STREQUAL Release)
  set(TESSERA_FEW_INLINES --param=max-inline-insns-single=12)
  set(TESSERA_UNWIND_THROWERS -fno-asynchronous-unwind-tables -fno-dwarf2-cfi-asm)
endif()

# Options of files that a release has for size (TESSERA_SMALL, TESSERA_SMALL_IN_RELEASE) or for vectors (TESSERA_VECTORS). A sanitized
# build is made to be run once: there the former files are not optimised at all, which halves their cost, and the latter are as all others.
set(TESSERA_SMALL -Os)
set(TESSERA_SMALL_IN_RELEASE $<$<CONFIG:Release>:-Os>)
set(TESSERA_VECTORS -O3)
# Kernels that are compiled for every instruction set, in a sanitized build: memory is looked at by calls, which is half of the code, and
# a machine with AVX2 gets no kernels for machines without it (it would never run them; hwy/foreach_target.h leaves out what is below the
# instruction set of the command line).
set(TESSERA_SANITIZED_LANES)
if(TESSERA_SANITIZE)
  set(TESSERA_SMALL -O0)
  set(TESSERA_SMALL_IN_RELEASE -O0)
  set(TESSERA_VECTORS)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    if(NOT TESSERA_SANITIZE STREQUAL THREAD)
      set(TESSERA_SANITIZED_LANES --param=asan-instrumentation-with-call-threshold=0)
    endif()
    include(CheckCXXSourceRuns)
    set(avx2 avx2 fma bmi bmi2 f16c aes pclmul)  # what Highway means by AVX2
    list(TRANSFORM avx2 PREPEND "__builtin_cpu_supports(\"" OUTPUT_VARIABLE supported)
    list(TRANSFORM supported APPEND "\")")
    list(JOIN supported " && " supported)
    check_cxx_source_runs("int main() { return ${supported} ? 0 : 1; }" TESSERA_HOST_HAS_AVX2)
    if(TESSERA_HOST_HAS_AVX2)
      list(TRANSFORM avx2 PREPEND -m)
      list(APPEND TESSERA_SANITIZED_LANES ${avx2})
    endif()
  endif()
endif()

add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${TESSERA_COMPILE_OPTIONS}>")
include(Precompiled)
