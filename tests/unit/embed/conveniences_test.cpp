// What a whole host wants besides: shared objects, tensors converted, errors looked into, values walked through.
#include <doctest/doctest.h>
#include <tessera/tessera.h>

#include <complex>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>
#include <variant>
#include <vector>

using namespace tessera;

namespace {

struct Account {
  explicit Account(double start) : balance(start) { ++alive; }
  Account(const Account& other) : balance(other.balance) { ++alive; }
  ~Account() { --alive; }
  double balance;
  inline static int alive = 0;
};

struct Vec {
  double x = 0, y = 0;
};

struct NotFound : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Busy : std::exception {
  const char* what() const noexcept override { return "busy"; }
};

std::string raised(Interpreter& tsr, const char* code) {
  ScriptError error;
  return tsr.try_run(code, nullptr, &error) ? "" : error.class_name() + ": " + error.message();
}

}  // namespace

TEST_CASE("embed: an object is shared between host and scripts") {
  std::shared_ptr<Account> kept;
  {
    Interpreter tsr;
    auto account = tsr.add_class<Account>("Account");
    account.init("__init__(self, start: float = 0.0)", [](double start) { return std::make_shared<Account>(start); });
    account.property("balance", "", &Account::balance);
    const auto mine = std::make_shared<Account>(5.0);
    tsr.set("mine", account.own(mine));
    tsr.set("same", mine);
    CHECK(mine.use_count() == 3);
    tsr.run("mine.balance += 2");
    CHECK(mine->balance == 7);
    CHECK(tsr.eval("mine == same and len({mine, same}) == 1 and mine != Account() and mine != 3").truth());
    tsr.def("keep(a: Account | None) -> Account", "", [&](std::shared_ptr<Account> a) { return kept = a; });
    CHECK(tsr.eval("keep(Account(9)).balance").as<double>() == 9);
    CHECK(tsr.eval("keep(mine) is not None").truth());
    CHECK(kept == mine);
    CHECK(tsr.eval("mine").as<std::shared_ptr<Account>>() == mine);
    Account lent(1);
    tsr.set("lent", account.wrap(&lent));
    CHECK(raised(tsr, "keep(lent)") == "TypeError: 'Account' object is not a shared one");
    CHECK(raised(tsr, "keep(3)").starts_with("TypeError"));
    tsr.run("kept = Account(4)\nkeep(kept)");
  }
  CHECK(kept->balance == 4);  // outlives the interpreter
  CHECK(kept.use_count() == 1);
  kept.reset();
  CHECK(Account::alive == 0);
}

TEST_CASE("embed: an object that a function answers by value is the script's own") {
  Interpreter tsr;
  auto vec = tsr.add_class<Vec>("Vec");
  vec.init("__init__(self, x: float, y: float)", [](double x, double y) { return std::make_unique<Vec>(Vec{x, y}); });
  vec.method("__add__(self, other: Vec) -> Vec", "", [](const Vec& a, const Vec& b) {
    return Vec{a.x + b.x, a.y + b.y};
  });
  vec.method("__repr__(self) -> str", "", [](const Vec& v) { return "Vec(" + std::to_string(int(v.x)) + ")"; });
  CHECK(tsr.eval("Vec(1, 2) + Vec(3, 4)").repr() == "Vec(4)");
  tsr.def("both() -> list", "", [] { return std::vector<Vec>{{1, 1}, {2, 2}}; });
  CHECK(tsr.eval("both()").repr() == "[Vec(1), Vec(2)]");
}

