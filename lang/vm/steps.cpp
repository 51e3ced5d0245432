#include "lang/builtins/builtins.h"
#include "lang/vm/steps.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "lang/core/bind.h"
#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/objects/attribute.h"
#include "lang/objects/attribute_reads.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/format.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/range.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/types/bytes.h"
#include "lang/syntax/source.h"
#include "lang/vm/call.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

std::string name_of_type(Interpreter& in, const Value& value) { return std::string(type_name(in, value)); }

}  // namespace

// --- names

namespace {

// A builtin by name. Those that are made when they are first asked for exist in the interpreter's own dict alone.
const Value* builtin_of(Interpreter& in, Dict* builtins, Str* name) {
  if (const Value* found = dict_get_str(builtins, name)) return found;
  return builtins == in.vm().builtins() ? find_builtin(in, name) : nullptr;
}

// By mapping[name], where a KeyError means that it is not there; Undefined then.
Value item_or_undefined(Interpreter& in, const Value& mapping, Str* name) {
  try {
    return get_item(in, mapping, Value(name));
  } catch (const Error& error) {
    if (error.kind != ErrorKind::KeyError) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::KeyError)) throw;
  }
  return Value();
}

bool is_plain_dict(Interpreter& in, const Value& v) { return v.is_object() && v.as_object()->type == in.types.dict; }

}  // namespace

bool load_global_step(Interpreter& in, Frame* frame, Value& target, GlobalCache& cache) {
  Str* const name = cache.name;
  Dict* const globals = frame->function->globals;
  Dict* const builtins = frame->function->builtins;
  if (globals->type != in.types.dict) [[unlikely]] {
    Value found = item_or_undefined(in, Value(globals), name);  // a subclass may have a __missing__
    if (found.is_undefined()) {
      const Value* other = builtin_of(in, builtins, name);
      if (other == nullptr) throw_name_error(in, name);
      found = *other;
    }
    target = std::move(found);
    return true;
  }
  int32_t at = dict_find_str(globals, name);
  cache.builtins = at < 0;
  if (cache.builtins) {
    at = dict_find_str(builtins, name);
    if (at < 0 && builtin_of(in, builtins, name) != nullptr) at = dict_find_str(builtins, name);
    if (at < 0) {
      cache.version = 0;
      in.vm().raise_next(make_name_error(in, name));
      return false;
    }
    cache.version2 = builtins->keys_version;
  }
  cache.version = globals->keys_version;
  cache.value = &(cache.builtins ? builtins : globals)->entries[at].value;
  target = *cache.value;
  return true;
}

void store_global_step(Interpreter& in, Frame* frame, const Value& value, GlobalCache& cache) {
  Str* const name = cache.name;
  Dict* const globals = frame->function->globals;
  const uint16_t noted = std::exchange(globals->aux, uint16_t{0});  // this is the text's own assignment
  try {
    dict_set_str(in, globals, name, value);
  } catch (...) {
    globals->aux = noted;
    throw;
  }
  globals->aux = noted;
  cache.value = dict_get_str(globals, name);
  cache.version = globals->keys_version;
  cache.builtins = false;
}

// names[name] in a class body whose namespace is a mapping of __prepare__'s. Returns false if it raises KeyError.
static bool find_item(Interpreter& in, const Value& names, const Value& name, Value& found) {
  try {
    found = get_item(in, names, name);
    return true;
  } catch (const Error& error) {
    if (error.kind != ErrorKind::KeyError) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::KeyError)) throw;
  }
  return false;
}

void store_name_step(Interpreter& in, const Value& names, Str* name, const Value& value) {
  if (names.as_object()->type == in.types.dict) [[likely]] {
    dict_set_str(in, as_dict(names), name, value);
  } else {
    set_item(in, names, Value(name), value);
  }
}

