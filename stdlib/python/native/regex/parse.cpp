// Pattern text to tree: recursive descent over code points, with CPython's error messages and their positions.
// compile: small (runs once for a pattern)
#include <algorithm>

#include "stdlib/python/native/regex/case_classes.h"
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

constexpr uint32_t kTypeFlags = kAscii | kLocale | kUnicode;
constexpr uint32_t kGlobalFlags = kDebug | kTemplate;

// The flags of a whole pattern: CPython's checks, and UNICODE for text that is not ASCII.
uint32_t fixed_flags(uint32_t flags, bool bytes) {
  if (bytes) {
    if (flags & kUnicode) throw FlagsRefused{"cannot use UNICODE flag with a bytes pattern"};
    if ((flags & kLocale) && (flags & kAscii)) throw FlagsRefused{"ASCII and LOCALE flags are incompatible"};
    return flags;
  }
  if (flags & kLocale) throw FlagsRefused{"cannot use LOCALE flag with a str pattern"};
  if ((flags & kAscii) && (flags & kUnicode)) throw FlagsRefused{"ASCII and UNICODE flags are incompatible"};
  return flags & kAscii ? flags : flags | kUnicode;
}

class Parser {
 public:
  Parser(std::u32string_view pattern, uint32_t flags, const CharacterTypes& types, bool bytes,
         std::vector<Warning>& warnings)
      : text_(pattern), flags_(flags), types_(types), warnings_(warnings), bytes_(bytes) {}

