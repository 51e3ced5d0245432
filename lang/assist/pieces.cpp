#include "lang/assist/pieces.h"

#include <string>

namespace tessera::lang {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_string_prefix(std::string_view name) {
  if (name.size() > 2) return false;
  for (const char c : name)
    if (std::string_view("rRbBfFuU").find(c) == std::string_view::npos) return false;
  return true;
}

// From the quote on; the end of the string, and whether it was closed. A plain one ends with its line at the latest.
bool skip_string(std::string_view text, size_t& at, size_t& inside) {
  const char quote = text[at];
  const bool triple = text.substr(at, 3) == std::string(3, quote);
  at += triple ? 3 : 1;
  inside = at;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size()) {
      at += 2;
    } else if (c == quote && (!triple || text.substr(at, 3) == std::string(3, quote))) {
      at += triple ? 3 : 1;
      return true;
    } else if (c == '\n' && !triple) {
      return true;  // an error of the person's: what follows is no part of it
    } else {
      ++at;
    }
  }
  return false;
}

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

}  // namespace

bool is_name_byte(char c) {
  return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char c = text[at];
    Piece::Kind kind = Piece::Kind::Operator;
    size_t inside = 0;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || (c == '\\' && text.substr(at + 1, 1) == "\n")) {
      at += c == '\\' ? 2 : 1;
      continue;
    }
    if (c == '\n') {
      ++at;
      kind = Piece::Kind::Newline;
    } else if (c == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
      kind = Piece::Kind::Comment;
    } else if (c == '"' || c == '\'') {
      kind = skip_string(text, at, inside) ? Piece::Kind::String : Piece::Kind::OpenString;
    } else if (is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
      while (at < text.size() && (is_name_byte(text[at]) || text[at] == '.')) ++at;
      kind = Piece::Kind::Number;
    } else if (is_name_byte(c)) {
      while (at < text.size() && is_name_byte(text[at])) ++at;
      kind = Piece::Kind::Name;
      if (at < text.size() && (text[at] == '"' || text[at] == '\'') && is_string_prefix(text.substr(begin, at - begin)))
        kind = skip_string(text, at, inside) ? Piece::Kind::String : Piece::Kind::OpenString;
    } else {
      ++at;
    }
    pieces.push_back({kind, begin, at, inside});
  }
  return pieces;
}

size_t open_bracket(std::string_view text, const std::vector<Piece>& pieces) {
  int depth = 0;
  for (size_t i = pieces.size(); i-- > 0;) {
    if (pieces[i].kind != Piece::Kind::Operator) continue;
    const char c = text[pieces[i].begin];
    if (closes(c)) ++depth;
    if (opens(c) && depth-- == 0) return i;
  }
  return std::string_view::npos;
}

size_t statement_begin(std::string_view text, const std::vector<Piece>& pieces) {
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const char c = text[pieces[i].begin];
    if (pieces[i].kind == Piece::Kind::Newline && depth <= 0) begin = i + 1;
    if (pieces[i].kind != Piece::Kind::Operator) continue;
    depth += opens(c) - closes(c);
    if ((c == ';' || c == ':') && depth <= 0) begin = i + 1;
  }
  return begin;
}

std::vector<size_t> logical_lines(std::string_view text) {
  std::vector<size_t> lines{0};
  int depth = 0;
  for (const Piece& piece : pieces_of(text)) {
    const char c = text[piece.begin];
    if (piece.kind == Piece::Kind::Operator) depth += opens(c) - closes(c);
    if (piece.kind == Piece::Kind::Newline && depth <= 0 && piece.end < text.size() && text[piece.end] != ' ' &&
        text[piece.end] != '\t' && text[piece.end] != '\n' && !(piece.begin > 0 && text[piece.begin - 1] == '\\'))
      lines.push_back(piece.end);
  }
  return lines;
}

bool ends_with_semicolon(std::string_view text) {
  if (text.find(';') == text.npos) return false;
  const std::vector<Piece> pieces = pieces_of(text);
  for (size_t i = pieces.size(); i-- > 0;) {
    if (pieces[i].kind == Piece::Kind::Newline || pieces[i].kind == Piece::Kind::Comment) continue;
    return pieces[i].kind == Piece::Kind::Operator && text[pieces[i].begin] == ';';
  }
  return false;
}

}  // namespace tessera::lang
