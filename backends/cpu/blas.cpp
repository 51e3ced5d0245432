// Opening OpenBLAS, and correcting the kernels that it picks.
//
// An OpenBLAS that is older than the processor does not know it and falls back to kernels of twenty years ago: five times
// slower (docs/performance.md). So the family that it chose is compared with what the processor can do, and if it is an
// older one, the library is opened again with the better one named. Never when the user has set OPENBLAS_CORETYPE.
#include "backends/cpu/blas.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

#include "runtime/error.h"

namespace tessera::tensor::cpu {
namespace {

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

/// A variable of the environment for the length of a block: OpenBLAS reads its settings while it is opened.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* given = std::getenv(name)) before_ = given;
    setenv(name, value, 1);
  }
  ~Setting() {
    if (before_) setenv(name_, before_->c_str(), 1);
    else unsetenv(name_);
  }
  Setting(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// With one thread it starts none. Its own would wait for work with the processor, for 30 ms after every product, beside
// the threads of the pool that compute the next operation (docs/threads.md).
void* open_library() {
  const Setting threads("OPENBLAS_NUM_THREADS", "1");
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

// Where a process may have only so much address space, a library that finds none for its buffers asks the system for them
// again and again, for ever (seen in 0.3.21). So a first product is computed while there is room for one buffer, which the
// library keeps, and no more than one thread computes products at a time.
constexpr size_t kBufferBytes = size_t{132} << 20;

bool is_address_space_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void take_buffer(Blas& blas) {
  blas.most_threads = 1;
  blas.has_room = false;
  void* const room = mmap(nullptr, kBufferBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    dlclose(blas.library);
    fail(TensorErrorKind::Memory, "DefaultCPUAllocator: can't allocate memory: products need ", kBufferBytes,
         " bytes of address space. Error code 12 (Cannot allocate memory)");
  }
  munmap(room, kBufferBytes);
  constexpr int kSide = 128;  // smaller ones have no need of a buffer
  const std::vector<float> a(kSide * kSide);
  std::vector<float> c(kSide * kSide);
  blas.sgemm(kRowMajor, kNoTranspose, kNoTranspose, kSide, kSide, kSide, 1, a.data(), kSide, a.data(), kSide, 0,
             c.data(), kSide);
}

// The best family that every OpenBLAS since 0.3.0 has for this processor, or null when its own choice cannot be beaten.
const char* best_family() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

// Families without AVX-512, and those without AVX2 as well.
bool is_older(const char* family, const char* wanted) {
  static const char* const kBeforeAvx2[] = {
      "Prescott", "Core2",       "Katmai",     "Coppermine",  "Northwood", "Penryn",       "Dunnington",
      "Nehalem",  "Sandybridge", "Atom",       "Athlon",      "Opteron",   "Opteron_SSE3", "Barcelona",
      "Bobcat",   "Bulldozer",   "Piledriver", "Steamroller", "Nano",      "Unknown",      "generic"};
  static const char* const kBeforeAvx512[] = {"Haswell", "Zen", "Excavator"};
  auto among = [&](auto& list) {
    return std::any_of(std::begin(list), std::end(list), [&](const char* f) { return std::strcmp(f, family) == 0; });
  };
  return among(kBeforeAvx2) || (std::strcmp(wanted, "SkylakeX") == 0 && among(kBeforeAvx512));
}

std::string core_name(void* library) {
  char* (*name)() = nullptr;
  return find(library, "openblas_get_corename", name) ? name() : "";
}

// Closes and opens the library again with the variable set. Changing the family in place (gotoblas_dynamic_init) is quicker,
// but races with the library's own threads, which initialise it too while they start.
void* reopen_with(const char* family, void* library) {
  dlclose(library);
  const Setting kernels("OPENBLAS_CORETYPE", family);
  return open_library();
}

Blas open_blas() {
  Blas blas;
  void* library = open_library();
  if (library == nullptr) {
    blas.problem = "OpenBLAS could not be opened (libopenblas.so.0); products use a slow loop";
    return blas;
  }
  blas.core = core_name(library);
  const char* wanted = best_family();
  if (wanted != nullptr && std::getenv("OPENBLAS_CORETYPE") == nullptr && is_older(blas.core.c_str(), wanted)) {
    library = reopen_with(wanted, library);
    blas.core = core_name(library);
  }
  if (!find(library, "cblas_sgemm", blas.sgemm) || !find(library, "cblas_dgemm", blas.dgemm) ||
      !find(library, "cblas_sgemv", blas.sgemv) || !find(library, "cblas_dgemv", blas.dgemv)) {
    Blas none;
    none.problem = "libopenblas.so.0 lacks the CBLAS functions; products use a slow loop";
    return none;
  }
  blas.library = library;
  find(library, "cblas_cgemm", blas.cgemm);
  find(library, "cblas_zgemm", blas.zgemm);
  // Still more than one when the host had opened the library before us; the number is the process's.
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  if (find(library, "openblas_get_num_threads", threads) && find(library, "openblas_set_num_threads", set_threads) &&
      threads() > 1)
    set_threads(1);
  if (const char* most = std::getenv("OPENBLAS_NUM_THREADS"))
    if (const int n = std::atoi(most); n > 0) blas.most_threads = std::min(n, blas.most_threads);
  if (is_address_space_limited()) take_buffer(blas);
  char* (*config)() = nullptr;
  if (find(library, "openblas_get_config", config)) {
    const std::string text = config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
    blas.version = text.substr(0, text.find(' ', text.find(' ') + 1));
  }
  return blas;
}

}  // namespace

const Blas& blas() {
  static const Blas& opened = *new Blas(open_blas());  // never destroyed: see Note [Exit]
  return opened;
}

}  // namespace tessera::tensor::cpu
