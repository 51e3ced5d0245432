// co_name, co_code and so on: CPython's names for what our code has. An instruction counts as two bytes (its opcode and its
// first operand), in co_code as in the offsets of co_lines and f_lasti.
// compile: small (introspection)
#include "lang/objects/class.h"
#include "lang/objects/code_object.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "lang/compiler/chunk.h"
#include "lang/compiler/fuse.h"
#include "lang/core/bind.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/module.h"
#include "lang/core/protocol.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

Code* new_code(Interpreter& in) { return make_object<Code>(in, in.types.code); }

namespace {

constexpr int64_t kBytesOfWord = 2;

Code* code_of(const Args& a) { return object_cast<Code>(a[0]); }
Code* code_of(const Value& v) { return object_cast<Code>(v); }

void destroy_code(Interpreter& in, Object* object) {
  free_object(in, known_cast<Code>(object));  // its names are interned: the interpreter holds them
}

Value code_repr(Interpreter& in, const Value& self) {
  const Code* code = code_of(self);
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<const void*>(code));
  return make_str(in, "<code object " + std::string(code->name->view()) + " at " + address + ", file \"" +
                          code->source->name() + "\", line " + std::to_string(first_line(code)) + ">");
}

// --- names and constants

// Bodies of classes, eval and exec have their mapping as a parameter, which programs do not see.
bool has_mapping(const Code* code) { return (code->code_flags & (kClassBody | kNamesInMapping)) != 0; }

bool is_shown(const Str* name) {
  return name != nullptr && name->size != 0 && (!name->view().starts_with('.') || name->view() == ".0");
}

std::vector<Str*> variable_names(const Code* code) {
  std::vector<Str*> names;
  if (has_mapping(code)) return names;
  const auto is_cell = [&](const Str* name) {
    return std::find(code->cell_names.begin(), code->cell_names.end(), name) != code->cell_names.end();
  };
  for (Str* name : code->parameters) {
    if (is_shown(name)) names.push_back(name);
  }
  const auto add = [&](Str* name) {
    if (is_shown(name) && !is_cell(name)) names.push_back(name);
  };
  for (size_t k = code->near_parameters; k < code->locals.size(); ++k) add(code->locals[k]);
  for (size_t k = code->parameters.size() - code->near_parameters; k < code->far_locals.size(); ++k) add(code->far_locals[k]);
  return names;
}

Value names_tuple(Interpreter& in, const std::vector<Str*>& names) {
  std::vector<Value> values;
  for (Str* name : names) values.emplace_back(name);
  return make_tuple(in, values.data(), values.size());
}

// Calls f(word, place) for each instruction; a second word is skipped.
template <class F>
void for_each_word(const Code* code, F&& f) {
  for (size_t at = 0; at < code->words.size(); ++at) {
    f(code->words[at], at);
    if (second_of(op_of(code->words[at])) != 0) ++at;
  }
}

