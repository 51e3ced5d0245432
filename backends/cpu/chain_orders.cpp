// The order of operands in additions and products, as the kernels have it. A step is generated alone and runs on NaNs that differ in payload and
// sign, zeros, infinities and plain numbers; where its bits are not the kernel's, operands are swapped until they are.
// compile: small (runs once for each op)
#include "backends/cpu/chain_code.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "backends/cpu/code_cache.h"

namespace tessera::tensor::cpu {
namespace {

using Do = ChainCode::Do;
using Input = ChainCode::Input;

// An addition or a product counts if its operands may be two NaNs that differ. Values are given the number of the NaN that they can be, 0 if they
// are no NaN: results have that of their operands, but where the sign is changed or where one of two is chosen.
class NanNumbers {
 public:
  explicit NanNumbers(const ChainCode& code) : code_(code) {
    for (uint8_t k = 0; k < code.inputs; k++) number_[k] = code.is_number(k) || code.is_mask(k) ? uint8_t(0) : next_++;
  }

  /// Goes on with the next instruction. True if its order counts.
  bool counts(int i) {
    const ChainCode::Instruction& instruction = code_.instruction[i];
    const int operands = ChainCode::operands(instruction.what);
    uint8_t one = 0;
    bool several = false;
    for (int k = 0; k < operands; k++) {
      const uint8_t number = number_[instruction.in[k]];
      several |= one && number && number != one;
      one = std::max(one, number);
    }
    number_[ChainCode::kFirstResult + i] = several || makes_new(instruction, one) ? next_++ : one;
    const uint8_t a = number_[instruction.in[0]], b = number_[instruction.in[1]];
    return ChainCode::has_order(instruction.what) && a && b && a != b;
  }

 private:
  static bool makes_new(const ChainCode::Instruction& instruction, uint8_t one) {
    switch (instruction.what) {
      case Do::And: case Do::Or: case Do::Xor: case Do::CopySign: case Do::AddInt: case Do::SubInt: return true;
      case Do::ShiftLeft: case Do::ShiftRight: return instruction.immediate < 23;  // else no NaN's bits are left
      case Do::Max: case Do::Min: case Do::Select: return false;
      default: return one == 0 && !ChainCode::gives_mask(instruction.what);
    }
  }

  const ChainCode& code_;
  uint8_t number_[ChainCode::kFirstResult + ChainCode::kMost] = {}, next_ = 1;
};

// A step alone, on combinations of these numbers. Those of NaNs have the operand's number added.
constexpr uint32_t kNumbers[] = {0x7fc00001, 0xffc00001, 0x7f800000, 0xbf400000, 0,          0xff800000, 0x80000000, 0x3f800000,
                                 0x41a00000, 0xc2d00000, 0x00000001, 0x80400000, 0x42b20000, 0x3e99999a, 0x7f7fffff, 0xff7fffff};

class Probe {
 public:
  Probe(const ChainStep& step, InnerKernel kernel, const Input* kinds) : step_(step), kernel_(kernel) {
    step_.params[0] = Scalar(0.75), step_.params[1] = Scalar(1.25);  // two numbers that no operand is
    int moving = 0;
    for (int k = 0; k < step.operands; k++) {
      region_.numbers[region_.add_input(kinds[k])] = 1.5F;
      moving += kinds[k] == Input::Memory, fixed_ += kinds[k] == Input::Same;
    }
    const int base = moving > 1 ? 6 : 16;
    int count = 1, place = 1;
    for (int k = 0; k < moving; k++) count *= base;
    vectors_ = (count + kLanes - 1) / kLanes;
    for (int k = 0; k < step.operands; k++) {
      if (kinds[k] != Input::Memory) continue;
      for (int i = 0; i < vectors_ * kLanes; i++) {
        const float x = number(k, i / place % base);
        float* const pair = in_[k] + i / kLanes * 2 * kLanes;
        pair[i % kLanes] = pair[kLanes + i % kLanes] = x;
      }
      place *= base;
    }
  }

  void ask(RecordedBody& body, CodeCache& cache) {
    ChainCode& code = region_.code;
    const uint8_t values[] = {0, 1, 2}, result = region_.record(step_, values);
    if (result == ChainCode::kNone || result < ChainCode::kFirstResult) return;
    code.drop_unread(result);
    if (!code.is_mask(0) && !find_orders(cache)) return;  // where_ has no arithmetic
    body.parameters = uint8_t(code.inputs - step_.operands);
    body.literals.assign(code.literal, code.literal + code.literals);
    bool needed[ChainCode::kMost];
    body.length = uint8_t(code.mark_needed(uint8_t(ChainCode::kFirstResult + code.instructions - 1), ChainCode::Way::Short, needed));
    body.instructions.assign(code.instruction, code.instruction + code.instructions);
  }

 private:
  static constexpr int kLanes = 16, kMostVectors = 14;
  using Results = float[kMostVectors * kLanes * ChainCode::kVectors];

  static float number(int operand, int i) { return std::bit_cast<float>(kNumbers[i] + (i < 2 ? uint32_t(operand) : 0)); }

