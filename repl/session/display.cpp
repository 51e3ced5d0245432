// compile: small (waits for a person)
#include "repl/session/display.h"

#include <algorithm>
#include <exception>

#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"
#include "repl/session/uncaught.h"

namespace tessera::repl {
using namespace lang;

namespace {

constexpr std::pair<const char*, std::string_view> kMethods[] = {
    {"_repr_png_", "image/png"},
    {"_repr_svg_", "image/svg+xml"},
    {"_repr_html_", "text/html"},
    {"_repr_markdown_", "text/markdown"},
    {"_repr_latex_", "text/latex"},
    {"_repr_jpeg_", "image/jpeg"},
    {"_repr_json_", "application/json"},
    {"_repr_pdf_", "application/pdf"},
    {"_repr_javascript_", "application/javascript"},
};

bool has_method(Interpreter& in, const Value& value, const char* method) {
  return value.is_object() && value.as_object()->kind == ObjectKind::Instance &&
         !type_lookup(value.as_object()->type, intern(in, method)).is_undefined();
}

// Does what scripts may make fail; what they raise is a problem of the value that is shown. NotImplementedError is none: there is no
// such form this time.
template <class Do>
void try_to(Interpreter& in, std::string& problems, Do&& act) {
  try {
    act();
  } catch (const std::exception&) {
    if (in.is_stopping()) throw;
    const Value exception = current_native_exception(in);
    if (!is_error(in, exception, ErrorKind::NotImplementedError)) problems += text_of_exception(in, exception);
  }
}

// What the method of its class answers.
Value answer_of(Interpreter& in, const Value& value, const char* method) {
  return has_method(in, value, method) ? call_method(in, value, intern(in, method)) : Value::none();
}

// This method is asked for several forms, and told that all are wanted.
Value bundle_of(Interpreter& in, const Value& value) {
  if (!has_method(in, value, "_repr_mimebundle_")) return Value::none();
  const Value wanted[] = {Value::none(), Value::none()};
  const Value names = make_tuple(in, {make_str(in, "include"), make_str(in, "exclude")});
  return call(in, get_attr(in, value, intern(in, "_repr_mimebundle_")), Args{wanted, 2, as_tuple(names)});
}

Value call_in(Interpreter& in, const char* module, const char* function, const Value& argument) {
  return call_method(in, Value(static_cast<Object*>(in.import(module))), intern(in, function), {argument});
}

// JSON has no NaN and no infinity: they raise.
std::string json_text(Interpreter& in, const Value& value) {
  const Value given[] = {value, Value::boolean(false)};
  const Value names = make_tuple(in, {make_str(in, "allow_nan")});
  const Value dumps = get_attr(in, Value(static_cast<Object*>(in.import("json"))), intern(in, "dumps"));
  return str_text(in, call(in, dumps, Args{given, 2, as_tuple(names)}));
}

bool is_json_type(std::string_view type) { return type == "application/json" || type.ends_with("+json"); }

bool is_base64_type(std::string_view type) {
  return (type.starts_with("image/") && !type.ends_with("+xml")) || type == "application/pdf";
}

// In IPython's words.
void refuse(Interpreter& in, std::string_view type, const Value& form, Display& display) {
  display.problems += "FormatterWarning: " + std::string(type) + " formatter returned invalid type " +
                      repr_text(in, call(in, Value(static_cast<Object*>(in.types.type)), {form})) + " (expected " +
                      (is_base64_type(type) ? "<class 'bytes'>" : "<class 'str'>") + ")\n";
}

// None: there is none.
void add_form(Interpreter& in, std::string_view type, const Value& given, Display& display) {
  if (given.is_none()) return;
  const bool has_metadata = is_tuple(given) && as_tuple(given)->size == 2;
  Value form = has_metadata ? (*as_tuple(given))[0] : given;
  if (has_metadata && is_dict((*as_tuple(given))[1]))
    display.metadata.emplace_back(type, json_text(in, (*as_tuple(given))[1]));
  if (is_str(form) && is_base64_type(type)) form = call_in(in, "binascii", "a2b_base64", form);
  std::string data;
  if (is_json_type(type))
    data = json_text(in, is_str(form) || is_bytes(form) ? call_in(in, "json", "loads", form) : form);
  else if (is_str(form)) data = text_of(form);
  else if (is_bytes(form)) data = as_bytes(form)->view();
  else return refuse(in, type, form, display);
  if (type == "text/plain") display.text = std::move(data);
  else if (type == "text/html") display.html = std::move(data);
  else if (type == "image/svg+xml") display.svg = std::move(data);
  else if (type == "image/png") display.png = std::move(data);
  else display.others.push_back({std::string(type), std::move(data)});
}

bool has_form(const Display& display, std::string_view type) {
  if (type == "text/html") return !display.html.empty();
  if (type == "image/svg+xml") return !display.svg.empty();
  if (type == "image/png") return !display.png.empty();
  return std::ranges::any_of(display.others, [&](const Display::Form& form) { return form.type == type; });
}

// By MIME type. A copy: JSON is written by a script, which might change the dict.
std::vector<std::pair<Value, Value>> items_of(const Value& forms) {
  std::vector<std::pair<Value, Value>> items;
  if (!is_dict(forms)) return items;
  dict_for_each(as_dict(forms), [&](const Value& type, const Value& form) {
    if (is_str(type)) items.emplace_back(type, form);
  });
  return items;
}

}  // namespace

void add_form_bundle(Interpreter& in, const Value& bundle, Display& display) {
  const bool has_metadata = is_tuple(bundle) && as_tuple(bundle)->size == 2;
  for (const auto& [type, form] : items_of(has_metadata ? (*as_tuple(bundle))[0] : bundle))
    try_to(in, display.problems, [&] { add_form(in, text_of(type), form, display); });
  if (has_metadata) add_metadata(in, (*as_tuple(bundle))[1], display);
}

void add_metadata(Interpreter& in, const Value& metadata, Display& display) {
  for (const auto& [type, told] : items_of(metadata))
    try_to(in, display.problems, [&] { display.metadata.emplace_back(text_of(type), json_text(in, told)); });
}

bool keep_forms(Interpreter& in, const Value& include, const Value& exclude, Display& display) {
  const auto is_kept = [&](std::string_view type) {
    const Value name = make_str(in, type);
    return (!truth(in, include) || contains(in, include, name)) && !(truth(in, exclude) && contains(in, exclude, name));
  };
  if (!is_kept("text/plain")) display.text.clear();
  if (!is_kept("text/html")) display.html.clear();
  if (!is_kept("image/svg+xml")) display.svg.clear();
  if (!is_kept("image/png")) display.png.clear();
  std::erase_if(display.others, [&](const Display::Form& form) { return !is_kept(form.type); });
  return !(display.text.empty() && display.html.empty() && display.svg.empty() && display.png.empty() &&
           display.others.empty());
}

// Scripts run here, under the limits of a run.
std::optional<Display> display_of(Interpreter& in, const Value& value) {
  const RunScope run(in.vm());
  Display display;
  bool is_shown = false;
  try_to(in, display.problems, [&] {
    if (!has_method(in, value, "_ipython_display_")) return;
    answer_of(in, value, "_ipython_display_");
    is_shown = true;
  });
  if (is_shown) return std::nullopt;
  display.text = repr_text(in, value);
  try_to(in, display.problems, [&] { add_form_bundle(in, bundle_of(in, value), display); });
  for (const auto& [method, type] : kMethods)
    if (!has_form(display, type))
      try_to(in, display.problems, [&] { add_form(in, type, answer_of(in, value, method), display); });
  return display;
}

}  // namespace tessera::repl
