// Loops that machine code is generated for: steps of a chain on float32 whose results each come from an instruction or two. One loop keeps in
// registers what the steps leave for each other. The instructions are those of AVX-512; on other processors no code is generated, and each tile
// runs step by step (chain.cpp).
//
// The bits are those of the kernels. Which of two NaNs an addition or a product gives depends on the order that the compiler chose for the
// operands, once for each vector that a kernel's loop names: the first and the second of a pair, and what is left (map-inl.h). The kernel is
// asked, with two NaNs.
#pragma once

#include <cstdint>

#include "backends/cpu/pointwise_table.h"
#include "runtime/fuse/chain.h"
#include "runtime/ops/pointwise_ids.h"

namespace tessera::tensor::cpu {

/// Runs a loop. `pointers` are the addresses of its inputs and then of its outputs. Computes `pairs` elements, a multiple of 32, and then
/// as many as the lowest bits of `rest` are set.
using ChainFunction = void (*)(const void* const* pointers, int64_t pairs, uint32_t rest);

/// A loop as data; equal codes have equal functions. Values are numbered: inputs from 0 on, results of instructions from kFirstResult on.
struct ChainCode {
  static constexpr int kMostInputs = 16, kMostOutputs = 12, kMost = 48;
  static constexpr uint8_t kFirstResult = 64, kNone = 255;

  enum class Input : uint8_t {
    Number,  // one float for all elements, not NaN
    Same,    // one float for all elements of a call
    Memory,  // floats, to be fetched ahead
    Buffer,  // floats that a cache holds
    Mask,    // bools, a byte each
  };
  enum Vector : uint8_t { kFirstOfPair, kSecondOfPair, kRest, kVectors };  // kinds
  enum class Do : uint8_t { Add, Sub, Mul, Div, Max, Min, And, Xor, Sqrt, Round, MulAdd, Compare, AndCompare, Select };
  enum Store : uint8_t { kInMemory = 1, kPastCaches = 2, kInBuffer = 4 };

  // MulAdd: in[0] * in[1] + in[2]. AndCompare: where the mask in[2] is set. Select: in[1] where the mask in[2] is set, else in[0].
  struct Instruction {
    Do what;
    uint8_t immediate;  // how to round or compare; Add, Mul and MulAdd: kinds of vectors that have in[1] before in[0]
    uint8_t in[3];
    uint8_t stores;  // bits of Store; each of them is an output, in the order of instructions and bits

    bool gives_mask() const { return what == Do::Compare || what == Do::AndCompare; }
  };

  uint8_t inputs = 0, instructions = 0;
  Input input[kMostInputs];
  Instruction instruction[kMost];

  bool is_mask(uint8_t value) const {
    return value < kFirstResult ? input[value] == Input::Mask : instruction[value - kFirstResult].gives_mask();
  }
  bool operator==(const ChainCode& other) const;
};

/// Which operands of additions and products kernels have first, asked once for each op and each combination of operands that move.
class OperandOrders {
 public:
  /// Bit v: vectors of kind v have the kernel's operand b before a, where a and b are both NaN. `moves` as in Run::step.
  uint8_t of(const ChainStep& step, InnerKernel kernel, int a, int b, const int64_t* moves);

 private:
  uint8_t known_[pointwise::kPointwiseCount][8] = {};  // 0: not asked yet; else the answer and kAsked
};

/// Translates steps, one after the other, to a code.
class ChainRegion {
 public:
  using Input = ChainCode::Input;

  explicit ChainRegion(OperandOrders& orders) : orders_(orders) {}
  /// Return the value, or kNone if there is no room.
  uint8_t add_input(Input kind);
  uint8_t add_number(float x);
  /// Adds a step whose operands have these values, which `kernel` computes alone. Returns its result, or kNone if the step is no such op
  /// or there is no room; the region is then to be rewound.
  uint8_t add_step(const ChainStep& step, const uint8_t* values, InnerKernel kernel);

  struct Mark {
    uint8_t inputs, instructions;
  };
  Mark mark() const { return {code.inputs, code.instructions}; }
  void rewind(Mark mark) { code.inputs = mark.inputs, code.instructions = mark.instructions; }

  ChainCode code;
  float numbers[ChainCode::kMostInputs];  // of inputs of kind Number

 private:
  using Do = ChainCode::Do;
  uint8_t emit(Do what, uint8_t a, uint8_t b = 0, uint8_t c = 0, int immediate = 0);
  uint8_t clamp(Do what, float bound, uint8_t x);
  uint8_t choose(int when_second, uint8_t ordered, uint8_t x, uint8_t y);
  uint8_t param(const ChainStep& step, int k) { return add_number(float(step.params[k].to_double())); }
  uint8_t translate(const ChainStep& step, const uint8_t* in, InnerKernel kernel);
  bool is_number(uint8_t value) const { return value < ChainCode::kFirstResult && code.input[value] == Input::Number; }

  OperandOrders& orders_;
};

/// Writes the function of a code to memory of `room` bytes. Returns its length, or 0 if it does not fit or needs more registers than there are.
size_t generate_chain(const ChainCode& code, uint8_t* to, size_t room);

}  // namespace tessera::tensor::cpu
