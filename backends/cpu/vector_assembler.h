// Writes the instructions of AVX-512 that generated loops over floats consist of: three operands, registers of 64 bytes, masks k1 to k7.
// Memory is addressed as base + index * scale. Each function is one instruction, named as in Intel's manual.
#pragma once

#include <cstdint>
#include <cstring>

namespace tessera::tensor::cpu {

class VectorAssembler {
 public:
  using Zmm = uint8_t;   // 0 to 31
  using Mask = uint8_t;  // 1 to 7; 0: none
  // General registers: those that a function need not keep, and that need no displacement as a base.
  enum Gpr : uint8_t { rax = 0, rcx = 1, rdx = 2, rsi = 6, rdi = 7, r8 = 8, r9 = 9, r10 = 10, r11 = 11 };
  struct Memory {
    Gpr base;
    uint8_t scale_bits;   // the index is rax, times 2^scale_bits
    uint8_t vectors = 0;  // as many behind
    bool has_index = true;
  };
  /// The last operand of an instruction: a register, or a float in the code's memory for all lanes.
  struct Source {
    uint8_t r;
    bool is_literal = false;
    size_t at = 0;  // of a literal
  };
  enum class Map : uint8_t { k0F = 1, k0F38 = 2, k0F3A = 3 };
  enum class Prefix : uint8_t { None = 0, k66 = 1, kF3 = 2, kF2 = 3 };
  /// An instruction of three vector operands.
  struct Op {
    Map map;
    Prefix prefix;
    uint8_t opcode;
  };
  static constexpr Op kFmadd132{Map::k0F38, Prefix::k66, 0x98}, kFmadd213{Map::k0F38, Prefix::k66, 0xA8}, kFmadd231{Map::k0F38, Prefix::k66, 0xB8},
      kShift{Map::k0F, Prefix::k66, 0x72}, kTernaryLogic{Map::k0F3A, Prefix::k66, 0x25};

  VectorAssembler(uint8_t* to, size_t room) : at_(to), begin_(to), end_(to + room) {}
  /// Bytes written; more than the room that there is if the code did not fit.
  size_t size() const { return size_t(at_ - begin_) + lost_; }
  bool fits() const { return lost_ == 0; }

  // d = a op b. Compared: the mask register d. With a mask only its lanes are compared, or taken from b (vblendmps).
  void op(Op o, uint8_t d, Zmm a, Source b, Mask mask = 0) { vector(o, k512, d, a, b, mask, 0); }
  void op_imm(Op o, uint8_t d, Zmm a, Source b, uint8_t imm, Mask mask = 0) { vector(o, k512, d, a, b, mask, 1), byte(imm); }
  enum class Shift : uint8_t { Right = 2, Left = 6 };  // of 32-bit integers
  void shift(Shift how, Zmm d, Zmm a, uint8_t bits) { op_imm(kShift, uint8_t(how), d, {a}, bits); }
  void vmovaps(Zmm d, Zmm from) { op({Map::k0F, Prefix::None, 0x28}, d, 0, {from}); }
  // Loads leave 0 in the lanes outside of a mask, stores leave the memory as it is.
  void vmovups_load(Zmm d, Memory m, Mask mask) { memory({Map::k0F, Prefix::None, 0x10}, k512, d, m, mask, mask != 0); }
  void vmovups_store(Memory m, Zmm from, Mask mask) { memory({Map::k0F, Prefix::None, 0x11}, k512, from, m, mask, false); }
  void vmovntps(Memory m, Zmm from) { memory({Map::k0F, Prefix::None, 0x2B}, k512, from, m, 0, false); }
  /// The element at `base`, in each lane.
  void vbroadcastss(Zmm d, Gpr base) { evex({Map::k0F38, Prefix::k66, 0x18}, k512, d, 0, 0, false, base >> 3, 0), byte(modrm(0, d, base)); }
  void vbroadcastss(Zmm d, size_t literal) {
    evex({Map::k0F38, Prefix::k66, 0x18}, k512, d, 0, 0, false, 0, 0), relative(d, literal, 0);
  }
  // 16 bytes.
  void vmovdqu8_load(Zmm d, Memory m, Mask mask) { memory({Map::k0F, Prefix::kF2, 0x6F}, k128, d, m, mask, mask != 0); }
  void vmovdqu8_store(Memory m, Zmm from, Mask mask) { memory({Map::k0F, Prefix::kF2, 0x7F}, k128, from, m, mask, false); }
  void vptestmb(Mask d, Zmm a, Zmm b) { vector({Map::k0F38, Prefix::k66, 0x26}, k128, d, a, {b}, 0, 0); }
  void vpmovm2b(Zmm d, Mask from) { vector({Map::k0F38, Prefix::kF3, 0x28}, k128, d, 0, {from}, 0, 0); }
  void vpabsb(Zmm d, Zmm from) { vector({Map::k0F38, Prefix::k66, 0x1C}, k128, d, 0, {from}, 0, 0); }
  void kmovw(Mask d, Gpr from) { bytes({0xC5, 0xF8, 0x92, modrm(3, d, from)}); }
  // Of mask registers.
  void kandw(Mask d, Mask a, Mask b) { bytes({0xC5, uint8_t(0x84 | (~a & 15) << 3), 0x41, modrm(3, d, b)}); }
  void kxorw(Mask d, Mask a, Mask b) { bytes({0xC5, uint8_t(0x84 | (~a & 15) << 3), 0x47, modrm(3, d, b)}); }
  /// Jump::IfNotBelow follows if not all of the 16 bits are set.
  void kortestw(Mask a, Mask b) { bytes({0xC5, 0xF8, 0x98, modrm(3, a, b)}); }
  void knotw(Mask d, Mask a) { bytes({0xC5, 0xF8, 0x44, modrm(3, d, a)}); }
  void vzeroupper() { bytes({0xC5, 0xF8, 0x77}); }

