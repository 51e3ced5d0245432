#include "repl/prompt/editor.h"

#include <doctest/doctest.h>

#include "lang/syntax/parse.h"

using namespace tessera::repl;

namespace {

// Sources without a session: what is complete is the parser's word, and completion has a few names.
Sources sources(const std::vector<std::string>& history) {
  Sources made;
  made.state_of = [](std::string_view text) {
    const auto state = tessera::lang::is_complete(text);
    if (state == tessera::lang::Completeness::kIncomplete) return BlockState{BlockState::Kind::kIncomplete, ""};
    return BlockState{
        state == tessera::lang::Completeness::kComplete ? BlockState::Kind::kComplete : BlockState::Kind::kInvalid, ""};
  };
  made.complete = [](std::string_view text, size_t cursor) {
    Completion found;
    size_t begin = cursor;
    while (begin > 0 && is_word_byte(text[begin - 1])) --begin;
    found.begin = begin;
    found.end = cursor;
    for (const std::string_view name : {"linspace", "linear", "logspace", "zeros"})
      if (name.starts_with(text.substr(begin, cursor - begin)))
        found.candidates.push_back({std::string(name), "function", ""});
    return found;
  };
  made.call_at = [](std::string_view, size_t) { return std::optional<CallHelp>(CallHelp{"add(a, b)", 4, 5}); };
  made.history = &history;
  return made;
}

class Typist {
 public:
  explicit Typist(KeyStyle style = KeyStyle::kEmacs) : editor(sources(history), style) {}

  // Characters as they are, other keys by name between < and >: "ab<Left>c". What ends a block ends this as well.
  Effect type(std::string_view keys) {
    Effect effect = Effect::kNone;
    while (!keys.empty() && effect == Effect::kNone) {
      size_t length = 1;
      Key key{std::string(1, keys[0]), std::string(1, keys[0])};
      if (keys[0] == '<' && keys.find('>') != keys.npos) {
        length = keys.find('>') + 1;
        key = {std::string(keys.substr(1, length - 2)), ""};
      }
      keys.remove_prefix(length);
      effect = editor.press(key);
    }
    return effect;
  }
  // The text with a bar at the cursor.
  std::string shown() const {
    std::string text = editor.buffer().text();
    return text.insert(editor.buffer().cursor(), "|");
  }

  std::vector<std::string> history{"old = 1", "for i in x:\n    f(i)"};
  Editor editor;
};

std::string after(std::string_view keys) {
  Typist typist;
  typist.type(keys);
  return typist.shown();
}

// vi's keys on a text, from its first character.
std::string vi(std::string text, std::string_view keys) {
  Typist typist(KeyStyle::kVi);
  typist.editor.set_text(std::move(text));
  typist.type("<Escape>gg0");
  typist.type(keys);
  return typist.shown();
}

}  // namespace

TEST_CASE("Enter runs what is complete and opens a line in what is not") {
  Typist typist;
  CHECK(typist.type("1 + 1<Enter>") == Effect::kRun);
  typist.editor.start();
  CHECK(typist.type("if x:<Enter>y<Enter>") == Effect::kNone);
  CHECK(typist.shown() == "if x:\n    y\n    |");
  CHECK(typist.type("<Enter>") == Effect::kRun);
  CHECK(typist.editor.block() == "if x:\n    y");
  typist.editor.start();
  CHECK(typist.type("f(<Enter>") == Effect::kNone);
  typist.editor.start();
  CHECK(typist.type("x = 1 1<Enter>") == Effect::kRun);  // wrong: to be seen as an error
  typist.editor.start();
  CHECK(typist.type("f(1)<Left><Left><Enter>") == Effect::kRun);  // one line, wherever the cursor is
  typist.editor.start();
  CHECK(typist.type("a<C-o>b<Up><Enter>") == Effect::kNone);
  CHECK(typist.shown() == "a\n|\nb");
  CHECK(typist.type("<M-Enter>") == Effect::kRun);
}

