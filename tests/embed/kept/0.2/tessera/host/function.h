// Functions across the border: those of the host that scripts call, and those of scripts as std::function.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

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

template <class T, class = void>
struct has_script_type : std::false_type {};
template <class T>
struct has_script_type<T, std::void_t<decltype(Convert<T>::script_type)>> : std::true_type {};

// The name that scripts know the host's class T by; "": none as yet.
template <class T>
std::string host_type(tsr_interpreter* in) {
  tsr_value found = tsr_none();
  ErrorSlot error;
  error.check(tsr_find_class(in, &ClassTag<T>::tag, &found, error));
  const Ref type(in, found);
  if (type.is_none()) return {};
  const Ref name = type.attribute("__name__");
  const char* text = nullptr;
  error.check(tsr_as_text(in, name.value(), &text, nullptr, error));
  return text;
}

// What an annotation would call T: "float", "str | None", the name of a class of the host's; "": whatever.
template <class T>
struct ScriptType {
  static std::string name(tsr_interpreter* in) {
    using Plain = plain_t<T>;
    (void)in;
    if constexpr (has_script_type<Plain>::value) return Convert<Plain>::script_type;
    else if constexpr (std::is_void_v<Plain> || std::is_null_pointer_v<Plain>) return "None";
    else if constexpr (std::is_same_v<Plain, bool>) return "bool";
    else if constexpr (std::is_integral_v<Plain> || std::is_enum_v<Plain>) return "int";
    else if constexpr (std::is_floating_point_v<Plain>) return "float";
    else if constexpr (std::is_convertible_v<Plain, const char*>) return "str";
    else if constexpr (std::is_pointer_v<Plain>) {
      const std::string known = host_type<std::remove_cv_t<std::remove_pointer_t<Plain>>>(in);
      return known.empty() ? "" : known + " | None";
    } else if constexpr (is_native<Plain>::value || has_convert_to<Plain>::value) return "";
    else return host_type<Plain>(in);
  }
};
template <class T>
struct ScriptType<std::optional<T>> {
  static std::string name(tsr_interpreter* in) {
    const std::string known = ScriptType<T>::name(in);
    return known.empty() ? "" : known + " | None";
  }
};
template <class... T>
struct ScriptType<std::variant<T...>> {
  static std::string name(tsr_interpreter* in) {
    std::string all;
    bool whatever = false;
    const auto add = [&](const std::string& one) {
      whatever = whatever || one.empty();
      all += (all.empty() ? "" : " | ") + one;
    };
    (add(ScriptType<T>::name(in)), ...);
    return whatever ? "" : all;
  }
};
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class... T>
inline constexpr bool is_optional<std::variant<T...>> = true;
template <class R, class... P>
struct ScriptType<std::function<R(P...)>> {
  static std::string name(tsr_interpreter*) { return "callable | None"; }
};

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
  using Signature = R(P...);
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

// Throws when the signature names other parameters than the host's function has, or promises what it does not answer.
template <class Signature>
struct TypeCheck;
template <class R, class... P>
struct TypeCheck<R(P...)> {
  static void check(tsr_interpreter* in, const Ref& function) {
    const std::string names[] = {answer(in), ScriptType<plain_t<P>>::name(in)...};
    const char* types[sizeof...(P) + 1];
    for (size_t i = 0; i <= sizeof...(P); ++i) types[i] = names[i].c_str();
    ErrorSlot error;
    error.check(tsr_check_types(in, function.value(), types, sizeof...(P) + 1, error));
  }

 private:
  // That a pointer which is answered may be empty need not be said.
  static std::string answer(tsr_interpreter* in) {
    const std::string name = ScriptType<plain_t<R>>::name(in);
    if constexpr (is_optional<plain_t<R>>) return name;
    else return name.substr(0, name.find(" | None"));
  }
};

// The function value of a C++ callable. ScriptError (UsageError) when the signature does not fit it.
template <class Signature, class F>
tsr_value make_function(tsr_interpreter* in, const char* signature, const char* doc, F function) {
  using Host = HostFunction<F, Signature>;
  tsr_value made = tsr_none();
  ErrorSlot error;
  auto* const user = new Host{std::move(function)};
  error.check(tsr_make_function(in, signature, doc, &Host::call, user, &Host::drop, &made, error));
  const Ref owned(in, made);
  TypeCheck<Signature>::check(in, owned);
  return tsr_retain(made);
}

// Is the value just what T is for scripts, without a conversion?
template <class T>
bool is_exactly(Borrowed given) {
  if constexpr (std::is_same_v<T, bool>) return given.value.kind == TSR_BOOL;
  else if constexpr (std::is_integral_v<T>) return given.value.kind == TSR_INT;
  else if constexpr (std::is_floating_point_v<T>) return given.value.kind == TSR_FLOAT;
  else if constexpr (std::is_same_v<T, std::monostate>) return given.value.kind == TSR_NONE;
  else if constexpr (std::is_same_v<T, Tensor>) return tsr_type_of(given.value) == TSR_TYPE_TENSOR;
  else if constexpr (has_script_type<T>::value)
    return std::string_view(Convert<T>::script_type) == tsr_type_name(given.value);
  else return false;
}

}  // namespace detail

// The alternative that the value is, or else the first that it can be made.
template <class... T>
struct Convert<std::variant<T...>> {
  using Variant = std::variant<T...>;
  static Variant from(detail::Borrowed given) {
    std::optional<Variant> found;
    (take<T>(given, found, detail::is_exactly<T>(given)), ...);
    (attempt<T>(given, found), ...);
    if (!found)
      throw ScriptError("TypeError", "expected " + detail::ScriptType<Variant>::name(given.in) + ", got " +
                                         tsr_type_name(given.value));
    return std::move(*found);
  }
  static tsr_value to(tsr_interpreter* in, const Variant& value) {
    return std::visit([in](const auto& held) { return detail::to_script(in, held); }, value);
  }

 private:
  template <class A>
  static void take(detail::Borrowed given, std::optional<Variant>& found, bool wanted) {
    if (wanted && !found) found.emplace(std::in_place_type<A>, Convert<A>::from(given));
  }
  template <class A>
  static void attempt(detail::Borrowed given, std::optional<Variant>& found) {
    if (found || std::is_same_v<A, bool>) return;  // anything has a truth
    try {
      take<A>(given, found, true);
    } catch (const ScriptError& error) {
      if (!error.is("TypeError") && !error.is("OverflowError")) throw;
    }
  }
};

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
