// What a notebook is told: streams, forms, errors with their places.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "lang/core/error.h"
#include "lang/core/signals.h"
#include "lang/objects/module.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "repl/notebook/graph_forms.h"
#include "repl/notebook/tensor_forms.h"
#include "repl/notebook/utf8.h"
#include "tests/unit/repl/recorder.h"

using namespace tessera;
using namespace tessera::repl;
using nlohmann::json;

TEST_CASE("a cell's output, result and displays stand in their order") {
  Notebook n;
  const Recorder& r = n.run("print('a')\ndisplay(1)\nimport sys\nprint('b', file=sys.stderr)\n7");
  REQUIRE(r.said.size() == 4);
  CHECK(r.said[0].kind + r.said[0].text == "stdouta\n");
  CHECK(r.said[1].kind + r.said[1].text == "display1");
  CHECK(r.said[2].kind + r.said[2].text == "stderrb\n");
  CHECK(r.said[3].kind + r.said[3].text == "result7");
}

TEST_CASE("forms of objects, tensors and bundles") {
  Notebook n;
  const Recorder& r = n.run(
      "class A:\n  def __repr__(self): return 'an A'\n  def _repr_html_(self): return '<b>A</b>'\n"
      "  def _repr_png_(self): return b'\\x89PNG'\n  def _repr_markdown_(self): raise ValueError\n  def _repr_json_(self): return {'a': [1, None]}\nA()");
  const auto* result = r.last("result");
  REQUIRE(result != nullptr);
  CHECK(result->text == "an A");
  CHECK(Recorder::form(*result, "text/html") == "<b>A</b>");
  CHECK(Recorder::form(*result, "image/png") == "\x89PNG");
  CHECK(Recorder::form(*result, "text/markdown") == "");
  CHECK(json::parse(Recorder::form(*result, "application/json")) == json{{"a", {1, nullptr}}});

  result = n.run("torch.tensor([[1., -2.], [float('nan'), 4.]])").last("result");
  CHECK(result->text == "tensor([[ 1., -2.],\n        [nan,  4.]])");
  const std::string html = Recorder::form(*result, "text/html");
  CHECK(html.find("tensor([[ 1., -2.],") != html.npos);
  CHECK(html.find("float32 [2, 2] on cpu, 16 B") != html.npos);
  CHECK(html.find(">nan</td>") != html.npos);
  CHECK(Recorder::form(*n.run("torch.tensor(3)").last("result"), "text/html") == "");
}

TEST_CASE("a display is found again by its name") {
  Notebook n;
  const Recorder& r = n.run(
      "from IPython.display import display, HTML, clear_output\nh = display(HTML('<i>1</i>'), display_id=True)\nh.update(2)\nclear_output(wait=True)");
  REQUIRE(r.said.size() == 3);
  CHECK(!r.said[0].id.empty());
  CHECK(Recorder::form(r.said[0], "text/html") == "<i>1</i>");
  CHECK((r.said[1].id == r.said[0].id && r.said[1].flag && r.said[1].text == "2"));
  CHECK((r.said[2].kind == "clear" && r.said[2].flag));
}

TEST_CASE("a bundle of forms stands before single ones, with its metadata") {
  Notebook n;
  const Recorder& r = n.run(
      "class A:\n  def __repr__(self): return 'an A'\n  def _repr_html_(self): return 'single'\n  def _repr_latex_(self): return '$a$', {'k': 1}\n"
      "  def _repr_png_(self): return 'iVBORw=='\n  def _repr_mimebundle_(self, include, exclude):\n"
      "    return {'text/html': 'bundled', 'application/x+json': {'a': [1]}, 'image/svg+xml': '<svg/>', 'text/x': b'x', 'no/form': 3, 4: 5}, "
      "{'text/html': {'isolated': True}, 'text/x': 3, 'a': [None]}\nA()");
  const auto* result = r.last("result");
  REQUIRE(result != nullptr);
  CHECK(result->text == "an A");
  CHECK(Recorder::form(*result, "text/html") == "bundled");
  CHECK(Recorder::form(*result, "text/latex") == "$a$");
  CHECK(Recorder::form(*result, "image/png") == "\x89PNG");
  CHECK(Recorder::form(*result, "image/svg+xml") == "<svg/>");
  CHECK(json::parse(Recorder::form(*result, "application/x+json")) == json{{"a", {1}}});
  CHECK(result->forms.size() == 7);
  CHECK(result->metadata ==
        Metadata{
            {"text/html", R"({"isolated": true})"}, {"text/x", "3"}, {"a", "[null]"}, {"text/latex", R"({"k": 1})"}});
  CHECK(r.all("stderr") ==
        "FormatterWarning: no/form formatter returned invalid type <class 'int'> (expected <class 'str'>)\n");
}

