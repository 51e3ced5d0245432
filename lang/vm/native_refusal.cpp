// compile: small (runs when a call is refused)
#include "lang/vm/native_refusal.h"

#include <algorithm>
#include <string>

#include "lang/compiler/chunk.h"
#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/types/bigint.h"
#include "lang/types/dict.h"
#include "lang/types/number.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

namespace {

Value answer_nothing(Interpreter&, const Args&) { return Value::none(); }

bool is_special(std::string_view name) {
  return name.starts_with("__") && name != "__init__" && name != "__new__" && name != "__call__";
}

// The function's entry in the module's `__parsed__`: the name that CPython's format string (PyArg_Parse) gives the function. The entry ""
// serves every other function that takes keywords, several parameters or optional ones. Returns null if CPython parses the function's
// arguments without a format string.
const Value* parsed_name(const Function* function, const Type* owner, uint32_t skip) {
  const Value* const names = dict_get_text(function->globals, "__parsed__");
  if (names == nullptr || !is_dict(*names)) return nullptr;
  const Dict* const dict = as_dict(*names);
  const Code& code = *function->code;
  const std::string_view name = function->name->view();
  const bool slot = owner != nullptr && stands_for_slot(name, owner) && name != "__init__";
  const bool many = code.positional + code.keyword_only > skip + 1 || code.positional > std::max(code.positional_only, skip) ||
                    !function->defaults.is_undefined();
  for (const std::string_view key : {function->qualname->view(), name, std::string_view()}) {
    if (key.empty() && (slot || !many)) return nullptr;
    if (const Value* const found = dict_get_text(dict, key)) return found;
  }
  return nullptr;
}

// As inspect.signature() can read it: no object that only the library knows.
std::string default_text(Interpreter& in, const Value& value) {
  return value.is_object() && !is_str(value) && !is_tuple(value) ? "<unrepresentable>" : repr_text(in, value);
}

// "(self, key, /, last=...)", the parameters from number `from` on as a signature of native functions has them. `shown`: with the values of
// the defaults.
std::string parameter_text(Interpreter* shown, const Function* function, uint32_t from) {
  const Code& code = *function->code;
  const uint32_t defaults = function->defaults.is_undefined() ? 0 : as_tuple(function->defaults)->size;
  const uint32_t first_default = code.positional - std::min(defaults, code.positional);
  const uint32_t only = is_special(function->name->view()) ? code.positional : code.positional_only;
  std::string text = "(";
  const auto add = [&](std::string_view part, const Value* value) {
    if (text.size() > 1) text += ", ";
    text += part;
    if (value != nullptr) text += "=" + (shown == nullptr ? "..." : default_text(*shown, *value));
  };
  for (uint32_t i = from; i < code.positional; ++i) {
    add(code.parameters[i]->view(), i >= first_default ? as_tuple(function->defaults)->items + (i - first_default) : nullptr);
    if (i + 1 == only) add("/", nullptr);
  }
  uint32_t next = code.positional + code.keyword_only;
  if (code.code_flags & kVarArgs) add("*" + std::string(code.parameters[next++]->view()), nullptr);
  else if (code.keyword_only != 0) add("*", nullptr);
  for (uint32_t i = 0; i < code.keyword_only; ++i) {
    Str* const name = code.parameters[code.positional + i];
    add(name->view(), function->keyword_defaults.is_undefined() ? nullptr : dict_get_str(as_dict(function->keyword_defaults), name));
  }
  if (code.code_flags & kVarKeywords) add("**" + std::string(code.parameters[next]->view()), nullptr);
  return text + ")";
}

// The class whose method the function is, or null: the module has it under the first part of the qualified name.
Type* owner_of(const Function* function) {
  const std::string_view path = function->qualname->view();
  const size_t dot = path.find('.');
  if (dot == path.npos || path.find('<') != path.npos) return nullptr;
  const Value* const found = dict_get_text(function->globals, std::string(path.substr(0, dot)));
  return found != nullptr && is_type(*found) ? as_type(*found) : nullptr;
}

// Formats for positions alone count too few arguments as they count too many.
void check_count(std::string_view name, const Function* function, const Args& args, uint32_t skip) {
  const uint32_t given = args.positional() - skip;
  const Code& code = *function->code;
  if (!name.empty() && (code.positional_only != code.positional || (code.code_flags & (kVarArgs | kVarKeywords)) != 0)) return;
  const uint32_t defaults = function->defaults.is_undefined() ? 0 : as_tuple(function->defaults)->size;
  if (name.empty()) {
    if (given + skip > code.positional)
      throw_error(ErrorKind::TypeError, "expected at most %u arguments, got %u", code.positional - skip, given);
    return;
  }
  if (args.keyword_names != nullptr && args.keyword_names->size != 0)
    throw Error(ErrorKind::TypeError, std::string(function->name->view()) + "() takes no keyword arguments");
  const uint32_t least = code.positional - defaults;
  if (given + skip >= least && given + skip <= code.positional) return;
  const uint32_t count = given + skip < least ? least - skip : code.positional - skip;
  throw Error(ErrorKind::TypeError, std::string(name) + "() takes " +
                                        (defaults == 0 ? "exactly " : given + skip < least ? "at least " : "at most ") + std::to_string(count) +
                                        (count == 1 ? " argument (" : " arguments (") + std::to_string(given) + " given)");
}

}  // namespace

