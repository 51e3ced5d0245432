// Loops that machine code is generated for: neighbouring steps of a chain on float32. One loop keeps in registers what the steps leave for
// each other. The instructions are those of AVX-512; on other processors no code is generated, and each tile runs step by step (chain.cpp).
//
// The instructions of a step are those of the op's own body (pointwise.def, lane-inl.h): chain_record.cpp runs the body on vectors that note
// what is done with them. So the bits are those of the kernel, but for one thing: which of two NaNs an addition or a product gives depends on
// the order that the compiler chose for the operands, once for each vector that a kernel's loop names (the first and the second of a pair, and
// the rest: map-inl.h). chain_orders.cpp asks the kernel, with NaNs, and refuses ops whose code gives other bits. A body is recorded once for each
// cache of code (code_cache.h); then chains take its instructions from there.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/pointwise_table.h"
#include "runtime/fuse/chain.h"

namespace tessera::tensor::cpu {

/// Runs a loop. `pointers` are the addresses of its inputs and then of its outputs. Computes `pairs` elements, a multiple of 32, and then
/// as many as the lowest bits of `rest` are set. A loop with totals computes `rest` elements, the first `pairs` of them as its first block;
/// it moves the last pointer, which is where the totals go.
using ChainFunction = void (*)(const void* const* pointers, int64_t pairs, uint32_t rest);

/// A loop as data; equal codes have equal functions. Values are numbered: inputs from 0 on, numbers that bodies name from kFirstLiteral on,
/// results of instructions from kFirstResult on.
struct ChainCode {
  static constexpr int kMostInputs = 16, kMostOutputs = 12, kMostLiterals = 48, kMost = 190;
  static constexpr uint8_t kFirstLiteral = kMostInputs, kFirstResult = kFirstLiteral + kMostLiterals, kNone = 255;

  enum class Input : uint8_t {
    Number,  // one float for all elements, not NaN
    Same,    // one float for all elements of a call
    Memory,  // floats
    Mask,    // bools, a byte each
  };
  enum Vector : uint8_t { kFirstOfPair, kSecondOfPair, kRest, kVectors };  // kinds
  static constexpr uint8_t kAllVectors = (1 << kVectors) - 1, kEitherOrder = 0x80;

  // Scale: in[0] * 2^in[1]. MulAdd: in[0] * in[1] + in[2]; NegMulAdd: the product is subtracted; MulSub: in[2] is. CopySign: in[0] with the sign
  // of in[1]; in[2] is the sign bit. AndCompare: where the mask in[2] is set. Select: in[1] where the mask in[2] is set, else in[0]. Guard: no
  // result; where the mask is set for all elements of a vector, in[0] is the result of each Select whose immediate is kRarely. A loop with a
  // Guard has two ways, a short one for vectors that pass all Guards.
  enum class Do : uint8_t {
    Add, Mul, And, Or, Xor, AddInt, Sub, Div, Max, Min, SubInt, Scale,
    Sqrt, Round, ShiftLeft, ShiftRight,
    MulAdd, NegMulAdd, MulSub, CopySign, Select,
    Compare, CompareInt, AndCompare, MaskAnd, MaskXor, MaskNot, Guard,
  };
  static constexpr int operands(Do what) {
    if (what >= Do::MaskNot || (what >= Do::Sqrt && what <= Do::ShiftRight)) return 1;
    return what == Do::AndCompare || (what >= Do::MulAdd && what <= Do::Select) ? 3 : 2;
  }
  static constexpr bool gives_mask(Do what) { return what >= Do::Compare; }
  static constexpr bool takes_mask(Do what, int k) { return what >= Do::MaskAnd || ((what == Do::AndCompare || what == Do::Select) && k == 2); }
  static constexpr bool commutes(Do what) { return what <= Do::AddInt || is_fused(what); }  // in[0] and in[1]
  static constexpr bool is_fused(Do what) { return what >= Do::MulAdd && what <= Do::MulSub; }
  static constexpr bool has_order(Do what) { return what == Do::Add || what == Do::Mul || is_fused(what); }  // which NaN is given

  static constexpr uint8_t kRarely = 1;
  enum class Way : uint8_t { Long, Short };

  // Totals of each column of 32 elements, a row of them for each block of `block` elements: what the kernels of reduce_table.h add up first.
  enum class Total : uint8_t { None, Sum, Largest, Smallest };

  enum Store : uint8_t { kInMemory = 1, kPastCaches = 2, kInBuffer = 4 };

