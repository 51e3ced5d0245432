// Natural numbers of any size: the magnitudes of big integers, in limbs of 64 bits, the least significant first.
//
// The memory of a Natural is a BigInt object on the interpreter's heap, so that its limit holds and a result needs no copy.
// Every function whose time grows faster than its output calls Interpreter::check_stop between its pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "lang/core/interpreter.h"
#include "lang/core/object.h"

namespace tessera::lang {

using Limb = uint64_t;
inline constexpr size_t kLimbBits = 64;

// An int that does not fit into 64 bits: `type` is `in.types.integer`, `kind` is ObjectKind::BigInt. Immutable.
struct BigInt : Object {
  static constexpr ObjectKind kKind = ObjectKind::BigInt;
  uint32_t size;      // limbs in use; the top one is not zero
  uint32_t capacity;  // limbs allocated
  Limb* limbs() noexcept { return reinterpret_cast<Limb*>(this + 1); }
  const Limb* limbs() const noexcept { return reinterpret_cast<const Limb*>(this + 1); }
  bool negative() const noexcept { return aux != 0; }  // Object::aux holds the sign
};
static_assert(sizeof(BigInt) == 24);

// Limbs that somebody else holds. Normalised: the top limb is not zero; zero has no limbs.
struct Limbs {
  const Limb* data = nullptr;
  size_t size = 0;
  Limb operator[](size_t i) const noexcept { return data[i]; }
  bool is_zero() const noexcept { return size == 0; }
  Limbs trimmed() const noexcept {
    size_t n = size;
    while (n != 0 && data[n - 1] == 0) --n;
    return {data, n};
  }
  Limbs low(size_t n) const noexcept { return Limbs{data, n < size ? n : size}.trimmed(); }
  Limbs from(size_t n) const noexcept { return n < size ? Limbs{data + n, size - n} : Limbs{}; }
};

class Natural {
 public:
  Natural() = default;  // zero
  // `capacity` limbs, not initialised. MemoryError if they are too many.
  Natural(Interpreter& in, size_t capacity);
  Natural(Interpreter& in, Limbs copied);
  Natural(Natural&& other) noexcept : in_(other.in_), object_(std::exchange(other.object_, nullptr)) {}
  Natural& operator=(Natural&& other) noexcept {
    std::swap(in_, other.in_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Natural() {
    if (object_ != nullptr) free();
  }

  Limb* data() noexcept { return object_ != nullptr ? object_->limbs() : nullptr; }
  size_t size() const noexcept { return object_ != nullptr ? object_->size : 0; }
  size_t capacity() const noexcept { return object_ != nullptr ? object_->capacity : 0; }
  bool is_zero() const noexcept { return size() == 0; }
  Limbs view() const noexcept { return {object_ != nullptr ? object_->limbs() : nullptr, size()}; }
  operator Limbs() const noexcept { return view(); }
  // The lowest `limbs` limbs have been written: sets the size, without leading zeros.
  void set_size(size_t limbs) noexcept;
  // Gives the object away, with its memory cut to its size. Null for zero.
  BigInt* release();

 private:
  void free() noexcept;
  Interpreter* in_ = nullptr;
  BigInt* object_ = nullptr;
};

void free_big_int(Interpreter& in, BigInt* object) noexcept;

size_t bit_length(Limbs a) noexcept;
bool test_bit(Limbs a, size_t bit) noexcept;
size_t trailing_zeros(Limbs a) noexcept;  // of a number that is not zero
int compare(Limbs a, Limbs b) noexcept;

Natural add(Interpreter& in, Limbs a, Limbs b);
Natural subtract(Interpreter& in, Limbs a, Limbs b);  // a >= b
Natural multiply(Interpreter& in, Limbs a, Limbs b);
Natural shift_left(Interpreter& in, Limbs a, size_t bits);
Natural shift_right(Interpreter& in, Limbs a, size_t bits);  // truncates
struct Division {
  Natural quotient, remainder;
};
Division divide(Interpreter& in, Limbs a, Limbs b);  // b is not zero
Natural power(Interpreter& in, Limbs base, uint64_t exponent);
Natural power_modulo(Interpreter& in, Limbs base, Limbs exponent, Limbs modulus);
Natural greatest_common_divisor(Interpreter& in, Limbs a, Limbs b);
Natural square_root(Interpreter& in, Limbs a);  // the largest whole number whose square is not above a

// a * factor + addend and a / divisor in place, for numbers read or written limb by limb.
Limb multiply_add_in_place(Limb* data, size_t size, Limb factor, Limb addend) noexcept;  // returns the carry
Limb divide_in_place(Limb* data, size_t size, Limb divisor) noexcept;                    // returns the remainder

}  // namespace tessera::lang
