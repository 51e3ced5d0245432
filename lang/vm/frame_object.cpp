#include "lang/vm/frame_object.h"

#include <algorithm>

#include "lang/objects/exception.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

FrameObject* self_of(const Args& args) { return static_cast<FrameObject*>(args[0].as_object()); }

void put(Interpreter& in, Dict* dict, Str* name, const Value& held) {
  const bool is_cell = held.is_object() && held.as_object()->kind == ObjectKind::Cell;
  const Value& value = is_cell ? static_cast<Cell*>(held.as_object())->value : held;
  // Names that the compiler made up begin with a dot.
  if (!value.is_undefined() && !name->view().starts_with('.')) dict_set_str(in, dict, name, value);
}

FrameObject* new_frame_object(Interpreter& in, Code* code, const Value& globals) {
  auto* made = make_object<FrameObject>(in, in.types.frame);
  made->code = code;
  ++code->refcount;
  made->globals = globals;
  made->back = Value::none();
  return made;
}

void destroy_frame(Interpreter& in, Object* object) {
  auto* frame = static_cast<FrameObject*>(object);
  if (--frame->code->refcount == 0) destroy_object(frame->code);
  free_object(in, frame);
}

void traverse_frame(Object* object, Visitor& visitor) {
  const auto* frame = static_cast<FrameObject*>(object);
  visitor(frame->globals);
  visitor(frame->locals);
  visitor(frame->back);
}

void clear_frame(Interpreter&, Object* object) {
  auto* frame = static_cast<FrameObject*>(object);
  frame->locals = Value();
  frame->back = Value::none();
}

Value frame_repr(Interpreter& in, const Value& self) {
  const auto* frame = static_cast<FrameObject*>(self.as_object());
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<const void*>(frame));
  return make_str(in, std::string("<frame at ") + address + ", file " + quote(frame->code->source->name()) + ", line " +
                          std::to_string(frame->line) + ", code " + std::string(frame->code->name->view()) + ">");
}

Value clear_method(Interpreter&, const Args& args) {
  self_of(args)->locals = Value();
  return Value::none();
}

Value locals_of(Interpreter& in, const Args& args) {
  Value& locals = self_of(args)->locals;
  if (locals.is_undefined()) locals = make_dict(in);
  return locals;
}

constexpr NativeDef kMethods[] = {{"clear(self, /)", clear_method, "Let go of the variables."}};

}  // namespace

Value frame_locals(Interpreter& in, const Frame& frame) {
  const Code& code = *frame.code;
  if (code.code_flags & (kClassBody | kNamesInMapping)) return frame.registers[0];
  if (code.code_flags & kModuleBody) return Value(frame.function->globals);
  Value result = make_dict(in);
  if (frame.registers == nullptr) return result;
  for (size_t i = 0; i < code.locals.size(); ++i) {
    if (code.locals[i] != nullptr) put(in, as_dict(result), code.locals[i], frame.registers[i]);
  }
  for (size_t i = 0; i < code.far_locals.size(); ++i) {
    put(in, as_dict(result), code.far_locals[i], frame.registers[kFirstFar + i]);
  }
  for (size_t i = 0; i < code.free_names.size(); ++i) {
    put(in, as_dict(result), code.free_names[i], frame.function->closure[i]->value);
  }
  return result;
}

uint32_t frame_line(const Frame& frame) {
  const Code& code = *frame.code;
  size_t word = static_cast<size_t>(frame.pc - code.words.data());
  if (word == 0 || code.places.empty()) return code.source->line_number(code.span.begin);
  word = std::min(word - 1, code.places.size() - 1);
  return code.source->line_number(code.places[word].span.begin);
}

Value make_frame_object(Interpreter& in, const Frame& frame, bool callers) {
  Value first;
  FrameObject* last = nullptr;
  for (const Frame* f = &frame; f != nullptr; f = callers ? calling_frame(*f) : nullptr) {
    FrameObject* made = new_frame_object(in, f->code, Value(f->function->globals));
    Value value = Value::adopt(made);
    made->line = frame_line(*f);
    made->locals = frame_locals(in, *f);
    if (last == nullptr) first = std::move(value);
    else last->back = std::move(value);
    last = made;
  }
  return first;
}

Value make_frame_object(Interpreter& in, const Traceback* entry) {
  FrameObject* made = new_frame_object(in, entry->code, entry->globals);
  made->line = traceback_line(entry);
  made->locals = entry->variables;
  return Value::adopt(made);
}

namespace {

void fill_frame(Interpreter& in, Type* type) {
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "f_code", [](Interpreter&, const Args& a) { return Value(self_of(a)->code); });
  in.add_property(type, "f_globals", [](Interpreter&, const Args& a) { return self_of(a)->globals; });
  in.add_property(type, "f_builtins", [](Interpreter& i, const Args&) { return Value(i.vm().builtins()); });
  in.add_property(type, "f_locals", locals_of);
  in.add_property(type, "f_back", [](Interpreter&, const Args& a) { return self_of(a)->back; });
  in.add_property(type, "f_lineno", [](Interpreter&, const Args& a) { return Value::integer(self_of(a)->line); });
  in.add_property(type, "f_lasti", [](Interpreter&, const Args&) { return Value::integer(0); });
  in.add_property(type, "f_trace", [](Interpreter&, const Args&) { return Value::none(); });
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
