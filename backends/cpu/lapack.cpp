// compile: small (LAPACK takes longer)
#include "backends/cpu/lapack.h"

#include <dlfcn.h>

#include <iterator>
#include <string>

#include "backends/cpu/blas.h"
#include "runtime/error.h"

namespace tessera::tensor::cpu {
namespace {

const char* const kNames[] = {
#define TS_LAPACK_NAME(NAME) #NAME,
    TS_LAPACK_ROUTINES(TS_LAPACK_NAME)
#undef TS_LAPACK_NAME
};
constexpr size_t kRoutines = std::size(kNames);

template <class T>
constexpr char kPrefix = 's';
template <>
constexpr char kPrefix<double> = 'd';
template <>
constexpr char kPrefix<std::complex<float>> = 'c';
template <>
constexpr char kPrefix<std::complex<double>> = 'z';

template <class T>
std::string symbol(std::string name) {
  if constexpr (!std::is_floating_point_v<T>) {
    if (name == "syevd") name = "heevd";
    if (name == "orgqr" || name == "ormqr") name.replace(0, 2, "un");
  }
  return kPrefix<T> + name + "_";
}

template <class T>
struct Table {
  void* address[kRoutines] = {};

  Table() {
    void* const library = blas().library;
    for (size_t i = 0; library != nullptr && i < kRoutines; i++)
      address[i] = dlsym(library, symbol<T>(kNames[i]).c_str());
  }
};

}  // namespace

template <class T>
void* address_of(Routine routine) {
  static const Table<T> table;
  void* const found = table.address[size_t(routine)];
  check(found != nullptr, TensorErrorKind::Runtime, "this operation needs LAPACK's ",
        symbol<T>(kNames[size_t(routine)]),
        ", which no library here has: ", blas().problem.empty() ? "OpenBLAS was built without LAPACK" : blas().problem);
  return found;
}

template void* address_of<float>(Routine);
template void* address_of<double>(Routine);
template void* address_of<std::complex<float>>(Routine);
template void* address_of<std::complex<double>>(Routine);

}  // namespace tessera::tensor::cpu
