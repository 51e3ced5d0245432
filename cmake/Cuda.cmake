# libtessera_cuda.so: a plugin that the program opens with dlopen on first use. cudart is linked statically, libcuda,
# cuBLAS and NVRTC never: a machine without a driver must be able to load it and be told so (no GPU is needed to build
# it either).
set(TESSERA_HAVE_CUDA OFF)
if(TESSERA_CUDA STREQUAL OFF)
  return()
endif()
tessera_sources(cuda_sources backends/cuda/*.cu backends/cuda/*.cpp)
if(NOT cuda_sources)
  return()
endif()

find_program(TESSERA_NVCC nvcc HINTS /usr/local/cuda/bin $ENV{CUDA_HOME}/bin)
if(NOT TESSERA_NVCC)
  if(TESSERA_CUDA STREQUAL ON)
    message(FATAL_ERROR "TESSERA_CUDA=ON, but nvcc is neither in PATH nor in /usr/local/cuda/bin")
  endif()
  message(STATUS "CUDA plugin: no nvcc, left out")
  return()
endif()

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # Code for Turing, Ampere, Hopper and Blackwell, PTX for what comes after. Other GPUs of a generation run the code of its first.
  set(CMAKE_CUDA_ARCHITECTURES "75-real;80;90-real;100-real")
endif()
set(CMAKE_CUDA_COMPILER ${TESSERA_NVCC})
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
  message(STATUS "CUDA plugin: nvcc ${CMAKE_CUDA_COMPILER_VERSION} lacks C++20, left out")
  return()
endif()

if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()

# nvcc's front end, half of its work, runs for each virtual architecture: code for Ampere and what comes after is made from one,
# as no kernel of ours uses an instruction that Ampere lacks. CUB tunes its sorting by the architecture that it is compiled for.
set(cuda_code_own "") # of sources that are compiled for each architecture by itself
set(cuda_codes_75 "")
set(cuda_codes_80 "")
set(cuda_built_for "") # the plugin says what it was built for
foreach(architecture ${CMAKE_CUDA_ARCHITECTURES})
  string(REGEX MATCH "^[0-9]+" number "${architecture}")
  if(number LESS 80)
    set(virtual 75)
  else()
    set(virtual 80)
  endif()
  if(NOT architecture MATCHES "-virtual$")
    list(APPEND cuda_codes_${virtual} sm_${number})
    list(APPEND cuda_code_own "--generate-code=arch=compute_${number},code=[sm_${number}]")
    list(APPEND cuda_built_for "${number}-real")
  endif()
  if(NOT architecture MATCHES "-real$")
    list(APPEND cuda_codes_${virtual} compute_${virtual})
    list(APPEND cuda_code_own "--generate-code=arch=compute_${virtual},code=[compute_${virtual}]")
    list(APPEND cuda_built_for "${virtual}-virtual")
  endif()
endforeach()
set(cuda_code "")
foreach(virtual 75 80)
  if(cuda_codes_${virtual})
    string(REPLACE ";" "," codes "${cuda_codes_${virtual}}")
    list(APPEND cuda_code "--generate-code=arch=compute_${virtual},code=[${codes}]")
  endif()
endforeach()

set(TESSERA_HAVE_CUDA ON)
# Not part of `all`: it takes minutes, and neither tests nor packages of a machine without a GPU wait for it.
add_library(tessera_cuda MODULE EXCLUDE_FROM_ALL ${cuda_sources} ${TESSERA_INTERFACE_HEADER})
set_target_properties(tessera_cuda PROPERTIES
  CUDA_ARCHITECTURES OFF
  CUDA_STANDARD 20
  CUDA_STANDARD_REQUIRED ON
  CUDA_VISIBILITY_PRESET hidden
  CUDA_RUNTIME_LIBRARY Static)
target_include_directories(tessera_cuda PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(tessera_cuda SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
set(cuda_kernels ${cuda_sources})
list(FILTER cuda_kernels INCLUDE REGEX "\\.cu$")
foreach(kernel ${cuda_kernels})
  if(kernel MATCHES "radix_sort.cu$")
    set_property(SOURCE ${kernel} APPEND PROPERTY COMPILE_OPTIONS ${cuda_code_own})
  else()
    set_property(SOURCE ${kernel} APPEND PROPERTY COMPILE_OPTIONS ${cuda_code})
  endif()
endforeach()
set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG")  # of the host's code beside the kernels, which only launches them
# Kernels call the constexpr conversions of float8.h, which serve the host too: relaxed, nvcc lets them.
target_compile_options(tessera_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xfatbin=-compress-all --expt-relaxed-constexpr>)
# cuDNN is a download of its own; what it computes is computed without it too. The library is opened when it is first needed.
find_path(CUDNN_INCLUDE cudnn.h HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
if(CUDNN_INCLUDE)
  set_property(SOURCE backends/cuda/cudnn.cpp APPEND PROPERTY INCLUDE_DIRECTORIES ${CUDNN_INCLUDE})
else()
  message(STATUS "CUDA plugin: no cudnn.h (CUDNN_INCLUDE), convolution by its own kernels alone")
endif()
string(REPLACE ";" "," architectures "${cuda_built_for}")
set_property(SOURCE backends/cuda/plugin.cpp APPEND PROPERTY
  COMPILE_DEFINITIONS "TESSERA_CUDA_ARCHITECTURES=\"${architectures}\"")
target_link_libraries(tessera_cuda PRIVATE ${CMAKE_DL_LIBS})
# A plugin has none of the functions of the program: with one missing it would not load, which reads as a machine without CUDA.
target_link_options(tessera_cuda PRIVATE -Wl,-z,defs)
if(TESSERA_WERROR)
  # 1835: nvcc's front end does not know [[gnu::tls_model]] of thread-local variables in headers; g++, which it hands the host's code to, does.
  target_compile_options(tessera_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings --diag-suppress=1835>)
endif()
add_dependencies(plugins tessera_cuda)

# The plugin over a runtime that does nothing, to measure what its calls cost the host.
if(TESSERA_TESTS AND EXISTS ${PROJECT_SOURCE_DIR}/tests/cuda/null_runtime.cpp)
  add_library(tessera_cuda_null MODULE EXCLUDE_FROM_ALL tests/cuda/null_runtime.cpp $<TARGET_OBJECTS:tessera_cuda>)
  set_target_properties(tessera_cuda_null PROPERTIES LINKER_LANGUAGE CXX CUDA_RUNTIME_LIBRARY None)
  target_include_directories(tessera_cuda_null SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  target_link_libraries(tessera_cuda_null PRIVATE ${CMAKE_DL_LIBS})
endif()

# Compiles every body of the op tables as text, as run-time fusion will; needs NVRTC but no GPU.
if(TESSERA_TESTS AND EXISTS ${PROJECT_SOURCE_DIR}/tests/cuda/bodies.cpp)
  add_executable(cuda_bodies EXCLUDE_FROM_ALL tests/cuda/bodies.cpp)
  target_include_directories(cuda_bodies PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(cuda_bodies SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  target_compile_definitions(cuda_bodies PRIVATE TESSERA_SOURCE="${PROJECT_SOURCE_DIR}")
  target_link_libraries(cuda_bodies PRIVATE ${CMAKE_DL_LIBS})
endif()
