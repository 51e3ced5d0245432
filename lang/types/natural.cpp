// Arithmetic of natural numbers. Products of up to some hundred limbs are Boost.Multiprecision's; longer ones are divided into
// such pieces (Karatsuba), and quotients into long divisions of some dozen limbs (Burnikel and Ziegler), so that a program can be
// stopped between the pieces. Linear steps are plain loops over the limbs. Only this file sees the library.
#include "lang/types/natural.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <boost/multiprecision/cpp_int.hpp>

#include "lang/core/error.h"
#include "lang/core/make_object.h"

namespace tessera::lang {
namespace {

using Wide = unsigned __int128;
namespace mp = boost::multiprecision;
// Up to 16 limbs without memory of their own.
using LibraryInt = mp::number<mp::cpp_int_backend<16 * kLimbBits, 0, mp::signed_magnitude, mp::unchecked, std::allocator<Limb>>,
                              mp::et_off>;

// Limbs of the smaller factor up to which the library multiplies in one piece (some 200 microseconds at most).
constexpr size_t kProductPiece = 768;
// Limbs of the divisor up to which long division is as fast as dividing in halves.
constexpr size_t kQuotientPiece = 48;
// Products of limbs that a step of the program pays for: about a microsecond.
constexpr size_t kProductsPerStep = 1024;

void look(Interpreter& in, size_t products) {
  if (products >= kProductsPerStep) in.check_stop(static_cast<int64_t>(products / kProductsPerStep));
}

LibraryInt to_library(Limbs a) {
  LibraryInt out;
  auto& backend = out.backend();
  const auto size = static_cast<unsigned>(std::max<size_t>(a.size, 1));
  backend.resize(size, size);
  backend.limbs()[0] = 0;
  if (a.size != 0) std::memcpy(backend.limbs(), a.data, a.size * sizeof(Limb));
  return out;
}

// Writes `size` limbs, with leading zeros.
void from_library(const LibraryInt& value, Limb* out, size_t size) {
  const size_t used = std::min<size_t>(value.backend().size(), size);
  std::memcpy(out, value.backend().limbs(), used * sizeof(Limb));
  std::fill(out + used, out + size, 0);
}

// --- steps on limbs in place

Limb add_to(Limb* a, size_t na, const Limb* b, size_t nb) noexcept {  // a += b, na >= nb; returns the carry
  Limb carry = 0;
  for (size_t i = 0; i < nb; ++i) {
    const Wide sum = static_cast<Wide>(a[i]) + b[i] + carry;
    a[i] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> kLimbBits);
  }
  for (size_t i = nb; carry != 0 && i < na; ++i) carry = ++a[i] == 0;
  return carry;
}

Limb subtract_from(Limb* a, size_t na, const Limb* b, size_t nb) noexcept {  // a -= b; returns the borrow
  Limb borrow = 0;
  for (size_t i = 0; i < nb; ++i) {
    const Wide difference = static_cast<Wide>(a[i]) - b[i] - borrow;
    a[i] = static_cast<Limb>(difference);
    borrow = static_cast<Limb>(difference >> kLimbBits) & 1;
  }
  for (size_t i = nb; borrow != 0 && i < na; ++i) borrow = a[i]-- == 0;
  return borrow;
}

// --- products

// Writes na + nb limbs.
void multiply_piece(Limb* out, Limbs a, Limbs b) {
  LibraryInt product;
  mp::backends::eval_multiply(product.backend(), to_library(a).backend(), to_library(b).backend());
  from_library(product, out, a.size + b.size);
}

void multiply_into(Interpreter& in, Limb* out, Limbs a, Limbs b);

// The smaller factor times pieces of the larger one.
void multiply_unbalanced(Interpreter& in, Limb* out, Limbs a, Limbs b) {
  const size_t piece = std::max(b.size, kProductPiece);
  std::fill(out, out + a.size + b.size, 0);
  Natural part(in, piece + b.size);
  for (size_t at = 0; at < a.size; at += piece) {
    const Limbs some{a.data + at, std::min(piece, a.size - at)};
    multiply_into(in, part.data(), some, b);
    add_to(out + at, a.size + b.size - at, part.data(), some.size + b.size);
  }
}

// Karatsuba: (x1 B + x0)(y1 B + y0) from the three products x1 y1, x0 y0 and (x1 + x0)(y1 + y0).
void multiply_halves(Interpreter& in, Limb* out, Limbs a, Limbs b) {
  const size_t half = (a.size + 1) / 2;
  const Limbs a0{a.data, half}, a1{a.data + half, a.size - half};
  const Limbs b0{b.data, half}, b1{b.data + half, b.size - half};
  multiply_into(in, out, a0, b0);
  multiply_into(in, out + 2 * half, a1, b1);
  const size_t n = half + 1;
  Natural sums(in, 2 * n), middle(in, 2 * n);
  Limb* const sa = sums.data();
  Limb* const sb = sa + n;
  std::memcpy(sa, a0.data, half * sizeof(Limb));
  sa[half] = add_to(sa, half, a1.data, a1.size);
  std::memcpy(sb, b0.data, half * sizeof(Limb));
  sb[half] = add_to(sb, half, b1.data, b1.size);
  multiply_into(in, middle.data(), {sa, n}, {sb, n});
  subtract_from(middle.data(), 2 * n, out, 2 * half);
  subtract_from(middle.data(), 2 * n, out + 2 * half, a1.size + b1.size);
  add_to(out + half, a.size + b.size - half, middle.data(), Limbs{middle.data(), 2 * n}.trimmed().size);
}

// Writes a.size + b.size limbs; the factors may have leading zeros.
void multiply_into(Interpreter& in, Limb* out, Limbs a, Limbs b) {
  if (a.size < b.size) std::swap(a, b);
  if (b.size == 0) {
    std::fill(out, out + a.size, 0);
  } else if (b.size == 1) {
    std::memcpy(out, a.data, a.size * sizeof(Limb));
    out[a.size] = multiply_add_in_place(out, a.size, b[0], 0);
  } else if (b.size <= kProductPiece && a.size <= 2 * kProductPiece) {
    multiply_piece(out, a, b);
    look(in, a.size * b.size);
  } else if (b.size <= kProductPiece || b.size <= a.size / 2 + 1) {
    multiply_unbalanced(in, out, a, b);
  } else {
    multiply_halves(in, out, a, b);
  }
}

// --- quotients

void divide_by_limb(Limb* quotient, Limb& remainder, Limbs a, Limb b) noexcept {
  Limb rest = 0;
  for (size_t i = a.size; i-- > 0;) {
    const Wide top = static_cast<Wide>(rest) << kLimbBits | a[i];
    quotient[i] = static_cast<Limb>(top / b);
    rest = static_cast<Limb>(top - static_cast<Wide>(quotient[i]) * b);
  }
  remainder = rest;
}

// Long division (Knuth's algorithm D) of a / b, where b's top bit is set and b has two limbs at least. `a` becomes the
// remainder; the quotient has na - nb limbs, which a's top part must allow: a / B^(na-nb) < b.
void divide_long(Limb* quotient, Limb* a, size_t na, Limbs b) noexcept {
  const size_t nb = b.size;
  const Limb top = b[nb - 1], second = b[nb - 2];
  for (size_t j = na - nb; j-- > 0;) {
    Limb* const part = a + j;  // nb + 1 limbs, less than b * B
    const Wide head = static_cast<Wide>(part[nb]) << kLimbBits | part[nb - 1];
    Wide guess, rest;
    if (part[nb] >= top) {
      guess = ~Limb{0};
      rest = head - guess * top;
    } else {
      guess = head / top;
      rest = head - guess * top;
    }
    while (rest >> kLimbBits == 0 && guess * second > (rest << kLimbBits | part[nb - 2])) {
      --guess;
      rest += top;
    }
    const auto q = static_cast<Limb>(guess);
    Limb carry = 0, borrow = 0;
    for (size_t i = 0; i < nb; ++i) {
      const Wide product = static_cast<Wide>(q) * b[i] + carry;
      carry = static_cast<Limb>(product >> kLimbBits);
      const Wide difference = static_cast<Wide>(part[i]) - static_cast<Limb>(product) - borrow;
      part[i] = static_cast<Limb>(difference);
      borrow = static_cast<Limb>(difference >> kLimbBits) & 1;
    }
    const Wide difference = static_cast<Wide>(part[nb]) - carry - borrow;
    part[nb] = static_cast<Limb>(difference);
    quotient[j] = q;
    if (static_cast<Limb>(difference >> kLimbBits) != 0) {  // one too many, in two of 2^64 cases
      --quotient[j];
      part[nb] += add_to(part, nb, b.data, nb);
    }
  }
}

// Burnikel and Ziegler: 2n limbs by n, as two steps of 3n/2 by n. `a` (2n limbs, its upper half less than b) becomes the
// remainder in its lower n limbs; the upper ones are then zero. The quotient has n limbs.
void divide_two_by_one(Interpreter& in, Limb* quotient, Limb* a, Limbs b);

// Three halves by two: `a` has 3h limbs, b 2h, the quotient h. The remainder is left in a's lower 2h limbs.
void divide_three_by_two(Interpreter& in, Limb* quotient, Limb* a, Limbs b, Limb* product) {
  const size_t h = b.size / 2;
  const Limbs high{b.data + h, h}, low{b.data, h};
  Limb* const top = a + h;  // 2h limbs
  Limb overflow = 0;        // the limb above a, of the running remainder
  if (compare(Limbs{top + h, h}.trimmed(), high.trimmed()) >= 0) {
    std::fill(quotient, quotient + h, ~Limb{0});  // top - (B^h - 1) high
    subtract_from(top + h, h, high.data, h);
    overflow = add_to(top, 2 * h, high.data, h);
  } else {
    divide_two_by_one(in, quotient, top, high);
  }
  multiply_into(in, product, {quotient, h}, low);
  auto above = static_cast<int64_t>(overflow) - static_cast<int64_t>(subtract_from(a, 3 * h, product, 2 * h));
  while (above < 0) {
    const Limb one = 1;
    subtract_from(quotient, h, &one, 1);
    above += static_cast<int64_t>(add_to(a, 3 * h, b.data, 2 * h));
  }
}

void divide_two_by_one(Interpreter& in, Limb* quotient, Limb* a, Limbs b) {
  const size_t n = b.size;
  if (n % 2 != 0 || n <= kQuotientPiece) {
    divide_long(quotient, a, 2 * n, b);
    look(in, n * n);
    return;
  }
  Natural product(in, n);
  const size_t h = n / 2;
  divide_three_by_two(in, quotient + h, a + h, b, product.data());
  divide_three_by_two(in, quotient, a, b, product.data());
}

// A multiple of a power of two: n halves down to kQuotientPiece or less without a rest.
size_t block_size(size_t n) {
  unsigned halvings = 0;
  while ((n >> halvings) > kQuotientPiece - 1) ++halvings;
  return ((n + (size_t{1} << halvings) - 1) >> halvings) << halvings;
}

// Copies `a` shifted left by whole limbs and bits into `size` limbs.
void copy_shifted(Limb* out, size_t size, Limbs a, size_t limbs, unsigned bits) noexcept {
  std::fill(out, out + limbs, 0);
  Limb carry = 0;
  size_t at = limbs;
  for (size_t i = 0; i < a.size; ++i) {
    out[at++] = a[i] << bits | carry;
    carry = bits == 0 ? 0 : a[i] >> (kLimbBits - bits);
  }
  if (at < size) out[at++] = carry;
  std::fill(out + at, out + size, 0);
}

void shift_down(Limb* data, size_t size, unsigned bits) noexcept {
  for (size_t i = 0; bits != 0 && i < size; ++i) {
    data[i] >>= bits;
    if (i + 1 < size) data[i] |= data[i + 1] << (kLimbBits - bits);
  }
}

Division divide_blocks(Interpreter& in, Limbs a, Limbs b) {
  const size_t n = b.size < kQuotientPiece ? b.size : block_size(b.size);
  const auto bits = static_cast<unsigned>(std::countl_zero(b[b.size - 1]));
  const size_t limbs = n - b.size;
  Natural divisor(in, n);
  copy_shifted(divisor.data(), n, b, limbs, bits);
  const size_t blocks = std::max<size_t>(2, (a.size + limbs + 1 + n - 1) / n);
  Natural rest(in, (blocks + 1) * n);
  std::fill(rest.data() + blocks * n, rest.data() + (blocks + 1) * n, 0);
  copy_shifted(rest.data(), blocks * n, a, limbs, bits);
  Division result{Natural(in, blocks * n), Natural()};
  for (size_t i = blocks; i-- > 0;)
    divide_two_by_one(in, result.quotient.data() + i * n, rest.data() + i * n, {divisor.data(), n});
  result.quotient.set_size(blocks * n);
  result.remainder = Natural(in, b.size);
  shift_down(rest.data(), n, bits);
  std::memcpy(result.remainder.data(), rest.data() + limbs, b.size * sizeof(Limb));
  result.remainder.set_size(b.size);
  return result;
}

// A quotient that is much shorter than the divisor: long division costs quotient times divisor.
Division divide_short(Interpreter& in, Limbs a, Limbs b) {
  const auto bits = static_cast<unsigned>(std::countl_zero(b[b.size - 1]));
  Natural divisor(in, b.size), rest(in, a.size + 1);
  copy_shifted(divisor.data(), b.size, b, 0, bits);
  copy_shifted(rest.data(), a.size + 1, a, 0, bits);
  const size_t n = a.size + 1 - b.size;
  Division result{Natural(in, n), Natural()};
  divide_long(result.quotient.data(), rest.data(), a.size + 1, {divisor.data(), b.size});
  look(in, n * b.size);
  result.quotient.set_size(n);
  shift_down(rest.data(), b.size, bits);
  rest.set_size(b.size);
  result.remainder = std::move(rest);
  return result;
}

}  // namespace

