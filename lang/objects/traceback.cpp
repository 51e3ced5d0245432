// How an exception that nobody caught is printed: CPython 3.11's text, character by character.
// compile: small (runs after an error)
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "lang/builtins/builtins.h"
#include "lang/core/object_cast.h"
#include "lang/syntax/ast.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/objects/exception_group.h"
#include "lang/objects/module.h"
#include "lang/vm/frame.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/syntax/parse.h"
#include "lang/core/protocol.h"
#include "lang/syntax/source.h"
#include "lang/types/bigint.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/native_refusal.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

// The columns of a failing expression within its line, in bytes; between the anchors stands the operator or index.
struct Marks {
  size_t begin = 0, end = 0;
  size_t left = std::string_view::npos, right = std::string_view::npos;
  bool anchored() const { return left != std::string_view::npos; }
};

void find_anchors(std::string_view line, Marks& marks) {
  const std::string segment(line.substr(marks.begin, marks.end - marks.begin));
  const Source source("<segment>", segment);
  const ParseResult parsed = parse(source, ParseMode::kExpression);
  if (!parsed) return;
  const ast::Expr* const root = parsed.tree->expression;
  if (root == nullptr) return;
  if (root->kind == ast::ExprKind::kBinary) {
    const Span op = static_cast<const ast::Binary*>(root)->steps.back().op_span;
    marks.left = marks.begin + op.begin;
    marks.right = marks.begin + op.end;
  } else if (root->kind == ast::ExprKind::kSubscript) {
    const auto* node = static_cast<const ast::Subscript*>(root);
    marks.left = marks.begin + node->object->span.end;
    marks.right = marks.begin + node->index->span.end + 1;
  }
}

// The line of carets below the source line, or nothing where it would say nothing.
std::string caret_line(std::string_view line, size_t indent, const Source& source, Span span) {
  const Position from = source.position(span.begin), to = source.position(span.end);
  Marks marks;
  marks.begin = from.byte_column;
  size_t length = line.size();
  if (from.line == to.line) {
    marks.end = to.byte_column;
    if (marks.end > marks.begin) find_anchors(line, marks);
  } else {
    while (length > 0 && is_blank(line[length - 1])) --length;
    marks.end = length;
  }
  if (marks.begin < indent || marks.end <= marks.begin) return {};
  if (marks.end - marks.begin == line.size() - indent && !marks.anchored()) return {};
  std::string carets = "    ";
  for (size_t i = indent; i < marks.end; ++i) {
    if ((static_cast<unsigned char>(line[i]) & 0xc0) == 0x80) continue;  // inside of a character
    if (i < marks.begin) {
      carets += ' ';
    } else if (marks.anchored()) {
      carets += i >= marks.left && i < marks.right ? '^' : '~';
    } else {
      carets += '^';
    }
  }
  return carets + "\n";
}

Span span_of(const Traceback* entry) {
  const Places& places = entry->code->places;
  return entry->word < places.size() ? places[entry->word].span : Span{};
}

// A frame as it is shown: one of ours, or one of the comprehensions that run in it.
struct ShownFrame {
  const Source* source;
  std::string_view name;
  Span span;
  uint32_t line() const { return source->line_number(span.begin); }
};

void add_frames(std::vector<ShownFrame>& frames, const Traceback* entry) {
  const Code& code = *entry->code;
  frames.push_back({code.source.get(), code.name->view(), {}});
  for (size_t i = code.comprehensions.size(); i-- > 0;) {  // from the outermost to the innermost
    const InlinedLoop& loop = code.comprehensions[i];
    if (entry->word < loop.begin || entry->word >= loop.end) continue;
    frames.back().span = loop.span;
    frames.push_back({code.source.get(), loop.name, {}});
  }
  frames.back().span = span_of(entry);
}

