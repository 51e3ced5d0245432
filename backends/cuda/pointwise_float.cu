// The pointwise table in float.
#define TS_LANE Num<float>
#define TS_FUNCTIONS number_math
#define TS_ENTRY pointwise_float
#include "backends/cuda/pointwise.cuh"
