// What lists, tuples, strings and ranges have in common.
#pragma once

#include <cstdint>
#include <string>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/types/range.h"
#include "lang/types/str.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct List;
struct Tuple;

// The count of a repetition: an int, a bool or an object with __index__. False: something else.
bool repetition_count(Interpreter& in, const Value& value, int64_t& times);
[[noreturn]] void throw_cannot_repeat(Interpreter& in, const Value& by);  // can't multiply sequence by …
// Whether the sequence of a native type refuses `other` as its count, as the last one that is asked.
bool is_last_to_repeat(Interpreter& in, const Value& other, bool reflected);
// Whether CPython's type has mp_subscript: its own __getitem__ of a script, or that of a native type that is not by position alone.
bool is_mapping_type(const Type* type) noexcept;
[[noreturn]] void throw_cannot_join(Interpreter& in, const char* type, const Value& other);  // can only concatenate …

// An int-like key as a number. `type` for the message: "list", "tuple", "range object".
// `whole_index` as a position or a length: beyond 64 bits an error of `kind`, "cannot fit 'int' into an index-sized integer".
int64_t index_sized(Interpreter& in, const Value& value, ErrorKind kind);
int64_t index_of_key(Interpreter& in, const Value& key, const char* type);
[[noreturn]] void throw_out_of_range(const char* type, const char* action);

// s[key] for an int-like key: a position in 0 .. length-1. The length is read after the key's __index__ has run, since
// that may have changed it. `action`: "" or " assignment".
template <class Length>
int64_t sequence_index(Interpreter& in, const Value& key, const Length& length, const char* type,
                       const char* action = "") {
  int64_t i = index_of_key(in, key, type);
  if (i < 0) i += length;
  if (i < 0 || i >= static_cast<int64_t>(length)) throw_out_of_range(type, action);
  return i;
}

// Whether two values are equal, where no script has a say in it; Unsure when only == can tell.
enum class Same { No, Yes, Unsure };
inline Same same_quietly(Interpreter& in, const Value& a, const Value& b) noexcept {
  if (a.is(b)) return Same::Yes;
  const bool a_text = a.is_object() && a.as_object()->type == in.types.str;
  const bool b_text = b.is_object() && b.as_object()->type == in.types.str;
  if (a_text && b_text) return str_equal(as_str(a), as_str(b)) ? Same::Yes : Same::No;
  if (a.is_object() || b.is_object())
    return (a_text && !b.is_object()) || (b_text && !a.is_object()) ? Same::No : Same::Unsure;
  if (a.tag() != b.tag()) return Same::Unsure;
  return a.is_float() && a.as_float() == b.as_float() ? Same::Yes : Same::No;
}

Same same_tuples_quietly(Interpreter& in, const Tuple* a, const Tuple* b) noexcept;

// Lists and tuples share these: comparison, hash and repr over an array of values.
Value compare_items(Interpreter& in, CompareOp op, const Value& left, const Value& right);
// [a, b] or (a, b); the sequence is asked again for each item, since a repr may change it.
std::string repr_items(Interpreter& in, const Value& sequence, const char* open, const char* close);
// Items [from, to) of a list become these.
void list_replace(Interpreter& in, List* list, size_t from, size_t to, const Value* items, size_t count);
// Where index(value, start, stop) finds the value; -1: nowhere.
int64_t find_item(Interpreter& in, const Value& sequence, const Value& value, const Value& start, const Value& stop);
int64_t count_item(Interpreter& in, const Value& sequence, const Value& value);

// operator.length_hint: what len() says, else what the class's __length_hint__ says, else `missing`. A TypeError of theirs says nothing.
int64_t length_hint(Interpreter& in, const Value& value, int64_t missing);
// The hint of an iterable whose class is a script's, for those that collect its items: CPython asks first, and makes room for as many as
// the answer says, which may be more than there is memory for.
void ask_length(Interpreter& in, const Value& iterable);

// Marks a container whose repr is being made; `again` when it is already: "[...]".
class ReprMark {
 public:
  ReprMark(Interpreter& in, Object* object);
  ~ReprMark();
  ReprMark(const ReprMark&) = delete;
  ReprMark& operator=(const ReprMark&) = delete;
  bool again() const { return again_; }

 private:
  Interpreter& in_;
  bool again_;
};

}  // namespace tessera::lang
