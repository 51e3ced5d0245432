// Code: what the compiler makes of one function, class body or module; and Function, a Code with its surroundings.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/object.h"
#include "lang/core/object_cast.h"
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

// One instruction, or the second word of one: opcodes.def says which operand is what. Registers and constants are written as
// the distance in bytes from the first one, so that the loop adds them to an address as they are; all else as it is.
struct Word {
  uint8_t op;
  uint8_t d;
  uint16_t a, b, c;
};
static_assert(sizeof(Word) == 8);

constexpr uint32_t kValueShift = 4;  // of sizeof(Value)
static_assert(sizeof(Value) == 1 << kValueShift);

// The letters of an instruction's operands, as opcodes.def writes them.
inline constexpr const char* kForms[] = {
#define TS_OP(name, form) form,
#include "lang/compiler/opcodes.def"
#undef TS_OP
};
constexpr const char* form_of(Op op) { return kForms[static_cast<size_t>(op)]; }
// The letter of the second word, or 0.
constexpr char second_of(Op op) {
  char last = 0;
  for (const char* letter = form_of(op); *letter != 0; ++letter) last = *letter;
  return last >= 'A' && last <= 'Z' ? last : '\0';
}

// Making and taking apart of words.
constexpr Word make_word(Op op, uint32_t a, uint32_t b = 0, uint32_t c = 0, uint32_t d = 0) {
  const char* const form = form_of(op);
  const auto operand = [](char letter, uint32_t value) {
    return static_cast<uint16_t>(letter == 'r' || letter == 'k' ? value << kValueShift : value);
  };
  return {static_cast<uint8_t>(op), static_cast<uint8_t>(d), operand(form[0], a), operand(form[1], b),
          operand(form[2], c)};
}
constexpr Word make_wide(Op op, uint32_t a, uint32_t bx) {
  return {static_cast<uint8_t>(op), 0, static_cast<uint16_t>(a << kValueShift), static_cast<uint16_t>(bx),
          static_cast<uint16_t>(bx >> 16)};
}
constexpr Op op_of(Word w) { return static_cast<Op>(w.op); }
// Of a register or a constant: its number.
constexpr uint32_t a_of(Word w) { return w.a >> kValueShift; }
constexpr uint32_t b_of(Word w) { return w.b >> kValueShift; }
constexpr uint32_t c_of(Word w) { return w.c >> kValueShift; }
// Numbers with a sign.
constexpr int32_t sb_of(Word w) { return static_cast<int16_t>(w.b); }
constexpr int32_t sc_of(Word w) { return static_cast<int16_t>(w.c); }
// B and C as one number.
constexpr uint32_t bx_of(Word w) { return w.b | static_cast<uint32_t>(w.c) << 16; }
constexpr int32_t sbx_of(Word w) { return static_cast<int32_t>(bx_of(w)); }

constexpr uint32_t kNoRegister = 0xfff;
constexpr uint32_t kMostRegisters = 4000;    // that operands can name; see Note [Far variables] in opcodes.def for the rest
constexpr uint32_t kMostNumber = UINT16_MAX;  // of an operand that is a number without a sign
constexpr uint32_t kMostConstants = 1 << (16 - kValueShift);  // that an operand can name
constexpr int32_t kFarJump = INT16_MIN;                       // in place of a distance that C has no room for: Code::far_jumps

// Where an instruction comes from. Every word has one (second words repeat the first's).
struct Place {
  Span span;
  bool augmented = false;  // Note [Augmented] in opcodes.def
  Span anchor = {};        // the operator of a binary operation, the brackets of a subscript: `~~^~~` in tracebacks
  bool hidden = false;     // of no statement of the text: a tracer is not told of its line
};

// The places of a code's words, one for each. Those of code that was read from a file stay packed (code_bytes.cpp) until one is asked for, which
// for most functions is never.
class Places {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Place& operator[](size_t word) const { return all()[word]; }
  Place& operator[](size_t word) { return all()[word]; }
  const Place* begin() const { return all().data(); }
  const Place* end() const { return begin() + size_; }
  Place* begin() { return all().data(); }
  Place* end() { return begin() + size_; }
  void push_back(const Place& place) {
    all().push_back(place);
    ++size_;
  }
  Place& back() { return all().back(); }
  void set_packed(std::string_view packed, size_t size) {
    packed_ = packed;
    size_ = size;
    if (packed.empty()) places_.resize(size);
  }