// What CPython has in C (`__native__`): no traceback shows that.
bool is_hidden(Interpreter& in, const Traceback* entry) {
  return is_dict(entry->globals) && is_native_in_cpython(in, as_dict(entry->globals), entry->code->qualname->view());
}

std::string entry_text(const ShownFrame& frame) {
  const Source& source = *frame.source;
  const uint32_t number = frame.line();
  std::string text =
      "  File \"" + source.name() + "\", line " + std::to_string(number) + ", in " + std::string(frame.name) + "\n";
  if (source.is_unlisted() || (!source.name().empty() && source.name()[0] == '<')) return text;  // no file to show lines of
  const std::string_view line = source.line(number);
  size_t indent = 0;
  while (indent < line.size() && is_blank(line[indent])) ++indent;
  std::string_view shown = line.substr(indent);
  while (!shown.empty() && (is_blank(shown.back()) || shown.back() == '\r')) shown.remove_suffix(1);
  if (shown.empty()) return text;
  text += "    " + std::string(shown) + "\n";
  return text + caret_line(line, indent, source, frame.span);
}

bool same_place(const ShownFrame& a, const ShownFrame& b) {
  return a.name == b.name && a.source->name() == b.source->name() && a.line() == b.line();
}

void append_repeats(std::string& text, uint32_t count) {
  constexpr uint32_t kShown = 3;
  if (count <= kShown) return;
  const uint32_t more = count - kShown;
  text += "  [Previous line repeated " + std::to_string(more) + (more == 1 ? " more time]\n" : " more times]\n");
}

const Traceback* as_traceback(const Value& v) {
  return v.is_object() ? object_cast<const Traceback>(v) : nullptr;
}

// --- suggestions

void add_names(std::vector<std::string_view>& names, const Value& dict) {
  if (!is_dict(dict)) return;
  dict_for_each(as_dict(dict), [&](const Value& key, const Value&) {
    if (is_str(key)) names.push_back(text_of(key));
  });
}

std::string suggest_for_name(Interpreter& in, const Exception* e) {
  if (!is_str(e->fields[0])) return {};
  const Traceback* last = as_traceback(e->traceback);
  while (last != nullptr && as_traceback(last->next) != nullptr) last = as_traceback(last->next);
  if (last == nullptr) return {};
  std::vector<std::string_view> names;
  for (Str* local : last->code->locals) names.push_back(local->view());
  for (Str* free : last->code->free_names) names.push_back(free->view());
  add_names(names, last->globals);
  add_names(names, Value(in.vm().builtins()));
  for (const std::string_view late : late_builtin_names()) names.push_back(late);
  return suggest_name(text_of(e->fields[0]), names);
}

std::string suggest_for_attribute(Interpreter& in, const Exception* e) {
  if (!is_str(e->fields[0]) || e->fields[1].is_undefined()) return {};
  // As dir() has them: a class may know more than its instances have.
  const Value method = type_lookup(type_of(in, e->fields[1]), in.names->dir);
  const bool of_script = is_function(method);
  const Value all = of_script ? call(in, method, {e->fields[1]}) : attribute_names(in, e->fields[1]);
  std::vector<std::string_view> names;
  if (is_list(all)) {
    for (const Value& name : *as_list(all)) {
      if (is_str(name)) names.push_back(text_of(name));
    }
  }
  return suggest_name(text_of(e->fields[0]), names);
}

std::string suggestion(Interpreter& in, const Value& exception) {
  const Exception* e = as_exception(exception);
  std::string best;
  try {
    if (is_error(in, exception, ErrorKind::NameError) && !is_error(in, exception, ErrorKind::UnboundLocalError)) {
      best = suggest_for_name(in, e);
    } else if (is_error(in, exception, ErrorKind::AttributeError)) {
      best = suggest_for_attribute(in, e);
    }
  } catch (const std::exception&) {
    return {};  // an object whose dir() fails has no suggestions
  }
  return best.empty() ? best : ". Did you mean: '" + best + "'?";
}

