// memoryview: making views, their items, slices, casts and comparison.
#include <algorithm>
#include <cstring>

#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/types/bytes_parts.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

constexpr size_t kMostDimensions = 64;

MemoryView* view_of(const Value& v) {
  MemoryView* view = as_memory_view(v);
  if (view->owner.is_undefined())
    throw Error(ErrorKind::ValueError, "operation forbidden on released memoryview object");
  return view;
}
MemoryView* self_of(const Args& args) { return view_of(args[0]); }

void release_view(MemoryView* view) noexcept {
  if (view->pinned != nullptr) --*view->pinned;
  view->pinned = nullptr;
  const Value gone = std::move(view->owner);
}

// A view of the same memory that the caller shapes anew.
MemoryView* share(Interpreter& in, const MemoryView* from, Value& holder) {
  MemoryView* view = make_object<MemoryView>(in, bytes_types(in).memory_view);
  holder = Value::adopt(view);
  view->owner = from->owner;
  view->data = from->data;
  view->format = from->format;
  view->readonly = from->readonly;
  view->item_size = from->item_size;
  view->pinned = from->pinned;
  if (view->pinned != nullptr) ++*view->pinned;
  view->shape = from->shape;
  view->strides = from->strides;
  return view;
}

void set_contiguous(MemoryView* view, std::vector<int64_t> shape) {
  view->shape = std::move(shape);
  view->strides.assign(view->shape.size(), 0);
  int64_t stride = view->item_size;
  for (size_t i = view->shape.size(); i-- > 0;) {
    view->strides[i] = stride;
    stride *= view->shape[i];
  }
}

// f(place) for every item, in the order of rows.
template <class F>
void each_item(const MemoryView* view, size_t dimension, const char* at, F&& f) {
  if (dimension == view->shape.size()) return f(at);
  for (int64_t i = 0; i < view->shape[dimension]; ++i)
    each_item(view, dimension + 1, at + i * view->strides[dimension], f);
}

char* place_of(Interpreter& in, const MemoryView* view, const Value& key, size_t dimension, char* at) {
  int64_t i = index(in, key);
  const int64_t size = view->shape[dimension];
  if (i < 0) i += size;
  if (i < 0 || i >= size)
    throw Error(ErrorKind::IndexError, "index out of bounds on dimension " + std::to_string(dimension + 1));
  return at + i * view->strides[dimension];
}

// The item that an int or a tuple of ints means; null: the key is something else.
char* item_place(Interpreter& in, const Value& self, const Value& key) {
  const MemoryView* view = view_of(self);
  if (view->shape.empty()) {
    if (is_tuple(key) && as_tuple(key)->size == 0) return view->data;
    throw Error(ErrorKind::TypeError, "invalid indexing of 0-dim memory");
  }
  if (is_index(in, key)) {
    if (view->shape.size() > 1)
      throw Error(ErrorKind::NotImplementedError, "multi-dimensional sub-views are not implemented");
    index(in, key);  // may release the view
    return place_of(in, view_of(self), key, 0, view->data);
  }
  if (!is_tuple(key)) return nullptr;
  const Tuple* keys = as_tuple(key);
  for (const Value& each : *as_tuple(key)) {
    if (!is_index(in, each)) return nullptr;
  }
  if (keys->size < view->shape.size()) throw Error(ErrorKind::NotImplementedError, "sub-views are not implemented");
  if (keys->size > view->shape.size()) {
    throw_error(ErrorKind::TypeError, "cannot index %zu-dimension view with %u-element tuple", view->shape.size(),
                keys->size);
  }
  char* at = view->data;
  for (size_t i = 0; i < keys->size; ++i) at = place_of(in, view_of(self), (*keys)[i], i, at);
  return at;
}

