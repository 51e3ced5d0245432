// Tessera in a C++ program: the one header that a host needs.
//
//   tessera::Interpreter tsr({.memory_limit = 256 << 20, .step_limit = 50'000'000});
//   tsr.def("scale(x: Tensor, k: float = 2.0) -> Tensor", "Multiply by k.",
//           [](const tessera::Tensor& x, double k) { return x * k; });
//   tsr.set("x", tessera::Tensor::from_blob(data, {2, 3}, tessera::kFloat32));
//   tessera::Tensor y = tsr.eval("scale(x, k=3) @ x.T").as<tessera::Tensor>();
//
// An Interpreter and everything got from it belong to one thread at a time; several interpreters may run on several
// threads. Nothing is granted that the host does not grant: no files, no clock, no environment. What a script raises
// arrives as ScriptError, and the interpreter lives on.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/ops/pointwise_functions.h"
#include "runtime/tensor.h"

namespace tessera {

// What a host writes. The operations are tessera::tensor's: matmul(a, b) finds them by its arguments.
using tensor::kBool, tensor::kUInt8, tensor::kInt8, tensor::kInt16, tensor::kInt32, tensor::kInt64, tensor::kFloat16,
    tensor::kBFloat16, tensor::kFloat32, tensor::kFloat64, tensor::kComplex64, tensor::kComplex128;
using tensor::Tensor, tensor::TensorList, tensor::DType, tensor::Device, tensor::kCpu;

// What an interpreter may use. Zero: no limit.
struct Options {
  uint64_t memory_limit = 0;  // bytes of objects and of tensors, each
  uint64_t step_limit = 0;    // backward jumps and calls of one run
  double time_limit = 0;      // seconds of one run
  bool allow_files = false;
  bool allow_clock = false;
  bool allow_environment = false;
  std::function<void(std::string_view)> print = nullptr;  // what print() writes; empty: nothing is shown
};

// An exception that nobody in the script caught.
class ScriptError : public std::exception {
 public:
  ScriptError(std::string class_name, std::string message, std::string traceback)
      : class_name_(std::move(class_name)), message_(std::move(message)), traceback_(std::move(traceback)) {}
  const std::string& class_name() const { return class_name_; }  // "ValueError"
  const std::string& message() const { return message_; }        // str(e)
  const std::string& traceback() const { return traceback_; }    // as the program `tsr` prints it
  const char* what() const noexcept override { return traceback_.c_str(); }

 private:
  friend struct Access;
  std::string class_name_, message_, traceback_;
  uint64_t number_ = 0;  // of the exception, while its interpreter keeps it: a host function may let it through
};

class Interpreter;

// A value of a script, kept alive for as long as the Ref lives (which must not be longer than its Interpreter).
class Ref {
 public:
  Ref() = default;
  Ref(const Ref& other);
  Ref(Ref&& other) noexcept;
  Ref& operator=(Ref other) noexcept;
  ~Ref();

  bool is_none() const;
  std::string type_name() const;
  std::string str() const;
  std::string repr() const;

  // bool, integers, double, std::string, Tensor, std::vector of these, or Ref. ScriptError when it is another (TypeError) or
  // does not fit (OverflowError).
  template <class T>
  T as() const;

  template <class... Arguments>
  Ref operator()(const Arguments&... arguments) const;  // calls it
  Ref attribute(std::string_view name) const;
  std::vector<Ref> items() const;  // of a list or tuple

 private:
  friend class Interpreter;
  friend struct Access;
  struct State;
  Ref(Interpreter* owner, State* state) : owner_(owner), state_(state) {}
  Ref call(std::vector<Ref> arguments) const;
  bool to_bool() const;
  int64_t to_int(int64_t least, int64_t most) const;
  double to_double() const;
  std::string to_text() const;
  Tensor to_tensor() const;

  Interpreter* owner_ = nullptr;
  State* state_ = nullptr;  // null: None
};

class Interpreter {
 public:
  explicit Interpreter(Options options = {});
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Runs statements in the main module; answers the value of a last bare expression, or None.
  Ref run(std::string_view code, std::string_view name = "<host>");
  // The value of one expression.
  Ref eval(std::string_view code);
  // The same, for hosts without exceptions: false and the error instead of a throw.
  bool try_run(std::string_view code, Ref* result = nullptr, ScriptError* error = nullptr);

  // Names of the main module.
  template <class T>
  void set(std::string_view name, const T& value) {
    set_ref(name, make(value));
  }
  Ref get(std::string_view name);

