// The inspector's commands in a session.
#include <fstream>
#include <sstream>

#include "repl/session/session.h"
#include "tests/unit/repl/inspected.h"

using namespace tessera::repl;

namespace {

// Keeps what it is given to show.
struct Paper : Client {
  std::string text, errors;
  Display result;
  Style style() const override { return inspected::style(100); }
  void write(std::string_view more) override { text += more; }
  void show_result(int, const Display& value) override { result = value; }
  void show(const Display&) override {}
  void show_error(tessera::lang::Interpreter&, const tessera::lang::Value&, std::string_view more) override {
    errors += more;
  }
  bool edit(const std::string&) override { return false; }
};

struct Prompt {
  std::unique_ptr<tessera::lang::Interpreter> in = tessera::stdlib::make_interpreter();
  Paper paper;
  Session session{*in, paper};
  // What a block shows.
  std::string operator()(const std::string& block) {
    paper.text.clear();
    paper.errors.clear();
    session.run(block);
    return paper.text + paper.errors;
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE(":tensors lists what blocks made, results under Out") {
  Prompt p;
  CHECK(p(":tensors") == "no tensors\n");
  p("x = torch.ones(2, 3)");
  p("x * 2");
  const std::string table = p(":tensors");
  CHECK(table ==
        "name    shape   dtype    bytes  min  mean  max  std\n"
        "Out[3]  [2, 3]  float32   24 B    2     2    2    0\n"
        "x       [2, 3]  float32   24 B    1     1    1    0\n"
        "cpu: 2 tensors, 48 B\n");
  CHECK(has(p("%tensors x size"), "x       [2, 3]") == false);
  CHECK(has(p("%tensors x size"), "x     [2, 3]"));
}

TEST_CASE(":watch shows the table after each block, and keeps nothing alive") {
  Prompt p;
  p("x = torch.zeros(3); y = torch.zeros(3)");
  CHECK(has(p(":watch"), "\nx     [3]"));
  CHECK(p("x += 1") ==
        "   name  shape  dtype    bytes  min  mean  max  std\n"
        "*  x     [3]    float32   12 B    1     1    1    0\n"
        "   y     [3]    float32   12 B    0     0    0    0\n"
        "cpu: 2 tensors, 24 B\n");
  CHECK(p(":seed") != "");
  CHECK(has(p("import weakref; w = weakref.ref(y); del y; gone = w() is None"), "\n-  y "));
  CHECK(p("assert gone").find("Error") == std::string::npos);
  CHECK(has(p("z = x[1:]\n1 / 0"), "+  z "));
  CHECK(has(p(":watch off"), "not watched any more"));
  CHECK(p("x += 1") == "");
}

TEST_CASE(":inspect, :graph and :model take an expression, and say what is wrong with it") {
  Prompt p;
  p("w = torch.ones(2, 2, requires_grad=True); y = (w * 2).sum(); m = nn.Linear(2, 1)");
  CHECK(has(p(":inspect w[0]"), "w[0]: Tensor [2] float32 on cpu, 8 B\n"));
  CHECK(has(p(":inspect w[0]"), "shared with w"));
  CHECK(has(p(":graph y"), "SumBackward0 -> y []\nMulBackward0\n└─ w [2, 2]\n"));
  CHECK(has(p(":model m"), "3 parameters (12 B), 3 trainable"));
  CHECK(p(":inspect") == "usage: :inspect EXPRESSION\n");
  CHECK(has(p(":graph nothing"), "NameError: name 'nothing' is not defined"));
  CHECK(p(":graph m") == "m is no tensor but Linear\n");
  CHECK(p(":graph w.detach() /tmp/none.dot") == "w.detach() has no graph behind it: it requires no gradient\n");
  CHECK(has(p(":graph y /no/such/folder/y.dot"), "/no/such/folder/y.dot: "));
  CHECK(has(p(":tensor"), "did you mean :tensors?"));
}

TEST_CASE("a value has the forms that its class makes") {
  Prompt p;
  p(R"(
class Shown:
    def __repr__(self):
        return 'text'
    def _repr_png_(self):
        return b'bytes'
    def _repr_html_(self):
        return '<b>text</b>'
    def _repr_svg_(self):
        raise ValueError
class Plain:
    def __getattr__(self, name):
        raise SystemExit
    def __repr__(self):
        return 'plain'
)");
  CHECK(p("Shown()") == "");
  CHECK(p.paper.result.text == "text");
  CHECK(p.paper.result.png == "bytes");
  CHECK(p.paper.result.html == "<b>text</b>");
  CHECK(p.paper.result.svg == "");
  CHECK(p("Plain()") == "");
  CHECK(p.paper.result.text == "plain");
  CHECK(p.paper.result.png == "");
  CHECK(p("Shown") == "");
  CHECK(p.paper.result.png == "");
}
