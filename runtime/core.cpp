// Names, conversions and messages of the small types: error kinds, dtypes, devices, shapes.
// compile: small (texts and facts of types, which an op asks seldom)
#include <algorithm>
#include <charconv>
#include <numeric>
#include <ostream>
#include <sstream>

#include "runtime/device/device.h"
#include "runtime/checked.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/scalar.h"
#include "runtime/shape.h"

namespace tessera::tensor {

void TextPart::write_characters(std::ostream& out, const void* characters) { out << static_cast<const char*>(characters); }

std::string joined_text(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  for (const TextPart& part : parts) part.write(out);
  return std::move(out).str();
}

void fail_with(TensorErrorKind kind, std::initializer_list<TextPart> parts) { throw TensorError(kind, joined_text(parts)); }

const char* python_name(TensorErrorKind kind) {
  switch (kind) {
    case TensorErrorKind::Runtime: return "RuntimeError";
    case TensorErrorKind::Type: return "TypeError";
    case TensorErrorKind::Value: return "ValueError";
    case TensorErrorKind::Index: return "IndexError";
    case TensorErrorKind::Key: return "KeyError";
    case TensorErrorKind::Attribute: return "AttributeError";
    case TensorErrorKind::NotImplemented: return "NotImplementedError";
    case TensorErrorKind::Memory: return "MemoryError";
    case TensorErrorKind::OutOfMemory: return "OutOfMemoryError";
    case TensorErrorKind::Overflow: return "OverflowError";
    case TensorErrorKind::ZeroDivision: return "ZeroDivisionError";
    case TensorErrorKind::Assertion: return "AssertionError";
    case TensorErrorKind::Cancelled: return "KeyboardInterrupt";
  }
  return "RuntimeError";
}

// ---- dtypes ----

namespace {

DType signed_of(int bytes) {
  return bytes == 1 ? kInt8 : bytes == 2 ? kInt16 : bytes == 4 ? kInt32 : kInt64;
}

// An unsigned type among the signed ones needs one that is wider than itself.
DType promote_integers(DType a, DType b) {
  if (is_bool(a)) return b;
  if (is_bool(b)) return a;
  if (is_signed(a) == is_signed(b)) return item_size(a) > item_size(b) ? a : b;
  const auto [with_sign, without] = is_signed(a) ? std::pair(a, b) : std::pair(b, a);
  return item_size(with_sign) > item_size(without) ? with_sign : signed_of(2 * int(item_size(without)));
}

DType promote_floats(DType a, DType b) {
  if (item_size(a) == item_size(b)) return kFloat32;  // two kinds of halves
  return item_size(a) > item_size(b) ? a : b;
}

}  // namespace

[[gnu::cold]] static void refuse_promotion(DType a, DType b) {
  const auto either = [&](DTypeClass c) { return facts(a).of_class == c || facts(b).of_class == c; };
  const char *const x = scalar_type_name(a), *const y = scalar_type_name(b);
  check(!either(DTypeClass::Quantized), TensorErrorKind::Runtime,
        "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, offending types: ",
        x, " ", y);
  check(!either(DTypeClass::Bits), TensorErrorKind::Runtime, "Promotion from ", x, " and ", y, " is unsupported.");
  check(!is_float8(a) && !is_float8(b), TensorErrorKind::Runtime,
        "Promotion for Float8 Types is not supported, attempted to promote ", x, " and ", y);
  const auto takes_floats = [](DType t) { return is_packed(t) ? !is_signed(t) : is_floating(t); };
  check(takes_floats(a) && takes_floats(b) && is_packed(a) != is_packed(b), TensorErrorKind::Runtime,
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ", x, " and ", y);
}

DType promote_unlike_types(DType a, DType b) {
  if (a == b) return a;
  if (((kFloat8Types.bits | detail::kPacked) & (DTypeSet(a) | b).bits) != 0) [[unlikely]] {
    refuse_promotion(a, b);
    return is_packed(a) ? b : a;
  }
  if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
  if (is_wide_unsigned(a) || is_wide_unsigned(b)) {
    const DType other = is_wide_unsigned(a) ? b : a;
    check(is_floating(other), TensorErrorKind::Runtime,
          "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ", scalar_type_name(a),
          " and ", scalar_type_name(b));
    return other;
  }
  if (is_complex(a) || is_complex(b)) {
    const auto part = [](DType t) { return is_complex(t) || is_floating(t) ? real_type(t) : kBool; };
    return complex_type(part(a) == kBool ? part(b) : part(b) == kBool ? part(a) : promote_types(part(a), part(b)));
  }
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  return promote_integers(a, b);
}

void refuse_type(DType t, const char* kernel) {
  if (kernel) fail(TensorErrorKind::NotImplemented, '"', kernel, "\" not implemented for '", scalar_type_name(t), "'");
  fail(TensorErrorKind::NotImplemented, "not implemented for '", scalar_type_name(t), "'");
}

void refuse_number(DType t) {
  const char* const name = facts(t).source_name ? facts(t).source_name : facts(t).cpp_name;
  fail(TensorErrorKind::Runtime, "value cannot be converted to type ", name, " without overflow");
}

Scalar Scalar::as(DType type) const {
  return with_type<kElementTypes>(type, [&](auto tag) -> Scalar {
    using T = typename decltype(tag)::type;
    return convert_element<typename WideOf<T>::type>(to<T>());
  });
}

void Scalar::put(DType type, void* to_v) const {
  with_type<kElementTypes>(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        *static_cast<T*>(to_v) = to<T>();
      },
      "fill_cpu");
}

bool dtype_from_name(std::string_view text, DType& out) {
  for (int i = 0; i < kDTypeCount; i++) {
    const DTypeFacts& f = kDTypeFacts[i];
    if (text == f.name || (f.alias && text == f.alias)) return out = DType(i), true;
  }
  return false;
}

int64_t last_integer(DType t) {
  if (is_bool(t)) return 1;
  if (is_floating(t)) return int64_t(1) << facts(t).precision;
  const int bits = 8 * int(item_size(t));
  return INT64_MAX >> (64 - bits - (is_signed(t) || bits == 64 ? 0 : 1));
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && (is_integral(to) || is_bool(to))) return false;
  return is_bool(from) || !is_bool(to);
}

