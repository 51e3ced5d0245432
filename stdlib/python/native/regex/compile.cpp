// Tree to program. Counted repetition of a group is written out, so the matcher needs no counters and a state is only an
// instruction and a position: that is what makes remembering failures possible.
// compile: small (runs once for a pattern)
#include <algorithm>
#include <cctype>

#include "stdlib/python/native/regex/case_classes.h"
#include "stdlib/python/native/regex/tree.h"

namespace tessera::stdlib::regex {

// --- sets ---

bool CharSet::test_exact(char32_t c, const CharacterTypes& types) const {
  for (const auto& [low_end, high_end] : ranges) {
    if (c >= low_end && c <= high_end) return true;
  }
  if (!categories) return false;
  const bool known = !ascii || c < 128;
  const auto has = [&](unsigned inside, unsigned outside, bool (*is)(char32_t)) {
    return (categories & (inside | outside)) != 0 && (categories & (known && is(c) ? inside : outside)) != 0;
  };
  return has(kDigit, kNotDigit, types.is_digit) || has(kSpace, kNotSpace, types.is_space) || has(kWord, kNotWord, types.is_word);
}

bool CharSet::test(char32_t c, const CharacterTypes& types) const {
  bool found = test_exact(c, types);
  if (!found && ignore_case) {
    const CharacterTypes& cases = ascii ? ascii_types() : types;
    const char32_t small = cases.lower(c), large = cases.upper(c);
    if (small == c && large == c && c < 128) return negate;
    found = test_exact(small, types) || test_exact(large, types) || test_exact(cases.upper(small), types);
    if (!found && cases.unicode) {
      for (const char32_t same : case_class(c)) found = found || test_exact(same, types);
    }
  }
  return found != negate;
}

void CharSet::finish(const CharacterTypes& types) {
  for (char32_t c = 0; c < 256; ++c) {
    if (test(c, types)) low[c >> 6] |= uint64_t{1} << (c & 63);
  }
}

namespace {

bool ascii_digit(char32_t c) { return c < 128 && std::isdigit(static_cast<int>(c)); }
bool ascii_space(char32_t c) { return c < 128 && (std::isspace(static_cast<int>(c)) || (c >= 28 && c <= 31)); }
bool ascii_word(char32_t c) { return c < 128 && (std::isalnum(static_cast<int>(c)) || c == '_'); }
char32_t ascii_lower(char32_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
char32_t ascii_upper(char32_t c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
int ascii_decimal(char32_t c) { return ascii_digit(c) ? static_cast<int>(c - '0') : -1; }
bool ascii_identifier(std::string_view name) {
  bool first = true;
  for (const char c : name) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 128 && (!ascii_word(byte) || (first && ascii_digit(byte)))) return false;
    first = false;
  }
  return !name.empty();
}
char32_t no_named_character(std::string_view) { return 0; }

}  // namespace

const CharacterTypes& ascii_types() {
  static const CharacterTypes types{ascii_digit,   ascii_space,      ascii_word,        ascii_lower, ascii_upper,
                                    ascii_decimal, ascii_identifier, no_named_character, false};
  return types;
}

// --- widths ---

Width width(const Node& node, const std::vector<Width>& groups) {
  const auto cap = [](uint64_t n) { return std::min(n, kWide); };
  switch (node.kind) {
    case Kind::Char:
    case Kind::Any:
    case Kind::AnyAll:
    case Kind::Set: return {1, 1};
    case Kind::Sequence: {
      Width sum{0, 0};
      for (const NodePtr& child : node.children) {
        const Width w = width(*child, groups);
        sum = {cap(sum.min + w.min), cap(sum.max + w.max)};
      }
      return sum;
    }
    case Kind::Choice:
    case Kind::Conditional: {
      Width both = width(*node.children[0], groups);
      for (const NodePtr& child : node.children) {
        const Width w = width(*child, groups);
        both = {std::min(both.min, w.min), std::max(both.max, w.max)};
      }
      return both;
    }
    case Kind::Repeat: {
      const Width w = width(*node.children[0], groups);
      const uint64_t most = node.max == kUnlimited ? (w.max ? kWide : 0) : cap(w.max * node.max);
      return {cap(w.min * node.min), most};
    }
    case Kind::Group:
    case Kind::Atomic: return width(*node.children[0], groups);
    case Kind::BackRef: return node.value < groups.size() ? groups[node.value] : Width{0, kWide};
    default: return {0, 0};
  }
}

namespace {

constexpr size_t kMostInstructions = 400'000;

class Compiler {
 public:
  Compiler(Tree& tree, Program& program) : tree_(tree), program_(program) {}

