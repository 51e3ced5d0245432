// _regex: compiled patterns and matches as objects; `re.tsr` puts the functions, flags and the cache around them.
// compile: few-inlines (no faster with more inlines)
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "lang/core/bind.h"
#include "lang/core/booking.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/syntax/character_names.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/iterators.h"
#include "lang/types/number.h"
#include "lang/types/unicode.h"
#include "lang/types/setup.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/regex/program.h"
#include "stdlib/python/native/regex_template.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

struct PatternObject : Object {
  std::shared_ptr<const regex::Program> program;
  Booking booked;     // of the program
  Value text;         // the pattern
  Value group_index;  // dict
};

struct MatchObject : Object {
  Value pattern, string;
  std::vector<int64_t> spans;
  int32_t last_group = 0;
  int64_t pos = 0, endpos = 0;
};

// One for each interpreter, which keeps it; functions find it as their data.
struct Types {
  Type* pattern;
  Type* match;
  Type* scanner;
};

const Types* types_of(const Args& args) { return static_cast<const Types*>(args.callee->data); }

// --- characters ---

bool is_word(char32_t c) {
  return c == '_' || (unicode::flags(c) & (unicode::kAlpha | unicode::kDecimal | unicode::kDigit | unicode::kNumeric));
}
bool is_digit(char32_t c) { return unicode::is(c, unicode::kDecimal); }
bool is_space(char32_t c) { return unicode::is(c, unicode::kSpace); }

// The other case where it is one character; patterns know no others.
char32_t change_case(char32_t c, unicode::Case which) {
  std::string out;
  unicode::append_case(out, c, which);
  const char* p = out.data();
  const char32_t first = decode_char(p);
  return p == out.data() + out.size() ? first : c;
}
char32_t to_lower(char32_t c) {
  if (c < 128) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return change_case(c, unicode::Case::Lower);
}
char32_t to_upper(char32_t c) {
  if (c < 128) return c >= 'a' && c <= 'z' ? c - 32 : c;
  return change_case(c, unicode::Case::Upper);
}

int decimal(char32_t c) { return unicode::decimal_value(c); }
char32_t named(std::string_view name) { return character_named(name).value_or(0); }

const regex::CharacterTypes kUnicode{is_digit, is_space, is_word, to_lower, to_upper, decimal, unicode::is_identifier, named, true};

std::u32string decode(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (const char* p = text.data(); p < text.data() + text.size();) out.push_back(decode_char(p));
  return out;
}

std::u32string decode_bytes(std::string_view bytes) {
  std::u32string out;
  for (const char c : bytes) out.push_back(static_cast<unsigned char>(c));
  return out;
}

// The characters of a pattern or template: a str or bytes.
std::u32string characters(const Value& v) { return is_str(v) ? decode(text_of(v)) : decode_bytes(bytes_of(v)); }

// A string or bytes-like object in the form that the engine searches: its bytes if it is ASCII or no str, else its decoded characters.
struct Subject {
  Value string;
  std::u32string wide;
  regex::Text text;
  std::optional<BytesLike> pinned;

  Subject(Interpreter& in, const Value& s) : string(s) {
    if (!is_str(s)) {
      pinned.emplace(in, s);
      text.bytes = reinterpret_cast<const uint8_t*>(pinned->view().data());
      if (text.bytes == nullptr) text.bytes = reinterpret_cast<const uint8_t*>("");
      text.length = static_cast<int64_t>(pinned->view().size());
      return;
    }
    Str* str = as_str(s);
    text.length = str->length;
    if (str->is_ascii()) {
      text.bytes = reinterpret_cast<const uint8_t*>(str->data);
    } else {
      wide = decode(str->view());
      text.wide = wide.data();
    }
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
};

void poll_interrupt(void* data) { static_cast<Interpreter*>(data)->check_stop(); }

// One after the other, as findall and sub go through a text: an empty match may not follow itself at the same place.
struct Search {
  Interpreter& in;
  const regex::Program& program;
  const Subject& subject;
  int64_t at, not_at = -1;
  regex::Result result;
  regex::Mode mode = regex::Mode::Search;

