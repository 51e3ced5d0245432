#include "repl/session/theme.h"

#include <algorithm>
#include <cctype>

namespace tessera::repl {
namespace {

struct Sequences {
  Look look;
  std::string_view bare, few, many;  // with no colours (bold, faint and reverse only), with 16, with 256 and more
};

// The sixteen are the terminal's own, which its owner has chosen: readable on a light ground as well. Of the 256 only ones of
// middle brightness, for the same reason.
constexpr Sequences kLooks[] = {
    {Look::kPlain, "", "", ""},
    {Look::kKeyword, "", "\x1b[35m", "\x1b[38;5;133m"},
    {Look::kConstant, "", "\x1b[35m", "\x1b[38;5;133m"},
    {Look::kBuiltin, "", "\x1b[36m", "\x1b[38;5;37m"},
    {Look::kDefined, "", "\x1b[34m", "\x1b[38;5;33m"},
    {Look::kNumber, "", "\x1b[33m", "\x1b[38;5;172m"},
    {Look::kString, "", "\x1b[32m", "\x1b[38;5;71m"},
    {Look::kComment, "", "\x1b[90m", "\x1b[38;5;245m"},
    {Look::kDecorator, "", "\x1b[34m", "\x1b[38;5;33m"},
    {Look::kCommand, "", "\x1b[1;36m", "\x1b[1;38;5;37m"},
    {Look::kOpenString, "", "\x1b[31m", "\x1b[38;5;167m"},
    {Look::kBracketPair, "", "\x1b[1;4m", "\x1b[1;4m"},
    {Look::kPrompt, "", "\x1b[32m", "\x1b[32m"},
    {Look::kPromptNumber, "", "\x1b[1;32m", "\x1b[1;32m"},
    {Look::kOut, "", "\x1b[31m", "\x1b[31m"},
    {Look::kOutNumber, "", "\x1b[1;31m", "\x1b[1;31m"},
    {Look::kFaint, "", "\x1b[90m", "\x1b[38;5;244m"},
    {Look::kMenu, "", "", ""},
    {Look::kMenuChosen, "\x1b[7m", "\x1b[7m", "\x1b[7m"},
    {Look::kMenuNote, "", "\x1b[90m", "\x1b[38;5;244m"},
    {Look::kHelp, "", "\x1b[90m", "\x1b[38;5;244m"},
    {Look::kHelpActive, "\x1b[1m", "\x1b[1m", "\x1b[1m"},
    {Look::kHit, "\x1b[7m", "\x1b[7m", "\x1b[7m"},
    {Look::kError, "", "\x1b[1;31m", "\x1b[1;38;5;167m"},
    {Look::kPlace, "", "",
     "\x1b[38;5;244m"},  // none of the sixteen that is less than plain is readable on every ground
};

// "ValueError: ..." or "mod.ValueError" at the beginning of a line: where the class ends; 0: no such line. Behind a traceback's
// frames it may have any name, "f.<locals>.E".
size_t exception_name(std::string_view line, bool behind_frames) {
  const auto is_of_name = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
           (behind_frames && (c == '<' || c == '>' || static_cast<unsigned char>(c) >= 0x80));
  };
  size_t end = 0;
  while (end < line.size() && is_of_name(line[end])) ++end;
  if (end == 0 || (end < line.size() && line[end] != ':' && line[end] != '\n')) return 0;
  if (behind_frames) return end;
  const std::string_view name = line.substr(0, end);
  for (const std::string_view ending : {"Error", "Exception", "Interrupt", "Warning", "Exit", "Iteration", "Group"})
    if (name.ends_with(ending)) return end;
  return 0;
}

}  // namespace

Look look_of(TokenClass what) {
  switch (what) {
    case TokenClass::kPlain:
    case TokenClass::kBracket: return Look::kPlain;
    case TokenClass::kKeyword: return Look::kKeyword;
    case TokenClass::kConstant: return Look::kConstant;
    case TokenClass::kBuiltin: return Look::kBuiltin;
    case TokenClass::kDefined: return Look::kDefined;
    case TokenClass::kNumber: return Look::kNumber;
    case TokenClass::kString: return Look::kString;
    case TokenClass::kComment: return Look::kComment;
    case TokenClass::kDecorator: return Look::kDecorator;
    case TokenClass::kCommand: return Look::kCommand;
    case TokenClass::kOpenString: return Look::kOpenString;
  }
  return Look::kPlain;
}

std::string_view sequence_of(Look look, Style::Colours colours) {
  const Sequences& row = kLooks[static_cast<size_t>(look)];
  if (colours == Style::Colours::kNone) return row.bare;
  return colours == Style::Colours::k16 ? row.few : row.many;
}

std::string coloured(std::string_view text, Look look, Style::Colours colours) {
  const std::string_view on = sequence_of(look, colours);
  if (on.empty()) return std::string(text);
  return std::string(on).append(text).append(kReset);
}

std::string coloured_error(std::string_view text, Style::Colours colours) {
  if (colours == Style::Colours::kNone) return std::string(text);
  std::string shown;
  for (bool in_frames = false; !text.empty();) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    const size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\n") + 1;
    const bool marks = line.find('^') != line.npos && line.find_first_not_of(" \t^~\n") == line.npos;
    // What of the line is coloured: the marks, the exception's class, where a frame is, that a hint follows.
    const auto part = [&](size_t begin, size_t behind, Look look) {
      shown.append(line.substr(0, begin)).append(coloured(line.substr(begin, behind - begin), look, colours));
      shown.append(line.substr(behind));
    };
    if (marks) {
      part(first, last, Look::kError);
    } else if (const size_t name = exception_name(line, in_frames); name > 0) {
      part(0, name, Look::kError);
    } else if (line.starts_with("  File \"")) {
      part(first, last, Look::kPlace);
    } else if (line.starts_with("hint:")) {
      part(0, 5, Look::kCommand);
    } else {
      shown.append(line);
    }
    in_frames = line.starts_with("  File \"") || (in_frames && line.front() == ' ');
    text.remove_prefix(end);
  }
  return shown;
}

}  // namespace tessera::repl
