// The function of a ChainCode. Four vectors of 16 elements go through all instructions side by side, for each instruction waits for the one
// before: an exponential of 10^6 elements takes 145 us, with two vectors 156. Two go where registers are too few for four, and at the end. Those
// that are left behind the last pair go through the same instructions with masked loads and stores. Numbers stay in registers
// for the length of a call. Literals lie before the function, and are operands of instructions where they can. Vectors that do not pass a Guard
// go through the long way, behind the function's end, from their loads on: the short way stores nothing before its last Guard.
// compile: small, no-exceptions (runs once for each code)
#include "backends/cpu/chain_code.h"

#if defined(__x86_64__)
#include <algorithm>
#include <bit>
#include <utility>

#include "backends/cpu/vector_assembler.h"

namespace tessera::tensor::cpu {
namespace {

using A = VectorAssembler;
using Do = ChainCode::Do;
using Input = ChainCode::Input;
using Instruction = ChainCode::Instruction;
using Way = ChainCode::Way;

// By Do, up to Round.
constexpr A::Op kOps[] = {
    {A::Map::k0F, A::Prefix::None, 0x58}, {A::Map::k0F, A::Prefix::None, 0x59},   // Add, Mul
    {A::Map::k0F, A::Prefix::None, 0x54}, {A::Map::k0F, A::Prefix::None, 0x56},   // And, Or
    {A::Map::k0F, A::Prefix::None, 0x57}, {A::Map::k0F, A::Prefix::k66, 0xFE},    // Xor, AddInt
    {A::Map::k0F, A::Prefix::None, 0x5C}, {A::Map::k0F, A::Prefix::None, 0x5E},   // Sub, Div
    {A::Map::k0F, A::Prefix::None, 0x5F}, {A::Map::k0F, A::Prefix::None, 0x5D},   // Max, Min
    {A::Map::k0F, A::Prefix::k66, 0xFA},  {A::Map::k0F38, A::Prefix::k66, 0x2C},  // SubInt, Scale
    {A::Map::k0F, A::Prefix::None, 0x51}, {A::Map::k0F3A, A::Prefix::k66, 0x08},  // Sqrt, Round
};
constexpr A::Op kSelect{A::Map::k0F38, A::Prefix::k66, 0x65}, kCompare{A::Map::k0F, A::Prefix::None, 0xC2},
    kCompareInt{A::Map::k0F3A, A::Prefix::k66, 0x1F};

// The processor itself begins the next vectors' instructions before the last of a loop of so few, which memory bounds in the end.
constexpr int kShort = 16;
constexpr int kMostAbreast = 4;

// How registers are spent: on vectors at once, on literals, on results that are stored behind the last load. Operands mostly begin at the same
// place of a page: a processor that compares the lowest 12 bits of addresses has a load wait for each store just before it. Adam's step on 40000
// elements takes 8.5 us where it takes 13.8 with stores between the loads.
struct Spending {
  int abreast, literals;
  bool loads_first;
};

class Generator {
 public:
  Generator(const ChainCode& code, uint8_t* to, size_t room, Spending spending) : code_(code), a_(to, room), spending_(spending) {}

  GeneratedChain write() {
    for (int i = 0; i < code_.literals; i++) a_.data(code_.literal[i]);
    if (code_.total != ChainCode::Total::None) a_.data(code_.total == ChainCode::Total::Largest ? kLowest : kHighest);
    a_.align();
    const size_t entry = a_.size();
    number_pointers();
    const bool guarded = std::any_of(code_.instruction, code_.instruction + code_.instructions, [](const Instruction& i) { return i.what == Do::Guard; });
    plan(guarded ? Way::Short : Way::Long);
    for (int p = 0; p < pointers_ && p < kMostPointers; p++)
      if (const int stream = stream_of_[p]; stream >= 0 && stream < kBases) a_.load_pointer(kBase[stream], A::rdi, p);
    if (code_.total != ChainCode::Total::None) take_totals();
    keep_numbers();
    a_.clear_index();
    const size_t block = a_.size();
    if (code_.total != ChainCode::Total::None) begin_block();
    if (spending_.abreast == kMostAbreast) {
      write_loop_of_two_pairs();
      if (guarded) plan(Way::Long);
    }
    a_.compare_index(A::rsi);
    const size_t none = a_.jump(A::Jump::IfNotBelow);
    const size_t loop = a_.size();
    const int abreast = std::min(spending_.abreast, 2);
    write_part(ChainCode::kFirstOfPair, abreast);
    if (abreast == 1) write_part(ChainCode::kSecondOfPair, 1);
    a_.compare_index(A::rsi);
    a_.jump(A::Jump::IfBelow, loop);
    a_.land(none);
    if (guarded) plan(Way::Long);
    if (code_.total != ChainCode::Total::None) end_block(block);
    else write_rest();
    a_.vzeroupper();
    a_.ret();
    write_long_ways();
    return {failed_ || !a_.fits() ? 0 : a_.size(), entry};
  }
  int spare_registers() const { return spare_; }

