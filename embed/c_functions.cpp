// Functions, classes and modules of the host's, and the main module's names (tessera_c.h).
#include <cstring>
#include <string>
#include <utility>

#include "embed/handles.h"
#include "embed/host_class.h"
#include "embed/host_signature.h"
#include "lang/builtins/builtins.h"
#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "runtime/context.h"
#include "stdlib/torch/state.h"

using namespace tessera;
using namespace tessera::embed;
using lang::Args;
using lang::Interpreter;
using lang::NativeFunction;
using lang::Object;
using lang::Value;

namespace {

// What a native function of the host's has as its data. The host's texts may go after the call that gave them.
struct Closure {
  tsr_interpreter* shell;
  tsr_function function;
  void* user;
  tsr_drop drop;
  std::string doc;

  Closure(tsr_interpreter* s, tsr_function f, void* u, tsr_drop d, const char* text)
      : shell(s), function(f), user(u), drop(d), doc(text == nullptr ? "" : text) {
    if (shell != nullptr) retain(shell);  // null: the call that wanted it is refused, and drop is owed all the same
  }
  Closure(const Closure&) = delete;
  ~Closure() {
    if (drop != nullptr) drop(user);
    if (shell != nullptr) release(shell);
  }
};

// The arguments of one call as the host sees them; what it did not keep goes with the call.
class HostArguments {
 public:
  HostArguments(tsr_interpreter* shell, const Args& args) : count_(args.count) {
    if (count_ > kFew) many_ = std::make_unique<tsr_value[]>(count_);
    for (size_t i = 0; i < count_; ++i) data()[i] = to_host(shell, args[static_cast<uint32_t>(i)]);
  }
  HostArguments(const HostArguments&) = delete;
  ~HostArguments() {
    for (size_t i = 0; i < count_; ++i) tsr_release(data()[i]);
  }
  tsr_value* data() { return many_ != nullptr ? many_.get() : few_; }

 private:
  static constexpr size_t kFew = 8;
  size_t count_;
  tsr_value few_[kFew];
  std::unique_ptr<tsr_value[]> many_;
};

Value answer_of(Closure& closure, const Args& args) {
  tsr_interpreter* const shell = closure.shell;
  running(shell);  // a callback of the very end finds none
  HostArguments arguments(shell, args);
  tsr_value result = tsr_none();
  if (closure.function(closure.user, shell, arguments.data(), args.count, &result)) return take_value(shell, result);
  Value raised = std::exchange(shell->raised, Value());
  if (raised.is_undefined())
    throw lang::Error(lang::ErrorKind::RuntimeError, "a function of the host failed without saying why");
  throw lang::Thrown(std::move(raised));
}

// Around a function of the host, which may hand tensors to other threads: what waits on this thread runs before, and nothing waits inside.
class WithoutWaiting {
 public:
  explicit WithoutWaiting(tensor::Context& context)
      : context_(context), before_(std::exchange(context.fuses_from, tensor::Context::kNever)) {
    tensor::PendingLaunches::try_flush();
  }
  WithoutWaiting(const WithoutWaiting&) = delete;
  ~WithoutWaiting() { context_.fuses_from = before_; }

