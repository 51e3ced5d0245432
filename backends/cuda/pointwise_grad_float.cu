// Derivatives of the pointwise table in float.
#define TS_REAL float
#define TS_ENTRY pointwise_grad_float
#include "backends/cuda/pointwise_grad.cuh"
