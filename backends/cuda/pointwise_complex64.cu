// The pointwise table in complex64.
#define TS_LANE Cx<float>
#define TS_FUNCTIONS complex_math
#define TS_ENTRY pointwise_complex64
#include "backends/cuda/pointwise.cuh"
