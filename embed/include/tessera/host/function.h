// Functions across the border: those of the host that scripts call, and those of scripts as std::function.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "tessera/host/convert.h"

namespace tessera {

namespace detail {

// Where instances of the host's class T are told by: the address.
template <class T>
struct ClassTag {
  inline static const char tag = 0;
};

template <class T, class = void>
struct is_native : std::false_type {};
template <class T>
struct is_native<T, std::void_t<decltype(Convert<T>::from(std::declval<Borrowed>()))>> : std::true_type {};

template <class T>
T& host_object(Borrowed given) {
  void* const pointer = tsr_pointer(given.value, &ClassTag<T>::tag);
  if (pointer == nullptr)
    throw ScriptError("TypeError",
                      std::string("'") + tsr_type_name(given.value) + "' object is not of the host's class");
  return *static_cast<T*>(pointer);
}

// An argument as the parameter P of a C++ function takes it.
template <class P>
decltype(auto) argument_as(Borrowed given) {
  using Plain = plain_t<P>;
  if constexpr (std::is_pointer_v<Plain> && !is_native<Plain>::value) {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<Plain>>;
    return given.value.kind == TSR_NONE ? static_cast<Pointee*>(nullptr) : &host_object<Pointee>(given);
  } else if constexpr (is_native<Plain>::value) {
    return Convert<Plain>::from(given);
  } else {
    return (host_object<Plain>(given));  // a reference
  }
}

template <class F>
struct CallableTraits : CallableTraits<decltype(&F::operator())> {};
template <class R, class... P>
struct CallableTraits<R (*)(P...)> {
  using Result = R;
  using Signature = R(P...);
  static constexpr size_t count = sizeof...(P);
};
template <class R, class... P>
struct CallableTraits<R (*)(P...) noexcept> : CallableTraits<R (*)(P...)> {};
template <class R, class C, class... P>
struct CallableTraits<R (C::*)(P...) const> : CallableTraits<R (*)(P...)> {
  using Class = C;
};
template <class R, class C, class... P>
struct CallableTraits<R (C::*)(P...)> : CallableTraits<R (*)(P...)> {
  using Class = C;
};
template <class R, class C, class... P>
struct CallableTraits<R (C::*)(P...) const noexcept> : CallableTraits<R (C::*)(P...) const> {};
template <class R, class C, class... P>
struct CallableTraits<R (C::*)(P...) noexcept> : CallableTraits<R (C::*)(P...)> {};

// What stands behind a function of the host's: made once, called through `call`, freed by `drop`.
template <class F, class Signature>
struct HostFunction;
template <class F, class R, class... P>
struct HostFunction<F, R(P...)> {
  static constexpr size_t count = sizeof...(P);
  F function;

  static bool call(void* user, tsr_interpreter* in, const tsr_value* arguments, size_t, tsr_value* result) {
    try {
      invoke(static_cast<HostFunction*>(user)->function, in, arguments, result, std::index_sequence_for<P...>{});
      return true;
    } catch (...) {
      return detail_raise::current(in);
    }
  }
  static void drop(void* user) { delete static_cast<HostFunction*>(user); }

 private:
  template <size_t... I>
  static void invoke(F& function, tsr_interpreter* in, const tsr_value* arguments, tsr_value* result,
                     std::index_sequence<I...>) {
    (void)arguments;
    if constexpr (std::is_void_v<R>) std::invoke(function, argument_as<P>(Borrowed{in, arguments[I]})...);
    else *result = to_script(in, std::invoke(function, argument_as<P>(Borrowed{in, arguments[I]})...));
  }
};

// Throws when the signature names another number of parameters than the host's function has.
inline void check_parameters(const Ref& function, const char* signature, size_t has) {
  const size_t named = tsr_parameter_count(function.value());
  if (named != has)
    throw ScriptError("TypeError", std::string("the signature '") + signature + "' names " + std::to_string(named) +
                                       " parameters, the function has " + std::to_string(has));
}

// The function value of a C++ callable. ScriptError (TypeError) when the signature names another number of parameters.
template <class Signature, class F>
tsr_value make_function(tsr_interpreter* in, const char* signature, const char* doc, F function) {
  using Host = HostFunction<F, Signature>;
  tsr_value made = tsr_none();
  ErrorSlot error;
  auto* const user = new Host{std::move(function)};
  error.check(tsr_make_function(in, signature, doc, &Host::call, user, &Host::drop, &made, error));
  const Ref owned(in, made);
  check_parameters(owned, signature, Host::count);
  return tsr_retain(made);
}

}  // namespace detail

// A script's function as a C++ one, which keeps it alive; and a C++ one as a script's. None is the empty one.
template <class R, class... P>
struct Convert<std::function<R(P...)>> {
  static std::function<R(P...)> from(detail::Borrowed given) {
    if (given.value.kind == TSR_NONE) return nullptr;
    if (given.value.kind != TSR_OBJECT)
      throw ScriptError("TypeError", std::string("'") + tsr_type_name(given.value) + "' object is not callable");
    return [callee = Ref(given.in, tsr_retain(given.value))](P... arguments) -> R {
      if constexpr (std::is_void_v<R>) callee(arguments...);
      else return callee(arguments...).template as<R>();
    };
  }
  static tsr_value to(tsr_interpreter* in, const std::function<R(P...)>& function) {
    if (!function) return tsr_none();
    std::string signature = "function(";
    for (size_t i = 0; i < sizeof...(P); ++i) signature += (i == 0 ? "x" : ", x") + std::to_string(i);
    return detail::make_function<R(P...)>(in, (signature + ")").c_str(), "", function);
  }
};

}  // namespace tessera
