// Where the resolver says that names live, and what it refuses.
#include "lang/compiler/resolve.h"

#include <doctest/doctest.h>

#include "lang/syntax/parse.h"

using namespace tessera::lang;

namespace {

struct Resolved {
  explicit Resolved(std::string_view text) : source("test", text), parsed(parse(source)) {
    REQUIRE(parsed);
    try {
      scopes = resolve(*parsed.tree);
    } catch (const CompileError& error) {
      message = error.message;
    }
  }

  const Symbol& in(size_t scope, std::string_view name) {
    const Symbol* found = scopes.all.at(scope)->find(parsed.tree->intern(name));
    REQUIRE(found != nullptr);
    return *found;
  }

  Source source;
  ParseResult parsed;
  Scopes scopes;
  std::string message;
};

std::string refusal(std::string_view text) { return Resolved(text).message; }

}  // namespace

TEST_CASE("parameters come first, in the order of the call") {
  Resolved r("def f(a, *args, k, **kw):\n  b = a\n");
  CHECK(r.in(1, "a").index == 0);
  CHECK(r.in(1, "k").index == 1);
  CHECK(r.in(1, "args").index == 2);
  CHECK(r.in(1, "kw").index == 3);
  CHECK(r.in(1, "b").index == 4);
  CHECK(r.in(1, "b").kind == VariableKind::Register);
}

TEST_CASE("a variable that an inner function uses is a cell there and free here") {
  Resolved r("def f():\n  x = 1\n  def g():\n    def h():\n      return x\n");
  CHECK(r.in(1, "x").kind == VariableKind::Cell);
  CHECK(r.in(3, "x").kind == VariableKind::Free);
  const Scope& g = *r.scopes.all[2];
  REQUIRE(g.captures.size() == 1);  // g hands it on
  CHECK(g.captures[0].from == Capture::From::Register);
  CHECK(r.scopes.all[3]->captures[0].from == Capture::From::Closure);
}

TEST_CASE("names of a class body are not seen by its functions") {
  Resolved r("class C:\n  x = 1\n  def f(self):\n    return x\n");
  CHECK(r.in(1, "x").kind == VariableKind::ClassName);
  CHECK(r.in(2, "x").kind == VariableKind::Global);
}

TEST_CASE("a comprehension has variables of its own in registers of its function") {
  Resolved r("def f(i):\n  a = [i for i in i]\n  return [a for j in i]\n");
  CHECK(r.in(1, "i").index == 0);
  CHECK(r.in(2, "i").kind == VariableKind::Register);
  CHECK(r.in(2, "i").index == 2);
  CHECK(r.in(3, "j").index == 2);  // the second one uses the register again
  CHECK(r.in(3, "a").index == r.in(1, "a").index);
}

TEST_CASE("a walrus in a comprehension binds in the function around it") {
  Resolved r("def f(d):\n  return [last := x for x in d]\n");
  CHECK(r.in(1, "last").bound);
  CHECK(r.in(2, "last").index == r.in(1, "last").index);
}

TEST_CASE("super() makes the class give a cell") {
  Resolved r("class C:\n  def f(self):\n    return super().f()\n");
  CHECK(r.scopes.all[1]->needs_class_cell);
  CHECK(r.in(2, "__class__").kind == VariableKind::Free);
}

TEST_CASE("private names carry their class") {
  Resolved r("class _C:\n  def f(self, __x):\n    return __x\n");
  CHECK(r.scopes.all[2]->find(r.parsed.tree->intern("_C__x")) != nullptr);
}

TEST_CASE("more locals than near registers stand far") {
  std::string text = "def f():\n";
  for (int i = 0; i < 400; ++i) text += "  v" + std::to_string(i) + " = 1\n";
  Resolved r(text);
  CHECK(r.in(1, "v0").kind == VariableKind::Register);
  CHECK(r.in(1, "v399").kind == VariableKind::FarRegister);
  CHECK(r.scopes.all[1]->register_count <= 200);
}

TEST_CASE("declarations that contradict each other") {
  CHECK(refusal("def f(x):\n  global x\n") == "name 'x' is parameter and global");
  CHECK(refusal("def f():\n  x = 1\n  global x\n") == "name 'x' is assigned to before global declaration");
  CHECK(refusal("def f():\n  print(x)\n  global x\n") == "name 'x' is used prior to global declaration");
  CHECK(refusal("def f():\n  nonlocal x\n") == "no binding for nonlocal 'x' found");
  CHECK(refusal("def f():\n  global x\n  nonlocal x\n") == "name 'x' is nonlocal and global");
  CHECK(refusal("[i := 0 for i in x]\n") == "assignment expression cannot rebind comprehension iteration variable 'i'");
}
