// compile: small (introspection)
#include "lang/vm/frame_object.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/objects/generator.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/threads.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

FrameObject* self_of(const Args& args) { return known_cast<FrameObject>(args[0]); }

Value unwrapped(const Value& held) {
  const bool is_cell = held.is_object() && held.as_object()->kind == ObjectKind::Cell;
  return is_cell ? known_cast<Cell>(held)->value : held;
}

// Names that the compiler made up begin with a dot, or are empty; the only one that is seen, as in CPython, is that of the iterator of a
// generator expression. An unset variable is no key.
void put(Interpreter& in, Dict* dict, Str* name, const Value& held) {
  if (name == nullptr || name->size == 0 || (name->view().starts_with('.') && name->view() != ".0")) return;
  Value value = unwrapped(held);
  if (value.is_undefined()) dict_delete_str(in, dict, name);
  else dict_set_str(in, dict, name, std::move(value));
}

bool has_mapping(const Code& code) { return (code.code_flags & (kClassBody | kNamesInMapping)) != 0; }

void fill_locals(Interpreter& in, Dict* dict, const Frame& frame) {
  const Code& code = *frame.code;
  if (frame.registers == nullptr) return;
  for (size_t i = 0; i < code.locals.size(); ++i) put(in, dict, code.locals[i], frame.registers[i]);
  for (size_t i = 0; i < code.far_locals.size(); ++i) put(in, dict, code.far_locals[i], frame.registers[code.near_registers + i]);
  for (size_t i = 0; i < code.free_names.size(); ++i) {
    const Cell* cell = frame.function->closure[i];
    if (cell != nullptr) put(in, dict, code.free_names[i], cell->value);
  }
}

// The registers that have names, as they are; the near ones first, then the far ones, then the closure's.
Value kept_values(Interpreter& in, const Frame& frame) {
  const Code& code = *frame.code;
  const size_t near = code.locals.size(), far = code.far_locals.size(), free = code.free_names.size();
  Tuple* const made = new_tuple(in, near + far + free);
  Value result = Value::adopt(made);
  for (size_t i = 0; i < near; ++i) made->items[i] = frame.registers[i];
  for (size_t i = 0; i < far; ++i) made->items[near + i] = frame.registers[code.near_registers + i];
  for (size_t i = 0; i < free; ++i) made->items[near + far + i] = Value(frame.function->closure[i]);
  return result;
}

void fill_locals(Interpreter& in, Dict* dict, const Code& code, const Tuple* kept) {
  const size_t near = code.locals.size(), far = code.far_locals.size();
  for (size_t i = 0; i < near; ++i) put(in, dict, code.locals[i], kept->items[i]);
  for (size_t i = 0; i < far; ++i) put(in, dict, code.far_locals[i], kept->items[near + i]);
  for (size_t i = 0; i < code.free_names.size(); ++i) put(in, dict, code.free_names[i], kept->items[near + far + i]);
}

FrameObject* new_frame_object(Interpreter& in, Code* code, const Value& globals) {
  auto* made = make_object<FrameObject>(in, in.types.frame);
  made->code = code;
  ++code->refcount;
  made->globals = globals;
  made->builtins = Value(is_dict(globals) ? builtins_for(in, as_dict(globals)) : in.vm().builtins());
  made->back = Value::none();
  made->trace = Value::none();
  return made;
}

void destroy_frame(Interpreter& in, Object* object) {
  auto* frame = known_cast<FrameObject>(object);
  if (--frame->code->refcount == 0) destroy_object(frame->code);
  free_object(in, frame);
}

void traverse_frame(Object* object, Visitor& visitor) {
  const auto* frame = known_cast<FrameObject>(object);
  for (const Value* held : {&frame->globals, &frame->builtins, &frame->locals, &frame->kept, &frame->back, &frame->trace, &frame->native})
    visitor(*held);
}

void clear_frame(Interpreter&, Object* object) {
  auto* frame = known_cast<FrameObject>(object);
  frame->locals = Value();
  frame->kept = Value();
  frame->back = Value::none();
  frame->trace = Value::none();
  frame->native = Value();
}

