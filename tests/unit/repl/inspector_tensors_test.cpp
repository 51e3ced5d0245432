// What lives is found under the names that lead to it, its numbers are right, and looking changes nothing.
#include <chrono>
#include <cmath>

#include "repl/inspector/tensors_text.h"
#include "repl/inspector/text_parts.h"
#include "runtime/random.h"
#include "tests/unit/repl/inspected.h"
#include "tests/unit/runtime/fake_device.h"

using namespace tessera::repl;
using inspected::names;
using inspected::Program;
using inspected::row;
using inspected::style;

TEST_CASE("a tensor is found by the shortest way that a script has to it") {
  Program p(R"(
from collections import OrderedDict, deque, namedtuple
x = torch.ones(2)
xs = [torch.zeros(3), (torch.zeros(4), x)]
by_name = {'a': torch.zeros(1), 7: torch.zeros(1), (1, 'b'): torch.zeros(1), "it's": torch.zeros(1), 0.5: torch.zeros(1), len: torch.zeros(1)}
pair = namedtuple('pair', 'left right')(torch.zeros(2), 5)
some = {torch.zeros(2)}
class Keeper:
    shared = [torch.zeros(9)]
    def __init__(self):
        self.kept = torch.zeros(1)
        self.deeper = OrderedDict(first=[torch.zeros(2)])
keeper = Keeper()
replay = deque([(torch.zeros(1), 0.5)], maxlen=3)
again = x
number = 3
)");
  CHECK(names(p.look()) ==
        "x xs[0] xs[1][0] by_name['a'] by_name[7] by_name[(1, 'b')] by_name['it\\'s'] by_name[0.5] "
        "list(by_name.values())[5] pair.left list(some)[0] "
        "Keeper.shared[0] keeper.kept keeper.deeper['first'][0] replay[0][0] again");
  CHECK(row(p.look(), "again").is_same);
  CHECK(row(p.look(), "again").shares == "x");
}

