// Where the taps of a depthwise convolution read.
// compile: small (runs once for each line)
#include "backends/cpu/conv_depthwise.h"

#include <numeric>

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kAtOnce = 512;  // places of the result: 32 KiB of AVX-512's lanes

struct Axis {
  int64_t kernel, stride, padding, dilation;
};
TapRange forward_taps(const Axis& a, int64_t o) { return {a.kernel, 0, 1, o * a.stride - a.padding, a.dilation}; }
// The places of the gradient of the input are the pixels of the image: every tap counts that a result saw the pixel by.
TapRange backward_taps(const Axis& a, int64_t o) {
  const int64_t tap_step = a.stride / std::gcd(a.stride, a.dilation);
  for (int64_t first = 0; first < std::min(a.kernel, tap_step); first++) {
    const int64_t reached = o + a.padding - first * a.dilation;
    if (reached % a.stride == 0)
      return {(a.kernel - first + tap_step - 1) / tap_step, first, tap_step, reached / a.stride,
              -(tap_step * a.dilation / a.stride)};
  }
  return {0, 0, tap_step, 0, 0};
}

}  // namespace

DepthwisePlan::DepthwisePlan(const ConvCall& c, int64_t lanes_of)
    : call(c),
      backward(c.pass == ConvCall::InputGradient),
      lanes(lanes_of),
      blocks((c.channels + lanes - 1) / lanes),
      taps(c.window.kernel[0] * c.window.kernel[1]),
      seen(backward ? Plane{c.result, c.rows, c.columns} : Plane{c.image, c.height, c.width}),
      made(backward ? Plane{c.image, c.height, c.width} : Plane{c.result, c.rows, c.columns}),
      rows(std::clamp<int64_t>(kAtOnce / made.width, 1, made.height)),
      in_step((backward ? 1 : c.window.stride[1]) * lanes) {
  plan_lines();
  list_taps();
}

TapRange DepthwisePlan::seen_at(int axis, int64_t o) const {
  const Window& w = call.window;
  const Axis a{w.kernel[axis], w.stride[axis], w.padding[axis], w.dilation[axis]};
  return backward ? backward_taps(a, o) : forward_taps(a, o);
}

TapRange DepthwisePlan::lines_seen(int64_t y) const {
  TapRange range = seen_at(0, y);
  const auto outside = [&](int64_t tap) {
    const int64_t line = range.start + tap * range.move;
    return line < 0 || line >= seen.height;
  };
  while (range.taps > 0 && outside(0)) range.taps--, range.first += range.tap_step, range.start += range.move;
  while (range.taps > 0 && outside(range.taps - 1)) range.taps--;
  return range;
}

DepthwisePlan::Lines DepthwisePlan::lines_of(int64_t begin, int64_t end) const {
  Lines found{seen.height, 0};
  for (int64_t y = begin; y < end; y++) {
    const TapRange down = lines_seen(y);
    if (down.taps == 0) continue;
    const int64_t other = down.start + (down.taps - 1) * down.move;
    found = {std::min({found.first, down.start, other}), std::max({found.last, down.start + 1, other + 1})};
  }
  return found;
}

void DepthwisePlan::plan_lines() {
  const int64_t apart = backward ? call.window.stride[1] : 1;
  for (int64_t i = 0; i < std::min(apart, made.width); i++) {
    const TapRange across = seen_at(1, i);
    const int64_t places = (made.width - i + apart - 1) / apart;
    classes.push_back({i, apart, places, across, {}, {}});
    if (across.taps == 0) continue;
    const int64_t reach = (across.taps - 1) * across.move, last = across.start + (places - 1) * (in_step / lanes);
    left = std::max(left, -(across.start + std::min<int64_t>(0, reach)));
    right = std::max(right, last + std::max<int64_t>(0, reach) - (seen.width - 1));
  }
  const int64_t reach = call.window.dilation[0] * (call.window.kernel[0] - 1), stride = call.window.stride[0];
  lines = std::min(seen.height, backward ? (rows - 1 + reach) / stride + 2 : (rows - 1) * stride + reach + 1);
}

// From tap to tap every place takes the same steps, so one list serves all rows.
void DepthwisePlan::list_taps() {
  const Window& w = call.window;
  const int64_t apart = backward ? w.stride[0] / std::gcd(w.stride[0], w.dilation[0]) : 1;
  const int64_t move = backward ? -(apart * w.dilation[0] / w.stride[0]) : w.dilation[0];
  const int64_t line = (left + seen.width + right) * lanes;
  for (Class& one : classes)
    for (int64_t y = 0; y * apart < w.kernel[0]; y++)
      for (int64_t x = 0; x < one.across.taps; x++) {
        one.pixels.push_back(y * move * line + x * one.across.move * lanes);
        one.weights.push_back((y * apart * w.kernel[1] + x * one.across.tap_step) * lanes);
      }
}

}  // namespace tessera::tensor::cpu