void delete_name_step(Interpreter& in, const Value& names, Str* name) {
  Value gone;
  if (names.as_object()->type == in.types.dict) {
    if (!dict_delete_str(in, as_dict(names), name)) throw_name_error(in, name);
  } else if (find_item(in, names, Value(name), gone)) {
    del_item(in, names, Value(name));
  } else {
    throw_name_error(in, name);
  }
}

void make_cell_step(Interpreter& in, Value& place) { place = make_cell(in, std::move(place)); }

void share_cell_step(Value& target, Cell* cell) { target = Value(cell); }

void load_name_step(Interpreter& in, Frame* frame, Value& target, const Value& names, Str* name, const Cell* cell) {
  if (!is_plain_dict(in, names)) {
    Value own = item_or_undefined(in, names, name);
    if (!own.is_undefined()) {
      target = std::move(own);
      return;
    }
  }
  const Value* found = is_plain_dict(in, names) ? dict_get_str(as_dict(names), name) : nullptr;
  if (found == nullptr && cell != nullptr) {
    if (cell->value.is_undefined()) throw_unbound_free(in, name);
    found = &cell->value;
  }
  if (found == nullptr) found = dict_get_str(frame->function->globals, name);
  if (found == nullptr) found = builtin_of(in, frame->function->builtins, name);
  if (found == nullptr) throw_name_error(in, name);
  target = *found;
}

namespace {

[[gnu::cold]] Error unbound(Str* name, bool free) {
  return make_error(free ? ErrorKind::NameError : ErrorKind::UnboundLocalError,
                    {"cannot access ", free ? "free" : "local", " variable '", name->view(),
                     "' where it is not associated with a value", free ? " in enclosing scope" : ""});
}

}  // namespace

void throw_unbound_local(Interpreter&, Str* name) { throw unbound(name, false); }
void throw_unbound_free(Interpreter&, Str* name) { throw unbound(name, true); }
void raise_unbound_local(Interpreter& in, Str* name) { in.vm().raise_next(unbound(name, false)); }
void raise_unbound_free(Interpreter& in, Str* name) { in.vm().raise_next(unbound(name, true)); }

// --- displays

void build_slice_step(Interpreter& in, Value* parts, uint32_t count) {
  Value slice = make_slice(in, parts[0], parts[1], count == 3 ? parts[2] : Value::none());
  for (uint32_t i = 1; i < count; ++i) parts[i] = Value();
  parts[0] = std::move(slice);
}

// How many items a comprehension over a loop's state will make: what is known of it, and no more than is sure to be wanted soon.
static size_t items_to_come(const Value* state) {
  constexpr int64_t kMost = 1024;
  int64_t left = 0;
  if (state[0].is_int()) {
    left = state[1].as_int();
  } else if (state[1].is_int()) {
    Object* const object = state[0].as_object();
    const int64_t size = object->kind == ObjectKind::List    ? known_cast<List>(object)->size
                         : object->kind == ObjectKind::Tuple ? known_cast<Tuple>(object)->size
                                                             : known_cast<Str>(object)->length;
    left = size - state[1].as_int();
  }
  return static_cast<size_t>(std::clamp<int64_t>(left, 0, kMost));
}

void build_list_step(Interpreter& in, Value& target, Value* items, Word w) {
  if (w.d == 0) {
    target = make_list_moving(in, items, w.c);
    return;
  }
  target = make_list(in, items_to_come(items));
  as_list(target)->aux = 1;  // CPython's grows by one and one
}

void build_tuple_step(Interpreter& in, Value& target, Value* items, uint32_t count) {
  target = make_tuple_moving(in, items, count);
}

void build_set_step(Interpreter& in, Value& target, Value* items, uint32_t count) {
  Value set = make_set(in);
  for (uint32_t i = 0; i < count; ++i) set_add(in, as_set(set), items[i]);
  for (uint32_t i = 0; i < count; ++i) items[i] = Value();
  target = std::move(set);
}

