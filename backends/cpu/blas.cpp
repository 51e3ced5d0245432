// Opening OpenBLAS, and correcting the kernels that it picks.
//
// An OpenBLAS that is older than the processor does not know it and falls back to kernels of twenty years ago: five times
// slower (docs/performance.md). So the family that it chose is compared with what the processor can do, and chosen anew
// with the library's own (undocumented, but exported) functions. That is possible only before the first product, and is
// never done when the user has set OPENBLAS_CORETYPE.
#include "backends/cpu/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace tessera::cpu {
namespace {

template <class F>
bool find(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    return function != nullptr;
}

void* open_library() {
    for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    return nullptr;
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
    static const char* const kBeforeAvx2[] = {"Prescott", "Core2", "Katmai", "Coppermine", "Northwood", "Penryn", "Dunnington", "Nehalem",
                                              "Sandybridge", "Atom", "Athlon", "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat",
                                              "Bulldozer", "Piledriver", "Steamroller", "Nano", "Unknown", "generic"};
    static const char* const kBeforeAvx512[] = {"Haswell", "Zen", "Excavator"};
    auto among = [&](auto& list) { return std::any_of(std::begin(list), std::end(list), [&](const char* f) { return std::strcmp(f, family) == 0; }); };
    return among(kBeforeAvx2) || (std::strcmp(wanted, "SkylakeX") == 0 && among(kBeforeAvx512));
}

void choose_kernels(void* library, Blas& blas) {
    char* (*core_name)() = nullptr;
    void (*read_environment)() = nullptr;  // the library keeps a copy of the variables that it read while loading
    void (*quit)() = nullptr;
    void (*init)() = nullptr;
    if (!find(library, "openblas_get_corename", core_name)) return;
    blas.core = core_name();
    const char* wanted = best_family();
    const bool decided = std::getenv("OPENBLAS_CORETYPE") != nullptr;
    if (wanted == nullptr || decided || !is_older(blas.core.c_str(), wanted)) return;
    if (!find(library, "gotoblas_dynamic_quit", quit) || !find(library, "gotoblas_dynamic_init", init)) return;
    setenv("OPENBLAS_CORETYPE", wanted, 1);
    if (find(library, "openblas_read_env", read_environment)) read_environment();
    quit();
    init();
    unsetenv("OPENBLAS_CORETYPE");
    blas.core = core_name();
}

Blas open_blas() {
    Blas blas;
    void* library = open_library();
    if (library == nullptr) {
        blas.problem = "OpenBLAS could not be opened (libopenblas.so.0); products use a slow loop";
        return blas;
    }
    if (!find(library, "cblas_sgemm", blas.sgemm) || !find(library, "cblas_dgemm", blas.dgemm) || !find(library, "cblas_sgemv", blas.sgemv) ||
        !find(library, "cblas_dgemv", blas.dgemv)) {
        Blas none;
        none.problem = "libopenblas.so.0 lacks the CBLAS functions; products use a slow loop";
        return none;
    }
    find(library, "openblas_set_num_threads", blas.set_threads);
    char* (*config)() = nullptr;
    if (find(library, "openblas_get_config", config)) {
        const std::string text = config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
        blas.version = text.substr(0, text.find(' ', text.find(' ') + 1));
    }
    choose_kernels(library, blas);
    return blas;
}

}  // namespace

const Blas& blas() {
    static const Blas opened = open_blas();
    return opened;
}

}  // namespace tessera::cpu
