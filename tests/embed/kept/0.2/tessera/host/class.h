// Class<T>: a C++ class as a class of scripts.
//
//   auto counter = tsr.add_class<Counter>("Counter", "Counts.");
//   counter.init("__init__(self, start: int = 0)", [](int start) { return Counter(start); });
//   counter.method("add(self, n: int) -> int", "Add n.", &Counter::add);
//   counter.property("value", "What was counted.", &Counter::value);
//   tsr.set("shared", counter.wrap(&one_of_the_hosts));
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "tessera/host/function.h"

namespace tessera {

template <class T>
class Class {
 public:
  // Its name is not set anywhere; Interpreter::add_class and Module::add_class do that.
  Class(tsr_interpreter* in, const char* name, const char* doc) {
    tsr_value made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_make_class(in, name, doc, &detail::ClassTag<T>::tag, &made, error));
    type_ = Ref(in, made);
  }

  const Ref& type() const { return type_; }

  // How scripts make instances: `make` gets the arguments behind self and answers a T, which the instance owns.
  template <class F>
  Class& init(const char* signature, F make) {
    init_with(signature, std::move(make), static_cast<typename Signature<F>::Type*>(nullptr));
    return *this;
  }

  // A member function, or any callable whose first parameter is T&. Special methods (`__len__`, `__add__`, `__repr__`) too.
  template <class F>
  Class& method(const char* signature, const char* doc, F function) {
    method_with(signature, doc, std::move(function), static_cast<typename Signature<F>::WithSelf*>(nullptr));
    return *this;
  }

  // A getter, or a data member, which can be written as well.
  template <class F>
  Class& property(const char* name, const char* doc, F get) {
    if constexpr (std::is_member_object_pointer_v<F>) {
      using Field = detail::plain_t<decltype(std::declval<T&>().*get)>;
      add_property(name, doc, std::function<Field(const T&)>([get](const T& self) { return self.*get; }),
                   std::function<void(T&, const Field&)>([get](T& self, const Field& value) { self.*get = value; }));
    } else {
      using Value = typename detail::CallableTraits<F>::Result;
      add_property<detail::plain_t<Value>>(
          name, doc, [get](const T& self) { return std::invoke(get, self); }, nullptr);
    }
    return *this;
  }
  template <class G, class S>
  Class& property(const char* name, const char* doc, G get, S set) {
    using Value = detail::plain_t<typename detail::CallableTraits<G>::Result>;
    add_property<Value>(
        name, doc, [get](const T& self) { return std::invoke(get, self); },
        [set](T& self, const Value& value) { std::invoke(set, self, value); });
    return *this;
  }

  // An instance that stands for an object of the host's, which has to outlive every use of it.
  Ref wrap(T* object) const { return instance(object, nullptr); }
  // An instance that owns the object.
  Ref own(std::unique_ptr<T> object) const {
    Ref made = instance(object.get(), [](void* pointer) { delete static_cast<T*>(pointer); });
    object.release();
    return made;
  }

 private:
  template <class F, class = void>
  struct Signature {
    using Type = typename detail::CallableTraits<F>::Signature;
    using WithSelf = Type;
  };
  template <class F>
  struct Signature<F, std::enable_if_t<std::is_member_function_pointer_v<F>>> {
    using Type = typename detail::CallableTraits<F>::Signature;
    template <class S>
    struct Prepend;
    template <class R, class... P>
    struct Prepend<R(P...)> {
      using Result = R(T&, P...);
    };
    using WithSelf = typename Prepend<Type>::Result;
  };

  template <class F, class R, class... P>
  void method_with(const char* signature, const char* doc, F function, R (*)(P...)) {
    using Host = detail::HostFunction<F, R(P...)>;
    add<Host>(signature, doc, std::move(function));
  }

