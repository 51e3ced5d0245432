// The inside of the executor: a CUDA runtime on the CPU that is lazier and stricter than a GPU.
//
//   memory.cpp    devices' memory: pages that the host cannot touch, a shadow that knows every byte's bounds
//   streams.cpp   queues of work, run when somebody waits, in any legal order
//   blocks.cpp    one block of a kernel: a fiber for each thread that waits, meeting points, shared memory
//   checks.cpp    what the compiler calls before every access
//   faults.cpp    options, errors on demand, reports
//
// Everything of it happens under one lock, taken by the API's functions. Kernels run on the thread that waits for them.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "executor_thread.h"

namespace tessera_executor {

// ---- options: TESSERA_EXECUTOR="seed=3,devices=2,memory=64M,order=late,fail=cudaMalloc@7:2" ----

struct Options {
  uint64_t seed = 1;  // of the order of streams and threads
  int devices = 2;
  size_t memory = size_t(8) << 30;  // bytes of each device
  bool check = true;                // accesses are looked at
  bool shuffle = true;  // streams and threads take turns in an order drawn from the seed; else the first comes first
  bool now = false;     // launches run at once (finding the host's line of a fault)
  int driver = 13000;   // its version, 0: no driver
  int capability = 90;
};
Options& options();

/// The error that an API call has to return now: one that was asked for, or the device's lasting one.
cudaError_t asked_fault(const char* function);
/// Errors that stay: after them every call returns the same.
void set_lasting_error(cudaError_t error);

/// Keeps the error for cudaGetLastError and returns it.
cudaError_t remember(cudaError_t error);
void set_launch_error(cudaError_t error);

/// What a test counts.
struct Counts {
  long launches = 0, copies = 0, synchronisations = 0, graph_launches = 0;
};
Counts& counts();

/// A fault of the program: told with the running kernel, block and thread; the process ends with status 86.
[[noreturn]] void violation(const std::string& what);

std::recursive_mutex& lock();

// ---- memory ----

struct Allocation {
  char* begin;
  size_t bytes;
  int device;
  uint64_t serial;
};
/// The device whose memory has the address, or -1.
int device_of(const void* address);
bool is_device_address(const void* address);
/// Null: no byte of the range may be touched; `bad` gets the first one that may not.
const char* first_bad_byte(const void* address, size_t bytes);
/// How the address stands to the nearest block, for a report.
std::string describe(const void* address);
/// While this lives the host's thread may touch devices' memory.
class OpenMemory {
 public:
  OpenMemory();
  ~OpenMemory();
};
// What the plugin's allocator tells (backends/cuda/blocks_seen.h): a segment may be touched only in its blocks, which have
// bounds and an age of their own and come and go in the order of their stream.
void segment_taken(void* segment, size_t bytes);
void block_taken(void* block, size_t bytes, cudaStream_t stream);
void block_freed(void* block, cudaStream_t stream);

/// A copy that a stream does; both sides are checked.
void copy_memory(void* to, const void* from, size_t bytes);

// ---- blocks ----

void run_kernel(const Kernel& kernel, const void* params, int device);
/// For reports: "kernel `name`, block (0, 0, 0), thread (3, 0, 0)".
std::string where();
/// Whether the address is a stack of a thread of the running block.
bool on_a_stack(const void* address);
/// The block's shared memory that has the address; null when none has.
struct SharedPart;
const SharedPart* shared_part(const void* address);
int running_device();

// ---- streams ----

int current_device();
/// Work that costs nothing and is no launch, in the order of the stream (null: the device's default one). What a capture
/// writes down is also done at once, if `now`.
void queue_note(cudaStream_t stream, int device, std::function<void()> work, bool now);
/// Runs everything that any device was given.
void finish_all();

}  // namespace tessera_executor