  bool next() {
    in.check_stop();
    try {
      if (at > subject.text.length ||
          !regex::match(program, subject.text, at, mode, result, poll_interrupt, &in, not_at)) {
        return false;
      }
    } catch (const regex::TooManySteps&) {
      throw Error(ErrorKind::RuntimeError, "regular expression needs too many steps for this text");
    }
    at = result.spans[1];
    not_at = result.spans[0] == result.spans[1] ? at : -1;
    return true;
  }
};

PatternObject* pattern_of(const Value& v) { return object_cast<PatternObject>(v); }
MatchObject* match_of(const Value& v) { return object_cast<MatchObject>(v); }

// TypeError unless `v` can be searched by the pattern.
void check_string(Interpreter& in, const Value& v, const regex::Program& program) {
  if (is_str(v) && program.bytes) throw Error(ErrorKind::TypeError, "cannot use a bytes pattern on a string-like object");
  if (is_str(v)) return;
  if (is_bytes_without_gaps(in, v)) {
    if (!program.bytes) throw Error(ErrorKind::TypeError, "cannot use a string pattern on a bytes-like object");
    return;
  }
  throw_error(ErrorKind::TypeError, "expected string or bytes-like object, got '%s'",
              std::string(type_name(in, v)).c_str());
}

Value make_match(Interpreter& in, Type* type, const Value& pattern, const Value& string, regex::Result result,
                 int64_t pos, int64_t endpos) {
  MatchObject* match = make_object<MatchObject>(in, type);
  Value made = Value::adopt(match);
  match->pattern = pattern;
  match->string = string;
  match->spans = std::move(result.spans);
  match->last_group = result.last_group;
  match->pos = pos;
  match->endpos = endpos;
  return made;
}

// --- patterns ---

int64_t clamp(Interpreter& in, const Value& v, int64_t length, int64_t otherwise) {
  if (v.is_none()) return otherwise;
  const Value whole = whole_index(in, v);
  if (!whole.is_int()) return whole_sign(whole) < 0 ? 0 : length;
  return std::clamp<int64_t>(whole.as_int(), 0, length);
}

Value run(Interpreter& in, const Args& args, regex::Mode mode) {
  check_string(in, args[1], *pattern_of(args[0])->program);
  Subject subject(in, args[1]);
  const int64_t pos = clamp(in, args[2], subject.text.length, 0);
  const int64_t endpos = clamp(in, args[3], subject.text.length, subject.text.length);
  subject.text.length = endpos;
  if (pos > endpos) return Value::none();
  regex::Result result;
  try {
    if (!regex::match(*pattern_of(args[0])->program, subject.text, pos, mode, result, poll_interrupt, &in))
      return Value::none();
  } catch (const regex::TooManySteps&) {
    throw Error(ErrorKind::RuntimeError, "regular expression needs too many steps for this text");
  }
  return make_match(in, types_of(args)->match, args[0], args[1], std::move(result), pos, endpos);
}

Value pattern_search(Interpreter& in, const Args& args) { return run(in, args, regex::Mode::Search); }
Value pattern_match(Interpreter& in, const Args& args) { return run(in, args, regex::Mode::Match); }
Value pattern_fullmatch(Interpreter& in, const Args& args) { return run(in, args, regex::Mode::FullMatch); }

Value span_text(Interpreter& in, const Value& string, int64_t begin, int64_t end) {
  if (!is_str(string)) {
    const bool whole = is_bytes(string) && begin == 0 && end == static_cast<int64_t>(as_bytes(string)->size);
    if (whole && string.as_object()->type == bytes_types(in).bytes) return string;
    const BytesLike bytes(in, string);  // a bytearray may be shorter by now
    const size_t size = bytes.view().size(), from = std::min(static_cast<size_t>(begin), size);
    return make_bytes(in, bytes.view().substr(from, std::min(static_cast<size_t>(end), size) - from));
  }
  return str_slice(in, as_str(string), static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
}

Value pattern_findall(Interpreter& in, const Args& args) {
  const regex::Program& program = *pattern_of(args[0])->program;
  check_string(in, args[1], program);
  Subject subject(in, args[1]);
  const int64_t pos = clamp(in, args[2], subject.text.length, 0);
  subject.text.length = clamp(in, args[3], subject.text.length, subject.text.length);
  Value list = make_list(in);
  const auto piece = [&](const regex::Result& result, uint32_t group) {
    const int64_t begin = result.spans[2 * group];
    if (begin < 0) return program.bytes ? make_bytes(in, {}) : make_str(in, "");
    return span_text(in, args[1], begin, result.spans[2 * group + 1]);
  };
  for (Search search{in, program, subject, pos, -1, {}, regex::Mode::Search}; search.next();) {
    if (program.groups <= 1) {
      list_append(in, as_list(list), piece(search.result, program.groups));
      continue;
    }
    std::vector<Value> row;
    for (uint32_t g = 1; g <= program.groups; ++g) row.push_back(piece(search.result, g));
    list_append(in, as_list(list), make_tuple_moving(in, row.data(), row.size()));
  }
  return list;
}

struct FinderObject : Object {
  Value pattern;
  std::unique_ptr<Subject> subject;
  std::unique_ptr<Search> search;
  int64_t pos = 0;
  Type* match_type = nullptr;
};

bool finder_next(Interpreter& in, const Value& self, Value& out) {
  FinderObject* finder = object_cast<FinderObject>(self);
  if (!finder->search) return false;
  if (!finder->search->next()) {
    finder->search.reset();
    return false;
  }
  out = make_match(in, finder->match_type, finder->pattern, finder->subject->string, finder->search->result,
                   finder->pos, finder->subject->text.length);
  return true;
}

// scanner(): the next match from where the last one ended, anywhere or right there.
Value scanner_step(Interpreter& in, const Args& args, regex::Mode mode) {
  FinderObject* finder = object_cast<FinderObject>(args[0]);
  if (!finder->search) return Value::none();
  finder->search->mode = mode;
  Value found;
  if (!finder_next(in, args[0], found)) return Value::none();
  return found;
}
Value scanner_search(Interpreter& in, const Args& args) { return scanner_step(in, args, regex::Mode::Search); }
Value scanner_match(Interpreter& in, const Args& args) { return scanner_step(in, args, regex::Mode::Match); }
Value scanner_pattern(Interpreter&, const Args& args) {
  return object_cast<FinderObject>(args[0])->pattern;
}

Value make_finder(Interpreter& in, const Args& args, Type* type) {
  check_string(in, args[1], *pattern_of(args[0])->program);
  const auto types = types_of(args);
  FinderObject* finder = make_object<FinderObject>(in, type);
  Value made = Value::adopt(finder);
  finder->match_type = types->match;
  finder->pattern = args[0];
  finder->subject = std::make_unique<Subject>(in, args[1]);
  finder->pos = clamp(in, args[2], finder->subject->text.length, 0);
  finder->subject->text.length = clamp(in, args[3], finder->subject->text.length, finder->subject->text.length);
  finder->search.reset(new Search{in, *pattern_of(args[0])->program, *finder->subject, finder->pos, -1, {}, regex::Mode::Search});
  return made;
}

Value pattern_scanner(Interpreter& in, const Args& args) { return make_finder(in, args, types_of(args)->scanner); }
Value pattern_finditer(Interpreter& in, const Args& args) {
  return callable_iter(in, get_attr(in, pattern_scanner(in, args), intern(in, "search")), Value::none());
}

Value pattern_split(Interpreter& in, const Args& args) {
  const regex::Program& program = *pattern_of(args[0])->program;
  check_string(in, args[1], program);
  const Subject subject(in, args[1]);
  const int64_t most = int_argument(in, args[2]);
  Value list = make_list(in);
  int64_t from = 0, count = 0;
  for (Search search{in, program, subject, 0, -1, {}, regex::Mode::Search}; (most == 0 || count < most) && most >= 0 && search.next();
       ++count) {
    const auto& spans = search.result.spans;
    list_append(in, as_list(list), span_text(in, args[1], from, spans[0]));
    for (uint32_t g = 1; g <= program.groups; ++g) {
      list_append(in, as_list(list),
                  spans[2 * g] < 0 ? Value::none() : span_text(in, args[1], spans[2 * g], spans[2 * g + 1]));
    }
    from = spans[1];
  }
  list_append(in, as_list(list), span_text(in, args[1], from, subject.text.length));
  return list;
}

// `re.error` is a class of re.tsr.
[[noreturn]] void throw_re_error(Interpreter& in, const std::string& message, const Value& pattern, int64_t position) {
  const Value error_class = get_attr(in, Value(in.import("re")), intern(in, "error"));
  throw Thrown(
      call(in, error_class, {make_str(in, message), pattern, position < 0 ? Value::none() : Value::integer(position)}));
}

void tell_warnings(Interpreter& in, const std::vector<regex::Warning>& warnings) {
  if (warnings.empty()) return;
  const Value warn = get_attr(in, Value(in.import("re")), intern(in, "_warn"));
  for (const regex::Warning& each : warnings)
    call(in, warn, {Value(error_type(in, each.future ? ErrorKind::FutureWarning : ErrorKind::DeprecationWarning)),
                    make_str(in, each.message)});
}

regex::Template parse_template(Interpreter& in, const Value& text, const regex::Program& program) {
  std::vector<regex::Warning> warnings;
  try {
    regex::Template parts = regex::parse_template(characters(text), program, warnings);
    tell_warnings(in, warnings);
    return parts;
  } catch (const regex::SyntaxError& error) {
    tell_warnings(in, warnings);
    if (error.position == regex::kUnknownGroup) throw Error(ErrorKind::IndexError, error.message);
    throw_re_error(in, error.message, text, error.position);
  }
}

// The output of sub() and expand(): text or bytes.
class Output {
 public:
  Output(Interpreter& in, const Value& string) : in_(in), string_(string) {}

  void span(int64_t begin, int64_t end) {
    if (!is_str(string_)) {
      const BytesLike bytes(in_, string_);
      const size_t size = bytes.view().size(), from = std::min(static_cast<size_t>(begin), size);
      text_ += bytes.view().substr(from, std::min(static_cast<size_t>(end), size) - from);
      return;
    }
    Str* const string = as_str(string_);
    const auto offset = [&](int64_t at) {
      return string->is_ascii() ? static_cast<uint32_t>(at) : byte_offset(in_, string, static_cast<uint32_t>(at));
    };
    const uint32_t first = offset(begin), last = offset(end);
    text_.append(string->data + first, last - first);
  }

  void parts(const regex::Template& parts, const std::vector<int64_t>& spans) {
    for (const regex::TemplatePart& part : parts) {
      const size_t group = static_cast<size_t>(std::max<int64_t>(part.group, 0)) * 2;
      if (part.group < 0) text_ += part.literal;
      else if (spans[group] >= 0) span(spans[group], spans[group + 1]);
    }
    cover();
  }

  // The result of a replacement function of the script: TypeError in the words of str.join if it is no string.
  void value(const Value& value, int64_t index) {
    if (value.is_none()) return;
    if (is_str(string_) ? is_str(value) : is_bytes_like(in_, value)) {
      if (is_str(value)) text_ += text_of(value);
      else text_ += BytesLike(in_, value).view();
      return cover();
    }
    throw_error(ErrorKind::TypeError, "sequence item %lld: expected %s, %s found", static_cast<long long>(index),
                is_str(string_) ? "str instance" : "a bytes-like object", std::string(type_name(in_, value)).c_str());
  }

  Value finish() { return is_str(string_) ? make_str(in_, text_) : make_bytes(in_, text_); }

 private:
  void cover() { booked_.cover(in_.heap, text_.size()); }

  Interpreter& in_;
  Value string_;
  std::string text_;
  Booking booked_;
};

// sub and subn: (new text, number of replacements).
Value substitute(Interpreter& in, const Args& args, int64_t& count) {
  const Value& repl = args[1];
  const regex::Program& program = *pattern_of(args[0])->program;
  const bool by_function = is_callable(in, repl);
  if (!by_function && !is_str(repl) && !is_bytes_like(in, repl)) {
    hash(in, repl);  // CPython looks for it in a cache first
    throw_error(ErrorKind::TypeError, "decoding to str: need a bytes-like object, %s found",
                std::string(type_name(in, repl)).c_str());
  }
  const bool by_template = !by_function && (is_bytes(repl) || is_str(repl)) && is_str(repl) != program.bytes;
  const int64_t most = int_argument(in, args[3]);
  regex::Template parts;
  if (by_template) parts = parse_template(in, repl, program);
  check_string(in, args[2], program);
  const Subject subject(in, args[2]);
  const auto types = types_of(args);
  Output out(in, args[2]);
  int64_t from = 0, pieces = 0;  // pieces: what CPython would join, for its message
  for (Search search{in, program, subject, 0, -1, {}, regex::Mode::Search}; (most <= 0 || count < most) && search.next();
       ++count) {
    if (search.result.spans[0] > from) ++pieces;
    out.span(from, search.result.spans[0]);
    from = search.result.spans[1];
    ++pieces;
    if (by_template) {
      out.parts(parts, search.result.spans);
    } else if (by_function) {
      out.value(call(in, repl, {make_match(in, types->match, args[0], args[2], search.result, 0, subject.text.length)}),
                pieces - 1);
    } else {
      out.value(repl, pieces - 1);
    }
  }
  if (count == 0 && is_str(args[2])) return args[2];
  out.span(from, subject.text.length);
  return out.finish();
}

Value pattern_sub(Interpreter& in, const Args& args) {
  int64_t count = 0;
  return substitute(in, args, count);
}

Value pattern_subn(Interpreter& in, const Args& args) {
  int64_t count = 0;
  Value text = substitute(in, args, count);
  return make_tuple(in, {std::move(text), Value::integer(count)});
}

Value pattern_text(Interpreter&, const Args& args) { return pattern_of(args[0])->text; }
Value pattern_flags(Interpreter&, const Args& args) { return Value::integer(pattern_of(args[0])->program->flags); }
Value pattern_groups(Interpreter&, const Args& args) { return Value::integer(pattern_of(args[0])->program->groups); }
Value pattern_groupindex(Interpreter& in, const Args& args) {
  const Value& names = pattern_of(args[0])->group_index;
  return as_dict(names)->count == 0 ? make_dict(in) : call(in, Value(in.shared->mapping_proxy_type), {names});
}
Value self_again(Interpreter&, const Args& args) { return args[0]; }

Value pattern_repr(Interpreter& in, const Value& self) {
  const PatternObject* pattern = pattern_of(self);
  std::string text = repr_text(in, pattern->text);
  if (text.size() > 200) text.resize(200);
  static constexpr std::pair<uint32_t, const char*> kNames[] = {
      {regex::kTemplate, "re.TEMPLATE"},   {regex::kIgnoreCase, "re.IGNORECASE"}, {regex::kLocale, "re.LOCALE"}, {regex::kMultiline, "re.MULTILINE"},
      {regex::kDotAll, "re.DOTALL"},       {regex::kVerbose, "re.VERBOSE"},       {regex::kDebug, "re.DEBUG"},   {regex::kAscii, "re.ASCII"}};
  std::string flags;
  uint32_t left = pattern->program->flags & ~(pattern->program->bytes ? 0U : uint32_t{regex::kUnicode});
  for (const auto& [flag, name] : kNames) {
    if (left & flag) flags += (flags.empty() ? "" : "|") + std::string(name);
    left &= ~flag;
  }
  if (left != 0) {
    char hex[16];
    std::snprintf(hex, sizeof hex, "0x%x", left);
    flags += (flags.empty() ? "" : "|") + std::string(hex);
  }
  return make_str(in, "re.compile(" + text + (flags.empty() ? "" : ", " + flags) + ")");
}

int64_t pattern_hash(Interpreter& in, const Value& self) {
  return hash(in, pattern_of(self)->text) ^ static_cast<int64_t>(pattern_of(self)->program->flags);
}

Value pattern_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !other.is_object() ||
      other.as_object()->type != self.as_object()->type) {
    return in.not_implemented;
  }
  const PatternObject *a = pattern_of(self), *b = pattern_of(other);
  const bool same = a->program->bytes == b->program->bytes && a->program->flags == b->program->flags &&
                    equals(in, a->text, b->text);
  return Value::boolean(same == (op == CompareOp::Eq));
}

