// Words, constants, names, caches and labels of one Code in the making. Knows the form of instructions, not the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/compiler/chunk.h"
#include "lang/syntax/source.h"
#include "lang/core/value.h"

namespace tessera::lang {

// A place in the words that jumps go to, before or after it is known.
struct Label {
  int64_t target = -1;
  std::vector<uint32_t> uses;
};

class Emitter {
 public:
  Emitter(Interpreter& in, Code* code);

  uint32_t here() const { return static_cast<uint32_t>(code_->words.size()); }

  void emit(Op op, uint32_t a, uint32_t b, uint32_t c, Span span) { put(make_abc(op, a, b & 0xff, c & 0xff), {span}); }
  void emit(Op op, uint32_t a, uint32_t b, uint32_t c, const Place& place) {
    put(make_abc(op, a, b & 0xff, c & 0xff), place);
  }
  void emit_x(Op op, uint32_t a, uint32_t bx, Span span) { put(make_abx(op, a, bx & 0xffff), {span}); }
  // With a second word: the number of a name's site, or a plain number.
  void emit_name(Op op, uint32_t a, uint32_t b, uint32_t c, std::string_view name, const Place& place);
  void emit_word(Op op, uint32_t a, uint32_t b, uint32_t c, uint32_t word, Span span);
  // An unconditional jump, and a test with its jump word.
  void jump(Label& label, Span span);
  void test(Op op, uint32_t a, uint32_t b, bool when, Label& label, Span span);
  void bind(Label& label);

  void load_constant(uint32_t to, const Value& value, Span span);
  uint32_t constant(const Value& value);
  uint32_t name(std::string_view text);
  Str* name_text(std::string_view text);

  Code* code() { return code_; }

 protected:
  void put(Word word, const Place& place) {
    code_->words.push_back(word);
    code_->places.push_back(place);
  }

  Interpreter& in_;
  Code* code_;

 private:
  uint32_t site_for(Op op, std::string_view text);
  uint32_t add_constant(const Value& value);
  void patch(uint32_t at, int64_t target);

  std::unordered_map<int64_t, uint32_t> ints_;
  std::unordered_map<uint64_t, uint32_t> floats_;
  std::unordered_map<std::string_view, uint32_t> strings_;  // keys point into the constants
  uint32_t singletons_[4];                                  // None, False, True, Ellipsis
  std::unordered_map<Str*, uint32_t> names_;
  std::unordered_map<Str*, uint32_t> shared_sites_;
};

}  // namespace tessera::lang