Value sliced(Interpreter& in, const Value& self, const Slice* slice) {
  const SliceParts parts = unpack_slice(in, slice);
  const MemoryView* from = view_of(self);
  const SliceIndices r = adjust_slice(parts, from->shape[0]);
  Value made;
  MemoryView* view = share(in, from, made);
  view->data += r.start * from->strides[0];
  view->shape[0] = r.count;
  view->strides[0] = from->strides[0] * r.step;
  return made;
}

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  if (is_slice(key)) {
    if (view_of(self)->shape.empty()) throw Error(ErrorKind::TypeError, "invalid indexing of 0-dim memory");
    return sliced(in, self, as_slice(key));
  }
  if (is_tuple(key) && as_tuple(key)->size != 0 && std::all_of(as_tuple(key)->begin(), as_tuple(key)->end(), is_slice))
    throw Error(ErrorKind::NotImplementedError, "multi-dimensional slicing is not implemented");
  if (const char* at = item_place(in, self, key)) return load_item(in, view_of(self)->format, at);
  throw Error(ErrorKind::TypeError, "memoryview: invalid slice key");
}

void assign_slice(Interpreter& in, const Value& self, const Slice* slice, const Value& value) {
  if (!is_bytes_like(in, value))
    throw_error(ErrorKind::TypeError, "a bytes-like object is required, not '%s'",
                std::string(type_name(in, value)).c_str());
  const Value to = sliced(in, self, slice), from = make_memory_view(in, value);
  MemoryView* target = view_of(to);
  const MemoryView* source = view_of(from);
  if (target->format != source->format || target->shape != source->shape) {
    throw Error(ErrorKind::ValueError, "memoryview assignment: lvalue and rvalue have different structures");
  }
  const std::string bytes = memory_view_bytes(source);  // the two may overlap
  for (int64_t i = 0; i < target->shape[0]; ++i)
    std::memcpy(target->data + i * target->strides[0], bytes.data() + i * target->item_size, target->item_size);
}

void set_item_slot(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  if (view_of(self)->readonly) throw Error(ErrorKind::TypeError, "cannot modify read-only memory");
  if (is_slice(key)) {
    if (view_of(self)->shape.size() != 1)
      throw Error(ErrorKind::NotImplementedError, "memoryview slice assignments are currently restricted to ndim = 1");
    return assign_slice(in, self, as_slice(key), value);
  }
  if (item_place(in, self, key) == nullptr) throw Error(ErrorKind::TypeError, "memoryview: invalid slice key");
  char item[8];
  store_item(in, view_of(self)->format, value, item);
  char* const place = item_place(in, self, key);
  std::memcpy(place, item, view_of(self)->item_size);  // view_of: the key's __index__ may have released the view
}

void del_item_slot(Interpreter&, const Value& self, const Value&) {
  if (view_of(self)->readonly) throw Error(ErrorKind::TypeError, "cannot modify read-only memory");
  throw Error(ErrorKind::TypeError, "cannot delete memory");
}

int64_t length_slot(Interpreter&, const Value& self) {
  const MemoryView* view = view_of(self);
  return view->shape.empty() ? 1 : view->shape[0];
}

bool same_items(Interpreter& in, const MemoryView* a, const MemoryView* b) {
  if (a->shape != b->shape) return false;
  if (a->format == b->format && a->format != 'f' && a->format != 'd' && a->format != 'e')
    return memory_view_bytes(a) == memory_view_bytes(b);
  std::vector<const char*> left, right;
  each_item(a, 0, a->data, [&](const char* at) { left.push_back(at); });
  each_item(b, 0, b->data, [&](const char* at) { right.push_back(at); });
  for (size_t i = 0; i < left.size(); ++i) {
    const Value x = load_item(in, a->format, left[i]), y = load_item(in, b->format, right[i]);
    if (!truth(in, compare(in, CompareOp::Eq, x, y))) return false;
  }
  return true;
}

Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (op != CompareOp::Eq && op != CompareOp::Ne) return in.not_implemented;
  const bool released = as_memory_view(self)->owner.is_undefined() ||
                        (is_memory_view(other) && as_memory_view(other)->owner.is_undefined());
  if (self.is(other) || released) return Value::boolean(self.is(other) == (op == CompareOp::Eq));
  if (!is_bytes_like(in, other)) return in.not_implemented;
  const Value right = make_memory_view(in, other);
  return Value::boolean(same_items(in, view_of(self), view_of(right)) == (op == CompareOp::Eq));
}

