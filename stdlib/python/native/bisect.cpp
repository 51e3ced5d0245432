// bisect: places in a sorted sequence, found by halving.
#include <algorithm>

#include "lang/core/names.h"
#include "lang/objects/heap_type.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/sequence.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

enum class Side { Left, Right };

// The item of a plain list or tuple; null if the sequence is of another type, or has shrunk meanwhile.
const Value* plain_item_at(Interpreter& in, const Value& sequence, int64_t at) {
  if (!sequence.is_object()) return nullptr;
  const Type* const type = sequence.as_object()->type;
  if (type == in.types.list && at < as_list(sequence)->size) return as_list(sequence)->items + at;
  if (type == in.types.tuple && at < as_tuple(sequence)->size) return as_tuple(sequence)->items + at;
  return nullptr;
}

// lo and hi, which CPython converts before anything else happens. A hi of -1 is the length, as None is.
struct Bounds {
  int64_t low, high;
};

Bounds bounds_of(Interpreter& in, const Args& args) {
  const int64_t low = int_argument(in, args[2]), high = size_argument(in, args[3]);
  return {low, high};
}

// A dict and a mappingproxy have a length and items as mappings only: CPython refuses them where it wants a sequence. A class below dict
// is taken, whose slots are for both.
void refuse_mapping(Interpreter& in, const Value& a) {
  if (!a.is_object()) return;
  const Type* const type = a.as_object()->type;
  if ((is_dict(a) || type == in.shared->mapping_proxy_type) && !is_heap_type(type))
    throw_error(ErrorKind::TypeError, "%s is not a sequence", std::string(type_name(in, a)).c_str());
}

// Args: a, x, lo, hi, key. `x` is compared as it is: only the items go through the key.
template <Side side>
int64_t place(Interpreter& in, const Args& args, Bounds bounds, const Value& x) {
  const Value &a = args[0], &key = args[4];
  auto [low, high] = bounds;
  if (low < 0) throw Error(ErrorKind::ValueError, "lo must be non-negative");
  if (high == -1 || low < high) refuse_mapping(in, a);
  if (high == -1) high = length(in, a);
  if (low < high && type_of(in, a)->slots.get_item == nullptr)
    throw_error(ErrorKind::TypeError, "'%s' object does not support indexing", std::string(type_name(in, a)).c_str());
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const Value* const plain = plain_item_at(in, a, middle);
    bool behind;
    if (plain != nullptr && plain->is_int() && x.is_int() && key.is_none()) {
      behind = side == Side::Left ? plain->as_int() < x.as_int() : plain->as_int() <= x.as_int();
    } else {
      Value item = plain != nullptr ? *plain : get_item(in, a, Value::integer(middle));
      if (!key.is_none()) item = call(in, key, {item});
      behind = side == Side::Left ? less(in, item, x) : !less(in, x, item);
    }
    if (behind) low = middle + 1;
    else high = middle;
  }
  return low;
}

template <Side side>
Value bisect(Interpreter& in, const Args& args) {
  return Value::integer(place<side>(in, args, bounds_of(in, args), args[1]));
}

template <Side side>
Value insort(Interpreter& in, const Args& args) {
  const Bounds bounds = bounds_of(in, args);
  const Value x = args[4].is_none() ? args[1] : call(in, args[4], {args[1]});
  const Value at = Value::integer(place<side>(in, args, bounds, x));
  if (args[0].is_object() && args[0].as_object()->type == in.types.list) {
    List* const list = as_list(args[0]);
    list_insert(in, list, std::min<size_t>(static_cast<size_t>(at.as_int()), list->size), args[1]);
    return Value::none();
  }
  return call_method(in, args[0], intern(in, "insert"), {at, args[1]}), Value::none();
}

}  // namespace

void fill_bisect(Interpreter& in, Module& module) {
  in.def(module, "bisect_right(a, x, lo=0, hi=None, *, key=None)", "Behind the items that equal x.",
         bisect<Side::Right>);
  in.def(module, "bisect_left(a, x, lo=0, hi=None, *, key=None)", "Before the items that equal x.", bisect<Side::Left>);
  in.def(module, "insort_right(a, x, lo=0, hi=None, *, key=None)", "Put x behind its equals.", insort<Side::Right>);
  in.def(module, "insort_left(a, x, lo=0, hi=None, *, key=None)", "Put x before its equals.", insort<Side::Left>);
  set_member(in, module, "bisect", *dict_get_str(module.dict, intern(in, "bisect_right")));
  set_member(in, module, "insort", *dict_get_str(module.dict, intern(in, "insort_right")));
}

}  // namespace tessera::stdlib