// ---- devices ----

const char* name(DeviceType type) {
  static constexpr const char* kNames[kDeviceTypeCount] = {"cpu", "cuda", "mps", "meta", "ref"};
  return kNames[int(type)];
}

const char* backend_name(DeviceType type) {
  static constexpr const char* kNames[kDeviceTypeCount] = {"CPU", "CUDA", "MPS", "Meta", "Ref"};
  return kNames[int(type)];
}

std::string Device::str() const { return index < 0 ? name(type) : text(name(type), ':', int(index)); }

Device Device::parse(std::string_view spec) {
  auto colon = spec.find(':');
  std::string_view kind = spec.substr(0, colon);
  int index = -1;
  if (colon != spec.npos) {
    std::string_view digits = spec.substr(colon + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    bool canonical = digits.size() == 1 || (!digits.empty() && digits[0] != '0');
    check(error == std::errc{} && end == digits.data() + digits.size() && index >= 0 && index < 128 && canonical,
          TensorErrorKind::Runtime, "Invalid device string: '", spec, "'");
  }
  for (int i = 0; i < kDeviceTypeCount; i++)
    if (kind == name(DeviceType(i))) return Device(DeviceType(i), index);
  check(!kind.empty(), TensorErrorKind::Runtime, "Device string must not be empty");
  fail(
      TensorErrorKind::Runtime,
      "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
      "privateuseone device type at start of device string: ",
      kind);
}

// ---- shapes ----

// Nearly all have few, which a call of memcpy would cost more than.
void Dims::assign(Ints list) {
  const size_t n = list.size();
  resize(n);
  int64_t* const to = data();
  const int64_t* const from = list.data();
  if (n > 4) return void(std::memmove(to, from, n * sizeof(int64_t)));
  if (n > 0) to[0] = from[0];
  if (n > 1) to[1] = from[1];
  if (n > 2) to[2] = from[2];
  if (n > 3) to[3] = from[3];
}

void Dims::grow(size_t n) {
  // Counts that scripts choose come here too; PyTorch says this of its vectors.
  check(n <= (size_t(1) << 26), TensorErrorKind::Runtime, "cannot create std::vector larger than max_size()");
  size_t capacity = std::max(n, size_t(capacity_) * 2);
  auto* block = new int64_t[capacity];
  std::memcpy(block, data(), size_ * sizeof(int64_t));
  release();
  heap_ = block;
  capacity_ = uint32_t(capacity);
}

void Dims::insert(size_t at, int64_t x) {
  resize(size_ + 1);
  std::memmove(data() + at + 1, data() + at, (size_ - 1 - at) * sizeof(int64_t));
  data()[at] = x;
}

void Dims::erase(size_t at) {
  std::memmove(data() + at, data() + at + 1, (size_ - 1 - at) * sizeof(int64_t));
  size_--;
}

std::ostream& operator<<(std::ostream& out, Ints shape) {
  out << '[';
  for (size_t i = 0; i < shape.size(); i++) out << (i ? ", " : "") << shape[i];
  return out << ']';
}

std::string shape_str(Ints shape) { return text(shape); }

int64_t numel_of(Ints sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n = checked_mul(n, s);
  return n;
}

Dims contiguous_strides(Ints sizes) {
  Dims strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    check(!__builtin_mul_overflow(step, std::max<int64_t>(sizes[i], 1), &step) || i == 0, TensorErrorKind::Runtime,
          "Stride calculation overflowed");
  }
  return strides;
}