// --- the last lines

std::string class_text(Type* type) {
  std::string name(type->qualname->view());
  if (type->module == nullptr) return name;
  // A program may have said that the class is another module's.
  const Value* said = dict_get_text(type->attributes(), "__module__");
  const std::string_view module = said != nullptr && is_str(*said) ? text_of(*said) : type->module->view();
  return module == "builtins" || module == "__main__" ? name : std::string(module) + "." + name;
}

std::string message_text(Interpreter& in, const Value& exception, const char* what = "exception") {
  try {
    return str_text(in, exception);
  } catch (const std::exception&) {
    return std::string("<") + what + " str() failed>";
  }
}

// The place of a SyntaxError, in the form that differs from a traceback entry.
std::string syntax_place(Interpreter& in, const Exception* e) {
  const Value& file = e->fields[1];
  if (!e->fields[2].is_int()) return {};
  std::string text = "  File \"" + (is_str(file) ? std::string(text_of(file)) : std::string("<string>")) + "\", line " +
                     str_text(in, e->fields[2]) + "\n";
  if (!is_str(e->fields[4])) return text;
  std::string_view line = text_of(e->fields[4]);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  size_t indent = 0;
  while (indent < line.size() && is_blank(line[indent])) ++indent;
  text += "    " + std::string(line.substr(indent)) + "\n";
  if (!e->fields[3].is_int()) return text;
  const int64_t begin = e->fields[3].as_int() - 1 - static_cast<int64_t>(indent);
  int64_t end = begin + 1;
  if (is_tuple(e->fields[5]) && as_tuple(e->fields[5])->size >= 6) {
    const Tuple& details = *as_tuple(e->fields[5]);
    const bool one_line = details[4].is_int() && details[4].is(e->fields[2]);
    const bool no_end = details[5].is_int() && details[5].as_int() == -1;
    if (no_end && begin >= static_cast<int64_t>(count_characters(line.substr(indent)))) return text;
    if (details[5].is_int()) end = details[5].as_int() - 1 - static_cast<int64_t>(indent);
    if (!one_line) end = static_cast<int64_t>(count_characters(line.substr(indent)));
  }
  if (is_error(in, Value(const_cast<Exception*>(e)), ErrorKind::IndentationError)) end = begin + 1;
  if (begin < 0 || is_error(in, Value(const_cast<Exception*>(e)), ErrorKind::TabError)) return text;
  return text + "    " + std::string(static_cast<size_t>(begin), ' ') +
         std::string(static_cast<size_t>(std::max<int64_t>(1, end - begin)), '^') + "\n";
}

std::string notes_text(Interpreter& in, const Value& exception) {
  std::string text;
  for (const std::string& note : error_notes(in, exception)) text += note + "\n";
  return text;
}

// The place in the text that a SyntaxError is about.
void add_syntax_place(std::vector<ErrorFrame>& frames, const Exception* e) {
  if (!is_str(e->fields[1]) || !e->fields[2].is_int()) return;
  ErrorFrame frame{std::string(text_of(e->fields[1])), ""};
  frame.line = e->fields[2].as_int();
  if (e->fields[3].is_int()) frame.column = std::max<int64_t>(0, e->fields[3].as_int() - 1);
  if (is_tuple(e->fields[5]) && as_tuple(e->fields[5])->size >= 6) {
    const Tuple& details = *as_tuple(e->fields[5]);
    if (details[4].is_int()) frame.end_line = details[4].as_int();
    if (details[5].is_int() && details[5].as_int() > 0) frame.end_column = details[5].as_int() - 1;
  }
  frames.push_back(std::move(frame));
}

// The chain from the exception back to the first cause; it may be long, so no recursion.
struct Link {
  Value exception;
  const char* joined_by;
};