 private:
  std::vector<Place>& all() const {
    if (!packed_.empty()) [[unlikely]]
      unpack();
    return places_;
  }
  void unpack() const;

  mutable std::vector<Place> places_;
  mutable std::string packed_;
  size_t size_ = 0;
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

// The kinds of temporaries that a compound statement keeps while its body runs, innermost statement first. A tracer's jump
// (lang/vm/jumps.cpp) keeps the temporaries of those statements that also enclose the jump's target.
enum class HeldKind : uint8_t {
  Iteration,         // of a for: three registers
  AsyncIteration,    // the same three, of which the first is used
  Object,            // the __exit__ of a with statement; the answer of a `return` that a finally delays
  Exception,         // that an except clause handles
  FinallyException,  // that goes on behind a finally body
  Group,             // of a clause of except*: what is left, what was raised, the part that is handled
  Subject,           // of a match statement
};
struct HeldBlock {
  int32_t outer;  // number of the block around it, or -1
  HeldKind kind;
  uint16_t reg;
};

// From this word on, up to the next entry, `block` (-1: none) is what is held. `begins`: a statement or one of its clauses begins
// here, with no other temporaries in use.
struct StatementAt {
  uint32_t word;
  int32_t block;
  bool begins;
};

// A jump whose distance the word has no room for.
struct FarJump {
  uint32_t word;
  int32_t offset;
};

// How a function gets the variables of the functions around it, in the order of its closure.
struct Capture {
  // The cell in R[index], or in far variable `index`, of the function that makes it; or its closure[index].
  enum class From : uint8_t { Register, Far, Closure };
  From from;
  uint32_t index;
};

enum CodeFlags : uint16_t {
  kVarArgs = 1,      // *args stands behind all named parameters
  kVarKeywords = 2,  // **kwargs behind that
  kGenerator = 4,
  kClassBody = 8,  // R[0] is the class's namespace dict
  kModuleBody = 16,
  kLambda = 32,
  kNamesInMapping = 2048,  // a body of eval, exec or single: R[0] is the mapping that holds its names
  kTextAnnotations = 4096,  // compiled under from __future__ import annotations
  kSimpleCall = 64,  // only plain parameters: no *args, no **kwargs, no keyword-only ones, no generator
  // With kGenerator, and with CPython's numbers:
  kCoroutine = 128,          // a call makes a coroutine
  kIterableCoroutine = 256,  // a generator that can be awaited (types.coroutine)
  kAsyncGenerator = 512,
  kPlainParameters = 1024,  // as kSimpleCall, but of generators, too
  kAsksArguments = 8192,    // an argument's class may answer a call in the function's place: Note [Calls that ask] in call.cpp
};

// The inline cache of an instruction that reads a global: it points to the global's value. While Interpreter::keys_versions equals `epoch`,
// no dict of globals or of builtins has gained or lost a key, so the pointer `value` is valid. After that, the pointer is still valid if the
// keys_version of the dict of globals equals `version`, and, when the value stands in the dict of builtins (`builtins` is true), if the
// keys_version of the dict of builtins equals `version2`. An `epoch` of zero or a `version` of zero marks the cache as empty.
struct GlobalCache {
  const Value* value = nullptr;
  uint32_t epoch = 0;
  uint32_t version = 0;
  Str* name = nullptr;  // interned
  uint32_t version2 = 0;
  bool builtins = false;
};

// A place in the code that uses another name, and what the instruction remembers of the attribute. There is room for two
// types, since a loop over objects of a class and a subclass is common: `site` is the one that was looked up last, `other`
// the one before.
struct alignas(64) InlineCache {
  AttributeSite site;
  AttributeSite other;
  Str* name = nullptr;  // interned