int64_t wrap_dim(int64_t dim, int64_t ndim) {
  int64_t range = std::max<int64_t>(ndim, 1);
  if (dim < -range || dim >= range) [[unlikely]]
    fail(TensorErrorKind::Index, "Dimension out of range (expected to be in range of [", -range, ", ", range - 1,
         "], but got ", dim, ")");
  return dim < 0 ? dim + range : dim;
}

Dims broadcast_shapes(Ints a, Ints b) {
  if (a == b) return Dims(a);
  size_t n = std::max(a.size(), b.size());
  Dims out(n);
  for (size_t i = n; i-- > 0;) {  // a refusal names the innermost that differs
    size_t back = n - i;          // counted from the right
    int64_t x = back <= a.size() ? a[a.size() - back] : 1;
    int64_t y = back <= b.size() ? b[b.size() - back] : 1;
    check(x == y || x == 1 || y == 1, TensorErrorKind::Runtime, "The size of tensor a (", x,
          ") must match the size of tensor b (", y, ") at non-singleton dimension ", i);
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Dims infer_shape(Ints shape, int64_t numel) {
  Dims out(shape);
  int64_t known = 1, inferred = -1;
  for (size_t i = 0; i < shape.size(); i++) {
    if (shape[i] == -1) {
      check(inferred < 0, TensorErrorKind::Runtime, "only one dimension can be inferred");
      inferred = int64_t(i);
    } else {
      check(shape[i] >= 0, TensorErrorKind::Runtime, "invalid shape dimension ", shape[i], " at index ", i,
            " of shape ", shape);
      known = saturated_mul(known, shape[i]);  // no tensor has so many elements
    }
  }
  bool fits = inferred < 0 ? known == numel : known > 0 ? numel % known == 0 : numel == 0 && known == 0;
  check(fits, TensorErrorKind::Runtime, "shape '", shape, "' is invalid for input of size ", numel);
  if (inferred >= 0) {
    check(known != 0, TensorErrorKind::Runtime, "cannot reshape tensor of 0 elements into shape ", shape,
          " because the unspecified dimension size -1 can be any value and is ambiguous");
    out[size_t(inferred)] = numel / known;
  }
  return out;
}

}  // namespace tessera::tensor