 private:
  tensor::Context& context_;
  const int64_t before_;
};

// Operations that the host's function does belong to the interpreter that calls it, once that has tensors at all.
Value call_host(Interpreter& in, const Args& args) {
  Closure& closure = *static_cast<Closure*>(args.callee->data);
  try {
    if (in.extension == nullptr) return answer_of(closure, args);
    tensor::Context& context = stdlib::torch_state(in).context;
    const tensor::ContextScope scope(context);
    const WithoutWaiting without(context);
    return answer_of(closure, args);
  } catch (const UsageError& usage) {
    throw lang::Error(lang::ErrorKind::RuntimeError, usage.message);
  }
}

void drop_closure(void* data) { delete static_cast<Closure*>(data); }

// With its signature read, for a mistake in it is the host's and is to be heard at once.
Value new_host_function(Interpreter& in, std::unique_ptr<Closure> closure, const char* signature, bool method = false) {
  if (closure->function == nullptr) throw UsageError{"a function that is NULL"};
  const lang::Signature* const read = host_signature(closure->shell, signature, method);
  const Value made = in.new_function(read->text.c_str(), "", call_host, closure.get(), drop_closure);
  closure.release();
  auto* const native = object_cast<NativeFunction>(made);
  native->describe = [](const NativeFunction* self) { return static_cast<const Closure*>(self->data)->doc; };
  native->signature = read;
  native->text = nullptr;
  return made;
}

// Also when the function is not made, the host hears that it may free what it gave.
std::unique_ptr<Closure> new_closure(tsr_interpreter* shell, tsr_function function, void* user, tsr_drop drop,
                                     const char* doc) {
  return std::make_unique<Closure>(shell, function, user, drop, doc);
}

lang::Type* class_of(const tsr_interpreter* shell, tsr_value class_) {
  const Value value = to_value(shell, class_);
  if (!lang::is_type(value)) throw UsageError{"the value is no class"};
  return lang::as_type(value);
}

// From then on `self` is checked.
NativeFunction* as_method(Interpreter& in, const Value& function, lang::Type* type) {
  auto* const native = object_cast<NativeFunction>(function);
  lang::own_method(in, native, type);
  return native;
}

// --- instances

HostInstance* instance_of(tsr_value value) {
  if (value.kind != TSR_OBJECT || value.as.object == nullptr || !is_host_instance(value.as.object->value))
    return nullptr;
  return object_cast<HostInstance>(value.as.object->value);
}

void let_go(HostInstance* instance) {
  void* const pointer = std::exchange(instance->pointer, nullptr);
  void* const owner = std::exchange(instance->owner, nullptr);
  if (pointer != nullptr && instance->drop != nullptr) instance->drop(owner);
}

void hold(HostInstance* instance, void* pointer, void* owner, tsr_drop drop) {
  instance->pointer = pointer;
  instance->owner = owner;
  instance->drop = drop;
}

// Two instances are equal that stand for the same object of the host's.
Value compare_instances(Interpreter& in, lang::CompareOp op, const Value& self, const Value& other) {
  if ((op != lang::CompareOp::Eq && op != lang::CompareOp::Ne) || !is_host_instance(other)) return in.not_implemented;
  const auto* const a = object_cast<const HostInstance>(self);
  const auto* const b = object_cast<const HostInstance>(other);
  const bool same = a == b || (a->pointer != nullptr && a->pointer == b->pointer && a->tag == b->tag);
  return Value::boolean(same == (op == lang::CompareOp::Eq));
}

int64_t hash_instance(Interpreter&, const Value& self) {
  const auto* const instance = object_cast<const HostInstance>(self);
  const void* const at = instance->pointer != nullptr ? instance->pointer : instance;
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(at) >> 4);
}

void destroy_instance(Interpreter& in, Object* self) {
  auto* const instance = known_cast<HostInstance>(self);
  let_go(instance);
  lang::free_object(in, instance);
}

const void* tag_of(const Interpreter& in, const lang::Type* type) {
  for (lang::Type* base : type->mro) {
    if (const Value* tag = lang::dict_get_str(base->attributes(), in.names->host_tag))
      return reinterpret_cast<const void*>(tag->as_int());
  }
  return nullptr;
}

// A class without an __init__ of its own has instances of the host's making only.
Value make_instance(Interpreter& in, lang::Type* type, const Args&) {
  if (lang::type_lookup(type, in.names->init).is(lang::type_lookup(in.types.object, in.names->init)))
    throw lang::Error(lang::ErrorKind::TypeError, "cannot create '" + std::string(type->name->view()) + "' instances");
  auto* const instance = lang::make_object<HostInstance>(in, type);
  instance->tag = tag_of(in, type);
  return Value::adopt(instance);
}

