// The pointwise table in int32 (narrower integers and bools too).
#define TS_LANE Num<int32_t>
#define TS_FUNCTIONS number_math
#define TS_ENTRY pointwise_int32
#include "backends/cuda/pointwise.cuh"
