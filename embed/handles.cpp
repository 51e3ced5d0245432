// Cells, errors, and the shell of an interpreter.
#include "embed/handles.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "lang/compiler/chunk.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/syntax/source.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "runtime/error.h"

namespace tessera::embed {

void retain(tsr_interpreter* shell) noexcept { ++shell->references; }

void release(tsr_interpreter* shell) noexcept {
  if (--shell->references != 0) return;
  while (tsr_object* const cell = shell->spare) {
    shell->spare = cell->behind;
    delete cell;
  }
  delete shell;
}

void need_torch(tsr_interpreter* shell) { running(shell).import("torch"); }

namespace {

// A cell of the list `kept`, whose members count as one reference to the shell each.
tsr_object* new_cell(tsr_interpreter* shell, Value value) {
  tsr_object* cell = shell->spare;
  if (cell != nullptr) {
    shell->spare = cell->behind;
    --shell->spares;
  } else {
    cell = new tsr_object;
  }
  cell->value = std::move(value);
  cell->owner = shell;
  cell->references = 1;
  cell->before = nullptr;
  cell->behind = shell->kept;
  if (shell->kept != nullptr) shell->kept->before = cell;
  shell->kept = cell;
  retain(shell);
  return cell;
}

// The last share is gone.
void drop_cell(tsr_object* cell) noexcept {
  constexpr size_t kMostSpares = 64;
  tsr_interpreter* const shell = cell->owner;
  (cell->before != nullptr ? cell->before->behind : shell->kept) = cell->behind;
  if (cell->behind != nullptr) cell->behind->before = cell->before;
  if (shell->in != nullptr) {
    // What dies with it may have a finalizer, which has the limits of a run.
    const lang::RunScope run(shell->in->vm());
    cell->value = Value();
  } else {
    cell->value = Value();  // one that was made while the interpreter ends
  }
  if (shell->spares < kMostSpares) {
    cell->behind = shell->spare;
    shell->spare = cell;
    ++shell->spares;
  } else {
    delete cell;
  }
  release(shell);
}

const char* const kUsage = "UsageError";

// Of a MemoryError: what the limit is, and whose.
std::string limit_text(uint64_t limit) {
  return "the limit is the host's: memory_limit = " + std::to_string(limit) + " bytes; more, or 0 for none, raises it";
}

void describe_memory(lang::Interpreter& in, tsr_error& error) {
  const uint64_t limit = in.limits.object_bytes;
  if (error.message.empty() && !error.notes.empty()) error.message = error.notes.front();
  if (limit == 0) return;
  error.notes.push_back(limit_text(limit));
  error.traceback += error.notes.back() + "\n";
}

void describe_lines(tsr_error& error, const lang::Exception* exception) {
  constexpr size_t kMostLines = 1000;
  for (const Value* at = &exception->traceback; at->is_object() && error.lines.size() < kMostLines;) {
    const auto* const entry = object_cast<const lang::Traceback>(*at);
    error.lines.push_back({entry->code->source->name(), std::string(entry->code->name->view()),
                           static_cast<int64_t>(lang::traceback_line(entry))});
    at = &entry->next;
  }
}

tsr_error_kind kind_of(lang::Interpreter& in, const Value& exception) {
  if (!lang::ended_by_limit(exception))
    return lang::is_error(in, exception, lang::ErrorKind::MemoryError) ? TSR_ERROR_LIMIT : TSR_ERROR_SCRIPT;
  return lang::is_error(in, exception, lang::ErrorKind::KeyboardInterrupt) ? TSR_ERROR_CANCELLED : TSR_ERROR_LIMIT;
}

// With limits of its own, for its texts may be a script's; inside of a run that has hit one there is only the class.
tsr_error* describe(tsr_interpreter* shell, const Value& exception) {
  lang::Interpreter& in = *shell->in;
  const lang::RunScope run(in.vm());
  shell->last = exception;
  auto error = std::make_unique<tsr_error>();
  error->kind = kind_of(in, exception);
  error->number = ++shell->last_number;
  error->class_name = lang::type_name(in, exception);
  for (const lang::Type* type : lang::type_of(in, exception)->mro) error->classes.emplace_back(type->name->view());
  error->notes = lang::as_exception(exception)->notes;
  // A limit's words need nothing of the script's, and a second cancel() while the rest is told does not take them away.
  if (lang::ended_by_limit(exception)) {
    const lang::Tuple* const said = lang::as_tuple(lang::as_exception(exception)->args);
    if (said->size != 0 && lang::is_str(said->items[0])) error->message = lang::text_of(said->items[0]);
  }
  try {
    error->message = lang::str_text(in, exception);
    error->traceback = in.format_exception(exception);
    describe_lines(*error, lang::as_exception(exception));
    const Value added = lang::find_attr(in, exception, in.names->notes);
    if (lang::is_list(added))
      for (const Value& note : *lang::as_list(added)) error->notes.push_back(lang::str_text(in, note));
    if (lang::is_error(in, exception, lang::ErrorKind::MemoryError)) describe_memory(in, *error);
  } catch (const std::exception&) {
    error->traceback = error->class_name + "\n";
  }
  return error.release();
}

}  // namespace

tsr_value to_host(tsr_interpreter* shell, Value value) {
  switch (value.tag()) {
    case lang::Tag::Undefined:
    case lang::Tag::None: return tsr_none();
    case lang::Tag::Bool: return tsr_bool(value.as_bool());
    case lang::Tag::Int: return tsr_int(value.as_int());
    case lang::Tag::Float: return tsr_float(value.as_float());
    case lang::Tag::Object: break;
  }
  tsr_value out = tsr_none();
  out.as.object = new_cell(shell, std::move(value));
  out.kind = TSR_OBJECT;
  return out;
}

Value to_value(const tsr_interpreter* shell, tsr_value value) {
  switch (value.kind) {
    case TSR_NONE: return Value::none();
    case TSR_BOOL: return Value::boolean(value.as.integer != 0);
    case TSR_INT: return Value::integer(value.as.integer);
    case TSR_FLOAT: return Value::real(value.as.real);
    case TSR_OBJECT: break;
    default: throw UsageError{"a tsr_value of kind " + std::to_string(value.kind)};
  }
  if (value.as.object == nullptr) throw UsageError{"a tsr_value without an object"};
  if (value.as.object->owner != shell) throw UsageError{"the value belongs to another interpreter"};
  if (value.as.object->value.is_undefined()) throw UsageError{"the value's interpreter has ended"};
  return value.as.object->value;
}

Value take_value(const tsr_interpreter* shell, tsr_value value) {
  Value taken = to_value(shell, value);
  tsr_release(value);
  return taken;
}

bool report_usage(std::string message, tsr_error** error) noexcept {
  if (error == nullptr) return false;
  *error = new (std::nothrow) tsr_error{TSR_ERROR_USAGE, kUsage, message, std::string(kUsage) + ": " + message + "\n"};
  if (*error != nullptr) (*error)->classes = {kUsage, "Exception", "BaseException", "object"};
  return false;
}

static bool report_exception(tsr_interpreter* shell, const Value& exception, tsr_error** error) noexcept {
  if (error == nullptr) return false;
  try {
    *error = describe(shell, exception);
  } catch (const std::exception&) {
    *error = nullptr;  // no memory, not even for that
  }
  return false;
}

bool report(tsr_interpreter* shell, tsr_error** error) noexcept {
  try {
    throw;
  } catch (const UsageError& usage) {
    return report_usage(usage.message, error);
  } catch (const tensor::TensorError& raised) {
    if (shell == nullptr || shell->in == nullptr) {  // of an operation without an interpreter
      if (error == nullptr) return false;
      const std::string name = tensor::python_name(raised.kind());
      std::string text = name + ": " + raised.message() + "\n";
      for (const std::string& note : raised.notes()) text += "  " + note + "\n";
      const tsr_error_kind kind = raised.kind() == tensor::TensorErrorKind::Memory ? TSR_ERROR_LIMIT : TSR_ERROR_SCRIPT;
      *error = new (std::nothrow) tsr_error{kind, name, raised.message(), std::move(text)};
      if (*error != nullptr) {
        (*error)->classes = {name, "Exception", "BaseException", "object"};
        (*error)->notes = raised.notes();
      }
      return false;
    }
    return report_exception(shell, lang::current_native_exception(*shell->in), error);
  } catch (const std::exception& other) {
    if (shell == nullptr || shell->in == nullptr) {
      if (error == nullptr) return false;
      std::string message = other.what();
      if (const auto* raised = dynamic_cast<const lang::Error*>(&other); raised != nullptr && !raised->notes.empty())
        message = raised->notes.front();
      if (shell != nullptr && shell->options.memory_limit != 0)
        message += (message.empty() ? "" : "; ") + limit_text(shell->options.memory_limit);
      std::string text = "MemoryError: " + message + "\n";
      *error = new (std::nothrow) tsr_error{TSR_ERROR_LIMIT, "MemoryError", std::move(message), std::move(text)};
      if (*error != nullptr) (*error)->classes = {"MemoryError", "Exception", "BaseException", "object"};
      return false;
    }
    return report_exception(shell, lang::current_native_exception(*shell->in), error);
  } catch (...) {
    return report_usage("a host function threw what is no std::exception", error);
  }
}

}  // namespace tessera::embed

