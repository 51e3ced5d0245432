// What all of linear algebra shares: column-major results, checks with PyTorch's texts, LinAlgError.
#pragma once

#include <functional>

#include "runtime/autograd/record.h"
#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/join.h"
#include "runtime/ops/linalg/lapack_call.h"
#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

namespace linalg {

// ---- shapes ----

inline int64_t rows(const Tensor& a) { return a.sizes()[size_t(a.dim()) - 2]; }
inline int64_t columns(const Tensor& a) { return a.sizes()[size_t(a.dim()) - 1]; }
inline int64_t least(const Tensor& a) { return std::min(rows(a), columns(a)); }
/// All dimensions but the last `n`.
Dims batch_of(const Tensor& a, int64_t n = 2);
Dims operator+(const Dims& batch, Ints more);
/// How many matrices there are.
int64_t batch_count(const Tensor& a);
Tensor mT(const Tensor& a);
Tensor mH(const Tensor& a);

/// As LAPACK wants matrices: the last but one dimension has stride 1.
Meta column_major(Ints sizes, DType dtype, Device device);
/// A dense column-major copy with these sizes, to which `a` is broadcast.
Tensor column_major_copy(const Tensor& a, Ints sizes);
inline Tensor column_major_copy(const Tensor& a) { return column_major_copy(a, a.sizes()); }
/// The tensor itself when it is dense and column-major, else a copy.
Tensor as_column_major(const Tensor& a);
/// Writes ones on the diagonal of zeros.
void fill_identity(const Tensor& out);

/// With a dimension of size 1 added or taken away at the end.
inline Tensor as_column(const Tensor& v) { return unsqueeze(v, -1); }
/// The factors v * a or a * v of rows and columns: v is a list of numbers for each matrix.
inline Tensor scale_columns(const Tensor& a, const Tensor& v) { return a * unsqueeze(v, -2); }
inline Tensor scale_rows(const Tensor& v, const Tensor& a) { return unsqueeze(v, -1) * a; }
inline Tensor diagonal_of(const Tensor& a) { return diagonal(a, 0, -2, -1); }
/// Zeros with v on the diagonal.
Tensor diagonal_matrix(const Tensor& v);
/// A copy with the diagonal multiplied.
Tensor with_diagonal_scaled(const Tensor& a, double factor);
/// A complex number's own type of a real tensor, and the real part of a gradient for a real operand.
Tensor to_type_of(const Tensor& a, const Tensor& like);

// ---- checks ----

/// LAPACK exchanges rows by these numbers without a look: 1 to n, for ldl_solve also their negatives. int32, row-major.
void check_pivots(const Tensor& pivots, int64_t n, bool negatives);
void check_matrix(const Tensor& a, const char* name, const char* argument = "A");
void check_square(const Tensor& a, const char* name, const char* argument = "A");
/// Floating or complex; halves are refused too unless `halves`.
void check_floating(const Tensor& a, const char* name, bool halves = false);
/// The dtypes that LAPACK has, in the words of the kernel that PyTorch would have called: without elements most ops call none.
void check_kernel(const Tensor& a, KernelName kernel, bool even_empty = false);
/// Sizes of A X = B, or X A = B.
void check_solvable(const Tensor& a, const Tensor& b, bool left, const char* name);
void check_same_type(const Tensor& a, const Tensor& b, const char* name, const char* a_name = "A",
                     const char* b_name = "B");

/// Raises LinAlgError (`message` of the number) for the first matrix whose info is not 0. Nothing on device meta.
using InfoMessage = std::function<std::string(int64_t)>;
void check_info(const Tensor& info, const std::string& name, const InfoMessage& message);
/// The place and number of the first info that is not 0; false when there is none.
bool first_failure(const Tensor& info, int64_t& place, int64_t& number);
/// "linalg.inv: (Batch element 1): ", without the middle for a single matrix.
std::string failure_prefix(const std::string& name, const Tensor& info, int64_t place);

// ---- calls ----

/// Runs a call on the device of `place`, unless there is no matrix or it has no elements; then `info` is all 0.
void run_lapack(const Tensor& place, LapackCall call, const Tensor& info = {});

/// A result that a derivative of a node with several results reads: its number is known before it has the history.
SavedTensor saved_result(const Tensor& result, uint32_t number);
/// One node that made all of `results`; those that are not floating stay outside.
template <class K, class F>
void record_all(std::initializer_list<Tensor*> results, const char* name, Inputs inputs, K kept, F formula) {
  auto node = make_node(name, inputs, std::move(kept), std::move(formula));
  node->outputs = uint32_t(results.size());
  uint32_t number = 0;
  for (Tensor* result : results) {
    if (result != nullptr) set_history(*result, node, number);
    number++;
  }
}
/// a + b where either may be undefined: no gradient flowed there.
Tensor sum_of(const Tensor& a, const Tensor& b);

}  // namespace linalg
}  // namespace tessera::tensor
