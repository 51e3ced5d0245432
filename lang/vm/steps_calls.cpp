// The longer steps of loops, functions and calls, out of the loop.
#include "lang/vm/steps.h"

#include <cstring>

#include "lang/builtins/builtins.h"
#include "lang/core/bind.h"
#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute_reads.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/generator.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/range.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

// --- for loops

void take_sequence(Interpreter& in, Value* state) {
  Object* const object = state->as_object();
  if ((object->type != in.types.list_iterator && object->type != in.types.tuple_iterator) || object->refcount != 1) return;
  SequenceIterator* const iterator = known_cast<SequenceIterator>(object);
  if (!is_list(iterator->sequence) && !is_tuple(iterator->sequence)) return;  // exhausted
  state[1] = Value::integer(iterator->index);
  Value sequence = std::move(iterator->sequence);
  if (object->flags & kWeaklyReferenced) {
    *state = std::move(sequence);
    return;
  }
  // Nobody else has the iterator, and it holds nothing any more.
  in.collector().untrack(iterator);
  in.heap.deallocate(iterator, sizeof(SequenceIterator));
  state->release();
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
      Value answer;
      return in.vm().enter_with(method, FrameKind::Iterator, static_cast<uint32_t>(state - frame->registers), answer, std::move(*state));
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
  Value answer;
  return in.vm().enter_with(method, FrameKind::Item, result, answer, *state);
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
    if (parameters[i].check != Parameter::Check::None && !needs_no_conversion(parameters[i], values[i])) return false;
  }
  return true;
}

namespace {

// The arguments of a call that fits_by_position, moved to where their defaults have room behind them.
class FewValues {
 public:
  FewValues(const Signature& signature, Value* given, uint32_t count) : count_(count) {
    Value* place = data();
    for (Value* const end = given + count; given != end; ++given) new (place++) Value(std::move(*given));
    const Parameter* const parameters = signature.parameters.data();
    // The defaults are lent: the signature holds the references.
    for (const Parameter *p = parameters + count, *const end = parameters + signature.parameters.size(); p != end; ++p)
      std::memcpy(static_cast<void*>(place++), static_cast<const void*>(&p->default_value), sizeof(Value));
  }
  ~FewValues() {
    for (Value *value = data(), *const end = value + count_; value != end; ++value) value->~Value();
  }
  FewValues(const FewValues&) = delete;
  FewValues& operator=(const FewValues&) = delete;
  Value* data() { return reinterpret_cast<Value*>(room_); }
  const Value* data() const { return reinterpret_cast<const Value*>(room_); }

 private:
  alignas(Value) unsigned char room_[kFewArguments * sizeof(Value)];
  uint32_t count_;  // of those that are given
};

}  // namespace

// A tracer is told of the native function's call and return, so under it the function runs in the usual way.
Frame* VirtualMachine::begin_length(const NativeFunction* function, Value* callee, Value* object) {
  if (function->short_way != &short_length || callee + 1 != object || op_of(top_->pc[-1]) != Op::Call || !object->is_object() ||
      (object->as_object()->type->type_flags & kScriptClass) == 0 || !trace_function().is_undefined() || !profile_function().is_undefined())
    return nullptr;
  Frame* const next = begin_special(SpecialSlot::Length, *object, nullptr, FrameKind::Operator, 0);
  if (next != nullptr) callee->clear(), object->clear();
  return next;
}

// Past the usual ways: with conversions, *args, or a self of another type. A function of its own: the others must not pay for its frame.
[[gnu::noinline]] static bool call_native_long(Interpreter& in, const NativeFunction* function, Value* callee, Value* window,
                                               uint32_t count, Value& target) {
  Object* failed = nullptr;  // the answer itself stays in the machine's registers
  const bool returned = in.vm().catches([&] {
    Value answer = call_native_moving(in, function, window, count);
    for (uint32_t i = 0; i < count; ++i) window[i] = Value();
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

// A method of int, float or bool, with a number of that type.
static bool is_own_number(Interpreter& in, const NativeFunction* function, const Value* window, uint32_t count) {
  return count != 0 && !function->takes_class && !window[0].is_object() &&
         type_of(in, window[0])->is_subtype_of(function->owner);
}

// Past the short way. A function of its own: the short ones must not pay for its frame.
[[gnu::noinline]] static bool call_native_usual(Interpreter& in, const NativeFunction* function, Value* callee, Value* window,
                                                uint32_t count, Value& target) {
  // `list.append(x, y)` names its own self, which may be of any type.
  if (function->owner != nullptr && !is_own_method(function, window, count) && !is_own_number(in, function, window, count))
    return call_native_long(in, function, callee, window, count, target);
  const Signature* const signature = function->signature;
  Value answer;
  bool returned;
  if (signature != nullptr ? signature->plain_count == count : function->text == nullptr) {
    // Just the arguments that the function names, and no checks; or it takes them as they are.
    returned = in.vm().catches([&] { answer = function->function.answer(in, Args{window, count, nullptr, function}); });
  } else if (signature != nullptr && fits_by_position(*signature, window, count)) {
    // d.get(key), l.pop(): the arguments move to where their defaults have room behind them. They end before an exception is pending.
    returned = in.vm().catches([&] {
      const FewValues values(*signature, window, count);
      const auto total = static_cast<uint32_t>(signature->parameters.size());
      answer = function->function.answer(in, {values.data(), total, nullptr, function});
    });
  } else {
    return call_native_long(in, function, callee, window, count, target);
  }
  if (!returned) [[unlikely]]
    return false;
  for (uint32_t i = 0; i < count; ++i) const Value dropped = std::move(window[i]);
  if (callee != nullptr) const Value dropped = std::move(*callee);
  if (is_failure(answer)) [[unlikely]] {
    in.vm().raise_next(take_failure(answer));
    return false;
  }
  target = std::move(answer);
  return true;
}

bool call_native_step(Interpreter& in, const NativeFunction* function, Value* callee, Value* window, uint32_t count,
                      Value& target) {
  if (function->short_count == count &&
      (function->owner == nullptr || is_own_method(function, window, count))) {
    Value answer;
    if (function->short_way(in, window, answer)) [[likely]] {
      for (uint32_t i = 0; i < count; ++i) window[i] = Value();
      if (callee != nullptr) *callee = Value();
      target = std::move(answer);
      return true;
    }
    if (callee != nullptr && in.vm().begin_length(function, callee, window) != nullptr) return false;
  }
  return call_native_usual(in, function, callee, window, count, target);
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

}  // namespace tessera::lang