using namespace tessera::embed;

tsr_value tsr_retain(tsr_value value) {
  if (value.kind == TSR_OBJECT && value.as.object != nullptr) ++value.as.object->references;
  return value;
}

void tsr_release_object(tsr_object* object) {
  if (object != nullptr && --object->references == 0) drop_cell(object);
}

// NULL: there was no memory for one.
bool tsr_error_is(const tsr_error* error, const char* class_name) {
  if (class_name == nullptr) return false;
  if (error == nullptr) return std::strcmp(class_name, "MemoryError") == 0;
  return std::find(error->classes.begin(), error->classes.end(), class_name) != error->classes.end();
}

size_t tsr_error_note_count(const tsr_error* error) { return error == nullptr ? 0 : error->notes.size(); }
const char* tsr_error_note(const tsr_error* error, size_t index) {
  return index < tsr_error_note_count(error) ? error->notes[index].c_str() : nullptr;
}

size_t tsr_error_line_count(const tsr_error* error) { return error == nullptr ? 0 : error->lines.size(); }
bool tsr_error_line(const tsr_error* error, size_t index, tsr_line* out) {
  if (index >= tsr_error_line_count(error) || out == nullptr) return false;
  const tsr_error::Line& line = error->lines[index];
  *out = {line.file.c_str(), line.function.c_str(), line.line};
  return true;
}

bool tsr_error_exception(tsr_interpreter* shell, const tsr_error* told, tsr_value* out, tsr_error** error) {
  return guarded(shell, error, [&](tessera::lang::Interpreter&) {
    const bool last = told != nullptr && told->number != 0 && told->number == shell->last_number;
    *out = last && !shell->last.is_undefined() ? to_host(shell, shell->last) : tsr_none();
  });
}

tsr_error_kind tsr_error_get_kind(const tsr_error* error) { return error == nullptr ? TSR_ERROR_LIMIT : error->kind; }
const char* tsr_error_class(const tsr_error* error) {
  return error == nullptr ? "MemoryError" : error->class_name.c_str();
}
const char* tsr_error_message(const tsr_error* error) { return error == nullptr ? "" : error->message.c_str(); }
const char* tsr_error_traceback(const tsr_error* error) {
  return error == nullptr ? "MemoryError\n" : error->traceback.c_str();
}
void tsr_error_free(tsr_error* error) { delete error; }

void tsr_buffer_write(tsr_buffer* buffer, const char* data, size_t size) { buffer->text.append(data, size); }
