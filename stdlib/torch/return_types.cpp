// compile: small (seldom in an inner loop)
#include "stdlib/torch/return_types.h"

#include <algorithm>

#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/core/protocol.h"
#include "lang/types/tuple.h"
#include "lang/types/dict.h"

namespace tessera::stdlib {
namespace {

Value field_getter(Interpreter&, const Args& args) {
  const auto index = reinterpret_cast<uintptr_t>(args.callee->data);
  return as_tuple(args[0])->items[index - 1];
}

Value repr_named(Interpreter& in, const Value& self) {
  const Tuple* tuple = as_tuple(self);
  Type* type = self.as_object()->type;
  const Value names = type_lookup(type, intern(in, "__match_args__"));
  if (!is_tuple(names) || as_tuple(names)->size != tuple->size) throw Error(ErrorKind::TypeError, "__match_args__ was replaced");
  std::string text = "torch.return_types." + std::string(type->name->view()) + "(\n";
  for (uint32_t i = 0; i < tuple->size; ++i) {
    text += std::string(object_cast<Str>(as_tuple(names)->items[i])->view()) + "=" + repr_text(in, tuple->items[i]);
    text += i + 1 < tuple->size ? ",\n" : ")";
  }
  return make_str(in, text);
}

// As of a structseq: one argument, with as many items as the op has results.
Value make_named(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 1) throw_error(ErrorKind::TypeError, "%s() takes one sequence", std::string(type->name->view()).c_str());
  const Value items = tuple_from(in, args[0]);
  const Tuple* const fields = object_cast<Tuple>(type_lookup(type, intern(in, "__match_args__")));
  if (as_tuple(items)->size != fields->size) {
    throw_error(ErrorKind::TypeError, "torch.return_types.%s() takes a %u-sequence (%u-sequence given)", std::string(type->name->view()).c_str(),
                fields->size, as_tuple(items)->size);
  }
  Tuple* const made = new_tuple(in, fields->size, type);
  const Value holder = Value::adopt(made);
  std::copy_n(as_tuple(items)->items, fields->size, made->items);
  return holder;
}

// `given`: of a call with out=, whose results have a type of their own.
Type* named_type_for(Interpreter& in, const OpEntry& entry, bool given) {
  TorchState& state = torch_state(in);
  const std::string wanted = std::string(entry.name) + (given ? "_out" : "");
  for (const auto& [name, type] : state.return_types)
    if (name == wanted) return type;
  NativeTypeSpec spec;
  spec.name = wanted;
  spec.module = "torch.return_types";
  spec.kind = ObjectKind::Tuple;
  spec.size = sizeof(Tuple);
  spec.base = in.types.tuple;
  Type* type = in.new_type(spec);
  type->make = make_named;
  type->slots.repr = repr_named;
  type->slots.str = repr_named;
  std::vector<Value> names;
  for (const SchemaArg& result : entry.schema().results) {
    names.push_back(make_str(in, result.name));
    // The place in the tuple travels as the pointer's value, one up so that it is never null.
    void* place = reinterpret_cast<void*>(names.size());
    const Value getter = in.new_function("get(self)", "", field_getter, place), none = Value::none();
    Str* const name = intern(in, result.name);
    dict_set_str(in, type->attributes(), name,
                 make_native_property(in, in.types.member_descriptor, type, name, getter, none, none, none));
  }
  dict_set_str(in, type->attributes(), intern(in, "__match_args__"), make_tuple(in, names.data(), names.size()));
  state.return_types.emplace_back(wanted, type);
  return type;
}

}  // namespace

Value wrap_results(Interpreter& in, const OpEntry& entry, const Results& results) {
  const auto& schema = entry.schema().results;
  const bool named = schema.size() == results.size() && !schema[0].name.empty();
  Tuple* tuple = new_tuple(in, results.size(), named ? named_type_for(in, entry, false) : nullptr);
  const Value holder = Value::adopt(tuple);
  for (size_t i = 0; i < results.size(); ++i) tuple->items[i] = wrap_result(in, results[i]);
  return holder;
}

Value wrap_given(Interpreter& in, const OpEntry& entry, const Value& out) {
  const auto& schema = entry.schema().results;
  if (!is_tuple(out) || schema.size() < 2 || schema.size() != as_tuple(out)->size || schema[0].name.empty()) return out;
  Tuple* tuple = new_tuple(in, schema.size(), named_type_for(in, entry, true));
  const Value holder = Value::adopt(tuple);
  for (size_t i = 0; i < schema.size(); ++i) tuple->items[i] = as_tuple(out)->items[i];
  return holder;
}

}  // namespace tessera::stdlib