void build_dict_step(Interpreter& in, Value& target, Value* items, Word w) {
  Dict* const dict = new_dict(in);
  Value made = Value::adopt(dict);
  const uint32_t pairs = w.c;
  if (const size_t room = w.d != 0 ? items_to_come(items) : pairs) dict_reserve(in, dict, room);
  for (uint32_t i = 0; i < pairs; ++i) {
    const Value key = std::move(items[2 * i]);
    if (key.is_object() && key.as_object()->type == in.types.str)
      dict_set_str(in, dict, as_str(key), std::move(items[2 * i + 1]));
    else
      dict_set(in, dict, key, std::move(items[2 * i + 1]));
  }
  target = std::move(made);
}

namespace {

size_t decimal_size(int64_t value) {
  uint64_t left = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  size_t size = value < 0 ? 2 : 1;
  for (; left >= 10; left /= 10) ++size;
  return size;
}

}  // namespace

// The parts are strings, and ints that FormatValue has left as they are.
void build_string_step(Interpreter& in, Value& target, Value* parts, uint32_t count) {
  size_t size = 0, length = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t digits = parts[i].is_int() ? decimal_size(parts[i].as_int()) : 0;
    size += digits != 0 ? digits : as_str(parts[i])->size;
    length += digits != 0 ? digits : as_str(parts[i])->length;
  }
  Value text;
  if (size <= 1) {
    std::string small;
    for (uint32_t i = 0; i < count; ++i) small += parts[i].is_int() ? int_text(parts[i].as_int()) : text_of(parts[i]);
    text = make_str(in, small);
  } else {
    Str* joined = new_str(in, size, length);
    text = Value::adopt(joined);
    char* to = joined->data;
    char* const end = to + size;
    for (uint32_t i = 0; i < count; ++i) {
      if (parts[i].is_int()) {
        to = std::to_chars(to, end, parts[i].as_int()).ptr;
        continue;
      }
      copy_few(to, as_str(parts[i])->data, as_str(parts[i])->size);
      to += as_str(parts[i])->size;
    }
  }
  for (uint32_t i = 0; i < count; ++i) parts[i] = Value();
  target = std::move(text);
}

void format_value_step(Interpreter& in, Value* value, uint32_t conversion, bool has_spec) {
  if (conversion == 'j' && value->is_int()) return;
  Value shown = std::move(*value);
  if (conversion == 's') shown = str(in, shown);
  if (conversion == 'r') shown = repr(in, shown);
  if (conversion == 'a') shown = make_str(in, escape_non_ascii(repr_text(in, shown)));
  Value spec = has_spec ? std::move(value[1]) : Value();
  const std::string_view spec_text = spec.is_undefined() ? std::string_view() : text_of(spec);
  if (spec_text.empty() && is_str(shown) && shown.as_object()->type == in.types.str) {
    *value = std::move(shown);
  } else {
    *value = format(in, shown, spec_text);
  }
}

void spread_step(Interpreter& in, Value& iterable, const Value& callee) {
  if (!is_iterable(in, iterable)) {
    throw_error(ErrorKind::TypeError, "%s argument after * must be an iterable, not %s",
                callee_text(in, callee).c_str(), name_of_type(in, iterable).c_str());
  }
  iterable = list_from(in, iterable);
}

void list_extend_step(Interpreter& in, const Value& list, const Value& iterable) {
  if (!is_iterable(in, iterable)) {
    throw_error(ErrorKind::TypeError, "Value after * must be an iterable, not %s", name_of_type(in, iterable).c_str());
  }
  list_extend(in, as_list(list), iterable);
}

namespace {

void merge_argument(Interpreter& in, Dict* into, const Value& key, const Value& value, const Value& callee) {
  if (!is_str(key)) throw Error(ErrorKind::TypeError, "keywords must be strings");
  if (dict_get(in, into, key) != nullptr) {
    throw Error(ErrorKind::TypeError, callee_text(in, callee) + " got multiple values for keyword argument '" +
                                          std::string(text_of(key)) + "'");
  }
  dict_set(in, into, key, value);
}

}  // namespace

