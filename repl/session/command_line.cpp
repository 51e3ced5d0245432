// compile: small (waits for a person)
#include "repl/session/command_line.h"

#include <algorithm>

#include "lang/assist/pieces.h"

namespace tessera::repl {
using lang::is_name_byte;

namespace {

bool is_letter(char c) { return is_name_byte(c) && !(c >= '0' && c <= '9'); }

// "x", "nn.Linear", "model[0].weight", "d['a']", "np.*sum*"; "%time" and ":time" too.
bool is_subject(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.back() == '.') return false;
  const bool command = text.front() == ':' || text.front() == '%';
  if (command) text.remove_prefix(std::min(text.find_first_not_of(":%"), text.size()));
  if (text.empty() || (!is_letter(text.front()) && text.front() != '*')) return false;
  bool bracket = false;
  for (const char c : text) {
    if (c == '[') bracket = true;
    if (!is_name_byte(c) && c != '.' && c != '[' && c != ']' && c != '*' &&
        !(bracket && (c == '\'' || c == '"' || c == '-' || c == ' ')))
      return false;
    if (c == ']') bracket = false;
  }
  return true;
}

std::optional<CommandLine> inspection_of(std::string_view line) {
  CommandLine found{CommandLine::Kind::Inspect, '?', "", "", "", ""};
  size_t marks = 0;
  while (!line.empty() && line.front() == '?') line.remove_prefix(1), ++marks;
  while (!line.empty() && line.back() == '?') line.remove_suffix(1), ++marks;
  line = trimmed(line);
  if (marks == 0 || marks > 2 || !is_subject(line)) return std::nullopt;
  if (marks == 2) found.kind = CommandLine::Kind::Source;
  found.arguments = line;
  return found;
}

// "time x + 1" to "time" and "x + 1".
void part_name(std::string_view text, CommandLine& into) {
  size_t end = 0;
  while (end < text.size() && (is_name_byte(text[end]) || (text[end] == '-' && end > 0))) ++end;
  into.name = text.substr(0, end);
  into.arguments = trimmed(text.substr(end));
}

std::optional<CommandLine> signed_line(std::string_view line) {
  CommandLine found{CommandLine::Kind::Command, line.front(), "", "", "", ""};
  if (line.front() == '!') {
    found.kind = CommandLine::Kind::Shell;
    line.remove_prefix(line.starts_with("!!") ? 2 : 1);
    found.arguments = trimmed(line);
    return found;
  }
  line.remove_prefix(1);
  if (line.empty() || !is_letter(line.front())) return std::nullopt;
  part_name(line, found);
  return found;
}

// `files = !ls`, `x = %time f()`
std::optional<CommandLine> assigned(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == line.npos) return std::nullopt;
  const std::string_view target = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
  if (value.empty() || (value.front() != '!' && value.front() != '%') || target.empty() || !is_letter(target.front()) ||
      !std::all_of(target.begin(), target.end(), is_name_byte))
    return std::nullopt;
  std::optional<CommandLine> found = signed_line(value);
  if (found) found->target = target;
  return found;
}

std::optional<CommandLine> cell_of(std::string_view text) {
  CommandLine found{CommandLine::Kind::Cell, '%', "", "", "", ""};
  const size_t end = std::min(text.find('\n'), text.size());
  part_name(trimmed(text.substr(2, end - 2)), found);
  found.body = text.substr(std::min(end + 1, text.size()));
  if (found.name.empty()) return std::nullopt;
  return found;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

std::optional<CommandLine> command_of(std::string_view text) {
  const std::string_view line = trimmed(text);
  if (line.empty()) return std::nullopt;
  if (line == "?" || line == ":" || line == "%")
    return CommandLine{CommandLine::Kind::Command, ':', "help", "", "", ""};
  if (line.starts_with("%%")) return cell_of(line);
  if (line.find('\n') != line.npos) {
    // A command may have a statement of several lines: ":time for i in range(3):".
    const bool is_sign = line.front() == ':' || line.front() == '%';
    return is_sign ? signed_line(line) : std::nullopt;
  }
  if (line.back() == '?' || line.front() == '?')
    if (auto found = inspection_of(line)) return found;
  if (line.front() == ':' || line.front() == '%' || line.front() == '!') return signed_line(line);
  return assigned(line);
}

std::vector<BlockPiece> split_block(std::string_view block) {
  std::vector<BlockPiece> pieces;
  if (trimmed(block).starts_with("%%")) return {{std::string(block), command_of(block)}};
  const std::vector<size_t> lines = lang::logical_lines(block);
  std::string statements;
  size_t passed = 0;  // lines before what is gathered
  const auto count = [](std::string_view text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  const auto flush = [&] {
    if (!trimmed(statements).empty()) pieces.push_back({std::string(passed, '\n') + statements, std::nullopt});
    passed += count(statements);
    statements.clear();
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    size_t end = i + 1 < lines.size() ? lines[i + 1] : block.size();
    const std::string_view first = trimmed(block.substr(lines[i], block.find('\n', lines[i]) - lines[i]));
    std::optional<CommandLine> command = command_of(first);
    // A command's statement goes on as far as it is indented.
    if (command && command->kind == CommandLine::Kind::Command && command->target.empty())
      command = command_of(block.substr(lines[i], end - lines[i]));
    else if (command) end = std::min(block.find('\n', lines[i]), block.size() - 1) + 1;
    if (!command) {
      statements += block.substr(lines[i], end - lines[i]);
      continue;
    }
    flush();
    pieces.push_back({std::string(block.substr(lines[i], end - lines[i])), std::move(command)});
    passed += count(block.substr(lines[i], end - lines[i]));
  }
  flush();
  return pieces;
}

std::vector<std::string> words_of(std::string_view arguments) {
  std::vector<std::string> words;
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const char c = arguments[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back(), open = true;
    if (quote != 0 ? c == quote : (c == '\'' || c == '"')) quote = quote == 0 ? c : 0;
    else if (c == '\\' && i + 1 < arguments.size()) words.back() += arguments[++i];
    else words.back() += c;
  }
  return words;
}

}  // namespace tessera::repl
