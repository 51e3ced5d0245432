// What `def` refuses: signatures that the language would refuse, types that there are not, and what does not fit the function.
#include <doctest/doctest.h>
#include <tessera/tessera.h>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace tessera;

namespace {

template <class F>
std::string refused(Interpreter& tsr, const char* signature, F function) {
  try {
    tsr.def(signature, "", function);
  } catch (const ScriptError& error) {
    CHECK(error.kind() == TSR_ERROR_USAGE);
    CHECK(error.class_name() == "UsageError");
    return error.message();
  }
  return "";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct Planet {
  int moons = 0;
};
struct Star {};

}  // namespace

TEST_CASE("embed: a signature is read as the language reads def, and what is wrong is underlined") {
  Interpreter tsr;
  const auto two = [](const Ref&, const Ref&) {};
  CHECK(refused(tsr, "f(x, x)", two) ==
        "duplicate argument 'x' in function definition\n"
        "    f(x, x)\n"
        "         ^");
  CHECK(refused(tsr, "f(x=1, y)", two) ==
        "non-default argument follows default argument\n"
        "    f(x=1, y)\n"
        "           ^");
  CHECK(refused(tsr, "f(x, y): return 1", two) ==
        "a signature is what stands between 'def' and ':'\n"
        "    f(x, y): return 1\n"
        "           ^^^^^^^^^^");
  const char* const malformed[][2] = {
      {"f(x, y) -> int: pass", "a signature is what stands between 'def' and ':'"},
      {"def f(x, y)", "a signature is what stands between 'def' and ':'"},
      {"f(x, y) g", "a signature is what stands between 'def' and ':'"},
      {"f", "a signature names its parameters: f() or f(x)"},
      {"f(x, *)", "named arguments must follow bare *"},
      {"f(*, *, x)", "* argument may appear only once"},
      {"f(**x, y)", "arguments cannot follow var-keyword argument"},
      {"f(x, /, y, /)", "/ may appear only once"},
      {"f(/, x)", "at least one argument must precede /"},
      {"f(*x, /)", "/ must be ahead of *"},
      {"f(x, y", "'(' was never closed"},
      {"f(x y)", "invalid syntax"},
      {"f(1x, y)", "invalid decimal literal"},
      {"(x, y)", "invalid syntax"},
      {"f(x, class)", "invalid syntax"},
      {"f(x: int y)", "invalid syntax. Perhaps you forgot a comma?"},
      {"f(x: 3, y)", "an annotation is a type"},
      {"f(x: int + str, y)", "an annotation is a type"},
      {"f(x: Sheep, y)", "there is no type 'Sheep'"},
      {"f(x: int | Sheep, y)", "there is no type 'Sheep'"},
      {"f(x: list[Sheep], y)", "there is no type 'Sheep'"},
      {"f(x, y) -> Sheep", "there is no type 'Sheep'"},
      {"f(x: torch.Tensor, y)", "a type is named without its module"},
      {"f(x, y=z)", "a default is a literal"},
      {"f(x, y=g())", "a default is a literal"},
      {"f(x, y=[1, z])", "a default is a literal"},
      {"f(x, y: int = 'a')", "the default of 'y' is no int"},
      {"f(x, y: int = 2.5)", "the default of 'y' is no int"},
      {"f(x, y: str | int = 2.5)", "the default of 'y' is no str | int"},
      {"f(x, y: Tensor = 1)", "the default of 'y' is no Tensor"},
  };
  for (const auto& [signature, message] : malformed)
    CHECK_MESSAGE(first_line(refused(tsr, signature, two)) == std::string(message), std::string(signature));
  CHECK_FALSE(tsr.has("f"));
}

TEST_CASE("embed: defaults are what the language makes of them") {
  Interpreter tsr;
  tsr.def("f(a=-1.5e3, b='it\\'s \\x41', *, c=[1, (2, 'x')], d={'k': 0x1F}, e=1_000, g=2j, h=b'ab', i=None, j=True)",
          "",
          [](const std::vector<Ref>::value_type& a, const Ref& b, const Ref& c, const Ref& d, const Ref& e,
             const Ref& g, const Ref& h, const Ref& i, const Ref& j) {
            return a.repr() + b.repr() + c.repr() + d.repr() + e.repr() + g.repr() + h.repr() + i.repr() + j.repr();
          });
  CHECK(tsr.eval("f()").as<std::string>() == "-1500.0\"it's A\"[1, (2, 'x')]{'k': 31}10002jb'ab'NoneTrue");
  CHECK(tsr.eval("f(e=3)").as<std::string>().find("}32j") != std::string::npos);
}

TEST_CASE("embed: *args come as a tuple, **kwargs as a dict, and a mark makes keywords") {
  Interpreter tsr;
  tsr.def("total(*terms: float, scale: float = 1.0, **named: int) -> float", "",
          [](const std::vector<double>& terms, double scale, const std::map<std::string, int>& named) {
            double sum = 0;
            for (const double term : terms) sum += term;
            for (const auto& [name, value] : named) sum += value;
            return sum * scale;
          });
  CHECK(tsr.eval("total(1, 2, scale=2, a=3, b=4)").as<double>() == 20);
  CHECK(tsr.eval("total()").as<double>() == 0);
  CHECK(refused(tsr, "f(*terms)", [](int) {}) ==
        "the signature 'f(*terms)' lets tuple be given as 'terms', the host's function takes int");
  CHECK(refused(tsr, "f(**named)", [](double) {}) ==
        "the signature 'f(**named)' lets dict be given as 'named', the host's function takes float");
}

TEST_CASE("embed: a signature fits the function's types") {
  Interpreter tsr;
  tsr.add_class<Planet>("Planet");
  tsr.add_class<Star>("Star");
  CHECK(refused(tsr, "f() -> str", [] { return 1.5; }) ==
        "the signature 'f() -> str' promises str, the host's function answers float");
  CHECK(refused(tsr, "f(x: str)", [](double) {}) ==
        "the signature 'f(x: str)' lets str be given as 'x', the host's function takes float");
  CHECK(refused(tsr, "f(x: int = None)", [](int) {}) ==
        "the signature 'f(x: int = None)' lets None be given as 'x', the host's function takes int");
  CHECK(refused(tsr, "f(x='a')", [](double) {}) ==
        "the signature 'f(x='a')' lets str be given as 'x', the host's function takes float");
  CHECK(refused(tsr, "f() -> int", [] {}) ==
        "the signature 'f() -> int' promises int, the host's function answers None");
  CHECK(refused(tsr, "f() -> Star", [] { return Planet(); }) ==
        "the signature 'f() -> Star' promises Star, the host's function answers Planet");
  CHECK(refused(tsr, "f(p: Star)", [](const Planet&) {}) ==
        "the signature 'f(p: Star)' lets Star be given as 'p', the host's function takes Planet");
  CHECK(refused(tsr, "f(p: Planet | None)", [](const Planet&) {}) ==
        "the signature 'f(p: Planet | None)' lets None be given as 'p', the host's function takes Planet");
  CHECK(refused(tsr, "f(x: int)", [](int, int) {}) ==
        "the signature 'f(x: int)' names 1 parameters, the function has 2");
  CHECK(refused(tsr, "f(x: int | str) -> list", [](std::variant<int, std::string>) { return std::vector<int>(); }) ==
        "");
  CHECK(refused(tsr, "f(x: int | None = None) -> float | None",
                [](std::optional<int> x) { return x ? std::optional<double>(*x) : std::nullopt; }) == "");
  CHECK(refused(tsr, "f(p: Planet | None) -> Planet", [](const Planet* p) { return p ? *p : Planet(); }) == "");
  CHECK(refused(tsr, "f(x: Tensor, g: callable, s: Sequence[int]) -> object",
                [](const Tensor& x, const std::function<int(int)>&, const std::vector<int>&) { return x; }) == "");
  CHECK(refused(tsr, "f(x: 'Later') -> 'Later'", [](const Ref& x) { return x; }) == "");
  tsr.run("class Mine: pass");
  CHECK(refused(tsr, "f(x: Mine, e: LookupError, d: dtype)", [](const Ref&, const Ref&, const Ref&) {}) == "");
}

TEST_CASE("embed: methods, properties, classes and modules are held to the same") {
  Interpreter tsr;
  auto planet = tsr.add_class<Planet>("Planet");
  const auto message = [](auto&& f) {
    try {
      f();
    } catch (const ScriptError& error) {
      return error.message();
    }
    return std::string();
  };
  const auto count = [](const Planet& self) { return self.moons; };
  CHECK(message([&] { planet.method("count()", "", count); }) ==
        "the signature 'count()' names 0 parameters, the function has 1");
  CHECK(first_line(message([&] { planet.method("count(self=None)", "", [](const Ref&) {}); })) ==
        "a method's first parameter is self");
  CHECK(message([&] { planet.method("count(self) -> str", "", count); }) ==
        "the signature 'count(self) -> str' promises str, the host's function answers int");
  CHECK(first_line(message([&] { planet.method("count(self, self)", "", count); })) ==
        "duplicate argument 'self' in function definition");
  CHECK(message([&] { planet.init("__init__(self, n: str)", [](int n) { return Planet{n}; }); }) ==
        "the signature '__init__(self, n: str)' lets str be given as 'n', the host's function takes int");
  CHECK(message([&] { planet.property("two words", "", count); }) == "'two words' is no name for a property");
  CHECK(message([&] { tsr.add_class<Star>("My Star"); }) == "'My Star' is no name for a class");
  Module space = tsr.module("space");
  CHECK(first_line(message([&] { space.def("f(x, x)", "", [](int, int) {}); })) ==
        "duplicate argument 'x' in function definition");
  CHECK_FALSE(planet.type().has_attribute("count"));
}

TEST_CASE("embed: parameters may have names beyond ASCII") {
  Interpreter tsr;
  tsr.def("area(länge: int, é: int = 2) -> int", "", [](int length, int e) { return length * e; });
  CHECK(tsr.eval("area(3) + area(länge=4, é=5)").as<int>() == 26);
}
