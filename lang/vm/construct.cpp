// Calls of classes: an __init__ of a script runs as a frame like any other, and its instance waits in the frame.
#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/types/tuple.h"
#include "lang/vm/call.h"
#include "lang/vm/steps.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

bool is_native(const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::NativeFunction; }

// The function whose frame makes an instance of the class, as any other call does: its __init__. Null: the type's own way.
Function* constructor(Interpreter& in, Type* type) {
  const bool plain_call = type->type->slots.call == in.types.type->slots.call;  // no __call__ of a metaclass
  if (!plain_call || (type->type_flags & (kScriptClass | kAbstract)) != kScriptClass || type->make != nullptr) return nullptr;
  if (type->constructor_version == type->version) [[likely]]
    return type->constructor;
  const Value& init = type_lookup(type, in.names->init);
  const bool plain = is_function(init) && type_lookup(type, in.names->new_).is(type_lookup(in.types.object, in.names->new_));
  type->constructor = plain ? as_function(init) : nullptr;
  if (type->version != kForgotten) type->constructor_version = type->version;
  return type->constructor;
}

// An instance for an __init__ that is a frame, with room for the attributes that the class's first one was given. Most classes add nothing
// to the layout: all of it is known here then.
Value make_roomy_instance(Interpreter& in, Type* type) {
  constexpr size_t kMostRoom = 16;
  Instance* instance;
  if (type->instance_size == sizeof(Instance) && type->instance_kind == ObjectKind::Instance) [[likely]] {
    in.collector().make_room();
    assert(type->structure == nullptr || type->structure == &structure_of<Instance>);
    type->structure = &structure_of<Instance>;
    instance = new (in.heap.allocate(sizeof(Instance))) Instance;
    instance->refcount = 1;
    instance->kind = ObjectKind::Instance;
    instance->flags = 0;
    instance->aux = 0;
    instance->type = type;
    ++type->refcount;
    in.collector().track_in_room(instance);
  } else {
    instance = make_object<Instance>(in, type);
  }
  Value made = Value::adopt(instance);
  const size_t keys = type->instance_keys.size();
  if (keys != 0 && keys <= kMostRoom) {
    Attributes& attributes = instance->attributes;
    attributes.values = static_cast<Value*>(in.heap.allocate(keys * sizeof(Value)));
    attributes.capacity = static_cast<uint32_t>(keys);
    for (size_t i = 0; i < keys; ++i) new (attributes.values + i) Value();
  }
  return made;
}

// Does the native base of the class, a script's, make its instances, all of them of that class? So do those of lists, dicts, sets and
// exceptions where no __new__ in script comes before theirs.
bool is_made_by_base(Interpreter& in, const Type* type) {
  const bool plain_call = type->type->slots.call == in.types.type->slots.call;
  if (!plain_call || (type->type_flags & (kScriptClass | kAbstract)) != kScriptClass || type->make == nullptr) return false;
  const ObjectKind kind = type->instance_kind;
  if (kind != ObjectKind::Exception && kind != ObjectKind::List && kind != ObjectKind::Dict && kind != ObjectKind::Set) return false;
  const Value& made = type_lookup(type, in.names->new_);
  const bool wrapped = made.is_object() && made.as_object()->kind == ObjectKind::StaticMethod;
  return is_native_new(wrapped ? known_cast<StaticMethod>(made)->function : made);
}

// Has the native __init__ of such a class nothing to add? An exception has its arguments from the start, and a container is empty.
bool is_complete_when_made(const Type* type, const Value& init, uint32_t count) {
  const Type* const owner = is_native(init) ? known_cast<NativeFunction>(init)->owner : nullptr;
  return owner != nullptr && !(owner->type_flags & kScriptClass) && (count == 0 || type->instance_kind == ObjectKind::Exception);
}

}  // namespace

