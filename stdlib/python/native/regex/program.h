// Regular expressions with Python's syntax and meaning, independent of the language: text in, spans out.
//
// A pattern is parsed to a tree (parse.cpp), compiled to a small program (compile.cpp) and run by a backtracking matcher
// (match.cpp). The matcher remembers at which (instruction, position) it has failed before, so a pattern without
// back-references needs time proportional to pattern times text, whatever a hostile author writes; with them a step
// limit holds. All positions count code points.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::stdlib::regex {

enum Flag : uint32_t {
  kTemplate = 1,
  kIgnoreCase = 2,
  kLocale = 4,
  kMultiline = 8,
  kDotAll = 16,
  kUnicode = 32,
  kVerbose = 64,
  kDebug = 128,
  kAscii = 256,
};

// What is wrong with a pattern, in CPython's words, and where (-1: nowhere).
struct SyntaxError {
  std::string message;
  int64_t position;
};

// Flags that do not go together, or a number that is too large: errors of other classes, in CPython's words.
struct FlagsRefused {
  const char* message;
};
struct CountRefused {};

// A FutureWarning or DeprecationWarning that CPython gives for a pattern or a template.
struct Warning {
  bool future;
  std::string message;
};

// Unicode knowledge comes from whoever embeds the engine.
struct CharacterTypes {
  bool (*is_digit)(char32_t);
  bool (*is_space)(char32_t);
  bool (*is_word)(char32_t);
  char32_t (*lower)(char32_t);
  char32_t (*upper)(char32_t);
  int (*decimal)(char32_t);                     // the value of a digit, or -1
  bool (*is_identifier)(std::string_view utf8);
  char32_t (*named)(std::string_view name);     // the character of \N{name}, or 0
  bool unicode;                                 // letters beyond ASCII have cases
};
const CharacterTypes& ascii_types();

enum Category : uint8_t { kDigit = 1, kNotDigit = 2, kSpace = 4, kNotSpace = 8, kWord = 16, kNotWord = 32 };

// A set of characters: `[...]`, `\d`, and with ignore_case also single letters.
struct CharSet {
  std::vector<std::pair<char32_t, char32_t>> ranges;
  uint8_t categories = 0;
  bool negate = false;
  bool ignore_case = false;
  bool ascii = false;              // categories know ASCII only
  uint64_t low[4] = {0, 0, 0, 0};  // the answers for 0..255, filled by `finish`

  void finish(const CharacterTypes& types);
  bool contains(char32_t c, const CharacterTypes& types) const {
    return c < 256 ? (low[c >> 6] >> (c & 63)) & 1 : test(c, types);
  }

 private:
  bool test(char32_t c, const CharacterTypes& types) const;
  bool test_exact(char32_t c, const CharacterTypes& types) const;
};

enum class Op : uint8_t {
  Char,  // x: the character
  Any,   // all but a newline
  AnyAll,
  Set,      // x: index of the set
  Split,    // try x, then y; memo: its row in the memory of failures
  Jump,     // to x
  Save,     // position into slot x
  SaveEnd,  // the same for a group's end: x slot, y group (for lastindex)
  Repeat,   // the next instruction matches one character: y times at least, z at most; then goes on behind it
  RepeatLazy,
  RepeatPossessive,
  Mark,       // position into loop slot x
  LoopCheck,  // nothing matched since Mark in slot x: go on at z (out of the loop), else at y (its head)
  LookAhead,
  LookAheadNot,  // the program from here to its Match must (not) match; then go on at x
  LookBehind,
  LookBehindNot,  // the same, begun y characters before
  Atomic,         // the same, but the position moves on
  BackRef,
  BackRefIgnoreCase,  // x: group
  Conditional,        // group x has matched: next, else y
  TextStart,
  TextEnd,
  LineStart,
  LineEnd,
  LastLineEnd,
  WordEdge,
  NotWordEdge,
  AsciiWordEdge,
  NotAsciiWordEdge,
  Match,
};

struct Instruction {
  Op op;
  uint32_t x = 0, y = 0, z = 0;
  uint32_t memo = 0;
};

constexpr uint32_t kUnlimited = 0xFFFFFFFF;

struct Program {
  std::vector<Instruction> code;
  std::vector<CharSet> sets;
  std::vector<std::pair<std::string, uint32_t>> names;  // group names in order of groups
  CharacterTypes types;
  bool bytes = false;  // for bytes: a character is a byte
  uint32_t flags = 0;
  uint32_t groups = 0;  // without group 0
  uint32_t slots = 0;   // 2 * (groups + 1) for groups, then loops
  uint32_t memo_rows = 0;
  bool has_backrefs = false;
  bool anchored = false;    // can match at position 0 only
  int64_t first_set = -1;   // set of characters that can begin a match, or -1
  char32_t first_char = 0;  // when the match must begin with it
  bool has_first_char = false;
};

std::shared_ptr<const Program> compile(std::u32string_view pattern, uint32_t flags, const CharacterTypes& types,
                                       bool bytes, std::vector<Warning>& warnings);

// A group's number as int() reads it, or -1. `plain`: written with ASCII digits alone.
int64_t group_number(std::u32string_view name, const CharacterTypes& types, bool& plain);
// CPython's warning of a group name that a later version refuses.
std::string name_warning(const std::string& shown, size_t position);
// repr() of a group's name, for messages; of a bytes pattern as ascii() shows it.
std::string quoted_name(std::u32string_view name, bool ascii);

// The text to search: one byte per character (ASCII) or one char32_t.
struct Text {
  const uint8_t* bytes = nullptr;
  const char32_t* wide = nullptr;
  int64_t length = 0;
  char32_t operator[](int64_t i) const { return bytes ? bytes[i] : wide[i]; }
};

enum class Mode : uint8_t { Search, Match, FullMatch };

struct Result {
  std::vector<int64_t> spans;  // begin and end of each group, group 0 first; -1: did not take part
  int32_t last_group = 0;      // the group that closed last; 0: none
};

// Thrown when a pattern with back-references does not come to an end.
struct TooManySteps {};

// `poll` is called now and then and may throw; `not_at`: an empty match at this position does not count (-1: none).
bool match(const Program& program, const Text& text, int64_t start, Mode mode, Result& result,
           void (*poll)(void*) = nullptr, void* poll_data = nullptr, int64_t not_at = -1);

}  // namespace tessera::stdlib::regex