  Tree run() {
    tree_.root = choice();
    tree_.flags = fixed_flags(flags_, bytes_);
    if (!at_end()) fail("unbalanced parenthesis", at_);
    check_references();
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
    const bool outer = in_choice_;
    in_choice_ = true;
    while (accept('|')) node->children.push_back(sequence());
    in_choice_ = outer;
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
        at_start_ = depth_ == 1 && sequence.children.empty() && !in_choice_;
        if (NodePtr made = group(here)) sequence.children.push_back(std::move(made));
        break;
      default: sequence.children.push_back(literal(c));
    }
  }

  // --- characters and sets ---

  NodePtr literal(char32_t c) {
    const CharacterTypes& cases = has(kAscii) ? ascii_types() : types_;
    const bool one_case = cases.lower(c) == c && cases.upper(c) == c && (!cases.unicode || case_class(c).empty());
    if (!has(kIgnoreCase) || one_case) return make(Kind::Char, c);
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
      case 'u':
        if (bytes_) return false;
        out = hex_escape(here, 4);
        return true;
      case 'U':
        if (bytes_) return false;
        out = hex_escape(here, 8);
        return true;
      case 'N':
        if (bytes_) return false;
        out = named_character(here);
        return true;
      default: return false;
    }
  }

  // \N{name}
  char32_t named_character(size_t here) {
    if (!accept('{')) fail("missing {", at_);
    size_t where;
    const std::string name = utf8(name_to('}', where, "character name"));
    const char32_t found = types_.named(name);
    if (found == 0) {
      fail("undefined character name " + quoted_name(text_.substr(where, at_ - 1 - where), false), here);
    }
    return found;
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
    check_look_behind(number);
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

  void warn_of_set(const char* kind, size_t where) {
    warnings_.push_back({true, std::string("Possible ") + kind + " at position " + std::to_string(where)});
  }

  NodePtr set(size_t here) {
    CharSet set;
    if (peek() == '[' && !at_end()) warn_of_set("nested set", at_);
    set.negate = accept('^');
    for (bool first = true;; first = false) {
      if (at_end()) fail("unterminated character set", here);
      if (peek() == ']' && !first) break;
      const size_t begin = at_;
      char32_t low;
      const uint8_t kind = set_member(begin, low);
      const char32_t sign = text_[begin];
      if (!first && (sign == '-' || sign == '&' || sign == '~' || sign == '|') && !at_end() && peek() == sign) {
        warn_of_set(sign == '-'   ? "set difference"
                    : sign == '&' ? "set intersection"
                    : sign == '~' ? "set symmetric difference"
                                  : "set union",
                    at_ - 1);
      }
      if (at_end()) fail("unterminated character set", here);
      if (peek() != '-' || at_ + 1 >= text_.size() || text_[at_ + 1] == ']') {
        add_member(set, kind, low, low);
        continue;
      }
      ++at_;
      const size_t second = at_;
      if (text_[second] == '-') warn_of_set("set difference", second - 1);
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
      value = std::min<uint64_t>(value * 10 + (text_[at_++] - '0'), uint64_t{kMostRepeat} + 1);
    if (value > kMostRepeat) throw CountRefused{};
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

  // The name that ends with `terminator`, which is passed.
  std::u32string_view name_to(char32_t terminator, size_t& where, const char* what = "group name") {
    where = at_;
    size_t end = at_;
    while (end < text_.size() && text_[end] != terminator) ++end;
    if (end == text_.size()) {
      if (at_end()) fail(std::string("missing ") + what, at_);
      fail(std::string("missing ") + static_cast<char>(terminator) + ", unterminated name", where);
    }
    if (end == at_) fail(std::string("missing ") + what, at_);
    const std::u32string_view name = text_.substr(at_, end - at_);
    at_ = end + 1;
    return name;
  }

  std::string group_name(char32_t terminator, size_t& where) {
    const std::u32string_view name = name_to(terminator, where);
    check_name(name, where);
    return utf8(name);
  }

  std::string quoted(std::u32string_view name) const { return quoted_name(name, bytes_); }

  void check_name(std::u32string_view name, size_t where) {
    if (!types_.is_identifier(utf8(name))) fail("bad character in group name " + quoted(name), where);
    if (bytes_ && std::any_of(name.begin(), name.end(), [](char32_t c) { return c >= 128; }))
      warnings_.push_back({false, name_warning(quoted(name), where)});
  }

  // The index of a named group that must be there.
  uint32_t known_name(const std::string& name, std::u32string_view shown, size_t where) const {
    const uint32_t index = find_name(name);
    if (!index) fail("unknown group name " + quoted(shown), where);
    return index;
  }

  // In a look-behind only groups that were closed before it count.
  void check_look_behind(uint32_t number) const {
    if (look_behind_groups_ < 0) return;
    if (number > tree_.groups || std::find(open_.begin(), open_.end(), number) != open_.end())
      fail("cannot refer to an open group", at_);
    if (static_cast<int64_t>(number) > look_behind_groups_)
      fail("cannot refer to group defined in the same lookbehind subpattern", at_);
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
        fail("redefinition of group name " + quoted(text_.substr(name_at, at_ - 1 - name_at)) + " as group " + std::to_string(index) + "; was group " +
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
      return capture(here, name, where);
    }
    if (accept('=')) {
      size_t where;
      const std::string name = group_name(')', where);
      const uint32_t index = known_name(name, text_.substr(where, at_ - 1 - where), where);
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
    const int64_t outer = look_behind_groups_;
    if (outer < 0) look_behind_groups_ = tree_.groups;
    NodePtr node = look(here, Kind::LookBehind, c == '!');
    look_behind_groups_ = outer;
    return node;
  }

  NodePtr conditional(size_t here) {
    size_t where;
    const std::u32string_view name = name_to(')', where);
    bool plain = true;
    const int64_t number = group_number(name, types_, plain);
    uint32_t index = 0;
    if (number >= 0) {
      if (number == 0) fail("bad group number", where);
      constexpr int64_t kMostGroups = 1073741823;  // CPython's
      if (number >= kMostGroups) fail("invalid group reference " + std::to_string(number), where);
      index = static_cast<uint32_t>(number);
      pending_.push_back({index, where});
      if (!plain) warnings_.push_back({false, name_warning(quoted(name), where)});
    } else {
      check_name(name, where);
      index = known_name(utf8(name), name, where);
    }
    check_look_behind(index);
    tree_.has_backrefs = true;
    NodePtr node = make(Kind::Conditional, index);
    ++depth_;
    node->children.push_back(sequence());
    node->children.push_back(accept('|') ? sequence() : make(Kind::Empty));
    --depth_;
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
      case 't': return kTemplate;
      default: return 0;
    }
  }

  // (?imsx) for the whole pattern, (?i-s:...) for a part.
  NodePtr with_flags(size_t here, char32_t c) {
    const bool at_start = at_start_;
    uint32_t add = 0, remove = 0;
    if (c != '-' && !flag_of(c)) fail("unknown extension ?" + shown(at_ - 1), here + 1);
    while (c != '-') {
      const uint32_t flag = flag_of(c);
      if (!bytes_ && c == 'L') fail("bad inline flags: cannot use 'L' flag with a str pattern", at_);
      if (bytes_ && c == 'u') fail("bad inline flags: cannot use 'u' flag with a bytes pattern", at_);
      add |= flag;
      if ((flag & kTypeFlags) && (add & kTypeFlags) != flag)
        fail("bad inline flags: flags 'a', 'u' and 'L' are incompatible", at_);
      if (at_end()) fail("missing -, : or )", at_);
      c = text_[at_++];
      if (c == ')' || c == ':' || c == '-') break;
      if (!flag_of(c)) fail(is_letter(c) ? "unknown flag" : "missing -, : or )", at_ - 1);
    }
    if (c == ')') return global_flags(here, add, at_start);
    if (add & kGlobalFlags) fail("bad inline flags: cannot turn on global flag", at_ - 1);
    if (c == '-') remove = removed_flags();
    if (remove & kGlobalFlags) fail("bad inline flags: cannot turn off global flag", at_ - 1);
    if (add & remove) fail("bad inline flags: flag turned on and off", at_ - 1);
    const uint32_t kept = add & kTypeFlags ? flags_ & ~kTypeFlags : flags_;
    return plain_group(here, (kept | add) & ~remove);
  }

  // From behind the "-" to behind the ":".
  uint32_t removed_flags() {
    uint32_t remove = 0;
    if (at_end()) fail("missing flag", at_);
    char32_t c = text_[at_++];
    if (!flag_of(c)) fail(is_letter(c) ? "unknown flag" : "missing flag", at_ - 1);
    for (;;) {
      const uint32_t flag = flag_of(c);
      if (flag & kTypeFlags) fail("bad inline flags: cannot turn off flags 'a', 'u' and 'L'", at_);
      remove |= flag;
      if (at_end()) fail("missing :", at_);
      c = text_[at_++];
      if (c == ':') return remove;
      if (!flag_of(c)) fail(is_letter(c) ? "unknown flag" : "missing :", at_ - 1);
    }
  }

  bool is_letter(char32_t c) const { return is_ascii_letter(c) || (c >= 128 && types_.is_word(c) && !types_.is_digit(c)); }

  NodePtr global_flags(size_t here, uint32_t add, bool at_start) {
    if (!at_start) fail("global flags not at the start of the expression", here);
    flags_ |= add;
    return nullptr;
  }

  std::u32string_view text_;
  uint32_t flags_;
  const CharacterTypes& types_;
  std::vector<Warning>& warnings_;
  bool bytes_;
  bool at_start_ = false;   // of the whole pattern: where flags for all of it may stand
  bool in_choice_ = false;  // behind a "|"
  int64_t look_behind_groups_ = -1;  // groups that there were where the outermost look-behind began; -1: in none
  Tree tree_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  std::vector<uint32_t> open_;
  std::vector<std::pair<uint32_t, size_t>> pending_;
};

}  // namespace

int64_t group_number(std::u32string_view name, const CharacterTypes& types, bool& plain) {
  const std::u32string_view whole = name;
  while (!name.empty() && types.is_space(name.front())) name.remove_prefix(1);
  while (!name.empty() && types.is_space(name.back())) name.remove_suffix(1);
  if (!name.empty() && name.front() == '+') name.remove_prefix(1);
  int64_t number = 0;
  bool digit_before = false;
  for (const char32_t c : name) {
    const int digit = types.decimal(c);
    if (c == '_' && digit_before) {
      digit_before = false;
      continue;
    }
    if (digit < 0) return -1;
    number = std::min<int64_t>(number * 10 + digit, INT64_C(1) << 40);
    digit_before = true;
  }
  plain = std::all_of(whole.begin(), whole.end(), is_ascii_digit);
  return digit_before ? number : -1;
}

std::string name_warning(const std::string& shown, size_t position) {
  return "bad character in group name " + shown + " at position " + std::to_string(position);
}

std::string quoted_name(std::u32string_view name, bool ascii) {
  const bool single = name.find(U'\'') != name.npos, both = single && name.find(U'"') != name.npos;
  const char quote = single && !both ? '"' : '\'';
  std::string out(1, quote);
  for (const char32_t c : name) {
    static constexpr char kDigits[] = "0123456789abcdef";
    if (c == '\\' || c == static_cast<unsigned char>(quote)) out += '\\';
    if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (c < 32 || c == 127 || (ascii && c >= 128)) {
      out += "\\x";
      out += kDigits[c >> 4 & 15];
      out += kDigits[c & 15];
    } else {
      append_utf8(out, c);
    }
  }
  return out + quote;
}

Tree parse(std::u32string_view pattern, uint32_t flags, const CharacterTypes& types, bool bytes,
           std::vector<Warning>& warnings) {
  return Parser(pattern, flags, types, bytes, warnings).run();
}

}  // namespace tessera::stdlib::regex
