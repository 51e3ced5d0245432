// Exception objects: making them, their context and traceback, and what an except clause asks.
#include "lang/objects/exception.h"

#include <cstdarg>
#include <cstdio>
#include <new>
#include <stdexcept>

#include "lang/core/object_cast.h"
#include "lang/objects/attribute_reads.h"
#include "lang/objects/exception_types.h"
#include "lang/vm/frame.h"
#include "lang/vm/frame_object.h"
#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/syntax/source.h"
#include "lang/syntax/syntax_error.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

void throw_error(ErrorKind kind, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string message(static_cast<size_t>(size), '\0');
  std::vsnprintf(message.data(), message.size() + 1, format, again);
  va_end(again);
  throw Error(kind, std::move(message));
}

[[gnu::cold]] Error make_error(ErrorKind kind, std::initializer_list<std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += word;
  return Error(kind, std::move(text));
}

Type* error_type(Interpreter& in, ErrorKind kind) {
  Type* const made = in.types.errors[static_cast<size_t>(kind)];
  return made != nullptr ? made : make_error_type(in, kind);
}

// Of a class that is not made yet there is no instance.
bool is_error(Interpreter& in, const Value& exception, ErrorKind kind) {
  const Type* const type = in.types.errors[static_cast<size_t>(kind)];
  return type != nullptr && exception.is_object() && exception.as_object()->type->is_subtype_of(type);
}

namespace {

bool is_exception_class(Interpreter& in, const Value& value) {
  return value.is_object() && value.as_object()->kind == ObjectKind::Type &&
         object_cast<Type>(value)->is_subtype_of(error_type(in, ErrorKind::BaseException));
}

}  // namespace

void destroy_exception(Interpreter& in, Object* object) { free_object(in, known_cast<Exception>(object)); }

void destroy_traceback(Interpreter& in, Object* object) {
  Traceback* const t = known_cast<Traceback>(object);
  if (t->code != nullptr && --t->code->refcount == 0) destroy_object(t->code);
  free_object(in, t);
}

Value make_exception(Interpreter& in, Type* type, const Value& args) {
  Exception* const e = make_object<Exception>(in, type);
  Value made = Value::adopt(e);
  if (type->type_flags & kPlainException) e->args = args;
  else fill_exception(in, e, args);
  return made;
}

namespace {

Value make_with_message(Interpreter& in, ErrorKind kind, Value message) {
  return make_exception(in, error_type(in, kind), make_tuple_moving(in, &message, 1));
}

// The words, one after the other.
Value joined(Interpreter& in, std::initializer_list<std::string_view> words) {
  size_t size = 0;
  for (const std::string_view word : words) size += word.size();
  Str* const text = new_str(in, size, size);
  const Value made = Value::adopt(text);
  char* end = text->data;
  for (const std::string_view word : words) {
    copy_few(end, word.data(), word.size());
    end += word.size();
  }
  return all_ascii(text->view()) ? made : make_str_lossy(in, text->view());
}

}  // namespace

Value make_exception(Interpreter& in, ErrorKind kind, std::string_view message) {
  return make_with_message(in, kind, make_str_lossy(in, message));
}

Value make_exception_of(Interpreter& in, ErrorKind kind, std::initializer_list<std::string_view> words) {
  return make_with_message(in, kind, joined(in, words));
}

Value make_exception(Interpreter& in, const Error& error) {
  Value made;
  if (!error.value.is_undefined()) {
    made = make_exception(in, error_type(in, error.kind), make_tuple(in, {error.value}));
  } else if (error.message.empty()) {
    made = make_exception(in, error_type(in, error.kind), in.shared->empty_tuple);
  } else {
    made = make_exception(in, error.kind, error.message);
  }
  if (!error.notes.empty()) as_exception(made)->notes = error.notes;
  return made;
}

Value exception_of(Interpreter& in, const Error& error) {
  Value made = make_exception(in, error);
  set_context(in, as_exception(made));
  return made;
}