// --- matches ---

// The number of the group that a script names by number or name.
size_t group_number(Interpreter& in, const MatchObject* match, const Value& key) {
  int64_t number = -1;
  if (is_str(key)) {
    for (const auto& [name, index] : pattern_of(match->pattern)->program->names) {
      if (name == text_of(key)) number = index;
    }
  } else if (key.is_int() || key.is_bool() || !type_lookup(type_of(in, key), intern(in, "__index__")).is_undefined()) {
    const Value whole = whole_index(in, key);
    if (whole.is_int()) number = whole.as_int();
  } else if (!pattern_of(match->pattern)->program->names.empty()) {
    hash(in, key);  // CPython looks the key up in the dict of names
  }
  if (number < 0 || static_cast<size_t>(number) * 2 >= match->spans.size())
    throw Error(ErrorKind::IndexError, "no such group");
  return static_cast<size_t>(number);
}

Value group_text(Interpreter& in, const MatchObject* match, size_t group, const Value& otherwise) {
  const int64_t begin = match->spans[2 * group];
  return begin < 0 ? otherwise : span_text(in, match->string, begin, match->spans[2 * group + 1]);
}

Value match_group(Interpreter& in, const Args& args) {
  refuse_keywords("group", args);
  const MatchObject* match = match_of(args[0]);
  if (args.count == 1) return group_text(in, match, 0, Value::none());
  if (args.count == 2) return group_text(in, match, group_number(in, match, args[1]), Value::none());
  std::vector<Value> out;
  for (uint32_t i = 1; i < args.count; ++i)
    out.push_back(group_text(in, match, group_number(in, match, args[i]), Value::none()));
  return make_tuple_moving(in, out.data(), out.size());
}