// Globals, attributes and names of mappings, in the order of their first use.
std::vector<Str*> used_names(const Code* code) {
  std::vector<Str*> names;
  const auto add = [&](Str* name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for_each_word(code, [&](Word w, size_t at) {
    const Op op = op_of(w);
    const bool of_cell = op == Op::LoadCell || op == Op::DeleteCell || op == Op::LoadFree || op == Op::DeleteFree;
    if (of_cell) return;
    if (second_of(op) == 'N') add(code->caches[bx_of(code->words[at + 1])].name);
    const char* const form = form_of(op);
    const auto operand = [&](size_t k) -> uint32_t { return k == 0 ? w.a : k == 1 ? w.b : k == 2 ? w.c : w.d; };
    for (size_t k = 0; form[k] != 0 && k < 4; ++k) {
      if (form[k] == 's') add(code->caches[operand(k)].name);
      if (form[k] == 'g') add(code->global_caches[k > 0 && form[k - 1] == 'x' ? bx_of(w) : operand(k)].name);
    }
  });
  return names;
}

// The constants that programs see: the docstring or None first, small numbers that stand in instructions among them. `from`
// gets the instruction or the number of the constant that each comes from.
struct ConstantPlace {
  bool in_word;
  size_t at;
};

std::vector<Value> shown_constants(const Code* code, std::vector<ConstantPlace>* from = nullptr) {
  std::vector<Value> shown;
  const auto add = [&](const Value& v, ConstantPlace place) {
    for (size_t i = 0; i < shown.size(); ++i) {
      if (shown[i].is(v)) return;
    }
    shown.push_back(v);
    if (from != nullptr) from->push_back(place);
  };
  if (!has_mapping(code) && !(code->code_flags & kModuleBody)) add(code->doc, {false, SIZE_MAX});
  for_each_word(code, [&](Word w, size_t at) {
    switch (plain_load(op_of(w))) {
      case Op::LoadK: return add(code->constants[bx_of(w)], {false, bx_of(w)});
      case Op::LoadInt: return add(Value::integer(sbx_of(w)), {true, at});
      case Op::LoadNone: return add(Value::none(), {true, at});
      case Op::LoadBool: return add(Value::boolean(w.c != 0), {true, at});
      case Op::ReturnNone: return add(Value::none(), {true, SIZE_MAX});
      default: return;
    }
  });
  for (size_t k = 0; k < code->constants.size(); ++k) add(code->constants[k], {false, k});
  return shown;
}

int64_t flags_of(const Code* code) {
  const uint32_t flags = code->code_flags;
  int64_t shown = 0;
  if (!has_mapping(code) && !(flags & kModuleBody)) shown |= 0x3;  // CO_OPTIMIZED, CO_NEWLOCALS
  if (flags & kVarArgs) shown |= 0x4;
  if (flags & kVarKeywords) shown |= 0x8;
  if (code->qualname->view().find("<locals>") != std::string_view::npos) shown |= 0x10;  // CO_NESTED
  if (flags & kCoroutine) shown |= 0x80;
  else if (flags & kAsyncGenerator) shown |= 0x200;
  else if (flags & kGenerator) shown |= 0x20;
  if (flags & kIterableCoroutine) shown |= 0x100;
  if (flags & kTextAnnotations) shown |= 0x1000000;
  return shown;
}

// --- lines and places

struct LineRange {
  int64_t begin, end, line;
};

std::vector<LineRange> line_ranges(const Code* code) {
  std::vector<LineRange> ranges;
  int64_t line = first_line(code);
  for (size_t at = 0; at < code->words.size(); ++at) {
    // An instruction that belongs to no statement has the line number of the instruction before it.
    if (!code->places[at].hidden) line = code->source->line_number(code->places[at].span.begin);
    const int64_t offset = static_cast<int64_t>(at) * kBytesOfWord;
    if (!ranges.empty() && ranges.back().line == line) ranges.back().end = offset + kBytesOfWord;
    else ranges.push_back({offset, offset + kBytesOfWord, line});
  }
  return ranges;
}

Value lines_method(Interpreter& in, const Args& a) {
  const Value list = make_list(in);
  for (const LineRange& r : line_ranges(code_of(a))) {
    list_append(in, as_list(list),
                make_tuple(in, {Value::integer(r.begin), Value::integer(r.end), Value::integer(r.line)}));
  }
  return iter(in, list);
}

// (line, end line, column, end column)
Value position_of(Interpreter& in, const Code* code, Span span) {
  const Position begin = code->source->position(span.begin), end = code->source->position(span.end);
  return make_tuple(in, {Value::integer(begin.line), Value::integer(end.line), Value::integer(begin.byte_column),
                         Value::integer(end.byte_column)});
}

// (name, position) of the comprehensions that run in the code's frame around a byte of it, outermost first: CPython shows each as a
// frame of its own.
Value loops_method(Interpreter& in, const Args& a) {
  const Code* const code = code_of(a);
  const int64_t word = a[1].as_int() / kBytesOfWord;
  const Value list = make_list(in);
  for (size_t i = code->comprehensions.size(); i-- > 0;) {
    const InlinedLoop& loop = code->comprehensions[i];
    if (word < loop.begin || word >= loop.end) continue;
    list_append(in, as_list(list), make_tuple(in, {make_str(in, loop.name), position_of(in, code, loop.span)}));
  }
  return list;
}

Value positions_method(Interpreter& in, const Args& a) {
  const Code* const code = code_of(a);
  const Value list = make_list(in);
  Span span{code->span.begin, code->span.begin};
  for (const Place& place : code->places) {
    in.check_stop();
    if (!place.hidden) span = place.span;
    list_append(in, as_list(list), position_of(in, code, span));
  }
  return iter(in, list);
}

// Pairs of a count of instructions and the step to their line, each as a number of seven bits a byte.
Value line_table(Interpreter& in, const Args& a) {
  std::string bytes;
  const auto put = [&](uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
    bytes += static_cast<char>(number);
  };
  int64_t line = first_line(code_of(a));
  for (const LineRange& r : line_ranges(code_of(a))) {
    put(static_cast<uint64_t>((r.end - r.begin) / kBytesOfWord));
    const int64_t step = r.line - line;
    put(step < 0 ? (static_cast<uint64_t>(-step) << 1) | 1 : static_cast<uint64_t>(step) << 1);
    line = r.line;
  }
  return make_bytes(in, bytes);
}

// co_lnotab, the older form of the table: pairs of bytes, the step to the next line's first byte of code and the step to its number. A
// step that does not fit takes several pairs.
Value old_line_table(Interpreter& in, const Args& a) {
  std::string bytes;
  int64_t offset = 0, line = first_line(code_of(a));
  for (const LineRange& r : line_ranges(code_of(a))) {
    if (r.line == line) continue;
    int64_t forward = r.begin - offset, down = r.line - line;
    for (; forward > 255; forward -= 255) bytes.append("\xff\0", 2);
    do {
      const int64_t step = std::clamp<int64_t>(down, -128, 127);
      bytes += {static_cast<char>(forward), static_cast<char>(step)};
      down -= step;
      forward = 0;
    } while (down != 0);
    offset = r.begin;
    line = r.line;
  }
  return make_bytes(in, bytes);
}

Value code_bytes(Interpreter& in, const Args& a) {
  std::string bytes;
  for (const Word& w : code_of(a)->words) {
    bytes += static_cast<char>(w.op);
    bytes += static_cast<char>(w.a);
  }
  return make_bytes(in, bytes);
}

// co_exceptiontable: bytes from which types.CodeType can make the code again (marshal._table). CPython's bytes there are read by its
// virtual machine alone, so that programs only hand them on.
Value exception_table(Interpreter& in, const Args& a) {
  return call(in, get_attr(in, Value(static_cast<Object*>(in.import("marshal"))), intern(in, "_table")), {a[0]});
}

// types.CodeType(...): a copy of the code that the table of a code object tells of, with the parts given.
Value make_code(Interpreter& in, Type*, const Args& args) {
  return call(in, get_attr(in, Value(static_cast<Object*>(in.import("marshal"))), intern(in, "_code")), args);
}

// --- equality

bool same_constants(Interpreter& in, const Value& a, const Value& b) {
  if (type_of(in, a) != type_of(in, b)) return false;
  if (is_tuple(a)) {
    const Tuple *left = as_tuple(a), *right = as_tuple(b);
    if (left->size != right->size) return false;
    for (size_t i = 0; i < left->size; ++i) {
      if (!same_constants(in, left->items[i], right->items[i])) return false;
    }
    return true;
  }
  if (a.is_float()) return std::bit_cast<uint64_t>(a.as_float()) == std::bit_cast<uint64_t>(b.as_float());  // 0.0 is not -0.0, NaN is itself
  return equals(in, a, b);
}

bool same_code(Interpreter& in, const Code* a, const Code* b) {
  if (a == b) return true;
  const bool alike = a->name == b->name && a->code_flags == b->code_flags && a->parameters == b->parameters &&
                     a->positional == b->positional && a->positional_only == b->positional_only &&
                     a->keyword_only == b->keyword_only && a->locals == b->locals && a->free_names == b->free_names &&
                     a->cell_names == b->cell_names && a->names == b->names && first_line(a) == first_line(b) &&
                     a->constants.size() == b->constants.size() && a->words.size() == b->words.size() &&
                     a->places.size() == b->places.size() && used_names(a) == used_names(b);
  if (!alike || std::memcmp(a->words.data(), b->words.data(), a->words.size() * sizeof(Word)) != 0) return false;
  for (size_t i = 0; i < a->places.size(); ++i) {
    const Position left = a->source->position(a->places[i].span.begin), right = b->source->position(b->places[i].span.begin);
    if (left.line != right.line || left.byte_column != right.byte_column) return false;
  }
  in.vm().check_native_stack();
  for (size_t i = 0; i < a->constants.size(); ++i) {
    if (!same_constants(in, a->constants[i], b->constants[i])) return false;
  }
  return true;
}

Value code_compare(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !other.is_object() ||
      other.as_object()->kind != ObjectKind::Code)
    return in.not_implemented;
  return Value::boolean(same_code(in, code_of(self), code_of(other)) == (op == CompareOp::Eq));
}

