// Pattern text to tree: recursive descent over code points, with CPython's error messages and their positions.
#include <algorithm>

#include "stdlib/python/native/regex/tree.h"

namespace tessera::stdlib::regex {
namespace {

constexpr uint32_t kMostNesting = 200;
constexpr uint32_t kMostRepeat = 0xFFFFFFFE;

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 63));
    out += static_cast<char>(0x80 | (c & 63));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 63));
    out += static_cast<char>(0x80 | ((c >> 6) & 63));
    out += static_cast<char>(0x80 | (c & 63));
  }
}

std::string utf8(std::u32string_view text) {
  std::string out;
  for (char32_t c : text) append_utf8(out, c);
  return out;
}

// As repr() shows a name in a message.
std::string quoted(const std::string& name) {
  const char quote = name.find('\'') != std::string::npos && name.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (char c : name) {
    if (c == '\\' || c == quote) out += '\\';
    out += c;
  }
  return out + quote;
}

bool is_octal(char32_t c) { return c >= '0' && c <= '7'; }
bool is_ascii_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
int hex_value(char32_t c) {
  if (is_ascii_digit(c)) return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A' + 10);
  return -1;
}
bool is_blank(char32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

NodePtr make(Kind kind, uint32_t value = 0) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->value = value;
  return node;
}

NodePtr make_assertion(Op op) {
  NodePtr node = make(Kind::Assertion);
  node->assertion = op;
  return node;
}

class Parser {
 public:
  Parser(std::u32string_view pattern, uint32_t flags, const CharacterTypes& types)
      : text_(pattern), flags_(flags), types_(types) {}

