// The function of a ChainCode. A vector of 16 elements goes through all instructions before the next; those that are left behind the last pair
// of vectors go through the same instructions with masked loads and stores. Numbers stay in registers for the length of a call.
#include "backends/cpu/chain_code.h"

#if defined(__x86_64__)
#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "backends/cpu/vector_assembler.h"

namespace tessera::tensor::cpu {
namespace {

using A = VectorAssembler;
using Do = ChainCode::Do;
using Input = ChainCode::Input;

class Generator {
 public:
  Generator(const ChainCode& code, uint8_t* to, size_t room) : code_(code), a_(to, room) {}

  size_t write() {
    find_last_uses();
    for (int p = 0; p < pointers_ && p < kMostPointers; p++)
      if (const int stream = stream_of_[p]; stream >= 0 && stream < kBases) a_.load_pointer(kBase[stream], A::rdi, p);
    keep_numbers();
    a_.clear_index();
    a_.compare_index(A::rsi);
    const size_t none = a_.jump(A::Jump::IfNotBelow);
    const size_t loop = a_.size();
    write_body(ChainCode::kFirstOfPair);
    a_.add_to_index(16);
    write_body(ChainCode::kSecondOfPair);
    a_.add_to_index(16);
    a_.compare_index(A::rsi);
    a_.jump(A::Jump::IfBelow, loop);
    a_.land(none);
    a_.test(A::rdx);
    const size_t no_rest = a_.jump(A::Jump::IfZero);
    const size_t rest = a_.size();
    a_.kmovw(kRestMask, A::rdx);
    write_body(ChainCode::kRest);
    a_.add_to_index(16);
    a_.shift_right(A::rdx, 16);
    a_.jump(A::Jump::IfNotZero, rest);
    a_.land(no_rest);
    a_.vzeroupper();
    a_.ret();
    return failed_ || !a_.fits() ? 0 : a_.size();
  }

 private:
  static constexpr uint8_t kRestMask = 7;  // of the elements of a vector behind the pairs
  static constexpr int kBases = 4;     // streams whose addresses stay in registers
  static constexpr A::Gpr kBase[kBases] = {A::rcx, A::r8, A::r9, A::r10};
  static constexpr int kAhead = 2048;  // bytes
  static constexpr int kMostPointers = ChainCode::kMostInputs + ChainCode::kMostOutputs;
  static constexpr int kValues = ChainCode::kFirstResult + ChainCode::kMost;

  // Numbers the pointers that the loop follows, and finds the last reader of each value.
  void find_last_uses() {
    std::fill_n(last_use_, kValues, int8_t(-1));
    for (int i = 0; i < code_.instructions; i++)
      for (const uint8_t value : operands(code_.instruction[i])) last_use_[value] = int8_t(i);
    for (int k = 0; k < code_.inputs; k++) stream_of_[pointers_++] = code_.input[k] >= Input::Memory ? int8_t(streams_++) : int8_t(-1);
    for (int i = 0; i < code_.instructions; i++)
      for (int n = std::popcount(code_.instruction[i].stores); n > 0; n--) {
        if (pointers_ == kMostPointers) return void(failed_ = true);
        stream_of_[pointers_++] = int8_t(streams_++);
      }
  }

  uint8_t take(uint32_t& free) {
    if (free == 0) {
      failed_ = true;
      return 1;
    }
    const int r = std::countr_zero(free);
    free &= free - 1;
    return uint8_t(r);
  }

  void keep_numbers() {
    for (uint8_t k = 0; k < code_.inputs; k++) {
      if (code_.input[k] >= Input::Memory) continue;
      a_.load_pointer(A::r11, A::rdi, k);
      a_.vbroadcastss(register_[k] = take(vectors_), A::r11);
    }
  }

  A::Memory stream(int pointer, bool bytes) {
    const int s = stream_of_[pointer];
    if (s >= kBases) a_.load_pointer(A::r11, A::rdi, pointer);
    return {s < kBases ? kBase[s] : A::r11, uint8_t(bytes ? 0 : 2)};
  }

  void write_body(ChainCode::Vector kind) {
    const uint32_t vectors = vectors_, masks = masks_;
    std::fill_n(loaded_, ChainCode::kMostInputs, false);
    int output = code_.inputs;
    for (int i = 0; i < code_.instructions && !failed_; i++) write_instruction(i, kind, output);
    vectors_ = vectors, masks_ = masks;
  }

  void load(uint8_t value, uint8_t rest) {
    if (value >= code_.inputs || code_.input[value] < Input::Memory || std::exchange(loaded_[value], true)) return;
    const bool mask = code_.input[value] == Input::Mask;
    const A::Memory from = stream(value, mask);
    const uint8_t r = take(vectors_);
    if (!mask) {
      a_.vmovups_load(register_[value] = r, from, rest);
      if (code_.input[value] == Input::Memory && rest == 0) a_.prefetch(from, kAhead);
      return;
    }
    a_.vmovdqu8_load(r, from, rest);
    a_.vptestmb(register_[value] = take(masks_), r, r);
    vectors_ |= 1U << r;
  }