  void load_pointer(Gpr to, Gpr base, int index) {
    bytes({uint8_t(0x48 | (to >> 3) << 2 | base >> 3), 0x8B, modrm(2, to, base)}), number(index * 8);
  }
  void add_to_pointer(Gpr base, int index, int n) { bytes({0x48, 0x81, modrm(2, 0, base)}), number(index * 8), number(n); }
  void clear_index() { bytes({0x31, 0xC0}); }
  void add_to_index(uint8_t n) { bytes({0x48, 0x83, 0xC0, n}); }
  /// Compares the index with a register of that number.
  void compare_index(Gpr with) { bytes({0x48, 0x39, modrm(3, with, rax)}); }
  void add(Gpr r, int8_t n) { bytes({0x48, 0x83, modrm(3, 0, r), uint8_t(n)}); }
  void add_large(Gpr r, int n) { bytes({0x48, 0x81, modrm(3, 0, r)}), number(n); }
  void keep_lower_half(Gpr r) { bytes({0x89, modrm(3, r, r)}); }  // clears the upper 32 bits
  void shift_right(Gpr r, uint8_t bits) { bytes({0xC1, modrm(3, 5, r), bits}); }  // 32 bits
  void test(Gpr r) { bytes({0x85, modrm(3, r, r)}); }  // 32 bits
  enum class Jump : uint8_t { IfBelow = 0x82, IfNotBelow = 0x83, IfZero = 0x84, IfNotZero = 0x85, IfLess = 0x8C, IfNotLess = 0x8D };
  /// A jump to a place that is set later, or to one that was reached before.
  size_t jump(Jump kind, size_t to = 0) {
    bytes({0x0F, uint8_t(kind)}), number(int(to) - int(size() + 4));
    return size();
  }
  void jump_always(size_t to) { byte(0xE9), number(int(to) - int(size() + 4)); }
  void land(size_t jump) {
    const int32_t distance = int32_t(size() - jump);
    if (fits()) std::memcpy(begin_ + jump - 4, &distance, 4);
  }
  void ret() { byte(0xC3); }
  void data(uint32_t bits) { number(int(bits)); }
  void align() {  // to a cache line, with data that nothing reads
    while (size() % 64 != 0) byte(0xCC);
  }

 private:
  enum Length : uint8_t { k128 = 0, k512 = 2 };

  static uint8_t modrm(int mod, int reg, int rm) { return uint8_t(mod << 6 | (reg & 7) << 3 | (rm & 7)); }
  static uint8_t sib(Memory m) { return uint8_t(m.scale_bits << 6 | (m.has_index ? rax : 4) << 3 | (m.base & 7)); }

  void byte(uint8_t b) {
    if (at_ < end_) *at_++ = b;
    else lost_++;
  }
  template <size_t N>
  void bytes(const uint8_t (&all)[N]) {
    for (const uint8_t b : all) byte(b);
  }
  void number(int n) {
    for (int shift = 0; shift < 32; shift += 8) byte(uint8_t(unsigned(n) >> shift));
  }

  // The four bytes before an opcode, and the opcode. Bits that extend the number of a register are stored inverted.
  void evex(Op o, Length length, uint8_t reg, uint8_t second, Mask mask, bool zeroes, int rm_bit3, int rm_bit4, bool one_for_all = false) {
    const auto not_bit = [](int value, int at) { return uint8_t((~value & 1) << at); };
    byte(0x62);
    byte(uint8_t(not_bit(reg >> 3, 7) | not_bit(rm_bit4, 6) | not_bit(rm_bit3, 5) | not_bit(reg >> 4, 4) | uint8_t(o.map)));
    byte(uint8_t((~second & 15) << 3 | 4 | uint8_t(o.prefix)));
    byte(uint8_t(int(zeroes) << 7 | length << 5 | int(one_for_all) << 4 | not_bit(second >> 4, 3) | mask));
    byte(o.opcode);
  }
  void vector(Op o, Length length, uint8_t reg, uint8_t second, Source rm, Mask mask, int bytes_behind) {
    if (rm.is_literal) {
      evex(o, length, reg, second, mask, false, 0, 0, true);
      return relative(reg, rm.at, bytes_behind);
    }
    evex(o, length, reg, second, mask, false, rm.r >> 3, rm.r >> 4);
    byte(modrm(3, reg, rm.r));
  }
  // A place in the code, relative to the end of the instruction.
  void relative(uint8_t reg, size_t place, int bytes_behind) {
    byte(modrm(0, reg, 5)), number(int(place) - int(size() + 4) - bytes_behind);
  }
  // The displacement counts in vectors.
  void memory(Op o, Length length, uint8_t reg, Memory m, Mask mask, bool zeroes) {
    evex(o, length, reg, 0, mask, zeroes, m.base >> 3, 0);
    bytes({modrm(m.vectors ? 1 : 0, reg, 4), sib(m)});
    if (m.vectors) byte(m.vectors);
  }

  uint8_t *at_, *const begin_, *const end_;
  size_t lost_ = 0;
};

}  // namespace tessera::tensor::cpu