int64_t code_hash(Interpreter&, const Value& self) {
  const Code* const code = code_of(self);
  uint64_t hash = static_cast<uint64_t>(str_hash(code->name));
  const auto mix = [&](uint64_t number) { hash = (hash ^ number) * 0x100000001b3u; };
  mix(code->words.size());
  mix(code->positional);
  mix(code->code_flags);
  for (const Word& w : code->words) mix(static_cast<uint64_t>(w.op) << 32 | bx_of(w));
  return static_cast<int64_t>(hash >> 1);
}

// --- replace

[[noreturn]] void cannot_replace(const char* name) {
  throw_error(ErrorKind::ValueError, "code: %s of compiled code cannot be replaced by another one", name);
}

// The same text, which begins so many lines lower or higher.
void move_lines(Code* code, int64_t first) {
  if (first < 1 || first > 1'000'000) throw Error(ErrorKind::ValueError, "code: firstlineno out of range");
  const Source& old = *code->source;
  const uint32_t begin = old.line_begin(first_line(code));
  std::string text(static_cast<size_t>(first - 1), '\n');
  const int64_t shift = static_cast<int64_t>(text.size()) - begin;
  text += old.text().substr(begin);
  auto moved = std::make_shared<Source>(old.name(), text);
  if (old.is_unlisted()) moved->set_unlisted();
  const auto move = [&](Span& span) {
    span.begin = static_cast<uint32_t>(std::max<int64_t>(0, span.begin + shift));
    span.end = static_cast<uint32_t>(std::max<int64_t>(0, span.end + shift));
  };
  for (Place& place : code->places) {
    move(place.span);
    move(place.anchor);
  }
  for (InlinedLoop& loop : code->comprehensions) move(loop.span);
  if (code->first != 0) code->first = static_cast<uint32_t>(code->first + shift);
  move(code->span);
  code->source = std::move(moved);
}