  const AttributeSite& site_for(uint32_t version) const {
    if (site.version == version) [[likely]]
      return site;
    return other;
  }
  // The place for a new answer.
  AttributeSite& fresh() {
    other = site;
    return site;
  }
};

static_assert(sizeof(InlineCache) == 64);  // which is quick to index

// Parameters stand in the registers in this order: positional-only, plain, keyword-only, *args, **kwargs.
struct Code : Object {
  static constexpr ObjectKind kKind = ObjectKind::Code;
  std::vector<Word> words;
  Places places;  // parallel to words
  std::vector<Value> constants;
  std::vector<Str*> names;  // of locals, interned
  std::vector<Protected> handlers;
  std::vector<InlinedLoop> comprehensions;  // inner ones before outer ones
  std::vector<Capture> captures;
  std::vector<InlineCache> caches;         // by the number in an instruction (s) or its second word (N)
  std::vector<GlobalCache> global_caches;  // by the number in an instruction (g)
  // The dicts of globals and of builtins of the first function that was made of this code. Once a function over other dicts was made of it,
  // `has_other_globals` is true, and the epochs of `global_caches` stay zero.
  const Dict* globals = nullptr;
  const Dict* builtins = nullptr;
  bool has_other_globals = false;
  std::vector<FarJump> far_jumps;  // in the order of their words
  std::vector<HeldBlock> blocks;
  std::vector<StatementAt> statements;  // in the order of their words

  std::shared_ptr<const Source> source;
  Str* name = nullptr;      // interned
  Str* qualname = nullptr;  // "Outer.method", "f.<locals>.g"
  Value doc;                // the docstring or None
  Span span;                // the def's first line
  uint32_t first = 0;       // offset of the first decorator, or of the def
  uint16_t code_flags = 0;

  uint32_t positional_only = 0;  // counts
  uint32_t positional = 0;       // with the positional-only ones
  uint32_t keyword_only = 0;
  std::vector<Str*> parameters;  // names in register order, *args and **kwargs last
  std::vector<Str*> locals;      // names of the registers below first_temporary, for tracebacks and dumps
  std::vector<Str*> free_names;  // names of the closure's cells
  std::vector<Str*> cell_names;  // names of the locals that functions inside share
  std::vector<Str*> far_locals;  // names of the far variables, R[near_registers] and so on; parameters first
  uint32_t near_parameters = 0;  // how many parameters are no far variables
  uint32_t first_temporary = 0;
  uint32_t near_registers = 0;  // locals and temporaries
  uint32_t registers = 0;       // all of them
};

// How far the conditional jump before `next` goes, from there on.
int32_t far_offset(const Code& code, const Word* next) noexcept;
inline int32_t offset_of(const Code& code, const Word* next) noexcept {
  const int32_t offset = sc_of(next[-1]);
  return offset == kFarJump ? far_offset(code, next) : offset;
}

// A variable that a closure shares.
struct Cell : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Cell;
  Value value;  // Undefined: unset
};

struct Function : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Function;
  Code* code = nullptr;      // owned
  Dict* globals = nullptr;   // owned: the module's dict
  Dict* builtins = nullptr;  // owned: those that globals['__builtins__'] names, else the interpreter's
  Cell** closure = nullptr;  // owned, code->captures.size() of them, in the same block
  Str* name = nullptr;       // owned
  Str* qualname = nullptr;   // owned
  Value module, doc;
  Value defaults;          // tuple or Undefined
  Value keyword_defaults;  // dict or Undefined
  Value annotations;       // dict or Undefined
  Value dict;              // attributes that scripts set; dict or Undefined
};

struct BoundMethod : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::BoundMethod;
  Value function;
  Value self;
};

inline Function* as_function(const Value& v) noexcept { return known_cast<Function>(v); }
inline bool is_function(const Value& v) noexcept {
  return v.is_object() && v.as_object()->kind == ObjectKind::Function;
}

// An empty Code; the compiler fills it in.
Code* new_code(Interpreter& in);
// `builtins` null: those that the globals name.
Value make_function(Interpreter& in, Code* code, Dict* globals, Dict* builtins = nullptr);
// What code with these globals has as its builtins: globals['__builtins__'], a dict or module, else the interpreter's.
Dict* builtins_for(Interpreter& in, Dict* globals);
Value copy_code(Interpreter& in, const Code* code);
Value make_bound_method(Interpreter& in, const Value& function, const Value& self);
Value make_cell(Interpreter& in, Value value);

}  // namespace tessera::lang