lang::Type* host_base(tsr_interpreter* shell) {
  if (shell->host_base != nullptr) return shell->host_base;
  lang::NativeTypeSpec spec;
  spec.name = "HostObject";
  spec.module = "builtins";
  spec.size = sizeof(HostInstance);
  lang::Type* const type = shell->in->new_type(spec);
  type->slots.layout = kHostLayout;
  type->slots.destroy = destroy_instance;
  type->slots.compare = compare_instances;
  type->slots.hash = hash_instance;
  type->make = make_instance;
  return shell->host_base = type;
}

}  // namespace

// --- data of the host's

void tsr_set_data(tsr_interpreter* shell, const void* key, void* data, tsr_drop drop) {
  if (shell == nullptr || shell->in == nullptr) {
    if (data != nullptr && drop != nullptr) drop(data);
    return;
  }
  for (auto& entry : shell->data) {
    if (entry.key != key) continue;
    const auto before = std::exchange(entry, {key, data, drop});
    if (before.data != nullptr && before.drop != nullptr) before.drop(before.data);
    return;
  }
  shell->data.push_back({key, data, drop});
}

void* tsr_get_data(const tsr_interpreter* shell, const void* key) {
  if (shell == nullptr) return nullptr;
  for (const auto& entry : shell->data)
    if (entry.key == key) return entry.data;
  return nullptr;
}

// --- raising

namespace {

// A class of exceptions by its name: a builtin, one of the main module, or "module.Class". None: there is none.
Value exception_class(Interpreter& in, std::string_view name) {
  const size_t dot = name.rfind('.');
  const Value* found = nullptr;
  if (dot == name.npos) {
    lang::Str* const interned = lang::intern(in, name);
    found = lang::find_builtin(in, interned);
    if (found == nullptr) found = lang::dict_get_str(in.main_module()->dict, interned);
  } else if (const Value* const module = lang::dict_get_text(in.modules().table(), name.substr(0, dot));
             module != nullptr && module->is_object() && module->as_object()->kind == lang::ObjectKind::Module) {
    found = lang::dict_get_text(object_cast<lang::Module>(*module)->dict, name.substr(dot + 1));
  }
  const bool known = found != nullptr && lang::is_type(*found) &&
                     lang::as_type(*found)->is_subtype_of(lang::error_type(in, lang::ErrorKind::BaseException));
  return known ? *found : Value::none();
}

}  // namespace

void tsr_raise(tsr_interpreter* shell, const char* class_name, const char* message) {
  if (shell == nullptr || shell->in == nullptr) return;
  if (class_name == nullptr) class_name = "RuntimeError";
  if (message == nullptr) message = "";
  try {
    Interpreter& in = running(shell);
    const Value type = exception_class(in, class_name);
    const Value text = lang::make_str_lossy(in, message);
    shell->raised = !type.is_none() ? lang::call(in, type, {text})
                                    : lang::make_exception(in, lang::ErrorKind::RuntimeError,
                                                           std::string(class_name) + ": " + std::string(message));
  } catch (const std::exception&) {
    shell->raised = lang::current_native_exception(*shell->in);
  }
}

void tsr_raise_value(tsr_interpreter* shell, tsr_value exception) {
  if (shell == nullptr || shell->in == nullptr) return;
  try {
    shell->raised = lang::instantiate_exception(*shell->in, to_value(shell, exception));
  } catch (const UsageError& usage) {
    tsr_raise(shell, "RuntimeError", usage.message.c_str());
  } catch (const std::exception&) {
    shell->raised = lang::current_native_exception(*shell->in);
  }
}

void tsr_raise_error(tsr_interpreter* shell, const tsr_error* error) {
  if (shell == nullptr || error == nullptr) return;
  if (error->number != 0 && error->number == shell->last_number) shell->raised = shell->last;
  else tsr_raise(shell, error->class_name.c_str(), error->message.c_str());
}

// --- functions and classes