void replace_constants(Interpreter& in, Code* code, const Value& wanted) {
  std::vector<ConstantPlace> places;
  const std::vector<Value> shown = shown_constants(code, &places);
  if (!is_tuple(wanted)) throw Error(ErrorKind::TypeError, "replace() argument 'co_consts' must be tuple");
  if (as_tuple(wanted)->size != shown.size()) cannot_replace("co_consts");
  for (size_t i = 0; i < shown.size(); ++i) {
    const Value& value = as_tuple(wanted)->items[i];
    if (value.is(shown[i])) continue;
    if (places[i].at == SIZE_MAX) {
      if (places[i].in_word) cannot_replace("co_consts");
      code->doc = value;
    } else if (!places[i].in_word) {
      code->constants[places[i].at] = value;
    } else {
      const Word old = code->words[places[i].at];
      const auto k = static_cast<uint32_t>(code->constants.size());
      code->constants.push_back(value);
      for (Word& w : code->words) {
        if (plain_load(op_of(w)) == plain_load(op_of(old)) && bx_of(w) == bx_of(old) && w.d == old.d) w = make_wide(Op::LoadK, a_of(w), k);
      }
    }
  }
  static_cast<void>(in);
}

std::vector<Str*> str_names(Interpreter& in, const Value& v, const char* what) {
  if (!is_tuple(v)) throw_error(ErrorKind::TypeError, "replace() argument '%s' must be tuple", what);
  std::vector<Str*> names;
  for (const Value& name : *as_tuple(v)) {
    if (!is_str(name)) throw Error(ErrorKind::TypeError, "name tuples must contain only strings");
    names.push_back(intern(in, text_of(name)));
  }
  return names;
}

void rename(std::vector<Str*>& list, const std::vector<Str*>& old, const std::vector<Str*>& fresh) {
  for (Str*& name : list) {
    const auto at = std::find(old.begin(), old.end(), name);
    if (at != old.end()) name = fresh[static_cast<size_t>(at - old.begin())];
  }
}

// Code whose parameters are all positional: *args and **kwargs become plain parameters that hold what a caller gives for them.
void make_parameters_plain(Code* code) {
  code->positional = static_cast<uint32_t>(code->parameters.size());
  code->keyword_only = 0;
  code->code_flags &= static_cast<uint16_t>(~(kVarArgs | kVarKeywords));
  code->code_flags |= kPlainParameters;
  if ((code->code_flags & kGenerator) == 0 && code->far_locals.empty()) code->code_flags |= kSimpleCall;
}

