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

  void emit(Op op, uint32_t a, uint32_t b, uint32_t c, Span span) { put(make_word(op, a, b, c), {span}); }
  void emit(Op op, uint32_t a, uint32_t b, uint32_t c, const Place& place) { put(make_word(op, a, b, c), place); }
  void emit_x(Op op, uint32_t a, uint32_t bx, Span span) { put(make_wide(op, a, bx), {span}); }
  // With the number of a name's site, in the place that the form has for it; with a number in a second word. `d`: LoadNameCell's.
  // Returns false, and emits nothing, if there is no number left for the site.
  [[nodiscard]] bool try_emit_name(Op op, uint32_t a, uint32_t b, uint32_t d, std::string_view name, const Place& place);
  void emit_word(Op op, uint32_t a, uint32_t b, uint32_t c, uint32_t word, Span span);
  // An unconditional jump; an instruction that jumps on a condition, and a test, which jumps when it answers `when`.
  void jump(Label& label, Span span);
  void branch(Op op, uint32_t a, uint32_t b, Label& label, Span span);
  void test(Op op, uint32_t a, uint32_t b, bool when, Label& label, Span span);
  void bind(Label& label);

  void load_constant(uint32_t to, const Value& value, Span span);
  uint32_t constant(const Value& value);
  // Is it an int that an operand has room for?
  static bool fits_operand(const Value& value) {
    return value.is_int() && value.as_int() >= INT16_MIN && value.as_int() <= INT16_MAX;
  }
  uint32_t name(std::string_view text);
  Str* name_text(std::string_view text);

  Code* code() { return code_; }

 protected:
  void put(Word word, const Place& place) {
    code_->words.push_back(word);
    code_->places.push_back(place);
    code_->places.back().hidden |= hidden_;
  }

  // Words emitted while it lives are hidden (Place).
  class Hidden {
   public:
    explicit Hidden(Emitter& emitter, bool hides = true) : flag_(emitter.hidden_), before_(flag_) { flag_ |= hides; }
    ~Hidden() { flag_ = before_; }
    Hidden(const Hidden&) = delete;
    Hidden& operator=(const Hidden&) = delete;

   private:
    bool& flag_;
    bool before_;
  };

  Interpreter& in_;
  Code* code_;

 private:
  bool hidden_ = false;
  uint32_t site_for(Op op, std::string_view text);
  uint32_t global_site(Op op, std::string_view text);
  void use(Label& label, uint32_t at);
  uint32_t add_constant(const Value& value);
  uint32_t same_tuple(const Value& value) const;
  void patch(uint32_t at, int64_t target);

  std::unordered_map<int64_t, uint32_t> ints_;
  std::unordered_map<uint64_t, uint32_t> floats_;
  std::unordered_map<std::string_view, uint32_t> strings_;  // keys point into the constants
  uint32_t singletons_[4];                                  // None, False, True, Ellipsis
  std::unordered_map<Str*, uint32_t> names_;
  std::unordered_map<Str*, uint32_t> shared_sites_, shared_globals_;
};

}  // namespace tessera::lang
