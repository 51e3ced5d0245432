// memoryview: making views, their items and slices, and comparison. What its methods do is in memoryview_methods.cpp.
// compile: small (memoryviews are rare)
#include <algorithm>
#include <cstring>

#include "lang/core/bind_maker.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/types/bytes_parts.h"
#include "lang/types/iterators.h"
#include "lang/types/range.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

// "@b" for each letter: the format without '@' begins at the letter.
struct LetterFormats {
  char text[128][3] = {};
  constexpr LetterFormats() {
    for (int i = 0; i < 128; ++i) text[i][0] = '@', text[i][1] = static_cast<char>(i);
  }
};
constexpr LetterFormats kLetterFormats;

}  // namespace

ItemFormat::ItemFormat(char letter, bool is_native) noexcept : text(kLetterFormats.text[letter & 127] + (is_native ? 0 : 1)) {}

MemoryView* view_of(const Value& v) {
  MemoryView* view = as_memory_view(v);
  if (view->owner.is_undefined())
    throw Error(ErrorKind::ValueError, "operation forbidden on released memoryview object");
  return view;
}

void release_view(MemoryView* view) noexcept {
  if (view->pinned != nullptr) --*view->pinned;
  view->pinned = nullptr;
  const Value gone = std::move(view->owner), memory = std::move(view->keeper);
}