  Tree run() {
    tree_.root = choice();
    if (!at_end()) fail("unbalanced parenthesis", at_);
    check_references();
    if (!(flags_ & kAscii)) flags_ |= kUnicode;
    tree_.flags = flags_;
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail(std::string message, size_t where) const {
    throw SyntaxError{std::move(message), static_cast<int64_t>(where)};
  }
  bool at_end() const { return at_ >= text_.size(); }
  char32_t peek() const { return at_end() ? 0 : text_[at_]; }
  bool accept(char32_t c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool has(uint32_t flag) const { return flags_ & flag; }

  void skip_verbose() {
    while (has(kVerbose) && !at_end()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (text_[at_] == '#') {
        while (!at_end() && text_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  NodePtr choice() {
    if (++depth_ > kMostNesting) fail("pattern is nested too deeply", at_);
    NodePtr first = sequence();
    if (peek() != '|' || at_end()) {
      --depth_;
      return first;
    }
    NodePtr node = make(Kind::Choice);
    node->children.push_back(std::move(first));
    while (accept('|')) node->children.push_back(sequence());
    --depth_;
    return node;
  }

  NodePtr sequence() {
    NodePtr node = make(Kind::Sequence);
    for (;;) {
      skip_verbose();
      if (at_end() || peek() == '|' || peek() == ')') break;
      item(*node);
    }
    if (node->children.size() == 1) return std::move(node->children[0]);
    return node;
  }

  void item(Node& sequence) {
    const size_t here = at_;
    const char32_t c = text_[at_++];
    if (c == '*' || c == '+' || c == '?' || (c == '{' && is_counter())) {
      --at_;
      repeat(sequence, here);
      return;
    }
    switch (c) {
      case '\\': sequence.children.push_back(escape(here)); break;
      case '.': sequence.children.push_back(make(has(kDotAll) ? Kind::AnyAll : Kind::Any)); break;
      case '^': sequence.children.push_back(make_assertion(has(kMultiline) ? Op::LineStart : Op::TextStart)); break;
      case '$': sequence.children.push_back(make_assertion(has(kMultiline) ? Op::LineEnd : Op::LastLineEnd)); break;
      case '[': sequence.children.push_back(set(here)); break;
      case '(':
        if (NodePtr made = group(here)) sequence.children.push_back(std::move(made));
        break;
      default: sequence.children.push_back(literal(c));
    }
  }

  // --- characters and sets ---

  NodePtr literal(char32_t c) {
    if (!has(kIgnoreCase) || (types_.lower(c) == c && types_.upper(c) == c)) return make(Kind::Char, c);
    CharSet set;
    set.ranges.push_back({c, c});
    return add_set(std::move(set));
  }

  NodePtr add_set(CharSet set) {
    set.ignore_case = has(kIgnoreCase);
    set.ascii = has(kAscii);
    set.finish(types_);
    tree_.sets.push_back(std::move(set));
    return make(Kind::Set, static_cast<uint32_t>(tree_.sets.size() - 1));
  }

  static uint8_t category(char32_t c) {
    switch (c) {
      case 'd': return kDigit;
      case 'D': return kNotDigit;
      case 's': return kSpace;
      case 'S': return kNotSpace;
      case 'w': return kWord;
      case 'W': return kNotWord;
      default: return 0;
    }
  }

  // The digits of \x, \u and \U.
  char32_t hex_escape(size_t here, size_t count) {
    char32_t value = 0;
    size_t got = 0;
    for (; got < count && !at_end() && hex_value(peek()) >= 0; ++got)
      value = value * 16 + static_cast<char32_t>(hex_value(text_[at_++]));
    if (got < count) fail("incomplete escape " + utf8(text_.substr(here, at_ - here)), here);
    if (value > 0x10FFFF) fail("bad escape " + utf8(text_.substr(here, at_ - here)), here);
    return value;
  }

  // Escapes that mean one character, inside and outside of sets; `c` is the letter behind the backslash.
  bool simple_escape(size_t here, char32_t c, char32_t& out) {
    switch (c) {
      case 'a': out = 7; return true;
      case 'f': out = 12; return true;
      case 'n': out = 10; return true;
      case 'r': out = 13; return true;
      case 't': out = 9; return true;
      case 'v': out = 11; return true;
      case '\\': out = '\\'; return true;
      case 'x': out = hex_escape(here, 2); return true;
      case 'u': out = hex_escape(here, 4); return true;
      case 'U': out = hex_escape(here, 8); return true;
      default: return false;
    }
  }

  [[noreturn]] void bad_escape(size_t here) { fail("bad escape " + utf8(text_.substr(here, 2)), here); }

  NodePtr escape(size_t here) {
    if (at_end()) fail("bad escape (end of pattern)", here);
    const char32_t c = text_[at_++];
    if (const uint8_t kind = category(c)) {
      CharSet set;
      set.categories = kind;
      return add_set(std::move(set));
    }
    switch (c) {
      case 'A': return make_assertion(Op::TextStart);
      case 'Z': return make_assertion(Op::TextEnd);
      case 'b': return make_assertion(has(kAscii) ? Op::AsciiWordEdge : Op::WordEdge);
      case 'B': return make_assertion(has(kAscii) ? Op::NotAsciiWordEdge : Op::NotWordEdge);
      default: break;
    }
    if (c == '0') {
      char32_t value = 0;
      for (int i = 0; i < 2 && is_octal(peek()) && !at_end(); ++i) value = value * 8 + (text_[at_++] - '0');
      return literal(value);
    }
    if (is_ascii_digit(c)) return numbered(here, c);
    char32_t value;
    if (simple_escape(here, c, value)) return literal(value);
    if (is_ascii_letter(c)) bad_escape(here);
    return literal(c);
  }

  // \1 to \99 refer to groups; three octal digits are a character.
  NodePtr numbered(size_t here, char32_t first) {
    uint32_t number = first - '0';
    if (is_ascii_digit(peek()) && !at_end()) {
      const char32_t second = text_[at_];
      if (is_octal(first) && is_octal(second) && at_ + 1 < text_.size() && is_octal(text_[at_ + 1])) {
        const uint32_t value = (first - '0') * 64 + (second - '0') * 8 + (text_[at_ + 1] - '0');
        at_ += 2;
        if (value > 0377) fail("octal escape value " + utf8(text_.substr(here, 4)) + " outside of range 0-0o377", here);
        return literal(value);
      }
      number = number * 10 + (second - '0');
      ++at_;
    }
    return reference(number, here + 1, std::to_string(number));
  }

  NodePtr reference(uint32_t number, size_t where, const std::string& shown) {
    if (number > tree_.groups) fail("invalid group reference " + shown, where);
    if (std::find(open_.begin(), open_.end(), number) != open_.end())
      fail("cannot refer to an open group", where > 0 ? where - 1 : 0);
    tree_.has_backrefs = true;
    NodePtr node = make(Kind::BackRef, number);
    node->ignore_case = has(kIgnoreCase);
    return node;
  }

  // One member of a set: a character in `c`, or a category.
  uint8_t set_member(size_t here, char32_t& c) {
    c = text_[at_++];
    if (c != '\\') return 0;
    if (at_end()) fail("bad escape (end of pattern)", here);
    const char32_t letter = text_[at_++];
    if (const uint8_t kind = category(letter)) return kind;
    if (is_octal(letter)) {
      char32_t value = letter - '0';
      for (int i = 0; i < 2 && !at_end() && is_octal(peek()); ++i) value = value * 8 + (text_[at_++] - '0');
      if (value > 0377)
        fail("octal escape value " + utf8(text_.substr(here, at_ - here)) + " outside of range 0-0o377", here);
      c = value;
      return 0;
    }
    if (letter == 'b') {
      c = 8;
      return 0;
    }
    if (simple_escape(here, letter, c)) return 0;
    if (is_ascii_letter(letter) || is_ascii_digit(letter)) bad_escape(here);
    c = letter;
    return 0;
  }

  NodePtr set(size_t here) {
    CharSet set;
    set.negate = accept('^');
    for (bool first = true;; first = false) {
      if (at_end()) fail("unterminated character set", here);
      if (peek() == ']' && !first) break;
      const size_t begin = at_;
      char32_t low;
      const uint8_t kind = set_member(begin, low);
      if (at_end()) fail("unterminated character set", here);
      if (peek() != '-' || at_ + 1 >= text_.size() || text_[at_ + 1] == ']') {
        add_member(set, kind, low, low);
        continue;
      }
      ++at_;
      const size_t second = at_;
      char32_t high;
      const uint8_t high_kind = set_member(second, high);
      if (kind || high_kind || high < low) fail("bad character range " + utf8(text_.substr(begin, at_ - begin)), begin);
      add_member(set, 0, low, high);
    }
    ++at_;
    return add_set(std::move(set));
  }

  static void add_member(CharSet& set, uint8_t kind, char32_t low, char32_t high) {
    if (kind) {
      set.categories |= kind;
    } else {
      set.ranges.push_back({low, high});
    }
  }

  // --- repetition ---

  // Is the `{` just passed the begin of {m}, {m,}, {,n} or {m,n}? Else it stands for itself.
  bool is_counter() const {
    size_t i = at_;
    const size_t begin = i;
    while (i < text_.size() && is_ascii_digit(text_[i])) ++i;
    bool any = i > begin;
    if (i < text_.size() && text_[i] == ',') {
      any = true;
      ++i;
      while (i < text_.size() && is_ascii_digit(text_[i])) ++i;
    }
    return any && i < text_.size() && text_[i] == '}';
  }

  uint32_t number(uint32_t otherwise) {
    if (at_end() || !is_ascii_digit(peek())) return otherwise;
    uint64_t value = 0;
    while (!at_end() && is_ascii_digit(peek()))
      value = std::min<uint64_t>(value * 10 + (text_[at_++] - '0'), kMostRepeat);
    return static_cast<uint32_t>(value);
  }

  void counts(uint32_t& min, uint32_t& max, size_t here) {
    min = 0;
    max = kUnlimited;
    switch (text_[at_++]) {
      case '*': return;
      case '+': min = 1; return;
      case '?': max = 1; return;
      default: break;
    }
    min = number(0);
    max = accept(',') ? number(kUnlimited) : min;
    ++at_;
    if (max < min) fail("min repeat greater than max repeat", here + 1);
  }

  void repeat(Node& sequence, size_t here) {
    uint32_t min, max;
    counts(min, max, here);
    if (sequence.children.empty()) fail("nothing to repeat", here);
    NodePtr& last = sequence.children.back();
    if (last->kind == Kind::Assertion && !last->negate) fail("nothing to repeat", here);
    if (last->kind == Kind::Repeat && !last->negate) fail("multiple repeat", here);
    Greed greed = Greed::Greedy;
    if (accept('?')) {
      greed = Greed::Lazy;
    } else if (accept('+')) {
      greed = Greed::Possessive;
    }
    NodePtr node = make(Kind::Repeat);
    node->min = min;
    node->max = max;
    node->greed = greed;
    node->children.push_back(std::move(last));
    last = std::move(node);
  }

  // --- groups ---

  // The character at a place, with its backslash if it has one.
  std::string shown(size_t where) const {
    return utf8(text_.substr(where, where < text_.size() && text_[where] == '\\' ? 2 : 1));
  }

  void close(size_t open_at) {
    if (!accept(')')) fail("missing ), unterminated subpattern", open_at);
  }

  // In parentheses a repeat or an assertion may be repeated: (?:a*)* is allowed, a** is not. `negate` marks that.
  static NodePtr shielded(NodePtr node) {
    if (node->kind == Kind::Repeat || node->kind == Kind::Assertion) node->negate = true;
    return node;
  }

  std::string group_name(char32_t terminator, size_t& where) {
    where = at_;
    size_t end = at_;
    while (end < text_.size() && text_[end] != terminator) ++end;
    if (end == text_.size()) {
      if (at_end()) fail("missing group name", at_);
      fail(std::string("missing ") + static_cast<char>(terminator) + ", unterminated name", where);
    }
    const std::string name = utf8(text_.substr(at_, end - at_));
    if (name.empty()) fail("missing group name", at_);
    at_ = end + 1;
    return name;
  }

  bool is_identifier(const std::string& name) const {
    for (size_t i = 0; i < name.size(); ++i) {
      const unsigned char c = static_cast<unsigned char>(name[i]);
      const bool good = c >= 0x80 || c == '_' || is_ascii_letter(c) || (i > 0 && is_ascii_digit(c));
      if (!good) return false;
    }
    return true;
  }

  void check_name(const std::string& name, size_t where) const {
    if (!is_identifier(name)) fail("bad character in group name " + quoted(name), where);
  }

  uint32_t find_name(const std::string& name) const {
    for (const auto& [known, index] : tree_.names) {
      if (known == name) return index;
    }
    return 0;
  }

  NodePtr capture(size_t here, const std::string& name, size_t name_at) {
    const uint32_t index = ++tree_.groups;
    if (!name.empty()) {
      if (const uint32_t other = find_name(name)) {
        fail("redefinition of group name " + quoted(name) + " as group " + std::to_string(index) + "; was group " +
                 std::to_string(other),
             name_at);
      }
      tree_.names.push_back({name, index});
    }
    open_.push_back(index);
    const uint32_t outer = flags_;
    NodePtr node = make(Kind::Group, index);
    node->children.push_back(choice());
    close(here);
    flags_ = outer;
    open_.pop_back();
    return node;
  }

  NodePtr plain_group(size_t here, uint32_t inner_flags) {
    const uint32_t outer = flags_;
    flags_ = inner_flags;
    NodePtr inner = shielded(choice());
    close(here);
    flags_ = outer;
    if (inner->kind == Kind::Sequence && inner->children.empty()) inner = make(Kind::Empty);
    return inner;
  }

  NodePtr group(size_t here) {
    if (!accept('?')) return capture(here, "", 0);
    if (at_end()) fail("unexpected end of pattern", at_);
    const char32_t c = text_[at_++];
    switch (c) {
      case ':': return plain_group(here, flags_);
      case 'P': return named(here);
      case '#':
        while (!at_end() && peek() != ')') ++at_;
        if (at_end()) fail("missing ), unterminated comment", here);
        ++at_;
        return nullptr;
      case '=': return look(here, Kind::LookAhead, false);
      case '!': return look(here, Kind::LookAhead, true);
      case '<': return look_behind(here);
      case '>': {
        NodePtr node = make(Kind::Atomic);
        node->children.push_back(plain_group(here, flags_));
        return node;
      }
      case '(': return conditional(here);
      default: return with_flags(here, c);
    }
  }

  NodePtr named(size_t here) {
    if (at_end()) fail("unexpected end of pattern", at_);
    if (accept('<')) {
      size_t where;
      const std::string name = group_name('>', where);
      check_name(name, where);
      return capture(here, name, where);
    }
    if (accept('=')) {
      size_t where;
      const std::string name = group_name(')', where);
      check_name(name, where);
      const uint32_t index = find_name(name);
      if (!index) fail("unknown group name " + quoted(name), where);
      if (std::find(open_.begin(), open_.end(), index) != open_.end()) fail("cannot refer to an open group", where);
      return reference(index, where, name);
    }
    fail("unknown extension ?P" + shown(at_), here + 1);
  }

  NodePtr look(size_t here, Kind kind, bool negate) {
    NodePtr node = make(kind);
    node->negate = negate;
    node->children.push_back(plain_group(here, flags_));
    return node;
  }

  NodePtr look_behind(size_t here) {
    if (at_end()) fail("unexpected end of pattern", at_);
    const char32_t c = text_[at_++];
    if (c != '=' && c != '!') fail("unknown extension ?<" + shown(at_ - 1), here + 1);
    return look(here, Kind::LookBehind, c == '!');
  }

  NodePtr conditional(size_t here) {
    size_t where;
    const std::string name = group_name(')', where);
    uint32_t index = 0;
    if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      index = static_cast<uint32_t>(std::min(std::stoull(name.substr(0, 9)), 100000ULL));
      if (index == 0) fail("bad group number", where);
      pending_.push_back({index, where});
    } else {
      check_name(name, where);
      index = find_name(name);
      if (!index) fail("unknown group name " + quoted(name), where);
    }
    tree_.has_backrefs = true;
    NodePtr node = make(Kind::Conditional, index);
    node->children.push_back(sequence());
    node->children.push_back(accept('|') ? sequence() : make(Kind::Empty));
    if (peek() == '|' && !at_end()) fail("conditional backref with more than two branches", at_);
    close(here);
    return node;
  }

  void check_references() {
    for (const auto& [index, where] : pending_) {
      if (index > tree_.groups) fail("invalid group reference " + std::to_string(index), where);
    }
  }

  static uint32_t flag_of(char32_t c) {
    switch (c) {
      case 'i': return kIgnoreCase;
      case 'L': return kLocale;
      case 'm': return kMultiline;
      case 's': return kDotAll;
      case 'x': return kVerbose;
      case 'a': return kAscii;
      case 'u': return kUnicode;
      default: return 0;
    }
  }

  // (?imsx) for the whole pattern, (?i-s:...) for a part.
  NodePtr with_flags(size_t here, char32_t c) {
    uint32_t add = 0, remove = 0;
    if (c != '-' && !flag_of(c)) fail("unknown extension ?" + shown(at_ - 1), here + 1);
    while (uint32_t flag = flag_of(c)) {
      add |= flag;
      if (at_end()) fail("missing -, : or )", at_);
      c = text_[at_++];
    }
    if (c == ')') return global_flags(here, add);
    if (c == '-') {
      if (at_end()) fail("missing flag", at_);
      c = text_[at_++];
      if (!flag_of(c)) fail(is_ascii_letter(c) ? "unknown flag" : "missing flag", at_ - 1);
      while (uint32_t flag = flag_of(c)) {
        remove |= flag;
        if (at_end()) fail("missing :", at_);
        c = text_[at_++];
      }
    }
    if (c != ':') fail(is_ascii_letter(c) ? "unknown flag" : (remove ? "missing :" : "missing -, : or )"), at_ - 1);
    if (add & remove) fail("bad inline flags: flag turned on and off", at_ - 1);
    return plain_group(here, (flags_ | add) & ~remove);
  }

  NodePtr global_flags(size_t here, uint32_t add) {
    if (here != 0 && !only_flags_before(here)) fail("global flags not at the start of the expression", here);
    flags_ |= add;
    return nullptr;
  }

  bool only_flags_before(size_t here) const {
    for (size_t i = 0; i < here; ++i) {
      if (!(has(kVerbose) && is_blank(text_[i]))) return false;
    }
    return true;
  }

  std::u32string_view text_;
  uint32_t flags_;
  const CharacterTypes& types_;
  Tree tree_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  std::vector<uint32_t> open_;
  std::vector<std::pair<uint32_t, size_t>> pending_;
};

}  // namespace

Tree parse(std::u32string_view pattern, uint32_t flags, const CharacterTypes& types) {
  return Parser(pattern, flags, types).run();
}

}  // namespace tessera::stdlib::regex
