#include "repl/prompt/keys.h"

#include <doctest/doctest.h>

#include <vector>

using tessera::repl::Key;
using tessera::repl::KeyReader;

namespace {

// The names of the keys in some bytes, and "..." when more are needed.
std::string names(const std::string& bytes, size_t at_once = 1000) {
  KeyReader reader;
  std::string all;
  for (size_t i = 0; i < bytes.size(); i += at_once) {
    reader.feed(bytes.substr(i, at_once));
    while (std::optional<Key> key = reader.next()) {
      all += (all.empty() ? "" : " ") + key->name;
      if (key->is_paste()) all += "(" + key->text + ")";
    }
  }
  return reader.undecided() ? all + "..." : all;
}

}  // namespace

TEST_CASE("characters and control characters are keys") {
  CHECK(names("aZ\r\n\t\x7f\x01\x1f") == "a Z Enter Enter Tab Backspace C-a C-_");
  CHECK(names(std::string("\0", 1)) == "C-@");
  CHECK(names("\xc3\x9f\xe6\x97\xa5\xf0\x9f\x99\x82") == "\xc3\x9f \xe6\x97\xa5 \xf0\x9f\x99\x82");
  CHECK(names("\xff\xc3(") == "\xef\xbf\xbd \xef\xbf\xbd (");  // broken bytes become U+FFFD
  CHECK(names("\xe6\x97") == "...");
}

TEST_CASE("escape sequences are keys, in every form that terminals send") {
  CHECK(names("\x1b[A\x1b[D\x1bOC\x1b[H\x1bOF\x1b[1~\x1b[4~\x1b[3~") == "Up Left Right Home End Home End Delete");
  CHECK(names("\x1b[1;5C\x1b[1;3D\x1b[1;2A\x1b[3;5~\x1b[Z") == "C-Right M-Left S-Up C-Delete S-Tab");
  CHECK(names("\x1b"
              "a\x1b\r\x1b\x7f\x1b\x02") == "M-a M-Enter M-Backspace C-M-b");
  CHECK(names("\x1b[97;5u\x1b[13;3u\x1b[27;5;13~") == "C-a M-Enter C-Enter");
  CHECK(names("\x1b\x1b[A") == "M-Up");
}

TEST_CASE("sequences without a meaning leave nothing behind") {
  CHECK(names("a\x1b[99;1xb\x1b[I\x1b[Oc\x1b[?62;4c\x1b[[Ad\x1b[M !!e") == "a b c d e");
  CHECK(names("a\x1b]11;rgb:00/00/00\x07"
              "b\x1bP1$r0m\x1b\\c\x1b_Gi=1;OK\x1b\\d") == "a b c d");
  CHECK(names("\x1b[12\x01") == "C-a");  // cut off by another key
}

TEST_CASE("an Escape waits for what may follow") {
  KeyReader reader;
  reader.feed("\x1b");
  CHECK(!reader.next());
  CHECK(reader.undecided());
  CHECK(reader.next_after_wait()->name == "Escape");
  reader.feed("\x1b[");
  CHECK(!reader.next());
  CHECK(reader.next_after_wait()->name == "M-[");
  reader.feed("\x1b\x1b");
  CHECK(!reader.next());
  CHECK(reader.next_after_wait()->name == "Escape");
}

TEST_CASE("bytes may come one by one") {
  const std::string bytes = "\x1b[1;5C\xc3\x9f\x1b[200~two\rlines\x1b[201~x";
  for (const size_t at_once : {1, 2, 3, 5, 100}) CHECK(names(bytes, at_once) == "C-Right \xc3\x9f Paste(two\rlines) x");
}

TEST_CASE("a paste is one key, whatever is in it") {
  CHECK(names("\x1b[200~a\x1b[Ab\x03\x1b[201~") == "Paste(a\x1b[Ab\x03)");
  CHECK(names("\x1b[200~\x1b[201~q") == "Paste() q");
  KeyReader reader;
  reader.feed("\x1b[200~half a pa");
  CHECK(!reader.next());
  CHECK(reader.take_rest() == "half a pa");
}
