// Derivatives of the pointwise table in double.
#define TS_REAL double
#define TS_ENTRY pointwise_grad_double
#include "backends/cuda/pointwise_grad.cuh"
