// compile: small (runs once for a key that is pressed)
#include "lang/assist/complete.h"

#include <algorithm>
#include <exception>
#include <set>

#include "lang/builtins/builtins.h"
#include "lang/core/files.h"
#include "lang/core/host.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

namespace tessera::lang {
namespace {

constexpr const char* kKeywords[] = {
    "False",  "None",     "True",   "and",     "as",   "assert", "break",  "class", "continue", "def",  "del",
    "elif",   "else",     "except", "finally", "for",  "from",   "global", "if",    "import",   "in",   "is",
    "lambda", "nonlocal", "not",    "or",      "pass", "raise",  "return", "try",   "while",    "with", "yield"};

bool is_keyword(std::string_view name) {
  return std::any_of(std::begin(kKeywords), std::end(kKeywords), [&](const char* word) { return name == word; });
}

using Kind = Piece::Kind;

// What one question needs: the text up to the cursor in pieces, and the word that is being typed.
class Completer {
 public:
  Completer(Interpreter& in, std::string_view text, size_t cursor, const Assist& assist)
      : in_(in), whole_(text), text_(text.substr(0, cursor)), assist_(assist), pieces_(pieces_of(text_)) {
    choices_.begin = choices_.end = cursor;
    if (!pieces_.empty() && pieces_.back().end == cursor && pieces_.back().kind == Kind::Name) {
      choices_.begin = pieces_.back().begin;
      word_ = text_.substr(choices_.begin);
      pieces_.pop_back();
    }
  }

  Choices run() {
    if (!pieces_.empty() && pieces_.back().end == text_.size() && pieces_.back().kind == Kind::Comment) return choices_;
    if (!pieces_.empty() && pieces_.back().kind == Kind::OpenString) {
      complete_string();
    } else if (!complete_import() && !after_number()) {
      if (last_is(".")) complete_attribute();
      else complete_name();
    }
    return std::move(choices_);
  }

 private:
  bool last_is(std::string_view what, size_t back = 0) const {
    return pieces_.size() > back && pieces_[pieces_.size() - 1 - back].is(text_, what);
  }
  bool after_number() const {
    return !pieces_.empty() && pieces_.back().kind == Kind::Number && pieces_.back().end == choices_.begin;
  }
  std::string_view piece_text(size_t i) const {
    return text_.substr(pieces_[i].begin, pieces_[i].end - pieces_[i].begin);
  }

  // Private names are shown to those who begin one.
  bool fits(std::string_view name) const {
    return name.starts_with(word_) && (!word_.empty() || !name.starts_with("_"));
  }
  void add(std::string_view name, std::string_view kind, std::string note = "") {
    if (fits(name) && seen_.insert(std::string(name)).second)
      choices_.found.push_back({std::string(name), std::string(kind), std::move(note)});
  }
  void add_all(const std::vector<std::string>& names, std::string_view kind) {
    for (const std::string& name : names) add(name, kind);
  }
  void sort_from(size_t begin) {
    const auto private_last = [](const Choice& a, const Choice& b) {
      const bool a_private = a.text[0] == '_', b_private = b.text[0] == '_';
      return a_private != b_private ? b_private : a.text < b.text;
    };
    std::sort(choices_.found.begin() + static_cast<std::ptrdiff_t>(begin), choices_.found.end(), private_last);
  }

  // --- strings: a key of the dict before them, or whatever a caller makes of the text
  void complete_string() {
    const Piece string = pieces_.back();
    pieces_.pop_back();
    choices_.begin = string.inside;
    const std::string inside(text_.substr(string.inside));
    word_ = inside;
    if (last_is("[")) {
      for (const std::string& key : keys_before_bracket())
        if (key.starts_with(word_) && key.find_first_of("\n'\"\\") == key.npos) add_key(key);
      if (!choices_.found.empty()) return;
    }
    choices_.in_string = true;
    choices_.string = inside;
  }
  void add_key(const std::string& key) { choices_.found.push_back({key, "key", ""}); }

