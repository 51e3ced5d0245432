// The pointwise table in complex128.
#define TS_LANE Cx<double>
#define TS_FUNCTIONS complex_math
#define TS_ENTRY pointwise_complex128
#include "backends/cuda/pointwise.cuh"
