// One value, a graph, a model: what is told of each, and that none is too large.
#include <chrono>

#include "repl/inspector/graph.h"
#include "repl/inspector/inspect_tensor.h"
#include "repl/inspector/model.h"
#include "repl/inspector/pictures.h"
#include "repl/inspector/tensors_text.h"
#include "repl/inspector/text_parts.h"
#include "tests/unit/repl/inspected.h"

using namespace tessera::repl;
using inspected::Program;
using inspected::style;

namespace {

std::string inspect(Program& p, const char* expression, const Style& style) {
  return inspect_text(*p.in, p.run(std::string(expression) + "\n"), expression, style);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a tensor with its layout, memory, history, numbers and pictures") {
  Program p(R"(
a = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 4.0]])
t = a.T
b = a
)");
  CHECK(inspect(p, "t", style(60)) ==
        "t: Tensor [3, 2] float32 on cpu, 24 B\n"
        "layout    strides [1, 3], offset 0, not contiguous\n"
        "memory    24 B, version 0, shared with a, b\n"
        "history   leaf, no gradient, view of a\n"
        "numbers   min 0, mean 2.333, max 4, std 1.633\n"
        "\n"
        "                                        █████\n"
        "                                        █████\n"
        "                                        █████\n"
        "█████     █████     █████     █████     █████\n"
        "█████     █████     █████     █████     █████\n"
        "█████     █████     █████     █████     █████\n"
        "0                                           4\n"
        "the highest bar: 2\n"
        "\n"
        "heat map\n"
        "0 ' ' to 4 '█'\n"
        "  ▓▓\n"
        "░░██\n"
        "▒▒██\n");
  CHECK(has(inspect(p, "a", style(60)), "the same as b, shared with t\n"));
}

TEST_CASE("a few whole numbers have a bar each") {
  Program p("labels = torch.tensor([1, 2, 2, 5])\n");
  CHECK(has(inspect(p, "labels", style(60)),
            "      ██████\n"
            "      ██████\n"
            "      ██████\n"
            "████████████            ██████\n"
            "████████████            ██████\n"
            "████████████            ██████\n"
            "1                            5\n"));
}

TEST_CASE("the gradient stands beside the value, or below it where there is no room") {
  Program p(R"(
w = torch.tensor([[1.0, -1.0], [2.0, -2.0]], requires_grad=True)
(w * w).sum().backward()
)");
  const std::string wide = inspect(p, "w", style(80)), narrow = inspect(p, "w", style(40));
  CHECK(has(wide, "gradient  min -4, mean 0, max 4, std 3.651\n"));
  CHECK(has(wide, "w                                         w.grad\n"));
  CHECK(has(wide, "▓▓░░                                      ▓▓░░\n██                                        ██  \n"));
  CHECK(has(narrow, "\nw.grad\n"));
  CHECK(has(narrow, "▓▓░░\n██  \n"));
}

TEST_CASE("heat maps have two values in a character where there are colours, and NaN shows") {
  Program p("x = torch.tensor([[0.0, 1.0], [float('nan'), -1.0]])\nz = torch.zeros(300, 500)\nz[0, :] = 1\n");
  Style colours = style(80);
  colours.colours = Style::Colours::kTrue;
  const std::string x = inspect(p, "x", colours);
  CHECK(has(x, "\x1b[38;2;221;221;221m"));  // 0 in the middle
  CHECK(has(x, "\x1b[38;2;255;0;255m"));    // NaN
  colours.colours = Style::Colours::k256;
  CHECK(has(inspect(p, "x", colours), "\x1b[38;5;"));
  Style plain = style(80);
  plain.unicode = false;
  CHECK(has(inspect(p, "x", plain), "%%@@\n??  \n") == false);
  CHECK(has(inspect(p, "x", plain), "==@@") == false);
  CHECK(has(inspect(p, "x", plain), "++@@\n??  \n"));
  plain.colours = Style::Colours::kTrue;
  CHECK(has(inspect(p, "x", plain), "++@@\n??  \n"));
  for (unsigned columns : {30, 60, 100}) {
    const std::string text = inspect(p, "z", style(columns));
    for (size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1)
      CHECK(display_width(text.substr(at, end - at)) <= std::max(columns, 50u));
  }
}