  // Of what stands before the last piece, a bracket.
  std::vector<std::string> keys_before_bracket() {
    if (pieces_.size() < 2) return {};
    size_t begin = 0;
    const size_t last = pieces_.size() - 2;
    if (assist_.keys_of_answer != nullptr && pieces_[last].is(text_, ")") && last >= 4 && pieces_[last - 1].is(text_, "(") &&
        pieces_[last - 2].kind == Kind::Name && pieces_[last - 3].is(text_, ".")) {
      const Known object = known_primary(in_, text_, pieces_, last - 4, begin, assist_);
      if (!object.value.is_undefined()) return assist_.keys_of_answer(in_, object.value, piece_text(last - 2));
    }
    return known_keys(in_, known_primary(in_, text_, pieces_, last, begin, assist_), assist_);
  }

  // --- attributes
  void complete_attribute() {
    if (pieces_.size() < 2) return;
    size_t begin = 0;
    const Known object = known_primary(in_, text_, pieces_, pieces_.size() - 2, begin, assist_);
    if (!object.is_known()) return;
    add_known(object);
    sort_from(0);
    if (choices_.found.size() > kNoted) return;
    for (Choice& choice : choices_.found) {
      // A property's getter may be a host's function, and what is not made yet may have to be read from a file.
      if (choice.kind != "property" && made_.count(choice.text) != 0)
        describe(choice, known_attribute(in_, object, choice.text, assist_));
      else if (assist_.schemas_of_name != nullptr && is_module(object.value))
        for (const std::string& schema : assist_.schemas_of_name(module_name(object.value), choice.text)) {
          choice.note = form_of_schema(schema, choice.text, false).text;
          break;
        }
    }
  }

  // What a module has not made yet is told by its name.
  void add_known(const Known& object) {
    const std::string before = is_module(object.value) ? module_name(object.value) + "." : "";
    for (const KnownName& name : known_names(in_, object, assist_)) {
      if (!name.kind.empty()) {
        made_.insert(name.name);
        add(name.name, name.kind);
      } else {
        const bool capital = name.name[0] >= 'A' && name.name[0] <= 'Z';
        add(name.name, is_library(before + name.name) ? "module" : capital ? "class" : "function");
      }
    }
  }
  static bool is_module(const Value& value) {
    return value.is_object() && value.as_object()->kind == ObjectKind::Module;
  }
  static std::string module_name(const Value& value) {
    return std::string(object_cast<Module>(value)->name->view());
  }

  static constexpr size_t kNoted = 40;  // so many are looked at closer

  void describe(Choice& choice, const Known& known) {
    if (known.value.is_undefined()) return;
    choice.kind = kind_of(in_, known.value, assist_);
    const std::vector<CallForm> forms = choice.kind == "function" || choice.kind == "class"
                                            ? call_forms(in_, known, choice.text, assist_)
                                            : std::vector<CallForm>();
    if (!forms.empty()) choice.note = forms.front().text;
    else if (choice.kind == "name") choice.note = type_name(in_, known.value);
    else if (assist_.note != nullptr) choice.note = assist_.note(in_, known.value);
  }

  // --- names
  void complete_name() {
    if (last_is("[") && word_.empty()) {
      for (const std::string& key : keys_before_bracket())
        if (key.find_first_of("\n'\"\\") == key.npos) choices_.found.push_back({"'" + key + "'", "key", ""});
      if (!choices_.found.empty()) return;
    }
    add_arguments();
    const size_t arguments = choices_.found.size();
    add_names_of_block();
    dict_for_each(in_.main_module()->dict, [&](const Value& key, const Value& value) {
      if (is_str(key)) add(text_of(key), kind_of(in_, value, assist_));
    });
    if (assist_.late_names != nullptr) add_all(assist_.late_names(in_), "module");
    sort_from(arguments);
    const size_t own = choices_.found.size();
    if (!word_.empty()) {
      for (const char* word : kKeywords) add(word, "keyword");
      complete_builtins(in_);
      dict_for_each(in_.vm().builtins(), [&](const Value& key, const Value& value) {
        if (is_str(key)) add(text_of(key), kind_of(in_, value, assist_));
      });
      sort_from(own);
    }
    if (choices_.found.size() <= kNoted)
      for (Choice& choice : choices_.found)
        if (choice.kind != "module" && choice.kind != "property" && choice.kind != "keyword" && choice.kind != "argument")
          describe(choice, known_name(in_, choice.text, Assist{}));  // nothing is imported for a note
  }

