// compile: small (runs after an error)
#include "lang/objects/exception_types.h"
#include "lang/core/object_cast.h"
#include "lang/objects/unicode_errors.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "lang/objects/attribute.h"
#include "lang/core/bind.h"
#include "lang/objects/exception.h"
#include "lang/objects/exception_group.h"
#include "lang/vm/frame.h"
#include "lang/vm/frame_object.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/syntax/source.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {

namespace {

struct ClassRow {
  const char* name;
  const char* base;
};

constexpr struct {
  std::string_view name;
  ErrorKind base;
} kClasses[] = {
#define TS_ERROR(name, base) {#name, ErrorKind::base},
#include "lang/core/errors.def"
#undef TS_ERROR
};

// --- slots

void traverse_exception(Object* object, Visitor& visitor) {
  const Exception* e = known_cast<Exception>(object);
  visitor(e->args);
  visitor(e->cause);
  visitor(e->context);
  visitor(e->traceback);
  for (const Value& field : e->fields) visitor(field);
}

void clear_exception(Interpreter& in, Object* object) {
  Exception* const e = known_cast<Exception>(object);
  e->args = in.shared != nullptr ? in.shared->empty_tuple : Value::none();
  e->cause = Value::none();
  e->context = Value::none();
  e->traceback = Value::none();
  for (Value& field : e->fields) field = Value();
}

const Value& field(const Exception* e, int i) {
  static const Value kNone = Value::none();
  return e->fields[i].is_undefined() ? kNone : e->fields[i];
}

std::string os_error_text(Interpreter& in, const Exception* e) {
  std::string text = "[Errno " + str_text(in, e->fields[0]) + "] " + str_text(in, e->fields[1]);
  if (!field(e, 2).is_none()) text += ": " + repr_text(in, e->fields[2]);
  if (!field(e, 3).is_none()) text += " -> " + repr_text(in, e->fields[3]);
  return text;
}

std::string syntax_error_text(Interpreter& in, const Exception* e) {
  std::string text = str_text(in, field(e, 0));
  const bool has_file = is_str(field(e, 1)), has_line = field(e, 2).is_int();
  if (!has_file && !has_line) return text;
  std::string file = has_file ? std::string(text_of(field(e, 1))) : "";
  file = file.substr(file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1);
  if (!has_line) return text + " (" + file + ")";
  const std::string line = "line " + str_text(in, field(e, 2));
  return text + " (" + (has_file ? file + ", " : "") + line + ")";
}

Value args_text(Interpreter& in, const Exception* e) {
  const Tuple* args = as_tuple(e->args);
  if (args->size == 0) return in.shared->empty_str;
  if (args->size == 1) return str(in, (*args)[0]);
  return repr(in, e->args);
}

Value exception_str(Interpreter& in, const Value& self) {
  const Exception* e = as_exception(self);
  if (is_error(in, self, ErrorKind::KeyError) && as_tuple(e->args)->size == 1) return repr(in, (*as_tuple(e->args))[0]);
  if (is_error(in, self, ErrorKind::OSError) && !field(e, 0).is_none() && !field(e, 1).is_none()) {
    return make_str(in, os_error_text(in, e));
  }
  if (is_error(in, self, ErrorKind::SyntaxError) && !e->fields[0].is_undefined()) {
    return make_str(in, syntax_error_text(in, e));
  }
  if (is_error(in, self, ErrorKind::ImportError) && is_str(field(e, 0))) return e->fields[0];
  if (is_unicode_fault(in, self) && !e->fields[1].is_undefined()) return make_str(in, unicode_fault_text(in, e));
  return args_text(in, e);
}

Value exception_repr(Interpreter& in, const Value& self) {
  const Exception* e = as_exception(self);
  const Tuple* args = as_tuple(e->args);
  std::string text(e->type->name->view());
  if (args->size == 1) return make_str(in, text + "(" + repr_text(in, (*args)[0]) + ")");
  return make_str(in, text + repr_text(in, e->args));
}

// --- fields from args

Type* os_error_class(Interpreter& in, int64_t number) {
  switch (number) {
    case 1:
    case 13: return error_type(in, ErrorKind::PermissionError);
    case 2: return error_type(in, ErrorKind::FileNotFoundError);
    case 3: return error_type(in, ErrorKind::ProcessLookupError);
    case 4: return error_type(in, ErrorKind::InterruptedError);
    case 10: return error_type(in, ErrorKind::ChildProcessError);
    case 11:
    case 114:
    case 115: return error_type(in, ErrorKind::BlockingIOError);
    case 17: return error_type(in, ErrorKind::FileExistsError);
    case 20: return error_type(in, ErrorKind::NotADirectoryError);
    case 21: return error_type(in, ErrorKind::IsADirectoryError);
    case 32: return error_type(in, ErrorKind::BrokenPipeError);
    case 103: return error_type(in, ErrorKind::ConnectionAbortedError);
    case 104: return error_type(in, ErrorKind::ConnectionResetError);
    case 108: return error_type(in, ErrorKind::BrokenPipeError);
    case 111: return error_type(in, ErrorKind::ConnectionRefusedError);
    case 110: return error_type(in, ErrorKind::TimeoutError);
    default: return error_type(in, ErrorKind::OSError);
  }
}

void fill_os_error(Interpreter& in, Exception* e) {
  const Tuple* args = as_tuple(e->args);
  if (args->size < 2 || args->size > 5) return;
  e->fields[0] = (*args)[0];
  e->fields[1] = (*args)[1];
  // A number in the place of a BlockingIOError's filename counts what was written before.
  if (args->size == 3 && (*args)[2].is_int() && is_error(in, Value(e), ErrorKind::BlockingIOError)) {
    e->fields[4] = (*args)[2];
    return;
  }
  if (args->size > 2) e->fields[2] = (*args)[2];
  if (args->size > 4) e->fields[3] = (*args)[4];
  if (args->size > 2) e->args = make_tuple(in, args->items, 2);
}

void fill_syntax_error(Interpreter& in, Exception* e) {
  const Tuple* args = as_tuple(e->args);
  if (args->size > 0) e->fields[0] = (*args)[0];
  if (args->size != 2) return;
  const Value all = tuple_from(in, (*args)[1]);
  const Tuple* details = as_tuple(all);
  if (details->size < 4 || details->size > 6)
    throw_error(ErrorKind::TypeError, "function takes at %s arguments (%u given)", details->size < 4 ? "least 4" : "most 6", details->size);
  if (details->size == 5) throw Error(ErrorKind::TypeError, "end_offset must be provided when end_lineno is provided");
  for (uint32_t i = 0; i < 4; ++i) e->fields[1 + i] = (*details)[i];
  e->fields[5] = all;  // end_lineno and end_offset are read from items 4 and 5 of this tuple
}

}  // namespace