TEST_CASE("a form whose method raises is told, and the others are shown") {
  Notebook n;
  const Recorder& r = n.run(
      "class A:\n  def __repr__(self): return 'an A'\n  def _repr_html_(self): return 1 / 0\n"
      "  def _repr_png_(self): raise NotImplementedError\n  def _repr_markdown_(self): return None\n  def _repr_latex_(self): return '$a$'\nA()");
  REQUIRE(r.said.size() == 2);
  CHECK(r.said[0].kind == "stderr");
  CHECK(r.said[0].text.find("ZeroDivisionError") != std::string::npos);
  CHECK(r.said[0].text.find("NotImplementedError") == std::string::npos);
  CHECK(r.said[1].forms.size() == 2);
  CHECK(n.run("A").last("result")->text == "<class '__main__.A'>");
}

TEST_CASE("forms that are none are told, and the result is shown") {
  Notebook n;
  const Recorder& r = n.run(
      "class A:\n  def __repr__(self): return 'an A'\n  def _repr_png_(self): return 'abcde'\n  def _repr_json_(self): return {'a': {1}}\n"
      "  def _repr_html_(self): return 3\n  def _repr_latex_(self): return '$', {'k': object()}\n  def _repr_mimebundle_(self): return {}\n"
      "  def _ipython_display_(self): return 1 / 0\nA()");
  REQUIRE(r.last("result") != nullptr);
  CHECK(r.last("result")->text == "an A");
  CHECK(r.last("result")->forms.size() == 1);
  for (const char* name :
       {"binascii.Error", "TypeError: Object of type set", "TypeError: Object of type object", "ZeroDivisionError",
        "_repr_mimebundle_()", "text/html formatter returned invalid type <class 'int'>"})
    CHECK(r.all("stderr").find(name) != std::string::npos);
  const std::string nan = n.run("class N:\n  def _repr_json_(self): return [float('nan')]\nN()").all("stderr");
  CHECK(nan.find("ValueError: Out of range float values are not JSON compliant") != nan.npos);
  CHECK(n.run("display({'text/plain': 'p', 'application/json': '{', 'text/html': 3}, raw=True)")
            .last("display")
            ->forms.size() == 1);
  CHECK(n.frontend.all("stderr").find("JSONDecodeError") != std::string::npos);
  CHECK(n.frontend.all("stderr").find("text/html formatter") != std::string::npos);
  CHECK(n.run("display(3, metadata={'a': 1, 'b': float('inf')})").last("display")->metadata == Metadata{{"a", "1"}});
  CHECK(n.run("class B:\n  def __repr__(self): return 1 / 0\nB()").last("error")->error.name == "ZeroDivisionError");
}

TEST_CASE("what shows itself is not shown twice, and is kept") {
  Notebook n;
  const Recorder& r = n.run(
      "class A:\n  def __repr__(self): return 'an A'\n  def _ipython_display_(self): print('here')\n"
      "class B(A):\n  def _ipython_display_(self): raise NotImplementedError\ndisplay(A())\nA()");
  CHECK((r.last("result") == nullptr && r.last("display") == nullptr));
  CHECK(r.all("stdout") == "here\nhere\n");
  CHECK(n.run("_").all("stdout") == "here\n");
  CHECK(n.run("B()").last("result")->text == "an A");
}

