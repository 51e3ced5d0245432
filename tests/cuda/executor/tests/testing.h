// Kernels that are wrong in one way each, run in a child process: what does the executor say of them?
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "../executor.h"
#include "cuda_runtime.h"

namespace tessera_executor::testing {

/// What the executor says of the work, which is waited for; "" when nothing is wrong, "died" when it ends in another way.
std::string fault_of(const std::function<void()>& work);
/// The same under several seeds: what was said under the first that finds something.
std::string fault_of_any_order(const std::function<void()>& work);
/// The wrong one is told with these words ("this|or that"), the right one is not told of.
void check_pair(const std::string& words, const std::function<void()>& wrong, const std::function<void()>& right);

template <auto kernel, class... A>
void launch_on(cudaStream_t stream, dim3 blocks, dim3 threads, size_t shared, const A&... args) {
  queue_call<kernel>(stream, blocks, threads, shared, kernel, args...);
}
template <auto kernel, class... A>
void launch(dim3 blocks, dim3 threads, const A&... args) {
  launch_on<kernel>(nullptr, blocks, threads, 0, args...);
}

template <class T>
T* device_array(size_t count, bool filled = true) {
  void* made = nullptr;
  cudaMalloc(&made, count * sizeof(T));
  if (filled) cudaMemset(made, 0, count * sizeof(T));
  return static_cast<T*>(made);
}
template <class T>
std::vector<T> to_host(const T* array, size_t count) {
  std::vector<T> out(count);
  cudaMemcpy(out.data(), array, count * sizeof(T), cudaMemcpyDeviceToHost);
  return out;
}
cudaStream_t new_stream();
cudaEvent_t new_event();

}  // namespace tessera_executor::testing