  // False if no order that is tried has the kernel's bits. At most 64 are: of the last instructions, which are the nearest to the result.
  bool find_orders(CodeCache& cache) {
    constexpr int kMost = 24, kMostTried = 6;
    ChainCode& code = region_.code;
    int count = 0;
    uint8_t at[kMost], swapped[kMost] = {};  // instructions whose order counts; kinds of vectors that have in[1] first
    NanNumbers numbers(code);
    for (int i = 0; i < code.instructions; i++) {
      ChainCode::Instruction& instruction = code.instruction[i];
      if (numbers.counts(i)) {
        if (count == kMost) return false;
        at[count++] = uint8_t(i);
      } else if (ChainCode::has_order(instruction.what)) {
        instruction.immediate = ChainCode::kEitherOrder;
      }
    }
    const auto is_swapped = [&](int order, int c) { return (order >> (count - 1 - c) & 1) != 0; };
    ChainCode::Instruction& last = code.instruction[code.instructions - 1];
    item_ = ChainCode::gives_mask(last.what) ? 1 : sizeof(float);
    last.stores = ChainCode::kInMemory;
    unsigned pending = ChainCode::kAllVectors;
    for (int order = 0; order < 1 << std::min(count, kMostTried) && pending != 0; order++) {
      for (int c = 0; c < count; c++) code.instruction[at[c]].immediate = is_swapped(order, c) ? ChainCode::kAllVectors : 0;
      const ChainFunction function = cache.try_out(code);
      if (!function) return false;
      const unsigned agree = agreeing(function) & pending;
      for (int c = 0; c < count; c++) swapped[c] |= uint8_t(is_swapped(order, c) ? agree : 0);
      pending &= ~agree;
    }
    for (int c = 0; c < count; c++) code.instruction[at[c]].immediate = swapped[c];
    last.stores = 0;
    return pending == 0;
  }

  // Bits of the kinds of vectors in which the function has the kernel's bits.
  unsigned agreeing(ChainFunction function) {
    unsigned agree = ChainCode::kAllVectors;
    for (int round = 0; round < 1 << fixed_; round++) {
      int bit = 0;
      for (int k = 0; k < step_.operands; k++)
        if (region_.code.input[k] == Input::Same) region_.numbers[k] = round >> bit++ & 1 ? number(k, 0) : 1.5F;
      each_part(want_, [&](const void* const* pointers, void* out, int64_t n) { run_kernel(pointers, out, n); });
      each_part(got_, [&](const void** pointers, void* out, int64_t n) {
        pointers[region_.code.inputs] = out;
        function(pointers, n & -2 * kLanes, (1U << n % (2 * kLanes)) - 1);
      });
      for (int v = 0; v < vectors_ * ChainCode::kVectors; v++) {
        const size_t at = size_t(v) * kLanes * item_, bytes = kLanes * item_;
        if (std::memcmp(reinterpret_cast<char*>(want_) + at, reinterpret_cast<char*>(got_) + at, bytes) != 0)
          agree &= ~(1U << (v < 2 * vectors_ ? v % 2 : ChainCode::kRest));
      }
    }
    return agree;
  }

  // All pairs of vectors at once, then the first of each alone.
  template <class F>
  void each_part(Results& out, const F& f) {
    const void* pointers[ChainCode::kMostInputs + 1];
    char* at = reinterpret_cast<char*>(out);
    for (int v = -1; v < vectors_; v++) {
      for (int k = 0; k < region_.code.inputs; k++)
        pointers[k] = region_.code.input[k] == Input::Memory ? in_[k] + std::max(v, 0) * 2 * kLanes : &region_.numbers[k];
      const int64_t n = v < 0 ? vectors_ * 2 * kLanes : kLanes;
      f(pointers, at, n);
      at += n * int64_t(item_);
    }
  }

  void run_kernel(const void* const* pointers, void* out, int64_t n) const {
    Run run;
    run.n = n, run.params = step_.params, run.out = out;
    for (int k = 0; k < step_.operands; k++) run.in[k] = pointers[k], run.step[k] = region_.code.input[k] == Input::Memory;
    kernel_(run);
  }

  ChainStep step_;
  InnerKernel kernel_;
  ChainRegion region_;
  float in_[3][kMostVectors * kLanes * 2];
  Results want_, got_;
  int vectors_ = 0, fixed_ = 0;  // of a moving operand; operands that are the same number for all elements
  size_t item_ = 0;              // bytes of a result
};

}  // namespace

const RecordedBody& RecordedBodies::of(const ChainStep& step, InnerKernel kernel, const Input* kinds) {
  uint8_t combination = 0;
  for (int k = 0; k < step.operands; k++) combination = uint8_t(combination << 2 | (kinds[k] == Input::Mask ? 3 : int(kinds[k])));
  for (const RecordedBody& body : known_)
    if (body.op == step.op && body.kinds == combination) return body;
  RecordedBody body{int16_t(step.op), combination, 0, 0, {}, {}};
  std::make_unique<Probe>(step, kernel, kinds)->ask(body, cache_);  // 12 KiB, which a small stack need not have
  return known_.emplace_back(std::move(body));
}

}  // namespace tessera::tensor::cpu