TEST_CASE("forms that are asked for, and forms as they are given") {
  Notebook n;
  n.run("from IPython.display import *\nfrom IPython import display as module");
  const Recorder& r = n.run(
      "display(HTML('<b>', metadata={'a': 1}), include=['text/html'])\ndisplay(HTML('<i>'), exclude=['text/html'], metadata={'text/plain': {'b': 2}})\n"
      "display_html(3)\ndisplay_html('<u>', raw=True)\ndisplay({'application/json': {'k': None}, 'image/png': b'PNG'}, raw=True, metadata={'image/png': {'width': 3}})\n"
      "display(display_id='empty')\nmodule.display(Pretty('p'))\npublish_display_data({'text/plain': 'q'}, transient={'display_id': 'z'})");
  REQUIRE(r.said.size() == 7);
  CHECK((r.said[0].forms.size() == 1 && r.said[0].text == "<b>" &&
         r.said[0].metadata.back() == Metadata::value_type("text/html", R"({"a": 1})")));
  CHECK((r.said[1].forms.size() == 1 && r.said[1].text == "<IPython.core.display.HTML object>" &&
         r.said[1].metadata.back() == Metadata::value_type("text/plain", R"({"b": 2})")));
  CHECK((r.said[2].forms.size() == 1 && r.said[2].forms[0].type == "text/html" && r.said[2].text == "<u>"));
  CHECK(r.said[3].forms.size() == 2);
  CHECK(json::parse(Recorder::form(r.said[3], "application/json")) == json{{"k", nullptr}});
  CHECK(r.said[3].metadata == Metadata{{"image/png", R"({"width": 3})"}});
  CHECK((r.said[4].text.empty() && r.said[4].id == "empty"));
  CHECK(r.said[5].text == "p");
  CHECK((r.said[6].text == "q" && r.said[6].id == "z"));
  CHECK(n.run("display(3, raw=True)").last("error")->error.name == "TypeError");
  CHECK(n.run("update_display(1)").last("error")->error.name == "TypeError");
}

TEST_CASE("a picture's width goes with it, and a file that is not there is told") {
  Notebook n;
  n.run("from IPython.display import *");
  const auto* shown = n.run("Image(b'\\x89PNG\\r\\n\\x1a\\n', width=300)").last("result");
  REQUIRE(shown != nullptr);
  CHECK(Recorder::form(*shown, "image/png") == "\x89PNG\r\n\x1a\n");
  CHECK(shown->metadata == Metadata{{"image/png", R"({"width": 300})"}});
  CHECK(n.run("Image('none.png')").all("stderr").find("FileNotFoundError") != std::string::npos);
  const auto* linked = n.run("Image(url='a.png')").last("result");
  CHECK(Recorder::form(*linked, "text/html") == "<img src=\"a.png\"/>");
}

TEST_CASE("clearing and updating") {
  Notebook n;
  const Recorder& r = n.run(
      "from IPython.display import *\nprint('a')\nclear_output()\nh = DisplayHandle('n')\nh.display(1)\nh.update(2)\nupdate_display(3, display_id='n')\n"
      "display(4, clear=True)\nbar = ProgressBar(2)\nbar.display()\nbar.progress = 1\na = display(5, display_id=True)\nb = display(6, display_id=True)");
  REQUIRE(r.said.size() == 11);
  CHECK((r.said[1].kind == "clear" && !r.said[1].flag));
  CHECK((r.said[2].text == "1" && r.said[2].id == "n" && !r.said[2].flag));
  CHECK((r.said[3].text == "2" && r.said[3].id == "n" && r.said[3].flag));
  CHECK((r.said[4].text == "3" && r.said[4].id == "n" && r.said[4].flag));
  CHECK((r.said[5].kind == "clear" && r.said[5].flag));
  CHECK((r.said[6].text == "4" && r.said[6].id.empty()));
  CHECK((r.said[8].flag && !r.said[8].id.empty() && r.said[8].id == r.said[7].id));
  CHECK(Recorder::form(r.said[8], "text/html").find("value='1'") != std::string::npos);
  CHECK((!r.said[9].id.empty() && r.said[9].id != r.said[10].id));
}