void dict_update_step(Interpreter& in, const Value& dict, const Value& other, const Value* callee) {
  Dict* const into = as_dict(dict);
  if (is_dict(other) && callee == nullptr) {
    dict_merge(in, into, as_dict(other));
    return;
  }
  if (!is_dict(other) && find_attr(in, other, in.names->keys).is_undefined()) {
    if (callee != nullptr) {
      throw_error(ErrorKind::TypeError, "%s argument after ** must be a mapping, not %s",
                  callee_text(in, *callee).c_str(), name_of_type(in, other).c_str());
    }
    throw_error(ErrorKind::TypeError, "'%s' object is not a mapping", name_of_type(in, other).c_str());
  }
  Value copy = make_dict(in);
  if (is_dict(other)) {
    dict_merge(in, as_dict(copy), as_dict(other));
  } else {
    for_each(in, call_method(in, other, in.names->keys),
             [&](const Value& key) { dict_set(in, as_dict(copy), key, get_item(in, other, key)); });
  }
  if (callee == nullptr) {
    dict_merge(in, into, as_dict(copy));
    return;
  }
  for (uint32_t i = 0; i < as_dict(copy)->used; ++i) {
    const DictEntry& entry = as_dict(copy)->entries[i];
    if (!entry.key.is_undefined()) merge_argument(in, into, entry.key, entry.value, *callee);
  }
}

// --- unpacking

namespace {

// Leaves the exception to the loop. Returns false, as the step does then.
[[gnu::cold, gnu::noinline]] bool refuse(Interpreter& in, ErrorKind kind, std::initializer_list<std::string_view> words) {
  in.vm().raise_next(make_error(kind, words));
  return false;
}

[[gnu::cold]] bool too_few(Interpreter& in, uint32_t expected, uint64_t got, bool at_least) {
  return refuse(in, ErrorKind::ValueError,
                {"not enough values to unpack (expected ", at_least ? "at least " : "", int_text(expected), ", got ",
                 int_text(static_cast<int64_t>(got)), ")"});
}

[[gnu::cold]] bool too_many(Interpreter& in, uint32_t expected) {
  return refuse(in, ErrorKind::ValueError, {"too many values to unpack (expected ", int_text(expected), ")"});
}

[[gnu::cold]] bool cannot_unpack(Interpreter& in, const Value& source) {
  return refuse(in, ErrorKind::TypeError, {"cannot unpack non-iterable ", type_name(in, source), " object"});
}

[[gnu::cold]] bool cannot_iterate(Interpreter& in, const Value& source) {
  return refuse(in, ErrorKind::TypeError, {"'", type_name(in, source), "' object is not iterable"});
}

bool sequence_items(Interpreter& in, const Value& source, Value*& items, uint32_t& size) {
  if (!source.is_object()) return false;
  if (source.as_object()->type == in.types.tuple) {
    items = as_tuple(source)->items;
    size = as_tuple(source)->size;
    return true;
  }
  if (source.as_object()->type == in.types.list) {
    items = as_list(source)->items;
    size = as_list(source)->size;
    return true;
  }
  return false;
}

}  // namespace

bool unpack_step(Interpreter& in, Value* target, Value& source, bool take, uint32_t count) {
  const Value from = take ? Value(std::move(source)) : Value(source);
  Value* items = nullptr;
  uint32_t size = 0;
  if (sequence_items(in, from, items, size)) {
    if (size < count) return too_few(in, count, size, false);
    if (size > count) return too_many(in, count);
    Value copy;
    if (is_list(from) && std::any_of(target, target + count, [](const Value& v) { return v.is_object(); })) {
      // What ends in a target may have a finalizer, which changes the list.
      copy = make_tuple(in, items, count);
      items = as_tuple(copy)->items;
    }
    for (uint32_t i = 0; i < count; ++i) target[i] = items[i];
    return true;
  }
  if (!is_iterable(in, from)) return cannot_unpack(in, from);
  const Value iterator = iter(in, from);
  Value item;
  for (uint32_t i = 0; i < count; ++i) {
    if (!next(in, iterator, item)) return too_few(in, count, i, false);
    target[i] = std::move(item);
  }
  return !next(in, iterator, item) || too_many(in, count);
}