std::vector<Link> chain_of(const Value& exception) {
  constexpr const char* kCause = "\nThe above exception was the direct cause of the following exception:\n\n";
  constexpr const char* kContext = "\nDuring handling of the above exception, another exception occurred:\n\n";
  constexpr size_t kMostLinks = 1000;  // a chain without end would be shown for hours
  std::vector<Link> chain{{exception, nullptr}};
  std::set<const Object*> seen{exception.as_object()};
  for (;;) {
    const Exception* e = as_exception(chain.back().exception);
    const bool by_cause = is_exception(e->cause);
    const Value& next = by_cause ? e->cause : e->context;
    if (chain.size() == kMostLinks || !is_exception(next) || (!by_cause && e->suppress_context) ||
        !seen.insert(next.as_object()).second)
      return chain;
    chain.push_back({next, by_cause ? kCause : kContext});
  }
}

}  // namespace

uint32_t traceback_line(const Traceback* entry) { return entry->code->source->line_number(span_of(entry).begin); }

std::string format_traceback_entry(const Traceback* entry) {
  std::vector<ShownFrame> frames;
  add_frames(frames, entry);
  std::string text;
  for (const ShownFrame& frame : frames) text += entry_text(frame);
  return text;
}

namespace {

// sys.tracebacklimit, of which programs may make anything.
size_t traceback_limit(Interpreter& in) {
  constexpr size_t kLimit = 1000;
  Module* const sys = in.modules().find("sys");
  const Value* const set = sys == nullptr ? nullptr : dict_get_text(sys->dict, "tracebacklimit");
  if (set == nullptr || (!set->is_int() && !is_big_int(*set))) return kLimit;
  const double limit = set->is_int() ? static_cast<double>(set->as_int()) : as_big_int(*set)->negative() ? 0 : kLimit;
  return static_cast<size_t>(std::clamp<double>(limit, 0, kLimit));
}

}  // namespace

std::string format_traceback_entries(Interpreter& in, const Value& traceback) {
  const size_t limit = traceback_limit(in);
  std::vector<ShownFrame> entries;
  for (const Traceback* t = as_traceback(traceback); t != nullptr; t = as_traceback(t->next)) {
    if (!is_hidden(in, t)) add_frames(entries, t);
  }
  std::string text;
  uint32_t repeats = 0;
  for (size_t i = entries.size() > limit ? entries.size() - limit : 0, first = i; i < entries.size(); ++i) {
    if (i == first || !same_place(entries[i], entries[i - 1])) {
      append_repeats(text, repeats);
      repeats = 0;
    }
    if (++repeats <= 3) text += entry_text(entries[i]);
  }
  append_repeats(text, repeats);
  return text;
}

std::string format_exception_only(Interpreter& in, const Value& exception) {
  const Exception* e = as_exception(exception);
  std::string text, message;
  if (is_error(in, exception, ErrorKind::SyntaxError) && !e->fields[0].is_undefined()) {
    text = syntax_place(in, e);
    message = e->fields[2].is_int() ? str_text(in, e->fields[0]) : message_text(in, exception);
  } else {
    message = message_text(in, exception);
  }
  text += class_text(e->type);
  if (!message.empty()) text += ": " + message;
  return text + suggestion(in, exception) + "\n" + notes_text(in, exception);
}

std::vector<std::string> error_notes(Interpreter& in, const Value& exception) {
  in.vm().make_notes(exception);
  std::vector<std::string> notes = as_exception(exception)->notes;
  const Value added = find_attr(in, exception, in.names->notes);
  if (is_list(added)) {
    for (const Value& note : *as_list(added)) notes.push_back(message_text(in, note, "note"));
  }
  return notes;
}

