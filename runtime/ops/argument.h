// One argument of a call as a kernel reads it: a tag, and what fits into three words. Tensors, lists and texts are
// borrowed from the caller, who keeps them for the length of the call, so that an argument costs neither a heap block
// nor a count. Results own what they hold (OpArg); Results keeps the few that a call has without a heap block either.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/counted.h"
#include "runtime/device/device.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

using OptionalTensor = std::optional<Tensor>;

/// An argument or result that owns what it holds. None is monostate; an absent optional argument is None or its default.
using OpArg = std::variant<std::monostate, bool, int64_t, double, std::complex<double>, Tensor, TensorList,
                           std::vector<OptionalTensor>, std::vector<int64_t>, std::vector<double>, std::vector<bool>,
                           DType, Device, std::string, CountedPtr<Counted>>;

class Arg {
 public:
  enum class Kind : uint8_t {
    None,
    Number,
    Tensor,
    Tensors,
    OptionalTensors,
    Ints,
    Floats,
    DType,
    Device,
    Text,
    Object
  };

  Arg() : kind_(Kind::None), pointer_(nullptr) {}
  explicit Arg(const Scalar& number) : kind_(Kind::Number), number_(number) {}
  explicit Arg(const Tensor& t) : kind_(Kind::Tensor), pointer_(&t) {}
  explicit Arg(Tensor&&) = delete;  // nobody would keep it
  explicit Arg(const TensorList& list) : kind_(Kind::Tensors), pointer_(&list) {}
  explicit Arg(const std::vector<OptionalTensor>& list) : kind_(Kind::OptionalTensors), pointer_(&list) {}
  explicit Arg(Ints list) : kind_(Kind::Ints), count_(uint32_t(list.size())), pointer_(list.data()) {}
  explicit Arg(const std::vector<double>& list) : kind_(Kind::Floats), pointer_(&list) {}
  explicit Arg(DType t) : kind_(Kind::DType), dtype_(t) {}
  explicit Arg(Device d) : kind_(Kind::Device), device_(d) {}
  explicit Arg(std::string_view text) : kind_(Kind::Text), count_(uint32_t(text.size())), pointer_(text.data()) {}
  explicit Arg(Counted* object) : kind_(Kind::Object), pointer_(object) {}
  /// What an owned argument holds, borrowed. Lists of bools are not served: no op takes one.
  static Arg of(const OpArg& owned);

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::None; }
  bool is_number() const { return kind_ == Kind::Number; }
  bool is_tensor() const { return kind_ == Kind::Tensor; }

  // Unchecked: the kind has been asked before.
  const Scalar& number() const { return number_; }
  const Tensor& tensor() const { return *static_cast<const Tensor*>(pointer_); }
  const TensorList& tensors() const { return *static_cast<const TensorList*>(pointer_); }
  const std::vector<OptionalTensor>& optional_tensors() const {
    return *static_cast<const std::vector<OptionalTensor>*>(pointer_);
  }
  Ints ints() const { return {static_cast<const int64_t*>(pointer_), count_}; }
  const std::vector<double>& floats() const { return *static_cast<const std::vector<double>*>(pointer_); }
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  std::string_view text() const { return {static_cast<const char*>(pointer_), count_}; }
  Counted* object() const { return const_cast<Counted*>(static_cast<const Counted*>(pointer_)); }

 private:
  Kind kind_;
  uint32_t count_ = 0;  // of ints or characters
  union {
    const void* pointer_;
    Scalar number_;
    DType dtype_;
    Device device_;
  };
};
static_assert(std::is_trivially_copyable_v<Arg>);

/// What a call hands back, in order.
class Results {
 public:
  static constexpr size_t kMost = 6;  // no op of PyTorch's has more

  Results() {}  // not `= default`: then `Results{}` would clear the room first
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  ~Results() {
    for (OpArg& result : *this) result.~OpArg();
  }

  template <class T>
  void emplace_back(T&& value) {
    check(size_ < kMost, TensorErrorKind::Assertion, "more results than an op may have");
    new (begin() + size_) OpArg(std::forward<T>(value));
    ++size_;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  OpArg* begin() { return reinterpret_cast<OpArg*>(room_); }
  OpArg* end() { return begin() + size_; }
  const OpArg* begin() const { return reinterpret_cast<const OpArg*>(room_); }
  const OpArg* end() const { return begin() + size_; }
  OpArg& operator[](size_t i) { return begin()[i]; }
  const OpArg& operator[](size_t i) const { return begin()[i]; }

 private:
  size_t size_ = 0;
  alignas(OpArg) unsigned char room_[kMost * sizeof(OpArg)];
};

}  // namespace tessera::tensor
