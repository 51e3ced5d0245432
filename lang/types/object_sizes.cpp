// The sizes of CPython's objects on a machine of 64 bits (Objects/*.c of 3.11: the growth of lists, the tables of dicts and sets).
#include "lang/types/object_sizes.h"

#include <algorithm>
#include <bit>

#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/type.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

constexpr int64_t kPointer = 8, kCollectorHead = 16;

// Digits of 30 bits behind a head of 24 bytes; zero has one all the same.
int64_t int_size(uint64_t magnitude) {
  const int64_t bits = std::bit_width(magnitude);
  return 24 + 4 * std::max<int64_t>(1, (bits + 29) / 30);
}

int64_t big_int_size(const Value& value) {
  const BigInt* const big = as_big_int(value);
  const auto limbs = big->limbs();
  const int64_t bits = (static_cast<int64_t>(big->size) - 1) * 64 + std::bit_width(static_cast<uint64_t>(limbs[big->size - 1]));
  return 24 + 4 * ((bits + 29) / 30);
}

// The widest character says how wide all are; texts of ASCII have a shorter head.
int64_t text_size(const Str* s) {
  if (s->is_ascii()) return 49 + s->length;
  uint32_t widest = 0;
  for (const char *p = s->data, *end = s->data + s->size; p != end;) widest = std::max(widest, decode_char(p));
  const int64_t width = widest < 0x100 ? 1 : widest < 0x10000 ? 2 : 4;
  return 72 + width * (int64_t{s->length} + 1);
}

// Places of a list: as many as it was made with, an even number of them from three on; those that grew by one and one have some to spare.
int64_t list_places(const List* list) {
  const int64_t size = list->size;
  if (!list->aux) return size < 3 ? size : (size + 1) & ~int64_t{1};
  int64_t places = 0;
  while (places < size) places = ((places + 1) + ((places + 1) >> 3) + 6) & ~int64_t{3};
  return places;
}

// A table of indices, of one to eight bytes each, with entries for two thirds of them; keys that are all texts need no hashes.
int64_t dict_size(const Dict* dict) {
  constexpr int64_t kHead = 48, kTableHead = 32;
  if (dict->count == 0) return kHead;
  int64_t slots = 8;
  while (slots * 2 / 3 < int64_t{dict->count}) slots *= 2;
  const int64_t width = slots < 0x100 ? 1 : slots < 0x10000 ? 2 : 4;
  bool texts = true;
  dict_for_each(dict, [&](const Value& key, const Value&) { texts = texts && is_str(key); });
  return kHead + kTableHead + slots * width + slots * 2 / 3 * (texts ? 16 : 24);
}

// Eight slots lie in the object. Three fifths full, the table is made for four times as many, from 50,000 on for twice as many.
int64_t set_size(const Set* set) {
  constexpr int64_t kHead = 200, kFewest = 8, kMany = 50'000;
  int64_t slots = kFewest;
  for (int64_t full = slots; ; full = slots) {
    const int64_t fill = ((full - 1) * 3 + 4) / 5;  // with so many it grows
    if (int64_t{set->count} < fill) break;
    const int64_t wanted = fill > kMany ? fill * 2 : fill * 4;
    while (slots <= wanted) slots *= 2;
  }
  return kHead + (slots == kFewest ? 0 : slots * 16);
}

// Names in a class's own __slots__ that take a place each.
int64_t slots_of(const Type* type) {
  const Value* const names = dict_get_text(type->attributes_so_far(), "__slots__");
  if (names == nullptr) return 0;
  if (is_str(*names)) return 1;
  int64_t count = 0;
  const auto add = [&](const Value& name) {
    if (is_str(name) && text_of(name) != "__dict__" && text_of(name) != "__weakref__") ++count;
  };
  if (is_tuple(*names)) std::for_each(as_tuple(*names)->items, as_tuple(*names)->items + as_tuple(*names)->size, add);
  if (is_list(*names)) std::for_each(as_list(*names)->items, as_list(*names)->items + as_list(*names)->size, add);
  return count;
}