uint32_t word_of(const FrameObject* frame) {
  if (frame->frame == nullptr) return frame->word;
  const auto word = static_cast<size_t>(frame->frame->pc - frame->code->words.data());
  return static_cast<uint32_t>(word == 0 ? 0 : word - 1);
}

// While a frame is traced, words without a line of their own belong to the last one that had one.
uint32_t line_of(const FrameObject* frame) {
  if (frame->traced_line != 0 && !frame->code->places.empty() &&
      frame->code->places[std::min<size_t>(word_of(frame), frame->code->places.size() - 1)].hidden)
    return frame->traced_line;
  if (frame->frame != nullptr) return frame_line(*frame->frame);
  const Code& code = *frame->code;
  if (code.places.empty()) return code.source->line_number(code.span.begin);
  return code.source->line_number(code.places[std::min<size_t>(frame->word, code.places.size() - 1)].span.begin);
}

Value frame_repr(Interpreter& in, const Value& self) {
  const auto* frame = known_cast<FrameObject>(self);
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<const void*>(frame));
  return make_str(in, std::string("<frame at ") + address + ", file " + quote(frame->code->source->name()) + ", line " +
                          std::to_string(line_of(frame)) + ", code " + std::string(frame->code->name->view()) + ">");
}

Value clear_method(Interpreter& in, const Args& args) {
  FrameObject* const frame = self_of(args);
  if (frame->frame != nullptr) {
    Generator* const generator = frame->frame->generator;
    if (generator == nullptr || generator->state == Generator::State::Running)
      throw Error(ErrorKind::RuntimeError, "cannot clear an executing frame");
    const Value keep(generator);
    generator_close(in, generator);
  }
  frame->locals = Value();
  frame->kept = Value();
  return Value::none();
}

Value locals_of(Interpreter& in, const Args& args) {
  FrameObject* const frame = self_of(args);
  if (frame->frame != nullptr) return frame_locals(in, *frame->frame);
  if (frame->locals.is_undefined()) frame->locals = make_dict(in);
  if (is_tuple(frame->kept)) {
    const Value kept = std::move(frame->kept);
    frame->kept = Value();
    fill_locals(in, as_dict(frame->locals), *frame->code, as_tuple(kept));
  }
  return frame->locals;
}

Value back_of(Interpreter& in, const Args& args) {
  const FrameObject* const frame = self_of(args);
  if (frame->frame == nullptr) return frame->back;
  const Generator* const generator = frame->frame->generator;
  if (generator != nullptr && generator->state != Generator::State::Running) return Value::none();
  const Frame* const caller = calling_frame(*frame->frame);
  return caller == nullptr ? Value::none() : frame_object(in, *caller);
}

constexpr NativeDef kMethods[] = {{"clear(self, /)", clear_method, "Let go of the variables."}};

}  // namespace

// --- live frames: Note [Live frames]

FrameObject* VirtualMachine::watched(const Frame& frame) const noexcept {
  for (size_t i = watched_.size(); i-- > 0;) {
    auto* const object = known_cast<FrameObject>(watched_[i]);
    if (object->frame == &frame) return object;
  }
  return nullptr;
}

FrameObject* VirtualMachine::watch(Frame& frame) {
  if (frame.kind == FrameKind::Watched) return watched(frame);
  FrameObject* const made = new_frame_object(in_, frame.code, Value(frame.function->globals));
  Value owner = Value::adopt(made);
  made->builtins = Value(frame.function->builtins);
  watched_.push_back(std::move(owner));
  made->frame = &frame;
  made->frame_kind = frame.kind;
  made->is_generator = frame.generator != nullptr;
  frame.kind = FrameKind::Watched;
  return made;
}

// Whatever lacks memory here leaves the object without it.
void VirtualMachine::end_watch(Frame& frame) noexcept {
  for (size_t i = watched_.size(); i-- > 0;) {
    auto* const object = known_cast<FrameObject>(watched_[i]);
    if (object->frame != &frame) continue;
    const Value keep = std::move(watched_[i]);
    watched_.erase(watched_.begin() + static_cast<std::ptrdiff_t>(i));
    frame.kind = object->frame_kind;
    object->word = word_of(object);
    if (object->refcount > 1) {
      try {
        if (has_mapping(*frame.code)) object->locals = frame.registers == nullptr ? Value() : frame.registers[0];
        else if (frame.code->code_flags & kModuleBody) object->locals = object->globals;
        else if (frame.registers != nullptr) object->kept = kept_values(in_, frame);
        const Frame* const caller = frame.generator == nullptr ? calling_frame(frame) : nullptr;
        if (caller != nullptr) object->back = frame_object(in_, *caller);
      } catch (const std::exception&) {
        object->kept = Value();
      }
    }
    object->frame = nullptr;
    return;
  }
}