// --- memory

Natural::Natural(Interpreter& in, size_t capacity) : in_(&in) {
  if (capacity == 0) return;
  if (capacity > UINT32_MAX) throw Error(ErrorKind::MemoryError, std::string());
  object_ = static_cast<BigInt*>(in.heap.allocate(sizeof(BigInt) + capacity * sizeof(Limb)));
  object_->refcount = 1;
  object_->kind = ObjectKind::BigInt;
  object_->flags = 0;
  object_->aux = 0;
  object_->type = in.types.integer;
  object_->size = 0;
  object_->capacity = static_cast<uint32_t>(capacity);
}

Natural::Natural(Interpreter& in, Limbs copied) : Natural(in, copied.size) {
  if (copied.size != 0) std::memcpy(data(), copied.data, copied.size * sizeof(Limb));
  set_size(copied.size);
}

void Natural::set_size(size_t limbs) noexcept {
  if (object_ != nullptr) object_->size = static_cast<uint32_t>(Limbs{object_->limbs(), limbs}.trimmed().size);
}

BigInt* Natural::release() {
  if (object_ == nullptr || object_->size == 0) return nullptr;
  const size_t unused = object_->capacity - object_->size;
  if (unused > 2 && unused > object_->size / 8) {
    object_ = static_cast<BigInt*>(in_->heap.reallocate(object_, sizeof(BigInt) + object_->capacity * sizeof(Limb),
                                                        sizeof(BigInt) + object_->size * sizeof(Limb)));
    object_->capacity = object_->size;
  }
  return std::exchange(object_, nullptr);
}