bool unpack_star_step(Interpreter& in, Value* target, Value& source, bool take, uint32_t before, uint32_t after) {
  const Value from = take ? Value(std::move(source)) : Value(source);
  Value* items = nullptr;
  uint32_t size = 0;
  Value list;
  if (!sequence_items(in, from, items, size)) {
    list = make_list(in);
    if (!is_iterable(in, from)) return cannot_unpack(in, from);
    const Value iterator = iter(in, from);
    Value item;
    while (next(in, iterator, item)) list_append(in, as_list(list), std::move(item));
    items = as_list(list)->items;
    size = as_list(list)->size;
  }
  if (size < before + after) return too_few(in, before + after, size, true);
  const uint32_t middle = size - before - after;
  // The targets are fresh temporaries: nothing ends here.
  for (uint32_t i = 0; i < before; ++i) target[i] = items[i];
  for (uint32_t i = 0; i < after; ++i) target[before + 1 + i] = items[before + middle + i];
  target[before] = make_list(in, items + before, middle);
  return true;
}

// --- for loops

void take_sequence(Interpreter& in, Value* state) {
  Object* const object = state->as_object();
  if ((object->type != in.types.list_iterator && object->type != in.types.tuple_iterator) || object->refcount != 1) return;
  SequenceIterator* const iterator = known_cast<SequenceIterator>(object);
  if (!is_list(iterator->sequence) && !is_tuple(iterator->sequence)) return;  // exhausted
  state[1] = Value::integer(iterator->index);
  Value sequence = std::move(iterator->sequence);
  *state = std::move(sequence);
}

bool for_prepare_step(Interpreter& in, Frame* frame, Value* state) {
  state[2] = Value();
  if (state->is_object()) {
    const Type* const type = state->as_object()->type;
    if (type == in.types.list || type == in.types.tuple || (type == in.types.str && as_str(*state)->is_ascii())) {
      state[1] = Value::integer(0);
      return false;
    }
    if (is_range(*state)) {
      const Range range = *as_range(*state);
      state[0] = Value::integer(range.start);
      state[1] = Value::integer(range.length);
      state[2] = Value::integer(range.step);
      return false;
    }
    Function* const method =
        (type->type_flags & kScriptClass) ? special_function(in, type, SpecialSlot::Iter) : nullptr;
    if (method != nullptr && !(method->code->code_flags & kGenerator)) {
      state[1] = Value();
      Value self = std::move(*state), answer;
      return in.vm().enter(method, &self, 1, FrameKind::Iterator, static_cast<uint32_t>(state - frame->registers),
                           answer);
    }
  }
  state[1] = Value();
  if (state->is_object() && state->as_object()->kind == ObjectKind::Generator) return false;
  if (!is_iterable(in, *state)) return !cannot_iterate(in, *state);
  *state = iter(in, *state);
  take_sequence(in, state);
  return false;
}

namespace {

// True when state[0] is the builtin range and all of its numbers fit into 64 bits: no object is made.
bool for_prepare_range(Interpreter& in, Value* state, uint32_t count) {
  if (!state->is(Value(in.types.range)) || count == 0 || count > 3) return false;
  for (uint32_t i = 1; i <= count; ++i) {
    if (!state[i].is_int()) return false;
  }
  const int64_t start = count == 1 ? 0 : state[1].as_int();
  const int64_t stop = count == 1 ? state[1].as_int() : state[2].as_int();
  const int64_t step = count == 3 ? state[3].as_int() : 1;
  if (step == 0) throw Error(ErrorKind::ValueError, "range() arg 3 must not be zero");
  const int64_t length = range_length(start, stop, step);
  if (length < 0) return false;
  if (count == 3) state[3] = Value();
  state[0] = Value::integer(start);
  state[1] = Value::integer(length);
  state[2] = Value::integer(step);
  return true;
}

}  // namespace

