// Code: what the compiler makes of one function, class body or module; and Function, a Code with its surroundings.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lang/core/object.h"
#include "lang/objects/attribute.h"
#include "lang/syntax/source.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Str;
struct Dict;
struct Tuple;
struct Type;
class Interpreter;

enum class Op : uint8_t {
#define TS_OP(name, form) name,
#include "lang/compiler/opcodes.def"
#undef TS_OP
  Count
};

enum class IntrinsicId : uint8_t {
#define TS_INTRINSIC(name, count) name,
#include "lang/compiler/intrinsics.def"
#undef TS_INTRINSIC
  Count
};

using Word = uint32_t;

// Making and taking apart of words.
constexpr Word make_abc(Op op, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  return static_cast<Word>(op) | a << 8 | b << 16 | c << 24;
}
constexpr Word make_abx(Op op, uint32_t a, uint32_t bx) { return static_cast<Word>(op) | a << 8 | bx << 16; }
constexpr Word make_jump(Op op, int32_t offset) { return static_cast<Word>(op) | static_cast<Word>(offset) << 8; }
constexpr Op op_of(Word w) { return static_cast<Op>(w & 0xff); }
constexpr uint32_t a_of(Word w) { return w >> 8 & 0xff; }
constexpr uint32_t b_of(Word w) { return w >> 16 & 0xff; }
constexpr uint32_t c_of(Word w) { return w >> 24; }
constexpr int32_t sb_of(Word w) { return static_cast<int8_t>(w >> 16); }
constexpr int32_t sc_of(Word w) { return static_cast<int8_t>(w >> 24); }
constexpr uint32_t bx_of(Word w) { return w >> 16; }
constexpr int32_t sbx_of(Word w) { return static_cast<int16_t>(w >> 16); }
constexpr int32_t jump_of(Word w) { return static_cast<int32_t>(w) >> 8; }

constexpr int32_t kLargestJump = (1 << 23) - 1;
constexpr uint32_t kNoRegister = 0xff;
constexpr uint32_t kMostRegisters = 250;
constexpr uint32_t kFirstFar = 256;  // Note [Far variables] in opcodes.def
constexpr uint32_t kMostFar = 60'000;

// Where an instruction comes from. Every word has one (second words repeat the first's).
struct Place {
  Span span;
  bool augmented = false;  // Note [Augmented] in opcodes.def
  Span anchor = {};        // the operator of a binary operation, the brackets of a subscript: `~~^~~` in tracebacks
};

// Words [begin, end) are protected: an exception there clears the registers from `target` on, puts the exception
// into R[target], which is from then on "being handled" until EndHandler, and goes to `handler`. The first row that
// holds the word counts: inner rows stand before outer ones.
struct Protected {
  uint32_t begin, end, handler;
  uint16_t target;
};

// Words [begin, end) are the loop of a comprehension. It runs in its function's frame; a traceback shows it as the frame
// that CPython gives it.
struct InlinedLoop {
  uint32_t begin, end;
  Span span;  // of the whole comprehension
  const char* name;
};

// How a function gets the variables of the functions around it, in the order of its closure.
struct Capture {
  bool from_register;  // the cell in R[index] of the function that makes it; else its closure[index]
  uint16_t index;
};

enum CodeFlags : uint16_t {
  kVarArgs = 1,      // *args stands behind all named parameters
  kVarKeywords = 2,  // **kwargs behind that
  kGenerator = 4,
  kClassBody = 8,  // R[0] is the class's namespace dict
  kModuleBody = 16,
  kLambda = 32,
  kSimpleCall = 64,  // only plain parameters: no *args, no **kwargs, no keyword-only ones, no generator
};

// A place in the code that uses a name, by number in the instruction's second word: the name, and what the instruction
// remembers. Of a global that is its value's place: `site.version` is then the dict's keys_version, and `builtins` says
// that the value stands in that dict, as of `version2`.
//
// Attributes have room for two types, since a loop over objects of a class and a subclass is common: `site` is the one
// that was looked up last, `other` the one before.
struct InlineCache {
  AttributeSite site;
  AttributeSite other;
  Str* name = nullptr;  // interned
  uint32_t version2 = 0;
  bool builtins = false;

  const AttributeSite& site_for(uint32_t version) const { return site.version == version ? site : other; }
  // The place for a new answer.
  AttributeSite& fresh() {
    other = site;
    return site;
  }
};

static_assert(sizeof(InlineCache) == 64);  // which is quick to index

// Parameters stand in the registers in this order: positional-only, plain, keyword-only, *args, **kwargs.
struct Code : Object {
  std::vector<Word> words;
  std::vector<Place> places;  // parallel to words
  std::vector<Value> constants;
  std::vector<Str*> names;  // of locals, interned
  std::vector<Protected> handlers;
  std::vector<InlinedLoop> comprehensions;  // inner ones before outer ones
  std::vector<Capture> captures;
  std::vector<InlineCache> caches;  // by the number in a name word

  std::shared_ptr<const Source> source;
  Str* name = nullptr;      // interned
  Str* qualname = nullptr;  // "Outer.method", "f.<locals>.g"
  Value doc;                // the docstring or None
  Span span;                // the def's first line
  uint16_t code_flags = 0;

  uint32_t positional_only = 0;  // counts
  uint32_t positional = 0;       // with the positional-only ones
  uint32_t keyword_only = 0;
  std::vector<Str*> parameters;  // names in register order, *args and **kwargs last
  std::vector<Str*> locals;      // names of the registers below first_temporary, for tracebacks and dumps
  std::vector<Str*> free_names;  // names of the closure's cells
  std::vector<Str*> far_locals;  // names of R[kFirstFar] and so on; parameters first
  uint32_t near_parameters = 0;  // how many parameters are no far variables
  uint32_t first_temporary = 0;
  uint32_t near_registers = 0;  // locals and temporaries
  uint32_t registers = 0;       // all of them
};

// A variable that a closure shares.
struct Cell : GcObject {
  Value value;  // Undefined: unset
};

struct Function : GcObject {
  Code* code = nullptr;      // owned
  Dict* globals = nullptr;   // owned: the module's dict
  Cell** closure = nullptr;  // owned, code->captures.size() of them
  Str* name = nullptr;       // owned
  Str* qualname = nullptr;   // owned
  Value module, doc;
  Value defaults;          // tuple or Undefined
  Value keyword_defaults;  // dict or Undefined
  Value annotations;       // dict or Undefined
  Value dict;              // attributes that scripts set; dict or Undefined
};

struct BoundMethod : GcObject {
  Value function;
  Value self;
};

inline Function* as_function(const Value& v) noexcept { return static_cast<Function*>(v.as_object()); }
inline bool is_function(const Value& v) noexcept {
  return v.is_object() && v.as_object()->kind == ObjectKind::Function;
}

// An empty Code; the compiler fills it in.
Code* new_code(Interpreter& in);
Value make_function(Interpreter& in, Code* code, Dict* globals);
Value make_bound_method(Interpreter& in, const Value& function, const Value& self);
Value make_cell(Interpreter& in, Value value);

}  // namespace tessera::lang
