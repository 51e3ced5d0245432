#include "repl/session/display.h"

#include <exception>

#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::repl {
using namespace lang;

namespace {

constexpr std::pair<const char*, std::string_view> kMethods[] = {
    {"_repr_png_", "image/png"},          {"_repr_svg_", "image/svg+xml"}, {"_repr_html_", "text/html"},
    {"_repr_markdown_", "text/markdown"}, {"_repr_latex_", "text/latex"},  {"_repr_jpeg_", "image/jpeg"},
    {"_repr_json_", "application/json"},
};

// What the method of its class answers; Undefined: there is none, it raises, or it says None.
Value answer_of(Interpreter& in, const Value& value, const char* method) {
  Str* const name = intern(in, method);
  if (type_lookup(value.as_object()->type, name).is_undefined()) return Value();
  try {
    const Value form = call_method(in, value, name);
    return form.is_none() ? Value() : form;
  } catch (const std::exception&) {
    if (in.is_stopping()) throw;
    return Value();
  }
}

void add_form(Interpreter& in, std::string_view type, const Value& form, Display& display) {
  std::string data;
  if (is_str(form)) data = text_of(form);
  else if (is_bytes(form)) data = as_bytes(form)->view();
  else if (type == "application/json" || type.ends_with("+json"))
    data = str_text(in, call_method(in, Value(static_cast<Object*>(in.import("json"))), intern(in, "dumps"), {form}));
  else return;
  if (type == "text/plain") display.text = std::move(data);
  else if (type == "text/html") display.html = std::move(data);
  else if (type == "image/svg+xml") display.svg = std::move(data);
  else if (type == "image/png") display.png = std::move(data);
  else display.others.push_back({std::string(type), std::move(data)});
}

}  // namespace

void add_form_bundle(Interpreter& in, const Value& bundle, Display& display) {
  // With metadata behind it, which nobody here asks for.
  const Value& forms = is_tuple(bundle) && as_tuple(bundle)->size > 0 ? (*as_tuple(bundle))[0] : bundle;
  if (!is_dict(forms)) return;
  std::vector<std::pair<Value, Value>> items;  // JSON is written by a script, which might change the dict
  dict_for_each(as_dict(forms), [&](const Value& type, const Value& form) {
    if (is_str(type)) items.emplace_back(type, form);
  });
  for (const auto& [type, form] : items) add_form(in, text_of(type), form, display);
}

// Scripts run here, under the limits of a run.
Display display_of(Interpreter& in, const Value& value) {
  const RunScope run(in.vm());
  Display display;
  display.text = repr_text(in, value);
  if (!value.is_object() || value.as_object()->kind != ObjectKind::Instance) return display;
  for (const auto& [method, type] : kMethods)
    if (const Value form = answer_of(in, value, method); !form.is_undefined()) add_form(in, type, form, display);
  if (const Value bundle = answer_of(in, value, "_repr_mimebundle_"); !bundle.is_undefined())
    add_form_bundle(in, bundle, display);
  return display;
}

}  // namespace tessera::repl