bool for_prepare_call_step(Interpreter& in, Frame* frame, Value* state, uint32_t count) {
  if (for_prepare_range(in, state, count)) return false;
  if (is_function(*state) && !(as_function(*state)->code->code_flags & kGenerator)) {
    const Value callee = std::move(*state);
    Value answer;
    return in.vm().enter(as_function(callee), state + 1, count, FrameKind::Iterable,
                         static_cast<uint32_t>(state - frame->registers), answer);
  }
  *state = call(in, *state, Args{state + 1, count});
  for (uint32_t i = 1; i <= count; ++i) state[i] = Value();
  return for_prepare_step(in, frame, state);
}

bool enter_next_step(Interpreter& in, Value* state, uint32_t result) {
  Function* const method = special_function(in, state->as_object()->type, SpecialSlot::Next);
  if (method == nullptr || (method->code->code_flags & kGenerator)) return false;
  Value self = *state, answer;
  return in.vm().enter(method, &self, 1, FrameKind::Item, result, answer);
}

// --- functions and calls

namespace {

Cell* cell_of(const Frame& frame, const Capture& capture) {
  if (capture.from == Capture::From::Closure) return frame.function->closure[capture.index];
  const uint32_t first = capture.from == Capture::From::Far ? frame.code->near_registers : 0;
  return known_cast<Cell>(frame.registers[first + capture.index]);
}

}  // namespace

void make_function_step(Interpreter& in, Frame* frame, Code* code, Value* operands, uint32_t which) {
  Value made = make_function(in, code, frame->function->globals, frame->function->builtins);
  Function* const function = as_function(made);
  uint32_t next = 0;
  if (which & 1) function->defaults = std::move(operands[next++]);
  if (which & 2) function->keyword_defaults = std::move(operands[next++]);
  if (which & 4) function->annotations = std::move(operands[next++]);
  for (size_t i = 0; i < code->captures.size(); ++i) {
    const Capture& capture = code->captures[i];
    Cell* const cell = cell_of(*frame, capture);
    ++cell->refcount;
    function->closure[i] = cell;
  }
  *operands = std::move(made);
}

static constexpr uint32_t kFewArguments = 5;

// Whether the arguments are right as they are, and defaults fill what is left of the few parameters.
static bool fits_by_position(const Signature& signature, const Value* values, uint32_t count) {
  if (count < signature.plain_least || count > signature.positional_count || signature.parameters.size() > kFewArguments)
    return false;
  if (signature.plain) [[likely]]
    return true;
  const Parameter* const parameters = signature.parameters.data();
  for (uint32_t i = 0; i < count; ++i) {
    if (!needs_no_conversion(parameters[i], values[i])) return false;
  }
  return true;
}

namespace {

// The arguments of a call that fits_by_position, moved to where their defaults have room behind them.
class FewValues {
 public:
  FewValues(const Signature& signature, Value* given, uint32_t count)
      : size_(static_cast<uint32_t>(signature.parameters.size())) {
    for (uint32_t i = 0; i < count; ++i) new (data() + i) Value(std::move(given[i]));
    const Parameter* const parameters = signature.parameters.data();
    for (uint32_t i = count; i < size_; ++i) new (data() + i) Value(parameters[i].default_value);
  }
  ~FewValues() {
    for (uint32_t i = 0; i < size_; ++i) data()[i].~Value();
  }
  FewValues(const FewValues&) = delete;
  FewValues& operator=(const FewValues&) = delete;
  Value* data() { return reinterpret_cast<Value*>(room_); }
  const Value* data() const { return reinterpret_cast<const Value*>(room_); }
  uint32_t size() const { return size_; }