int64_t hash_slot(Interpreter&, const Value& self) {
  MemoryView* view = as_memory_view(self);
  if (view->hash != 0) return view->hash;
  view_of(self);
  if (!view->readonly) throw Error(ErrorKind::ValueError, "cannot hash writable memoryview object");
  if (view->item_size != 1 || view->format == '?')
    throw Error(ErrorKind::ValueError, "memoryview: hashing is restricted to formats 'B', 'b' or 'c'");
  return view->hash = hash_text(memory_view_bytes(view));
}

Value repr_slot(Interpreter& in, const Value& self) {
  char text[48];
  std::snprintf(text, sizeof text, "<%s at %p>",
                as_memory_view(self)->owner.is_undefined() ? "released memory" : "memory",
                static_cast<void*>(self.as_object()));
  return make_str(in, text);
}

Value iter_slot(Interpreter& in, const Value& self) {
  if (view_of(self)->shape.empty()) throw Error(ErrorKind::TypeError, "invalid indexing of 0-dim memory");
  return index_iter(in, self);
}

void traverse(Object* self, Visitor& visitor) { visitor(known_cast<MemoryView>(self)->owner); }
void clear(Interpreter&, Object* self) { release_view(known_cast<MemoryView>(self)); }

// --- methods

Value make_view(Interpreter& in, Type*, const Args& args) {
  const Value* source = args.positional() == 1 && args.count == 1 ? &args[0] : nullptr;
  if (args.count == 1 && args.positional() == 0 && text_of((*args.keyword_names)[0]) == "object") source = &args[0];
  if (source == nullptr) {
    if (args.count == 0) throw Error(ErrorKind::TypeError, "memoryview() missing required argument 'object' (pos 1)");
    throw_error(ErrorKind::TypeError, "memoryview() takes at most 1 argument (%u given)", args.count);
  }
  return make_memory_view(in, *source);
}

Value tobytes(Interpreter& in, const Args& args) { return make_bytes(in, memory_view_bytes(self_of(args))); }

Value list_of(Interpreter& in, const MemoryView* view, size_t dimension, const char* at) {
  if (dimension == view->shape.size()) return load_item(in, view->format, at);
  Value list = make_list(in, static_cast<size_t>(view->shape[dimension]));
  StopBudget budget(in);
  for (int64_t i = 0; i < view->shape[dimension]; ++i, budget.take())
    list_append(in, as_list(list), list_of(in, view, dimension + 1, at + i * view->strides[dimension]));
  return list;
}
Value tolist(Interpreter& in, const Args& args) { return list_of(in, self_of(args), 0, self_of(args)->data); }

Value hex(Interpreter& in, const Args& args) {
  return make_str(in, hex_text(memory_view_bytes(self_of(args)), args[1], args[2].as_int()));
}

Value toreadonly(Interpreter& in, const Args& args) {
  Value made;
  share(in, self_of(args), made)->readonly = true;
  return made;
}

Value release(Interpreter&, const Args& args) {
  MemoryView* view = as_memory_view(args[0]);
  if (view->exports != 0) {
    throw Error(ErrorKind::BufferError, "memoryview has " + std::to_string(view->exports) + " exported buffer" +
                                            (view->exports == 1 ? "" : "s"));
  }
  release_view(view);
  return Value::none();
}

