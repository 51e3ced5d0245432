// Lists of sizes and strides. `Dims` owns (inline up to 6, which covers nearly every tensor without a
// second allocation), `Ints` looks at any list of int64 and is what functions take: `f({2, 3})` works.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

namespace tessera::tensor {

class Dims;

/// A view of int64 numbers, valid as long as what it looks at. Pass by value, never keep.
class Ints {
 public:
  constexpr Ints() = default;
  constexpr Ints(const int64_t* data, size_t size) : data_(data), size_(size) {}
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // a view on purpose: valid until the full expression ends
#endif
  constexpr Ints(std::initializer_list<int64_t> list) : data_(list.begin()), size_(list.size()) {}
#pragma GCC diagnostic pop
  Ints(const std::vector<int64_t>& list) : data_(list.data()), size_(list.size()) {}
  inline Ints(const Dims& dims);

  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  const int64_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](size_t i) const { return data_[i]; }
  int64_t back() const { return data_[size_ - 1]; }
  Ints drop(size_t n) const { return {data_ + n, size_ - n}; }
  Ints first(size_t n) const { return {data_, n}; }
  std::vector<int64_t> vec() const { return {begin(), end()}; }

  friend bool operator==(Ints a, Ints b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; i++)
      if (a.data_[i] != b.data_[i]) return false;
    return true;
  }

 private:
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};

/// An owned list of int64 numbers, without a heap block up to kInline.
class Dims {
 public:
  static constexpr size_t kInline = 6;

  Dims() {}                               // not `= default`: then `Dims{}` would clear the inline part first
  explicit Dims(size_t n) { resize(n); }  // not initialised
  Dims(size_t n, int64_t value) : Dims(n) {
    for (auto& x : *this) x = value;
  }
  Dims(std::initializer_list<int64_t> list) : Dims(Ints(list)) {}
  Dims(Ints list) { assign(list); }
  Dims(const Dims& other) { assign(other); }
  Dims(Dims&& other) noexcept { steal(other); }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) {
      release();
      steal(other);
    }
    return *this;
  }
  ~Dims() { release(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return capacity_ > kInline ? heap_ : inline_; }
  const int64_t* data() const { return capacity_ > kInline ? heap_ : inline_; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t& back() { return data()[size_ - 1]; }
  int64_t back() const { return data()[size_ - 1]; }

  void resize(size_t n) {  // new elements are not initialised
    if (n > capacity_) grow(n);
    size_ = uint32_t(n);
  }
  void assign(Ints list);
  void push_back(int64_t x) {
    resize(size_ + 1);
    back() = x;
  }
  void insert(size_t at, int64_t x);
  void erase(size_t at);
  void clear() { size_ = 0; }

  friend bool operator==(const Dims& a, const Dims& b) { return Ints(a) == Ints(b); }

 private:
  void grow(size_t n);
  void release() {
    if (capacity_ > kInline) delete[] heap_;
  }
  void steal(Dims& other) {
    std::memcpy(static_cast<void*>(this), static_cast<const void*>(&other), sizeof(Dims));
    other.size_ = 0;
    other.capacity_ = kInline;
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = kInline;
  union {
    int64_t inline_[kInline];
    int64_t* heap_;
  };
};

inline Ints::Ints(const Dims& dims) : data_(dims.data()), size_(dims.size()) {}

/// "[2, 3]", as PyTorch prints shapes in messages.
std::string shape_str(Ints shape);
std::ostream& operator<<(std::ostream& out, Ints shape);
inline std::ostream& operator<<(std::ostream& out, const Dims& shape) { return out << Ints(shape); }

/// Product of the sizes; throws "numel: integer multiplication overflow".
int64_t numel_of(Ints sizes);
/// Row-major strides; throws "Stride calculation overflowed".
Dims contiguous_strides(Ints sizes);
/// Maps a possibly negative dim to [0, ndim); IndexError as PyTorch's. 0-dim tensors accept -1 and 0.
int64_t wrap_dim(int64_t dim, int64_t ndim);
/// The common broadcast shape, or PyTorch's RuntimeError that names both sizes.
Dims broadcast_shapes(Ints a, Ints b);
/// reshape's shape with one -1 replaced; throws "shape '[4, 10]' is invalid for input of size 12".
Dims infer_shape(Ints shape, int64_t numel);

}  // namespace tessera::tensor