namespace {

// Is the class below one of those whose fields follow from args? Those that no program has used yet are null.
bool has_fields_from_args(const Interpreter& in, const Type* type) {
  const auto& errors = in.types.errors;
  const auto of = [&](ErrorKind kind) { return errors[static_cast<size_t>(kind)]; };
  const Type *const stop = of(ErrorKind::StopIteration), *const exit = of(ErrorKind::SystemExit), *const os = of(ErrorKind::OSError),
             *const import = of(ErrorKind::ImportError), *const syntax = of(ErrorKind::SyntaxError);
  constexpr size_t kLast = 2;  // BaseException and object
  const Type* const* const bases = type->mro.data();
  for (size_t i = 0, end = type->mro.size(); i + kLast < end; ++i) {
    const Type* const base = bases[i];
    if ((base == stop) | (base == exit) | (base == os) | (base == import) | (base == syntax)) return true;
  }
  return false;
}

}  // namespace

void fill_exception(Interpreter& in, Exception* e, const Value& args) {
  e->args = args;
  if ((e->type->type_flags & kPlainException) || !has_fields_from_args(in, e->type)) return;
  const Value self(e);
  const Tuple* tuple = as_tuple(args);
  if (is_error(in, self, ErrorKind::StopIteration)) {
    e->fields[0] = tuple->size > 0 ? (*tuple)[0] : Value::none();
  } else if (is_error(in, self, ErrorKind::SystemExit)) {
    e->fields[0] = tuple->size == 0 ? Value::none() : tuple->size == 1 ? (*tuple)[0] : args;
  } else if (is_error(in, self, ErrorKind::OSError)) {
    fill_os_error(in, e);
  } else if (is_error(in, self, ErrorKind::ImportError)) {
    e->fields[0] = tuple->size == 1 ? (*tuple)[0] : Value::none();
    e->fields[1] = e->fields[2] = Value::none();
  } else if (is_error(in, self, ErrorKind::SyntaxError)) {
    fill_syntax_error(in, e);
  }
}

