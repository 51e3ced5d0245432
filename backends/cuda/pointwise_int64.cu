// The pointwise table in int64.
#define TS_LANE Num<int64_t>
#define TS_FUNCTIONS number_math
#define TS_ENTRY pointwise_int64
#include "backends/cuda/pointwise.cuh"
