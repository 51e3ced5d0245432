// LAPACK, which stands in the same library as OpenBLAS's products and is opened with it (blas.h). Its routines are Fortran's:
// every argument is an address, matrices are column-major, and the lengths of texts follow at the end.
//
//     call<double>(Routine::getrf, &m, &n, a, &m, pivots, &info);
#pragma once

#include <complex>
#include <cstddef>

namespace tessera::tensor::cpu {

// Names of real routines; complex numbers have heevd, ungqr and unmqr for syevd, orgqr and ormqr.
#define TS_LAPACK_ROUTINES(R)                                                                                        \
  R(getrf)                                                                                                           \
  R(getrs)                                                                                                           \
  R(potrf) R(potrs) R(potri) R(trsm) R(geqrf) R(orgqr) R(ormqr) R(gesdd) R(syevd) R(geev) R(sytrf) R(sytrs) R(hetrf) \
      R(hetrs) R(gels) R(gelsy) R(gelsd) R(gelss)

enum class Routine {
#define TS_LAPACK_NAME(NAME) NAME,
  TS_LAPACK_ROUTINES(TS_LAPACK_NAME)
#undef TS_LAPACK_NAME
};

/// The address of a routine for elements of type T. RuntimeError when no library has it.
template <class T>
void* address_of(Routine routine);

template <class T, class... Arguments>
void call(Routine routine, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(address_of<T>(routine))(arguments...);
}

/// The length of a text of one letter, as it follows at the end of a call.
inline constexpr size_t kLetter = 1;

}  // namespace tessera::tensor::cpu