MemoryView* share_view(Interpreter& in, const MemoryView* from, Value& holder) {
  MemoryView* view = make_object<MemoryView>(in, bytes_types(in).memory_view);
  holder = Value::adopt(view);
  view->owner = from->owner;
  view->keeper = from->keeper;
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

void set_view_shape(MemoryView* view, std::vector<int64_t> shape) {
  view->shape = std::move(shape);
  view->strides.assign(view->shape.size(), 0);
  int64_t stride = view->item_size;
  for (size_t i = view->shape.size(); i-- > 0;) {
    view->strides[i] = stride;
    stride *= view->shape[i];
  }
}

char readable_format(const MemoryView* view) {
  const char letter = view->format.letter();
  if (letter == 0) throw_error(ErrorKind::NotImplementedError, "memoryview: unsupported format %s", view->format.text);
  if (letter == 'e' || format_width(letter) == 0)
    throw_error(ErrorKind::NotImplementedError, "memoryview: format %s not supported", view->format.text);
  return letter;
}

namespace {

// Whether items can be compared as values; others differ from everything, themselves too, as for CPython.
bool comparable(const MemoryView* view) { return format_width(view->format.letter()) != 0; }

// How far from the first item the index leads along a dimension. Its __index__ may release the view.
int64_t offset_of(Interpreter& in, const Value& self, const Value& key, size_t dimension) {
  int64_t i = index_sized(in, key, ErrorKind::IndexError);
  const MemoryView* view = view_of(self);
  const int64_t size = view->shape[dimension];
  if (i < 0) i += size;
  if (i < 0 || i >= size)
    throw Error(ErrorKind::IndexError, "index out of bounds on dimension " + std::to_string(dimension + 1));
  return i * view->strides[dimension];
}

bool are_all(const Value& key, bool (*holds)(Interpreter&, const Value&), Interpreter& in) {
  return is_tuple(key) && std::all_of(as_tuple(key)->begin(), as_tuple(key)->end(), [&](const Value& v) { return holds(in, v); });
}

// The place of the item at a tuple of ints.
char* tuple_place(Interpreter& in, const Value& self, const Tuple* keys) {
  const size_t dimensions = view_of(self)->shape.size();
  if (keys->size < dimensions) throw Error(ErrorKind::NotImplementedError, "sub-views are not implemented");
  if (keys->size > dimensions)
    throw_error(ErrorKind::TypeError, "cannot index %zu-dimension view with %u-element tuple", dimensions, keys->size);
  int64_t offset = 0;
  for (size_t i = 0; i < keys->size; ++i) offset += offset_of(in, self, (*keys)[i], i);
  return view_of(self)->data + offset;
}

// The place of the item that the key means; null: the key is none of an item.
char* item_place(Interpreter& in, const Value& self, const Value& key, const char* too_few) {
  const MemoryView* view = view_of(self);
  if (view->shape.empty()) {
    if (is_tuple(key) && as_tuple(key)->size == 0) return view->data;
    throw Error(ErrorKind::TypeError, "invalid indexing of 0-dim memory");
  }
  if (is_index(in, key)) {
    if (view->shape.size() > 1) throw Error(ErrorKind::NotImplementedError, too_few);
    const int64_t offset = offset_of(in, self, key, 0);
    return view_of(self)->data + offset;
  }
  return are_all(key, is_index, in) ? tuple_place(in, self, as_tuple(key)) : nullptr;
}

void cut(MemoryView* view, const SliceParts& parts) {
  const SliceIndices r = adjust_slice(parts, view->shape[0]);
  view->data += r.start * view->strides[0];
  view->shape[0] = r.count;
  view->strides[0] *= r.step;
}

// The slice's __index__ may release the view it is taken of, not the one that is made.
Value sliced(Interpreter& in, const Value& self, const Slice* slice) {
  Value made;
  MemoryView* const view = share_view(in, view_of(self), made);
  cut(view, unpack_slice(in, slice));
  return made;
}

bool is_slice_key(Interpreter&, const Value& key) { return is_slice(key); }

Value get_item_slot(Interpreter& in, const Value& self, const Value& key) {
  if (view_of(self)->shape.empty()) {
    if (key.is(in.ellipsis)) return self;
  } else if (is_slice(key)) {
    return sliced(in, self, as_slice(key));
  }
  if (const char* at = item_place(in, self, key, "multi-dimensional sub-views are not implemented"))
    return load_item(in, readable_format(view_of(self)), at);
  if (are_all(key, is_slice_key, in))
    throw Error(ErrorKind::NotImplementedError, "multi-dimensional slicing is not implemented");
  throw Error(ErrorKind::TypeError, "memoryview: invalid slice key");
}

void assign_slice(Interpreter& in, const Value& self, const Slice* slice, const Value& value) {
  if (!is_bytes_like(in, value))
    throw_error(ErrorKind::TypeError, "a bytes-like object is required, not '%s'",
                std::string(type_name(in, value)).c_str());
  const Value from = make_memory_view(in, value);
  const SliceParts parts = unpack_slice(in, slice);
  Value to;
  MemoryView* const target = share_view(in, view_of(self), to);
  cut(target, parts);
  const MemoryView* source = view_of(from);
  const auto plain = [](const ItemFormat& format) { return std::string_view(format.text + (format.text[0] == '@')); };
  if (plain(target->format) != plain(source->format) || target->shape != source->shape)
    throw Error(ErrorKind::ValueError, "memoryview assignment: lvalue and rvalue have different structures");
  const Value bytes = memory_view_bytes(in, source);  // the two may overlap
  for (int64_t i = 0; i < target->shape[0]; ++i)
    std::memcpy(target->data + i * target->strides[0], bytes_of(bytes).data() + i * target->item_size, target->item_size);
}

void set_item_slot(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  const MemoryView* view = view_of(self);
  const char letter = readable_format(view);
  if (view->readonly) throw Error(ErrorKind::TypeError, "cannot modify read-only memory");
  const size_t dimensions = view->shape.size();
  if (dimensions == 1 && is_slice(key)) return assign_slice(in, self, as_slice(key), value);
  const Value whole = dimensions == 0 && key.is(in.ellipsis) ? in.shared->empty_tuple : key;
  if (item_place(in, self, whole, "sub-views are not implemented") == nullptr) {
    if (is_slice(key) || are_all(key, is_slice_key, in))
      throw Error(ErrorKind::NotImplementedError, "memoryview slice assignments are currently restricted to ndim = 1");
    throw Error(ErrorKind::TypeError, "memoryview: invalid slice key");
  }
  char item[8];
  store_item(in, letter, value, item);
  char* const place = item_place(in, self, whole, "");
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

bool same_shape(const MemoryView* a, const MemoryView* b) {
  if (a->shape.size() != b->shape.size()) return false;
  for (size_t i = 0; i < a->shape.size(); ++i) {
    if (a->shape[i] != b->shape[i]) return false;
    if (a->shape[i] == 0) return true;
  }
  return true;
}

// The letters of items that are equal if and only if their bytes are.
bool equal_by_bytes(char letter) { return std::strchr("bBcnNhHiIlLqQP", letter) != nullptr; }

bool same_items(Interpreter& in, const MemoryView* a, const MemoryView* b) {
  if (!same_shape(a, b)) return false;
  const char left = a->format.letter(), right = b->format.letter();
  const bool by_bytes = left == right && equal_by_bytes(left);
  ItemWalk x(a->shape, a->strides, a->data), y(b->shape, b->strides, b->data);
  StopBudget budget(in);
  for (int64_t left_over = a->items(); left_over > 0; --left_over, x.step(), y.step(), budget.take()) {
    if (by_bytes ? std::memcmp(x.at(), y.at(), a->item_size) != 0
                 : !truth(in, compare(in, CompareOp::Eq, load_item(in, left, x.at()), load_item(in, right, y.at()))))
      return false;
  }
  return true;
}

Value compare_slot(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if (op != CompareOp::Eq && op != CompareOp::Ne) return in.not_implemented;
  const bool released = as_memory_view(self)->owner.is_undefined() ||
                        (is_memory_view(other) && as_memory_view(other)->owner.is_undefined());
  if (released) return Value::boolean(self.is(other) == (op == CompareOp::Eq));
  if (!is_bytes_like(in, other)) return in.not_implemented;
  // Views of their own: what is compared may not be released meanwhile.
  const Value left = make_memory_view(in, self), right = make_memory_view(in, other);
  const MemoryView *a = view_of(left), *b = view_of(right);
  if (!comparable(a) || !comparable(b)) return Value::boolean(op == CompareOp::Ne);
  return Value::boolean(same_items(in, a, b) == (op == CompareOp::Eq));
}

int64_t hash_slot(Interpreter& in, const Value& self) {
  MemoryView* view = as_memory_view(self);
  if (view->hash != 0) return view->hash;
  view_of(self);
  if (!view->readonly) throw Error(ErrorKind::ValueError, "cannot hash writable memoryview object");
  const char letter = view->format.letter();
  if (letter != 'B' && letter != 'b' && letter != 'c')
    throw Error(ErrorKind::ValueError, "memoryview: hashing is restricted to formats 'B', 'b' or 'c'");
  hash(in, Value(view->owner));  // may run a script
  const Value bytes = memory_view_bytes(in, view_of(self));
  return view->hash = hash(in, bytes);
}

Value repr_slot(Interpreter& in, const Value& self) {
  char text[48];
  std::snprintf(text, sizeof text, "<%s at %p>",
                as_memory_view(self)->owner.is_undefined() ? "released memory" : "memory",
                static_cast<void*>(self.as_object()));
  return make_str(in, text);
}

Value iter_slot(Interpreter& in, const Value& self) {
  const size_t dimensions = as_memory_view(self)->shape.size();  // a released view refuses these first, as in CPython
  if (dimensions == 0) throw Error(ErrorKind::TypeError, "invalid indexing of 0-dim memory");
  if (dimensions != 1)
    throw Error(ErrorKind::NotImplementedError, "multi-dimensional sub-views are not implemented");
  readable_format(view_of(self));
  return index_iter(in, self);
}

void traverse(Object* self, Visitor& visitor) {
  visitor(known_cast<MemoryView>(self)->owner);
  visitor(known_cast<MemoryView>(self)->keeper);
}
void clear(Interpreter&, Object* self) { release_view(known_cast<MemoryView>(self)); }

Value make_view(Interpreter& in, Type*, const Args& args) {
  Value source[1];
  bind_maker(in, "memoryview(object)", args, source);
  return make_memory_view(in, source[0]);
}

}  // namespace

int64_t MemoryView::items() const noexcept {
  int64_t count = 1;
  for (const int64_t each : shape) count *= each;
  return count;
}

bool MemoryView::contiguous() const noexcept { return lies_in_rows(shape, strides, item_size); }

bool MemoryView::column_contiguous() const noexcept {
  return lies_in_rows({shape.rbegin(), shape.rend()}, {strides.rbegin(), strides.rend()}, item_size);
}

ItemWalk::ItemWalk(std::vector<int64_t> shape, std::vector<int64_t> strides, const char* first)
    : shape_(std::move(shape)), strides_(std::move(strides)), index_(shape_.size(), 0), at_(first) {}

void ItemWalk::step() noexcept {
  for (size_t i = shape_.size(); i-- > 0;) {
    at_ += strides_[i];
    if (++index_[i] < shape_[i]) return;
    at_ -= strides_[i] * shape_[i];
    index_[i] = 0;
  }
}

void destroy_memory_view(Interpreter& in, Object* self) {
  release_view(known_cast<MemoryView>(self));
  free_object(in, known_cast<MemoryView>(self));
}

Value make_memory_view(Interpreter& in, const Value& owner) {
  Value made;
  if (is_memory_view(owner)) {
    share_view(in, view_of(owner), made);
    return made;
  }
  Buffer buffer;
  BufferLayout layout;
  if (!find_buffer(in, owner, buffer, &layout)) {
    throw Error(ErrorKind::TypeError,
                "memoryview: a bytes-like object is required, not '" + std::string(type_name(in, owner)) + "'");
  }
  if (is_memory_view(buffer.keeper)) {
    share_view(in, view_of(buffer.keeper), made);
    return made;
  }
  MemoryView* view = make_object<MemoryView>(in, bytes_types(in).memory_view);
  made = Value::adopt(view);
  view->owner = owner;
  view->keeper = std::move(buffer.keeper);
  view->data = buffer.data;
  view->format = buffer.format;
  view->readonly = buffer.readonly;
  view->item_size = buffer.item_size;
  view->pinned = buffer.exports;
  if (view->pinned != nullptr) ++*view->pinned;
  if (layout.given) {
    view->shape = std::move(layout.shape);
    view->strides = std::move(layout.strides);
  } else {
    set_view_shape(view, {static_cast<int64_t>(buffer.size / buffer.item_size)});
  }
  return made;
}

Value memory_view_bytes(Interpreter& in, const MemoryView* view, bool by_columns) {
  size_t size = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(view->items()), view->item_size, &size))
    throw Error(ErrorKind::MemoryError, std::string());
  if (by_columns ? view->column_contiguous() : view->contiguous())
    return make_bytes(in, {view->data == nullptr ? "" : view->data, size});
  std::vector<int64_t> shape = view->shape, strides = view->strides;
  if (by_columns) std::reverse(shape.begin(), shape.end()), std::reverse(strides.begin(), strides.end());
  Bytes* const out = new_bytes(in, size);
  Value made = Value::adopt(out);
  ItemWalk walk(std::move(shape), std::move(strides), view->data);
  StopBudget budget(in);
  for (size_t at = 0; at < size; at += view->item_size, walk.step(), budget.take())
    std::memcpy(out->data() + at, walk.at(), view->item_size);
  return made;
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
  type->fill_later(memory_view_methods);
}

}  // namespace tessera::lang