  // self is no T yet when __init__ runs: the value itself is what the pointer goes into.
  template <class F, class R, class... P>
  void init_with(const char* signature, F make, R (*)(P...)) {
    const auto fill = [make](const Ref& self, P... arguments) {
      check_is_new(self);
      auto object = std::make_unique<T>(make(std::forward<P>(arguments)...));
      check_is_new(self);  // `make` may have run a script
      if (!tsr_set_pointer(self.value(), object.get(), [](void* pointer) { delete static_cast<T*>(pointer); }))
        throw ScriptError("TypeError", "'" + self.type_name() + "' object is not of the host's class");
      object.release();
    };
    add<detail::HostFunction<decltype(fill), void(const Ref&, P...)>>(signature, "", fill);
  }

  // A script that calls __init__ again must not free the object, for one of its methods may be running.
  static void check_is_new(const Ref& self) {
    if (tsr_pointer(self.value(), &detail::ClassTag<T>::tag) != nullptr)
      throw ScriptError("TypeError", "'" + self.type_name() + "' object has been made already");
  }

  template <class Host, class F>
  void add(const char* signature, const char* doc, F function) {
    tsr_interpreter* const in = type_.interpreter();
    detail::ErrorSlot error;
    tsr_value probe = tsr_none();  // refuses a signature that does not fit before the class has it
    error.check(tsr_make_function(in, signature, doc, &Host::call, nullptr, nullptr, &probe, error));
    detail::check_parameters(Ref(in, probe), signature, Host::count);
    error.check(tsr_add_method(in, type_.value(), signature, doc, &Host::call, new Host{std::move(function)},
                               &Host::drop, error));
  }

  template <class Value>
  void add_property(const char* name, const char* doc, std::function<Value(const T&)> get,
                    std::function<void(T&, const Value&)> set) {
    struct Accessors {
      std::function<Value(const T&)> get;
      std::function<void(T&, const Value&)> set;
      static bool read(void* user, tsr_interpreter* in, const tsr_value* arguments, size_t, tsr_value* result) {
        try {
          *result =
              detail::to_script(in, static_cast<Accessors*>(user)->get(detail::host_object<T>({in, arguments[0]})));
          return true;
        } catch (...) {
          return detail_raise::current(in);
        }
      }
      static bool write(void* user, tsr_interpreter* in, const tsr_value* arguments, size_t, tsr_value*) {
        try {
          static_cast<Accessors*>(user)->set(detail::host_object<T>({in, arguments[0]}),
                                             detail::argument_as<Value>({in, arguments[1]}));
          return true;
        } catch (...) {
          return detail_raise::current(in);
        }
      }
    };
    const bool writable = set != nullptr;
    auto* const both = new Accessors{std::move(get), std::move(set)};
    detail::ErrorSlot error;
    error.check(tsr_add_property(
        type_.interpreter(), type_.value(), name, doc, &Accessors::read, writable ? &Accessors::write : nullptr, both,
        [](void* user) { delete static_cast<Accessors*>(user); }, error));
  }

  Ref instance(T* object, tsr_drop drop) const {
    tsr_value made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_make_instance(type_.interpreter(), type_.value(), object, drop, &made, error));
    return {type_.interpreter(), made};
  }

  Ref type_;
};

// A pointer to an object of the host's: a value of the class made for T, which the host's object has to outlive; nullptr is
// None. (Parameters of host functions may be T&, const T& or T*.)
template <class T>
struct Convert<T*, std::enable_if_t<std::is_class_v<T>>> {
  static tsr_value to(tsr_interpreter* in, T* object) {
    if (object == nullptr) return tsr_none();
    tsr_value type = tsr_none(), made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_find_class(in, &detail::ClassTag<T>::tag, &type, error));
    const Ref owned(in, type);
    if (owned.is_none()) throw ScriptError("TypeError", "the interpreter has no class for this type of the host's");
    error.check(tsr_make_instance(in, type, object, nullptr, &made, error));
    return made;
  }
};

}  // namespace tessera