void replace_part(Interpreter& in, Code* code, std::string_view part, const Value& value) {
  const auto text = [&]() -> std::string_view {
    if (is_str(value)) return text_of(value);
    throw_error(ErrorKind::TypeError, "replace() argument '%s' must be str, not %s", std::string(part).c_str(),
                argument_type(in, value));
  };
  if (part == "co_name") {
    code->name = intern(in, text());
  } else if (part == "co_qualname") {
    code->qualname = intern(in, text());
  } else if (part == "co_filename") {
    auto source = std::make_shared<Source>(std::string(text()), code->source->text());
    if (code->source->is_unlisted()) source->set_unlisted();
    code->source = std::move(source);
  } else if (part == "co_firstlineno") {
    move_lines(code, index(in, value));
  } else if (part == "co_consts") {
    replace_constants(in, code, value);
  } else if (part == "co_names") {
    const std::vector<Str*> old = used_names(code), fresh = str_names(in, value, "co_names");
    if (fresh.size() < old.size()) cannot_replace("co_names");
    for (InlineCache& cache : code->caches) {
      const auto at = std::find(old.begin(), old.end(), cache.name);
      cache = InlineCache();
      if (at != old.end()) cache.name = fresh[static_cast<size_t>(at - old.begin())];
    }
    for (GlobalCache& cache : code->global_caches) {
      Str* const name = cache.name;
      const auto at = std::find(old.begin(), old.end(), name);
      cache = GlobalCache();
      cache.name = at != old.end() ? fresh[static_cast<size_t>(at - old.begin())] : name;
    }
  } else if (part == "co_varnames") {
    const std::vector<Str*> old = variable_names(code), fresh = str_names(in, value, "co_varnames");
    if (fresh.size() != old.size()) cannot_replace("co_varnames");
    for (std::vector<Str*>* list : {&code->locals, &code->far_locals, &code->parameters, &code->names, &code->cell_names})
      rename(*list, old, fresh);
  } else if (part == "co_freevars") {
    const std::vector<Str*> fresh = str_names(in, value, "co_freevars");
    if (fresh.size() != code->free_names.size()) cannot_replace("co_freevars");
    code->free_names = fresh;
  } else if (part == "co_cellvars") {
    const std::vector<Str*> old = code->cell_names, fresh = str_names(in, value, "co_cellvars");
    if (fresh.size() != old.size()) cannot_replace("co_cellvars");
    for (std::vector<Str*>* list : {&code->cell_names, &code->locals, &code->far_locals}) rename(*list, old, fresh);
  } else {
    // The rest follows from the instructions: it may be given again, not changed.
    const Value own = get_attr(in, Value(code), intern(in, part));
    const bool may_grow = part == "co_stacksize" || part == "co_linetable" || part == "co_exceptiontable";
    if (!may_grow && !equals(in, own, value)) cannot_replace(std::string(part).c_str());
  }
}

constexpr const char* kParts[] = {"co_argcount",    "co_posonlyargcount", "co_kwonlyargcount", "co_nlocals",
                                  "co_stacksize",   "co_flags",           "co_firstlineno",    "co_code",
                                  "co_consts",      "co_names",           "co_varnames",       "co_freevars",
                                  "co_cellvars",    "co_filename",        "co_name",           "co_qualname",
                                  "co_linetable",   "co_exceptiontable"};

Value replace_method(Interpreter& in, const Args& a) {
  const Code* const old = code_of(a);
  Code* const made = new_code(in);
  const Value result = Value::adopt(made);
  const Object head = *made;
  *made = *old;
  static_cast<Object&>(*made) = head;
  const Value* const flags = dict_get_text(as_dict(a[1]), "co_flags");
  if (flags != nullptr && flags->is_int() && flags->as_int() == (flags_of(old) & ~0xc)) make_parameters_plain(made);
  dict_for_each(as_dict(a[1]), [&](const Value& key, const Value& value) {
    const std::string_view part = text_of(key);
    if (std::find(std::begin(kParts), std::end(kParts), part) == std::end(kParts)) {
      throw_error(ErrorKind::TypeError, "'%s' is an invalid keyword argument for replace()", std::string(part).c_str());
    }
    replace_part(in, made, part, value);
  });
  return result;
}