 private:
  static constexpr uint8_t kRestMask = 7;  // of the elements of a vector behind the pairs
  static constexpr int kBases = 4;         // streams whose addresses stay in registers
  static constexpr A::Gpr kBase[kBases] = {A::rcx, A::r8, A::r9, A::r10};
  static constexpr int kMostPointers = ChainCode::kMostInputs + ChainCode::kMostOutputs;
  static constexpr int kValues = ChainCode::kFirstResult + ChainCode::kMost;
  static constexpr int kNever = -1, kStore = INT16_MAX;  // last uses
  static constexpr size_t kMostGuards = 32;
  static constexpr uint32_t kLowest = 0xff800000, kHighest = 0x7f800000;  // infinities

  void write_rest() {
    a_.test(A::rdx);
    const size_t none = a_.jump(A::Jump::IfZero);
    const size_t rest = a_.size();
    a_.kmovw(kRestMask, A::rdx);
    write_body(ChainCode::kRest, 1);
    a_.add_to_index(16);
    a_.shift_right(A::rdx, 16);
    a_.jump(A::Jump::IfNotZero, rest);
    a_.land(none);
  }

  // Two vectors of totals begin as the identity.
  void begin_block() {
    for (const uint8_t total : total_) {
      if (code_.total == ChainCode::Total::Sum) a_.op(kOps[int(Do::Xor)], total, total, {total});
      else a_.vmovaps(total, identity_);
    }
  }
  void end_block(size_t begin) {
    const int pointer = pointers_ - 1;
    a_.load_pointer(A::r11, A::rdi, pointer);
    for (uint8_t k = 0; k < 2; k++) a_.vmovups_store({A::r11, 0, k, false}, total_[k], 0);
    a_.add_to_pointer(A::rdi, pointer, 128);
    a_.add_large(A::rsi, code_.block);
    a_.compare_index(A::rdx);
    a_.jump(A::Jump::IfBelow, begin);
  }
  void take_totals() {
    a_.keep_lower_half(A::rdx);
    for (uint8_t& total : total_) total = take(vectors_);
    if (code_.total == ChainCode::Total::Sum) return;
    identity_ = take(vectors_);
    a_.vbroadcastss(identity_, code_.literals * sizeof(uint32_t));
  }
  // As the functors of reduce.def do it: a NaN among the elements stays.
  void add_to_total(uint8_t total, uint8_t from) {
    if (code_.total == ChainCode::Total::Sum) return a_.op(kOps[int(Do::Add)], total, total, {from});
    const uint8_t mask = take(masks_);
    a_.op_imm(kCompare, mask, from, {from}, 3);  // unordered
    a_.op(kOps[int(code_.total == ChainCode::Total::Largest ? Do::Max : Do::Min)], total, from, {total});
    a_.op(kSelect, total, total, {from}, mask);
    masks_ |= 1U << mask;
  }

  // The pointers that the loop follows.
  void number_pointers() {
    for (int k = 0; k < code_.inputs; k++) stream_of_[pointers_++] = code_.input[k] >= Input::Memory ? int8_t(streams_++) : int8_t(-1);
    for (int i = 0; i < code_.instructions; i++) {
      for (int n = std::popcount(code_.instruction[i].stores); n > 0; n--) {
        if (pointers_ == kMostPointers) return void(failed_ = true);
        stream_of_[pointers_++] = int8_t(streams_++);
      }
    }
    if (code_.total == ChainCode::Total::None) return;
    if (pointers_ == kMostPointers) return void(failed_ = true);
    stream_of_[pointers_++] = -1;
  }

