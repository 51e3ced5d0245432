// The end of objects, and the memory that they stand in.
//
// Destroying a list destroys its items, and so on: a linked list of a million nodes would recurse a million times. So
// the depth is counted, and beyond a bound an object is only noted down; the outermost call destroys what was noted.
#include "lang/core/host.h"
#include "lang/core/object.h"

#include <cstdlib>
#include <cstring>

#include "lang/objects/attribute.h"
#include "lang/core/error.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/types/str.h"
#include "lang/objects/weak.h"

namespace tessera::lang {

namespace {

// One level takes under 300 bytes of the C++ stack in a release build and under 2 KB with sanitizers.
constexpr uint32_t kMaxDestroyDepth = 100;
constexpr size_t kSlabBytes = 64 << 10;

// False: the object has come back to life.
bool finalize(Interpreter& in, Object* object) noexcept {
  object->refcount = 1;
  run_finalizer(in, object);
  return --object->refcount == 0;
}

void destroy_now(Interpreter& in, Object* object) noexcept {
  Type* type = object->type;
  if ((type->type_flags & kHasFinalizer) && !(object->flags & kFinalized) && !finalize(in, object)) return;
  if (object->flags & kWeaklyReferenced) {
    object->refcount = 1;  // callbacks may collect: this one is not garbage, it is on its way out
    in.weak_references().clear(object);
    --object->refcount;
  }
  if (object->flags & kTracked) in.collector().untrack(static_cast<GcObject*>(object));
  if (type->attributes_offset != 0) clear_attributes(in, attributes_of(object));
  type->slots.destroy(in, object);
  if (!(type->flags & kImmortal) && --type->refcount == 0) destroy_object(type);
}

}  // namespace

void run_finalizer(Interpreter& in, Object* object) noexcept {
  object->flags |= kFinalized;
  try {
    const Value self(object);
    try {
      call_method(in, self, in.names->del);
    } catch (const Thrown& thrown) {
      if (in.host().write_error) {
        in.host().write_error("Exception ignored in: " + repr_text(in, type_lookup(object->type, in.names->del)) +
                              "\n");
        in.host().write_error(in.format_exception(thrown.exception));
      }
    }
  } catch (...) {
    // Nobody could be told: a destructor has no caller.
  }
}

void destroy_object(Object* object) noexcept {
  Interpreter& in = *object->type->owner;
  Heap& heap = in.heap;
  if (heap.destroy_depth >= kMaxDestroyDepth) {
    heap.doomed.push_back(object);
    return;
  }
  ++heap.destroy_depth;
  destroy_now(in, object);
  if (heap.destroy_depth == 1) {
    while (!heap.doomed.empty()) {
      Object* next = heap.doomed.back();
      heap.doomed.pop_back();
      destroy_now(in, next);
    }
  }
  --heap.destroy_depth;
}

Heap::~Heap() {
  for (void* slab : slabs_) std::free(slab);
}

void Heap::account(size_t bytes) {
  if (limit_ != 0 && bytes_ + bytes > limit_) throw Error(ErrorKind::MemoryError, "");
  bytes_ += bytes;
}

void* Heap::allocate_slow(size_t bytes) {
#if !defined(__SANITIZE_ADDRESS__)
  if (bytes <= kLargestSmall) {
    const size_t rounded = size_class(bytes == 0 ? 1 : bytes) * kGrain;
    if (static_cast<size_t>(slab_end_ - slab_next_) < rounded) {
      account(kSlabBytes);
      slab_next_ = static_cast<char*>(std::malloc(kSlabBytes));
      if (slab_next_ == nullptr) throw Error(ErrorKind::MemoryError, "");
      slabs_.push_back(slab_next_);
      slab_end_ = slab_next_ + kSlabBytes;
    }
    void* memory = slab_next_;
    slab_next_ += rounded;
    return memory;
  }
#endif
  account(bytes);
  void* memory = std::malloc(bytes);
  if (memory == nullptr) {
    bytes_ -= bytes;
    throw Error(ErrorKind::MemoryError, "");
  }
  return memory;
}

void Heap::deallocate_large(void* memory, size_t bytes) noexcept {
  bytes_ -= bytes;
  std::free(memory);
}

void* Heap::reallocate(void* memory, size_t bytes, size_t wanted) {
#if !defined(__SANITIZE_ADDRESS__)
  if (bytes > kLargestSmall && wanted > kLargestSmall) {  // large blocks often grow where they are
    account(wanted);
    void* moved = std::realloc(memory, wanted);
    bytes_ -= moved != nullptr ? bytes : wanted;
    if (moved == nullptr) throw Error(ErrorKind::MemoryError, "");
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