Value match_getitem(Interpreter& in, const Value& self, const Value& key) {
  return group_text(in, match_of(self), group_number(in, match_of(self), key), Value::none());
}

Value match_groups(Interpreter& in, const Args& args) {
  const MatchObject* match = match_of(args[0]);
  std::vector<Value> out;
  for (size_t g = 1; 2 * g < match->spans.size(); ++g) out.push_back(group_text(in, match, g, args[1]));
  return make_tuple_moving(in, out.data(), out.size());
}

Value match_groupdict(Interpreter& in, const Args& args) {
  const MatchObject* match = match_of(args[0]);
  Value dict = make_dict(in);
  for (const auto& [name, index] : pattern_of(match->pattern)->program->names) {
    dict_set(in, as_dict(dict), make_str(in, name), group_text(in, match, index, args[1]));
  }
  return dict;
}

Value match_start(Interpreter& in, const Args& args) {
  const MatchObject* match = match_of(args[0]);
  return Value::integer(match->spans[2 * group_number(in, match, args[1])]);
}

Value match_end(Interpreter& in, const Args& args) {
  const MatchObject* match = match_of(args[0]);
  return Value::integer(match->spans[2 * group_number(in, match, args[1]) + 1]);
}

Value span_tuple(Interpreter& in, const MatchObject* match, size_t group) {
  return make_tuple(in, {Value::integer(match->spans[2 * group]), Value::integer(match->spans[2 * group + 1])});
}