// The instance that `make` returns, which may be a failure, becomes the answer of the call of `type`.
template <class Make>
inline Frame* VirtualMachine::finish_construct(const Type* type, Value* window, uint32_t count, uint32_t result, const Make& make) {
  Frame* const caller = top_;
  Value answer;
  if (!catches([&] { answer = make(); })) return nullptr;
  if (is_failure(answer)) [[unlikely]] {
    raise_next(take_failure(answer));
    return nullptr;
  }
  drop(window, count);
  if (window[-1].is_object() && window[-1].as_object() == type) window[-1] = Value();  // the callee's register
  caller->registers[result] = std::move(answer);
  return nullptr;
}

// A class without __new__ of its own and with an __init__ in script: its frame runs as any other.
Frame* VirtualMachine::begin_construct(Type* type, Value* window, uint32_t count, const Tuple* keywords,
                                       uint32_t result) {
  Frame* const caller = top_;
  if (!(type->type_flags & kScriptClass)) return begin_native_construct(type, window, count, keywords, result);
  Function* const init = constructor(in_, type);
  if (init != nullptr && keywords == nullptr && caller->generator == nullptr) {
    if (begins_at_once(init->code, window - 1, count + 1)) [[likely]] {
      Value instance = make_roomy_instance(in_, type);
      window[-1] = instance;
      Frame* const next = push_frame(init, window - 1, count + 1, FrameKind::Constructor, result, caller);
      ++init->refcount;
      next->constructed = std::move(instance);
      return next;
    }
  }
  return begin_construct_otherwise(type, init, window, count, keywords, result);
}

[[gnu::noinline]] Frame* VirtualMachine::begin_native_construct(Type* type, Value* window, uint32_t count, const Tuple* keywords,
                                                                uint32_t result) {
  if (keywords == nullptr) {
    Value made;
    if (type->short_make != nullptr && count == 1 && type->short_make(in_, window, made)) window[0] = Value();
    else if (type->type_flags & kPlainException) made = make_exception(in_, type, make_tuple_moving(in_, window, count));
    if (!made.is_undefined()) {
      if (window[-1].is_object() && window[-1].as_object() == type) window[-1] = Value();  // the callee's register
      top_->registers[result] = std::move(made);
      return nullptr;
    }
  }
  return begin_construct_otherwise(type, nullptr, window, count, keywords, result);
}

[[gnu::noinline]] Frame* VirtualMachine::begin_construct_otherwise(Type* type, Function* init, Value* window, uint32_t count,
                                                                   const Tuple* keywords, uint32_t result) {
  const Args args{window, count, keywords};
  // type(name, bases, namespace) has an __init__ to run beside.
  bool native = !(type->type_flags & kScriptClass) && type->make != nullptr && (type != in_.types.type || count < 3);
  if (native) [[likely]]
    return finish_construct(type, window, count, result, [&] { return type->make.answer(in_, type, args); });
  Value instance, kept;
  if (init != nullptr) {
    instance = make_roomy_instance(in_, type);
  } else if (is_made_by_base(in_, type)) {
    const Value& found = type_lookup(type, in_.names->init);
    native = is_complete_when_made(type, found, count);
    if (is_function(found)) {
      kept = found;
      init = as_function(kept);
      if (!catches([&] { instance = type->make(in_, type, args); })) return nullptr;
    }
  }
  if (init != nullptr) {
    window[-1] = instance;
    Value unused;
    Frame* next =
        begin_function(init, window - 1, window - 1, count + 1, keywords, FrameKind::Constructor, result, unused);
    if (next == nullptr) {
      if (is_raising()) return nullptr;
      throw_error(ErrorKind::TypeError, "__init__() should return None, not '%s'",
                  std::string(type_name(in_, unused)).c_str());
    }
    next->constructed = std::move(instance);
    return next;
  }
  return finish_construct(type, window, count, result,
                          [&] { return native ? type->make.answer(in_, type, args) : call(in_, Value(type), args); });
}

}  // namespace tessera::lang
