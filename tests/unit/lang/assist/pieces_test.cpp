// Texts that need not be programs, in pieces.
#include <doctest/doctest.h>

#include <string>

#include "lang/assist/pieces.h"

using namespace tessera::lang;

namespace {

// "N" a name, "1" a number, "S" a string, "U" one that is open, "#" a comment, "/" the end of a line, operators as they are.
std::string kinds(std::string_view text) {
  std::string all;
  for (const Piece& piece : pieces_of(text)) {
    switch (piece.kind) {
      case Piece::Kind::Name: all += 'N'; break;
      case Piece::Kind::Number: all += '1'; break;
      case Piece::Kind::String: all += 'S'; break;
      case Piece::Kind::OpenString: all += 'U'; break;
      case Piece::Kind::Comment: all += '#'; break;
      case Piece::Kind::Newline: all += '/'; break;
      case Piece::Kind::Operator: all += text[piece.begin]; break;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("pieces of texts") {
  CHECK(kinds("x = f(1.5e3, 'a')  # why?\n") == "N=N(1,S)#/");
  CHECK(kinds("größe.T[0]") == "N.N[1]");
  CHECK(kinds("rb'\\'' f\"{x}\" u'''a\nb'''") == "SSS");
  CHECK(kinds("d['ke") == "N[U");
  CHECK(kinds("'''open\n") == "U");
  CHECK(kinds("'ends with its line\nx") == "S/N");
  CHECK(kinds("a \\\n + b") == "N+N");
  CHECK(kinds(".5 + a.b") == "1+N.N");
  CHECK(kinds("\x80\xff $?!") == "N$?!");
  CHECK(kinds("") == "");
}

TEST_CASE("lines that begin a statement at the left edge") {
  const auto count = [](std::string_view text) { return logical_lines(text).size(); };
  CHECK(count("a\nb\n") == 2);
  CHECK(count("f(1,\n2)\nb") == 2);
  CHECK(count("if a:\n    b\n\n    c\nd") == 2);
  CHECK(count("'''\nnot\nthese\n'''\nd") == 2);
  CHECK(count("a = \\\n3\nb") == 2);
}

TEST_CASE("a semicolon at the end") {
  CHECK(ends_with_semicolon("x;"));
  CHECK(ends_with_semicolon("x ;  # quiet\n\n"));
  CHECK_FALSE(ends_with_semicolon("x; y"));
  CHECK_FALSE(ends_with_semicolon("';'"));
  CHECK_FALSE(ends_with_semicolon("x  # no;"));
}

TEST_CASE("the bracket that is open, and where its statement began") {
  const std::string text = "y = 1; f(a[1], (b, ";
  const std::vector<Piece> pieces = pieces_of(text);
  CHECK(text.substr(pieces[open_bracket(text, pieces)].begin) == "(b, ");
  CHECK(text.substr(pieces[statement_begin(text, pieces)].begin, 1) == "f");
  CHECK(open_bracket("f(a)", pieces_of("f(a)")) == std::string_view::npos);
}
