// Chains of pointwise ops on threads with small stacks. Frames of a sanitized build are several times as large, so that such stacks hold
// none of its programs.
#if !defined(__SANITIZE_ADDRESS__)
#include <doctest/doctest.h>
#include <tessera/tessera.h>

#include <string>

#include <pthread.h>

namespace tessera {
namespace {

// Natives call the script until the stack is full; every level runs a chain.
void* recurse(void* raised) {
  Interpreter tsr;
  tsr.run("import torch\nx = torch.ones(40000)\n"
          "def chain(n):\n"
          "    y = ((x * 2 + 1) * x).abs() + n\n"
          "    return float(y[0]) + float((x * 2 + n).sum()) + max([n], key=lambda k: chain(n + 1))");
  ScriptError error;
  if (!tsr.try_run("chain(0)", nullptr, &error)) *static_cast<std::string*>(raised) = error.class_name();
  return nullptr;
}

}  // namespace

TEST_CASE("embed: chains of pointwise ops need no more stack than single ops") {
  for (const size_t kilobytes : {208, 224, 256, 512}) {
    CAPTURE(kilobytes);
    std::string raised;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kilobytes << 10);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, &attributes, recurse, &raised) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    CHECK(raised == "RecursionError");
  }
}

}  // namespace tessera

#endif
