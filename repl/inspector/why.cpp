// compile: small (once for a look of a person)
#include "repl/inspector/why.h"

#include <algorithm>
#include <set>
#include <vector>

#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"
#include "repl/inspector/elements.h"
#include "repl/inspector/fixes.h"
#include "repl/inspector/live_tensors.h"
#include "repl/inspector/reach.h"
#include "repl/inspector/text_parts.h"

namespace tessera::repl {
using namespace lang;

namespace {

constexpr size_t kMostVariables = 12, kMostFrames = 12, kMostExceptions = 8;
constexpr uint32_t kLinesAround = 2;

// What a script makes of its exception's text must not take longer than a person waits.
class ShortRun {
 public:
  explicit ShortRun(Interpreter& in) : in_(in), seconds_(in.limits.seconds) {
    if (!in.vm().is_running()) in.limits.seconds = 0.5;
    in_.vm().begin_run();
  }
  ~ShortRun() {
    in_.vm().end_run();
    in_.limits.seconds = seconds_;
  }
  ShortRun(const ShortRun&) = delete;
  ShortRun& operator=(const ShortRun&) = delete;

 private:
  Interpreter& in_;
  double seconds_;
};

std::string message_of(Interpreter& in, const Value& exception) {
  try {
    const ShortRun run(in);
    return format_exception_only(in, exception);
  } catch (const std::exception&) {
    return std::string(type_name(in, exception)) + "\n";
  }
}

// Variables ----------------------------------------------------------------------------------------------------------

// With its numbers: of a large one those of evenly spread parts.
TensorRow row_of(Interpreter& in, const Value& value, const tensor::Tensor& t) {
  constexpr int64_t kMostOnHost = int64_t(1) << 26, kMostRead = int64_t(1) << 20;
  TensorRow row = describe_tensor("", value, t);
  const tensor::Tensor host = on_host(in, t, kMostOnHost).tensor;
  if (host.defined()) row.statistics = survey(host, kMostRead, [&in] { return in.is_stopping(); }).statistics;
  return row;
}

std::string text_of_tensor(const TensorRow& row) {
  std::string text = row.type == "Tensor" ? "" : row.type + " ";
  text += row.dtype + row.shape;
  if (row.device != "cpu") text += " on " + row.device;
  if (row.requires_grad) text += row.grad_fn.empty() ? ", requires_grad" : ", " + row.grad_fn;
  if (!row.statistics) return text;
  const Statistics& s = *row.statistics;
  if (s.least == s.largest) text += ", all " + number_text(s.least);
  else if (s.least < s.largest)
    text += ", " + number_text(s.least) + " to " + number_text(s.largest) + ", mean " + number_text(s.mean);
  return text;
}

// "3 NaN" of a tensor, which is shown as a warning.
std::string trouble_of(const TensorRow& row) {
  if (!row.statistics) return "";
  std::string text;
  if (row.statistics->nans > 0) text = count_text(row.statistics->nans) + " NaN";
  if (row.statistics->infinities > 0)
    text += (text.empty() ? "" : ", ") + count_text(row.statistics->infinities) + " infinite";
  return text;
}

template <class Items>
std::string text_of_items(Interpreter& in, const Items& items, size_t size, int depth, char open, char close);

// Without asking the object: what is a script's own is named by its class.
std::string plain_text(Interpreter& in, const Value& v, int depth) {
  if (v.is_none() || v.is_bool() || v.is_int() || v.is_float()) return repr_text(in, v);
  if (is_str(v) && type_of(in, v) == in.types.str)
    return text_of(v).size() > 200 ? "str of " + plural(as_str(v)->length, "character") : repr_text(in, v);
  if (const tensor::Tensor* t = tensor_in(in, v)) return text_of_tensor(row_of(in, v, *t));
  const auto count = [](size_t n) { return plural(static_cast<int64_t>(n), "item"); };
  if (is_list(v))
    return depth == 0 ? "list of " + count(as_list(v)->size)
                      : text_of_items(in, as_list(v)->items, as_list(v)->size, depth, '[', ']');
  if (is_tuple(v))
    return depth == 0 ? "tuple of " + count(as_tuple(v)->size)
                      : text_of_items(in, as_tuple(v)->items, as_tuple(v)->size, depth, '(', ')');
  if (is_dict(v)) return "dict of " + count(as_dict(v)->count);
  if (is_function(v)) return "function " + std::string(as_function(v)->name->view());
  const std::string type(type_name(in, v));
  if (v.is_object() && v.as_object()->kind == ObjectKind::Type)
    return "class " + std::string(object_cast<Type>(v)->name->view());
  return "<" + type + ">";
}

template <class Items>
std::string text_of_items(Interpreter& in, const Items& items, size_t size, int depth, char open, char close) {
  constexpr size_t kMost = 4;
  std::string text(1, open);
  for (size_t i = 0; i < std::min(size, kMost); ++i) text += (i == 0 ? "" : ", ") + plain_text(in, items[i], depth - 1);
  if (size > kMost) text += ", ... " + plural(static_cast<int64_t>(size), "item");
  return text + close;
}

bool is_worth_showing(const std::string& name, const Value& v) {
  if (name.starts_with("__") || name.starts_with('.')) return false;
  if (!v.is_object()) return true;
  const ObjectKind kind = v.as_object()->kind;
  return kind != ObjectKind::Module && kind != ObjectKind::Function && kind != ObjectKind::Type;
}

// Where the line names the variable as a whole word; npos: it does not.
size_t place_in(std::string_view line, std::string_view name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
    const bool before = at > 0 && (is_word(line[at - 1]) || line[at - 1] == '.');
    const size_t end = at + name.size();
    if (!before && (end == line.size() || !is_word(line[end]))) return at;
  }
  return line.npos;
}

struct Variable {
  std::string name;
  Value value;
  size_t place;  // in the failing line
};

// Those of the failing line first, in its order; of a module only these.
std::vector<Variable> variables_of(const Traceback& entry, std::string_view line) {
  const bool of_module = !is_dict(entry.variables);
  const Value& all = of_module ? entry.globals : entry.variables;
  std::vector<Variable> variables;
  if (!is_dict(all)) return variables;
  dict_for_each(as_dict(all), [&](const Value& key, const Value& value) {
    if (!is_str(key)) return;
    std::string name(text_of(key));
    const size_t place = place_in(line, name);
    if (is_worth_showing(name, value) && (!of_module || place != line.npos))
      variables.push_back({std::move(name), value, place});
  });
  std::stable_sort(variables.begin(), variables.end(),
                   [](const Variable& a, const Variable& b) { return a.place < b.place; });
  return variables;
}

// Frames -------------------------------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(Interpreter& in, const Style& style) : in_(in), style_(style), paint_(style) {}