 private:
  alignas(Value) unsigned char room_[kFewArguments * sizeof(Value)];
  uint32_t size_;
};

}  // namespace

// Enters the __len__ of a script's class for a Call of len(). Returns false if it has done nothing. A tracer is told of the native
// function's call and return, so it runs in the usual way.
static bool enter_length(Interpreter& in, Value& callee, Value& object) {
  VirtualMachine& vm = in.vm();
  if (!object.is_object() || !(object.as_object()->type->type_flags & kScriptClass) || op_of(vm.top()->pc[-1]) != Op::Call ||
      !vm.trace_function().is_undefined() || !vm.profile_function().is_undefined())
    return false;
  Function* const method = special_function(in, object.as_object()->type, SpecialSlot::Length);
  if (method == nullptr || (method->code->code_flags & kGenerator)) return false;
  callee = Value();
  Value self = std::move(object), unused;
  vm.catches([&] { vm.enter(method, &self, 1, FrameKind::Operator, 0, unused); });
  return true;
}

// Past the short way. A function of its own: the short ones must not pay for its frame.
[[gnu::noinline]] static bool call_native_long(Interpreter& in, const NativeFunction* function, Value* callee, Value* window,
                                               uint32_t count, Value& target) {
  Object* failed = nullptr;  // the answer itself stays in the machine's registers
  const bool returned = in.vm().catches([&] {
    const Signature* const signature = function->signature;
    // `list.append(x, y)` names its own self, which may be of any type.
    const bool own = signature != nullptr && (function->owner == nullptr || is_own_method(function, window, count));
    Value answer;
    if (own && signature->plain_count == count) [[likely]] {
      answer = function->function.answer(in, Args{window, count, nullptr, function});
      for (uint32_t i = 0; i < count; ++i) window[i] = Value();
    } else if (own && fits_by_position(*signature, window, count)) {
      // d.get(key), l.pop(): the arguments move to where their defaults have room behind them.
      const FewValues values(*signature, window, count);
      answer = function->function.answer(in, {values.data(), values.size(), nullptr, function});
    } else {
      answer = call_native_moving(in, function, window, count);
      for (uint32_t i = 0; i < count; ++i) window[i] = Value();
    }
    if (callee != nullptr) *callee = Value();
    if (is_failure(answer)) [[unlikely]]
      failed = answer.as_object();
    else
      target = std::move(answer);
  });
  if (failed != nullptr) [[unlikely]] {
    in.vm().raise_next(Value::adopt(failed));
    return false;
  }
  return returned;
}

bool call_native_step(Interpreter& in, const NativeFunction* function, Value* callee, Value* window, uint32_t count,
                      Value& target) {
  if (function->short_count == count && function->short_way != nullptr &&
      (function->owner == nullptr || is_own_method(function, window, count))) {
    Value answer;
    if (function->short_way(in, window, answer)) [[likely]] {
      for (uint32_t i = 0; i < count; ++i) window[i] = Value();
      if (callee != nullptr) *callee = Value();
      target = std::move(answer);
      return true;
    }
  }
  if (function->short_way == &short_length && callee != nullptr && count == 1 && enter_length(in, *callee, *window)) return false;
  return call_native_long(in, function, callee, window, count, target);
}

bool call_short_step(Interpreter& in, ShortWay::Fn way, const Value& argument, Value& target) {
  Value taken = argument, answer;
  if (!way(in, &taken, answer)) return false;
  target = std::move(answer);
  return true;
}