TEST_CASE("what can be taken for a picture is shown as one") {
  Program p(R"(
img = torch.zeros(3, 8, 10)
img[0] = 1.0
rows = torch.full((9, 8, 3), 255, dtype=torch.uint8)
no = torch.zeros(3, 8, 10) + 5
)");
  Style colours = style(80);
  colours.colours = Style::Colours::kTrue;
  CHECK(has(inspect(p, "img", colours), "\x1b[38;2;255;0;0m\x1b[48;2;255;0;0m▀▀▀▀▀▀▀▀▀▀\x1b[0m\n"));
  CHECK(has(inspect(p, "rows", colours), "\x1b[38;2;255;255;255m▀▀▀▀▀▀▀▀\x1b[0m\n"));
  CHECK(has(inspect(p, "no", colours), "all 5"));
  CHECK(has(inspect(p, "torch.stack([img, img])", colours), "picture of [0]\n\x1b[38;2;255;0;0m"));
  colours.images = Style::Images::kKitty;
  CHECK(has(inspect(p, "img", colours), "\x1b_Ga=T,f=100,m=0;iVBORw0KGgo"));
  colours.images = Style::Images::kSixel;
  CHECK(has(inspect(p, "img", colours), "\x1bP0;1q\"1;1;10;8#0;2;100;0;0#0!10~$-#0!10B$-\x1b\\\n"));
}

TEST_CASE("odd tensors and other values are told of without an error") {
  Program p(R"(
import numpy as np
empty, meta, one = torch.zeros(0, 3), torch.zeros(2, device='meta'), torch.tensor(3)
none = torch.full((2,), float('nan'))
lost = torch.zeros(2, 4, 3)
lost[1, 2, 0], lost[1, 0, 2] = float('nan'), float('inf')
lost = lost.transpose(1, 2).contiguous().transpose(1, 2)
z = torch.tensor([[1 + 1j, 2]]).conj()
b = torch.tensor([True, False])
array = np.ones((2, 2))
deep = torch.zeros(2, 3, 4, 5)
class Thing:
    def __init__(self):
        self.size, self.data = 3, [1]
    def __repr__(self):
        raise ValueError
thing = Thing()
)");
  const Style s = style(80);
  CHECK(has(inspect(p, "empty", s), "it has no elements\n"));
  CHECK(has(inspect(p, "meta", s), "its numbers cannot be read\n"));
  CHECK(has(inspect(p, "one", s), "numbers   min 3, mean 3, max 3\n"));
  CHECK(has(inspect(p, "none", s), "numbers   none is finite, 2 nan, the first at [0]\n"));
  CHECK(has(inspect(p, "lost", s), ", 1 nan, 1 inf, the first at [1, 0, 2]\n"));
  CHECK(has(inspect(p, "z", s), "stands for its conjugates\n"));
  CHECK(has(inspect(p, "z", s), "of the magnitudes"));
  CHECK(has(inspect(p, "b", s), "mean 0.5"));
  CHECK(has(inspect(p, "array", s), "array: ndarray [2, 2] float64"));
  CHECK(has(inspect(p, "deep", s), "heat map of [0, 0, :, :]"));
  CHECK(inspect(p, "thing", s) == "thing: Thing\n  .size\n  .data: list\n");
  CHECK(inspect(p, "[1, 2]", s) == "[1, 2]: list of 2 items\n");
  CHECK(inspect(p, "7", s) == "7: int\n");
  CHECK(has(inspect(p, "nn.Linear(2, 1)", s), "3 parameters"));
}

TEST_CASE("a graph as a tree: names of leaves and results, one place for a shared node") {
  Program p(R"(
model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
x = torch.ones(4, 3)
h = model(x)
loss = (h * h).mean()
lost = (torch.ones(2, requires_grad=True) * 2).sum()
)");
  CHECK(graph_text(*p.in, p["loss"], "loss", style(80)) ==
        "MeanBackward0 -> loss []\n"
        "MulBackward0\n"
        "├─ TanhBackward0 -> h [4, 2] #1\n"
        "│  AddmmBackward0\n"
        "│  ├─ model.0.bias [2]\n"
        "│  └─ model.0.weight [2, 3]\n"
        "└─ TanhBackward0 -> h [4, 2] see #1\n"
        "6 nodes\n");
  Style plain = style(80);
  plain.unicode = false;
  CHECK(has(graph_text(*p.in, p["h"], "h", plain), "AddmmBackward0\n+- model.0.bias [2]\n+- model.0.weight [2, 3]\n"));
  CHECK(has(graph_text(*p.in, p["lost"], "lost", style(80)), "└─ a leaf without a name [2]\n"));
  CHECK(graph_text(*p.in, p["x"], "x", style(80)) == "x requires no gradient: there is no graph behind it\n");
  CHECK(graph_text(*p.in, p["model"], "model", style(80)) == "model is no tensor but Sequential\n");
  p.run("loss.backward()\n");
  CHECK(has(graph_text(*p.in, p["loss"], "loss", style(80)), "MulBackward0 (freed)\n"));
}

TEST_CASE("a graph for Graphviz") {
  Program p("w = torch.ones(2, requires_grad=True)\ny = w * 2\n");
  CHECK(graph_dot(*p.in, p["y"], "y") ==
        "digraph \"y\" {\n"
        "  rankdir=BT;\n"
        "  node [fontname=\"sans-serif\", shape=box];\n"
        "  n0 [label=\"MulBackward0\\ny\\n[2]\"];\n"
        "  n1 [label=\"w\\n[2]\", style=filled, fillcolor=lightblue];\n"
        "  n1 -> n0;\n"
        "}\n");
}

