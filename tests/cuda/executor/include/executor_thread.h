// What code inside a kernel sees of the executor: its thread's numbers, the block's memory, meeting points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cuda_runtime_api.h"

// The sources are compiled with -fsanitize=thread, whose calls before each access the executor answers itself (checks.cpp);
// the executor's own steps are not seen by it.
#define TS_EXECUTOR_UNSEEN __attribute__((no_sanitize("thread")))

namespace tessera_executor {

struct Triple {
  unsigned x, y, z;
};

struct Here {
  Triple thread, block, block_size, grid_size;
};
// Constant within a thread: a compiler may ask once.
__attribute__((const)) Triple thread_index();
__attribute__((const)) Triple block_index();
__attribute__((const)) Triple block_size();
__attribute__((const)) Triple grid_size();

int lane();
void* shared_memory(const void* place, const char* name, size_t bytes);
void* launch_shared_memory();
void block_barrier();
int block_count(bool condition);
void warp_barrier(unsigned mask);
unsigned ballot(unsigned mask, bool condition);
void note_atomic(void* at, size_t bytes);
void pass_fence();

/// Gives `bytes` to the warp and takes those of another lane.
void exchange_bytes(unsigned mask, void* value, size_t bytes, int from);
template <class T>
TS_EXECUTOR_UNSEEN inline T exchange(unsigned mask, T value, int from) {
  static_assert(sizeof(T) <= 16);
  T result = value;
  exchange_bytes(mask, &result, sizeof(T), from);
  return result;
}

struct Kernel {
  const char* name;
  void (*run)(const void* params);  // once for each thread
  Triple grid_size, block_size;
  size_t shared;
};
/// Keeps a copy of the parameters; the kernel runs when somebody waits for its stream, or later.
void queue_kernel(const Kernel& kernel, cudaStream_t stream, const void* params, size_t bytes);

/// Work that a library's stand-in (cuBLAS, CUB) does in the stream's order. What it reads and writes on the device is looked
/// at: by itself in code that is compiled as kernels are (headers that they include), else it has to tell.
void queue_host_work(const char* name, cudaStream_t stream, void (*run)(const void* params), const void* params,
                     size_t bytes);
void library_reads(const void* at, size_t bytes);
void library_writes(void* at, size_t bytes);

/// A stand-in for one of the toolkit's libraries, by the name of its file, and its functions; null: there is none.
void* find_library(const char* path);
void* find_function(void* library, const char* name);

}  // namespace tessera_executor
