// The pointwise table in float.
#define TS_TYPE float
#define TS_INTEGER 0
#define TS_ENTRY pointwise_float
#include "backends/cuda/pointwise.cuh"
