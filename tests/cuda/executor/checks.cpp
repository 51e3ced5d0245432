// What the sources' accesses call, as -fsanitize=thread compiles them: an access of a kernel has to be within a block of its
// own device, in the block's shared memory, on a stack, or in what the compiler keeps in the plugin itself (constants).
#include <dlfcn.h>
#include <link.h>

#include "executor.h"

namespace tessera_executor {
namespace {

// Constants of the plugin: its segments that are mapped without the right to write.
struct Image {
  const char* begin = nullptr;
  const char* end = nullptr;
};
const Image& image() {
  static const Image found = [] {
    struct Search {
      const char* inside;
      Image image;
    } search{reinterpret_cast<const char*>(&image), {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
          auto& s = *static_cast<Search*>(data);
          const char* begin = reinterpret_cast<const char*>(info->dlpi_addr);
          const char* end = begin;
          for (int k = 0; k < info->dlpi_phnum; k++)
            if (info->dlpi_phdr[k].p_type == PT_LOAD)
              end = std::max(end, begin + info->dlpi_phdr[k].p_vaddr + info->dlpi_phdr[k].p_memsz);
          if (s.inside < begin || s.inside >= end) return 0;
          s.image = {begin, end};
          return 1;
        },
        &search);
    return search.image;
  }();
  return found;
}

[[noreturn]] void refuse(const void* address, size_t bytes, bool write) {
  const char* doing = write ? "writes " : "reads ";
  if (is_device_address(address) && device_of(address) != running_device())
    violation(std::string("a kernel of device ") + std::to_string(running_device()) + " " + doing +
              std::to_string(bytes) + " bytes of another one's memory: " + describe(address));
  const char* bad = is_device_address(address) ? first_bad_byte(address, bytes) : nullptr;
  violation(std::string("a kernel ") + doing + std::to_string(bytes) +
            " bytes where it may not: " + describe(bad ? bad : address));
}

inline void touch(const void* address, size_t bytes, bool write) {
  if (current_thread == nullptr) [[likely]]
    return;  // host code of the same file
  if (uintptr_t(address) % (bytes & -bytes) != 0 && bytes <= 16)
    violation("a kernel touches " + std::to_string(bytes) +
              " bytes at an address that is no multiple: " + describe(address));
  if (is_device_address(address)) {
    if (device_of(address) != running_device() || first_bad_byte(address, bytes) != nullptr)
      refuse(address, bytes, write);
    return;
  }
  if (on_a_stack(address) || shared_part(address) != nullptr) return;
  if (!write && address >= image().begin && address < image().end) return;
  refuse(address, bytes, write);
}

}  // namespace

void note_atomic(void* at, size_t bytes) { touch(at, bytes, true); }

}  // namespace tessera_executor

using tessera_executor::touch;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
#define TS_SIZES(F) F(1) F(2) F(4) F(8) F(16)
#define TS_ACCESS(N)                                               \
  void __tsan_read##N(void* at) { touch(at, N, false); }           \
  void __tsan_write##N(void* at) { touch(at, N, true); }           \
  void __tsan_unaligned_read##N(void* at) { touch(at, N, false); } \
  void __tsan_unaligned_write##N(void* at) { touch(at, N, true); }
TS_SIZES(TS_ACCESS)
void __tsan_read_range(void* at, size_t bytes) { touch(at, bytes, false); }
void __tsan_write_range(void* at, size_t bytes) { touch(at, bytes, true); }

}  // extern "C"
