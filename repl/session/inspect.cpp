// compile: small (waits for a person)
#include "repl/session/inspect.h"

#include "lang/assist/call_form.h"
#include "lang/assist/complete.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "repl/session/commands.h"
#include "repl/session/prelude.h"
#include "stdlib/assist.h"

namespace tessera::repl {
using namespace lang;

namespace {

bool fits(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') return fits(name, pattern.substr(1)) || (!name.empty() && fits(name.substr(1), pattern));
  return !name.empty() && name.front() == pattern.front() && fits(name.substr(1), pattern.substr(1));
}

std::string names_like(Session& session, std::string_view pattern) {
  Interpreter& in = session.interpreter();
  const size_t dot = pattern.rfind('.');
  std::string before(dot == pattern.npos ? "" : pattern.substr(0, dot + 1));
  const std::string_view last = dot == pattern.npos ? pattern : pattern.substr(dot + 1);
  Known object = known_of(in, Value(static_cast<Object*>(in.main_module())));
  if (!before.empty()) object = known_of(in, value_of_name(session, pattern.substr(0, dot)));
  if (!object.is_known()) return "Object `" + std::string(pattern) + "` not found.\n";
  const RunScope run(in.vm());
  std::string text;
  for (const KnownName& name : known_names(in, object, stdlib::library_assist()))
    if (fits(name.name, last) && (last.starts_with("_") || !name.name.starts_with("_")))
      text += before + name.name + "\n";
  return text.empty() ? "no name is like " + std::string(pattern) + "\n" : text;
}

Value describing(Interpreter& in, const char* name) {
  return get_attr(in, Value(static_cast<Object*>(in.import("_session.describe"))), intern(in, name));
}

}  // namespace

std::string inspection(Session& session, std::string_view name, bool source) {
  Interpreter& in = session.interpreter();
  if (name.find('*') != name.npos) return names_like(session, name);
  if (name.front() == ':' || name.front() == '%') {
    const Command* const help = find_command("help");
    help->run(session, name);
    return "";
  }
  const Value value = value_of_name(session, name);
  if (value.is_undefined()) {
    if (find_command(name) == nullptr) return "Object `" + std::string(name) + "` not found.\n";
    find_command("help")->run(session, name);
    return "";
  }
  const RunScope run(in.vm());
  const Value signatures = make_list(in);
  for (const CallForm& form : call_forms(in, known_of(in, value), name, stdlib::library_assist()))
    list_append(in, as_list(signatures), make_str_lossy(in, form.text));
  const Value text =
      call(in, describing(in, "describe"), {make_str_lossy(in, name), value, signatures, Value::boolean(source)});
  return std::string(object_cast<Str>(text)->view());
}

std::string source_of(Session& session, const Value& value) {
  Interpreter& in = session.interpreter();
  const RunScope run(in.vm());
  return std::string(object_cast<Str>(call(in, describing(in, "source_of"), {value}))->view());
}

}  // namespace tessera::repl