bool is_native_in_cpython(Interpreter& in, const Dict* globals, std::string_view qualname) {
  const Value* const names = dict_get_text(globals, "__native__");
  if (names == nullptr) return false;
  if (!is_tuple(*names)) return truth(in, *names);
  for (const Value& name : *as_tuple(*names)) {
    if (is_str(name) && text_of(name) == qualname.substr(0, qualname.find('.'))) return true;
  }
  return false;
}

namespace {

// The words for a format without a name: "function takes at most 1 argument (2 given)".
void leave_out_name(std::string& message) {
  constexpr std::string_view kName = "function()", kFor = "for function()";
  if (message.starts_with("argument for function()")) message.erase(std::string_view("argument for function").size(), 2);
  else if (const size_t at = message.find(kFor); at != message.npos) message.replace(at, kFor.size(), "for this function");
  else if (message.starts_with(kName)) message.erase(kName.size() - 2, 2);
}

// Whether the module has a method of an object of its own under the method's name: CPython has a function there.
bool is_offered_by_module(const Function* function) {
  const Value* const found = dict_get_text(function->globals, function->name->view());
  return found != nullptr && found->is_object() && found->as_object()->kind == ObjectKind::BoundMethod &&
         known_cast<BoundMethod>(*found)->function.as_object() == function;
}

void as_c_int(Interpreter& in, const Value& value, bool of_week) {
  const Value whole = whole_index(in, value);
  if (of_week && (is_big_int(whole) || whole.as_int() > INT32_MAX || whole.as_int() < INT32_MIN))
    throw Error(ErrorKind::ValueError, "ISO calendar component out of range");
  if (is_big_int(whole)) throw Error(ErrorKind::OverflowError, "Python int too large to convert to C long");
  if (whole.as_int() > INT32_MAX) throw Error(ErrorKind::OverflowError, "signed integer is greater than maximum");
  if (whole.as_int() < INT32_MIN) throw Error(ErrorKind::OverflowError, "signed integer is less than minimum");
}

// The format of one argument, with its number from 1 on and the name of its function for refusals.
struct FormatItem {
  std::string_view kind;  // "i", "w", "s", "C", or the name of a class
  const Function* function;
  const std::string& name;
  size_t position;
};

void convert(Interpreter& in, const FormatItem& item, const Value& value) {
  const auto refuse = [&](const std::string& wanted) {
    throw Error(ErrorKind::TypeError, item.name + "() argument " + std::to_string(item.position) + " must be " + wanted + ", not " + argument_type(in, value));
  };
  if (item.kind == "i" || item.kind == "w") return as_c_int(in, value, item.kind == "w");
  if (item.kind == "s") return is_str(value) ? void() : refuse("str");
  if (item.kind == "C") return is_str(value) && as_str(value)->length == 1 ? void() : refuse("a unicode character");
  const Value* const type = dict_get_text(item.function->globals, std::string(item.kind));
  if (type != nullptr && is_type(*type) && !is_instance(in, value, as_type(*type))) refuse(std::string(type_name(in, as_type(*type))));
}

// A format converts an argument before it misses the next one. `format` has an item for each parameter; a "|" ends the required ones.
void convert_by_format(Interpreter& in, const Function* function, const std::string& name, std::string_view format, const Args& args, uint32_t skip,
                       Signature& signature) {
  bool optional = false;
  for (size_t at = 0, position = 1; at < format.size(); ++position) {
    if (format[at] == '|') {
      optional = true;
      if (++at == format.size()) return;
    }
    const size_t end = format[at] == '{' ? format.find('}', at) : at;
    const std::string_view kind = end == at ? format.substr(at, 1) : format.substr(at + 1, end - at - 1);
    at = end + 1;
    const uint32_t index = static_cast<uint32_t>(position - 1) + skip;
    if (index < signature.parameters.size() && !optional) signature.parameters[index].optional = false;
    if (index < args.positional()) convert(in, {kind, function, name, position}, args[index]);
  }
}

}  // namespace

