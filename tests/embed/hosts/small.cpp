// A host that compiles as C++17 and uses a bit of everything; status 0 when all was as it should be.
#include <tessera/tessera.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Counter {
  int count = 0;
  int add(int n) { return count += n; }
};

}  // namespace

int main() {
  if (tsr_version() >> 16 != TSR_VERSION_MAJOR) return 2;
  std::string printed;
  tessera::Options options;
  options.print = [&](std::string_view text) { printed += text; };
  options.step_limit = 1000000;
  tessera::Interpreter tsr(options);
  std::vector<float> data = {1, 2, 3, 4};
  tsr.set("x", tessera::Tensor::from_blob(data.data(), {2, 2}));
  tsr.def("scale(x: Tensor, k: float = 2.0) -> Tensor", "Multiply by k.",
          [](const tessera::Tensor& x, double k) { return x * k; });
  Counter counter;
  const auto type = tsr.add_class<Counter>("Counter");
  tessera::Class<Counter>(type).method("add(self, n: int)", "", &Counter::add);
  tsr.set("counter", type.wrap(&counter));
  const double total = tsr.run("print('hello')\ncounter.add(3)\nx += 1\nscale(x, k=10).sum().item()\n").as<double>();
  tessera::ScriptError error;
  const bool ran = tsr.try_run("while True: pass", nullptr, &error);
  const bool good = printed == "hello\n" && counter.count == 3 && total == 140 && data[0] == 2 && !ran && error.is_limit();
  if (!good) std::printf("%s %d %g %g %s\n", printed.c_str(), counter.count, total, double(data[0]), error.what());
  return good ? 0 : 1;
}
