// Making a SyntaxError from a span, and showing it as CPython does.
// compile: small (runs after a syntax error)
#include "lang/syntax/syntax_error.h"

#include <algorithm>
#include <utility>

namespace tessera::lang {

const char* SyntaxError::class_name() const {
  switch (error_class) {
    case Class::kSyntaxError: return "SyntaxError";
    case Class::kIndentationError: return "IndentationError";
    case Class::kTabError: return "TabError";
    case Class::kRecursionError: return "RecursionError";
  }
  return "SyntaxError";
}

SyntaxError make_syntax_error(const Source& source, Span span, std::string message, SyntaxError::Class error_class) {
  Position begin = source.position(span.begin);
  Position end = source.position(span.end);
  SyntaxError error;
  error.error_class = error_class;
  error.message = std::move(message);
  error.span = span;
  error.line = begin.line;
  error.column = begin.column + 1;
  error.end_line = end.line;
  error.end_column = end.column + 1;
  return error;
}

std::string format_syntax_error(const Source& source, const SyntaxError& error) {
  std::string message = std::string(error.class_name()) + ": " + error.message + "\n";
  if (error.error_class == SyntaxError::Class::kRecursionError) return message;
  std::string_view line = source.line(error.line);
  std::size_t indent = std::min(line.find_first_not_of(" \t\f"), line.size());
  std::string result = "  File \"" + source.name() + "\", line " + std::to_string(error.line) + "\n";
  std::string_view shown = line.substr(indent);
  result.append("    ").append(shown).append("\n");
  if (error.column == 0 || error.no_end) return result + message;
  std::uint32_t column = error.column > indent ? error.column - 1 - static_cast<std::uint32_t>(indent) : 0;
  std::uint32_t end =
      error.end_line > error.line ? count_characters(shown) : error.end_column - 1 - static_cast<std::uint32_t>(indent);
  std::uint32_t width = error.column > indent && end > column ? end - column : 1;
  result.append(4 + column, ' ').append(width, '^').append("\n");
  return result + message;
}

}  // namespace tessera::lang