std::vector<int64_t> shape_argument(Interpreter& in, const Value& shape) {
  if (!is_list(shape) && !is_tuple(shape)) throw Error(ErrorKind::TypeError, "shape must be a list or a tuple");
  std::vector<int64_t> out;
  for_each(in, shape, [&](const Value& v) {
    if (!v.is_int()) throw Error(ErrorKind::TypeError, "memoryview.cast(): elements of shape must be integers");
    if (v.as_int() <= 0)
      throw Error(ErrorKind::ValueError, "memoryview.cast(): elements of shape must be integers > 0");
    out.push_back(v.as_int());
  });
  if (out.size() > kMostDimensions)
    throw Error(ErrorKind::ValueError, "memoryview: number of dimensions must not exceed 64");
  return out;
}

Value cast(Interpreter& in, const Args& args) {
  const MemoryView* from = self_of(args);
  std::string_view text = text_of(args[1]);
  if (text.size() == 2 && text[0] == '@') text.remove_prefix(1);
  const uint32_t width = text.size() == 1 ? format_width(text[0]) : 0;
  if (width == 0) {
    throw Error(
        ErrorKind::ValueError,
        "memoryview: destination format must be a native single character format prefixed with an optional '@'");
  }
  if (!from->contiguous()) throw Error(ErrorKind::TypeError, "memoryview: casts are restricted to C-contiguous views");
  const bool has_shape = !args[2].is_undefined();
  if (from->shape.size() != 1 && has_shape && shape_argument(in, args[2]).size() != 1)
    throw Error(ErrorKind::TypeError, "memoryview: cast must be 1D -> ND or ND -> 1D");
  auto is_byte = [](char c) { return c == 'B' || c == 'b' || c == 'c'; };
  if (!is_byte(from->format) && !is_byte(text[0]))
    throw Error(ErrorKind::TypeError, "memoryview: cannot cast between two non-byte formats");
  const int64_t bytes = from->items() * from->item_size;
  if (bytes % width != 0) throw Error(ErrorKind::TypeError, "memoryview: length is not a multiple of itemsize");
  std::vector<int64_t> shape = {bytes / width};
  if (has_shape) {
    shape = shape_argument(in, args[2]);
    unsigned __int128 wanted = width;
    for (const int64_t each : shape) {
      wanted *= static_cast<uint64_t>(each);
      if (wanted > static_cast<uint64_t>(bytes)) break;
    }
    if (wanted != static_cast<uint64_t>(bytes))
      throw Error(ErrorKind::TypeError, "memoryview: product(shape) * itemsize != buffer size");
  }
  Value made;
  MemoryView* view = share(in, from, made);
  view->format = text[0];
  view->item_size = width;
  set_contiguous(view, std::move(shape));
  return made;
}

Value enter(Interpreter&, const Args& args) {
  self_of(args);
  return args[0];
}

Value numbers(Interpreter& in, const std::vector<int64_t>& from) {
  std::vector<Value> items;
  for (const int64_t each : from) items.push_back(Value::integer(each));
  return make_tuple(in, items.data(), items.size());
}

bool column_contiguous(const MemoryView* view) {
  int64_t stride = view->item_size;
  for (size_t i = 0; i < view->shape.size(); ++i) {
    if (view->shape[i] > 1 && view->strides[i] != stride) return false;
    stride *= view->shape[i];
  }
  return true;
}

constexpr NativeDef kRows[] = {
    {"tobytes(self, /, order=None)", tobytes, "The data as a bytes object."},
    {"tolist(self, /)", tolist, "The data as a list."},
    {"hex(self, /, sep=..., bytes_per_sep: int = 1)", hex, "The data as hexadecimal digits."},
    {"toreadonly(self, /)", toreadonly, "A readonly view of the same memory."},
    {"release(self, /)", release, "Let go of the memory."},
    {"cast(self, /, format: str, shape=...)", cast, "A view with another format or shape."},
    {"__enter__(self, /)", enter, ""},
    {"__exit__(self, /, *exc_info)", release, ""},
};