TEST_CASE("embed: tensors are converted, and their one element is had as what it is") {
  const Tensor x = Tensor::from_values(std::vector<float>{1.5f, -2.0f, 3.0f}, {3});
  CHECK(x.to(kFloat64).to_vector<double>() == std::vector<double>{1.5, -2, 3});
  CHECK(x.to(kInt32).to_vector<int32_t>() == std::vector<int32_t>{1, -2, 3});
  CHECK(x.to("cpu").data<float>() == x.data<float>());
  CHECK(x.to("cpu", kFloat64).dtype() == kFloat64);
  CHECK(x.device() == "cpu");
  CHECK_THROWS_WITH_AS(x.to("nowhere"), doctest::Contains("nowhere"), ScriptError);
  x.requires_grad_();
  op("sum", x.to(kFloat64) * 2.0).backward();
  CHECK(x.grad().to_vector<float>() == std::vector<float>{2, 2, 2});
  const Tensor plain = x.detach();
  CHECK(plain[1].item() == -2.0);
  CHECK(plain[1].item<int64_t>() == -2);
  CHECK(plain[2].item<uint8_t>() == 3);
  CHECK_THROWS_AS(plain[1].item<uint8_t>(), ScriptError);
  CHECK_THROWS_WITH_AS(plain[0].item<int>(), doctest::Contains("the element 1.5 is no whole number"), ScriptError);
  CHECK_THROWS_AS(plain.item(), ScriptError);
  CHECK(plain[0].item<bool>());
  const Tensor big = Tensor::from_values(std::vector<int64_t>{9007199254740993}, {1});
  CHECK(big.item<int64_t>() == 9007199254740993);  // no double is that
  CHECK_THROWS_AS(big.item<int>(), ScriptError);
  const Tensor z = Tensor::from_values(std::vector<std::complex<double>>{{3, 4}}, {});
  CHECK(z.item<std::complex<double>>() == std::complex<double>(3, 4));
  CHECK_THROWS_AS(z.item<double>(), ScriptError);
  CHECK(plain.reshape({3, 1}).sizes() == Ints{3, 1});
  CHECK(plain.clone().data<float>() != plain.data<float>());
}

TEST_CASE("embed: values are walked through, asked and called with what is known late") {
  Interpreter tsr;
  const Ref list = tsr.list(1, "two", 2.5, tsr.dict(arg("lr", 0.5), arg("steps", 3)));
  CHECK(list.repr() == "[1, 'two', 2.5, {'lr': 0.5, 'steps': 3}]");
  std::string seen;
  for (const Ref& item : list) seen += item.type_name() + " ";
  CHECK(seen == "int str float dict ");
  const Ref settings = list[3];
  std::map<std::string, double> found;
  for (const auto& [key, value] : settings.pairs()) found[key.as<std::string>()] = value.as<double>();
  CHECK(found == std::map<std::string, double>{{"lr", 0.5}, {"steps", 3}});
  CHECK(settings.contains("lr"));
  CHECK(settings.get("momentum", 0.9) == 0.9);
  CHECK(settings.get("steps", 1) == 3);
  settings.delete_item("lr");
  CHECK_FALSE(settings.contains("lr"));
  CHECK(settings.has_attribute("items"));
  CHECK_FALSE(settings.has_attribute("nothing"));
  CHECK(settings.is_instance(tsr.eval("dict")));
  CHECK(list[0].equals(tsr.eval("1.0")));
  const Ref f = tsr.run("def f(*a, **k): return (a, sorted(k.items()))\nf");
  CHECK(f.apply({list[0], list[1]}, {{"z", list[2]}, {"a", list[0]}}).repr() == "((1, 'two'), [('a', 1), ('z', 2.5)])");
  CHECK_THROWS_AS(for (const Ref& item : tsr.eval("5")) item.repr(), ScriptError);
}

TEST_CASE("embed: variants, sets and bytes cross the border") {
  using Any = std::variant<std::monostate, bool, int, double, std::string, std::vector<int>>;
  Interpreter tsr;
  const char* const code[] = {"None", "True", "3", "3.0", "'x'", "[1, 2]"};
  for (size_t i = 0; i < 6; ++i) CHECK(tsr.eval(code[i]).as<Any>().index() == i);
  CHECK(tsr.make(Any(std::vector<int>{4})).repr() == "[4]");
  CHECK(tsr.make(std::vector<std::variant<int, std::string>>{1, "a"}).repr() == "[1, 'a']");
  CHECK(std::get<double>(tsr.eval("7").as<std::variant<double, std::string>>()) == 7.0);
  CHECK_THROWS_WITH_AS((tsr.eval("{}").as<std::variant<int, std::string>>()), "TypeError: expected int | str, got dict",
                       ScriptError);
  CHECK(tsr.eval("{1, 2}").as<std::unordered_set<int>>().size() == 2);
  const auto bytes = tsr.eval("b'a\\x00b'").as<std::vector<std::byte>>();
  CHECK(bytes.size() == 3);
  CHECK(tsr.make(bytes).repr() == "b'a\\x00b'");
}