  void exception(const Value& exception, bool last) {
    const std::string message = message_of(in_, exception);
    frames(exception);
    const size_t end = message.find('\n');
    text_ += paint_(message.substr(0, end), Paint::kBad) + message.substr(std::min(end, message.size()));
    if (!last) return;
    if (const auto fix = fix_of(in_, exception, message)) show(*fix);
  }
  void joined_by(const char* text) { text_ += std::string("\n") + text + "\n\n"; }
  std::string take() { return std::move(text_); }

 private:
  static bool of_library(const Traceback& entry) { return entry.code->source->name().starts_with("stdlib/"); }

  void frames(const Value& exception) {
    std::vector<const Traceback*> entries;
    size_t own = 0;
    for (Value at = as_exception(exception)->traceback; at.is_object();) {
      entries.push_back(object_cast<const Traceback>(at));
      own += !of_library(*entries.back());
      at = entries.back()->next;
    }
    size_t shown = 0;
    for (size_t i = 0; i < entries.size();) {
      if (of_library(*entries[i])) {
        i = library(entries, i);
        continue;
      }
      const size_t number = shown++;
      if (own <= kMostFrames || number < 2 || number + kMostFrames - 2 >= own) frame(*entries[i]);
      else if (number == 2) text_ += "... " + plural(static_cast<int64_t>(own - kMostFrames), "more call") + "\n\n";
      ++i;
    }
  }

  // Frames of the library are one line: where it gave up.
  size_t library(const std::vector<const Traceback*>& entries, size_t from) {
    size_t end = from;
    while (end < entries.size() && of_library(*entries[end])) ++end;
    const Traceback& last = *entries[end - 1];
    text_ += paint_("in the library: " + place_text(last), Paint::kFaint) + "\n\n";
    return end;
  }

  static std::string place_text(const Traceback& entry) {
    return entry.code->source->name() + ":" + std::to_string(traceback_line(&entry)) + ", in " +
           std::string(entry.code->name->view());
  }

  void frame(const Traceback& entry) {
    const Source& source = *entry.code->source;
    const uint32_t number = traceback_line(&entry);
    text_ += paint_(place_text(entry), Paint::kName) + "\n";
    const uint32_t first = number > kLinesAround ? number - kLinesAround : 1;
    const uint32_t last = std::min(number + kLinesAround, source.line_count());
    const size_t width = std::to_string(last).size();
    for (uint32_t line = first; line <= last; ++line) {
      if (line > number && source.line(line).find_first_not_of(" \t") == std::string_view::npos) break;
      const std::string shown = std::to_string(line);
      text_ += (line == number ? paint_("  > ", Paint::kBad) : "    ") + std::string(width - shown.size(), ' ') +
               shown + " | " + std::string(source.line(line)) + "\n";
      if (line == number) carets(entry, line, width + 7);
    }
    variables(entry, source.line(number));
    text_ += "\n";
  }