constexpr NativeDef kMethods[] = {
    {"co_lines(self, /)", lines_method, "An iterator over (begin, end, line) of the instructions."},
    {"co_positions(self, /)", positions_method, "An iterator over (line, end line, column, end column) of the instructions."},
    {"_loops_at(self, offset: int, /)", loops_method, "(name, position) of the comprehensions around a byte of the code."},
    {"replace(self, /, **parts)", replace_method, "A copy with some parts replaced."},
};

}  // namespace

uint32_t first_line(const Code* code) noexcept {
  const bool outermost = (code->code_flags & kModuleBody) != 0;
  return outermost ? 1 : code->source->line_number(code->first != 0 ? code->first : code->span.begin);
}

void set_code_slots(Type* type) {
  type->slots.destroy = destroy_code;
  type->slots.repr = code_repr;
  type->slots.compare = code_compare;
  type->slots.hash = code_hash;
  type->make = make_code;
}

void fill_code(Interpreter& in, Type* type) {
  const auto count = [&](const char* name, NativeFn get) { in.add_member(type, name, get); };
  in.add_member(type, "co_name", [](Interpreter&, const Args& a) { return Value(code_of(a)->name); });
  in.add_member(type, "co_qualname", [](Interpreter&, const Args& a) { return Value(code_of(a)->qualname); });
  in.add_property(type, "co_filename",
                  [](Interpreter& i, const Args& a) { return make_str_lossy(i, code_of(a)->source->name()); });
  // The whole text that it is a part of: of a module of the library or a block of a session there is no file. What exec() and its
  // kin were given is no source for inspect.
  in.add_property(type, "_co_text", [](Interpreter& i, const Args& a) {
    const Source& source = *code_of(a)->source;
    return source.is_unlisted() ? i.shared->empty_str : make_str_lossy(i, source.text());
  });
  in.add_property(type, "_co_source",  // also of exec() and its kin, for marshal
                  [](Interpreter& i, const Args& a) { return make_str_lossy(i, code_of(a)->source->text()); });
  in.add_property(type, "_co_globals", [](Interpreter& i, const Args& a) {
    std::vector<Value> names;
    for (const GlobalCache& cache : code_of(a)->global_caches) names.emplace_back(cache.name);
    return make_tuple(i, names.data(), names.size());
  });
  count("co_argcount", [](Interpreter&, const Args& a) {
    return Value::integer(has_mapping(code_of(a)) ? 0 : code_of(a)->positional);
  });
  count("co_kwonlyargcount", [](Interpreter&, const Args& a) { return Value::integer(code_of(a)->keyword_only); });
  count("co_posonlyargcount", [](Interpreter&, const Args& a) {
    return Value::integer(has_mapping(code_of(a)) ? 0 : code_of(a)->positional_only);
  });
  count("co_firstlineno", [](Interpreter&, const Args& a) { return Value::integer(first_line(code_of(a))); });
  count("co_flags", [](Interpreter&, const Args& a) { return Value::integer(flags_of(code_of(a))); });
  count("co_nlocals", [](Interpreter&, const Args& a) {
    return Value::integer(static_cast<int64_t>(variable_names(code_of(a)).size()));
  });
  count("co_stacksize", [](Interpreter&, const Args& a) {
    return Value::integer(code_of(a)->near_registers - std::min(code_of(a)->near_registers, code_of(a)->first_temporary));
  });
  in.add_property(type, "co_varnames",
                  [](Interpreter& i, const Args& a) { return names_tuple(i, variable_names(code_of(a))); });
  in.add_property(type, "co_names", [](Interpreter& i, const Args& a) { return names_tuple(i, used_names(code_of(a))); });
  in.add_property(type, "co_cellvars",
                  [](Interpreter& i, const Args& a) { return names_tuple(i, code_of(a)->cell_names); });
  in.add_property(type, "co_freevars",
                  [](Interpreter& i, const Args& a) { return names_tuple(i, code_of(a)->free_names); });
  in.add_property(type, "co_consts", [](Interpreter& i, const Args& a) {
    const std::vector<Value> shown = shown_constants(code_of(a));
    return make_tuple(i, shown.data(), shown.size());
  });
  in.add_property(type, "co_code", code_bytes);
  in.add_property(type, "co_linetable", line_table);
  in.add_property(type, "co_lnotab", old_line_table);
  in.add_property(type, "co_exceptiontable", exception_table);
  in.add_methods(type, kMethods, std::size(kMethods));
}

}  // namespace tessera::lang