  // What the block itself names: parameters and variables of a function that is being written.
  void add_names_of_block() {
    const std::vector<Piece> all = pieces_of(whole_);
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].kind != Kind::Name || all[i].begin == choices_.begin) continue;
      if (i > 0 && all[i - 1].is(whole_, ".")) continue;
      if (i + 1 < all.size() && all[i + 1].is(whole_, "(")) continue;
      const std::string_view name = whole_.substr(all[i].begin, all[i].end - all[i].begin);
      if (!is_keyword(name) && name != word_) add(name, "name");
    }
  }

  void add_arguments() {
    if (pieces_.empty() || (!last_is("(") && !last_is(","))) return;
    const CallAt call = call_around(in_, text_.substr(0, choices_.begin), choices_.begin, assist_);
    const std::set<std::string> given = keywords_given();
    for (const CallForm& form : call.forms)
      for (size_t i = 0; i < form.parameters.size(); ++i) {
        const CallForm::Parameter& p = form.parameters[i];
        if (!p.keyword || p.rest || given.count(p.name) != 0 || (p.positional && i < position())) continue;
        add(p.name + "=", "argument", form.text.substr(p.begin, p.end - p.begin));
      }
  }
  size_t position() const {
    size_t commas = 0;
    for_arguments([&](size_t i) { commas += pieces_[i].is(text_, ","); });
    return commas;
  }
  std::set<std::string> keywords_given() const {
    std::set<std::string> names;
    for_arguments([&](size_t i) {
      if (pieces_[i].is(text_, "=") && i > 0) names.insert(std::string(piece_text(i - 1)));
    });
    return names;
  }
  // The pieces of the innermost call that stand in no bracket of their own.
  template <class F>
  void for_arguments(F&& f) const {
    const size_t open = open_bracket(text_, pieces_);
    int depth = 0;
    for (size_t i = open == std::string_view::npos ? pieces_.size() : open + 1; i < pieces_.size(); ++i) {
      const char c = pieces_[i].kind == Kind::Operator ? text_[pieces_[i].begin] : ' ';
      depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
      if (depth == 0) f(i);
    }
  }

  // --- import a.b, from a.b import c
  bool complete_import() {
    const size_t begin = statement_begin(text_, pieces_);
    if (begin >= pieces_.size()) return false;
    const bool from = pieces_[begin].is(text_, "from");
    if (!from && !pieces_[begin].is(text_, "import")) return false;
    size_t import = pieces_.size();
    for (size_t i = begin + 1; i < pieces_.size(); ++i)
      if (pieces_[i].is(text_, "import")) import = i;
    if (from && import < pieces_.size()) {
      complete_from(begin + 1, import);
    } else if (from && last_is_name()) {
      add("import", "keyword");
    } else if (!last_is_name()) {
      complete_module(begin);
    }
    return true;
  }
  bool last_is_name() const { return pieces_.back().kind == Kind::Name && !last_is("from") && !last_is("import"); }
  std::string dotted(size_t begin, size_t end) const {
    std::string name;
    for (size_t i = begin; i < end; ++i) name += piece_text(i);
    return name;
  }
  void complete_from(size_t begin, size_t import) {
    if (last_is("as") || last_is_name()) return;
    const std::string name = dotted(begin, import);
    const Module* const module = in_.modules().find(name);
    add_submodules(name + ".");
    if (module != nullptr || is_library(name)) {
      const Known known = known_of(in_, Value(static_cast<Object*>(in_.import(name))));
      add_known(known);
    }
    sort_from(0);
  }
  bool is_library(const std::string& name) {
    if (library_.empty() && assist_.modules != nullptr)
      for (std::string& each : assist_.modules(in_)) library_.insert(std::move(each));
    return library_.count(name) != 0;
  }
  void complete_module(size_t begin) {
    size_t first = pieces_.size();
    while (first > begin + 1 && (pieces_[first - 1].kind == Kind::Name || pieces_[first - 1].is(text_, ".")) &&
           !pieces_[first - 1].is(text_, "import"))
      --first;
    add_submodules(dotted(first, pieces_.size()));
    sort_from(0);
  }
  // The next part of the names that begin so: "torch." or "".
  void add_submodules(const std::string& before) {
    const auto offer = [&](std::string_view name) {
      if (!name.starts_with(before)) return;
      name.remove_prefix(before.size());
      add(name.substr(0, name.find('.')), "module");
    };
    if (assist_.modules != nullptr)
      for (const std::string& name : assist_.modules(in_)) offer(name);
    for (const std::string_view name : in_.modules().native_names()) offer(name);
    dict_for_each(in_.modules().table(), [&](const Value& key, const Value&) {
      if (is_str(key)) offer(text_of(key));
    });
    if (in_.limits.imports_of_files)
      for (const std::string& folder : search_path()) add_files(folder, before);
  }
  std::vector<std::string> search_path() const {
    std::vector<std::string> folders = in_.search_path;
    if (folders.empty()) folders.emplace_back();
    return folders;
  }
  void add_files(std::string folder, std::string_view before) {
    for (const char c : before) {
      if (&c == before.data()) folder += '/';
      folder += c == '.' ? '/' : c;
    }
    for (std::string_view name : names_in_folder(in_, folder)) {
      const size_t dot = name.find('.');
      const std::string_view ending = dot == name.npos ? "" : name.substr(dot);
      const std::string package = folder + (folder.empty() ? "" : "/") + std::string(name) + "/__init__";
      Files& files = *in_.host().files;
      if (ending == ".tsr" || ending == ".py" ||
          (ending.empty() && (files.is_file(package + ".py") || files.is_file(package + ".tsr"))))
        add(name.substr(0, dot), "module");
    }
  }

  Interpreter& in_;
  std::string_view whole_, text_, word_;
  const Assist& assist_;
  std::vector<Piece> pieces_;
  Choices choices_;
  std::set<std::string> seen_, made_, library_;
};

}  // namespace