bool tsr_make_function(tsr_interpreter* shell, const char* signature, const char* doc, tsr_function function,
                       void* user, tsr_drop drop, tsr_value* out, tsr_error** error) {
  auto closure = new_closure(shell, function, user, drop, doc);
  return guarded(shell, error,
                 [&](Interpreter& in) { *out = to_host(shell, new_host_function(in, std::move(closure), signature)); });
}

static const lang::Signature* signature_in(tsr_value function) {
  if (function.kind != TSR_OBJECT || function.as.object == nullptr || !function.as.object->value.is_object())
    return nullptr;
  const Value& value = function.as.object->value;
  if (value.as_object()->kind != lang::ObjectKind::NativeFunction) return nullptr;
  return object_cast<NativeFunction>(value)->signature;
}

size_t tsr_parameter_count(tsr_value function) {
  const lang::Signature* const read = signature_in(function);
  return read == nullptr ? 0 : read->parameters.size();
}

bool tsr_check_types(tsr_interpreter* shell, tsr_value function, const char* const* types, size_t count,
                     tsr_error** error) {
  return guarded(shell, error, [&](Interpreter&) {
    const lang::Signature* const read = signature_in(function);
    if (read == nullptr) throw UsageError{"the value is no function of the host's"};
    if (types == nullptr) throw UsageError{"a list that is NULL"};
    for (size_t i = 0; i < count; ++i) name_of(types[i]);
    check_types(shell, *read, types, count);
  });
}

bool tsr_make_class(tsr_interpreter* shell, const char* name, const char* doc, const void* tag, tsr_value* out,
                    tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    check_identifier("class", name_of(name));
    const Value bases = lang::make_tuple(in, {Value(host_base(shell))});
    const Value names = lang::make_dict(in);
    lang::dict_set_str(in, lang::as_dict(names), in.names->module, lang::make_str(in, "__main__"));
    lang::dict_set_str(in, lang::as_dict(names), in.names->doc, lang::make_str_lossy(in, doc == nullptr ? "" : doc));
    lang::dict_set_str(in, lang::as_dict(names), in.names->host_tag, Value::integer(reinterpret_cast<int64_t>(tag)));
    const Value made = lang::make_class(in, in.types.type, lang::intern(in, name_of(name)), bases, names, Value::none());
    *out = to_host(shell, made);
    std::erase_if(shell->host_classes, [&](const auto& known) { return known.first == tag; });
    shell->host_classes.emplace_back(tag, made);
  });
}

bool tsr_find_class(tsr_interpreter* shell, const void* tag, tsr_value* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter&) {
    *out = tsr_none();
    for (const auto& [known, type] : shell->host_classes)
      if (known == tag) *out = to_host(shell, type);
  });
}

bool tsr_add_method(tsr_interpreter* shell, tsr_value class_, const char* signature, const char* doc,
                    tsr_function function, void* user, tsr_drop drop, tsr_error** error) {
  auto closure = new_closure(shell, function, user, drop, doc);
  return guarded(shell, error, [&](Interpreter& in) {
    lang::Type* const type = class_of(shell, class_);
    const Value made = new_host_function(in, std::move(closure), signature, true);
    lang::set_type_attribute(in, type, as_method(in, made, type)->name, made);
  });
}

bool tsr_add_property(tsr_interpreter* shell, tsr_value class_, const char* name, const char* doc, tsr_function get,
                      tsr_function set, void* user, tsr_drop drop, tsr_error** error) {
  auto getter = new_closure(shell, get, user, drop, doc);
  return guarded(shell, error, [&](Interpreter& in) {
    lang::Type* const type = class_of(shell, class_);
    const std::string text = name_of(name);
    check_identifier("property", text);
    const Value reads = new_host_function(in, std::move(getter), (text + "(self)").c_str());
    as_method(in, reads, type);
    Value writes = Value::none();
    if (set != nullptr) {
      // The getter's closure, which the property keeps as well, owns what the host gave.
      writes = new_host_function(in, new_closure(shell, set, user, nullptr, doc), (text + "(self, value)").c_str());
      as_method(in, writes, type);
    }
    lang::Str* const interned = lang::intern(in, name);
    const Value property = lang::make_native_property(in, in.types.getset_descriptor, type, interned, reads, writes, Value::none(),
                                                      lang::make_str_lossy(in, doc == nullptr ? "" : doc));
    lang::set_type_attribute(in, type, interned, property);
  });
}

