// _weakref: references that do not hold, and proxies that act for their object as long as it is there.
// compile: small (seldom in an inner loop)
#include "lang/core/object_cast.h"
#include "lang/objects/weak.h"

#include "lang/objects/attribute.h"
#include "lang/core/bind.h"
#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/objects/exception.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

WeakReference* reference_of(const Value& v) { return object_cast<WeakReference>(v); }

std::string address_of(const Object* object) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", static_cast<const void*>(object));
  return text;
}

void destroy_reference(Interpreter& in, Object* object) {
  auto* reference = known_cast<WeakReference>(object);
  in.weak_references().remove(reference);
  free_object(in, reference);
}

void traverse_reference(Object* object, Visitor& visitor) { visitor(known_cast<WeakReference>(object)->callback); }

constexpr char kReferenceLayout[] = "weakref.ReferenceType";
bool is_reference(const Value& v) { return has_layout(v, kReferenceLayout); }

Value make_checked(Interpreter& in, Type* type, const Value& object, const Value& callback) {
  if (is_reference(object) && !(object.as_object()->type->type_flags & kScriptClass)) {
    throw_error(ErrorKind::TypeError, "cannot create weak reference to 'weakref.%s' object",
                std::string(type_name(in, object)).c_str());
  }
  return make_weak_reference(in, type, object, callback);
}

// --- ref

// One reference without a callback serves everybody.
Value shared_reference(Interpreter& in, const Type* type, const Value& object) {
  if (!object.is_object()) return Value();
  const auto* all = in.weak_references().find(object.as_object());
  if (all == nullptr) return Value();
  for (WeakReference* reference : *all) {
    if (reference->type == type && reference->callback.is_none() && reference->refcount != 0) return Value(reference);
  }
  return Value();
}

Value make_reference(Interpreter& in, Type* type, const Args& args) {
  const bool script_init = has_script_init(in, type);
  if (args.keyword_names != nullptr && !script_init)
    throw Error(ErrorKind::TypeError, "ref() takes no keyword arguments");
  const uint32_t given = args.positional();
  if (given < 1) throw Error(ErrorKind::TypeError, "__new__ expected at least 1 argument, got 0");
  if (given > 2 && !script_init)
    throw_error(ErrorKind::TypeError, "__new__ expected at most 2 arguments, got %u", given);
  const Value callback = given > 1 ? args[1] : Value::none();
  if (callback.is_none() && !(type->type_flags & kScriptClass)) {
    if (Value shared = shared_reference(in, type, args[0]); !shared.is_undefined()) return shared;
  }
  return make_checked(in, type, args[0], callback);
}

Value call_reference(Interpreter&, const Value& self, const Args& args) {
  if (args.count != 0) throw_error(ErrorKind::TypeError, "weakref expected 0 arguments, got %u", args.count);
  Value target = weak_target(reference_of(self));
  return target.is_undefined() ? Value::none() : target;
}

int64_t hash_reference(Interpreter& in, const Value& self) {
  WeakReference* reference = reference_of(self);
  if (reference->hashed) return reference->hash;
  const Value target = weak_target(reference);
  if (target.is_undefined()) throw Error(ErrorKind::TypeError, "weak object has gone away");
  reference->hash = hash(in, target);
  reference->hashed = true;
  return reference->hash;
}

// By their objects while both are there, by identity afterwards.
Value compare_references(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (!is_reference(other) || (op != CompareOp::Eq && op != CompareOp::Ne)) return in.not_implemented;
  const Value left = weak_target(reference_of(self)), right = weak_target(reference_of(other));
  if (left.is_undefined() || right.is_undefined()) return Value::boolean(self.is(other) == (op == CompareOp::Eq));
  return compare(in, op, left, right);
}

Value show_reference(Interpreter& in, const Value& self) {
  const Value target = weak_target(reference_of(self));
  const std::string head = "<weakref at " + address_of(self.as_object());
  if (target.is_undefined()) return make_str(in, head + "; dead>");
  std::string text = head + "; to '" + std::string(type_name(in, target)) + "' at " + address_of(target.as_object());
  const Value name = find_attr(in, target, intern(in, "__name__"));
  if (is_str(name)) text += " (" + std::string(text_of(name)) + ")";
  return make_str(in, text + ">");
}

Value callback_of(Interpreter&, const Args& args) { return reference_of(args[0])->callback; }

// --- proxies: every operation is the object's

Value target_of(Interpreter& in, const Value& proxy) {
  Value target = weak_target(reference_of(proxy));
  if (!target.is_undefined()) return target;
  throw Thrown(call(in, Value(error_type(in, ErrorKind::ReferenceError)),
                    {make_str(in, "weakly-referenced object no longer exists")}));
}

bool is_proxy(const Value& v) { return is_reference(v) && v.as_object()->type->slots.get_attr != nullptr; }

Value behind(Interpreter& in, const Value& v) { return is_proxy(v) ? target_of(in, v) : v; }

Value show_proxy(Interpreter& in, const Value& self) {
  const Value target = weak_target(reference_of(self));
  const Value shown = target.is_undefined() ? Value::none() : target;
  const Object* address = target.is_undefined() ? nullptr : target.as_object();
  return make_str(in, "<weakproxy at " + address_of(self.as_object()) + " to " + std::string(type_name(in, shown)) +
                          " at " + address_of(address) + ">");
}

