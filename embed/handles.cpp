// Cells, errors, and the shell of an interpreter.
#include "embed/handles.h"

#include <new>

#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
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
  try {
    error->message = lang::str_text(in, exception);
    error->traceback = in.format_exception(exception);
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
      return false;
    }
    return report_exception(shell, lang::current_native_exception(*shell->in), error);
  } catch (const std::exception& other) {
    if (shell == nullptr || shell->in == nullptr) {
      if (error != nullptr)
        *error = new (std::nothrow) tsr_error{TSR_ERROR_LIMIT, "MemoryError", other.what(), "MemoryError\n"};
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