namespace {

// name=, path= of ImportError; name=, obj= of AttributeError; name= of NameError. True: the keyword was one of them.
bool take_keyword(Interpreter& in, Exception* e, std::string_view key, const Value& value) {
  const Value self(e);
  if (is_error(in, self, ErrorKind::ImportError) && (key == "name" || key == "path")) {
    e->fields[key == "name" ? 1 : 2] = value;
    return true;
  }
  if (is_error(in, self, ErrorKind::AttributeError) && (key == "name" || key == "obj")) {
    e->fields[key == "name" ? 0 : 1] = value;
    return true;
  }
  if (is_error(in, self, ErrorKind::NameError) && key == "name") {
    e->fields[0] = value;
    return true;
  }
  return false;
}

// Refuses a keyword, one of `count`, that the exception's native __init__ does not take.
void check_keyword(Interpreter& in, const Type* type, std::string_view key, uint32_t count) {
  struct Named {
    ErrorKind kind;
    std::string_view names[2];
  };
  constexpr Named kNamed[] = {{ErrorKind::ImportError, {"name", "path"}}, {ErrorKind::AttributeError, {"name", "obj"}}, {ErrorKind::NameError, {"name", ""}}};
  for (const Named& each : kNamed) {
    const Type* const owner = error_type(in, each.kind);
    if (!type->is_subtype_of(owner)) continue;
    const uint32_t most = each.names[1].empty() ? 1 : 2;
    if (count > most)
      throw_error(ErrorKind::TypeError, "%s() takes at most %u keyword argument%s (%u given)", owner->name->data, most, most == 1 ? "" : "s", count);
    if (key.empty() || (key != each.names[0] && key != each.names[1]))
      throw Error(ErrorKind::TypeError, "'" + std::string(key) + "' is an invalid keyword argument for " + std::string(owner->name->view()) + "()");
    return;
  }
  throw Error(ErrorKind::TypeError, std::string(type->name->view()) + "() takes no keyword arguments");
}

void take_keywords(Interpreter& in, Exception* e, const Args& args) {
  for (uint32_t i = 0; i < args.keyword_names->size; ++i) take_keyword(in, e, text_of((*args.keyword_names)[i]), args[args.positional() + i]);
}

bool has_native_init(Interpreter& in, Type* type) {
  const Value& init = type_lookup(type, in.names->init);
  return init.is_undefined() || !init.is_object() || init.as_object()->kind == ObjectKind::NativeFunction;
}

// Does OSError.__new__ leave the arguments to __init__? So CPython does where a class below has an __init__ and no __new__ of its own.
bool waits_for_init(Interpreter& in, Type* type) {
  const Type* const os = in.types.errors[static_cast<size_t>(ErrorKind::OSError)];  // null: no program has used it yet
  if (!(type->type_flags & kScriptClass) || os == nullptr || !type->is_subtype_of(os) || has_native_init(in, type)) return false;
  const Value& make = type_lookup(type, in.names->new_);
  return make.is(type_lookup(os, in.names->new_));
}

// Class(…): __new__ and, where no script class has its own, __init__ in one.
Value make_instance_of(Interpreter& in, Type* type, const Args& args, bool init) {
  const uint32_t positional = args.keyword_names == nullptr ? args.count : args.count - args.keyword_names->size;
  if (type == error_type(in, ErrorKind::OSError) && positional >= 2 && (args[0].is_int() || args[0].is_bool())) {
    type = os_error_class(in, args[0].as_int());
  }
  if (args.keyword_names != nullptr && has_native_init(in, type)) {
    const uint32_t count = args.keyword_names->size;
    for (uint32_t i = 0; i < count; ++i) check_keyword(in, type, text_of((*args.keyword_names)[i]), count);
  }
  Value made = make_exception(in, type, make_tuple(in, args.values, waits_for_init(in, type) ? 0 : positional));
  if (init && is_unicode_fault(in, made) && has_native_init(in, type)) fill_unicode_fault(in, as_exception(made));
  if (args.keyword_names != nullptr) take_keywords(in, as_exception(made), args);
  return made;
}

Value make_instance(Interpreter& in, Type* type, const Args& args) { return make_instance_of(in, type, args, true); }

Exception* self_of(const Args& args) {
  if (!is_exception(args[0])) throw Error(ErrorKind::TypeError, "an exception is wanted");
  return as_exception(args[0]);
}

Value init_method(Interpreter& in, const Args& args) {
  Exception* const e = self_of(args);
  const Dict* const keywords = as_dict(args[2]);
  dict_for_each(keywords, [&](const Value& key, const Value&) { check_keyword(in, e->type, text_of(key), keywords->count); });
  fill_exception(in, e, args[1]);
  if (is_unicode_fault(in, args[0])) fill_unicode_fault(in, e);
  dict_for_each(keywords, [&](const Value& key, const Value& value) { take_keyword(in, e, text_of(key), value); });
  return Value::none();
}

Value with_traceback_method(Interpreter& in, const Args& args) {
  if (!args[1].is_none() && type_of(in, args[1]) != in.types.traceback) {
    throw Error(ErrorKind::TypeError, "__traceback__ must be a traceback or None");
  }
  self_of(args)->traceback = args[1];
  return args[0];
}

Value add_note_method(Interpreter& in, const Args& args) {
  if (!is_str(args[1])) {
    throw_error(ErrorKind::TypeError, "note must be a str, not '%s'", std::string(type_name(in, args[1])).c_str());
  }
  Value notes = find_attr(in, args[0], in.names->notes);
  if (notes.is_undefined()) {
    notes = make_list(in);
    set_attr(in, args[0], in.names->notes, notes);
  }
  if (!is_list(notes)) throw Error(ErrorKind::TypeError, "Cannot add note: __notes__ is not a list");
  list_append(in, as_list(notes), args[1]);
  return Value::none();
}

// __new__ of each class of exceptions, as a script class with a __new__ of its own calls it.
Value new_method(Interpreter& in, const Args& args) {
  Args rest = args;
  ++rest.values;
  --rest.count;
  Type* const type = object_cast<Type>(args[0]);
  if (makes_groups(type)) {
    const std::string name(type->name->view());
    const std::string owner(args.callee->owner->name->view());
    throw_error(ErrorKind::TypeError, "%s.__new__(%s) is not safe, use %s.__new__()", owner.c_str(), name.c_str(), name.c_str());
  }
  return make_instance_of(in, type, rest, false);
}

constexpr NativeDef kOwnText[] = {
    {"__str__(self, /)", [](Interpreter& in, const Args& args) { return exception_str(in, args[0]); }, "Return str(self)."}};

constexpr NativeDef kNew[] = {{"__new__", new_method}};

constexpr NativeDef kMethods[] = {
    {"__str__(self, /)", [](Interpreter& in, const Args& args) { return args_text(in, as_exception(args[0])); }, "Return str(self)."},
    {"__repr__(self, /)", [](Interpreter& in, const Args& args) { return exception_repr(in, args[0]); }, "Return repr(self)."},
    {"__init__(self, /, *args, **kwargs)", init_method, ""},
    {"with_traceback(self, tb, /)", with_traceback_method, "Sets self.__traceback__ and returns self."},
    {"add_note(self, note, /)", add_note_method, "Adds a line that the traceback shows below the message."},
};

template <int Index>
void add_field(Interpreter& in, Type* type, const char* name) {
  in.add_member(
      type, name, [](Interpreter&, const Args& a) { return field(self_of(a), Index); },
      [](Interpreter&, const Args& a) {
        self_of(a)->fields[Index] = a[1];
        return Value::none();
      },
      "",
      [](Interpreter&, const Args& a) {
        self_of(a)->fields[Index] = Value();
        return Value::none();
      });
}

Value exception_or_none(Interpreter&, const Value& value, const char* what) {
  if (!value.is_none() && !is_exception(value)) {
    throw_error(ErrorKind::TypeError, "exception %s must be None or derive from BaseException", what);
  }
  return value;
}

template <size_t N>
struct FixedText {
  constexpr FixedText(const char (&text)[N]) { std::copy_n(text, N, data); }
  char data[N];
};

template <FixedText Name>
Value refuse_deletion(Interpreter&, const Args&) {
  throw_error(ErrorKind::TypeError, "%s may not be deleted", Name.data);
}

void add_base_properties(Interpreter& in, Type* base) {
  in.add_property(
      base, "args", [](Interpreter&, const Args& a) { return self_of(a)->args; },
      [](Interpreter& i, const Args& a) {
        self_of(a)->args = tuple_from(i, a[1]);
        return Value::none();
      },
      "", refuse_deletion<"args">);
  in.add_property(
      base, "__cause__", [](Interpreter&, const Args& a) { return self_of(a)->cause; },
      [](Interpreter& i, const Args& a) {
        self_of(a)->cause = exception_or_none(i, a[1], "cause");
        self_of(a)->suppress_context = true;
        return Value::none();
      },
      "", refuse_deletion<"__cause__">);
  in.add_property(
      base, "__context__", [](Interpreter&, const Args& a) { return self_of(a)->context; },
      [](Interpreter& i, const Args& a) {
        self_of(a)->context = exception_or_none(i, a[1], "context");
        return Value::none();
      },
      "", refuse_deletion<"__context__">);
  in.add_member(
      base, "__suppress_context__",
      [](Interpreter&, const Args& a) { return Value::boolean(self_of(a)->suppress_context); },
      [](Interpreter& i, const Args& a) {
        self_of(a)->suppress_context = truth(i, a[1]);
        return Value::none();
      });
  in.add_property(
      base, "__traceback__", [](Interpreter&, const Args& a) { return self_of(a)->traceback; },
      [](Interpreter& i, const Args& a) {
        const Value both[] = {a[0], a[1]};
        with_traceback_method(i, Args{both, 2});
        return Value::none();
      },
      "", refuse_deletion<"__traceback__">);
}

// The end of what a SyntaxError speaks of stands in its details only.
Value syntax_detail(const Exception* e, uint32_t at) {
  if (!is_tuple(e->fields[5]) || as_tuple(e->fields[5])->size <= at) return Value::none();
  return (*as_tuple(e->fields[5]))[at];
}

void add_syntax_fields(Interpreter& in, Type* type) {
  add_field<0>(in, type, "msg");
  add_field<1>(in, type, "filename");
  add_field<2>(in, type, "lineno");
  add_field<3>(in, type, "offset");
  add_field<4>(in, type, "text");
  dict_set_str(in, type->attributes(), in.names->print_file_and_line, Value::none());
  in.add_member(type, "end_lineno", [](Interpreter&, const Args& a) { return syntax_detail(self_of(a), 4); });
  in.add_member(type, "end_offset", [](Interpreter&, const Args& a) { return syntax_detail(self_of(a), 5); });
}

void fill_class(Interpreter& in, Type* type) {
  const auto kind =
      static_cast<ErrorKind>(std::find(in.types.errors, in.types.errors + kErrorKinds, type) - in.types.errors);
  if (!makes_groups(type)) in.add_methods(type, kNew, std::size(kNew));
  add_exception_state(in, type, kind);
  constexpr ErrorKind kWithText[] = {ErrorKind::KeyError,           ErrorKind::OSError,            ErrorKind::SyntaxError,          ErrorKind::ImportError,
                                     ErrorKind::UnicodeEncodeError, ErrorKind::UnicodeDecodeError, ErrorKind::UnicodeTranslateError};
  if (std::find(std::begin(kWithText), std::end(kWithText), kind) != std::end(kWithText)) in.add_methods(type, kOwnText, std::size(kOwnText));
  switch (kind) {
    case ErrorKind::BaseException:
      in.add_methods(type, kMethods, std::size(kMethods));
      return add_base_properties(in, type);
    case ErrorKind::StopIteration: return add_field<0>(in, type, "value");
    case ErrorKind::SystemExit: return add_field<0>(in, type, "code");
    case ErrorKind::OSError:
      add_field<0>(in, type, "errno");
      add_field<1>(in, type, "strerror");
      add_field<2>(in, type, "filename");
      return add_field<3>(in, type, "filename2");
    case ErrorKind::BlockingIOError:
      return in.add_property(
          type, "characters_written",
          [](Interpreter&, const Args& a) {
            const Value& written = self_of(a)->fields[4];
            if (written.is_undefined()) throw Error(ErrorKind::AttributeError, "characters_written");
            return written;
          },
          [](Interpreter& i, const Args& a) {
            self_of(a)->fields[4] = Value::integer(index(i, a[1]));
            return Value::none();
          },
          "",
          [](Interpreter&, const Args& a) {
            if (self_of(a)->fields[4].is_undefined()) throw Error(ErrorKind::AttributeError, "characters_written");
            self_of(a)->fields[4] = Value();
            return Value::none();
          });
    case ErrorKind::ImportError:
      add_field<0>(in, type, "msg");
      add_field<1>(in, type, "name");
      return add_field<2>(in, type, "path");
    case ErrorKind::NameError: return add_field<0>(in, type, "name");
    case ErrorKind::AttributeError: add_field<0>(in, type, "name"); return add_field<1>(in, type, "obj");
    case ErrorKind::SyntaxError: return add_syntax_fields(in, type);
    case ErrorKind::UnicodeDecodeError:
    case ErrorKind::UnicodeEncodeError: add_field<0>(in, type, "encoding"); [[fallthrough]];
    case ErrorKind::UnicodeTranslateError:
      add_field<1>(in, type, "object");
      add_field<2>(in, type, "start");
      add_field<3>(in, type, "end");
      return add_field<4>(in, type, "reason");
    default: return;
  }
}

// --- tracebacks

void traverse_traceback(Object* object, Visitor& visitor) {
  visitor(known_cast<Traceback>(object)->next);
  visitor(known_cast<Traceback>(object)->globals);
  visitor(known_cast<Traceback>(object)->variables);
}

void clear_traceback(Interpreter&, Object* object) {
  known_cast<Traceback>(object)->next = Value::none();
  known_cast<Traceback>(object)->globals = Value();
  known_cast<Traceback>(object)->variables = Value();
}

Traceback* traceback_of(const Args& args) { return object_cast<Traceback>(args[0]); }

Type* plain_type(Interpreter& in, const char* name, uint32_t size) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "builtins";
  spec.kind = ObjectKind::Other;
  spec.size = size;
  spec.flags = kFinalType;
  return in.new_type(spec);
}

