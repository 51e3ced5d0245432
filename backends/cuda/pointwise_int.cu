// The pointwise table in long long.
#define TS_TYPE long long
#define TS_INTEGER 1
#define TS_ENTRY pointwise_int
#include "backends/cuda/pointwise.cuh"
