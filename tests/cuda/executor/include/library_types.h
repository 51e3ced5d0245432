// Types of elements as CUDA's libraries name them.
#pragma once

#include "cuda_runtime_api.h"

enum cudaDataType {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_16BF = 14,
};
using cudaDataType_t = cudaDataType;