  void carets(const Traceback& entry, uint32_t line, size_t indent) {
    const Source& source = *entry.code->source;
    if (entry.word >= entry.code->places.size()) return;
    const Span span = entry.code->places[entry.word].span;
    const Position from = source.position(span.begin), to = source.position(span.end);
    if (from.line != line || to.line != line || to.byte_column <= from.byte_column) return;
    const std::string_view text = source.line(line);
    const size_t before = display_width(text.substr(0, from.byte_column));
    const size_t under = display_width(text.substr(from.byte_column, to.byte_column - from.byte_column));
    text_ += std::string(indent + before, ' ') + paint_(std::string(under, '^'), Paint::kBad) + "\n";
  }

  void variables(const Traceback& entry, std::string_view line) {
    const std::vector<Variable> all = variables_of(entry, line);
    const size_t count = std::min(all.size(), kMostVariables);
    size_t width = 0;
    for (size_t i = 0; i < count; ++i) width = std::max(width, all[i].name.size());
    width = std::min<size_t>(width, 20);
    for (size_t i = 0; i < count; ++i) variable(all[i], width);
    if (all.size() > count)
      text_ += "    ... " + plural(static_cast<int64_t>(all.size() - count), "more variable") + "\n";
  }

  void variable(const Variable& v, size_t width) {
    std::string text, trouble;
    if (const tensor::Tensor* t = tensor_in(in_, v.value)) {
      const TensorRow row = row_of(in_, v.value, *t);
      text = text_of_tensor(row);
      trouble = trouble_of(row);
    } else {
      text = plain_text(in_, v.value, 2);
    }
    const size_t room = style_.columns > width + 30 ? style_.columns - width - 8 : 30;
    text_ += "    " + padded(v.name, width) + "  " + shortened(text, room, style_);
    if (!trouble.empty()) text_ += ", " + paint_(trouble, Paint::kBad);
    text_ += "\n";
  }

  void show(const Fix& fix) {
    text_ += "\nTo mend it, " + fix.place + (fix.before.empty() ? ", before it is used" : "") + "\n";
    if (!fix.before.empty()) text_ += paint_("  - " + fix.before, Paint::kBad) + "\n";
    text_ += paint_("  + " + fix.after, Paint::kGood) + "\n";
  }

  Interpreter& in_;
  const Style& style_;
  Paint paint_;
  std::string text_;
};

}  // namespace

std::string why_text(Interpreter& in, const Value& exception, const Style& style) {
  if (!is_exception(exception)) return "Nothing has gone wrong so far.\n";
  struct Link {
    Value exception;
    const char* joined_by;
  };
  std::vector<Link> chain{{exception, nullptr}};
  std::set<const Object*> seen{exception.as_object()};
  while (chain.size() < kMostExceptions) {
    const Exception* e = as_exception(chain.back().exception);
    const bool by_cause = is_exception(e->cause);
    const Value next = by_cause ? e->cause : e->context;
    if (!is_exception(next) || (!by_cause && e->suppress_context) || !seen.insert(next.as_object()).second) break;
    chain.push_back({next, by_cause ? "The above was the direct cause of the following:"
                                    : "While the above was being handled, the following happened:"});
  }
  Writer writer(in, style);
  for (size_t i = chain.size(); i-- > 0;) {
    writer.exception(chain[i].exception, i == 0);
    if (chain[i].joined_by != nullptr) writer.joined_by(chain[i].joined_by);
  }
  return writer.take();
}

// The outermost and the innermost of the person's own frames: what lies between is how it came there.
std::string interrupt_text(Interpreter& in, const Value& exception) {
  const Traceback *first = nullptr, *last = nullptr;
  for (Value at = as_exception(exception)->traceback; at.is_object();) {
    const auto* entry = object_cast<const Traceback>(at);
    if (!entry->code->source->name().starts_with("stdlib/")) {
      if (first == nullptr) first = entry;
      last = entry;
    }
    at = entry->next;
  }
  std::string text;
  if (first != nullptr) text = "Traceback (most recent call last):\n" + format_traceback_entry(first);
  if (last != first) text += format_traceback_entry(last);
  return text + message_of(in, exception);
}

void keep_last_exception(Interpreter& in, const Value& exception) {
  Dict* const names = in.import("sys")->dict;
  dict_set_str(in, names, intern(in, "last_type"), Value(static_cast<Object*>(type_of(in, exception))));
  dict_set_str(in, names, intern(in, "last_value"), exception);
  dict_set_str(in, names, intern(in, "last_traceback"), as_exception(exception)->traceback);
}

}  // namespace tessera::repl
