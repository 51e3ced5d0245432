// The parts of the bytes types, one per file.
#pragma once

#include "lang/core/interpreter.h"
#include "lang/types/bytes.h"

namespace tessera::lang {

void bytes_slots(Interpreter& in, BytesTypes& types);
void bytes_search_methods(Interpreter& in, Type* type);  // find, split, strip ...; of bytes and bytearray alike
void bytes_text_methods(Interpreter& in, Type* type);    // join, case, padding, hex, decode ...
void byte_array_methods(Interpreter& in, Type* type);    // what changes it
void fill_memory_view_slots(Type* type);
void memory_view_methods(Interpreter& in, Type* type);
Value make_bytes_from(Interpreter& in, Type* type, const Args& args);
Value make_byte_array_from(Interpreter& in, Type* type, const Args& args);

// The view; ValueError if it has been released.
MemoryView* view_of(const Value& v);
void release_view(MemoryView* view) noexcept;
// A view of the same memory that the caller shapes anew.
MemoryView* share_view(Interpreter& in, const MemoryView* from, Value& holder);
void set_view_shape(MemoryView* view, std::vector<int64_t> shape);  // without gaps
// The letter that the items are read by, or NotImplementedError.
char readable_format(const MemoryView* view);

// One item after the other, row by row.
class ItemWalk {
 public:
  ItemWalk(std::vector<int64_t> shape, std::vector<int64_t> strides, const char* first);
  const char* at() const noexcept { return at_; }
  void step() noexcept;

 private:
  std::vector<int64_t> shape_, strides_, index_;
  const char* at_;
};

// What a method of bytes or bytearray gives: the same of the two as `self`, never a subclass.
Value bytes_alike(Interpreter& in, const Value& self, std::string_view bytes);
// The items of an iterable of ints, as a bytearray; `iterator`: what `may_iterate` gave for it, or Undefined.
Value bytes_from_items(Interpreter& in, const Value& iterable, const Value& iterator, const char* out_of_range);
// b'format' % values.
std::string percent_format_bytes(Interpreter& in, std::string_view text, const Value& values);

}  // namespace tessera::lang
