// What CUDA may answer otherwise than the CPU: expected.def.
#pragma once

#include <span>
#include <string>

#include "tests/cuda/agreement/calls.h"

namespace tessera::agreement {

/// Why one call in many ends otherwise on CUDA than on the CPU.
struct Expected {
  enum class Kind { Refused, Differs, Left, Unordered, Unwritten, OnCuda, Ties, Near, Factors } kind;
  const char* what;    // a kernel that refuses dtypes, an entry
  const char* detail;  // the dtypes, -, the beginning of the difference, a part of the call's label, a product
  const char* reason;
};
std::span<const Expected> all_expected();

/// The number of the line that allows this: `error` is what CUDA said, `differs` how it is not what the CPU gave. -1: none.
int expectation(const Call& call, const std::string& error, const std::string& differs);

/// The number of the line that says that the call's result is not determined: it is not made. -1: it is.
int not_determined(const Call& call);
/// How far results may be off, of the greatest element; 0: as their dtype allows.
double tolerance_of(const Call& call);
/// What the results multiply to, where the factors themselves are not determined: "u s v"; else null.
const char* product_of(const Call& call);
/// The call that the CPU is compared by: what CUDA takes where an argument is left out.
Call as_on_cuda(const Call& call);
/// Its results hold elements that nobody has written.
bool has_unwritten(const Call& call);
/// Which of some equal elements the entry names is not determined.
bool has_ties(const Call& call);

}  // namespace tessera::agreement
