// The regular expression engine by itself: matches, messages, and that no pattern can blow it up.
#include <doctest/doctest.h>

#include <string>

#include "stdlib/python/native/regex/program.h"

using namespace tessera::stdlib::regex;

namespace {

struct Found {
  bool found;
  Result result;
};

std::shared_ptr<const Program> compile_text(std::u32string_view pattern, uint32_t flags = 0) {
  std::vector<Warning> warnings;
  return compile(pattern, flags, ascii_types(), false, warnings);
}

Found search(std::u32string_view pattern, const std::string& text, uint32_t flags = 0, Mode mode = Mode::Search) {
  const auto program = compile_text(pattern, flags);
  Text subject;
  subject.bytes = reinterpret_cast<const uint8_t*>(text.data());
  subject.length = static_cast<int64_t>(text.size());
  Found answer;
  answer.found = match(*program, subject, 0, mode, answer.result);
  return answer;
}

std::string message(std::u32string_view pattern) {
  try {
    compile_text(pattern);
  } catch (const SyntaxError& error) {
    return error.message + " @" + std::to_string(error.position);
  }
  return "";
}

using Spans = std::vector<int64_t>;

}  // namespace

TEST_CASE("regex spans") {
  CHECK(search(U"b+", "abbbc").result.spans == Spans{1, 4});
  CHECK(search(U"b+?", "abbbc").result.spans == Spans{1, 2});
  CHECK(search(U"(a)|(b)", "xb").result.spans == Spans{1, 2, -1, -1, 1, 2});
  CHECK(search(U"(a*)*", "b").result.spans == Spans{0, 0, 0, 0});
  CHECK(search(U"(?<=\\$)\\d+", "a $12").result.spans == Spans{3, 5});
  CHECK(search(U"(\\w)\\1", "hello").result.spans == Spans{2, 4, 2, 3});
  CHECK(search(U"(?i)HeL", "xhel").result.spans == Spans{1, 4});
  CHECK(search(U"^b$", "a\nb\n", kMultiline).result.spans == Spans{2, 3});
  CHECK_FALSE(search(U"a++a", "aaa").found);
  CHECK_FALSE(search(U"ab", "abc", 0, Mode::FullMatch).found);
  CHECK(search(U"a|ab", "ab", 0, Mode::FullMatch).found);
  CHECK(search(U"((a)(b))", "ab").result.last_group == 1);
  CHECK(search(U"(a)(?(1)b|c)", "ab").found);
}

TEST_CASE("regex messages are CPython's") {
  CHECK(message(U"(a") == "missing ), unterminated subpattern @0");
  CHECK(message(U"a)") == "unbalanced parenthesis @1");
  CHECK(message(U"*a") == "nothing to repeat @0");
  CHECK(message(U"a**") == "multiple repeat @2");
  CHECK(message(U"[b-a]") == "bad character range b-a @1");
  CHECK(message(U"[a") == "unterminated character set @0");
  CHECK(message(U"\\q") == "bad escape \\q @0");
  CHECK(message(U"(?<=a*)b") == "look-behind requires fixed-width pattern @-1");
  CHECK(message(U"(?P<n>a)(?P<n>b)") == "redefinition of group name 'n' as group 2; was group 1 @12");
  CHECK(message(U"a(?i)") == "global flags not at the start of the expression @1");
}

TEST_CASE("regex hostile patterns end") {
  const std::string many(5000, 'a');
  CHECK_FALSE(search(U"(a+)+b", many).found);
  CHECK_FALSE(search(U"(a|a)*b", many).found);
  CHECK_FALSE(search(U"(a|aa)+$b", many).found);
  CHECK_FALSE(search(U"((?=a)a|a)*b", many).found);
  CHECK_FALSE(search(U".*.*.*x", many).found);
  CHECK_THROWS_AS(search(U"(a*)*\\1b", std::string(60, 'a')), TooManySteps);
  CHECK(message(std::u32string(5000, U'(')) == "pattern is nested too deeply @200");
  CHECK(message(U"((a{9999}b){9999}c){9999}") == "pattern is too large @-1");
}