  struct Instruction {
    Do what;
    uint8_t immediate;  // how to round, compare or shift; has_order: kinds of vectors that have in[1] before in[0], or kEitherOrder
    uint8_t in[3];
    uint8_t stores;  // bits of Store; each of them is an output, in the order of instructions and bits
  };

  uint8_t inputs = 0, literals = 0, instructions = 0;
  Total total = Total::None;  // of the last instruction's results
  uint16_t block = 0;         // elements, a multiple of 32
  Input input[kMostInputs];
  uint32_t literal[kMostLiterals];  // bits
  Instruction instruction[kMost];

  static bool is_literal(uint8_t value) { return value >= kFirstLiteral && value < kFirstResult; }
  bool is_number(uint8_t value) const { return is_literal(value) || (value < kFirstLiteral && input[value] == Input::Number); }  // never NaN
  bool is_mask(uint8_t value) const {
    if (value >= kFirstResult) return gives_mask(instruction[value - kFirstResult].what);
    return value < kFirstLiteral && input[value] == Input::Mask;
  }
  /// The instruction that a value comes from, if it is `what`; else null.
  const Instruction* made_by(Do what, uint8_t value) const {
    const bool is_result = value >= kFirstResult && value < kFirstResult + instructions;
    return is_result && instruction[value - kFirstResult].what == what ? &instruction[value - kFirstResult] : nullptr;
  }
  // Return the value, or kNone if there is no room. kNone as an operand makes kNone, and so does a mask in the place of a vector.
  uint8_t add_literal(uint32_t bits);
  uint8_t add(Do what, uint8_t a, uint8_t b, uint8_t c, int immediate);
  /// Marks `result`, Guards and what they need. Returns how many instructions are marked.
  int mark_needed(uint8_t result, Way way, bool* needed) const;
  /// Marks what the marked instructions need. Returns how many instructions are marked.
  int mark_needed(Way way, bool* needed) const;
  /// Removes instructions that `result` does not need; it becomes that of the last one.
  void drop_unread(uint8_t result);
  /// Writes at most sizeof(ChainCode) bytes, which only equal codes have. Returns how many.
  size_t pack(uint8_t* to) const;
};

class CodeCache;

/// The instructions of an op, for one combination of kinds of operands. Their values are those of a code whose inputs are the operands, and
/// then the op's parameters.
struct RecordedBody {
  int16_t op;
  uint8_t kinds;
  uint8_t parameters = 0;  // that the body reads
  uint8_t length = 0;      // instructions of the short way
  std::vector<uint32_t> literals;
  std::vector<ChainCode::Instruction> instructions;  // the last one gives the result; none: the op stays with its kernel
};
/// The bodies that were asked for.
class RecordedBodies {
 public:
  explicit RecordedBodies(CodeCache& cache) : cache_(cache) {}
  /// The first call for a combination records the body, generates it alone and compares it with its kernel. The result is valid until the
  /// next call.
  const RecordedBody& of(const ChainStep& step, InnerKernel kernel, const ChainCode::Input* kinds);

 private:
  CodeCache& cache_;
  std::vector<RecordedBody> known_;
};

/// Translates steps, one after the other, to a code.
class ChainRegion {
 public:
  using Input = ChainCode::Input;

  /// Returns the value, or kNone if there is no room.
  uint8_t add_input(Input kind);
  uint8_t add_number(float x);
  /// Runs a step's body, which adds its instructions, for operands with these values. Returns its result, or kNone if the body has no record.
  uint8_t record(const ChainStep& step, const uint8_t* values);
  /// Adds a step, which `kernel` computes alone. Returns its result, or kNone if no code does or there is no room; the region is then to be
  /// rewound.
  uint8_t add_step(const ChainStep& step, const uint8_t* values, InnerKernel kernel, RecordedBodies& bodies);

  struct Mark {
    uint8_t inputs, literals, instructions;
    int length;
  };
  Mark mark() const { return {code.inputs, code.literals, code.instructions, length}; }
  void rewind(Mark mark) { code.inputs = mark.inputs, code.literals = mark.literals, code.instructions = mark.instructions, length = mark.length; }

  ChainCode code;
  float numbers[ChainCode::kMostInputs];  // of inputs of kind Number
  int length = 0;  // instructions of the short way
};

struct GeneratedChain {
  size_t size = 0;   // bytes; 0: the function does not fit, or needs more registers than there are
  size_t entry = 0;  // where it begins
};
/// Writes the function of a code to memory of `room` bytes, from a multiple of 64 on.
GeneratedChain generate_chain(const ChainCode& code, uint8_t* to, size_t room);

}  // namespace tessera::tensor::cpu