Value instantiate_exception(Interpreter& in, const Value& what) {
  if (is_exception(what)) return what;
  if (!is_exception_class(in, what)) throw Error(ErrorKind::TypeError, "exceptions must derive from BaseException");
  Value made = call(in, what);
  if (!is_exception(made)) {
    throw_error(ErrorKind::TypeError, "calling %s should have returned an instance of BaseException, not %s",
                repr_text(in, what).c_str(), repr_text(in, Value(type_of(in, made))).c_str());
  }
  return made;
}

namespace {

Value made_of_current(Interpreter& in) {
  try {
    throw;
  } catch (const Thrown& thrown) {
    return thrown.exception;
  } catch (const Error& error) {
    return exception_of(in, error);
  } catch (const std::bad_alloc&) {
    Value made = make_exception(in, error_type(in, ErrorKind::MemoryError), in.shared->empty_tuple);
    set_context(in, as_exception(made));
    return made;
  } catch (const std::exception& foreign) {
    Value made = make_exception(in, ErrorKind::RuntimeError, foreign.what());
    set_context(in, as_exception(made));
    return made;
  }
}

}  // namespace

// Where there is no memory for any, there is one that was made before.
Value current_native_exception(Interpreter& in) {
  try {
    return made_of_current(in);
  } catch (const std::exception&) {
    return in.vm().memory_error();
  }
}

namespace {

// Immediate: holds no state.
const Value kNothing = Value::none();

}  // namespace

const Value& handled_exception(Interpreter& in) {
  for (const Frame* f = in.vm().top(); f != nullptr; f = calling_frame(*f)) {
    if (f->handled != kNoRegister && is_exception(f->registers[f->handled])) return f->registers[f->handled];
  }
  return kNothing;
}

void set_context(Interpreter& in, Exception* exception) {
  const Value handled = handled_exception(in);
  if (handled.is_none() || handled.as_object() == exception) return;
  // The handled exception's own chain must not lead back here: cut it where it does. A script may have made a circle of
  // it, so a second walker follows at half the speed and is caught up with.
  Exception* walk = as_exception(handled);
  Exception* behind = walk;
  for (bool step = false; is_exception(walk->context); step = !step) {
    if (walk->context.as_object() == exception) {
      walk->context = Value::none();
      break;
    }
    walk = as_exception(walk->context);
    if (walk == behind) break;
    if (step) behind = as_exception(behind->context);
  }
  exception->context = handled;
}

namespace {

void keep_variables_of(Interpreter& in, Traceback* entry, const Frame& frame) {
  if (frame.code->source->name().starts_with("stdlib/")) return;
  try {
    entry->variables = copy_of_locals(in, frame);
  } catch (const std::exception&) {
    // No memory: they are not shown.
  }
}

}  // namespace

// A line that there is no memory for is left out.
void add_traceback(Interpreter& in, Exception* exception, const Frame& frame) {
  Traceback* entry;
  try {
    entry = make_object<Traceback>(in, in.types.traceback);
  } catch (const std::exception&) {
    return;
  }
  entry->code = frame.code;
  ++entry->code->refcount;
  entry->globals = Value(frame.function->globals);
  entry->word = static_cast<uint32_t>(frame.pc - frame.code->words.data()) - 1;
  entry->next = std::move(exception->traceback);
  exception->traceback = Value::adopt(entry);
  if (frame.kind == FrameKind::Watched) entry->variables = Value(in.vm().watched(frame));
  else if (in.vm().keeps_variables() && (frame.code->code_flags & kModuleBody) == 0) keep_variables_of(in, entry, frame);
}

bool exception_matches(Interpreter& in, const Value& exception, const Value& classes) {
  if (classes.is_object() && exception.as_object()->type == classes.as_object()) return true;
  if (is_exception_class(in, classes)) return is_instance(in, exception, object_cast<Type>(classes));
  if (is_tuple(classes)) {
    bool matches = false;
    for (const Value& one : *as_tuple(classes)) {
      if (!is_exception_class(in, one)) {
        throw Error(ErrorKind::TypeError, "catching classes that do not inherit from BaseException is not allowed");
      }
      matches = matches || is_instance(in, exception, object_cast<Type>(one));
    }
    return matches;
  }
  throw Error(ErrorKind::TypeError, "catching classes that do not inherit from BaseException is not allowed");
}