TEST_CASE("layers have the names of their state dict, optimizers their state, gradients stand beside the value") {
  Program p(R"(
first = nn.Linear(3, 2)
model = nn.Sequential(first, nn.BatchNorm1d(2), nn.Linear(2, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
class Trainer:
    pass
trainer = Trainer()
trainer.optimizer, trainer.model, trainer.head = optimizer, model, nn.Linear(1, 1)
loss = model(torch.ones(4, 3)).sum()
loss.backward()
optimizer.step()
)");
  const LiveTensors live = p.look();
  CHECK(names(live) ==
        "model.0.weight model.0.weight.grad model.0.bias model.0.bias.grad model.1.weight model.1.weight.grad "
        "model.1.bias model.1.bias.grad model.1.running_mean model.1.running_var model.1.num_batches_tracked "
        "model.2.weight model.2.weight.grad "
        "optimizer.state[model.0.weight]['momentum_buffer'] optimizer.state[model.0.bias]['momentum_buffer'] "
        "optimizer.state[model.1.weight]['momentum_buffer'] optimizer.state[model.1.bias]['momentum_buffer'] "
        "optimizer.state[model.2.weight]['momentum_buffer'] "
        "trainer.head.weight trainer.head.bias loss");
  CHECK(row(live, "model.0.weight").type == "Parameter");
  CHECK(row(live, "model.0.weight").requires_grad);
  CHECK(row(live, "model.0.weight").grad_fn == "");
  CHECK(row(live, "loss").grad_fn == "SumBackward0");
  CHECK(row(live, "model.0.weight.grad").shape == "[2, 3]");
}

TEST_CASE("results of blocks come last, and only those that no name holds") {
  Program p(R"(
_1 = torch.ones(2)
Out = _oh = {1: _1, 2: torch.zeros(3)}
_ = _2 = Out[2]
__ = _1
x = _1
)");
  CHECK(names(p.look()) == "Out[2] x");
}

TEST_CASE("rings, depths and great numbers end") {
  Program p(R"(
ring = [torch.ones(1)]
ring.append(ring)
deep = torch.ones(2)
for i in range(10000):
    deep = [deep]
many = [torch.ones(1) for i in range(3000)]
words = [str(i) for i in range(3000000)]
last = [[torch.ones(1)]]
)");
  const LiveTensors live = p.look();
  CHECK(live.rows.size() == 1002);
  CHECK(live.rows.back().name == "last[0][0]");
  CHECK(live.more == 2000);
  CHECK(live.gave_up);
}

TEST_CASE("bytes and totals are exact, shared memory counts once") {
  Program p(R"(
import numpy as np
a = torch.arange(6, dtype=torch.float32).reshape(2, 3)
t = a.T
part = a[:, 1]
wide = torch.ones(1).expand(1000)
data = a.data
array = a.numpy()
empty = torch.zeros(0, 3)
h = torch.zeros(5, dtype=torch.float16)
m = torch.zeros(4, 4, device='meta')
m_rows, other_m = m[1:], torch.zeros(2, device='meta')
nothing = empty[:, 1:]
)");
  const LiveTensors live = p.look();
  CHECK(row(live, "a").bytes == 24);
  CHECK(row(live, "a").shares == "");
  for (const char* name : {"t", "part", "data", "array"}) CHECK(row(live, name).shares == "a");
  CHECK(!row(live, "t").contiguous);
  CHECK(row(live, "array").type == "ndarray");
  CHECK(row(live, "array").shape == "[2, 3]");
  CHECK(row(live, "wide").bytes == 4000);
  CHECK(row(live, "h").bytes == 10);
  CHECK(row(live, "empty").bytes == 0);
  CHECK(!row(live, "empty").statistics);
  CHECK(!row(live, "m").statistics);
  REQUIRE(live.totals.size() == 2);
  CHECK(live.totals[0].device == "cpu");
  CHECK(live.totals[0].tensors == 9);
  CHECK(live.totals[0].bytes == 24 + 4 + 10);
  CHECK(live.totals[1].device == "meta");
  CHECK(live.totals[1].tensors == 3);
  CHECK(live.totals[1].bytes == 64 + 8);
  CHECK(row(live, "m_rows").shares == "m");
  CHECK(row(live, "other_m").shares == "");
  CHECK(row(live, "nothing").shares == "empty");
  CHECK(row(live, "empty").shares == "");
}

TEST_CASE("statistics of every type and layout") {
  Program p(R"(
names = ['uint8', 'int8', 'int16', 'int32', 'int64', 'uint16', 'uint32', 'uint64', 'float16', 'bfloat16', 'float32', 'float64']
typed = {n: torch.tensor([[1, 2, 9], [4, 5, 3]]).to(getattr(torch, n)) for n in names}
turned = {n: t.T for n, t in typed.items()}
b = torch.tensor([True, False, True, True])
z = torch.tensor([3 + 4j, 0j])
one = torch.tensor(7.0)
same = torch.full((100003,), 0.1)
wide = torch.tensor([[1.0], [3.0]]).expand(2, 50)
far = torch.arange(100000, dtype=torch.float64) % 2 + 1e9
negative = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
)");
  const LiveTensors live = p.look();
  for (const TensorRow& each : live.rows) {
    if (!each.name.starts_with("typed") && !each.name.starts_with("turned")) continue;
    INFO(each.name);
    REQUIRE(each.statistics);
    CHECK(each.statistics->least == 1);
    CHECK(each.statistics->mean == 4);
    CHECK(each.statistics->largest == 9);
    CHECK(each.statistics->deviation == doctest::Approx(std::sqrt(8.0)));
  }
  CHECK(row(live, "b").statistics->mean == 0.75);
  CHECK(row(live, "z").statistics->largest == 5);
  CHECK(row(live, "z").statistics->magnitudes);
  CHECK(std::isnan(row(live, "one").statistics->deviation));
  CHECK(row(live, "same").statistics->mean == doctest::Approx(0.1f).epsilon(1e-12));
  CHECK(row(live, "same").statistics->deviation == 0);
  CHECK(row(live, "wide").statistics->deviation == doctest::Approx(1.0 / std::sqrt(0.99)));
  CHECK(row(live, "far").statistics->deviation == doctest::Approx(0.5).epsilon(1e-4));
  CHECK(row(live, "negative").statistics->least == -2);
  CHECK(row(live, "negative").statistics->largest == 4);
}

TEST_CASE("NaN and infinities are counted wherever they stand, and are in no mean") {
  Program p(R"(
x = torch.ones(10000)
x[::100] = float('nan')
x[1::1000] = float('inf')
x[9999] = -float('inf')
seen = x.expand(3, 10000)
none = torch.full((3,), float('nan'))
z = torch.tensor([complex(float('nan'), 1), complex(1, float('inf')), 3 + 4j])
)");
  const LiveTensors live = p.look();
  const Statistics x = *row(live, "x").statistics;
  CHECK(x.nans == 100);
  CHECK(x.infinities == 11);
  CHECK(x.least == 1);
  CHECK(x.mean == 1);
  CHECK(x.largest == 1);
  CHECK(row(live, "seen").statistics->nans == 300);
  CHECK(row(live, "none").statistics->nans == 3);
  CHECK(std::isnan(row(live, "none").statistics->mean));
  CHECK(row(live, "z").statistics->nans == 1);
  CHECK(row(live, "z").statistics->infinities == 1);
  CHECK(row(live, "z").statistics->mean == 5);
}

TEST_CASE("large tensors are sampled, in parts that lie evenly") {
  Program p("x = torch.arange(1000000.0)\nt = x.view(1000, 1000).T\n");
  LookFor look;
  look.elements_of_one = look.elements_of_sample = 100000;
  const LiveTensors live = live_tensors(*p.in, look);
  for (const char* name : {"x", "t"}) {
    const Statistics s = *row(live, name).statistics;
    CHECK(s.sampled);
    CHECK(s.least == 0);
    CHECK(s.mean == doctest::Approx(5e5).epsilon(0.1));
  }
}

TEST_CASE("looking changes nothing") {
  Program p(R"(
class Wary:
    asked = []
    def __getattr__(self, name):
        Wary.asked.append(name)
        raise AttributeError(name)
    @property
    def trap(self):
        Wary.asked.append('trap')
    def __repr__(self):
        Wary.asked.append('repr')
    def __iter__(self):
        Wary.asked.append('iter')
    def __len__(self):
        Wary.asked.append('len')
class Sly(list):
    def __getitem__(self, i):
        Wary.asked.append(i)
    def __iter__(self):
        Wary.asked.append('iter')
class Careful(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Wary.asked.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})
wary = Wary()
wary.t = torch.ones(3)
sly = Sly([torch.ones(2)])
careful = torch.Tensor._make_subclass(Careful, torch.ones(2))
Wary.asked.clear()
w = torch.ones(3, requires_grad=True)
base = torch.zeros(4)
view = base[1:3]
base[0:2] = torch.stack([w[0]] * 2)
y = (w * 2).sum()
torch.manual_seed(3)
)");
  auto& state = tessera::stdlib::torch_state(*p.in);
  const auto tensor = [&](const char* name) { return tessera::stdlib::tensor_of(p[name]); };
  const auto count = [&](const char* name) { return p[name].as_object()->refcount; };
  const uint32_t version = tensor("base").version(), objects = count("view");
  const auto* stale = tensor("view").impl()->autograd;
  {
    const LiveTensors live = p.look();
    CHECK(names(live) == "wary.t sly[0] careful w base view y");
    CHECK(row(live, "view").grad_fn == "AsStridedBackward0");
    CHECK(row(live, "base").grad_fn == "CopySlices");
    tensors_text(live, style(100));
    CHECK(tensor("view").impl()->autograd == stale);
  }
  CHECK(tensor("base").version() == version);
  CHECK(count("view") == objects);
  CHECK(state.context.grad_enabled);
  p.run("seen = list(Wary.asked)\nsame = torch.rand(1)\ntorch.manual_seed(3)\nagain = torch.rand(1)\n");
  CHECK(p["seen"].is_object());
  p.run("assert seen == [], seen\nassert torch.equal(same, again)\nassert y.grad_fn.name() == 'SumBackward0'\n");
}

TEST_CASE("what lies on a device is copied to be read, and counted there") {
  fake::Devices devices;
  Program p(R"(
x = torch.arange(6.0).reshape(2, 3)
there = x.to('cuda:0')
turned = there.T
other = torch.ones(4, device='cuda:1')
)");
  const LiveTensors live = p.look();
  CHECK(row(live, "there").device == "cuda:0");
  CHECK(row(live, "there").statistics->mean == 2.5);
  CHECK(row(live, "turned").statistics->largest == 5);
  CHECK(row(live, "turned").shares == "there");
  REQUIRE(live.totals.size() == 3);
  CHECK(live.totals[0].device == "cpu");
  CHECK(live.totals[1].device == "cuda:0");
  CHECK(live.totals[1].tensors == 2);
  CHECK(live.totals[2].bytes == 16);
  CHECK(tensors_text(live, style(100)).find("device") != std::string::npos);
  LookFor look;
  look.elements_of_copied = 3;
  look.elements_of_sample = 2;
  const LiveTensors part = live_tensors(*p.in, look);
  CHECK(row(part, "there").statistics->sampled);
  CHECK(row(part, "there").statistics->mean == 0.5);
  CHECK(!row(part, "turned").statistics);
  CHECK(!row(part, "x").statistics->sampled);
  CHECK(!devices.record().strangers);
}

TEST_CASE("without torch there is nothing, and no error") {
  auto in = tessera::stdlib::make_interpreter();
  in->run_interactive(*std::make_shared<tessera::lang::Source>(
      "In [1]", "x = [[1], {'a': (2,)}]\nclass C:\n  pass\nc = C()\nc.d = x\n"));
  CHECK(live_tensors(*in).rows.empty());
  CHECK(tensors_text(live_tensors(*in), style(80)) == "no tensors\n");
}

TEST_CASE("500 tensors are looked at in no time") {
  Program p("many = [torch.ones(100, 100) for i in range(500)]\n");
  const auto start = std::chrono::steady_clock::now();
  const LiveTensors live = p.look();
  const std::string text = tensors_text(live, style(120));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(live.rows.size() == 500);
  CHECK(took.count() < 1.0);
  MESSAGE("500 tensors of 10000 numbers: ", took.count() * 1000, " ms");
}

TEST_CASE("the table keeps to the width, and columns go in their order") {
  Program p(R"(
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x * 2
a_name_that_is_very_long_and_goes_on_for_many_columns = torch.tensor([1, 2, 3])
变量 = torch.tensor([float('nan'), 1.0])
)");
  const LiveTensors live = p.look();
  CHECK(
      tensors_text(live, style(140)) ==
      "name                                                   shape   dtype    bytes  grad          min  mean  max    std  notes\n"
      "a_name_that_is_very_long_and_goes_on_for_many_columns  [3]     int64     24 B                  1     2    3      1\n"
      "x                                                      [2, 2]  float32   16 B  leaf            1   2.5    4  1.291\n"
      "y                                                      [2, 2]  float32   16 B  MulBackward0    2     5    8  2.582\n"
      "变量                                                   [2]     float32    8 B                  1     1    1         1 nan\n"
      "cpu: 4 tensors, 64 B\n");
  for (unsigned columns = 27; columns < 200; ++columns) {
    const std::string text = tensors_text(live, style(columns));
    size_t at = 0;
    for (size_t end = text.find('\n'); end != text.npos; at = end + 1, end = text.find('\n', at)) {
      INFO(text.substr(at, end - at));
      CHECK(display_width(text.substr(at, end - at)) <= columns);
    }
  }
  const std::string narrow = tensors_text(live, style(60));
  CHECK(narrow.find("std") == narrow.npos);
  CHECK(narrow.find("1 nan") != narrow.npos);
  CHECK(narrow.find("shape") != narrow.npos);
}

TEST_CASE("sorted by size, chosen by name") {
  Program p("w10 = torch.ones(1)\nw2 = torch.ones(5)\nb = torch.ones(3)\n");
  const LiveTensors live = p.look();
  const auto order = [&](const char* arguments) { return tensors_text(live, style(80), table_choice(arguments)); };
  CHECK(order("").find("\nb ") < order("").find("\nw2 "));
  CHECK(order("").find("\nw2 ") < order("").find("\nw10 "));
  CHECK(order("size").find("\nw2 ") < order("size").find("\nb "));
  CHECK(order("w*").find("\nb ") == std::string::npos);
  CHECK(order("w?").find("\nw10 ") == std::string::npos);
  CHECK(order("q*") == "no tensor's name is like q*\ncpu: 3 tensors, 36 B\n");
}

TEST_CASE("changes are seen however they were made") {
  Program p(R"(
import numpy as np
kept, gone, written = torch.ones(3), torch.ones(3), torch.ones(3)
hidden = torch.ones(3)
array = np.zeros(3)
model = nn.Linear(2, 1)
)");
  LiveTensors before = p.look();
  before.forget_tensors();
  p.run(R"(
del gone
written += 1
hidden.data[1] = 5
array[2] = 1
model(torch.ones(1, 2)).sum().backward()
fresh = torch.zeros(2)
)");
  const std::string text = changes_text(before, p.look(), style(100));
  const auto mark = [&](const std::string& name) {
    const size_t at = text.find(" " + name + " ");
    REQUIRE(at != text.npos);
    return text[at - 2];
  };
  CHECK(mark("kept") == ' ');
  CHECK(mark("gone") == '-');
  CHECK(mark("written") == '*');
  CHECK(mark("hidden") == '*');
  CHECK(mark("array") == '*');
  CHECK(mark("model.weight") == ' ');
  CHECK(mark("model.weight.grad") == '+');
  CHECK(mark("fresh") == '+');
}

TEST_CASE("as JSON") {
  Program p("x = torch.tensor([1.0, 3.0])\nd = {'a\"b': torch.zeros(0)}\n");
  CHECK(
      to_json(p.look()) ==
      R"({"tensors": [{"name": "x", "type": "Tensor", "shape": [2], "dtype": "float32", "device": "cpu", "bytes": 8, )"
      R"("requires_grad": false, "contiguous": true, "grad_fn": "", "shares": "", "same": false, "statistics": )"
      R"({"min": 1, "mean": 2, "max": 3, "std": 1.4142135623730951, "nans": 0, "infinities": 0, "sampled": false, )"
      R"("magnitudes": false}}, {"name": "d['a\"b']", "type": "Tensor", "shape": [0], "dtype": "float32", )"
      R"("device": "cpu", "bytes": 0, "requires_grad": false, "contiguous": true, "grad_fn": "", "shares": "", )"
      R"("same": false, "statistics": null}], "totals": [{"device": "cpu", "tensors": 2, "bytes": 8}], "more": 0, )"
      R"("gave_up": false})");
}

TEST_CASE("numbers and bytes as a person reads them") {
  CHECK(number_text(0.0) == "0");
  CHECK(number_text(-0.0) == "0");
  CHECK(number_text(0.123456) == "0.1235");
  CHECK(number_text(-1234567) == "-1234567");
  CHECK(number_text(1e8) == "1e+08");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text(1024 * 1024 - 1) == "1.0 MiB");
  CHECK(count_text(-1234567) == "-1,234,567");
  CHECK(count_text(-123) == "-123");
  CHECK(shortened("abcdefgh", 5, style(80)) == "a…fgh");
  CHECK(shortened("变量变量", 5, style(80)) == "…量");
}