std::vector<std::string> names_in_folder(Interpreter& in, const std::string& folder) {
  std::vector<std::string> names;
  try {
    const Value list = call(in, get_attr(in, Value(static_cast<Object*>(in.import("_posix"))), intern(in, "listdir")),
                            {make_str_lossy(in, folder.empty() ? "." : folder)});
    if (is_list(list))
      for (const Value& name : *as_list(list))
        if (is_str(name)) names.emplace_back(text_of(name));
  } catch (const std::exception&) {  // it cannot be read: it has none
  }
  return names;
}

Choices choices_at(Interpreter& in, std::string_view text, size_t cursor, const Assist& assist) {
  const RunScope run(in.vm());
  cursor = std::min(cursor, text.size());
  try {
    return Completer(in, text, cursor, assist).run();
  } catch (const std::exception&) {  // the library's, or no memory: nothing is offered
    return {cursor, cursor, {}, false, ""};
  }
}

CallAt call_around(Interpreter& in, std::string_view text, size_t cursor, const Assist& assist) {
  const RunScope run(in.vm());
  CallAt answer;
  text = text.substr(0, cursor);
  std::vector<Piece> pieces = pieces_of(text);
  const size_t open = open_bracket(text, pieces);
  if (open == std::string_view::npos || open == 0 || !pieces[open].is(text, "(")) return answer;
  try {
    size_t begin = 0;
    const Known callee = known_primary(in, text, pieces, open - 1, begin, assist);
    if (!callee.is_known() || (begin > 0 && (pieces[begin - 1].is(text, "def") || pieces[begin - 1].is(text, "class"))))
      return answer;
    answer.forms =
        call_forms(in, callee, text.substr(pieces[begin].begin, pieces[open].begin - pieces[begin].begin), assist);
  } catch (const std::exception&) {
    return answer;
  }
  size_t commas = 0;
  int depth = 0;
  std::string_view keyword;
  for (size_t i = open + 1; i < pieces.size(); ++i) {
    const char c = pieces[i].kind == Kind::Operator ? text[pieces[i].begin] : ' ';
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (depth != 0) continue;
    if (c == ',') ++commas, keyword = {};
    if (c == '=' && pieces[i - 1].kind == Kind::Name)
      keyword = text.substr(pieces[i - 1].begin, pieces[i - 1].end - pieces[i - 1].begin);
  }
  for (const CallForm& form : answer.forms) answer.active.push_back(parameter_at(form, commas, keyword));
  return answer;
}

}  // namespace tessera::lang
