// Every entry of the registry can be called from the language: its schema compiles, its defaults convert, and the names it
// is shown under find it.
#include "stdlib/torch/binder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "lang/core/bind.h"
#include "stdlib/standard.h"
#include "stdlib/torch/op_call.h"
#include "stdlib/torch/op_namespaces.h"

using namespace tessera::stdlib;

namespace {

struct Torch {
  std::unique_ptr<Interpreter> in = make_interpreter();
  Torch() { in->import("torch"); }
  TorchState& state() { return torch_state(*in); }
};

OpFunction function_of(const OpEntry& entry) { return {.name = entry.name, .entries = {&entry}}; }

}  // namespace

TEST_CASE("every schema becomes a binder, and its defaults are of their kinds") {
  Torch torch;
  for (const OpEntry* entry : all_ops()) {
    INFO(std::string(entry->schema_text));
    OpFunction function = function_of(*entry);
    function.is_functional = entry->has(kFunctional);
    const std::vector<Binder>* binders = nullptr;
    REQUIRE_NOTHROW(binders = &binders_of(*torch.in, function));
    const OpSchema& schema = entry->schema();
    // A second one where PyTorch takes a number in self's place.
    const CallForms forms = call_forms(entry->name);
    const bool reflected = number_rule(*entry, forms) == NumberRule::Listed && schema.args[0].name == "self" &&
                           schema.args[0].kind == ArgKind::Tensor && may_be_number(forms, "self");
    REQUIRE(binders->size() == (reflected ? 2 : 1));
    for (const Binder& binder : *binders) CHECK(binder.size() == schema.args.size());
    for (size_t i = 0; i < schema.args.size(); ++i) {
      const SchemaArg& arg = schema.args[i];
      if (!arg.has_default) continue;
      INFO(arg.name);
      const OpArg owned = default_value(arg);
      const Arg value = Arg::of(owned);
      if (value.is_none()) {
        CHECK((arg.optional || arg.default_text == "None"));
        continue;
      }
      switch (arg.kind) {
        case ArgKind::IntList: CHECK(value.kind() == Arg::Kind::Ints); break;
        case ArgKind::Int:
        case ArgKind::Bool:
        case ArgKind::Float:
        case ArgKind::Scalar: CHECK(value.is_number()); break;
        case ArgKind::String: CHECK(value.kind() == Arg::Kind::Text); break;
        case ArgKind::DType: CHECK(value.kind() == Arg::Kind::DType); break;
        default: FAIL("a default of a kind that has none");
      }
    }
  }
}

TEST_CASE("a call borrows its values, and a refusal leaves nothing behind") {
  Torch torch;
  Interpreter& in = *torch.in;
  OpFunction function = {.name = "sum", .entries = {}};
  for (const OpEntry* entry : find_op("sum")) function.entries.push_back(entry);
  const std::vector<Binder>& binders = binders_of(in, function);
  const Value x = wrap_tensor(in, Tensor::empty({2, 3}));
  const Value values[] = {x, Value::integer(1), Value::boolean(true)};
  const Args args{values, 3, nullptr};
  std::vector<bool> taken;
  for (const Binder& binder : binders) {
    BoundCall call;
    taken.push_back(binder.bind(in, torch.state(), args, call));
    if (!taken.back()) continue;
    CHECK(&call.args()[0].tensor() == &tensor_of(x));
    CHECK(call.args()[1].ints() == Ints({1}));
    CHECK(call.args()[2].number().to_bool());
    CHECK(call.args()[3].is_none());
  }
  CHECK(std::count(taken.begin(), taken.end(), true) == 1);
}

TEST_CASE("more integers than fit on the stack") {
  Torch torch;
  Scratch scratch;
  std::set<int64_t*> places;
  for (const size_t count : {10, 10, 3, 100, 3}) {
    int64_t* const list = scratch.ints(count);
    std::fill(list, list + count, int64_t(count));
    places.insert(list);
  }
  CHECK(places.size() == 5);
}

TEST_CASE("every shown entry is found under its name") {
  Torch torch;
  for (const char* module : {"torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft", ""}) {
    const Namespace& where = *find_namespace(module);
    const std::vector<std::string> names = names_in_namespace(where);
    for (const std::string& name : names) {
      const std::string full = std::string(module) + "." + name;
      INFO(full);
      CHECK_FALSE(find_in_namespace(*torch.in, where, name).is_undefined());
    }
    for (const OpEntry* entry : all_ops()) {
      if (!entry->has(where.flag)) continue;
      std::string name = entry->name;
      if (!where.prefix.empty() && name.starts_with(where.prefix)) name.erase(0, where.prefix.size());
      CHECK_MESSAGE(std::find(names.begin(), names.end(), name) != names.end(), name);
    }
  }
}

TEST_CASE("a function's doc has every form") {
  Torch torch;
  const Value max = find_in_namespace(*torch.in, *find_namespace("torch"), "max");
  const std::string doc = doc_of(static_cast<NativeFunction*>(max.as_object()));
  for (const OpEntry* entry : find_op("max")) {
    CHECK(doc.find(entry->schema_text) != doc.npos);
    CHECK(doc.find(entry->documentation()) != doc.npos);
  }
}