struct Members {
  int64_t slots = 0;
  bool has_dict = false;
};

Members members_of(const Type* type) {
  Members members;
  for (const Type* each : type->mro) {
    if (!(each->type_flags & kScriptClass)) continue;
    members.slots += slots_of(each);
    members.has_dict = members.has_dict || dict_get_text(each->attributes_so_far(), "__slots__") == nullptr;
  }
  return members;
}

bool is_scripted(const Value& value) { return value.is_object() && (value.as_object()->type->type_flags & kScriptClass); }

// An int's digits say how large it is, whatever a class below int adds.
bool is_int_of_class(const Value& value) {
  return is_scripted(value) && value.as_object()->kind == ObjectKind::Boxed && is_whole(unboxed(value));
}

// The dict of an instance stands before the collector's head, and the list of its weak references behind its slots; an instance of as
// many items as a tuple has neither, but a pointer to a dict.
bool has_dict_before(const Value& value) {
  return is_scripted(value) && value.as_object()->kind != ObjectKind::Tuple && !is_int_of_class(value) && members_of(value.as_object()->type).has_dict;
}

// Without what a script's class adds; 0: of a type that is not modelled.
int64_t built_in_size(Interpreter& in, const Value& value) {
  if (value.is_none()) return 16;
  if (value.is_int() || value.is_bool()) {
    const auto number = static_cast<uint64_t>(value.as_int());
    return int_size(value.as_int() < 0 ? -number : number);
  }
  if (value.is_float()) return 24;
  switch (value.as_object()->kind) {
    case ObjectKind::Instance: return 16;
    case ObjectKind::Str: return text_size(as_str(value));
    case ObjectKind::List: return 40 + kPointer * list_places(as_list(value));
    case ObjectKind::Tuple: return 24 + kPointer * as_tuple(value)->size;
    case ObjectKind::Dict: return dict_size(as_dict(value));
    case ObjectKind::Set: return set_size(as_set(value));
    case ObjectKind::BigInt: return big_int_size(value);
    case ObjectKind::Range: return 48;
    case ObjectKind::Slice: return 40;
    case ObjectKind::Function: return 136;
    case ObjectKind::NativeFunction:
    case ObjectKind::Module: return 56;
    case ObjectKind::Property: return 64;
    case ObjectKind::StaticMethod:
    case ObjectKind::ClassMethod: return 32;
    default: break;
  }
  if (value.as_object()->type == in.types.complex) return 32;
  if (is_bytes(value)) return 33 + static_cast<int64_t>(bytes_of(value).size());
  if (is_byte_array(value)) {
    const size_t size = bytes_of(value).size();
    return 56 + (size == 0 ? 0 : static_cast<int64_t>(size) + 1);
  }
  return 0;
}

}  // namespace

int64_t size_in_cpython(Interpreter& in, const Value& value) {
  if (is_int_of_class(value)) return built_in_size(in, unboxed(value));
  const int64_t built_in = built_in_size(in, value);
  if (built_in == 0) return value.as_object()->type->instance_size;
  if (!is_scripted(value)) return built_in;
  const Members members = members_of(value.as_object()->type);
  return built_in + members.slots * kPointer + (members.has_dict ? kPointer : 0);
}