TEST_CASE("embed: an error tells its class's bases, its notes and its lines, and is had itself") {
  Interpreter tsr;
  ScriptError error;
  CHECK_FALSE(
      tsr.try_run("class Mine(KeyError):\n    code = 7\ndef inner():\n    e = Mine('k')\n"
                  "    e.add_note('try another')\n    raise e\ndef outer(): inner()\nouter()\n",
                  nullptr, &error));
  CHECK(error.is("Mine"));
  CHECK(error.is("LookupError"));
  CHECK_FALSE(error.is("ValueError"));
  CHECK(error.notes() == std::vector<std::string>{"try another"});
  const std::vector<ScriptError::Line> lines = error.lines();
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].function == "<module>");
  CHECK(lines[0].line == 8);
  CHECK(lines[2].function == "inner");
  CHECK(lines[2].line == 6);
  CHECK(lines[2].file == "<host>");
  CHECK(tsr.exception(error).attribute("code").as<int>() == 7);
  ScriptError later;
  CHECK_FALSE(tsr.try_run("1 / 0", nullptr, &later));
  CHECK(tsr.exception(error).is_none());
  CHECK(tsr.exception(later).type_name() == "ZeroDivisionError");
  try {
    matmul(Tensor::zeros({2, 3}), Tensor::zeros({2, 3}));
  } catch (const ScriptError& shapes) {
    CHECK(shapes.is("RuntimeError"));
    CHECK(shapes.is("Exception"));
  }
}

TEST_CASE("embed: the host's exceptions become the classes that it chose") {
  Interpreter tsr;
  tsr.run("class Taken(OSError): pass");
  tsr.module("shop").ref();
  tsr.run("import shop\nclass E(Exception): pass\nshop.Closed = E");
  tsr.raise_as<std::runtime_error>("RuntimeError");
  tsr.raise_as<NotFound>("KeyError");
  tsr.raise_as<Busy>("Taken");
  tsr.def("find()", "", [] { throw NotFound("no such row"); });
  tsr.def("other()", "", [] { throw std::runtime_error("other"); });
  tsr.def("take()", "", [] { throw Busy(); });
  tsr.def("shut()", "", [] { throw ScriptError("shop.Closed", "at night"); });
  tsr.def("mine()", "", [] { throw ScriptError("Taken", "by me"); });
  CHECK(raised(tsr, "find()") == "KeyError: 'no such row'");
  CHECK(raised(tsr, "other()") == "RuntimeError: other");
  CHECK(raised(tsr, "take()") == "Taken: busy");
  CHECK(raised(tsr, "shut()") == "E: at night");
  CHECK(tsr.run("try: mine()\nexcept OSError as e: s = str(e)\ns").as<std::string>() == "by me");
  Interpreter another;  // has rules of its own
  another.def("find()", "", [] { throw NotFound("no such row"); });
  CHECK(raised(another, "find()") == "RuntimeError: no such row");
}

TEST_CASE("embed: a host keeps data with an interpreter") {
  static int dropped = 0;
  static const char key = 0;
  int first = 1, second = 2;
  const auto drop = [](void*) { ++dropped; };
  {
    Interpreter tsr;
    CHECK(tsr_get_data(tsr.handle(), &key) == nullptr);
    tsr_set_data(tsr.handle(), &key, &first, drop);
    tsr_set_data(tsr.handle(), &key, &second, drop);
    CHECK(dropped == 1);
    CHECK(tsr_get_data(tsr.handle(), &key) == &second);
  }
  CHECK(dropped == 2);
}

