// An image filter whose algorithm is a script, over buffers that stay the host's: no pixel is copied into the script or out of
// it. The camera's rows have a pitch (bytes between rows that belong to no pixel), as real ones do.
#include <tessera/tessera.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

namespace {

constexpr int64_t kRows = 120, kColumns = 160, kPitch = 512;  // bytes from row to row
constexpr float kStrong = 100;

// A bright disc in front of a dark slope.
void photograph(std::vector<uint8_t>& camera) {
  for (int64_t y = 0; y < kRows; ++y) {
    for (int64_t x = 0; x < kColumns; ++x) {
      const bool inside = (x - 80) * (x - 80) + (y - 60) * (y - 60) < 40 * 40;
      uint8_t* const pixel = &camera[static_cast<size_t>(y * kPitch + 3 * x)];
      pixel[0] = static_cast<uint8_t>(inside ? 240 : x / 4);
      pixel[1] = static_cast<uint8_t>(inside ? 220 : y / 4);
      pixel[2] = 40;
    }
  }
}

// The same filter as plain loops, to check the script by.
std::vector<float> expected(const std::vector<uint8_t>& camera) {
  const auto at = [](const std::vector<float>& image, int64_t y, int64_t x) {  // the border goes on
    y = std::clamp<int64_t>(y, 0, kRows - 1);
    x = std::clamp<int64_t>(x, 0, kColumns - 1);
    return image[static_cast<size_t>(y * kColumns + x)];
  };
  constexpr float weights[] = {0.25f, 0.5f, 0.25f};
  std::vector<float> grey, smooth, edges;
  for (int64_t y = 0; y < kRows; ++y) {
    for (int64_t x = 0; x < kColumns; ++x) {
      const uint8_t* const pixel = &camera[static_cast<size_t>(y * kPitch + 3 * x)];
      grey.push_back(0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]);
    }
  }
  for (int64_t y = 0; y < kRows; ++y) {
    for (int64_t x = 0; x < kColumns; ++x) {
      float sum = 0;
      for (int64_t i = -1; i <= 1; ++i)
        for (int64_t j = -1; j <= 1; ++j) sum += weights[i + 1] * weights[j + 1] * at(grey, y + i, x + j);
      smooth.push_back(sum);
    }
  }
  for (int64_t y = 0; y < kRows; ++y) {
    for (int64_t x = 0; x < kColumns; ++x) {
      float across = 0, down = 0;
      for (int64_t i = -1; i <= 1; ++i) {
        across += 4 * weights[i + 1] * (at(smooth, y + i, x + 1) - at(smooth, y + i, x - 1));
        down += 4 * weights[i + 1] * (at(smooth, y + 1, x + i) - at(smooth, y - 1, x + i));
      }
      edges.push_back(std::hypot(across, down));
    }
  }
  return edges;
}

}  // namespace

int main() {
  std::vector<uint8_t> camera(kRows * kPitch, 7);
  std::vector<float> edges(kRows * kColumns);
  photograph(camera);
  const std::vector<float> wanted = expected(camera);

  tessera::Interpreter tsr({.memory_limit = 256 << 20, .time_limit = 5.0});
  try {
    tsr.set("strong", kStrong);
    tsr.run_file("image_filter.tsr");  // this once; from here on a frame is one call

    // Strides are in elements: a row is kPitch bytes from the next, a pixel three from its neighbour.
    const auto image = tessera::Tensor::from_blob(camera.data(), {kRows, kColumns, 3}, {kPitch, 3, 1}, tessera::kUInt8);
    const auto result = tessera::Tensor::from_blob(edges.data(), {kRows, kColumns});
    tsr.get("filter")(image, result);
  } catch (const tessera::ScriptError& error) {
    std::fprintf(stderr, "%s", error.what());
    return 1;
  }

  float worst = 0;
  size_t painted = 0, outlines = 0;
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    const auto at = static_cast<size_t>(i);
    worst = std::max(worst, std::abs(edges[at] - wanted[at]));
    outlines += wanted[at] > kStrong ? 1 : 0;
    const auto pixel = std::span(camera).subspan(static_cast<size_t>(i / kColumns * kPitch + i % kColumns * 3), 3);
    painted += pixel[0] == 255 && pixel[1] == 0 && pixel[2] == 0 ? 1 : 0;
  }
  const bool pitch_untouched = camera[3 * kColumns] == 7 && camera[kPitch - 1] == 7;
  std::printf("%zu pixels of the outline painted, the largest difference is %g\n", painted, static_cast<double>(worst));
  return worst < 0.01f && painted == outlines && painted > 200 && pitch_untouched ? 0 : 1;
}
