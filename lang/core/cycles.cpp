#include "lang/core/cycles.h"

#include <algorithm>

#include "lang/objects/attribute.h"
#include "lang/core/make_object.h"
#include "lang/types/dict.h"
#include "lang/objects/weak.h"

namespace tessera::lang {

namespace {

// gc_refs of an object that something outside reaches. No count gets there.
constexpr uint32_t kReached = UINT32_MAX;

// A collection costs time proportional to what is alive, so the next one waits until as much again has been made.
constexpr size_t kLeastInterval = 20'000;

void count_down(Visitor&, GcObject* object) {
  if (object->gc_refs != 0 && object->gc_refs != kReached) --object->gc_refs;
}

class Marker : public Visitor {
 public:
  Marker() : Visitor(&mark) {}

  void mark_from(GcObject* root) {
    mark(*this, root);
    while (!pending_.empty()) {
      GcObject* object = pending_.back();
      pending_.pop_back();
      traverse_object(object, *this);
    }
  }

 private:
  static void mark(Visitor& visitor, GcObject* object) {
    if (object->gc_refs == kReached) return;
    object->gc_refs = kReached;
    static_cast<Marker&>(visitor).pending_.push_back(object);
  }

  std::vector<GcObject*> pending_;
};

void traverse_attributes(Attributes& attributes, Visitor& visitor) {
  for (uint32_t i = 0; i < attributes.count; ++i) visitor(attributes.values[i]);
  if (attributes.dict != nullptr) visitor(attributes.dict);
}

void clear_object(Interpreter& in, GcObject* object) {
  if (object->type->attributes_offset != 0) clear_attributes(in, attributes_of(object));
  if (object->type->slots.clear != nullptr) object->type->slots.clear(in, object);
}

}  // namespace

void traverse_object(GcObject* object, Visitor& visitor) {
  Type* type = object->type;
  if (!(type->flags & kImmortal)) visitor(type);
  if (type->attributes_offset != 0) traverse_attributes(attributes_of(object), visitor);
  if (type->slots.traverse != nullptr) type->slots.traverse(object, visitor);
}

void Collector::request() noexcept {
  next_collection_ = SIZE_MAX;  // asked once is enough
  if (enabled_) in_.interrupt.fetch_or(kCollect, std::memory_order_relaxed);
}

void Collector::collect_if_due() {
  if ((in_.interrupt.fetch_and(~kCollect, std::memory_order_relaxed) & kCollect) != 0 && enabled_) collect();
}

void Collector::set_enabled(bool enabled) {
  enabled_ = enabled;
  next_collection_ = std::max(objects_.size() * 2, kLeastInterval);
}

void Collector::count_outside_references() {
  for (GcObject* object : objects_) object->gc_refs = (object->flags & kImmortal) ? kReached - 1 : object->refcount;
  Visitor down(&count_down);
  for (GcObject* object : objects_) traverse_object(object, down);
}

std::vector<GcObject*> Collector::find_garbage() {
  count_outside_references();
  Marker marker;
  for (GcObject* object : objects_) {
    if (object->gc_refs != 0 && object->gc_refs != kReached) marker.mark_from(object);
  }
  std::vector<GcObject*> garbage;
  for (GcObject* object : objects_) {
    if (object->gc_refs != kReached) garbage.push_back(object);
  }
  return garbage;
}

namespace {

// Runs the finalizers of these objects, each once. True: there were some, so reachability may have changed.
bool run_finalizers(Interpreter& in, const std::vector<GcObject*>& garbage) {
  std::vector<Value> waiting;
  for (GcObject* object : garbage) {
    if ((object->type->type_flags & kHasFinalizer) && !(object->flags & kFinalized)) waiting.emplace_back(object);
  }
  for (Value& value : waiting) {
    if (!(value.as_object()->flags & kFinalized)) run_finalizer(in, value.as_object());
  }
  return !waiting.empty();
}

}  // namespace

size_t Collector::collect() {
  if (running_) return 0;
  if (!in_.heap.doomed.empty()) {
    // Objects without references wait for their end, in the middle of which a finalizer asks: not now.
    next_collection_ = objects_.size() + kLeastInterval;
    return 0;
  }
  running_ = true;
  std::vector<GcObject*> garbage = find_garbage();
  if (run_finalizers(in_, garbage)) garbage = find_garbage();
  // Held until the end, so that clearing one does not free the next under our hands.
  std::vector<Value> held;
  held.reserve(garbage.size());
  for (GcObject* object : garbage) held.emplace_back(object);
  in_.weak_references().clear_garbage(garbage);
  for (GcObject* object : garbage) clear_object(in_, object);
  const size_t found = garbage.size();
  held.clear();
  next_collection_ = std::max(objects_.size() * 2, kLeastInterval);
  ++collections_;
  running_ = false;
  return found;
}

void Collector::finalize_all(const Dict* names) noexcept {
  if (names != nullptr) {
    std::vector<GcObject*> named;
    dict_for_each(names, [&](const Value&, const Value& v) {
      if (v.is_object() && (v.as_object()->flags & kTracked)) named.push_back(static_cast<GcObject*>(v.as_object()));
    });
    run_finalizers(in_, named);
  }
  // A finalizer may make objects that have one too; one that always makes another would never end.
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds && run_finalizers(in_, std::vector<GcObject*>(objects_)); ++round) {}
  for (GcObject* object : objects_) object->flags |= kFinalized;
}

void Collector::clear_all() noexcept {
  running_ = true;
  enabled_ = false;
  next_collection_ = SIZE_MAX;
  in_.weak_references().forget_all();
  std::vector<Value> held;
  held.reserve(objects_.size());
  for (GcObject* object : objects_) held.emplace_back(object);
  for (Value& value : held) clear_object(in_, static_cast<GcObject*>(value.as_object()));
}

}  // namespace tessera::lang