Type* make_class(Interpreter& in, ErrorKind kind, Type* base) {
  NativeTypeSpec spec;
  spec.name = kClasses[static_cast<size_t>(kind)].name;
  spec.module = "builtins";
  spec.kind = ObjectKind::Exception;
  spec.size = sizeof(Exception) + sizeof(Attributes);
  spec.flags = kExceptionType;
  spec.base = base;
  Type* const type = in.new_type(spec);
  type->attributes_offset = sizeof(Exception);
  constexpr ErrorKind kWithFields[] = {ErrorKind::StopIteration, ErrorKind::SystemExit,         ErrorKind::OSError,
                                       ErrorKind::ImportError,   ErrorKind::SyntaxError,        ErrorKind::UnicodeError,
                                       ErrorKind::BaseExceptionGroup};
  const bool has_fields = std::find(std::begin(kWithFields), std::end(kWithFields), kind) != std::end(kWithFields);
  if (kind == ErrorKind::BaseException || (!has_fields && (base->type_flags & kPlainException))) type->type_flags |= kPlainException;
  type->slots.destroy = destroy_exception;
  type->slots.traverse = traverse_exception;
  type->slots.clear = clear_exception;
  type->slots.repr = exception_repr;
  type->slots.str = exception_str;
  type->make = make_instance;
  type->fill_later(fill_class);
  return type;
}