  // A function of the host, with the signature that scripts see: names, defaults, checks, keywords and help come from it.
  // ScriptError (TypeError) when it names more or fewer parameters than the function has.
  template <class F>
  void def(const char* signature, const char* doc, F function) {
    const size_t parameters = count(callable(function));
    def_raw(signature, doc, wrap(std::move(function)), parameters);
  }

  // From any thread: the run that is under way ends within milliseconds, with an exception that a script cannot catch. Nothing
  // happens where none is.
  void cancel();

  Ref make(std::nullptr_t);
  Ref make(bool value);
  Ref make(int64_t value);
  Ref make(int value) { return make(static_cast<int64_t>(value)); }
  Ref make(double value);
  Ref make(std::string_view value);
  Ref make(const char* value) { return make(std::string_view(value)); }
  Ref make(const std::string& value) { return make(std::string_view(value)); }
  Ref make(const Tensor& value);
  Ref make(const Ref& value) { return value; }
  template <class T>
  Ref make(const std::vector<T>& values) {
    std::vector<Ref> refs;
    for (const auto& value : values) refs.push_back(make(value));
    return make_list(refs);
  }

 private:
  friend class Ref;
  friend struct Access;
  using Raw = std::function<Ref(const std::vector<Ref>&)>;

  Ref make_list(const std::vector<Ref>& items);
  void set_ref(std::string_view name, const Ref& value);
  void def_raw(const char* signature, const char* doc, Raw function, size_t parameters);

  template <class F>
  static auto callable(const F&) {
    if constexpr (std::is_pointer_v<F>) return F{};
    else return &F::operator();
  }
  template <class R, class... P>
  static constexpr size_t count(R (*)(P...)) {
    return sizeof...(P);
  }
  template <class R, class C, class... P>
  static constexpr size_t count(R (C::*)(P...) const) {
    return sizeof...(P);
  }
  template <class R, class C, class... P>
  static constexpr size_t count(R (C::*)(P...)) {
    return sizeof...(P);
  }

  template <class F>
  Raw wrap(F function) {
    return wrap_call(std::move(function), &F::operator());
  }
  template <class R, class... P>
  Raw wrap(R (*function)(P...)) {
    return wrap_call<R (*)(P...), R, P...>(function);
  }
  template <class F, class R, class C, class... P>
  Raw wrap_call(F function, R (C::*)(P...) const) {
    return wrap_call<F, R, P...>(std::move(function));
  }
  template <class F, class R, class C, class... P>
  Raw wrap_call(F function, R (C::*)(P...)) {
    return wrap_call<F, R, P...>(std::move(function));
  }
  template <class F, class R, class... P>
  Raw wrap_call(F function) {
    return [this, function = std::move(function)](const std::vector<Ref>& arguments) mutable {
      return invoke<R, P...>(function, arguments, std::index_sequence_for<P...>{});
    };
  }
  template <class R, class... P, class F, size_t... I>
  Ref invoke(F& function, const std::vector<Ref>& arguments, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>) {
      function(arguments.at(I).template as<std::remove_cvref_t<P>>()...);
      return make(nullptr);
    } else {
      return make(function(arguments.at(I).template as<std::remove_cvref_t<P>>()...));
    }
  }

  struct State;
  std::unique_ptr<State> state_;
};

namespace host_detail {
template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
inline constexpr int64_t least = static_cast<int64_t>(std::numeric_limits<T>::min());
template <class T>
inline constexpr int64_t most = sizeof(T) < 8 ? static_cast<int64_t>(std::numeric_limits<T>::max()) : INT64_MAX;
}  // namespace host_detail

template <class T>
T Ref::as() const {
  if constexpr (std::is_same_v<T, Ref>) return *this;
  else if constexpr (std::is_same_v<T, bool>) return to_bool();
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(to_int(host_detail::least<T>, host_detail::most<T>));
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(to_double());
  else if constexpr (std::is_same_v<T, std::string>) return to_text();
  else if constexpr (std::is_same_v<T, Tensor>) return to_tensor();
  else {
    static_assert(host_detail::is_vector<T>::value,
                  "as<T>: T is bool, a number, std::string, Tensor, Ref or a vector of these");
    T result;
    for (const Ref& item : items()) result.push_back(item.as<typename T::value_type>());
    return result;
  }
}

template <class... Arguments>
Ref Ref::operator()(const Arguments&... arguments) const {
  return call({owner_->make(arguments)...});
}

}  // namespace tessera