TEST_CASE("an error says what, where and the notes") {
  Notebook n;
  n.run("def f(a, b):\n    return a @ b");
  const Recorder& r = n.run("x = torch.ones(2, 3)\ny = torch.ones(2, 3)\n  \nz = f(x, y)");
  const auto* said = r.last("error");
  REQUIRE(said != nullptr);
  const ErrorReport& e = said->error;
  CHECK(e.name == "RuntimeError");
  CHECK(e.message == "mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  CHECK(!e.notes.empty());
  REQUIRE(e.places.size() == 2);
  CHECK((e.places[0].file == "In [2]" && e.places[0].line == 4 && e.places[0].column == 4 &&
         e.places[0].end_column == 11));
  CHECK((e.places[1].file == "In [1]" && e.places[1].function == "f" && e.places[1].line == 2 &&
         e.places[1].column == 11));
  CHECK(e.text.find("hint:") != e.text.npos);

  const ErrorReport syntax = n.run("a = 1\nb = (1, 2").last("error")->error;
  CHECK(syntax.name == "SyntaxError");
  REQUIRE(syntax.places.size() == 1);
  CHECK((syntax.places[0].file == "In [3]" && syntax.places[0].line == 2 && syntax.places[0].column == 4));
}

TEST_CASE("figures that a cell leaves open are shown") {
  Notebook n;
  const Recorder& r = n.run("plt.plot([1, 2, 3]);");
  REQUIRE(r.last("display") != nullptr);
  CHECK(Recorder::form(*r.last("display"), "image/png").substr(1, 3) == "PNG");
  CHECK(n.run("1").last("display") == nullptr);
  const Recorder& failed = n.run("plt.plot([3, 4])\n1 / 0");
  REQUIRE(failed.said.size() == 2);
  CHECK((failed.said[0].kind == "error" && failed.said[1].kind == "display"));
  CHECK(n.run("plt.plot([3, 4])\nraise KeyboardInterrupt").last("display") == nullptr);
  CHECK(n.run("1").last("display") == nullptr);
}

TEST_CASE("an interrupt that comes while a cell is compiled is heard") {
  Notebook n;
  for (const char* text : {"x = 1", "y = 'a' + 'b' + 'c'"}) {
    n.in->interrupt.fetch_or(lang::kKeyboard);
    CHECK_THROWS_AS(n.in->run_interactive(*std::make_shared<lang::Source>("In [1]", text)), lang::Thrown);
    CHECK(!n.in->is_stopping());
  }
  CHECK(lang::dict_get_text(n.in->main_module()->dict, "x") == nullptr);
  CHECK(n.run("x = 1; x").last("result")->text == "1");
}

TEST_CASE("a result, a display and an error that are too long are cut, and the whole goes to a file") {
  const auto read = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  Notebook n;
  const size_t most = size_t{1} << 20;
  const Recorder& r = n.run("'\u00e9' * 3000000");
  REQUIRE(r.said.size() == 2);
  CHECK((r.said[0].kind == "result" && r.said[0].text.size() < most + 500));
  CHECK(r.said[0].text.starts_with("'\u00e9\u00e9"));
  CHECK(r.said[0].text[most - 2] == '\xa9');  // no character is cut in two
  CHECK(r.said[0].text.ends_with("\n... more than is shown here: all of it is in " + r.said[1].text));
  CHECK((r.said[1].kind == "overflow" && r.said[1].id == std::to_string(6000002 - (most - 1))));
  CHECK(read(r.said[1].text).size() == 6000002);

  n.run("from IPython.display import *\nh = '<b>' + 'x' * 5000000");
  n.run("display(HTML(h))\ndisplay({'text/html': h}, raw=True)");
  REQUIRE(r.said.size() == 6);
  CHECK((r.said[0].forms.size() == 1 && r.said[0].text == "<IPython.core.display.HTML object>"));
  CHECK((r.said[1].kind == "stderr" && r.said[1].text.find(r.said[2].text) != std::string::npos));
  CHECK((r.said[2].kind == "overflow" && r.said[2].id == "5000003" && r.said[2].text.ends_with("1.html")));
  CHECK((r.said[3].forms.size() == 1 && r.said[3].forms[0].type == "text/plain"));
  CHECK(r.said[3].text.find(r.said[5].text) != std::string::npos);
  CHECK(read(r.said[5].text).size() == 5000003);

  n.run("raise ValueError(h)");
  REQUIRE(r.last("error") != nullptr);
  CHECK((r.last("error")->error.text.size() < most + 500 && r.last("error")->error.message.size() == most));
  CHECK(read(r.last("overflow")->text).find("ValueError: <b>xx") != std::string::npos);
  CHECK(n.run("'x' * 1000000").last("overflow") == nullptr);
}

TEST_CASE("half of a surrogate pair is one character that stands for it") {
  Notebook n;
  n.run("class A:\n  def __repr__(self): return 'a\\ud800b\\U0001f600'\nA()");
  CHECK(n.frontend.last("result")->text ==
        "a\xef\xbf\xbd"
        "b\xf0\x9f\x98\x80");
  CHECK(n.run("raise ValueError('\\udfff')").last("error")->error.message == "\xef\xbf\xbd");
  CHECK(as_utf8("\xed\xa0\xff\xed\x9f\xbf") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xed\x9f\xbf");
}

TEST_CASE("input has its prompt, and a password is hidden") {
  Notebook n;
  n.frontend.answers = {"Ada", "secret"};
  const Recorder& r =
      n.run("print('hello')\na = input('name? ')\nimport getpass\nb = getpass.getpass('word? ')\n(a, b)");
  CHECK(r.all("stdout") == "hello\n");
  CHECK(r.all("input") == "name? word? ");
  CHECK(r.last("input")->flag);
  CHECK(r.last("result")->text == "('Ada', 'secret')");
  CHECK(n.run("input()").last("error")->error.name == "EOFError");
}

TEST_CASE("help goes to the pager, commands' tables are data") {
  Notebook n;
  CHECK(n.run("torch.add?").last("page")->text.find("Signature") != std::string::npos);
  n.run(
      "a = torch.arange(4.); b = torch.ones(2, requires_grad=True); c = (b * 2).sum(); c.backward(retain_graph=True)");
  const auto table = json::parse(Recorder::form(*n.run(":tensors").last("display"), kTensorsForm));
  REQUIRE(table["tensors"].size() >= 3);
  CHECK(table["tensors"][0]["name"] == "a");
  CHECK(table["tensors"][0]["statistics"]["max"] == 3);
  const auto* look = n.run(":inspect b").last("display");
  const auto data = json::parse(Recorder::form(*look, kTensorForm));
  CHECK(data["row"]["shape"] == json{2});
  CHECK(data["grad"]["row"]["statistics"]["mean"] == 2);
  CHECK(data["values"] == "tensor([1., 1.], requires_grad=True)");
  const auto graph = json::parse(Recorder::form(*n.run(":graph c").last("display"), kGraphForm));
  CHECK(graph["nodes"][0]["name"] == "SumBackward0");
  CHECK(graph["nodes"].back()["tensor"] == "b");
  CHECK(Recorder::form(*n.frontend.last("display"), "text/html").find("MulBackward0") != std::string::npos);
  CHECK(n.run(":inspect 3").last("display") == nullptr);
}

TEST_CASE("a heat map is of the matrix that is asked for") {
  Notebook n;
  n.run("x = torch.arange(24.).view(2, 3, 4)[:, 1:]");
  const lang::Value x = *lang::dict_get_text(n.in->main_module()->dict, "x");
  const auto heat = json::parse(tensor_json(*n.in, x, "x", {1}))["heat"];
  CHECK(heat["leading"] == json{2});
  CHECK(heat["at"] == json{1});
  CHECK(heat["matrix"] == "[1, :, :]");
  CHECK(heat["values"] == json{16, 17, 18, 19, 20, 21, 22, 23});
  CHECK(json::parse(tensor_json(*n.in, x, "x", {99, 3}))["heat"]["at"] == json{1});
  CHECK(json::parse(tensor_json(*n.in, x, "x"))["heat"]["at"] == json{0});
}

TEST_CASE("odd tensors have forms too") {
  Notebook n;
  n.run(
      "t = [torch.empty(0, 3), torch.tensor(1j), torch.ones(2, 3, 4, 5), torch.full((3,), float('nan')), torch.ones(2, device='meta'),"
      " torch.randint(0, 255, (3, 16, 16), dtype=torch.uint8), torch.tensor([True, False]), torch.ones(5000)[::2], torch.randn(200, 300)]");
  for (int i = 0; i < 9; ++i) {
    const Recorder& r = n.run("v = t[" + std::to_string(i) + "]\n:inspect v");
    CHECK(r.last("error") == nullptr);
    REQUIRE(r.last("display") != nullptr);
    CHECK(json::parse(Recorder::form(*r.last("display"), kTensorForm)).contains("row"));
    CHECK(n.run("v").last("error") == nullptr);
  }
}

TEST_CASE("what was written over is not sent") {
  const auto kept = [](std::string text) {
    drop_written_over(text);
    return text;
  };
  CHECK(kept("a\r10%\r20%\r30%") == "a\r30%");
  CHECK(kept("\r100%\r1%") == "\r100%\r1%");
  CHECK(kept("x\r1\r2\ny\r3\r4\r\n") == "x\r2\ny\r4\r\n");
  CHECK(kept("no\nreturn") == "no\nreturn");
  CHECK(kept("\r\r\r") == "\r\r\r");
}

TEST_CASE("output is gathered, and what waits comes by itself") {
  Recorder r;
  OutputStream out(r, "/nowhere");
  out.begin_cell(1);
  for (int i = 0; i < 1000; ++i) out.write(false, "line\n");
  out.end_cell();
  CHECK(r.all("stdout").size() == 5000);
  CHECK(r.said.size() < 100);
  out.write(false, "open");
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto lock = out.hold();
    if (r.all("stdout").ends_with("open")) break;
  }
  CHECK(r.all("stdout").ends_with("open"));
}

TEST_CASE("output beyond the bound goes whole to a file") {
  Recorder r;
  const std::string folder = std::filesystem::temp_directory_path() / ("overflow-test-" + std::to_string(::getpid()));
  OutputStream::Bounds bounds;
  bounds.shown = 10;
  {
    OutputStream out(r, folder, bounds);
    out.begin_cell(4);
    out.write(false, "12345678\xc3\xa4\xc3\xa4 and more\n");
    out.write(false, "the end\n");
    out.end_cell();
    CHECK(r.all("stdout") == "12345678\xc3\xa4");
    REQUIRE(r.last("overflow") != nullptr);
    std::ifstream file(r.last("overflow")->text);
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "12345678\xc3\xa4\xc3\xa4 and more\nthe end\n");
    out.begin_cell(5);
    out.write(false, "next");
    out.end_cell();
    CHECK(r.all("stdout").ends_with("next"));
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("somebody may look while a cell runs") {
  Notebook n;
  int looks = 0;
  n.in->host().attend = [&] {
    looks += to_json(live_tensors(*n.in)).find("\"x\"") != std::string::npos;  // it may not be there yet
  };
  std::atomic<bool> ends{false};
  std::thread asker([&] {
    while (!ends) {
      n.in->interrupt.fetch_or(lang::kAttention);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const Recorder& r =
      n.run("x = torch.ones(3)\nimport time\nend = time.time() + 0.1\nwhile time.time() < end:\n  x += 1");
  ends = true;
  asker.join();
  CHECK(r.last("error") == nullptr);
  CHECK(looks > 2);
}