Value frame_object(Interpreter& in, const Frame& frame) { return Value(in.vm().watch(const_cast<Frame&>(frame))); }

Value frame_locals(Interpreter& in, const Frame& frame) {
  const Code& code = *frame.code;
  if (has_mapping(code)) return frame.registers[0];
  if (code.code_flags & kModuleBody) return Value(frame.function->globals);
  if (frame.registers == nullptr) return make_dict(in);
  FrameObject* const object = in.vm().watch(const_cast<Frame&>(frame));
  if (object->locals.is_undefined()) object->locals = make_dict(in);
  const Value locals = object->locals;
  fill_locals(in, as_dict(locals), frame);
  return locals;
}

namespace {

bool keeps_locals(const FrameObject* object) {
  return object->frame != nullptr && is_dict(object->locals) && !has_mapping(*object->code) &&
         (object->code->code_flags & kModuleBody) == 0 && object->frame->registers != nullptr;
}

void take(const Dict* dict, Str* name, Value& place) {
  if (name == nullptr || name->size == 0 || name->view().starts_with('.')) return;
  const Value* const found = dict_get_str(dict, name);
  if (found == nullptr) return;
  Value& target =
      place.is_object() && place.as_object()->kind == ObjectKind::Cell ? known_cast<Cell>(place)->value : place;
  if (target.is(*found)) return;
  const Value old = std::exchange(target, *found);
}

}  // namespace

void refresh_locals(Interpreter& in, FrameObject* object) {
  if (keeps_locals(object)) fill_locals(in, as_dict(object->locals), *object->frame);
}

void store_locals(Interpreter&, FrameObject* object) {
  if (!keeps_locals(object)) return;
  const Code& code = *object->code;
  const Value keep = object->locals;
  const Dict* const dict = as_dict(keep);
  const Frame& frame = *object->frame;
  for (size_t i = 0; i < code.locals.size(); ++i) take(dict, code.locals[i], frame.registers[i]);
  for (size_t i = 0; i < code.far_locals.size(); ++i) take(dict, code.far_locals[i], frame.registers[code.near_registers + i]);
  for (size_t i = 0; i < code.free_names.size(); ++i) {
    if (Cell* const cell = frame.function->closure[i]; cell != nullptr) take(dict, code.free_names[i], cell->value);
  }
}

Value copy_of_locals(Interpreter& in, const Frame& frame) {
  const Code& code = *frame.code;
  if (has_mapping(code)) return frame.registers[0];
  if (code.code_flags & kModuleBody) return Value(frame.function->globals);
  Value result = make_dict(in);
  fill_locals(in, as_dict(result), frame);
  return result;
}

uint32_t frame_line(const Frame& frame) {
  const Code& code = *frame.code;
  size_t word = static_cast<size_t>(frame.pc - code.words.data());
  if (word == 0 || code.places.empty()) return code.source->line_number(code.first != 0 ? code.first : code.span.begin);
  word = std::min(word - 1, code.places.size() - 1);
  return code.source->line_number(code.places[word].span.begin);
}

void keep_frame_variables(Interpreter& in, const Value& exception, Frame& frame) noexcept {
  // A generator's or iterator's StopIteration, and what no handler sees, leaves no traces that anybody reads; where memory
  // is short, nothing is held longer than it must be.
  if (frame.kind == FrameKind::Item || ended_by_limit(exception) || is_error(in, exception, ErrorKind::MemoryError) ||
      (frame.code->code_flags & (kModuleBody | kClassBody)) != 0 || frame.registers == nullptr ||
      frame.code->source->name().starts_with("stdlib/"))
    return;
  const Value& first = as_exception(exception)->traceback;
  if (!first.is_object()) return;
  auto* const entry = known_cast<Traceback>(first);
  if (entry->code != frame.code || !entry->variables.is_undefined()) return;
  try {
    entry->variables = kept_values(in, frame);
  } catch (const std::exception&) {
    entry->variables = Value();
  }
}