Value match_span(Interpreter& in, const Args& args) {
  const MatchObject* match = match_of(args[0]);
  return span_tuple(in, match, group_number(in, match, args[1]));
}

Value match_expand(Interpreter& in, const Args& args) {
  const MatchObject* match = match_of(args[0]);
  const regex::Program& program = *pattern_of(match->pattern)->program;
  Value text = args[1];
  if (!is_str(text) && !is_bytes(text)) {
    if (!is_bytes_like(in, text))
      throw_error(ErrorKind::TypeError, "decoding to str: need a bytes-like object, %s found", std::string(type_name(in, text)).c_str());
    text = make_bytes(in, BytesLike(in, text));
  }
  const regex::Template parts = parse_template(in, text, program);
  const auto literal = std::find_if(parts.begin(), parts.end(), [](const regex::TemplatePart& part) { return part.group < 0; });
  if (is_str(text) == program.bytes && literal != parts.end()) {  // groups join with each other whatever the template is
    throw_error(ErrorKind::TypeError, "sequence item %lld: expected %s, %s found", static_cast<long long>(literal - parts.begin()),
                program.bytes ? "a bytes-like object" : "str instance", program.bytes ? "str" : "bytes");
  }
  Output out(in, match->string);
  out.parts(parts, match->spans);
  return out.finish();
}

