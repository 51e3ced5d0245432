// The report: bytes, sectors, calls.
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "testing.h"

namespace tessera_executor::testing {
namespace {

__global__ void copy_in_order(const float* from, float* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}
__global__ void copy_columns(const float* from, float* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i % 32 * 32 + i / 32];
}
__global__ void read_twice(const float* from, float* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float first = from[i];
  __syncwarp();
  to[i] = first + from[i];
}

}  // namespace

TEST_CASE("executor: the report has each kernel's bytes and sectors beside the least that would do") {
  const std::string path = "/tmp/tessera_executor_report." + std::to_string(getpid());
  CHECK(fault_of([&] {
          options().report = path;
          options_report = true;
          float *from = device_array<float>(1024), *to = device_array<float>(1024);
          launch<copy_in_order>(4, 256, from, to);
          launch<copy_columns>(4, 256, from, to);
          launch<read_twice>(4, 256, from, to);
          cudaDeviceSynchronize();
          write_report();
        }) == "");
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::remove(path.c_str());
  const auto has = [&](const std::string& words) {
    if (text.str().find(words) != std::string::npos) return true;
    MESSAGE(text.str());
    return false;
  };
  CHECK(has("\"launches\": 3,"));
  CHECK(has("\"allocations\": 2,"));
  CHECK(has("\"synchronisations\": 1,"));
  CHECK(
      has("copy_in_order\": {\"launches\": 1, \"blocks\": 4, \"threads\": 1024, \"bytes_read\": 4096, \"ideal_read\": "
          "4096, \"bytes_written\": 4096, \"ideal_written\": 4096, \"load_sectors\": 16, \"ideal_load_sectors\": 16"));
  CHECK(
      has("copy_columns\": {\"launches\": 1, \"blocks\": 4, \"threads\": 1024, \"bytes_read\": 4096, \"ideal_read\": "
          "4096, \"bytes_written\": 4096, \"ideal_written\": 4096, \"load_sectors\": 128, \"ideal_load_sectors\": 16"));
  CHECK(has("\"bytes_read\": 8192, \"ideal_read\": 4096"));
}

}  // namespace tessera_executor::testing