// tb_next = value: what takes rows out of a traceback.
Value set_next_traceback(Interpreter& in, const Args& args) {
  const Value& next = args[1];
  if (!next.is_none() && type_of(in, next) != in.types.traceback)
    throw_error(ErrorKind::TypeError, "expected traceback object, got '%s'", std::string(type_name(in, next)).c_str());
  Traceback* const self = traceback_of(args);
  for (Value each = next; each.is_object(); each = Value(known_cast<Traceback>(each)->next))
    if (each.as_object() == self) throw_error(ErrorKind::ValueError, "traceback loop detected");
  self->next = next;
  return Value::none();
}

// What fills a traceback.
void fill_traceback(Interpreter& in, Type* type) {
  in.add_property(type, "tb_next", [](Interpreter&, const Args& a) { return traceback_of(a)->next; }, set_next_traceback);
  in.add_property(type, "tb_lineno",
                  [](Interpreter&, const Args& a) { return Value::integer(traceback_line(traceback_of(a))); });
  in.add_member(type, "tb_lasti", [](Interpreter&, const Args& a) { return Value::integer(int64_t{2} * traceback_of(a)->word); });
  in.add_member(type, "tb_frame",
                  [](Interpreter& i, const Args& a) { return frame_object(i, traceback_of(a)); });
}

}  // namespace

