// The pointwise table in double.
#define TS_LANE Num<double>
#define TS_FUNCTIONS number_math
#define TS_ENTRY pointwise_double
#include "backends/cuda/pointwise.cuh"
