// _threads, the native part of _thread: threads by function, their numbers, and attributes of their own.
// compile: small (the system calls take longer)
#include <algorithm>

#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/threads.h"
#include "lang/vm/vm.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

using lang::Thread;

Value start_thread(Interpreter& in, const Args& args) {
  if (!is_callable(in, args[0])) throw Error(ErrorKind::TypeError, "first arg must be callable");
  if (!is_tuple(args[1])) throw Error(ErrorKind::TypeError, "2nd arg must be a tuple");
  if (!args[2].is_undefined() && !is_dict(args[2]))
    throw Error(ErrorKind::TypeError, "optional 3rd arg must be a dictionary");
  return Value::integer(static_cast<int64_t>(in.threads().start(args[0], args[1], args[2]).ident()));
}

Value ident(Interpreter& in, const Args&) {
  return Value::integer(static_cast<int64_t>(in.threads().current().ident()));
}
Value native_id(Interpreter& in, const Args&) { return Value::integer(in.threads().current().native_id()); }
Value main_ident(Interpreter& in, const Args&) {
  return Value::integer(static_cast<int64_t>(in.threads().main().ident()));
}
Value count(Interpreter& in, const Args&) { return Value::integer(static_cast<int64_t>(in.threads().count())); }

Value exit_thread(Interpreter& in, const Args&) {
  throw lang::Thrown(make_exception(in, error_type(in, ErrorKind::SystemExit), make_tuple(in, nullptr, 0)));
}

Value stack_size(Interpreter& in, const Args& args) {
  constexpr int64_t kLeast = 32 << 10;
  const int64_t size = int_argument(in, args[0]), before = static_cast<int64_t>(in.threads().stack_bytes());
  if (size < 0) throw Error(ErrorKind::ValueError, "size must be 0 or a positive value");
  if (size != 0 && size < kLeast) throw_error(ErrorKind::ValueError, "size not valid: %lld bytes", static_cast<long long>(size));
  in.threads().set_stack_bytes(static_cast<size_t>(size));
  return Value::integer(before);
}

Value switch_interval(Interpreter& in, const Args&) { return Value::real(in.threads().interval()); }

Value set_switch_interval(Interpreter& in, const Args& args) {
  const double seconds = real_argument(in, args[0]);
  if (!(seconds > 0)) throw Error(ErrorKind::ValueError, "switch interval must be strictly positive");
  in.threads().set_interval(std::min(seconds, 1e6));
  return Value::none();
}

// Calls `function` when the running thread has ended.
Value call_at_end(Interpreter& in, const Args& args) {
  in.threads().current().on_end = args[0];
  return Value::none();
}

// A dict that belongs to the running thread.
Value own_dict(Interpreter& in, const Args&) {
  Value& locals = in.threads().current().locals;
  if (locals.is_undefined()) locals = make_dict(in);
  return locals;
}

// What the frames of a thread handle, the innermost of those that handle something first.
Value handled_by(const lang::Frame* frame) {
  for (; frame != nullptr; frame = lang::calling_frame(*frame)) {
    if (frame->handled != lang::kNoRegister && is_exception(frame->registers[frame->handled])) return frame->registers[frame->handled];
  }
  return Value::none();
}

Value all_exceptions(Interpreter& in, const Args&) {
  const Value exceptions = make_dict(in);
  for (Thread* thread : in.threads().all()) {
    const lang::Frame* const frame = thread == &in.threads().current() ? in.vm().top() : thread->top();
    if (frame == nullptr) continue;
    dict_set(in, as_dict(exceptions), Value::integer(static_cast<int64_t>(thread->ident())), handled_by(frame));
  }
  return exceptions;
}

Value all_frames(Interpreter& in, const Args&) {
  const Value frames = make_dict(in);
  for (Thread* thread : in.threads().all()) {
    const lang::Frame* const frame = thread == &in.threads().current() ? in.vm().top() : thread->top();
    if (frame == nullptr) continue;
    dict_set(in, as_dict(frames), Value::integer(static_cast<int64_t>(thread->ident())), frame_object(in, *frame));
  }
  return frames;
}

// --- local: the dict of its attributes is exchanged for that of the running thread before each use.

struct Local : lang::GcObject {
  Value arguments, names;
  int64_t number = 0;
  Thread* shown = nullptr;  // whose attributes are in place
};

Local* local_of(const Value& v) { return object_cast<Local>(v); }

