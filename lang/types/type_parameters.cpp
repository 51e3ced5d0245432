// compile: small (runs once for an annotation)
#include "lang/types/type_parameters.h"

#include <string>
#include <vector>

#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {
namespace {

Value asked(Interpreter& in, const Value& v, const char* name) {
  return v.is_object() ? find_attr(in, v, intern(in, name)) : Value();
}

void add_once(std::vector<Value>& found, const Value& v) {
  for (const Value& each : found) {
    if (each.is(v)) return;
  }
  found.push_back(v);
}

// (int, *tuple[str, float]) is (int, str, float); *tuple[int, ...] stays.
Value unpack_arguments(Interpreter& in, const Value& items) {
  std::vector<Value> flat;
  const Value given = is_tuple(items) ? items : make_tuple(in, {items});
  for (const Value& item : *as_tuple(given)) {
    const Value inner = is_type(item) ? Value() : asked(in, item, "__typing_unpacked_tuple_args__");
    const bool endless = is_tuple(inner) && as_tuple(inner)->size != 0 &&
                         as_tuple(inner)->items[as_tuple(inner)->size - 1].is(in.ellipsis);
    if (!is_tuple(inner) || endless) flat.push_back(item);
    else flat.insert(flat.end(), as_tuple(inner)->begin(), as_tuple(inner)->end());
  }
  return make_tuple(in, flat.data(), flat.size());
}

class Substitution {
 public:
  Substitution(Interpreter& in, const Value& parameters, const Value& items) : in_(in), parameters_(parameters), items_(items) {}

  Value in_place_of(const Value& parameter) const {
    for (uint32_t i = 0; i < as_tuple(parameters_)->size; ++i) {
      if (as_tuple(parameters_)->items[i].is(parameter)) return as_tuple(items_)->items[i];
    }
    return parameter;
  }

  // An argument that has parameters of its own: dict[str, T] in list[dict[str, T]].
  Value nested(const Value& arg) const {
    const Value inner = asked(in_, arg, "__parameters__");
    if (!is_tuple(inner) || as_tuple(inner)->size == 0) return arg;
    std::vector<Value> items;
    for (const Value& parameter : *as_tuple(inner)) {
      const Value item = in_place_of(parameter);
      const bool many = is_tuple(item) && is_truthy(asked(in_, parameter, "__typing_is_variadic__"));
      if (many) items.insert(items.end(), as_tuple(item)->begin(), as_tuple(item)->end());
      else items.push_back(item);
    }
    return get_item(in_, arg, make_tuple(in_, items.data(), items.size()));
  }

  bool is_truthy(const Value& v) const { return !v.is_undefined() && truth(in_, v); }

 private:
  Interpreter& in_;
  const Value &parameters_, &items_;
};

}  // namespace

Value type_parameters(Interpreter& in, const Value& args) {
  std::vector<Value> found;
  for (const Value& arg : *as_tuple(args)) {
    if (is_type(arg)) continue;
    if (!asked(in, arg, "__typing_subst__").is_undefined()) {
      add_once(found, arg);
      continue;
    }
    const Value inner = asked(in, arg, "__parameters__");
    if (!is_tuple(inner)) continue;
    for (const Value& parameter : *as_tuple(inner)) add_once(found, parameter);
  }
  return make_tuple(in, found.data(), found.size());
}

Value substitute_parameters(Interpreter& in, const Value& alias, const Value& args, const Value& parameters,
                            const Value& items) {
  in.vm().check_native_stack();
  const uint32_t wanted = as_tuple(parameters)->size;
  if (wanted == 0) throw_error(ErrorKind::TypeError, "%s is not a generic class", repr_text(in, alias).c_str());
  Value given = unpack_arguments(in, items);
  for (const Value& parameter : *as_tuple(parameters)) {
    const Value prepare = asked(in, parameter, "__typing_prepare_subst__");
    if (prepare.is_undefined() || prepare.is_none()) continue;
    given = call(in, prepare, {alias, given});
    if (!is_tuple(given)) given = make_tuple(in, {given});
  }
  const uint32_t count = as_tuple(given)->size;
  if (count != wanted) {
    throw_error(ErrorKind::TypeError, "Too %s arguments for %s; actual %u, expected %u", count > wanted ? "many" : "few",
                repr_text(in, alias).c_str(), count, wanted);
  }
  const Substitution substitution(in, parameters, given);
  std::vector<Value> made;
  for (const Value& arg : *as_tuple(args)) {
    if (is_type(arg)) {
      made.push_back(arg);
      continue;
    }
    const bool unpacks = substitution.is_truthy(asked(in, arg, "__typing_is_unpacked_typevartuple__"));
    const Value substitute = asked(in, arg, "__typing_subst__");
    const Value now = substitute.is_undefined() ? substitution.nested(arg) : call(in, substitute, {substitution.in_place_of(arg)});
    if (unpacks && is_tuple(now)) made.insert(made.end(), as_tuple(now)->begin(), as_tuple(now)->end());
    else made.push_back(now);
  }
  return make_tuple(in, made.data(), made.size());
}

}  // namespace tessera::lang
