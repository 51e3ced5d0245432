// The method resolution order of classes (C3, or a metaclass's own mro()), and what a new __bases__ changes.
// compile: small (runs once for a class)
#include <algorithm>

#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

namespace {

std::string text(const Str* s) { return std::string(s->view()); }
Value as_value(Object* object) { return Value(object); }

[[noreturn]] void no_order(const std::vector<Type*>& bases) {
  std::string names;
  for (const Type* base : bases) names += (names.empty() ? "" : ", ") + text(base->name);
  throw_error(ErrorKind::TypeError, "Cannot create a consistent method resolution\norder (MRO) for bases %s",
              names.c_str());
}

}  // namespace

// C3: merges the orders of the bases, then the bases themselves.
std::vector<Type*> linearize(Interpreter&, Type* type) {
  std::vector<std::vector<Type*>> lists;
  for (Type* base : type->bases) lists.push_back(base->mro);
  lists.push_back(type->bases);
  std::vector<size_t> heads(lists.size(), 0);
  std::vector<Type*> order{type};
  auto in_a_tail = [&](Type* candidate) {
    for (size_t i = 0; i < lists.size(); ++i) {
      for (size_t j = heads[i] + 1; j < lists[i].size(); ++j) {
        if (lists[i][j] == candidate) return true;
      }
    }
    return false;
  };
  while (true) {
    Type* next = nullptr;
    bool empty = true;
    for (size_t i = 0; i < lists.size() && next == nullptr; ++i) {
      if (heads[i] == lists[i].size()) continue;
      empty = false;
      if (!in_a_tail(lists[i][heads[i]])) next = lists[i][heads[i]];
    }
    if (empty) return order;
    if (next == nullptr) no_order(type->bases);
    order.push_back(next);
    for (size_t i = 0; i < lists.size(); ++i) {
      if (heads[i] < lists[i].size() && lists[i][heads[i]] == next) ++heads[i];
    }
  }
}

// The answer of a metaclass's mro() may name classes that are no bases: the type holds them in `own_order`.
std::vector<Type*> resolution_order(Interpreter& in, Type* type) {
  type->set_own_order(nullptr);
  const Value& method = type_lookup(type->type, in.names->mro);
  if (type->type == in.types.type || method.is(type_lookup(in.types.type, in.names->mro))) return linearize(in, type);
  const Value answer = call_special(in, Value(method), as_value(type));
  const Value classes = list_from(in, answer);
  const Type* const layout = layout_base(type->bases);
  std::vector<Type*> order;
  for (const Value& each : *as_list(classes)) {
    if (!is_type(each))
      throw_error(ErrorKind::TypeError, "mro() returned a non-class ('%s')", std::string(type_name(in, each)).c_str());
    Type* const other = as_type(each);
    const bool fits = other == type || type->is_subtype_of(other) || other->instance_kind == ObjectKind::Instance ||
                      layout->is_subtype_of(other);
    if (!fits)
      throw_error(ErrorKind::TypeError, "mro() returned base with unsuitable layout ('%s')", text(other->name).c_str());
    order.push_back(other);
  }
  type->set_own_order(as_tuple(make_tuple(in, as_list(classes)->items, as_list(classes)->size)));
  return order;
}

// ---- type.__bases__ = bases ------------------------------------------------------------------------------------------

namespace {

// By the bases, not by the orders: a mro() that runs may be about to change those.
bool is_below(const Type* type, const Type* other) {
  std::vector<const Type*> seen{type};
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == other) return true;
    for (const Type* base : seen[i]->bases)
      if (std::find(seen.begin(), seen.end(), base) == seen.end()) seen.push_back(base);
  }
  return false;
}

std::vector<Type*> checked_bases(Interpreter& in, Type* type, const Value& bases) {
  const std::string name = text(type->name);
  if (!is_tuple(bases))
    throw_error(ErrorKind::TypeError, "can only assign tuple to %s.__bases__, not %s", name.c_str(),
                std::string(type_name(in, bases)).c_str());
  if (as_tuple(bases)->size == 0)
    throw_error(ErrorKind::TypeError, "can only assign non-empty tuple to %s.__bases__, not ()", name.c_str());
  std::vector<Type*> types;
  for (const Value& base : *as_tuple(bases)) {
    if (!is_type(base))
      throw_error(ErrorKind::TypeError, "%s.__bases__ must be tuple of classes, not '%s'", name.c_str(),
                  std::string(type_name(in, base)).c_str());
    if (as_type(base)->is_subtype_of(type) || is_below(as_type(base), type))
      throw_error(ErrorKind::TypeError, "a __bases__ item causes an inheritance cycle");
    if (as_type(base)->type_flags & kFinalType)
      throw_error(ErrorKind::TypeError, "type '%s' is not an acceptable base type",
                  text(as_type(base)->name).c_str());
    if (std::find(types.begin(), types.end(), as_type(base)) != types.end())
      throw_error(ErrorKind::TypeError, "duplicate base class %s", text(as_type(base)->name).c_str());
    types.push_back(as_type(base));
  }
  return types;
}

// The type and all below it, each once, bases before the classes below them.
void collect_below(Type* type, std::vector<Type*>& all) {
  std::erase(all, type);
  all.push_back(type);
  for (Type* sub : type->subclasses)
    if (sub != nullptr) collect_below(sub, all);
}

void link_bases(Type* type, std::vector<Type*> bases) {
  for (Type* base : bases) ++base->refcount;
  const std::vector<Type*> old = std::exchange(type->bases, std::move(bases));
  for (Type* base : old) base->remove_subclass(type);
  for (Type* base : type->bases) base->add_subclass(type);
  for (Type* base : old) const Value let_go = Value::adopt(base);
}

// The slots of a script class start as its base's; class.cpp's fill_slots puts the trampolines over them.
void renew_slots(Interpreter& in, Type* type) {
  const Type* const base = layout_base(type->bases);
  type->slots = base->slots;
  fill_slots(in, type);
  update_type_flags(in, type);
}

}  // namespace

void set_bases(Interpreter& in, Type* type, const Value& value) {
  const std::vector<Type*> wanted = checked_bases(in, type, value);
  const Type *const before = layout_base(type->bases), *const after = layout_base(wanted);
  if (before != after && !same_layout(before, after))
    throw_error(ErrorKind::TypeError, "__bases__ assignment: '%s' %s differs from '%s'", text(after->name).c_str(),
                layout_difference(before, after), text(before->name).c_str());
  const Value keep_old = Value(type);
  const std::vector<Type*> old = type->bases;
  std::vector<Value> held;
  for (Type* base : old) held.emplace_back(base);
  link_bases(type, wanted);
  std::vector<Type*> all;
  collect_below(type, all);
  std::vector<std::vector<Type*>> orders;
  for (Type* each : all) {
    held.emplace_back(each);
    if (each->own_order() != nullptr) held.emplace_back(each->own_order());
    orders.push_back(each->mro);
  }
  try {
    for (Type* each : all) each->mro = resolution_order(in, each);
  } catch (...) {
    for (size_t i = 0; i < all.size(); ++i) all[i]->mro = orders[i];
    link_bases(type, old);
    type_changed(in, type);
    throw;
  }
  type_changed(in, type);
  for (Type* each : all)
    if (each->type_flags & kScriptClass) renew_slots(in, each);
}

}  // namespace tessera::lang