bool load_method_step(Interpreter& in, Value* target, const Value& object, InlineCache& cache) {
  if (const Value* const known = object.is_object() ? value_at_site(object.as_object(), cache.name, cache.site) : nullptr) {
    Value method = *known;
    target[0] = Value();
    target[1] = std::move(method);
    return true;
  }
  bool bound = false;
  Value self = object, error;
  Value method = get_method_or_error(in, self, cache.name, cache.fresh(), bound, error);
  if (method.is_undefined()) {
    in.vm().raise_next(error);
    return false;
  }
  if (bound) {
    target[0] = std::move(method);
    target[1] = std::move(self);
  } else {
    target[0] = Value();
    target[1] = std::move(method);
  }
  return true;
}

// --- with, raise, yield from

namespace {

Value special_method(Interpreter& in, const Value& object, Str* name) {
  Type* const type = type_of(in, object);
  const Value& found = type_lookup(type, name);
  if (found.is_undefined()) return Value();
  if (is_function(found)) return make_bound_method(in, found, object);
  return bind_attribute(in, Value(found), object, type);
}

}  // namespace

void with_setup_step(Interpreter& in, Value* registers, bool is_async) {
  const Value manager = registers[0];
  const char* const kind = is_async ? "asynchronous context manager" : "context manager";
  Value enter = special_method(in, manager, is_async ? in.names->aenter : in.names->enter);
  if (enter.is_undefined()) {
    throw_error(ErrorKind::TypeError, "'%s' object does not support the %s protocol",
                name_of_type(in, manager).c_str(), kind);
  }
  Value exit = special_method(in, manager, is_async ? in.names->aexit : in.names->exit);
  if (exit.is_undefined()) {
    throw_error(ErrorKind::TypeError, "'%s' object does not support the %s protocol (missed %s method)",
                name_of_type(in, manager).c_str(), kind, is_async ? "__aexit__" : "__exit__");
  }
  registers[1] = std::move(enter);
  registers[0] = std::move(exit);
}

void exit_arguments_step(Interpreter& in, Value* target, const Value& exception) {
  const Value value = exception;
  target[0] = Value(type_of(in, value));
  target[2] = as_exception(value)->traceback;
  target[1] = value;
}

// An embedded module whose names hold __raised__ has its raised exceptions looked at, where they are raised: what of the
// library is written in the language says so which operands it refuses, as its native part does.
static void show_raised(Interpreter& in, const Value& exception) {
  const Frame* const frame = in.vm().top();
  if (frame == nullptr || frame->function == nullptr || !frame->code->source->name().starts_with("stdlib/")) return;
  if (const Value* seen = dict_get_str(frame->function->globals, intern(in, "__raised__")))
    call(in, Value(*seen), {exception});
}

void raise_step(Interpreter& in, Value& raised, Value* operands, uint32_t form) {
  if (form == 0) {
    const Value& handled = handled_exception(in);
    if (handled.is_none()) throw Error(ErrorKind::RuntimeError, "No active exception to reraise");
    raised = handled;
    return;
  }
  const Value operand = std::move(operands[0]);
  Value exception = instantiate_exception(in, operand);
  if (form == 2) {
    const Value cause = std::move(operands[1]);
    Exception* const e = as_exception(exception);
    if (cause.is_none()) {
      e->cause = Value::none();
    } else if (is_exception(cause) ||
               (cause.is_object() && cause.as_object()->kind == ObjectKind::Type &&
                known_cast<Type>(cause)->is_subtype_of(error_type(in, ErrorKind::BaseException)))) {
      e->cause = instantiate_exception(in, cause);
    } else {
      throw Error(ErrorKind::TypeError, "exception causes must derive from BaseException");
    }
    e->suppress_context = true;
  }
  set_context(in, as_exception(exception));
  show_raised(in, exception);
  raised = std::move(exception);
}

void raise_assertion(Interpreter& in, const Value* message) {
  const Value args = message == nullptr ? in.shared->empty_tuple : make_tuple(in, {*message});
  in.vm().raise_next(make_exception(in, error_type(in, ErrorKind::AssertionError), args));
}

}  // namespace tessera::lang