  // Finds the instructions of a way and the last reader of each value. Registers that literals may get are given to those of the first way.
  void plan(Way way) {
    way_ = way, hold_ = kNever;
    for (int i = 0; i < code_.instructions; i++) {
      const bool is_guard = way == Way::Short && code_.instruction[i].what == Do::Guard;
      needed_[i] = is_guard || code_.instruction[i].stores != 0 || is_totalled(i);
      if (is_guard) hold_ = i;
    }
    code_.mark_needed(way, needed_);
    if (spending_.loads_first) hold_ = std::max(hold_, last_load());
    std::fill_n(last_use_, kValues, int16_t(kNever));
    for (int i = 0; i < code_.instructions; i++) {
      if (!is_written(i)) continue;
      const Instruction instruction = ordered(i, ChainCode::kFirstOfPair);
      for (int k = 0; k < operands(instruction); k++) {
        last_use_[instruction.in[k]] = int16_t(i);
        if (ChainCode::is_literal(instruction.in[k]) && !planned_) gain_[instruction.in[k]] += gain(instruction, k);
      }
    }
    for (int i = 0; i < hold_; i++)
      if (int16_t& last = last_use_[ChainCode::kFirstResult + i]; is_held(i) && last <= hold_) last = kStore;
    if (code_.total != ChainCode::Total::None) last_use_[ChainCode::kFirstResult + code_.instructions - 1] = kStore;
    planned_ = true;
  }
  // The instruction that loads the last of the inputs.
  int last_load() const {
    int last = kNever;
    bool loaded[ChainCode::kMostInputs] = {};
    for (int i = 0; i < code_.instructions; i++)
      for (int k = 0; is_written(i) && k < operands(code_.instruction[i]); k++)
        if (const uint8_t value = code_.instruction[i].in[k]; value < code_.inputs && !stays(value) && !std::exchange(loaded[value], true)) last = i;
    return last;
  }
  // In the short way a Select for rare elements is its first operand: another name of a literal, or a copy of a vector.
  bool is_copy(const Instruction& instruction) const { return way_ == Way::Short && instruction.what == Do::Select && instruction.immediate == ChainCode::kRarely; }
  bool is_name(const Instruction& instruction) const { return is_copy(instruction) && ChainCode::is_literal(instruction.in[0]) && instruction.stores == 0; }
  bool is_written(int i) const { return needed_[i] && !is_name(code_.instruction[i]); }
  bool is_totalled(int i) const { return code_.total != ChainCode::Total::None && i == code_.instructions - 1; }
  // A result that is stored behind the last load and the last Guard.
  bool is_held(int i) const { return i < hold_ && code_.instruction[i].stores != 0; }
  int operands(const Instruction& instruction) const { return is_copy(instruction) ? 1 : ChainCode::operands(instruction.what); }

  void write_part(ChainCode::Vector kind, int abreast) {
    write_body(kind, abreast);
    a_.add_to_index(uint8_t(16 * abreast));
    parts_[part_count_++] = {kind, abreast, guards_, a_.size()};
  }
  // A pair that does not pass a Guard goes the long way alone.
  void write_loop_of_two_pairs() {
    a_.add(A::rsi, -32);
    const size_t begin = a_.size();
    a_.compare_index(A::rsi);
    const size_t none = a_.jump(A::Jump::IfNotLess);
    const size_t loop = a_.size();
    write_body(ChainCode::kFirstOfPair, kMostAbreast);
    a_.add_to_index(16 * kMostAbreast);
    parts_[part_count_++] = {ChainCode::kFirstOfPair, 2, guards_, begin};
    a_.compare_index(A::rsi);
    a_.jump(A::Jump::IfLess, loop);
    a_.land(none);
    a_.add(A::rsi, 32);
  }
  void write_long_ways() {
    size_t guard = 0;
    for (int p = 0; p < part_count_; p++) {
      if (guard == parts_[p].guards) continue;
      for (; guard < parts_[p].guards; guard++) a_.land(guard_[guard]);
      write_body(parts_[p].kind, parts_[p].abreast);
      a_.add_to_index(uint8_t(16 * parts_[p].abreast));
      a_.jump_always(parts_[p].back);
    }
  }

  // True of what registers hold for the length of a call.
  bool stays(uint8_t value) const { return value < ChainCode::kFirstLiteral ? code_.input[value] < Input::Memory : ChainCode::is_literal(value) && kept_[value]; }
  bool dies(uint8_t value, int reader) const { return last_use_[value] == reader && !stays(value) && !ChainCode::is_literal(value); }

  uint8_t take(uint32_t& free) {
    if (free == 0) {
      failed_ = true;
      return 1;
    }
    const int r = std::countr_zero(free);
    free &= free - 1;
    spare_ = std::min(spare_, std::popcount(vectors_));
    return uint8_t(r);
  }
  uint32_t& pool(bool mask) { return mask ? masks_ : vectors_; }

