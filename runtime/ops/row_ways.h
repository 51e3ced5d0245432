// Functions of single rows of pointwise.def, named by the rows' facts (RowFacts in pointwise_rows.h): checks, refusals, other ways to a result.
#pragma once

#include "runtime/ops/facts.h"
#include "runtime/ops/pointwise.h"

namespace tessera::tensor::row_ways {

/// Whether an operand is complex.
bool any_complex(const Operand* in, int count);

// ---- dtypes: throw what PyTorch throws ----
void refuse_negated_bools(const Operand* in, int count);
void refuse_subtracted_bools(const Operand* in, int count);
void check_addcdiv_types(const Operand* in, int count);
void check_lerp_types(const Operand* in, int count);
void check_heaviside_types(const Operand* in, int count);

// ---- operands and parameters ----
void check_divisor(const Operand* in, DType lane, DType common);
void check_power(const Operand* in, DType lane, DType common);
void check_choices(const Operand* in, DType lane, DType common);
void check_lambda(const Scalar* params, DType common);
void check_celu_alpha(const Scalar* params, DType common);

// ---- results ----
Tensor abs_of_complex(const Operand* in);
Tensor lerp_of_complex(const Operand* in);
Tensor logaddexp_of_complex(const Operand* in);
Tensor pow_of_halves(const Operand* in, DType common);
Tensor xlogy_of_halves(const Operand* in, DType common);
Tensor softsign_of_halves(const Operand* in, DType common);
/// The row of x ** exponent for 2, 3, 0.5, -0.5 and -1; -1 for others.
int row_of_power(const Scalar& exponent);
OutRule out_of_lerp(const Operand* in);

}  // namespace tessera::tensor::row_ways