// While the frame runs, the entry has its object from add_traceback, if there was one then.
Value frame_object(Interpreter& in, Traceback* entry) {
  if (entry->variables.is_object() && entry->variables.as_object()->type == in.types.frame) return entry->variables;
  const auto watch_among = [&](const Frame* frame) {
    while (frame != nullptr && frame->code != entry->code) frame = calling_frame(*frame);
    if (frame != nullptr) entry->variables = frame_object(in, *frame);
    return frame != nullptr;
  };
  if (entry->variables.is_undefined()) {
    if (watch_among(in.vm().top())) return entry->variables;
    if (!in.threads().alone()) {
      for (const Thread* thread : in.threads().all())  // the exception may be another thread's
        if (thread != &in.threads().current() && watch_among(thread->top())) return entry->variables;
    }
  }
  FrameObject* const made = new_frame_object(in, entry->code, entry->globals);
  Value result = Value::adopt(made);
  made->word = entry->word;
  if (entry->code->code_flags & kModuleBody) made->locals = entry->globals;
  else if (is_tuple(entry->variables)) made->kept = std::move(entry->variables);
  else made->locals = entry->variables;
  entry->variables = result;
  return result;
}

namespace {

void fill_frame(Interpreter& in, Type* type) {
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "f_code", [](Interpreter&, const Args& a) { return Value(self_of(a)->code); });
  in.add_property(type, "f_globals", [](Interpreter&, const Args& a) { return self_of(a)->globals; });
  in.add_property(type, "f_builtins", [](Interpreter&, const Args& a) { return self_of(a)->builtins; });
  in.add_property(type, "f_locals", locals_of);
  in.add_property(type, "f_back", back_of);
  in.add_property(
      type, "f_lineno", [](Interpreter&, const Args& a) { return Value::integer(line_of(self_of(a))); },
      [](Interpreter& i, const Args& a) {
        jump_to_line(i, self_of(a), a[1]);
        return Value::none();
      },
      "", [](Interpreter&, const Args&) -> Value { throw Error(ErrorKind::AttributeError, "cannot delete attribute"); });
  in.add_property(type, "f_lasti", [](Interpreter&, const Args& a) {
    return Value::integer(int64_t{2} * word_of(self_of(a)));
  });
  in.add_property(
      type, "f_trace", [](Interpreter&, const Args& a) { return self_of(a)->trace; },
      [](Interpreter&, const Args& a) {
        self_of(a)->trace = a[1];
        self_of(a)->traced_line = line_of(self_of(a));  // the next line is told of, this one is not
        return Value::none();
      },
      "",
      [](Interpreter&, const Args& a) {
        self_of(a)->trace = Value::none();
        return Value::none();
      });
  in.add_property(
      type, "f_trace_lines", [](Interpreter&, const Args& a) { return Value::boolean(self_of(a)->traces_lines); },
      [](Interpreter&, const Args& a) {
        if (!a[1].is_bool()) throw Error(ErrorKind::TypeError, "attribute value type must be bool");
        self_of(a)->traces_lines = a[1].as_bool();
        return Value::none();
      });
  in.add_property(
      type, "f_trace_opcodes", [](Interpreter&, const Args& a) { return Value::boolean(self_of(a)->traces_opcodes); },
      [](Interpreter&, const Args& a) {
        if (!a[1].is_bool()) throw Error(ErrorKind::TypeError, "attribute value type must be bool");
        self_of(a)->traces_opcodes = a[1].as_bool();
        return Value::none();
      });
}

}  // namespace

void make_frame_type(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "frame";
  spec.module = "builtins";
  spec.kind = ObjectKind::Other;
  spec.size = sizeof(FrameObject);
  spec.flags = kFinalType;
  Type* type = in.types.frame = in.new_type(spec);
  type->slots.destroy = destroy_frame;
  type->slots.traverse = traverse_frame;
  type->slots.clear = clear_frame;
  type->slots.repr = frame_repr;
  type->fill_later(fill_frame);
}

}  // namespace tessera::lang