  uint8_t keep(uint8_t value) {
    const uint8_t r = take(vectors_);
    for (auto& of_lane : register_) of_lane[value] = r;
    return r;
  }
  void keep_numbers() {
    for (uint8_t k = 0; k < code_.inputs; k++) {
      if (!stays(k)) continue;
      a_.load_pointer(A::r11, A::rdi, k);
      a_.vbroadcastss(keep(k), A::r11);
    }
    for (int n = 0; n < spending_.literals; n++) {
      const uint8_t value = uint8_t(std::max_element(gain_ + ChainCode::kFirstLiteral, gain_ + ChainCode::kFirstResult) - gain_);
      if (gain_[value] == 0) return;
      a_.vbroadcastss(keep(value), place(value));
      kept_[value] = true, gain_[value] = 0;
    }
  }
  // The gain of an instruction whose operand k, a literal, is in a register: an instruction less, or at least no access to memory.
  static uint8_t gain(const Instruction& instruction, int k) {
    if (ChainCode::is_fused(instruction.what)) return 1;
    return (k == 0 && ChainCode::operands(instruction.what) > 1) || (k == 1 && instruction.what == Do::CopySign) ? 4 : 1;
  }

  static size_t place(uint8_t literal) { return size_t(literal - ChainCode::kFirstLiteral) * 4; }
  A::Source source(uint8_t value) const {
    return ChainCode::is_literal(value) && !kept_[value] ? A::Source{0, true, place(value)} : A::Source{register_[lane_][value]};
  }
  // The register of an operand; a literal gets one for the length of this instruction.
  uint8_t reg(uint8_t value) {
    if (!ChainCode::is_literal(value) || kept_[value]) return register_[lane_][value];
    const uint8_t r = take(vectors_);
    a_.vbroadcastss(r, place(value));
    borrowed_ |= 1U << r;
    return r;
  }
  // A register that begins as the value: its own at its last use.
  uint8_t own(uint8_t value, int reader) {
    if (dies(value, reader)) return register_[lane_][value];
    const uint8_t d = take(vectors_);
    if (const A::Source from = source(value); from.is_literal) a_.vbroadcastss(d, from.at);
    else a_.vmovaps(d, from.r);
    return d;
  }

  A::Memory stream(int pointer, bool bytes) {
    const int s = stream_of_[pointer];
    if (s >= kBases) a_.load_pointer(A::r11, A::rdi, pointer);
    return {s < kBases ? kBase[s] : A::r11, uint8_t(bytes ? 0 : 2), uint8_t(lane_)};
  }

  void write_body(ChainCode::Vector kind, int abreast) {
    const uint32_t vectors = vectors_, masks = masks_;
    std::fill_n(loaded_[0], kMostAbreast * ChainCode::kMostInputs, false);
    int output = code_.inputs;
    for (int i = 0; i < code_.instructions && !failed_; i++) {
      for (lane_ = 0; lane_ < abreast && is_written(i); lane_++) write_instruction(i, ChainCode::Vector(kind + lane_ % 2), output);
      for (lane_ = 0; lane_ < abreast && i == hold_; lane_++) write_held(kind == ChainCode::kRest ? kRestMask : uint8_t(0));
      output += std::popcount(code_.instruction[i].stores);
    }
    for (lane_ = 0; lane_ < abreast && code_.total != ChainCode::Total::None && !failed_; lane_++)
      add_to_total(total_[kind + lane_ % 2], register_[lane_][ChainCode::kFirstResult + code_.instructions - 1]);
    lane_ = 0, vectors_ = vectors, masks_ = masks;
  }

  void load(uint8_t value, uint8_t rest) {
    if (value >= code_.inputs || stays(value) || std::exchange(loaded_[lane_][value], true)) return;
    const bool mask = code_.input[value] == Input::Mask;
    const A::Memory from = stream(value, mask);
    const uint8_t r = take(vectors_);
    if (!mask) {
      a_.vmovups_load(register_[lane_][value] = r, from, rest);
      return;
    }
    a_.vmovdqu8_load(r, from, rest);
    a_.vptestmb(register_[lane_][value] = take(masks_), r, r);
    vectors_ |= 1U << r;
  }

