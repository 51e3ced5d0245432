// A bit that is set at a time: how a run hears that its time is up without ever looking at a clock.
//
// One thread of the process waits for the earliest time of all that are set. It starts with the first and sleeps while
// there is none.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tessera::lang {

// Sets `bit` of `flags` when so much time has passed, unless it is taken back.
void set_deadline(std::atomic<uint32_t>& flags, uint32_t bit, std::chrono::duration<double> after);
// When it is back, nothing sets that bit any more; one that was set stays.
void clear_deadline(std::atomic<uint32_t>& flags, uint32_t bit) noexcept;

}  // namespace tessera::lang