TEST_CASE("a graph of a million nodes is counted, and little of it shown") {
  Program p(R"(
w = torch.ones(1, requires_grad=True)
y = w
for i in range(300000):
    y = y + w
)");
  const auto start = std::chrono::steady_clock::now();
  const std::string text = graph_text(*p.in, p["y"], "y", style(80));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(has(text, "300,001 nodes\n"));
  CHECK(text.size() < 30000);
  CHECK(took.count() < 5);
  CHECK(graph_dot(*p.in, p["y"], "y").size() < 2'000'000);
  CHECK(has(graph_dot(*p.in, p["y"], "y"), "290001 more nodes are left out"));
}

TEST_CASE("a model's layers, what is frozen and what is shared") {
  Program p(R"(
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Embedding(10, 4), nn.BatchNorm1d(4))
        self.again = self.body
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.body[0].weight
        self.out = nn.Linear(2, 3)
        self.scale = nn.Parameter(torch.ones(2, 2))
net = Net()
net.out.weight.requires_grad = False
)");
  CHECK(
      model_text(*p.in, p["net"], "net", style(120)) ==
      "layer     type         shapes                                             parameters  bytes  trainable  notes\n"
      "net       Net          scale [2, 2]                                                4   16 B  yes\n"
      "├─ body   Sequential\n"
      "│  ├─ 0   Embedding    weight [10, 4]                                             40  160 B  yes\n"
      "│  └─ 1   BatchNorm1d  weight [4], bias…_var [4], num_batches_tracked []           8   72 B  yes\n"
      "├─ again  Sequential                                                                                    is body\n"
      "├─ head   Linear       weight [10, 4]                                                                   is body.0.weight\n"
      "└─ out    Linear       weight [3, 2], bias [3]                                     9   36 B  3 of them\n"
      "61 parameters (244 B), 55 trainable, buffers 40 B\n");
  const ModelSummary summary = summarize_model(*p.in, p["net"]);
  CHECK(summary.parameters == 40 + 8 + 9 + 4);
  CHECK(summary.trainable == 40 + 8 + 3 + 4);
  CHECK(summary.parameter_bytes == 4 * 61);
  CHECK(summary.buffer_bytes == 16 + 16 + 8);
  CHECK(model_text(*p.in, p["torch"], "torch", style(80)) == "torch is no layer but module\n");
}

TEST_CASE("a PNG is shown by what the terminal can, and read as it was written") {
  tessera::stdlib::Picture picture;
  picture.width = 20, picture.height = 11;
  for (uint8_t i = 0; i < 220; ++i) picture.pixels.push_back({i, uint8_t(255 - i), uint8_t(i * 7)});
  const std::string png = tessera::stdlib::write_png(picture);
  tessera::stdlib::Picture again;
  REQUIRE(tessera::stdlib::read_png(png, again));
  CHECK(again.width == 20);
  CHECK(again.height == 11);
  CHECK(again.pixels == picture.pixels);
  for (size_t size = 0; size < png.size(); ++size) {
    CHECK(!tessera::stdlib::read_png(std::string_view(png).substr(0, size), again) == (size < png.size() - 12));
  }
  Style s = style(80);
  CHECK(png_text(png, s) == "");
  s.colours = Style::Colours::k256;
  CHECK(png_text(png, s).starts_with("\x1b[38;5;"));
  CHECK(png_text("GIF89a", s) == "");
  s.images = Style::Images::kSixel;
  CHECK(png_text(png, s).starts_with("\x1bP"));
  s.images = Style::Images::kKitty;
  CHECK(png_text(png, s).starts_with("\x1b_G"));
}

TEST_CASE("names that a script made up give a terminal no orders") {
  Program p(R"(
import torch
wild = 'a\x1b[2Jb\u202ec\x9bd\x7f'
Wild = type(wild, (torch.nn.Module,), {})
globals()[wild] = torch.ones(2)
by_name = {wild: torch.ones(2, requires_grad=True)}
y = by_name[wild].exp()
model = Wild()
model.add_module(wild, torch.nn.Linear(1, 1))
class Odd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g
Odd.__name__ = wild
thing = type(wild, (), {})()
setattr(thing, wild, thing)
)");
  const char* wild = "a\x1b[2Jb\u202ec\u009bd\x7f";
  std::string all = tensors_text(p.look(), style(100)) + changes_text(p.look(), p.look(), style(100));
  for (const char* name : {"y", "model", "thing"}) {
    all += inspect_text(*p.in, p[name], wild, style(100)) + graph_text(*p.in, p[name], wild, style(100));
    all += model_text(*p.in, p[name], wild, style(100));
  }
  CHECK(has(all, "a?[2Jb?c?d?"));
  for (const char* order : {"\x1b", "\u202e", "\u009b", "\x7f"}) CHECK(!has(all, order));
}
