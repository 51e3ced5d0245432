// The pointwise table in double.
#define TS_TYPE double
#define TS_INTEGER 0
#define TS_ENTRY pointwise_double
#include "backends/cuda/pointwise.cuh"