bool tsr_make_instance(tsr_interpreter* shell, tsr_value class_, void* pointer, tsr_drop drop, tsr_value* out,
                       tsr_error** error) {
  return tsr_make_owned_instance(shell, class_, pointer, pointer, drop, out, error);
}

bool tsr_make_owned_instance(tsr_interpreter* shell, tsr_value class_, void* pointer, void* owner, tsr_drop drop,
                             tsr_value* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    lang::Type* const type = class_of(shell, class_);
    if (shell->host_base == nullptr || !type->is_subtype_of(shell->host_base))
      throw UsageError{"the class is not one of tsr_make_class"};
    auto* const instance = lang::make_object<HostInstance>(in, type);
    const Value made = Value::adopt(instance);
    instance->tag = tag_of(in, type);
    *out = to_host(shell, made);
    hold(instance, pointer, owner, drop);
  });
}

bool tsr_set_pointer(tsr_value value, void* pointer, tsr_drop drop) {
  return tsr_set_owned_pointer(value, pointer, pointer, drop);
}

bool tsr_set_owned_pointer(tsr_value value, void* pointer, void* owner, tsr_drop drop) {
  HostInstance* const instance = instance_of(value);
  if (instance == nullptr) return false;
  let_go(instance);
  hold(instance, pointer, owner, drop);
  return true;
}

void* tsr_owner(tsr_value value, const void* tag, tsr_drop drop) {
  const HostInstance* const instance = instance_of(value);
  return instance != nullptr && instance->tag == tag && instance->drop == drop ? instance->owner : nullptr;
}

void* tsr_pointer(tsr_value value, const void* tag) {
  const HostInstance* const instance = instance_of(value);
  return instance != nullptr && instance->tag == tag ? instance->pointer : nullptr;
}

// --- names

bool tsr_get_name(tsr_interpreter* shell, const char* name, tsr_value* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    lang::Str* const interned = lang::intern(in, name_of(name));
    const Value* const found = lang::dict_get_str(in.main_module()->dict, interned);
    if (found == nullptr) lang::throw_name_error(in, interned);
    *out = to_host(shell, *found);
  });
}

bool tsr_set_name(tsr_interpreter* shell, const char* name, tsr_value value, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    lang::dict_set_str(in, in.main_module()->dict, lang::intern(in, name_of(name)), to_value(shell, value));
  });
}

bool tsr_has_name(tsr_interpreter* shell, const char* name) {
  return shell != nullptr && shell->in != nullptr && name != nullptr &&
         lang::dict_get_text(shell->in->main_module()->dict, name) != nullptr;
}

bool tsr_delete_name(tsr_interpreter* shell, const char* name, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    lang::Str* const interned = lang::intern(in, name_of(name));
    if (!lang::dict_delete_str(in, in.main_module()->dict, interned)) lang::throw_name_error(in, interned);
  });
}

bool tsr_module(tsr_interpreter* shell, const char* name, const char* doc, tsr_value* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    if (const Value* found = lang::dict_get_text(in.modules().table(), name_of(name))) {
      *out = to_host(shell, *found);
      return;
    }
    const Value module = Value::adopt(in.new_module(name));
    if (doc != nullptr) lang::set_attr(in, module, in.names->doc, lang::make_str_lossy(in, doc));
    lang::dict_set_str(in, in.modules().table(), lang::intern(in, name), module);
    *out = to_host(shell, module);
  });
}

bool tsr_import(tsr_interpreter* shell, const char* name, tsr_value* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    lang::Module* const main = in.main_module();  // which there is from now on, if it is what is meant
    hand_over(shell, Value(std::strcmp(name_of(name), "__main__") == 0 ? main : in.import(name)), out);
  });
}