  void run() {
    program_.slots = 2 * (tree_.groups + 1);
    groups_.assign(tree_.groups + 1, Width{0, kWide});
    measure(*tree_.root);
    emit(*tree_.root);
    add(Op::Match);
    program_.sets = std::move(tree_.sets);
    find_first();
  }

 private:
  void measure(const Node& node) {
    for (const NodePtr& child : node.children) measure(*child);
    if (node.kind == Kind::Group) groups_[node.value] = width(node, groups_);
  }

  uint32_t here() const { return static_cast<uint32_t>(program_.code.size()); }

  uint32_t add(Op op, uint32_t x = 0, uint32_t y = 0, uint32_t z = 0) {
    if (program_.code.size() >= kMostInstructions) throw SyntaxError{"pattern is too large", -1};
    Instruction instruction{op, x, y, z, 0};
    if (op == Op::Split || op == Op::Repeat || op == Op::RepeatLazy) instruction.memo = program_.memo_rows++;
    program_.code.push_back(instruction);
    return here() - 1;
  }

  Instruction& at(uint32_t index) { return program_.code[index]; }

  void emit(const Node& node) {
    switch (node.kind) {
      case Kind::Empty: return;
      case Kind::Char: add(Op::Char, node.value); return;
      case Kind::Any: add(Op::Any); return;
      case Kind::AnyAll: add(Op::AnyAll); return;
      case Kind::Set: add(Op::Set, node.value); return;
      case Kind::Assertion: add(node.assertion); return;
      case Kind::Sequence:
        for (const NodePtr& child : node.children) emit(*child);
        return;
      case Kind::Choice: choice(node); return;
      case Kind::Repeat: repeat(node); return;
      case Kind::Group:
        add(Op::Save, 2 * node.value);
        emit(*node.children[0]);
        add(Op::SaveEnd, 2 * node.value + 1, node.value);
        return;
      case Kind::LookAhead: look(node, node.negate ? Op::LookAheadNot : Op::LookAhead, 0); return;
      case Kind::LookBehind: look_behind(node); return;
      case Kind::Atomic: look(node, Op::Atomic, 0); return;
      case Kind::BackRef: add(node.ignore_case ? Op::BackRefIgnoreCase : Op::BackRef, node.value); return;
      case Kind::Conditional: conditional(node); return;
    }
  }

  void choice(const Node& node) {
    std::vector<uint32_t> ends;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const bool last = i + 1 == node.children.size();
      const uint32_t split = last ? 0 : add(Op::Split);
      if (!last) at(split).x = here();
      emit(*node.children[i]);
      if (last) break;
      ends.push_back(add(Op::Jump));
      at(split).y = here();
    }
    for (uint32_t jump : ends) at(jump).x = here();
  }

  static bool one_character(const Node& node) {
    return node.kind == Kind::Char || node.kind == Kind::Any || node.kind == Kind::AnyAll || node.kind == Kind::Set;
  }

  void repeat(const Node& node) {
    const Node& body = *node.children[0];
    if (one_character(body)) {
      const Op op = node.greed == Greed::Greedy ? Op::Repeat
                    : node.greed == Greed::Lazy ? Op::RepeatLazy
                                                : Op::RepeatPossessive;
      // x{2,} as x{2} and x*: only the repeat from zero on lets the matcher remember where it has been.
      uint32_t least = node.min;
      if (least > 0 && node.max == kUnlimited) {
        add(op, 0, least, least);
        emit(body);
        least = 0;
      }
      add(op, 0, least, node.max);
      emit(body);
      return;
    }
    if (node.greed == Greed::Possessive) {
      const uint32_t atomic = add(Op::Atomic);
      repeat_group(node, body, false);
      add(Op::Match);
      at(atomic).x = here();
      return;
    }
    repeat_group(node, body, node.greed == Greed::Lazy);
  }

