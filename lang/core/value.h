// The value: 16 bytes, a tag and a payload.
//
// None, bool, int (64 bits) and float are immediate; everything else is a pointer to an Object with an intrusive,
// non-atomic reference count. A Value owns one reference: copying counts up, destroying counts down, moving does
// neither. An Interpreter and all its Values belong to one thread at a time.
//
// `Undefined` never reaches a script: it marks an unset local, a missing attribute, an argument not given.
#pragma once

#include <cstdint>
#include <utility>

namespace tessera::lang {

struct Object;
class Interpreter;

enum class Tag : uint8_t { Undefined, None, Bool, Int, Float, Object };

// Called when a count reaches zero; finds the interpreter through the object's type. In object.cpp.
void destroy_object(Object* object) noexcept;

class Value {
 public:
  Value() noexcept : tag_(Tag::Undefined), int_(0) {}
  static Value none() noexcept { return Value(Tag::None, 0); }
  static Value boolean(bool b) noexcept { return Value(Tag::Bool, b ? 1 : 0); }
  static Value integer(int64_t i) noexcept { return Value(Tag::Int, i); }
  static Value real(double d) noexcept { return Value(d); }
  // Shares the object: counts one more reference.
  explicit inline Value(Object* object) noexcept;
  // Takes over the reference that a freshly made object is born with.
  static Value adopt(Object* object) noexcept {
    Value v;
    v.tag_ = Tag::Object;
    v.object_ = object;
    return v;
  }

  inline Value(const Value& other) noexcept;
  Value(Value&& other) noexcept : tag_(other.tag_), int_(other.int_) { other.tag_ = Tag::Undefined; }
  inline Value& operator=(const Value& other) noexcept;
  inline Value& operator=(Value&& other) noexcept;
  inline ~Value();

  Tag tag() const noexcept { return tag_; }
  bool is_undefined() const noexcept { return tag_ == Tag::Undefined; }
  bool is_none() const noexcept { return tag_ == Tag::None; }
  bool is_bool() const noexcept { return tag_ == Tag::Bool; }
  bool is_int() const noexcept { return tag_ == Tag::Int; }
  bool is_float() const noexcept { return tag_ == Tag::Float; }
  bool is_object() const noexcept { return tag_ == Tag::Object; }

  // Unchecked: the tag has been tested before.
  bool as_bool() const noexcept { return int_ != 0; }
  int64_t as_int() const noexcept { return int_; }  // also a bool's 0 or 1
  double as_float() const noexcept { return float_; }
  Object* as_object() const noexcept { return object_; }

  // The same as assigning integer(i) and so on, in fewer instructions where a compiler keeps temporaries in memory.
  inline void set_int(int64_t i) noexcept;
  inline void set_real(double d) noexcept;
  inline void set_bool(bool b) noexcept;

  // Where an int stands already.
  void replace_int(int64_t i) noexcept { int_ = i; }

  // As assigning Value(), which a compiler makes in memory first.
  inline void clear() noexcept;

  // Gives the reference away without counting; the value is Undefined afterwards.
  Object* release() noexcept {
    tag_ = Tag::Undefined;
    return object_;
  }

  // `is` of the language: the same object, or the same immediate value.
  bool is(const Value& other) const noexcept { return tag_ == other.tag_ && int_ == other.int_; }

 private:
  Value(Tag tag, int64_t payload) noexcept : tag_(tag), int_(payload) {}
  explicit Value(double d) noexcept : tag_(Tag::Float), float_(d) {}

  Tag tag_;
  union {
    int64_t int_;  // Bool, Int; zero for None and Undefined
    double float_;
    Object* object_;
  };
};

static_assert(sizeof(Value) == 16);

}  // namespace tessera::lang

#include "lang/core/object.h"  // the reference count, which the inline members below need

namespace tessera::lang {

inline Value::Value(Object* object) noexcept : tag_(Tag::Object), object_(object) { ++object->refcount; }

inline Value::Value(const Value& other) noexcept : tag_(other.tag_), int_(other.int_) {
  if (tag_ == Tag::Object) ++object_->refcount;
}

inline Value::~Value() {
  if (tag_ == Tag::Object && --object_->refcount == 0) destroy_object(object_);
}

// The old value is destroyed last: its destructor may run script code that looks at this place.
inline Value& Value::operator=(const Value& other) noexcept {
  if (other.tag_ == Tag::Object) ++other.object_->refcount;
  const Tag old_tag = tag_;
  Object* const old = object_;
  tag_ = other.tag_;
  int_ = other.int_;
  if (old_tag == Tag::Object && --old->refcount == 0) destroy_object(old);
  return *this;
}

// The other is emptied before this is written, so `v = std::move(v)` needs no question.
inline Value& Value::operator=(Value&& other) noexcept {
  const Tag tag = other.tag_;
  const int64_t payload = other.int_;
  other.tag_ = Tag::Undefined;
  const Tag old_tag = tag_;
  Object* const old = object_;
  tag_ = tag;
  int_ = payload;
  if (old_tag == Tag::Object && --old->refcount == 0) destroy_object(old);
  return *this;
}

// Ends the values, the last one first, as CPython ends the items of a list or tuple.
inline void end_values(Value* values, size_t count) noexcept {
  while (count != 0) values[--count].~Value();
}

inline void Value::clear() noexcept {
  const Tag old_tag = tag_;
  tag_ = Tag::Undefined;
  if (old_tag == Tag::Object && --object_->refcount == 0) destroy_object(object_);
}

inline void Value::set_int(int64_t i) noexcept {
  const Tag old_tag = tag_;
  Object* const old = object_;
  tag_ = Tag::Int;
  int_ = i;
  if (old_tag == Tag::Object && --old->refcount == 0) destroy_object(old);
}

inline void Value::set_real(double d) noexcept {
  const Tag old_tag = tag_;
  Object* const old = object_;
  tag_ = Tag::Float;
  float_ = d;
  if (old_tag == Tag::Object && --old->refcount == 0) destroy_object(old);
}

inline void Value::set_bool(bool b) noexcept {
  const Tag old_tag = tag_;
  Object* const old = object_;
  tag_ = Tag::Bool;
  int_ = b;
  if (old_tag == Tag::Object && --old->refcount == 0) destroy_object(old);
}

}  // namespace tessera::lang
