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

namespace detail {

template <class T>
void drop_object(void* object) noexcept {
  delete static_cast<T*>(object);
}
template <class T>
void drop_shared(void* owner) noexcept {
  delete static_cast<std::shared_ptr<T>*>(owner);
}

// The class that the interpreter has for T.
template <class T>
Ref class_for(tsr_interpreter* in) {
  tsr_value type = tsr_none();
  ErrorSlot error;
  error.check(tsr_find_class(in, &ClassTag<T>::tag, &type, error));
  Ref found(in, type);
  if (found.is_none()) throw ScriptError("TypeError", "the interpreter has no class for this type of the host's");
  return found;
}

template <class T>
tsr_value copy_to_script(tsr_interpreter* in, const T& object) {
  const Ref type = class_for<T>(in);
  auto copy = std::make_unique<T>(object);
  tsr_value made = tsr_none();
  ErrorSlot error;
  error.check(tsr_make_instance(in, type.value(), copy.get(), &drop_object<T>, &made, error));
  copy.release();
  return made;
}

}  // namespace detail

// An object that host and scripts share; nullptr is None. From a script only one that was shared with it.
template <class T>
struct Convert<std::shared_ptr<T>> {
  static std::shared_ptr<T> from(detail::Borrowed given) {
    if (given.value.kind == TSR_NONE) return nullptr;
    void* const owner = tsr_owner(given.value, &detail::ClassTag<T>::tag, &detail::drop_shared<T>);
    if (owner != nullptr) return *static_cast<std::shared_ptr<T>*>(owner);
    detail::host_object<T>(given);  // it is of the class at all
    throw ScriptError("TypeError", std::string("'") + tsr_type_name(given.value) + "' object is not a shared one");
  }
  static tsr_value to(tsr_interpreter* in, const std::shared_ptr<T>& object) {
    return object == nullptr ? tsr_none() : instance(in, detail::class_for<T>(in).value(), object);
  }
  static tsr_value instance(tsr_interpreter* in, tsr_value type, const std::shared_ptr<T>& object) {
    auto owner = std::make_unique<std::shared_ptr<T>>(object);
    tsr_value made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_make_owned_instance(in, type, object.get(), owner.get(), &detail::drop_shared<T>, &made, error));
    owner.release();
    return made;
  }
};

template <class T>
struct detail::ScriptType<std::shared_ptr<T>> {
  static std::string name(tsr_interpreter* in) { return ScriptType<T*>::name(in); }
};

template <class T>
class Class {
  static_assert(std::is_nothrow_destructible_v<T>, "nobody is there to catch what a destructor throws");

 public:
  // Its name is not set anywhere; Interpreter::add_class and Module::add_class do that.
  Class(tsr_interpreter* in, const char* name, const char* doc) {
    tsr_value made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_make_class(in, name, doc, &detail::ClassTag<T>::tag, &made, error));
    type_ = Ref(in, made);
  }

  const Ref& type() const { return type_; }

  // How scripts make instances: `make` gets the arguments behind self and answers a T or a std::unique_ptr<T>, which the
  // instance owns, or a std::shared_ptr<T>, which it shares.
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
    Ref made = instance(object.get(), &detail::drop_object<T>);
    object.release();
    return made;
  }
  // One that shares it. Instances of the same object are equal.
  Ref own(std::shared_ptr<T> object) const {
    return {type_.interpreter(), Convert<std::shared_ptr<T>>::instance(type_.interpreter(), type_.value(), object)};
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
      using Made = detail::plain_t<decltype(make(std::forward<P>(arguments)...))>;
      bool done = false;
      if constexpr (std::is_same_v<Made, std::shared_ptr<T>>) {
        auto owner = std::make_unique<std::shared_ptr<T>>(make(std::forward<P>(arguments)...));
        check_is_new(self, owner->get());  // `make` may have run a script
        done = tsr_set_owned_pointer(self.value(), owner->get(), owner.get(), &detail::drop_shared<T>);
        if (done) owner.release();
      } else {
        std::unique_ptr<T> object;
        if constexpr (std::is_same_v<Made, std::unique_ptr<T>>) object = make(std::forward<P>(arguments)...);
        else object = std::make_unique<T>(make(std::forward<P>(arguments)...));
        check_is_new(self, object.get());
        done = tsr_set_pointer(self.value(), object.get(), &detail::drop_object<T>);
        if (done) object.release();
      }
      if (!done) throw ScriptError("TypeError", "'" + self.type_name() + "' object is not of the host's class");
    };
    add<detail::HostFunction<decltype(fill), void(const Ref&, P...)>>(signature, "", fill);
  }

  // A script that calls __init__ again must not free the object, for one of its methods may be running.
  static void check_is_new(const Ref& self, const T* made) {
    check_is_new(self);
    if (made == nullptr) throw ScriptError("ValueError", "there is no object for '" + self.type_name() + "'");
  }
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
    detail::TypeCheck<typename Host::Signature>::check(in, Ref(in, probe));
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
    tsr_value made = tsr_none();
    detail::ErrorSlot error;
    error.check(tsr_make_instance(in, detail::class_for<T>(in).value(), object, nullptr, &made, error));
    return made;
  }
};

}  // namespace tessera
