// compile: small (waits for a person)
#include "repl/session/saved.h"

#include <exception>
#include <vector>

#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "repl/session/commands.h"
#include "repl/session/prelude.h"
#include "repl/session/results.h"
#include "repl/session/session.h"
#include "stdlib/assist.h"

namespace tessera::repl {
using namespace lang;

namespace {

Value library(Interpreter& in, const char* name) {
  return get_attr(in, Value(static_cast<Object*>(in.import("_session.saved"))), intern(in, name));
}

// Names of the modules that are no files.
Value library_modules(Interpreter& in) {
  const Value names = make_dict(in);
  const auto add = [&](std::string_view name) { dict_set_str(in, as_dict(names), intern(in, name), Value::none()); };
  for (const std::string& name : stdlib::library_assist().modules(in)) add(name);
  for (const std::string_view name : in.modules().native_names()) add(name);
  return names;
}

// The person's names, private ones too, and the modules that are there without import as far as they are.
bool is_kept(Interpreter&, std::string_view name) { return !is_session_name(name) && !name.starts_with("__"); }

Value kept_names(Interpreter& in) {
  const Value names = make_dict(in);
  dict_for_each(in.main_module()->dict, [&](const Value& key, const Value& value) {
    if (is_str(key) && is_kept(in, text_of(key))) dict_set_str(in, as_dict(names), as_str(key), value);
  });
  return names;
}

void drop_names(Interpreter& in) {
  const Value names = kept_names(in);
  dict_for_each(as_dict(names),
                [&](const Value& key, const Value&) { dict_delete_str(in, in.main_module()->dict, as_str(key)); });
}

void add_names(Interpreter& in, const Value& names) {
  dict_for_each(as_dict(names), [&](const Value& key, const Value& value) {
    if (is_str(key)) dict_set_str(in, in.main_module()->dict, as_str(key), value);
  });
}

void write_lines(Session& session, const Value& lines) {
  std::string text;
  for (const Value& line : *as_list(lines)) text += std::string(text_of(line)) + "\n";
  session.client().write(text);
}

// Each at the line of the block that it stood in, under that block's name: tracebacks say the same as before.
void run_definition(Interpreter& in, const Value& definition) {
  const List& row = *as_list(definition);
  const std::string text(text_of(row[0]));
  import_prelude(in, text);
  const auto line = static_cast<size_t>(row[2].as_int());
  in.run_interactive(*std::make_shared<Source>(std::string(text_of(row[3])), std::string(line - 1, '\n') + text));
}

// The names as they were, unless all went well.
class KeptNames {
 public:
  explicit KeptNames(Interpreter& in) : in_(in), before_(kept_names(in)) {}
  ~KeptNames() {
    if (!undo_) return;
    drop_names(in_);
    add_names(in_, before_);
  }
  KeptNames(const KeptNames&) = delete;
  void accept() { undo_ = false; }

 private:
  Interpreter& in_;
  Value before_;
  bool undo_ = true;
};

Value item(Interpreter& in, const Value& dict, const char* key) {
  const Value* found = dict_get_text(as_dict(dict), key);
  if (found == nullptr) throw Error(ErrorKind::ValueError, std::string("the session's file has no '") + key + "'");
  (void)in;
  return *found;
}

// What is wrong with a file is said without the frames of the library that found it out.
template <class F>
void without_frames(Interpreter& in, F&& f) {
  try {
    f();
  } catch (const Thrown& thrown) {
    const std::string_view name = type_name(in, thrown.exception);
    if (name == "Damaged") throw CommandError(str_text(in, thrown.exception));
    if (is_error(in, thrown.exception, ErrorKind::OSError))
      throw CommandError(std::string(name) + ": " + str_text(in, thrown.exception));
    throw;
  }
}

void save(Session& session, const std::string& path) {
  Interpreter& in = session.interpreter();
  const Value blocks = make_list(in);
  for (const std::string& block : session.results().blocks())
    list_append(in, as_list(blocks), make_str_lossy(in, block));
  const RunScope run(in.vm());
  write_lines(session, call(in, library(in, "save"),
                            {make_str_lossy(in, path), kept_names(in), blocks, Value::integer(session.number())}));
}

void restore(Session& session, const std::string& path, bool data_only) {
  Interpreter& in = session.interpreter();
  const RunScope run(in.vm());
  const Value reading = call(in, library(in, "Reading"), {make_str_lossy(in, path), library_modules(in)});
  const Value head = get_attr(in, reading, intern(in, "head")), problems = make_list(in);
  // Of the kinds that are expected here: Reading has looked.
  const Value definitions = item(in, head, "definitions"), blocks = item(in, head, "blocks");
  const int64_t number = index(in, item(in, head, "number"));

  KeptNames before(in);
  drop_names(in);
  add_names(in, item(in, head, "plain"));
  add_names(in, call_method(in, reading, intern(in, "modules"), {problems, Value::boolean(data_only)}));
  if (!data_only) {
    for (const Value& definition : *as_list(definitions)) run_definition(in, definition);
  } else {
    call_method(in, reading, intern(in, "left_out"), {problems});
  }
  const Value own = data_only ? Value::none() : Value(static_cast<Object*>(in.main_module()->dict));
  const Value values = call_method(in, reading, intern(in, "values"), {own});
  if (!is_dict(values)) throw Error(ErrorKind::ValueError, "the session's file has no names");
  add_names(in, values);
  before.accept();

  std::vector<std::string> texts;
  for (const Value& block : *as_list(blocks)) texts.emplace_back(is_str(block) ? text_of(block) : "");
  session.results().clear_out();
  session.results().set_blocks(std::move(texts));
  session.set_number(static_cast<int>(number));
  session.client().write(std::to_string(as_dict(kept_names(in))->count) + " names and " + std::to_string(number) +
                         " blocks are back\n");
  write_lines(session, problems);
}

}  // namespace

void save_session(Session& session, const std::string& path) {
  without_frames(session.interpreter(), [&] { save(session, path); });
}

void restore_session(Session& session, const std::string& path, bool data_only) {
  without_frames(session.interpreter(), [&] { restore(session, path, data_only); });
}

}  // namespace tessera::repl
