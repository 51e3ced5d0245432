// Ops that draw random numbers. On the CPU they are PyTorch's, bit by bit, for the same seed (runtime/random.h); a device
// with kernels of its own draws as PyTorch's CUDA kernels do (random_draws.h), for others the host draws and copies.
#pragma once

#include <optional>

#include "runtime/random.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// In place; a null generator is the current Context's.
void uniform_(const Tensor& self, double from, double to, Generator* generator = nullptr);
void normal_(const Tensor& self, double mean, double std, Generator* generator = nullptr);
void bernoulli_(const Tensor& self, double p, Generator* generator = nullptr);
void exponential_(const Tensor& self, double rate, Generator* generator = nullptr);
/// Integers of [from, to); `to` absent: up to the largest that the dtype holds exactly.
void random_(const Tensor& self, int64_t from, std::optional<int64_t> to, Generator* generator = nullptr);

Tensor rand(Ints size, DType dtype = kFloat32, Device device = kCpu, Generator* generator = nullptr);
Tensor randn(Ints size, DType dtype = kFloat32, Device device = kCpu, Generator* generator = nullptr);
Tensor randint(int64_t low, int64_t high, Ints size, DType dtype = kInt64, Device device = kCpu,
               Generator* generator = nullptr);
Tensor randperm(int64_t n, DType dtype = kInt64, Device device = kCpu, Generator* generator = nullptr);
Tensor bernoulli(const Tensor& probabilities, Generator* generator = nullptr);
Tensor multinomial(const Tensor& weights, int64_t num_samples, bool replacement = false,
                   Generator* generator = nullptr);
Tensor dropout(const Tensor& self, double p = 0.5, bool train = true);

}  // namespace tessera::tensor