  // Numbers stay.
  void release(uint8_t value, int reader) {
    if (last_use_[value] > reader || (value < ChainCode::kFirstResult && code_.input[value] < Input::Memory)) return;
    (code_.is_mask(value) ? masks_ : vectors_) |= 1U << register_[value];
  }

  // Instructions of one operand have it at the second place.
  static std::span<const uint8_t> operands(const ChainCode::Instruction& i) {
    switch (i.what) {
      case Do::Sqrt:
      case Do::Round: return {i.in + 1, 1};
      case Do::MulAdd:
      case Do::AndCompare:
      case Do::Select: return {i.in, 3};
      default: return {i.in, 2};
    }
  }

  // The instruction with its operands in the order of this kind of vector.
  ChainCode::Instruction ordered(int i, ChainCode::Vector kind) const {
    ChainCode::Instruction instruction = code_.instruction[i];
    const bool commutes = instruction.what == Do::Add || instruction.what == Do::Mul || instruction.what == Do::MulAdd;
    if (commutes && (instruction.immediate >> kind & 1)) std::swap(instruction.in[0], instruction.in[1]);
    return instruction;
  }

  void write_instruction(int i, ChainCode::Vector kind, int& output) {
    const ChainCode::Instruction instruction = ordered(i, kind);
    const uint8_t rest = kind == ChainCode::kRest ? kRestMask : 0;
    const uint8_t value = uint8_t(ChainCode::kFirstResult + i);
    for (const uint8_t in : operands(instruction)) load(in, rest);
    const auto r = [&](int k) { return register_[instruction.in[k]]; };
    uint8_t d = 0;
    if (instruction.what == Do::MulAdd) {  // a register of its own, which begins as what is added to
      a_.vmovaps(d = take(vectors_), r(2));
      a_.op(A::kFmadd231, d, r(0), r(1));
    }
    for (const uint8_t in : operands(instruction)) release(in, i);
    if (instruction.what != Do::MulAdd) d = take(instruction.gives_mask() ? masks_ : vectors_);
    switch (instruction.what) {
      case Do::Add: a_.op(A::kAdd, d, r(0), r(1)); break;
      case Do::Sub: a_.op(A::kSub, d, r(0), r(1)); break;
      case Do::Mul: a_.op(A::kMul, d, r(0), r(1)); break;
      case Do::Div: a_.op(A::kDiv, d, r(0), r(1)); break;
      case Do::Max: a_.op(A::kMax, d, r(0), r(1)); break;
      case Do::Min: a_.op(A::kMin, d, r(0), r(1)); break;
      case Do::And: a_.op(A::kAnd, d, r(0), r(1)); break;
      case Do::Xor: a_.op(A::kXor, d, r(0), r(1)); break;
      case Do::Sqrt: a_.op(A::kSqrt, d, 0, r(1)); break;
      case Do::Round: a_.op_imm(A::kRndscale, d, 0, r(1), instruction.immediate); break;
      case Do::Compare: a_.op_imm(A::kCmp, d, r(0), r(1), instruction.immediate); break;
      case Do::AndCompare: a_.op_imm(A::kCmp, d, r(0), r(1), instruction.immediate, r(2)); break;
      case Do::Select: a_.op(A::kBlendm, d, r(0), r(1), r(2)); break;
      case Do::MulAdd: break;
    }
    register_[value] = d;
    for (const uint8_t kind : {ChainCode::kInMemory, ChainCode::kPastCaches, ChainCode::kInBuffer})
      if (instruction.stores & kind) store(output++, d, instruction.gives_mask(), kind == ChainCode::kPastCaches, rest);
    if (last_use_[value] < 0) (instruction.gives_mask() ? masks_ : vectors_) |= 1U << d;
  }

  void store(int pointer, uint8_t from, bool mask, bool past_caches, uint8_t rest) {
    const A::Memory to = stream(pointer, mask);
    if (mask) {
      const uint8_t bytes = take(vectors_);
      a_.vpmovm2b(bytes, from);
      a_.vpabsb(bytes, bytes);  // 1, not -1
      a_.vmovdqu8_store(to, bytes, rest);
      vectors_ |= 1U << bytes;
    } else if (past_caches && rest == 0) {
      a_.vmovntps(to, from);
    } else {
      a_.vmovups_store(to, from, rest);
    }
  }

  const ChainCode& code_;
  A a_;
  uint32_t vectors_ = UINT32_MAX, masks_ = 0x7e;  // registers that hold nothing: k1 to k6
  uint8_t register_[kValues] = {};
  int8_t last_use_[kValues], stream_of_[kMostPointers];
  bool loaded_[ChainCode::kMostInputs] = {};
  int pointers_ = 0, streams_ = 0;
  bool failed_ = false;
};

}  // namespace

size_t generate_chain(const ChainCode& code, uint8_t* to, size_t room) { return Generator(code, to, room).write(); }

}  // namespace tessera::tensor::cpu
#endif