Type* make_error_type(Interpreter& in, ErrorKind kind) {
  const Heap::Essential essential(in.heap);
  Type* base = in.types.object;
  if (kind != ErrorKind::BaseException) base = error_type(in, kClasses[static_cast<size_t>(kind)].base);
  const bool is_group = kind == ErrorKind::BaseExceptionGroup || kind == ErrorKind::ExceptionGroup;
  Type* const type = make_class(in, kind, base);
  if (is_group) become_exception_group(in, type, kind);
  return in.types.errors[static_cast<size_t>(kind)] = type;
}

Value late_exception(Interpreter& in, std::string_view name) {
  if (name == "IOError" || name == "EnvironmentError") return Value(error_type(in, ErrorKind::OSError));
  for (size_t kind = 0; kind < kErrorKinds; ++kind) {
    if (kClasses[kind].name == name) return Value(error_type(in, static_cast<ErrorKind>(kind)));
  }
  return Value();
}

std::vector<std::string_view> exception_names() {
  std::vector<std::string_view> names{"IOError", "EnvironmentError"};
  for (const auto& row : kClasses) names.push_back(row.name);
  return names;
}

std::vector<Type*> exception_subclasses(Interpreter& in, Type* base) {
  std::vector<Type*> found;
  for (size_t kind = 0; kind < kErrorKinds; ++kind) {
    Type* const type = error_type(in, static_cast<ErrorKind>(kind));
    if (std::find(type->bases.begin(), type->bases.end(), base) != type->bases.end()) found.push_back(type);
  }
  // CPython makes them in the order of their names, and ExceptionGroup behind all.
  std::sort(found.begin(), found.end(), [&](const Type* a, const Type* b) {
    const Type* const last = error_type(in, ErrorKind::ExceptionGroup);
    return (a == last) != (b == last) ? b == last : a->name->view() < b->name->view();
  });
  const size_t built_in = found.size();
  for (Type* type : base->subclasses) {
    const auto end = found.begin() + static_cast<ptrdiff_t>(built_in);
    if (type != nullptr && std::find(found.begin(), end, type) == end) found.push_back(type);
  }
  return found;
}

void make_exception_types(Interpreter& in) {
  in.types.traceback = plain_type(in, "traceback", sizeof(Traceback));
  Type* const t = in.types.traceback;
  t->slots.destroy = destroy_traceback;
  t->slots.traverse = traverse_traceback;
  t->slots.clear = clear_traceback;
  t->fill_later(fill_traceback);
}

}  // namespace tessera::lang
