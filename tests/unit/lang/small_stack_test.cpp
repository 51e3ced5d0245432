// Interpreters on threads with small stacks: programs run, and texts or calls that nest too deeply raise. Frames of a sanitized build are
// several times as large, so that such stacks hold none of its programs.
#if !defined(__SANITIZE_ADDRESS__)
#include <doctest/doctest.h>

#include <pthread.h>

#include <string>

#include "lang/core/error.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/objects/exception.h"
#include "lang/syntax/source.h"
#include "lang/types/str.h"

namespace tessera::lang {
namespace {

struct Run {
  std::string text;
  std::string printed, raised;
};

void* run(void* argument) {
  Run& run = *static_cast<Run*>(argument);
  Host host;
  host.write_out = [&](std::string_view text) { run.printed += text; };
  Interpreter in(std::move(host));
  try {
    in.run(*std::make_shared<Source>("text", run.text), "__main__");
  } catch (const Thrown& thrown) {
    run.raised = thrown.exception.as_object()->type->name->view();
  }
  return nullptr;
}

void run_with_stack(Run& wanted, size_t bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, run, &wanted) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_CASE("programs run and deep nesting raises on threads with small stacks") {
  for (const size_t kilobytes : {160, 192, 256, 512}) {
    CAPTURE(kilobytes);
    Run plain{"def f(n):\n  return n if n == 0 else f(n - 1)\nprint(f(200), sorted([3, 1, 2], key=lambda x: -x))\n", "", ""};
    run_with_stack(plain, kilobytes << 10);
    CHECK(plain.printed == "0 [3, 2, 1]\n");
    CHECK(plain.raised == "");
    Run signs{"x = " + std::string(100'000, '-') + "1", "", ""};
    run_with_stack(signs, kilobytes << 10);
    CHECK(signs.raised == "RecursionError");
    Run brackets{"x = " + std::string(90, '[') + "1" + std::string(90, ']'), "", ""};
    run_with_stack(brackets, kilobytes << 10);  // whichever it is, it ends
  }
}

}  // namespace
}  // namespace tessera::lang

#endif