  // The instruction with its operands in the order of this kind of vector. Where order is nothing, a literal comes last.
  Instruction ordered(int i, ChainCode::Vector kind) const {
    Instruction instruction = code_.instruction[i];
    for (int k = 0; way_ == Way::Short && k < ChainCode::operands(instruction.what); k++)
      if (const auto* made = code_.made_by(Do::Select, instruction.in[k]); made && is_name(*made)) instruction.in[k] = made->in[0];
    const bool counts = ChainCode::has_order(instruction.what) && instruction.immediate != ChainCode::kEitherOrder;
    if ((counts && instruction.immediate >> kind & 1) || (ChainCode::commutes(instruction.what) && ChainCode::is_literal(instruction.in[0])))
      std::swap(instruction.in[0], instruction.in[1]);
    return instruction;
  }

  void write_instruction(int i, ChainCode::Vector kind, int output) {
    const Instruction instruction = ordered(i, kind);
    const uint8_t rest = kind == ChainCode::kRest ? kRestMask : 0;
    for (int k = 0; k < operands(instruction); k++) load(instruction.in[k], rest);
    borrowed_ = 0;
    if (instruction.what == Do::Guard) return write_guard(instruction, i);
    const bool mask = ChainCode::gives_mask(instruction.what);
    const uint8_t d = ChainCode::is_fused(instruction.what) ? write_fused(instruction, i)
                      : instruction.what == Do::CopySign    ? write_copysign(instruction, i)
                      : is_copy(instruction)                ? write_copy(instruction, i)
                                                            : write_plain(instruction, i);
    pool(mask) &= ~(1U << d);
    register_[lane_][ChainCode::kFirstResult + i] = d;
    if (!is_held(i)) write_stores(instruction, output, d, mask, rest);
    if (last_use_[ChainCode::kFirstResult + i] == kNever) pool(mask) |= 1U << d;
  }

  void write_stores(const Instruction& instruction, int output, uint8_t from, bool mask, uint8_t rest) {
    for (const uint8_t kind : {ChainCode::kInMemory, ChainCode::kPastCaches, ChainCode::kInBuffer})
      if (instruction.stores & kind) store(output++, from, mask, kind == ChainCode::kPastCaches, rest);
  }

  void write_guard(const Instruction& instruction, int i) {
    const uint8_t mask = register_[lane_][instruction.in[0]];
    a_.kortestw(mask, mask);
    if (guards_ == kMostGuards) return void(failed_ = true);
    guard_[guards_++] = a_.jump(A::Jump::IfNotBelow);
    release(instruction, i);
  }
  void write_held(uint8_t rest) {
    int output = code_.inputs;
    for (int i = 0; i < hold_; i++) {
      const Instruction& instruction = code_.instruction[i];
      const uint8_t value = uint8_t(ChainCode::kFirstResult + i);
      const bool mask = ChainCode::gives_mask(instruction.what);
      if (is_held(i)) write_stores(instruction, output, register_[lane_][value], mask, rest);
      if (is_held(i) && last_use_[value] == kStore) pool(mask) |= 1U << register_[lane_][value];
      output += std::popcount(instruction.stores);
    }
  }

  uint8_t write_copy(const Instruction& instruction, int i) {
    const uint8_t d = own(instruction.in[0], i);
    release(instruction, i);
    return d;
  }

  // Frees the registers of operands that nothing reads any more, and those that literals had.
  void release(const Instruction& instruction, int reader) {
    for (int k = 0; k < operands(instruction); k++)
      if (const uint8_t value = instruction.in[k]; dies(value, reader)) pool(code_.is_mask(value)) |= 1U << register_[lane_][value];
    vectors_ |= borrowed_;
  }

  // The result may take the register of an operand.
  uint8_t write_plain(const Instruction& instruction, int i) {
    const int operands = ChainCode::operands(instruction.what);
    const uint8_t *const in = instruction.in, imm = instruction.immediate;
    const bool one = operands == 1;
    const uint8_t first = one ? uint8_t(0) : reg(in[0]);
    const A::Source last = source(in[one ? 0 : 1]);
    const uint8_t mask = operands == 3 ? register_[lane_][in[2]] : uint8_t(0);
    release(instruction, i);
    uint32_t& free = pool(ChainCode::gives_mask(instruction.what));
    const uint8_t d = take(free);
    switch (instruction.what) {
      case Do::Round: a_.op_imm(kOps[int(Do::Round)], d, 0, last, imm); break;
      case Do::ShiftLeft: a_.shift(A::Shift::Left, d, last.r, imm); break;
      case Do::ShiftRight: a_.shift(A::Shift::Right, d, last.r, imm); break;
      case Do::Select: a_.op(kSelect, d, first, last, mask); break;
      case Do::Compare:
      case Do::AndCompare: a_.op_imm(kCompare, d, first, last, imm, mask); break;
      case Do::CompareInt: a_.op_imm(kCompareInt, d, first, last, imm); break;
      case Do::MaskAnd: a_.kandw(d, first, last.r); break;
      case Do::MaskXor: a_.kxorw(d, first, last.r); break;
      case Do::MaskNot: a_.knotw(d, last.r); break;
      default: a_.op(kOps[int(instruction.what)], d, first, last); break;
    }
    return d;
  }

