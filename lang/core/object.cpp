// The end of objects, and the memory that they stand in.
//
// Destroying a list destroys its items, and so on: a linked list of a million nodes would recurse a million times. So
// the depth is counted, and beyond a bound an object is only noted down; the outermost call destroys what was noted.
#include "lang/core/host.h"
#include "lang/core/object.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "lang/objects/attribute.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/core/ending.h"
#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/pieces.h"
#include "lang/vm/vm.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/set.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/objects/unraisable.h"
#include "lang/objects/weak.h"

namespace tessera::lang {

namespace {

// One level takes under 300 bytes of the C++ stack in a release build and under 2 KB with sanitizers.
constexpr uint32_t kMaxDestroyDepth = 100;
constexpr size_t kSlabBytes = 64 << 10;

// Weak references to an object that is on its way out: callbacks may collect, and it is not garbage.
[[gnu::noinline]] void clear_weak_references(Interpreter& in, Object* object) noexcept {
  object->refcount = 1;
  in.weak_references().clear(object);
  --object->refcount;
}

// False: the object has come back to life.
bool finalize(Interpreter& in, Object* object) noexcept {
  // As CPython's, a generator ends after its weak references.
  if (object->kind == ObjectKind::Generator && (object->flags & kWeaklyReferenced)) clear_weak_references(in, object);
  object->refcount = 1;
  if (object->kind != ObjectKind::Generator || !generator_end_unseen(in, known_cast<Generator>(object)))
    run_finalizer(in, object);
  return --object->refcount == 0;
}

// Runs the finalizer, clears the weak references and drops the dict aside. Returns false if the object has come back to life.
[[gnu::noinline]] bool tell_of_end(Interpreter& in, Object* object) noexcept {
  // A class that the collector has taken apart has no __del__ to look up: an untracked instance (a text stream's) may outlive it.
  const bool has_finalizer = (object->type->type_flags & kHasFinalizer) != 0 && object->type->version != kForgotten;
  if (has_finalizer && !(object->flags & kFinalized) && !finalize(in, object)) return false;
  if (object->flags & kWeaklyReferenced) clear_weak_references(in, object);
  if (object->flags & kHasDictAside) {
    // Not as a tracked object: what the dict holds may run a script, and the collector with it.
    if (object->flags & kTracked) in.collector().untrack(static_cast<GcObject*>(object));
    drop_dict_aside(in, object);
  }
  return true;
}

// Nobody sees the attributes any more: they need not be emptied before they end, as clear_attributes does.
void end_attributes(Interpreter& in, const Attributes& attributes) noexcept {
  Value* const values = attributes.values;
  if (values != nullptr) {
    for (uint32_t i = 0; i < attributes.count; ++i) values[i].~Value();
    in.heap.deallocate(values, attributes.capacity * sizeof(Value));
  }
  if (attributes.dict != nullptr && --attributes.dict->refcount == 0) destroy_object(attributes.dict);
}

[[gnu::always_inline]] inline void destroy_now(Interpreter& in, Object* object) noexcept {
  Type* type = object->type;
  if (((type->type_flags & kHasFinalizer) | (object->flags & (kWeaklyReferenced | kHasDictAside))) != 0) [[unlikely]] {
    if (!tell_of_end(in, object)) return;
  }
  if (object->flags & kTracked) in.collector().untrack(static_cast<GcObject*>(object));
  if (type->attributes_offset != 0) end_attributes(in, attributes_of(object));
  type->slots.destroy(in, object);
  if (!(type->flags & kImmortal) && --type->refcount == 0) destroy_object(type);
}

}  // namespace

void run_finalizer(Interpreter& in, Object* object) noexcept {
  object->flags |= kFinalized;
  try {
    // Finalizers that make objects with finalizers would go on for ever. One that is left out for the sake of a limit is an effect of the
    // limit: it counts as hit then, and the run ends with its exception.
    if (is_ending(in)) return in.check_stop(0);
    const Value self(object);
    Value method = type_lookup(object->type, in.names->del);  // of the class: neither the instance nor its __getattribute__ is asked
    bool bound = false;
    try {
      if (--in.countdown < 0) in.check_stop(0);
      const PendingAside aside(in.vm());
      if (is_function(method) || is_native_method(method)) {
        call_special(in, method, self);
      } else {
        method = bind_attribute(in, method, self, object->type);
        bound = true;
        call(in, method);
      }
    } catch (const std::exception&) {
      const Value exception = current_native_exception(in);
      if (!bound && !is_function(method) && !is_native_method(method)) return;  // a descriptor has failed: CPython drops its exception
      // As CPython: the function of a script's class, and what has a native finalizer itself.
      report_unraisable(in, exception, nullptr, (object->type->type_flags & kScriptClass) != 0 ? method : self);
    }
  } catch (...) {
    // Nobody could be told: a destructor has no caller.
  }
}

// The objects that were noted down while others ended.
[[gnu::noinline]] static void destroy_doomed(Interpreter& in) noexcept {
  Heap& heap = in.heap;
  while (!heap.doomed.empty()) {
    Object* next = heap.doomed.back();
    heap.doomed.pop_back();
    destroy_now(in, next);
  }
}

// Returns false if there is no memory to note the object down.
[[gnu::noinline]] static bool put_off(Heap& heap, Object* object) noexcept {
  try {
    heap.doomed.push_back(object);
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // one level deeper then: there is room on the stack beyond the bound
  }
}

// Apart, so that the end of a string saves no registers.
[[gnu::noinline]] static void destroy_holder(Interpreter& in, Object* object) noexcept {
  Heap& heap = in.heap;
  if (heap.destroy_depth >= kMaxDestroyDepth && put_off(heap, object)) [[unlikely]]
    return;
  ++heap.destroy_depth;
  destroy_now(in, object);
  if (heap.destroy_depth == 1 && !heap.doomed.empty()) [[unlikely]]
    destroy_doomed(in);
  --heap.destroy_depth;
}

// The last reference of a list or tuple to an item is gone. Counts the depth, as destroy_holder does.
[[gnu::noinline]] static void end_item(Interpreter& in, Object* item) noexcept {
  Heap& heap = in.heap;
  ++heap.destroy_depth;
  destroy_object(item);
  if (heap.destroy_depth == 1 && !heap.doomed.empty()) [[unlikely]]
    destroy_doomed(in);
  --heap.destroy_depth;
}

[[gnu::always_inline]] static inline void end_value(Interpreter& in, const Value& value) noexcept {
  if (value.is_object() && --value.as_object()->refcount == 0) end_item(in, value.as_object());
}

// The last item first, as CPython.
static void end_items(Interpreter& in, const Value* items, uint32_t count) noexcept {
  for (const Value* at = items + count; at != items;) end_value(in, *--at);
}

// Lists and tuples of no subclass are most of what ends and holds something: they have no finalizer and no attributes.
[[gnu::noinline]] static void destroy_plain_list(Interpreter& in, List* list) noexcept {
  if (list->flags & kTracked) in.collector().untrack(list);
  end_items(in, list->items, list->size);
  if (list->items != nullptr) in.heap.deallocate(list->items, list->capacity * sizeof(Value));
  in.heap.deallocate(list, sizeof(List));
}

[[gnu::noinline]] static void destroy_plain_tuple(Interpreter& in, Tuple* tuple) noexcept {
  if (tuple->flags & kTracked) in.collector().untrack(tuple);
  end_items(in, tuple->items, tuple->size);
  in.heap.deallocate(tuple, sizeof(Tuple) + tuple->size * sizeof(Value));
}

// The same for dicts.
[[gnu::noinline]] static void destroy_plain_dict(Interpreter& in, Dict* dict) noexcept {
  if (dict->flags & kTracked) in.collector().untrack(dict);
  for (uint32_t i = 0; i < dict->used; ++i) {
    end_value(in, dict->entries[i].key);
    end_value(in, dict->entries[i].value);
  }
  free_plain_dict(in, dict);
}

// The same for sets.
[[gnu::noinline]] static void destroy_plain_set(Interpreter& in, Set* set) noexcept {
  if (set->flags & kTracked) in.collector().untrack(set);
  const size_t slots = set->table == nullptr ? 0 : size_t{set->mask} + 1;
  for (size_t i = 0; i < slots; ++i) end_value(in, set->table[i].key);
  if (slots != 0) in.heap.deallocate(set->table, slots * sizeof(SetEntry));
  in.heap.deallocate(set, sizeof(Set));
}

void destroy_object(Object* object) noexcept {
  const Type* const type = object->type;
  Interpreter& in = *type->owner;
  if (type == in.types.str) return destroy_str(in, object);  // a str holds no references, and no finalizer waits for its end
  if (in.heap.destroy_depth < kMaxDestroyDepth) [[likely]] {
    if (type == in.types.list) return destroy_plain_list(in, known_cast<List>(object));
    if (type == in.types.tuple) return destroy_plain_tuple(in, known_cast<Tuple>(object));
    if (type == in.types.set && !(object->flags & kWeaklyReferenced)) return destroy_plain_set(in, known_cast<Set>(object));
    if (type == in.types.dict) return destroy_plain_dict(in, known_cast<Dict>(object));
  }
  destroy_holder(in, object);
}

void throw_while_making() { throw Error(ErrorKind::KeyboardInterrupt, std::string()); }

Heap::~Heap() {
  for (void* slab : slabs_) std::free(slab);
}

namespace {

// The exception has no message, as CPython's; what was wanted stands below it. `limit` zero: the system had no more.
[[noreturn]] void throw_no_memory(uint64_t bytes, uint64_t used, uint64_t limit) {
  Error error(ErrorKind::MemoryError, "");
  error.notes.push_back("tried to allocate " + std::to_string(bytes) + " bytes for objects with " +
                        std::to_string(used) + (limit == 0 ? "" : " of " + std::to_string(limit)) + " bytes in use");
  throw error;
}

}  // namespace

// Note [The reserve]
// A limit that is met in the middle of anything leaves no byte for the exception that says so, nor for the handler that
// would drop what is too much. So slabs of small objects go on beyond it for a while, and the interpreter, which hears of it,
// throws at its next safe point; only what is large, or comes when the reserve is used up, is refused on the spot.
void Heap::expect(size_t bytes) const {
  if (limit_ != 0 && (bytes > allowed_ || bytes_ > allowed_ - bytes)) throw_no_memory(bytes, bytes_, limit_);
}

void Heap::account(size_t bytes) {
  expect(bytes);
  bytes_ += bytes;
}

uint64_t Heap::beyond_limit() const {
  return std::min<uint64_t>(kReserve, std::max<uint64_t>(limit_ / 8, 2 * kSlabBytes));
}

// A slab, or a small object where each is a block of its own.
void Heap::account_small(size_t bytes) {
  if (limit_ != 0 && bytes_ + bytes > allowed_) {
    if (bytes_ + bytes > limit_ + beyond_limit()) throw_no_memory(bytes, bytes_, limit_);
    interrupt_.fetch_or(kMemoryShort, std::memory_order_relaxed);
    if (bytes < kSlabBytes) allowed_ = bytes_ + kSlabBytes;  // one word for as much as a slab would have had room for
  }
  bytes_ += bytes;
}

// Null when the reserve is used up as well. The block that it is cut from stands among the slabs already.
char* Heap::slab_from_system() noexcept {
  if (void* slab = std::malloc(kSlabBytes)) {
    slabs_.push_back(slab);
    return static_cast<char*>(slab);
  }
  if (reserve_next_ == reserve_end_) return nullptr;
  interrupt_.fetch_or(kMemoryShort, std::memory_order_relaxed);
  return std::exchange(reserve_next_, reserve_next_ + kSlabBytes);
}

// Pages that nobody touches cost nothing, so the system's reserve is only address space.
void Heap::begin_run() noexcept {
  if (limit_ != 0) allowed_ = std::max(limit_, std::min(bytes_ + 2 * kSlabBytes, limit_ + beyond_limit() / 2));
  if (reserve_end_ != nullptr && static_cast<size_t>(reserve_end_ - reserve_next_) >= kReserve / 2) return;
  try {
    slabs_.reserve(std::max<size_t>(64, slabs_.size() + 1));
  } catch (const std::bad_alloc&) {
    return;
  }
  void* const block = std::malloc(kReserve);
  if (block == nullptr) return;
  slabs_.push_back(block);
  reserve_next_ = static_cast<char*>(block);
  reserve_end_ = reserve_next_ + kReserve;
}

namespace {

// Of small pages a large block takes several times as long to be touched first, and to be given back.
void ask_for_huge_pages(void* memory, size_t bytes) noexcept {
  constexpr size_t kLarge = size_t{4} << 20, kPage = 4096;
  if (bytes < kLarge) return;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(memory) + kPage - 1) / kPage * kPage,
                  last = (reinterpret_cast<uintptr_t>(memory) + bytes) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace

void* Heap::allocate_slow(size_t bytes) {
#if !defined(__SANITIZE_ADDRESS__)
  if (bytes <= kLargestSmall) {
    const size_t rounded = size_class(bytes == 0 ? 1 : bytes) * kGrain;
    if (static_cast<size_t>(slab_end_ - slab_next_) < rounded) {
      // Whatever throws here leaves the last slab as it is.
      look_while_making(interrupt_);
      if (slabs_.size() == slabs_.capacity()) slabs_.reserve(std::max<size_t>(64, slabs_.size() * 2));
      account_small(kSlabBytes);
      char* const slab = slab_from_system();
      if (slab == nullptr) {
        bytes_ -= kSlabBytes;
        throw_no_memory(kSlabBytes, bytes_, 0);
      }
      slab_next_ = slab;
      slab_end_ = slab + kSlabBytes;
    }
    void* memory = slab_next_;
    slab_next_ += rounded;
    return memory;
  }
#endif
  look_while_making(interrupt_);
  if (bytes <= kLargestSmall) {  // under a sanitizer
    account_small(bytes);
  } else {
    account(bytes);
  }
  void* memory = std::malloc(bytes);
  if (memory == nullptr) {
    bytes_ -= bytes;
    throw_no_memory(bytes, bytes_, 0);
  }
  ask_for_huge_pages(memory, bytes);
  return memory;
}

void Heap::deallocate_large(void* memory, size_t bytes) noexcept {
  bytes_ -= bytes;
  std::free(memory);
}

void* Heap::reallocate(void* memory, size_t bytes, size_t wanted) {
#if !defined(__SANITIZE_ADDRESS__)
  if (bytes > kLargestSmall && wanted > kLargestSmall) {  // large blocks often grow where they are
    look_while_making(interrupt_);
    account(wanted);
    void* moved = std::realloc(memory, wanted);
    bytes_ -= moved != nullptr ? bytes : wanted;
    if (moved == nullptr) throw_no_memory(wanted, bytes_, 0);
    ask_for_huge_pages(moved, wanted);
    return moved;
  }
#endif
  void* moved = allocate(wanted);
  if (memory != nullptr) {
    std::memcpy(moved, memory, bytes < wanted ? bytes : wanted);
    deallocate(memory, bytes);
  }
  return moved;
}

}  // namespace tessera::lang