void refuse_native_call(Interpreter& in, const Function* function, const Args& given) {
  if (function->qualname->view().find('<') != std::string_view::npos) return;
  const Code& code = *function->code;
  Type* const owner = owner_of(function);
  const Value* const all = dict_get_text(function->globals, "__native__");
  const Value* const formats = dict_get_text(function->globals, "__parsed__");
  if (formats != nullptr && !is_dict(*formats)) return;
  if (owner == nullptr && (all == nullptr || is_tuple(*all))) return;
  const std::string_view first = code.positional == 0 ? std::string_view() : code.parameters[0]->view();
  const bool of_class = owner != nullptr && first == "cls", method = owner != nullptr && (of_class || first == "self");
  const bool offered = method && given.positional() != 0 && is_offered_by_module(function);
  const uint32_t skip = method ? 1 : 0;
  const Args args = offered ? Args{given.values + 1, given.count - 1, given.keyword_names} : given;
  const Value* const parsed = parsed_name(function, owner, skip);
  const std::string_view format = parsed != nullptr ? text_of(*parsed) : function->name->view();
  const std::string name(format.substr(0, format.find(':')));
  const std::string text = name + parameter_text(nullptr, function, offered ? 1 : 0);
  Signature signature = parse_signature(in, text);
  if (method && name == "__init__") signature.function_name = owner->name->view();
  const Value made = in.new_function(text.c_str(), "", answer_nothing);
  auto* const f = known_cast<NativeFunction>(made);
  f->signature = &signature;
  if (method && !offered) own_method(in, f, owner);
  else if (is_str(function->module)) f->module = as_str(function->module);
  f->takes_class = of_class;
  try {
    if (parsed != nullptr && args.positional() >= skip) {
      if (name.size() != format.size() && args.count <= code.positional) convert_by_format(in, function, name, format.substr(name.size() + 1), args, skip, signature);
      check_count(name, function, args, skip);
    }
    call_native(in, f, args);
  } catch (Error& error) {
    if (name == "function") leave_out_name(error.message);
    throw;
  }
}

std::string signature_in_c(Interpreter& in, const Function* function, bool is_method) {
  const std::string text = parameter_text(&in, function, 0);
  if (!is_method) return text;
  if (function->code->positional == 0 || function->code->parameters[0]->view() == "self") return "($" + text.substr(1);
  const std::string rest = parameter_text(&in, function, 1).substr(1);
  return (rest == ")" ? "($self, /" : "($self, /, ") + rest;
}

}  // namespace tessera::lang