TEST_CASE("a block of the history runs at once, a changed one as if it were typed") {
  Typist typist;
  typist.type("<Up>");
  CHECK(typist.shown() == "for i in x:|\n    f(i)");
  CHECK(typist.type("<Enter>") == Effect::kRun);
  typist.editor.start();
  typist.type("<Up><C-End>.y<Enter>");
  CHECK(typist.shown() == "for i in x:\n    f(i).y\n    |");
}

TEST_CASE("what Emacs' keys do") {
  CHECK(after("hello world<C-a><M-f><C-k>") == "hello|");
  CHECK(after("hello world<M-b><C-k><C-y><C-y>") == "hello worldworld|");
  CHECK(after("a b<C-w><C-w><C-y>") == "a b|");
  CHECK(after("ab<C-t>") == "ba|");
  CHECK(after("foo bar<C-a><M-u><M-c>") == "FOO Bar|");
  CHECK(after("abc<C-b><C-b><C-d>") == "a|c");
  CHECK(after("abc<C-u>x<C-_><C-_>") == "abc|");
  CHECK(after("if x:<Enter><Backspace>") == "if x:\n|");
  CHECK(after("x<C-x>y") == "x|");  // the second key of a sequence that means nothing
  CHECK(after("    <Home>a") == "a|    ");
  CHECK(after("x <M-.>") == "x f(i)|");
  CHECK(after("x <M-.><M-.>") == "x 1|");
  CHECK(after("x <M-.>y<M-.>") == "x f(i)yf(i)|");
}

TEST_CASE("Tab completes what is common, then shows a menu") {
  Typist typist;
  typist.type("x = l<Tab>");
  CHECK(typist.shown() == "x = l|");
  CHECK(typist.editor.view(1, 80, 24).below.size() == 3);
  typist.type("<Tab>");
  CHECK(typist.shown() == "x = linspace|");
  typist.type("<Tab><Tab><Tab>");
  CHECK(typist.shown() == "x = linspace|");  // around
  typist.type("<S-Tab>");
  CHECK(typist.shown() == "x = logspace|");
  typist.type("<Escape>");
  CHECK(typist.shown() == "x = l|");
  CHECK(typist.editor.view(1, 80, 24).below.empty());
  typist.type("i<Tab>");
  CHECK(typist.shown() == "x = lin|");
  typist.type("<Tab><Enter>");
  CHECK(typist.shown() == "x = linspace|");
  typist.type(" z<Tab>");
  CHECK(typist.shown() == "x = linspace zeros|");
  CHECK(after("<Tab>") == "    |");
}

TEST_CASE("the call's signature stands below") {
  Typist typist;
  typist.type("add(");
  const View view = typist.editor.view(1, 80, 24);
  REQUIRE(view.below.size() == 1);
  CHECK(view.below[0][1].text == "a");
  CHECK(view.below[0][1].look == Look::kHelpActive);
  typist.type("<C-a>");
  CHECK(typist.editor.view(1, 80, 24).below.empty());
}

TEST_CASE("vi's motions") {
  const std::string text = "def foo(a, b):\n    return a + b";
  CHECK(vi(text, "w") == "def |foo(a, b):\n    return a + b");
  CHECK(vi(text, "e") == "de|f foo(a, b):\n    return a + b");
  CHECK(vi(text, "2w") == "def foo|(a, b):\n    return a + b");
  CHECK(vi(text, "2W") == "def foo(a, |b):\n    return a + b");
  CHECK(vi(text, "$") == "def foo(a, b)|:\n    return a + b");
  CHECK(vi(text, "$bb") == "def foo(a, |b):\n    return a + b");
  CHECK(vi(text, "fa") == "def foo(|a, b):\n    return a + b");
  CHECK(vi(text, "to;") == "def f|oo(a, b):\n    return a + b");
  CHECK(vi(text, "G") == "def foo(a, b):\n    |return a + b");
  CHECK(vi(text, "jgg") == "|def foo(a, b):\n    return a + b");
  CHECK(vi(text, "G0^") == "def foo(a, b):\n    |return a + b");
  CHECK(vi(text, "f(%") == "def foo(a, b|):\n    return a + b");
  CHECK(vi(text, "$Fo;,") == "def fo|o(a, b):\n    return a + b");
  CHECK(vi("a\nlong line", "jlllk") == "|a\nlong line");
}

