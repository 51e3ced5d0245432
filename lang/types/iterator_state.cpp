// __reduce__ and __setstate__ of the native iterators: pickle and copy make them again from their source and position.
// compile: small (copies of iterators are rare)
#include "lang/builtins/builtins.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/big_range.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/range.h"
#include "lang/types/set.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

Value builtin(Interpreter& in, const char* name) { return *find_builtin(in, intern(in, name)); }

IteratorKind kind_of(const Value& self) { return static_cast<IteratorKind>(self.as_object()->aux); }

// iter(argument), set to `position` afterwards.
Value iter_of(Interpreter& in, const Value& argument, int64_t position = -1) {
  const Value arguments = make_tuple(in, {argument});
  if (position < 0) return make_tuple(in, {builtin(in, "iter"), arguments});
  return make_tuple(in, {builtin(in, "iter"), arguments, Value::integer(position)});
}

Value reduce_sequence(Interpreter& in, const Value& self) {
  const auto* it = object_cast<SequenceIterator>(self);
  const IteratorKind kind = kind_of(self);
  if (it->sequence.is_undefined()) {
    if (kind == IteratorKind::Str) return iter_of(in, in.shared->empty_str);
    const bool list = kind == IteratorKind::List || kind == IteratorKind::Reversed;
    return iter_of(in, list ? make_list(in) : in.shared->empty_tuple);
  }
  if (kind == IteratorKind::Str) return iter_of(in, it->sequence, char_index(as_str(it->sequence), it->index));
  if (kind != IteratorKind::Reversed) return iter_of(in, it->sequence, it->index);
  return make_tuple(in, {builtin(in, "reversed"), make_tuple(in, {it->sequence}),
                         Value::integer(static_cast<int64_t>(it->index) - 1)});
}

// The items still to come of an iterator over a dict or set, without moving it.
Value rest_of(Interpreter& in, const Value& self) {
  Value rest = make_list(in), item;
  if (kind_of(self) == IteratorKind::Set) {
    const auto* it = object_cast<SetIterator>(self);
    if (it->set.is_undefined()) return rest;
    const Value ahead = set_iter(in, it->set);
    auto* at = object_cast<SetIterator>(ahead);
    at->index = it->index;
    at->expected = it->expected;
    while (next(in, ahead, item)) list_append(in, as_list(rest), item);
    return rest;
  }
  const auto* it = object_cast<DictIterator>(self);
  if (it->dict.is_undefined()) return rest;
  const Value ahead = dict_iter_of(in, it->dict, kind_of(self), it->reversed);
  auto* at = object_cast<DictIterator>(ahead);
  at->index = it->index;
  at->expected = it->expected;
  at->left = it->left;
  while (next(in, ahead, item)) list_append(in, as_list(rest), item);
  return rest;
}

// The items still to come. Its end may be beyond 64 bits when the last item is not.
Value range_of(Interpreter& in, const RangeIterator& it) {
  const Value start = Value::integer(it.next), step = Value::integer(it.step);
  const Value span = whole_binary(in, BinaryOp::Mul, Value::integer(static_cast<int64_t>(it.left)), step);
  return make_any_range(in, start, whole_binary(in, BinaryOp::Add, start, span), step);
}

Value reduce(Interpreter& in, const Args& args) {
  const Value& self = args[0];
  switch (kind_of(self)) {
    case IteratorKind::Range: {
      const auto* it = object_cast<RangeIterator>(self);
      return iter_of(in, range_of(in, *it), 0);
    }
    case IteratorKind::DictKeys:
    case IteratorKind::DictValues:
    case IteratorKind::DictItems:
    case IteratorKind::Set: return iter_of(in, rest_of(in, self));
    default: return reduce_sequence(in, self);
  }
}

}  // namespace

int64_t iterator_position(Interpreter& in, const Value& state) {
  if (!is_whole(unboxed(state))) throw Error(ErrorKind::TypeError, "an integer is required");
  return index(in, state);
}

namespace {

int64_t clamped(int64_t position, int64_t least, int64_t most) {
  return position < least ? least : position > most ? most : position;
}

Value set_state(Interpreter& in, const Args& args) {
  const bool of_range = kind_of(args[0]) == IteratorKind::Range;  // which takes an object with __index__ too
  const int64_t position = of_range ? index(in, args[1]) : iterator_position(in, args[1]);
  if (of_range) {
    auto* it = object_cast<RangeIterator>(args[0]);
    const int64_t steps = clamped(position, 0, static_cast<int64_t>(it->left));
    it->left -= static_cast<uint64_t>(steps);
    it->next += (it->left == 0 && steps > 0 ? steps - 1 : steps) * it->step;
    return Value::none();
  }
  auto* it = object_cast<SequenceIterator>(args[0]);
  if (it->sequence.is_undefined()) return Value::none();
  switch (kind_of(args[0])) {
    case IteratorKind::Reversed:
      it->index = static_cast<uint32_t>(clamped(position, -1, static_cast<int64_t>(as_list(it->sequence)->size) - 1) + 1);
      break;
    case IteratorKind::Str: {
      Str* const text = as_str(it->sequence);
      it->index = byte_offset(in, text, static_cast<uint32_t>(clamped(position, 0, text->length)));
      break;
    }
    default: it->index = static_cast<uint32_t>(clamped(position, 0, UINT32_MAX - 1)); break;
  }
  return Value::none();
}

Value reduce_callable(Interpreter& in, const Args& args) {
  const auto* it = object_cast<CallableIterator>(args[0]);
  if (it->function.is_undefined()) return iter_of(in, in.shared->empty_tuple);
  return make_tuple(in, {builtin(in, "iter"), make_tuple(in, {it->function, it->sentinel})});
}

constexpr NativeDef kReduce[] = {{"__reduce__(self)", reduce, "Return state information for pickling."}};
constexpr NativeDef kSetState[] = {{"__setstate__(self, state, /)", set_state, "Set state information for unpickling."}};
constexpr NativeDef kReduceCallable[] = {
    {"__reduce__(self)", reduce_callable, "Return state information for pickling."}};

}  // namespace

void add_iterator_state(Interpreter& in, Type* type) {
  const BuiltinTypes& t = in.types;
  if (type == t.callable_iterator) return add_rows(in, type, kReduceCallable);
  add_rows(in, type, kReduce);
  const bool by_items = type == t.set_iterator || type->name->view().starts_with("dict_");
  if (!by_items) add_rows(in, type, kSetState);
}

}  // namespace tessera::lang