  // The three forms have the result in the place of one operand, and memory in that of another. The first of two NaNs that are multiplied is
  // the first operand of each form that is not the sum's.
  uint8_t write_fused(const Instruction& instruction, int i) {
    uint8_t a = instruction.in[0], b = instruction.in[1];
    const uint8_t c = instruction.in[2];
    const bool literal = source(b).is_literal, either = instruction.immediate == ChainCode::kEitherOrder || code_.is_number(a) || code_.is_number(b);
    const auto form = [&](A::Op op) {
      op.opcode = uint8_t(op.opcode + (instruction.what == Do::MulAdd ? 0 : instruction.what == Do::MulSub ? 2 : 4));
      return op;
    };
    uint8_t d;
    if (source(c).is_literal && !literal) {
      if (either && !dies(b, i) && dies(a, i)) std::swap(a, b);
      const uint8_t first = reg(a);
      a_.op(form(A::kFmadd213), d = own(b, i), first, source(c));
    } else if (dies(c, i) || (!dies(a, i) && (literal || !dies(b, i)))) {
      const uint8_t first = reg(a);
      a_.op(form(A::kFmadd231), d = own(c, i), first, source(b));
    } else if (dies(a, i)) {
      const uint8_t third = reg(c);
      a_.op(form(A::kFmadd132), d = own(a, i), third, source(b));
    } else {
      const uint8_t first = reg(a);
      a_.op(form(A::kFmadd213), d = own(b, i), first, source(c));
    }
    release(instruction, i);
    return d;
  }

  // Where the sign bit is set the sign, else the magnitude.
  uint8_t write_copysign(const Instruction& instruction, int i) {
    const uint8_t x = instruction.in[0], sign = instruction.in[1];
    const bool over_sign = !dies(x, i) && dies(sign, i);
    const uint8_t other = reg(over_sign ? x : sign), d = own(over_sign ? sign : x, i);
    a_.op_imm(A::kTernaryLogic, d, other, source(instruction.in[2]), over_sign ? 0xE4 : 0xD8);
    release(instruction, i);
    return d;
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
  const Spending spending_;
  Way way_ = Way::Long;  // of the body that is written
  bool planned_ = false, needed_[ChainCode::kMost];
  int hold_ = kNever;
  size_t guard_[kMostGuards], guards_ = 0;  // jumps
  struct Part {
    ChainCode::Vector kind;
    int abreast;  // vectors of the long way
    size_t guards, back;  // jumps up to this part's last one; where the long way ends
  };
  Part parts_[3];
  int part_count_ = 0;
  int lane_ = 0;    // of the vectors abreast
  int spare_ = 32;  // vectors that were never taken
  uint32_t vectors_ = UINT32_MAX, masks_ = 0x7e;  // registers that hold nothing: k1 to k6
  uint32_t borrowed_ = 0;
  uint8_t register_[kMostAbreast][kValues] = {};
  int16_t last_use_[kValues];
  int8_t stream_of_[kMostPointers];
  bool loaded_[kMostAbreast][ChainCode::kMostInputs] = {}, kept_[ChainCode::kFirstResult] = {};
  uint8_t gain_[ChainCode::kFirstResult] = {};
  int pointers_ = 0, streams_ = 0;
  uint8_t total_[2] = {}, identity_ = 0;  // registers
  bool failed_ = false;
};

}  // namespace

GeneratedChain generate_chain(const ChainCode& code, uint8_t* to, size_t room) {
  GeneratedChain chain;
  for (int abreast = code.instructions > kShort ? kMostAbreast : 1; abreast > 0; abreast /= 2)
    for (const bool loads_first : {true, false}) {
      if (chain.size > 0) return chain;
      Generator first(code, to, room, {abreast, 0, loads_first});
      chain = first.write();
      const int spare = first.spare_registers();
      if (chain.size > 0 && code.literals > 0 && spare > 0) chain = Generator(code, to, room, {abreast, spare, loads_first}).write();
    }
  return chain;
}

}  // namespace tessera::tensor::cpu
#endif
