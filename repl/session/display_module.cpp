#include "repl/session/display_module.h"

#include "lang/core/native.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "repl/session/client.h"
#include "repl/session/display.h"

namespace tessera::repl {
using namespace lang;

namespace {

Client& client_of(const Args& args) { return *static_cast<Client*>(args.callee->data); }

// show(value, id, is_update, include, exclude, metadata): in each of its forms, or in those that are asked for.
Value show_value(Interpreter& in, const Args& args) {
  std::optional<Display> display = display_of(in, args[0]);
  if (!display) return Value::none();
  client_of(args).add_forms(in, args[0], *display);
  if (!keep_forms(in, args[3], args[4], *display)) return Value::none();
  add_metadata(in, args[5], *display);
  client_of(args).show_named(*display, std::string(text_of(args[1])), truth(in, args[2]));
  return Value::none();
}

// publish(forms, id, is_update, metadata): texts and bytes by MIME type.
Value publish(Interpreter& in, const Args& args) {
  Display display;
  add_form_bundle(in, args[0], display);
  add_metadata(in, args[3], display);
  client_of(args).show_named(display, std::string(text_of(args[1])), truth(in, args[2]));
  return Value::none();
}

Value clear(Interpreter& in, const Args& args) {
  client_of(args).clear(truth(in, args[0]));
  return Value::none();
}

// ask_hidden(prompt): the line; None where nobody can be asked.
Value ask_hidden(Interpreter& in, const Args& args) {
  std::string line;
  if (!client_of(args).ask_hidden(std::string(text_of(args[0])), line)) return Value::none();
  return make_str_lossy(in, line);
}

struct Row {
  const char *name, *signature, *doc;
  NativeFn function;
};
constexpr Row kRows[] = {
    {"show", "show(value, id: str, is_update, include=None, exclude=None, metadata=None, /)",
     "Show a value in its forms.", show_value},
    {"publish", "publish(forms: dict, id: str, is_update, metadata=None, /)", "Show texts and bytes by MIME type.",
     publish},
    {"clear", "clear(wait, /)", "Take away what the block has shown.", clear},
    {"ask_hidden", "ask_hidden(prompt: str, /)", "A line that nobody shall see.", ask_hidden},
};

}  // namespace

void add_display_module(Interpreter& in, Client& client) {
  const Value module = Value::adopt(in.new_module("_display"));
  Dict* const names = object_cast<Module>(module)->dict;
  for (const Row& row : kRows)
    dict_set_str(in, names, intern(in, row.name), in.new_function(row.signature, row.doc, row.function, &client));
  dict_set_str(in, names, intern(in, "is_notebook"), Value::boolean(client.style().html));
  dict_set_str(in, in.modules().table(), intern(in, "_display"), module);
}

}  // namespace tessera::repl