Value match_string(Interpreter&, const Args& args) { return match_of(args[0])->string; }
Value match_re(Interpreter&, const Args& args) { return match_of(args[0])->pattern; }
Value match_pos(Interpreter&, const Args& args) { return Value::integer(match_of(args[0])->pos); }
Value match_endpos(Interpreter&, const Args& args) { return Value::integer(match_of(args[0])->endpos); }

Value match_lastindex(Interpreter&, const Args& args) {
  const int32_t last = match_of(args[0])->last_group;
  return last == 0 ? Value::none() : Value::integer(last);
}

Value match_lastgroup(Interpreter& in, const Args& args) {
  const MatchObject* match = match_of(args[0]);
  for (const auto& [name, index] : pattern_of(match->pattern)->program->names) {
    if (static_cast<int32_t>(index) == match->last_group) return make_str(in, name);
  }
  return Value::none();
}

Value match_regs(Interpreter& in, const Args& args) {
  const MatchObject* match = match_of(args[0]);
  std::vector<Value> out;
  for (size_t g = 0; 2 * g < match->spans.size(); ++g) out.push_back(span_tuple(in, match, g));
  return make_tuple_moving(in, out.data(), out.size());
}

Value match_repr(Interpreter& in, const Value& self) {
  const MatchObject* match = match_of(self);
  std::string text = "<re.Match object; span=(" + std::to_string(match->spans[0]) + ", " +
                     std::to_string(match->spans[1]) + "), match=";
  std::string shown = repr_text(in, group_text(in, match, 0, Value::none()));
  const std::u32string wide = decode(shown);
  if (wide.size() > 50) {
    shown.clear();
    for (size_t i = 0; i < 50; ++i) append_char(shown, wide[i]);
  }
  return make_str(in, text + shown + ">");
}

