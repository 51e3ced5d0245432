// What is remembered of every byte of devices' and of shared memory: who wrote it last, and two who read it since.
//
// A stamp names one thread of a kernel between two of its meetings (barriers), or one copy. Stamps only grow, so whether
// something happened before what runs now is a comparison in nearly all cases (`Running`), a look into tables in the others
// (order.cpp). Two readers are enough: whoever writes is not the same as one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera_executor {

using Stamp = uint32_t;
inline constexpr Stamp kUnwritten = 0, kWrittenLongAgo = 1, kFirstStamp = 16;
inline constexpr Stamp kAtomic = 1u << 31;     // beside the stamp of a writer
inline constexpr Stamp kLastStamp = 3u << 29;  // behind it all begins anew

/// Where a byte's stamps are.
struct Cells {
  Stamp* wrote = nullptr;
  Stamp* read = nullptr;
  Stamp* also_read = nullptr;
  Cells operator+(size_t at) const { return {wrote + at, read + at, also_read + at}; }
};
Cells cells_of(const void* device_address);

/// What a kernel moves, in bytes of devices' memory.
struct Traffic {
  uint64_t read = 0, written = 0;            // each access counted
  uint64_t read_once = 0, written_once = 0;  // each byte counted once
};

/// The thread or copy that runs now, as its accesses are looked at.
struct Running {
  Stamp mine = kFirstStamp;
  Stamp ordered_below = 0;  // what is less happened before this operation
  Stamp launch_base = 0;    // the first of the operation,
  Stamp block_base = 0;     // of the block,
  Stamp interval_base = 0;  // of the time since its last barrier
  Stamp interval_before = 0;
  int thread = 0;
  char* device_begin = nullptr;
  char* shared_begin = nullptr;
  char* stacks_begin = nullptr;
  Cells device_cells, shared_cells;  // of the first bytes there
  size_t shared_bytes = 0, stacks_bytes = 0;
  const char* params = nullptr;
  size_t params_bytes = 0;
  bool library = false;    // a library's stand-in: it may use the host's memory too
  bool unsettled = false;  // a write that is a fault if it changes what is there
  bool sampled = false;    // accesses of this warp are kept for the report
  Traffic traffic;
};
extern Running running;

enum class Space { Device, Shared };

/// Whether what the stamp names happened before the running thread's next step.
bool happened_before(Stamp stamp, Space space);
/// "thread (3, 0, 0) of block (1, 0, 0)", "'a copy' on stream 2".
std::string who(Stamp stamp);

// ---- operations of streams ----

/// For each stream how many of its operations are known to be done.
using Clock = std::vector<uint32_t>;
int add_clock();  // of a new stream
Clock& clock_of(int stream);
void join(Clock& into, const Clock& other);
std::shared_ptr<const Clock> host_knows();
void host_learns(const Clock& clock);

/// The stamp of a new operation, whose stream's clock has all that it waited for.
Stamp begin_operation(int stream, const char* name);
/// Stamps run out: cells forget who was there (memory.cpp).
void forget_stamps();

// ---- meetings of a kernel's threads ----

void begin_launch(unsigned threads_in_block);
/// New stamps for the block's threads; the first one's.
Stamp begin_block(unsigned block);
Stamp pass_barrier();
/// Lanes of a warp meet; `stamps` of its threads are renewed for them.
void meet_in_warp(unsigned first_thread, unsigned lanes, unsigned mask, Stamp* stamps);

/// An atomic step at an address may tell other blocks what this one did (a fence before it), or hear it.
void pass_atomic(const void* address);
void pass_fence();

// ---- accesses of copies, fills and libraries: bounds and order ----

void read_range(const void* at, size_t bytes, const char* what);
void write_range(void* at, size_t bytes, const char* what);
/// As a copy between devices' memory: what nobody wrote stays so.
void copy_cells(void* to, const void* from, size_t bytes);

}  // namespace tessera_executor