TEST_CASE("vi's operators") {
  CHECK(vi("one two three", "dw") == "|two three");
  CHECK(vi("one two three", "2dw") == "|three");
  CHECK(vi("one two three", "d2w") == "|three");
  CHECK(vi("one two three", "wcwsix<Escape>") == "one si|x three");
  CHECK(vi("one two three", "de") == "| two three");
  CHECK(vi("f(a, b)", "fadt)") == "f(|)");
  CHECK(vi("one two", "wD") == "one| ");
  CHECK(vi("a\nb\nc", "jdd") == "a\n|c");
  CHECK(vi("a\nb\nc", "Gdd") == "a\n|b");
  CHECK(vi("a\nb\nc", "yyjp") == "a\nb\n|a\nc");
  CHECK(vi("a\nb", "yyP") == "|a\na\nb");
  CHECK(vi("ab", "xp") == "b|a");
  CHECK(vi("abc", "2rz") == "z|zc");
  CHECK(vi("    abc", "ccx<Escape>") == "    |x");
  CHECK(vi("a\nb", ">j") == "    |a\n    b");
  CHECK(vi("abc", "~~") == "AB|c");
  CHECK(vi("a\n  b", "J") == "a| b");
}

TEST_CASE("vi's visual mode") {
  CHECK(vi("one two three", "wved") == "one | three");
  CHECK(vi("one two three", "wvecx<Escape>") == "one |x three");
  CHECK(vi("one two three", "wvey$p") == "one two threetw|o");
  CHECK(vi("a\nb\nc", "Vjd") == "|c");
  CHECK(vi("a\nb\nc", "jVkoy") == "a\n|b\nc");
  CHECK(vi("a\nb", "Vj>") == "    |a\n    b");
  CHECK(vi("one two", "vlvx") == "o|e two");
  CHECK(vi("one two", "vl<Escape>x") == "o|e two");
  CHECK(vi("abc", "vkd") == "|bc");  // at the first line: no history
  Typist typist(KeyStyle::kVi);
  typist.editor.set_text("one two");
  typist.type("<Escape>0wve");
  const View view = typist.editor.view(1, 80, 24);
  CHECK(view.hit_begin == 4);
  CHECK(view.hit_end == 7);
}

TEST_CASE("vi's insert commands, undo and repeat") {
  CHECK(vi("bc", "ia<Escape>") == "|abc");
  CHECK(vi("ac", "ab<Escape>") == "a|bc");
  CHECK(vi("ab", "Ac<Escape>") == "ab|c");
  CHECK(vi("  b", "$Ia<Escape>") == "  |ab");
  CHECK(vi("if x:", "oy<Escape>") == "if x:\n    |y");
  CHECK(vi("y", "Ox<Escape>") == "|x\ny");
  CHECK(vi("abc", "Rxy<Escape>") == "x|yc");
  CHECK(vi("abcd", "sx<Escape>") == "|xbcd");
  CHECK(vi("one two", "dwu") == "|one two");
  CHECK(vi("one two", "dwu<C-r>") == "|two");
  CHECK(vi("one two", "cwthree four<Escape>u") == "|one two");
  CHECK(vi("a b c d", "dw..u") == "|c d");
  CHECK(vi("a b c d", "dw..") == "|d");
  CHECK(vi("a b c", "cwx<Escape>w.") == "x |x c");
  CHECK(vi("abcdef", "x2.") == "|def");
}
