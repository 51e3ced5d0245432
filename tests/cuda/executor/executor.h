// The inside of the executor: a CUDA runtime on the CPU that is lazier and stricter than a GPU.
//
//   memory.cpp    devices' memory: pages that the host cannot touch, a shadow that knows every byte's bounds
//   streams.cpp   queues of work, run when somebody waits, in any legal order
//   blocks.cpp    one block of a kernel: a fiber for each thread that waits, meeting points, shared memory
//   checks.cpp    what the compiler calls before every access; cells.h what is known of every byte
//   order.cpp     what happened before what: streams, blocks, threads
//   faults.cpp    options, errors on demand; counts.cpp the counters and their report
//
// Everything of it happens under one lock, taken by the API's functions. Kernels run on the thread that waits for them.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "cells.h"
#include "executor_blocks.h"
#include "executor_thread.h"

namespace tessera_executor {

// ---- options: TESSERA_EXECUTOR="seed=3,devices=2,memory=64M,order=late,fail=cudaMalloc@7:2" ----

struct Options {
  uint64_t seed = 1;  // of the order of streams and threads
  int devices = 2;
  size_t memory = size_t(8) << 30;  // bytes of each device
  bool check = true;                // accesses are looked at
  bool unwritten = true;            // reads of what nobody wrote are faults
  std::string report;               // file for the counters, written at the end
  bool shuffle = true;  // streams and threads take turns in an order drawn from the seed; else the first comes first
  bool now = false;     // launches run at once (finding the host's line of a fault)
  int driver = 13000;   // its version, 0: no driver
  int capability = 90;
  std::set<std::string> without;  // libraries that are not installed
};
Options& options();

/// As fail=TEXT: "cudaMalloc@7:2!".
void ask_for_fault(const std::string& text);
/// The error that an API call has to return now: one that was asked for, or the device's lasting one.
cudaError_t asked_fault(const char* function);
/// Errors that stay: after them every call returns the same.
void set_lasting_error(cudaError_t error);

/// Keeps the error for cudaGetLastError and returns it.
cudaError_t remember(cudaError_t error);
void set_launch_error(cudaError_t error);

/// What a test counts: in the report under these names.
struct Counts {
  long launches = 0, library_calls = 0, copies = 0, fills = 0, synchronisations = 0, graph_launches = 0;
  long allocations = 0, frees = 0, host_allocations = 0, events = 0, stream_waits = 0;
  long bytes_copied = 0, bytes_to_host = 0, bytes_from_host = 0;
};
Counts& counts();
extern bool options_report;  // a report is asked for
void write_report();
const std::vector<std::string>& marks_heard();  // marks.cpp
/// An access of a sampled warp, for the sectors of the report; what a launch did.
void sample(const void* site, const void* address, size_t bytes, bool write);
bool wants_samples(unsigned block, unsigned warp);
void end_of_samples(const char* kernel);  // of a block
void count_launch(const Kernel& kernel, const Traffic& traffic);

/// A fault of the program: told with the running kernel, block and thread; the process ends with status 86.
[[noreturn]] void violation(const std::string& what);

/// A kernel's name without what the compiler puts around it.
std::string readable(const char* name);

std::recursive_mutex& lock();

/// For what a thread may not call while it captures, or another one does in the mode for all (CUDA's "unsafe" functions): the
/// error, and the capture is spoilt. streams.cpp
cudaError_t refused_in_capture();

// ---- memory ----

inline constexpr size_t kRange = size_t(64) << 30;  // addresses of a device
char* range_of(int device);

struct Allocation {
  char* begin;
  size_t bytes;
  int device;
  uint64_t serial;
};
/// When it happens. A graph that is launched again takes and frees its own blocks anew.
void begin_block_of(void* block, size_t bytes, bool in_graph);
void end_block_of(void* block, bool in_graph);
/// At once, while a capture writes down that it is taken: the host may know of it.
void show_captured_block(void* block, size_t bytes);
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
/// A copy that a stream does; both sides are checked.
void copy_memory(void* to, const void* from, size_t bytes, const char* what);

// ---- blocks ----

/// A thread that wrote where another had written goes on or waits: it is a fault if it wrote something else.
void settle();
/// An access of a kernel on this host thread is looked at.
extern thread_local bool watched __attribute__((tls_model("initial-exec")));
void run_kernel(const Kernel& kernel, const void* params, size_t bytes, int device);
/// A library's stand-in: as a kernel of one thread that may use the host's memory.
void run_library(const char* name, void (*run)(const void*), const void* params, int device);
/// For reports: "in rms_norm_rows<float>, block 0 of 4, thread (3, 0, 0) of 256".
std::string where();
std::string thread_name(unsigned thread);  // of the running kernel, by number
std::string block_name(unsigned block);
/// Whether the bytes are within an array of the block's shared memory; where they are.
bool is_shared(const void* address, size_t bytes);
std::string describe_shared(const void* address);
int running_device();

// ---- streams ----

int current_device();
/// Runs everything that any device was given; the host knows of it then.
void finish_all();

}  // namespace tessera_executor