// --- the module ---

size_t bytes_of_program(const regex::Program& program) {
  return sizeof program + program.code.capacity() * sizeof(regex::Instruction) +
         program.sets.capacity() * sizeof(regex::CharSet) +
         program.names.capacity() * sizeof(std::pair<std::string, uint32_t>);
}

Value compile_pattern(Interpreter& in, const Args& args) {
  const bool bytes = is_bytes(args[0]);
  if (!bytes) text_argument(in, args[0], "pattern");
  std::vector<regex::Warning> warnings;
  try {
    auto program = regex::compile(characters(args[0]), static_cast<uint32_t>(whole_to_int(whole_index(in, args[1]))),
                                  bytes ? regex::ascii_types() : kUnicode, bytes, warnings);
    tell_warnings(in, warnings);
    PatternObject* pattern = make_object<PatternObject>(in, types_of(args)->pattern);
    Value made = Value::adopt(pattern);
    pattern->booked.set(in.heap, bytes_of_program(*program));
    pattern->program = std::move(program);
    pattern->text = args[0];
    pattern->group_index = make_dict(in);
    for (const auto& [name, index] : pattern->program->names) {
      dict_set(in, as_dict(pattern->group_index), make_str(in, name), Value::integer(index));
    }
    return made;
  } catch (const regex::SyntaxError& error) {
    tell_warnings(in, warnings);
    throw_re_error(in, error.message, args[0], error.position);
  } catch (const regex::FlagsRefused& refused) {
    throw Error(ErrorKind::ValueError, refused.message);
  } catch (const regex::CountRefused&) {
    throw Error(ErrorKind::OverflowError, "the repetition number is too large");
  }
}

