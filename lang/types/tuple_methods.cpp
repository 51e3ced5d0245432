// Tuples in operators, indexing and iteration, and their methods.
#include "lang/core/failure.h"
#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/types/hash.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

Value repr_slot(Interpreter& in, const Value& self) {
  const ReprMark mark(in, self.as_object());
  return make_str(in, mark.again() ? "(...)" : repr_items(in, self, "(", as_tuple(self)->size == 1 ? ",)" : ")"));
}

int64_t length_slot(Interpreter&, const Value& self) { return as_tuple(self)->size; }

// The hash of a tuple from its item `i` on, whose hash may run a script. Apart, so that tuples of numbers and strings save no registers.
[[gnu::noinline]] int64_t hash_rest(Interpreter& in, const Tuple& tuple, TupleHash sum, uint32_t i) {
  const RecursionGuard guard(in, " while calling a Python object");
  for (; i < tuple.size; ++i) sum.add(hash(in, tuple.items[i]));
  return sum.finish(tuple.size);
}

// A tuple that the collector does not know keeps its hash where others have their place in the collector's array; zero if it was not asked.
int64_t hash_slot(Interpreter& in, const Value& self) {
  Tuple& tuple = *as_tuple(self);
  const bool keeps = (tuple.flags & kTracked) == 0;
  if (const uint64_t kept = uint64_t{tuple.gc_refs} << 32 | tuple.gc_index; keeps && kept != 0) return static_cast<int64_t>(kept);
  TupleHash sum;
  for (uint32_t i = 0; i < tuple.size; ++i) {
    const Value& item = tuple.items[i];
    if (item.is_int()) sum.add(hash_int(item.as_int()));
    else if (item.is_object() && item.as_object()->type == in.types.str) sum.add(str_hash(as_str(item)));
    else if (!item.is_object()) sum.add(hash(in, item));
    else return hash_rest(in, tuple, sum, i);
  }
  const int64_t result = sum.finish(tuple.size);
  if (keeps) {
    tuple.gc_index = static_cast<uint32_t>(result);
    tuple.gc_refs = static_cast<uint32_t>(static_cast<uint64_t>(result) >> 32);
  }
  return result;
}

Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  return is_tuple(other) ? compare_items(in, op, self, other) : in.not_implemented;
}

Value repeat(Interpreter& in, const Value& self, int64_t times) {
  const Tuple* tuple = as_tuple(self);
  if (times <= 0 || tuple->size == 0) return in.shared->empty_tuple;
  if (times == 1 && tuple->type == in.types.tuple) return self;
  if (static_cast<uint64_t>(times) > 0x7fffffffu / tuple->size) throw Error(ErrorKind::MemoryError, std::string());
  Tuple* out = new_tuple(in, tuple->size * static_cast<size_t>(times));
  for (uint32_t done = 0; done < out->size; done += tuple->size)
    for (uint32_t i = 0; i < tuple->size; ++i) out->items[done + i] = tuple->items[i];
  return Value::adopt(out);
}

Value binary_slot(Interpreter& in, BinaryOp op, const Value& self, const Value& other, bool reflected, uint8_t) {
  int64_t times;
  if (op == BinaryOp::Mul && repetition_count(in, other, times)) return repeat(in, self, times);
  if (reflected) return in.not_implemented;
  if (op == BinaryOp::Mul) throw_cannot_repeat(in, other);
  if (op != BinaryOp::Add) return in.not_implemented;
  if (!is_tuple(other)) throw_cannot_join(in, "tuple", other);
  const Tuple *a = as_tuple(self), *b = as_tuple(other);
  if (b->size == 0 && a->type == in.types.tuple) return self;
  if (a->size == 0 && b->type == in.types.tuple) return other;
  Tuple* out = new_tuple(in, size_t{a->size} + b->size);
  for (uint32_t i = 0; i < a->size; ++i) out->items[i] = a->items[i];
  for (uint32_t i = 0; i < b->size; ++i) out->items[a->size + i] = b->items[i];
  return Value::adopt(out);
}

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  const Tuple* tuple = as_tuple(self);
  if (is_slice(key)) {
    const SliceIndices r = slice_indices(in, as_slice(key), tuple->size);
    if (r.count == tuple->size && r.step == 1 && tuple->type == in.types.tuple) return self;
    if (r.count == 0) return in.shared->empty_tuple;
    Tuple* out = new_tuple(in, static_cast<size_t>(r.count));
    for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step) out->items[i] = tuple->items[at];
    return Value::adopt(out);
  }
  return tuple->items[sequence_index(in, key, tuple->size, "tuple")];
}

bool contains_slot(Interpreter& in, const Value& self, const Value& item) {
  const Value keep = self;
  for (const Value& each : *as_tuple(keep)) {
    const Same same = same_quietly(in, each, item);
    if (same == Same::Yes || (same == Same::Unsure && equals(in, each, item))) return true;
  }
  return false;
}

Value count(Interpreter& in, const Args& args) { return Value::integer(count_item(in, args[0], args[1])); }

Value index_of(Interpreter& in, const Args& args) {
  const int64_t at = find_item(in, args[0], args[1], args[2], args[3]);
  if (at < 0) return failure(in, ErrorKind::ValueError, {"tuple.index(x): x not in tuple"});
  return Value::integer(at);
}

Value make_from(Interpreter& in, Type* type, const Args& args) {
  refuse_keywords(in, type, in.types.tuple, "tuple", args);
  check_count("tuple", args, 0, 1);
  const Value plain = args.positional() == 0 ? in.shared->empty_tuple : tuple_from(in, args[0]);
  if (type == in.types.tuple) return plain;
  const Tuple* from = as_tuple(plain);
  Tuple* out = new_tuple(in, from->size, type);
  for (uint32_t i = 0; i < from->size; ++i) out->items[i] = from->items[i];
  return Value::adopt(out);
}

constexpr NativeDef kRows[] = {
    {"count(self, value, /)", count, "Return the number of occurrences of value."},
    {"index(self, value, start=..., stop=..., /)", index_of, "Return the first index of value."},
};

}  // namespace

void tuple_slots(Interpreter& in) {
  TypeSlots& s = in.types.tuple->slots;
  s.destroy = destroy_tuple;
  s.traverse = traverse_tuple;
  s.repr = repr_slot;
  s.hash = hash_slot;
  s.length = length_slot;
  s.compare = compare_slot;
  s.binary = binary_slot;
  s.get_item = get_item_slot;
  s.contains = contains_slot;
  s.iter = tuple_iter;
}

namespace {

void fill_tuple(Interpreter& in, Type* type) {
  add_rows(in, type, kRows);
  slot_methods(in, type);
  add_class_getitem(in, type);
}

}  // namespace

// tuple(x) of a short sequence or dict of the language itself.
static bool short_tuple(Interpreter& in, Value* argument, Value& answer) {
  if (!is_short_source(in, argument[0])) return false;
  answer = tuple_from(in, argument[0]);
  return true;
}

void tuple_methods(Interpreter& in) {
  in.types.tuple->short_make = short_tuple;
  in.types.tuple->make = make_from;
  in.types.tuple->fill_later(fill_tuple);
}

}  // namespace tessera::lang