void Natural::free() noexcept { free_big_int(*in_, object_); }

void free_big_int(Interpreter& in, BigInt* object) noexcept {
  in.heap.deallocate(object, sizeof(BigInt) + object->capacity * sizeof(Limb));
}

// --- what the header offers

size_t bit_length(Limbs a) noexcept {
  return a.size == 0 ? 0 : a.size * kLimbBits - static_cast<size_t>(std::countl_zero(a[a.size - 1]));
}

bool test_bit(Limbs a, size_t bit) noexcept {
  return bit / kLimbBits < a.size && (a[bit / kLimbBits] >> bit % kLimbBits & 1) != 0;
}

size_t trailing_zeros(Limbs a) noexcept {
  size_t i = 0;
  while (a[i] == 0) ++i;
  return i * kLimbBits + static_cast<size_t>(std::countr_zero(a[i]));
}

int compare(Limbs a, Limbs b) noexcept {
  if (a.size != b.size) return a.size < b.size ? -1 : 1;
  for (size_t i = a.size; i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

Natural add(Interpreter& in, Limbs a, Limbs b) {
  if (a.size < b.size) std::swap(a, b);
  Natural sum(in, a.size + 1);
  if (a.size != 0) std::memcpy(sum.data(), a.data, a.size * sizeof(Limb));
  sum.data()[a.size] = add_to(sum.data(), a.size, b.data, b.size);
  sum.set_size(a.size + 1);
  return sum;
}

Natural subtract(Interpreter& in, Limbs a, Limbs b) {
  Natural difference(in, a);
  subtract_from(difference.data(), a.size, b.data, b.size);
  difference.set_size(a.size);
  return difference;
}

Natural multiply(Interpreter& in, Limbs a, Limbs b) {
  if (a.size == 0 || b.size == 0) return Natural();
  Natural product(in, a.size + b.size);
  multiply_into(in, product.data(), a, b);
  product.set_size(a.size + b.size);
  return product;
}

Natural shift_left(Interpreter& in, Limbs a, size_t bits) {
  if (a.size == 0) return Natural();
  const size_t size = a.size + bits / kLimbBits + 1;
  Natural result(in, size);
  copy_shifted(result.data(), size, a, bits / kLimbBits, bits % kLimbBits);
  result.set_size(size);
  return result;
}

Natural shift_right(Interpreter& in, Limbs a, size_t bits) {
  const Limbs kept = a.from(bits / kLimbBits);
  Natural result(in, kept);
  shift_down(result.data(), kept.size, bits % kLimbBits);
  result.set_size(kept.size);
  return result;
}

Division divide(Interpreter& in, Limbs a, Limbs b) {
  if (compare(a, b) < 0) return {Natural(), Natural(in, a)};
  if (b.size == 1) {
    Division result{Natural(in, a.size), Natural(in, 1)};
    divide_by_limb(result.quotient.data(), *result.remainder.data(), a, b[0]);
    result.quotient.set_size(a.size);
    result.remainder.set_size(1);
    return result;
  }
  if (b.size < kQuotientPiece ? a.size <= 4 * kProductsPerStep : a.size - b.size < kQuotientPiece && b.size < 1 << 16)
    return divide_short(in, a, b);
  return divide_blocks(in, a, b);
}

Natural power(Interpreter& in, Limbs base, uint64_t exponent) {
  const Limb one = 1;
  if (exponent == 0) return Natural(in, Limbs{&one, 1});
  if (base.size == 0 || (base.size == 1 && base[0] == 1)) return Natural(in, base);
  const size_t zeros = trailing_zeros(base), bits = bit_length(base) - zeros;
  const Wide wanted = static_cast<Wide>(exponent) * zeros + (bits > 1 ? static_cast<Wide>(bits - 1) * exponent : 0);
  if (wanted >= Wide{UINT32_MAX} * kLimbBits) throw Error(ErrorKind::MemoryError, std::string());
  in.heap.expect(static_cast<size_t>(wanted / 8));
  const Natural odd = shift_right(in, base, zeros);
  Natural result(in, odd.view());
  for (int bit = std::bit_width(exponent) - 2; bit >= 0 && bits > 1; --bit) {
    result = multiply(in, result, result);
    if (exponent >> bit & 1) result = multiply(in, result, odd);
  }
  return zeros == 0 ? std::move(result) : shift_left(in, result, static_cast<size_t>(exponent) * zeros);
}

Natural power_modulo(Interpreter& in, Limbs base, Limbs exponent, Limbs modulus) {
  const Limb one = 1;
  if (modulus.size == 1 && modulus[0] == 1) return Natural();
  // Windows of up to 4 bits: the table holds base^0 .. base^15 for long exponents, base^0 and base^1 for short ones.
  const size_t window = exponent.size > 2 ? 4 : 1;
  Natural table[16];
  table[0] = Natural(in, Limbs{&one, 1});
  table[1] = divide(in, base, modulus).remainder;
  for (size_t i = 2; i < size_t{1} << window; ++i)
    table[i] = divide(in, multiply(in, table[i - 1], table[1]), modulus).remainder;
  Natural result(in, Limbs{&one, 1});
  for (size_t at = (bit_length(exponent) + window - 1) / window * window; at > 0; at -= window) {
    size_t digit = 0;
    for (size_t i = 1; i <= window; ++i) {
      digit = digit << 1 | test_bit(exponent, at - i);
      result = divide(in, multiply(in, result, result), modulus).remainder;
    }
    if (digit != 0) result = divide(in, multiply(in, result, table[digit]), modulus).remainder;
    look(in, kProductsPerStep + modulus.size * modulus.size);
  }
  return result;
}

Natural greatest_common_divisor(Interpreter& in, Limbs a, Limbs b) {
  // Lehmer: Euclid's steps on the leading 62 bits of both numbers, applied to the whole numbers together.
  Natural x(in, a), y(in, b);
  if (compare(x, y) < 0) std::swap(x, y);
  while (y.size() > 1) {
    const size_t cut = bit_length(x) - 62;
    const Natural xs = shift_right(in, x, cut), ys = shift_right(in, y, cut);
    auto xh = static_cast<int64_t>(xs.view()[0]);
    auto yh = ys.is_zero() ? int64_t{0} : static_cast<int64_t>(ys.view()[0]);
    int64_t p = 1, q = 0, r = 0, s = 1;
    while (yh + r != 0 && yh + s != 0) {
      const int64_t quotient = (xh + p) / (yh + r);
      if (quotient != (xh + q) / (yh + s)) break;
      int64_t next_p, next_q;
      if (__builtin_mul_overflow(quotient, r, &next_p) || __builtin_mul_overflow(quotient, s, &next_q)) break;
      std::swap(p -= next_p, r);
      std::swap(q -= next_q, s);
      std::swap(xh -= quotient * yh, yh);
      if (std::max({std::abs(r), std::abs(s)}) >> 61 != 0) break;
    }
    look(in, kProductsPerStep + 4 * x.size());
    if (q == 0) {
      Natural rest = divide(in, x, y).remainder;
      x = std::move(y);
      y = std::move(rest);
      continue;
    }
    const auto combine = [&](int64_t first, int64_t second) {  // first x + second y, which have opposite signs
      const Limb f = static_cast<Limb>(std::abs(first)), g = static_cast<Limb>(std::abs(second));
      const Natural fx = multiply(in, x, Limbs{&f, f != 0}), gy = multiply(in, y, Limbs{&g, g != 0});
      return first > 0 || second < 0 ? subtract(in, fx, gy) : subtract(in, gy, fx);
    };
    Natural next = combine(p, q);
    y = combine(r, s);
    x = std::move(next);
    if (compare(x, y) < 0) std::swap(x, y);
  }
  if (y.is_zero()) return x;
  Limb u = y.view()[0], v = 0;
  Natural quotient(in, x.size());
  divide_by_limb(quotient.data(), v, x, u);
  while (v != 0) std::swap(u %= v, v);
  return Natural(in, Limbs{&u, 1});
}

// Newton's iteration from above, begun at the root of the upper half: each level doubles the digits that are right.
Natural square_root(Interpreter& in, Limbs a) {
  const size_t bits = bit_length(a);
  if (bits <= 62) {
    const Limb value = a.size == 0 ? 0 : a[0];
    auto root = static_cast<Limb>(__builtin_sqrt(static_cast<double>(value)));
    while (root * root > value) --root;
    while ((root + 1) * (root + 1) <= value) ++root;
    return Natural(in, Limbs{&root, 1}.trimmed());
  }
  const size_t drop = bits / 4 + 1;
  const Limb one = 1;
  Natural root = shift_left(in, add(in, square_root(in, shift_right(in, a, 2 * drop)), Limbs{&one, 1}), drop);
  for (;;) {
    Natural next = shift_right(in, add(in, root, divide(in, a, root).quotient), 1);
    if (compare(next, root) >= 0) return root;
    root = std::move(next);
  }
}

Limb multiply_add_in_place(Limb* data, size_t size, Limb factor, Limb addend) noexcept {
  for (size_t i = 0; i < size; ++i) {
    const Wide product = static_cast<Wide>(data[i]) * factor + addend;
    data[i] = static_cast<Limb>(product);
    addend = static_cast<Limb>(product >> kLimbBits);
  }
  return addend;
}

Limb divide_in_place(Limb* data, size_t size, Limb divisor) noexcept {
  Limb rest;
  divide_by_limb(data, rest, {data, size}, divisor);
  return rest;
}

}  // namespace tessera::lang