namespace {

struct TypeSize {
  std::string_view name;
  int16_t basic, item;
};
constexpr TypeSize kTypeSizes[] = {
    {"object", 16, 0}, {"int", 24, 4}, {"bool", 32, 4}, {"float", 24, 0}, {"complex", 32, 0}, {"str", 80, 0}, {"bytes", 33, 1},
    {"bytearray", 56, 0}, {"list", 40, 0}, {"tuple", 24, 8}, {"dict", 48, 0}, {"set", 200, 0}, {"frozenset", 200, 0}, {"type", 904, 40},
    {"range", 48, 0}, {"slice", 40, 0}, {"property", 64, 0}, {"NoneType", 16, 0}, {"staticmethod", 32, 0}, {"classmethod", 32, 0},
    {"super", 40, 0}, {"memoryview", 144, 8}, {"OSError", 112, 0}, {"ImportError", 96, 0}, {"SyntaxError", 136, 0}, {"StopIteration", 80, 0},
    {"NameError", 80, 0}, {"AttributeError", 88, 0}, {"SystemExit", 80, 0}, {"UnicodeDecodeError", 112, 0}, {"UnicodeEncodeError", 112, 0},
    {"UnicodeTranslateError", 112, 0}, {"BaseExceptionGroup", 88, 0}, {"BaseException", 72, 0}};

// The first native class of the order that the table has, or null.
const TypeSize* native_size(Interpreter& in, const Type* type) {
  for (const Type* each : type->mro) {
    if ((each->type_flags & kScriptClass) || each == in.types.object) continue;
    for (const TypeSize& row : kTypeSizes)
      if (row.name == each->name->view()) return &row;
    return nullptr;
  }
  return kTypeSizes;
}

}  // namespace

int64_t item_size_in_cpython(Interpreter& in, const Type* type) {
  const TypeSize* const native = native_size(in, type);
  return native == nullptr ? 0 : native->item;
}

// A class without `__slots__` adds the list of weak references; a dict has a place only behind as many items as an int or tuple has.
int64_t basic_size_in_cpython(Interpreter& in, const Type* type) {
  const TypeSize* const native = native_size(in, type);
  const int64_t item = native == nullptr ? 0 : native->item;
  int64_t size = native == nullptr ? type->instance_size : native->basic;
  if (!(type->type_flags & kScriptClass)) return size;
  const bool has_list = native != nullptr && (native->name == "set" || native->name == "frozenset" || native->name == "type");
  bool has_dict = false, weak = false;
  for (const Type* each : type->mro) {
    if (!(each->type_flags & kScriptClass)) continue;
    size += kPointer * slots_of(each);
    const Value* const names = dict_get_text(each->attributes_so_far(), "__slots__");
    has_dict = has_dict || names == nullptr;
    weak = weak || names == nullptr || dict_get_text(each->attributes_so_far(), "__weakref__") != nullptr;
  }
  return size + (has_dict && item != 0 ? kPointer : 0) + (weak && item == 0 && !has_list ? kPointer : 0);
}

// Where the first class of the order that has a dict put it: before the object, or behind the items of an int or a tuple.
int64_t dict_offset_in_cpython(Interpreter& in, const Type* type) {
  if (type->type_flags & kExceptionType) return 16;
  for (size_t i = type->mro.size(); i-- > 0;) {
    const Type* const each = type->mro[i];
    if ((each->type_flags & kScriptClass) && dict_get_text(each->attributes_so_far(), "__dict__") != nullptr)
      return item_size_in_cpython(in, each) != 0 ? -kPointer : -(basic_size_in_cpython(in, each) + 3 * kPointer);
  }
  return 0;
}

int64_t collector_head(Interpreter& in, const Value& value) {
  if (!value.is_object()) return 0;
  if (has_dict_before(value)) return kCollectorHead + 2 * kPointer;
  switch (value.as_object()->kind) {
    case ObjectKind::Instance: return value.as_object()->type == in.types.object ? 0 : kCollectorHead;
    case ObjectKind::List:
    case ObjectKind::Tuple:
    case ObjectKind::Dict:
    case ObjectKind::Set:
    case ObjectKind::Slice:
    case ObjectKind::Function:
    case ObjectKind::NativeFunction:
    case ObjectKind::Module:
    case ObjectKind::Property:
    case ObjectKind::StaticMethod:
    case ObjectKind::ClassMethod: return kCollectorHead;
    default: return is_scripted(value) ? kCollectorHead : 0;
  }
}

}  // namespace tessera::lang