std::vector<ErrorFrame> error_frames(Interpreter& in, const Value& exception) {
  constexpr size_t kMostFrames = 1000;
  std::vector<ErrorFrame> frames;
  const Exception* e = as_exception(exception);
  std::vector<ShownFrame> shown;
  for (const Traceback* t = as_traceback(e->traceback); t != nullptr && shown.size() < kMostFrames; t = as_traceback(t->next))
    if (!is_hidden(in, t)) add_frames(shown, t);
  for (const ShownFrame& frame : shown) {
    const Position begin = frame.source->position(frame.span.begin), end = frame.source->position(frame.span.end);
    frames.push_back({frame.source->name(), std::string(frame.name), begin.line, begin.column, end.line, end.column});
  }
  if (is_error(in, exception, ErrorKind::SyntaxError)) add_syntax_place(frames, e);
  return frames;
}

namespace {

// The text of a chain of exceptions, with the members of groups indented below them.
class Printer {
 public:
  explicit Printer(Interpreter& in) : in_(in) {}

  void print(const Value& exception) {
    const std::vector<Link> chain = chain_of(exception);
    for (size_t i = chain.size(); i-- > 0;) {
      if (is_exception_group(in_, chain[i].exception)) print_group(chain[i].exception);
      else print_one(chain[i].exception);
      if (chain[i].joined_by != nullptr) emit(chain[i].joined_by);
    }
  }

  std::string take() { return std::move(text_); }

 private:
  static constexpr size_t kMostMembers = 15, kDeepest = 10;

  void emit(const std::string& lines, char margin = '|') {
    if (depth_ == 0) {
      text_ += lines;
      return;
    }
    const std::string indent = std::string(2 * depth_, ' ') + margin + " ";
    for (size_t at = 0; at < lines.size();) {
      const size_t end = std::min(lines.find('\n', at), lines.size() - 1) + 1;
      text_ += indent + lines.substr(at, end - at);
      at = end;
    }
  }

  void print_stack(const Value& exception, const char* head, char margin) {
    const Value& traceback = as_exception(exception)->traceback;
    if (!traceback.is_object() || traceback_limit(in_) == 0) return;
    emit(head, margin);
    emit(format_traceback_entries(in_, traceback));
  }

  void print_one(const Value& exception) {
    print_stack(exception, "Traceback (most recent call last):\n", '|');
    emit(format_exception_only(in_, exception));
  }

  void print_group(const Value& group) {
    if (depth_ > kDeepest) return emit("... (max_group_depth is 10)\n");
    const bool outermost = depth_ == 0;
    if (outermost) ++depth_;
    print_stack(group, "Exception Group Traceback (most recent call last):\n", outermost ? '+' : '|');
    emit(format_exception_only(in_, group));
    print_members(*as_tuple(exceptions_of(group)));
    if (outermost) depth_ = 0;
  }

  void print_members(const Tuple& members) {
    const size_t shown = std::min<size_t>(members.size, kMostMembers + 1);
    needs_end_ = false;
    for (size_t i = 0; i < shown; ++i) {
      if (i + 1 == shown) needs_end_ = true;
      const bool cut = i >= kMostMembers;
      text_ += std::string(2 * depth_, ' ') + (i == 0 ? "+-" : "  ") + "+---------------- " +
               (cut ? "..." : std::to_string(i + 1)) + " ----------------\n";
      ++depth_;
      if (!cut) print(members[static_cast<uint32_t>(i)]);
      else print_rest(members.size - kMostMembers);
      if (i + 1 == shown && needs_end_) {
        text_ += std::string(2 * depth_, ' ') + "+------------------------------------\n";
        needs_end_ = false;
      }
      --depth_;
    }
  }

  void print_rest(size_t count) {
    emit("and " + std::to_string(count) + " more exception" + (count == 1 ? "" : "s") + "\n");
  }

  Interpreter& in_;
  std::string text_;
  size_t depth_ = 0;
  bool needs_end_ = false;  // the innermost last member draws the line below all of them
};

}  // namespace

std::string format_traceback(Interpreter& in, const Value& exception) {
  Printer printer(in);
  printer.print(exception);
  return printer.take();
}

}  // namespace tessera::lang
