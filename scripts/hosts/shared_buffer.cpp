// A host that shares its own memory with a script: the script sees the buffer as a tensor and writes into it, and nothing
// is copied on the way.
#include <tessera/tessera.h>

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> heights = {1.0f, 2.0f, 4.0f, 8.0f, 16.0f, 32.0f};

  tessera::Interpreter tsr({.memory_limit = 256 << 20, .step_limit = 1'000'000, .print = [](std::string_view text) {
                              std::fwrite(text.data(), 1, text.size(), stdout);
                            }});
  tsr.def("scale(x: Tensor, k: float = 2.0) -> Tensor", "Multiply by k.",
          [](const tessera::Tensor& x, double k) { return x * k; });
  tsr.set("heights", tessera::Tensor::from_blob(heights.data(), {2, 3}, tessera::kFloat32));

  try {
    tsr.run(
        "print('the host gave', heights.shape)\n"
        "heights += 1                      # writes into the host's vector\n"
        "total = scale(heights, k=10).sum().item()\n");
    std::printf("first element: %g, total: %g\n", heights[0], tsr.get("total").as<double>());
    tsr.run("heights @ heights");
  } catch (const tessera::ScriptError& error) {
    std::printf("%s", error.traceback().c_str());
  }
  return heights[0] == 2.0f ? 0 : 1;
}