void add_properties(Interpreter& in, Type* type) {
  in.add_property(type, "obj", [](Interpreter&, const Args& a) { return self_of(a)->owner; });
  in.add_property(type, "nbytes", [](Interpreter&, const Args& a) {
    return Value::integer(self_of(a)->items() * self_of(a)->item_size);
  });
  in.add_property(type, "itemsize", [](Interpreter&, const Args& a) { return Value::integer(self_of(a)->item_size); });
  in.add_property(type, "format", [](Interpreter& i, const Args& a) { return make_str(i, {&self_of(a)->format, 1}); });
  in.add_property(type, "ndim", [](Interpreter&, const Args& a) {
    return Value::integer(static_cast<int64_t>(self_of(a)->shape.size()));
  });
  in.add_property(type, "shape", [](Interpreter& i, const Args& a) { return numbers(i, self_of(a)->shape); });
  in.add_property(type, "strides", [](Interpreter& i, const Args& a) { return numbers(i, self_of(a)->strides); });
  in.add_property(type, "suboffsets", [](Interpreter& i, const Args& a) { return self_of(a), make_tuple(i, {}); });
  in.add_property(type, "readonly", [](Interpreter&, const Args& a) { return Value::boolean(self_of(a)->readonly); });
  in.add_property(type, "c_contiguous",
                  [](Interpreter&, const Args& a) { return Value::boolean(self_of(a)->contiguous()); });
  in.add_property(type, "f_contiguous",
                  [](Interpreter&, const Args& a) { return Value::boolean(column_contiguous(self_of(a))); });
  in.add_property(type, "contiguous", [](Interpreter&, const Args& a) {
    return Value::boolean(self_of(a)->contiguous() || column_contiguous(self_of(a)));
  });
}

}  // namespace

int64_t MemoryView::items() const noexcept {
  int64_t count = 1;
  for (const int64_t each : shape) count *= each;
  return count;
}

bool MemoryView::contiguous() const noexcept {
  int64_t stride = item_size;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 1 && strides[i] != stride) return false;
    stride *= shape[i];
  }
  return true;
}

void destroy_memory_view(Interpreter& in, Object* self) {
  release_view(known_cast<MemoryView>(self));
  free_object(in, known_cast<MemoryView>(self));
}

Value make_memory_view(Interpreter& in, const Value& owner) {
  Value made;
  if (is_memory_view(owner)) {
    share(in, view_of(owner), made);
    return made;
  }
  Buffer buffer;
  if (!find_buffer(in, owner, buffer)) {
    throw Error(ErrorKind::TypeError,
                "memoryview: a bytes-like object is required, not '" + std::string(type_name(in, owner)) + "'");
  }
  MemoryView* view = make_object<MemoryView>(in, bytes_types(in).memory_view);
  made = Value::adopt(view);
  view->owner = owner;
  view->data = buffer.data;
  view->format = buffer.format;
  view->readonly = buffer.readonly;
  view->item_size = buffer.item_size;
  view->pinned = buffer.exports;
  if (view->pinned != nullptr) ++*view->pinned;
  set_contiguous(view, {static_cast<int64_t>(buffer.size / buffer.item_size)});
  return made;
}

std::string memory_view_bytes(const MemoryView* view) {
  const size_t size = static_cast<size_t>(view->items()) * view->item_size;
  if (view->contiguous()) return std::string(view->data == nullptr ? "" : view->data, size);
  std::string out;
  out.reserve(size);
  each_item(view, 0, view->data, [&](const char* at) { out.append(at, view->item_size); });
  return out;
}

void fill_memory_view_slots(Type* type) {
  type->make = make_view;
  TypeSlots& s = type->slots;
  s.traverse = traverse;
  s.clear = clear;
  s.repr = repr_slot;
  s.hash = hash_slot;
  s.length = length_slot;
  s.compare = compare_slot;
  s.get_item = get_item_slot;
  s.set_item = set_item_slot;
  s.del_item = del_item_slot;
  s.iter = iter_slot;
  type->fill_later([](Interpreter& i, Type* self) {
    add_rows(i, self, kRows);
    add_properties(i, self);
    slot_methods(i, self);
  });
}

}  // namespace tessera::lang