void fill_proxy_slots(TypeSlots& slots) {
  slots.repr = show_proxy;
  slots.hash = nullptr;
  slots.str = [](Interpreter& in, const Value& self) { return str(in, target_of(in, self)); };
  slots.format = [](Interpreter& in, const Value& self, std::string_view spec) {
    return format(in, target_of(in, self), spec);
  };
  slots.truth = [](Interpreter& in, const Value& self) { return truth(in, target_of(in, self)); };
  slots.length = [](Interpreter& in, const Value& self) { return length(in, target_of(in, self)); };
  slots.compare = [](Interpreter& in, CompareOp op, const Value& self, const Value& other) {
    return compare(in, op, target_of(in, self), behind(in, other));
  };
  slots.binary = [](Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
    return reflected ? binary(in, op, behind(in, other), target_of(in, self))
                     : binary(in, op, target_of(in, self), behind(in, other));
  };
  slots.inplace = [](Interpreter& in, BinaryOp op, const Value& self, const Value& other) {
    return inplace(in, op, target_of(in, self), behind(in, other));
  };
  slots.unary = [](Interpreter& in, UnaryOp op, const Value& self) { return unary(in, op, target_of(in, self)); };
  slots.get_item = [](Interpreter& in, const Value& self, const Value& key) {
    return get_item(in, target_of(in, self), key);
  };
  slots.set_item = [](Interpreter& in, const Value& self, const Value& key, const Value& value) {
    set_item(in, target_of(in, self), key, value);
  };
  slots.del_item = [](Interpreter& in, const Value& self, const Value& key) { del_item(in, target_of(in, self), key); };
  slots.contains = [](Interpreter& in, const Value& self, const Value& item) {
    return contains(in, target_of(in, self), item);
  };
  slots.iter = [](Interpreter& in, const Value& self) { return iter(in, target_of(in, self)); };
  slots.next = [](Interpreter& in, const Value& self, Value& out) {
    const Value target = target_of(in, self);
    if (type_of(in, target)->slots.next == nullptr) {
      throw_error(ErrorKind::TypeError, "Weakref proxy referenced a non-iterator '%s' object",
                  std::string(type_name(in, target)).c_str());
    }
    return next(in, target, out);
  };
  slots.get_attr = [](Interpreter& in, const Value& self, Str* name) {
    return get_attr(in, target_of(in, self), name);
  };
  slots.set_attr = [](Interpreter& in, const Value& self, Str* name, const Value& value) {
    if (value.is_undefined()) del_attr(in, target_of(in, self), name);
    else set_attr(in, target_of(in, self), name, value);
  };
}

// A method that the slots have no place for: the object's own of that name.
Value forward(Interpreter& in, const Args& args) {
  return call(in, get_attr(in, target_of(in, args[0]), args.callee->name));
}

constexpr NativeDef kForwarded[] = {
    {"__index__(self, /)", forward}, {"__int__(self, /)", forward},      {"__float__(self, /)", forward},
    {"__abs__(self, /)", forward},   {"__reversed__(self, /)", forward},
};

Type* reference_type(Interpreter& in, const char* name, uint32_t flags) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "weakref";
  spec.kind = ObjectKind::Native;
  spec.size = sizeof(WeakReference);
  spec.flags = flags;
  Type* type = in.new_type(spec);
  type->slots.layout = kReferenceLayout;
  type->slots.destroy = destroy_reference;
  type->slots.traverse = traverse_reference;
  return type;
}

Value proxy(Interpreter& in, const Args& args) {
  const bool callable = is_callable(in, args[0]);
  Type* type = in.named_type(callable ? "CallableProxyType" : "ProxyType");
  if (args[1].is_none()) {
    if (Value shared = shared_reference(in, type, args[0]); !shared.is_undefined()) return shared;
  }
  return make_checked(in, type, args[0], args[1]);
}

Value count_references(Interpreter& in, const Args& args) {
  const auto* all = args[0].is_object() ? in.weak_references().find(args[0].as_object()) : nullptr;
  return Value::integer(all == nullptr ? 0 : static_cast<int64_t>(all->size()));
}

Value list_references(Interpreter& in, const Args& args) {
  const auto* all = args[0].is_object() ? in.weak_references().find(args[0].as_object()) : nullptr;
  Value list = make_list(in);
  if (all == nullptr) return list;
  for (WeakReference* reference : std::vector<WeakReference*>(*all)) list_append(in, as_list(list), Value(reference));
  return list;
}

}  // namespace

void fill_weakref(Interpreter& in, Module& module) {
  Type* reference = reference_type(in, "ReferenceType", 0);
  reference->make = make_reference;
  reference->slots.call = call_reference;
  reference->slots.hash = hash_reference;
  reference->slots.compare = compare_references;
  reference->slots.repr = show_reference;
  in.add_member(reference, "__callback__", callback_of);
  in.add_methods(reference, &kClassGetItem, 1);
  Type* plain = reference_type(in, "ProxyType", kFinalType | kForwardsClass);
  Type* callable = reference_type(in, "CallableProxyType", kFinalType | kForwardsClass);
  for (Type* type : {plain, callable}) {
    fill_proxy_slots(type->slots);
    in.add_methods(type, kForwarded, std::size(kForwarded));
  }
  callable->slots.call = [](Interpreter& in2, const Value& self, const Args& args) {
    return call(in2, target_of(in2, self), args);
  };
  for (Type* type : {reference, plain, callable}) set_member(in, module, type->name->view(), Value(type));
  set_member(in, module, "ref", Value(reference));
  in.def(module, "proxy(object, callback=None, /)", "Acts for the object without holding it.", proxy);
  in.def(module, "getweakrefcount(object, /)", "How many weak references there are to the object.", count_references);
  in.def(module, "getweakrefs(object, /)", "The weak references to the object.", list_references);
}

}  // namespace tessera::stdlib