void show_own(Interpreter& in, const Value& self) {
  Local* const local = local_of(self);
  Thread& thread = in.threads().current();
  if (local->shown == &thread) return;
  const Value dicts = own_dict(in, Args{});
  const Value key = Value::integer(local->number);
  Value own;
  if (const Value* found = dict_get(in, as_dict(dicts), key)) own = *found;
  const bool fresh = own.is_undefined();
  if (fresh) {
    own = make_dict(in);
    dict_set(in, as_dict(dicts), key, own);
  }
  set_attributes_dict(in, local, as_dict(own));
  local->shown = &thread;
  if (!fresh || local->arguments.is_undefined()) return;
  Args args{as_tuple(local->arguments)->items, static_cast<uint32_t>(as_tuple(local->arguments)->size)};
  if (!local->names.is_undefined()) args.keyword_names = as_tuple(local->names);
  call(in, get_attr(in, self, intern(in, "__init__")), args);
}

Value make_local(Interpreter& in, Type* type, const Args& args) {
  if (type->attributes_offset == 0) throw Error(ErrorKind::TypeError, "cannot create '_thread._local_base' instances");  // nor such with slots alone
  const bool script_init = has_script_init(in, type);
  if (args.count != 0 && !script_init) throw Error(ErrorKind::TypeError, "Initialization arguments are not supported");
  auto* const local = make_object<Local>(in, type);
  const Value made = Value::adopt(local);
  const Value dicts = own_dict(in, Args{});
  static_assert(sizeof(void*) == sizeof(int64_t));
  local->number = reinterpret_cast<int64_t>(local);
  const Value own = make_dict(in);
  dict_set(in, as_dict(dicts), Value::integer(local->number), own);
  set_attributes_dict(in, local, as_dict(own));
  local->shown = &in.threads().current();
  if (script_init) {
    local->arguments = make_tuple(in, args.values, args.count);
    if (args.keyword_names != nullptr) local->names = make_tuple(in, args.keyword_names->items, args.keyword_names->size);
  }
  return made;
}

void destroy_local(Interpreter& in, Object* object) {
  auto* const local = known_cast<Local>(object);
  for (Thread* thread : in.threads().all()) {
    if (!is_dict(thread->locals)) continue;
    try {
      dict_delete(in, as_dict(thread->locals), Value::integer(local->number));
    } catch (...) {
      // The attributes live as long as the thread.
    }
  }
  free_object(in, local);
}

Type* local_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "_local_base";
  spec.module = "_thread";
  spec.kind = ObjectKind::Native;
  spec.size = sizeof(Local);
  Type* const type = in.new_type(spec);
  type->make = make_local;
  type->slots.destroy = destroy_local;
  type->slots.traverse = [](Object* object, lang::Visitor& visitor) {
    visitor(known_cast<Local>(object)->arguments);
    visitor(known_cast<Local>(object)->names);
  };
  type->slots.clear = [](Interpreter&, Object* object) { known_cast<Local>(object)->arguments = Value(); };
  type->slots.get_attr = [](Interpreter& in2, const Value& self, Str*) {
    show_own(in2, self);
    return Value();
  };
  type->slots.set_attr = [](Interpreter& in2, const Value& self, Str* name, const Value& value) {
    if (name->view() == "__dict__")
      throw Error(ErrorKind::AttributeError,
                  "'" + std::string(type_of(in2, self)->name->view()) + "' object attribute '__dict__' is read-only");
    show_own(in2, self);
    generic_set_attr(in2, self, name, value);
  };
  return type;
}

}  // namespace

void fill_thread(Interpreter& in, Module& module) {
  add_locks(in, module);
  set_member(in, module, "_local_base", Value(local_type(in)));
  set_member(in, module, "error", Value(error_type(in, ErrorKind::RuntimeError)));
  in.def(module, "start_new_thread(function, args, kwargs=..., /)", "Run the function in a new thread.", start_thread);
  in.def(module, "get_ident()", "The number of the running thread.", ident);
  in.def(module, "get_native_id()", "The number that the system has for the running thread.", native_id);
  in.def(module, "_main_ident()", "The number of the first thread.", main_ident);
  in.def(module, "_count()", "How many threads run that were started.", count);
  in.def(module, "exit()", "End the running thread by SystemExit.", exit_thread);
  in.def(module, "stack_size(size=0, /)", "The size of the stacks of new threads.", stack_size);
  in.def(module, "_call_at_end(function, /)", "Call it when the running thread has ended.", call_at_end);
  in.def(module, "_own_dict()", "A dict of the running thread.", own_dict);
  in.def(module, "_frames()", "The frame of each thread.", all_frames);
  in.def(module, "_exceptions()", "The exception that each thread handles, or None.", all_exceptions);
  in.def(module, "_switch_interval()", "Seconds after which a thread that waits gets its turn.", switch_interval);
  in.def(module, "_set_switch_interval(seconds, /)", "See sys.setswitchinterval().", set_switch_interval);
}

}  // namespace tessera::stdlib