Value escape_text(Interpreter& in, const Args& args) {
  if (!is_str(args[0]) && !is_bytes(args[0]) && !is_byte_array(args[0]))
    throw Error(ErrorKind::TypeError,
                "decoding to str: need a bytes-like object, " + std::string(type_name(in, args[0])) + " found");
  std::string out;
  for (char c : is_str(args[0]) ? text_of(args[0]) : bytes_of(args[0])) {
    if (std::string_view("()[]{}?*+-|^$\\.&~# \t\n\r\v\f").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return is_str(args[0]) ? make_str(in, out) : make_bytes(in, out);
}

// Pickling, and copyreg: re._compile makes it again.
Value pattern_reduce(Interpreter& in, const Args& args) {
  const PatternObject* pattern = pattern_of(args[0]);
  return make_tuple(in, {get_attr(in, Value(in.import("re")), intern(in, "_compile")),
                         make_tuple(in, {pattern->text, Value::integer(pattern->program->flags)})});
}

const NativeDef kPatternMethods[] = {
    {"search(self, string, pos: int = 0, endpos: int = 9223372036854775807)", pattern_search, "Find the first match."},
    {"match(self, string, pos: int = 0, endpos: int = 9223372036854775807)", pattern_match, "Match at the beginning."},
    {"fullmatch(self, string, pos: int = 0, endpos: int = 9223372036854775807)", pattern_fullmatch, "Match the whole text."},
    {"findall(self, string, pos: int = 0, endpos: int = 9223372036854775807)", pattern_findall, "All matches, as texts or tuples of groups."},
    {"finditer(self, string, pos: int = 0, endpos: int = 9223372036854775807)", pattern_finditer, "All matches, one after the other."},
    {"split(self, string, maxsplit: int = 0)", pattern_split, "The texts between the matches."},
    {"sub(self, repl, string, count: int = 0)", pattern_sub, "Replace matches."},
    {"subn(self, repl, string, count: int = 0)", pattern_subn, "Replace matches and say how many."},
    {"scanner(self, string, pos: int = 0, endpos: int = 9223372036854775807)", pattern_scanner, "Matches one after the other."},
    {"__reduce__(self)", pattern_reduce},
    {"__copy__(self)", self_again},
    {"__deepcopy__(self, memo, /)", self_again},
};

const NativeDef kMatchMethods[] = {
    {"group", match_group, "The text of one or several groups."},
    {"groups(self, default=None)", match_groups, "The texts of all groups."},
    {"groupdict(self, default=None)", match_groupdict, "The texts of the named groups."},
    {"start(self, group=0, /)", match_start, "Where a group begins."},
    {"end(self, group=0, /)", match_end, "Where a group ends."},
    {"span(self, group=0, /)", match_span, "Both."},
    {"expand(self, template)", match_expand, "A template with the groups put in."},
    {"__copy__(self)", self_again},
    {"__deepcopy__(self, memo, /)", self_again},
};

template <class T>
void destroy(Interpreter& in, Object* self) {
  free_object(in, known_cast<T>(self));
}

Type* make_type(Interpreter& in, std::string_view name, uint32_t size, void (*destroy)(Interpreter&, Object*)) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = name.starts_with("SRE") ? "_sre" : "re";
  spec.size = size;
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy;
  return type;
}

// Methods that make matches reach their type through the closure.
void add_with_types(Interpreter& in, Type* type, const NativeDef* rows, size_t count, Types* types) {
  in.add_methods(type, rows, count);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view signature = rows[i].signature;
    Value function = type_lookup(type, intern(in, signature.substr(0, signature.find('('))));
    object_cast<NativeFunction>(function)->data = types;
  }
}

}  // namespace

void fill_regex(Interpreter& in, Module& module) {
  Types* types = in.keep(new Types);
  types->pattern = make_type(in, "Pattern", sizeof(PatternObject), destroy<PatternObject>);
  types->pattern->slots.repr = pattern_repr;
  types->pattern->slots.hash = pattern_hash;
  types->pattern->slots.compare = pattern_compare;
  in.add_property(types->pattern, "pattern", pattern_text);
  in.add_property(types->pattern, "flags", pattern_flags);
  in.add_property(types->pattern, "groups", pattern_groups);
  in.add_property(types->pattern, "groupindex", pattern_groupindex);
  add_with_types(in, types->pattern, kPatternMethods, std::size(kPatternMethods), types);
  in.add_methods(types->pattern, &kClassGetItem, 1);

  types->match = make_type(in, "Match", sizeof(MatchObject), destroy<MatchObject>);
  types->match->slots.repr = match_repr;
  types->match->slots.get_item = match_getitem;
  in.add_property(types->match, "string", match_string);
  in.add_property(types->match, "re", match_re);
  in.add_property(types->match, "pos", match_pos);
  in.add_property(types->match, "endpos", match_endpos);
  in.add_property(types->match, "lastindex", match_lastindex);
  in.add_property(types->match, "lastgroup", match_lastgroup);
  in.add_property(types->match, "regs", match_regs);
  add_with_types(in, types->match, kMatchMethods, std::size(kMatchMethods), types);
  in.add_methods(types->match, &kClassGetItem, 1);

  static const NativeDef kScannerMethods[] = {
      {"search(self)", scanner_search, "The next match."},
      {"match(self)", scanner_match, "The match at this place."},
  };
  types->scanner = make_type(in, "SRE_Scanner", sizeof(FinderObject), destroy<FinderObject>);
  in.add_methods(types->scanner, kScannerMethods, std::size(kScannerMethods));
  in.add_property(types->scanner, "pattern", scanner_pattern);

  set_member(in, module, "Pattern", Value(types->pattern));
  set_member(in, module, "Match", Value(types->match));
  set_member(in, module, "compile",
             in.new_function("compile(pattern, flags, /)", "Compile a pattern.", compile_pattern, types));
  in.def(module, "escape(pattern, /)", "The text with every special character escaped.", escape_text);
}

}  // namespace tessera::stdlib