  void set_split(uint32_t split, bool lazy, uint32_t enter, uint32_t leave) {
    at(split).x = lazy ? leave : enter;
    at(split).y = lazy ? enter : leave;
  }

  void repeat_group(const Node& node, const Node& body, bool lazy) {
    for (uint32_t i = 0; i < node.min; ++i) emit(body);
    if (node.max == kUnlimited) {
      endless(body, lazy);
      return;
    }
    std::vector<uint32_t> splits;
    for (uint32_t i = node.min; i < node.max; ++i) {
      splits.push_back(add(Op::Split));
      emit(body);
    }
    for (uint32_t split : splits) set_split(split, lazy, split + 1, here());
  }

  // A body that can match nothing must not go round for ever: Mark notes where the round began, LoopCheck leaves the
  // loop when the round has not moved.
  void endless(const Node& body, bool lazy) {
    const uint32_t head = add(Op::Split);
    const bool may_be_empty = width(body, groups_).min == 0;
    uint32_t slot = 0;
    if (may_be_empty) {
      slot = program_.slots++;
      add(Op::Mark, slot);
    }
    emit(body);
    if (may_be_empty) {
      const uint32_t check = add(Op::LoopCheck, slot, head);
      at(check).z = here();
    } else {
      add(Op::Jump, head);
    }
    set_split(head, lazy, head + 1, here());
  }

  void look(const Node& node, Op op, uint32_t back) {
    const uint32_t begin = add(op, 0, back);
    emit(*node.children[0]);
    add(Op::Match);
    at(begin).x = here();
  }

  void look_behind(const Node& node) {
    const Width w = width(*node.children[0], groups_);
    if (w.min != w.max) throw SyntaxError{"look-behind requires fixed-width pattern", -1};
    look(node, node.negate ? Op::LookBehindNot : Op::LookBehind, static_cast<uint32_t>(w.min));
  }

  void conditional(const Node& node) {
    const uint32_t test = add(Op::Conditional, node.value);
    emit(*node.children[0]);
    const uint32_t jump = add(Op::Jump);
    at(test).y = here();
    emit(*node.children[1]);
    at(jump).x = here();
  }

  // What every match begins with, so that a search can skip quickly.
  void find_first() {
    size_t i = 0;
    while (program_.code[i].op == Op::Save) ++i;
    const Instruction& first = program_.code[i];
    if (first.op == Op::TextStart) program_.anchored = true;
    if (first.op == Op::Char) {
      program_.has_first_char = true;
      program_.first_char = first.x;
    } else if (first.op == Op::Set) {
      program_.first_set = first.x;
    } else if ((first.op == Op::Repeat || first.op == Op::RepeatLazy || first.op == Op::RepeatPossessive) &&
               first.y > 0) {
      const Instruction& one = program_.code[i + 1];
      if (one.op == Op::Set) program_.first_set = one.x;
      if (one.op == Op::Char) {
        program_.has_first_char = true;
        program_.first_char = one.x;
      }
    }
  }

  Tree& tree_;
  Program& program_;
  std::vector<Width> groups_;
};

}  // namespace

std::shared_ptr<const Program> compile(std::u32string_view pattern, uint32_t flags, const CharacterTypes& types,
                                       bool bytes, std::vector<Warning>& warnings) {
  Tree tree = parse(pattern, flags, types, bytes, warnings);
  auto program = std::make_shared<Program>();
  program->types = types;
  program->bytes = bytes;
  program->flags = tree.flags;
  program->groups = tree.groups;
  program->names = tree.names;
  program->has_backrefs = tree.has_backrefs;
  Compiler(tree, *program).run();
  return program;
}

}  // namespace tessera::stdlib::regex