void throw_key_error(Interpreter&, const Value& key) { throw Error(ErrorKind::KeyError, key); }

Value failure(Interpreter& in, const Error& error) { return failure_of(make_exception(in, error)); }

Value failure(Interpreter& in, ErrorKind kind, std::initializer_list<std::string_view> words) {
  return failure_of(make_exception_of(in, kind, words));
}

// A failure that reaches the loop gets its context there (VirtualMachine::raise_next).
void throw_failure(const Value& answer) {
  Value exception = take_failure(answer);
  Exception* const made = as_exception(exception);
  if (made->context.is_none() && made->traceback.is_none()) set_context(*made->type->owner, made);
  throw Thrown(std::move(exception));
}

namespace {

[[noreturn]] void throw_with_context(Interpreter& in, Value exception) {
  set_context(in, as_exception(exception));
  throw Thrown(std::move(exception));
}

}  // namespace

Value make_attribute_error(Interpreter& in, const Value& object, Str* name, std::initializer_list<std::string_view> words) {
  Value made = make_exception_of(in, ErrorKind::AttributeError, words);
  as_exception(made)->fields[0] = Value(name);
  as_exception(made)->fields[1] = object;
  return made;
}

void throw_attribute_error(Interpreter& in, const Value& object, Str* name, std::string message) {
  throw_with_context(in, make_attribute_error(in, object, name, {message}));
}

[[gnu::cold]] Value make_name_error(Interpreter& in, Str* name) {
  Value made = make_exception_of(in, ErrorKind::NameError, {"name '", name->view(), "' is not defined"});
  as_exception(made)->fields[0] = Value(name);
  return made;
}

void throw_name_error(Interpreter& in, Str* name) { throw_with_context(in, make_name_error(in, name)); }

void throw_import_error(Interpreter& in, ErrorKind kind, const Value& name, std::string message) {
  Value made = make_exception(in, kind, message);
  as_exception(made)->fields[1] = name;
  throw_with_context(in, std::move(made));
}

namespace {

// CPython's decoder finds bytes that are no UTF-8 before there are lines to show; empty for any other mistake.
std::string decoding_message(const Source& source, const SyntaxError& error) {
  constexpr std::string_view kStart = "(unicode error) 'utf-8' codec can't decode byte 0x";
  if (!error.message.starts_with(kStart) || source.name().starts_with('<')) return {};
  return "Non-UTF-8 code starting with '\\x" + error.message.substr(kStart.size(), 2) + "' in file " + source.name() +
         " on line " + std::to_string(error.line) +
         ", but no encoding declared; see https://peps.python.org/pep-0263/ for details";
}

}  // namespace

void throw_syntax_error(Interpreter& in, const Source& source, const SyntaxError& error) {
  if (error.error_class == SyntaxError::Class::kRecursionError) throw Error(ErrorKind::RecursionError, error.message);
  ErrorKind kind = ErrorKind::SyntaxError;
  if (error.error_class == SyntaxError::Class::kIndentationError) kind = ErrorKind::IndentationError;
  if (error.error_class == SyntaxError::Class::kTabError) kind = ErrorKind::TabError;
  const std::string not_decoded = decoding_message(source, error);
  if (!not_decoded.empty()) throw Thrown(make_exception(in, kind, not_decoded));
  const Value text = make_str_lossy(in, std::string(source.line(error.line)) + "\n");
  const Value details =
      make_tuple(in, {make_str_lossy(in, source.name()), Value::integer(error.line), Value::integer(error.column), text,
                      Value::integer(error.end_line), Value::integer(error.no_end ? -1 : static_cast<int64_t>(error.end_column))});
  throw Thrown(make_exception(in, error_type(in, kind), make_tuple(in, {make_str_lossy(in, error.message), details})));
}

}  // namespace tessera::lang