TEST_CASE("embed: what cannot be is said plainly") {
  const auto message = [](auto&& f) {
    try {
      f();
    } catch (const ScriptError& error) {
      return error.what() + std::string();
    }
    return std::string();
  };
  float one = 0;
  CHECK(message([&] {
          Tensor::from_blob(&one, {2, -1}, kFloat32);
        }) == "UsageError: size -1 of dimension 1 is negative\n");
  CHECK(message([&] { Tensor::from_blob(&one, {INT64_MAX, 4}, kFloat32); }) == "UsageError: sizes beyond any memory\n");
  CHECK(message([&] { Tensor::from_blob(static_cast<float*>(nullptr), {2}, kFloat32); }) ==
        "UsageError: memory that is NULL\n");
  CHECK(Tensor::from_blob(static_cast<float*>(nullptr), {0}, kFloat32).numel() == 0);
  CHECK(message([&] { Tensor::zeros({-3}); }) == "UsageError: size -3 of dimension 0 is negative\n");
  Interpreter tsr;
  tsr_value items[1] = {tsr_none()}, made = tsr_none();
  tsr_error* error = nullptr;
  CHECK_FALSE(tsr_list(tsr.handle(), items, SIZE_MAX, &made, &error));
  CHECK(std::strcmp(tsr_error_message(error), "a list of 18446744073709551615 items") == 0);
  CHECK(tsr_error_get_kind(error) == TSR_ERROR_USAGE);
  tsr_error_free(error);
}

TEST_CASE("embed: a MemoryError says what was wanted and whose the limit is") {
  Options options;
  options.memory_limit = 8 << 20;
  Interpreter tsr(options);
  ScriptError error;
  CHECK_FALSE(tsr.try_run("[0] * 10**8", nullptr, &error));
  CHECK(error.class_name() == "MemoryError");
  CHECK(error.message().find("tried to allocate 1600000000 bytes") == 0);
  CHECK(error.traceback().find("memory_limit = 8388608 bytes") != std::string::npos);
  CHECK_FALSE(tsr.try_run("kept = []\nwhile True: kept.append([0])", nullptr, &error));
  CHECK(error.message().find("bytes") != std::string::npos);
  tsr.clear();
  tsr.run("import torch");
  CHECK_FALSE(tsr.try_run("torch.zeros(10**8)", nullptr, &error));
  CHECK(error.traceback().find("memory_limit = 8388608 bytes") != std::string::npos);
  options.memory_limit = 1;
  std::string told;
  try {
    Interpreter small(options);
    small.run("x = list(range(100000))");
  } catch (const ScriptError& refused) {
    CHECK(refused.is("MemoryError"));
    told = refused.what();
  }
  CHECK(told.find("memory_limit = 1 bytes") != std::string::npos);
}

TEST_CASE("embed: a task or an interpreter that is misused says so") {
  Interpreter tsr;
  const auto usage = [](auto&& f) {
    try {
      f();
    } catch (const ScriptError& error) {
      CHECK(error.kind() == TSR_ERROR_USAGE);
      return error.message();
    }
    return std::string();
  };
  Task done(tsr.compile("1"));
  CHECK(done.run_for(1.0));
  CHECK(usage([&] { done.run_for(1.0); }) == "the task has ended");
  const Program endless = tsr.compile("while True: pass");
  Task below(endless);
  CHECK_FALSE(below.run_for(0.001));
  {
    Task above(endless);
    CHECK_FALSE(above.run_for(0.001));
    CHECK(usage([&] { below.run_for(0.001); }) == "a task that was begun later has to end first");
  }
  std::string again, elsewhere;
  Task* inner = nullptr;
  tsr.def("resume()", "", [&] { again = usage([&] { inner->run_for(0.001); }); });
  tsr.def("abroad()", "", [&] { std::thread([&] { elsewhere = usage([&] { tsr.eval("1"); }); }).join(); });
  Task calls(tsr.compile("resume()\nabroad()"));
  inner = &calls;
  CHECK(calls.run_for(10.0));
  CHECK(again == "the task is running");
  CHECK(elsewhere == "another thread runs the interpreter");
}
