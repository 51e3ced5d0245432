// Exceptions of the language: objects, classes, tracebacks and how they are printed.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "lang/compiler/chunk.h"
#include "lang/core/error.h"
#include "lang/core/object.h"
#include "lang/core/object_cast.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
class Source;
struct SyntaxError;
struct Frame;

// One line of a traceback; `next` is the frame that was called from here.
struct Traceback : GcObject {
  Value next;            // a Traceback or None
  Code* code = nullptr;  // owned
  Value globals;         // of the function, for suggestions
  Value variables;       // of the frame as it failed, a dict; Undefined: the machine was not told to keep them
  uint32_t word = 0;     // the instruction's index in code->words

  Traceback() noexcept {}  // as Exception's
};

struct Exception : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Exception;
  Value args;                   // a tuple
  Value cause = Value::none();  // an Exception or None
  Value context = Value::none();
  Value traceback = Value::none();  // a Traceback or None
  bool suppress_context = false;
  bool notes_due = false;  // notes are still to be made: VirtualMachine::note
  // What a class has besides: StopIteration value; SystemExit code; OSError errno, strerror, filename, filename2,
  // characters_written; ImportError msg, name, path; NameError name; AttributeError name, obj; SyntaxError msg, filename, lineno, offset,
  // text, end (lineno, offset); Unicode errors encoding, object, start, end, reason.
  static constexpr int kFields = 6;
  Value fields[kFields];
  std::vector<std::string> notes;  // of native code: shown below the message, not part of it

  // With a constructor of its own the object is not set to zero before its members are made, which takes longer than all the rest (rep stos).
  Exception() noexcept {}
};

inline bool is_exception(const Value& v) noexcept {
  return v.is_object() && v.as_object()->kind == ObjectKind::Exception;
}
inline Exception* as_exception(const Value& v) noexcept { return known_cast<Exception>(v); }

Type* error_type(Interpreter& in, ErrorKind kind);
bool is_error(Interpreter& in, const Value& exception, ErrorKind kind);

// The words, one after the other, are the message. Sums of strings in place would be many times its size in code.
Error make_error(ErrorKind kind, std::initializer_list<std::string_view> words);
// A new exception without context and traceback.
Value make_exception(Interpreter& in, Type* type, const Value& args_tuple);
Value make_exception(Interpreter& in, ErrorKind kind, std::string_view message);
Value make_exception(Interpreter& in, const Error& error);
// The same with a message of several words, one after the other. No Error is made, which takes as long as the exception itself.
Value make_exception_of(Interpreter& in, ErrorKind kind, std::initializer_list<std::string_view> words);
// What `raise x` and generator.throw(x) make of their operand: an instance; TypeError when it is no exception.
Value instantiate_exception(Interpreter& in, const Value& class_or_instance);
// The exception that natives see when they catch Error or Thrown (call in a catch block).
Value current_native_exception(Interpreter& in);
Value exception_of(Interpreter& in, const Error& error);  // with its context
// Sets __context__ to what is being handled in the running frames, without making a circle.
void set_context(Interpreter& in, Exception* exception);
// What a running except clause handles (sys.exc_info()[1]), or None.
const Value& handled_exception(Interpreter& in);
// A failure (failure.h) whose exception's message is the words.
Value failure(Interpreter& in, ErrorKind kind, std::initializer_list<std::string_view> words);
// The exception as a failure.
inline Value failure_of(Value exception) noexcept {
  exception.release();  // Undefined from here on, with the object in it
  return exception;
}
void add_traceback(Interpreter& in, Exception* exception, const Frame& frame);

// Does the exception match what stands behind `except`? TypeError for anything but classes of exceptions.
bool exception_matches(Interpreter& in, const Value& exception, const Value& classes);

// KeyError(key): the message is the key's repr.
[[noreturn]] void throw_key_error(Interpreter& in, const Value& key);
[[noreturn]] void throw_syntax_error(Interpreter& in, const Source& source, const SyntaxError& error);
// With the class's name and the attribute, for suggestions.
[[noreturn]] void throw_attribute_error(Interpreter& in, const Value& object, Str* name, std::string message);
[[noreturn]] void throw_name_error(Interpreter& in, Str* name);
Value make_name_error(Interpreter& in, Str* name);
[[noreturn]] void throw_import_error(Interpreter& in, ErrorKind kind, const Value& name, std::string message);

// Traceback, chain and message, as CPython prints an exception that nobody caught (traceback.cpp).
std::string format_traceback(Interpreter& in, const Value& exception);
// The last line or lines only: "ValueError: message".
std::string format_exception_only(Interpreter& in, const Value& exception);
// The entries of a Traceback alone, "  File …" and so on.
std::string format_traceback_entries(Interpreter& in, const Value& traceback);
std::string format_traceback_entry(const Traceback* entry);
uint32_t traceback_line(const Traceback* traceback);

// The same as data, for those who show it at its place in an editor.
struct ErrorFrame {
  std::string file, function;
  // Lines from 1, columns from 0 in characters, the end behind the last one; of an end of 0 nothing is known.
  int64_t line = 0, column = 0, end_line = 0, end_column = 0;
};
// From the outermost frame to where it was raised; of a SyntaxError the place in the text comes last.
std::vector<ErrorFrame> error_frames(Interpreter& in, const Value& exception);
// What stands below the message: ours, then those of add_note.
std::vector<std::string> error_notes(Interpreter& in, const Value& exception);

// The tree of classes, and traceback objects.
void make_exception_types(Interpreter& in);

}  // namespace tessera::lang
