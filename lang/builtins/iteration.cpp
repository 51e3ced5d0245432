// sorted, sum, min, max, all, any, iter, next.
#include <cmath>

#include "lang/core/failure.h"
#include "lang/core/bind.h"
#include "lang/builtins/builtins.h"
#include "lang/core/error.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/coroutine.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/core/names.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/types/bytes.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::lang {
namespace {

// The keywords are those of list.sort, and so are the complaints.
Value sorted_function(Interpreter& in, const Args& args) {
  check_count("sorted", args, 1, 1);
  Value list = list_from(in, args[0]);
  Value key = Value::none();
  bool reverse = false;
  for (uint32_t i = 0; args.keyword_names != nullptr && i < args.keyword_names->size; ++i) {
    const std::string_view name = text_of(args.keyword_names->items[i]);
    if (name == "key") key = args[1 + i];
    else if (name == "reverse") reverse = index(in, args[1 + i]) != 0;
    else throw Error(ErrorKind::TypeError, "'" + std::string(name) + "' is an invalid keyword argument for sort()");
  }
  list_sort(in, as_list(list), key, reverse);
  return list;
}

inline bool add_fast(Value& sum, const Value& item) {
  if (sum.is_int() && (item.is_int() || item.is_bool())) {
    int64_t result;
    if (__builtin_add_overflow(sum.as_int(), item.as_int(), &result)) return false;
    sum.replace_int(result);
    return true;
  }
  if (sum.is_float() && (item.is_float() || item.is_int())) {
    sum = Value::real(sum.as_float() + (item.is_float() ? item.as_float() : static_cast<double>(item.as_int())));
    return true;
  }
  if (sum.is_int() && item.is_float()) {
    sum = Value::real(static_cast<double>(sum.as_int()) + item.as_float());
    return true;
  }
  return false;
}

// Adds the numbers that a list or tuple begins with, `done` of them. True: those are all.
[[gnu::noinline]] bool add_numbers(Interpreter& in, Value& sum, const Value& sequence, uint32_t& done) {
  if (!is_plain_sequence(in, sequence)) return false;
  const bool list = is_list(sequence);
  const Value* const items = list ? as_list(sequence)->items : as_tuple(sequence)->items;
  const uint32_t size = list ? as_list(sequence)->size : as_tuple(sequence)->size;
  StopBudget budget(in);
  Value total = std::move(sum);  // of this function alone, so it stays in a register
  for (; done < size && !items[done].is_object() && add_fast(total, items[done]); ++done) budget.take();
  sum = std::move(total);
  return done == size;
}

// f(item) for each item of a generator, numbers by Note [Gathering]. Returns false, with nothing done, for any other iterable. `result` is
// what f makes of the items; once that is an object, f may run its methods between the items.
template <class F>
bool for_each_gathered(Interpreter& in, const Value& iterable, const Value& result, F&& f) {
  Generator* const generator = gatherable(iterable);
  if (generator == nullptr) return false;
  const Value keep(generator);
  Gathering gathered(Gathering::Takes::Numbers);
  Value item;
  while (!result.is_object()) {
    const bool more = generator_gather(in, generator, gathered, item);
    for (const Value& each : gathered) f(each);
    if (!more) return true;
    f(item);
  }
  while (next(in, keep, item)) f(item);
  return true;
}

// Text and bytes are no start of a sum.
[[gnu::cold]] void refuse_start(Interpreter& in, const Value& iterable, const Value& start) {
  const char* what = is_str(start) ? "strings [use ''" : is_bytes(start) ? "bytes [use b''" : "bytearray [use b''";
  iter(in, iterable);  // its refusal comes before that of the start
  throw Error(ErrorKind::TypeError, std::string("sum() can't sum ") + what + ".join(seq) instead]");
}

Value sum_function(Interpreter& in, const Args& args) {
  Value sum = args[1];
  if (is_str(sum) || is_bytes(sum) || is_byte_array(sum)) refuse_start(in, args[0], sum);
  // What is neither list nor tuple, and what comes after the first item that is no number, goes one by one.
  uint32_t skip = 0;
  if (add_numbers(in, sum, args[0], skip)) return sum;
  const auto add = [&](const Value& item) {
    if (!add_fast(sum, item)) sum = binary(in, BinaryOp::Add, sum, item);
  };
  if (for_each_gathered(in, args[0], sum, add)) return sum;
  for_each(in, args[0], [&](Value item) {
    if (skip != 0) --skip;
    else add(item);
  });
  return sum;
}

// min and max: `op` says when a candidate replaces what has been found. Raw, so that min(a, b) makes no tuple.
Value extreme(Interpreter& in, const Args& args, CompareOp op, const char* name) {
  const uint32_t given = args.positional();
  Value key = Value::none(), missing;
  if (given == 0) throw Error(ErrorKind::TypeError, std::string(name) + " expected at least 1 argument, got 0");
  for (uint32_t i = 0; args.keyword_names != nullptr && i < args.keyword_names->size; ++i) {
    const std::string_view keyword = text_of(args.keyword_names->items[i]);
    if (keyword == "key") key = args[given + i];
    else if (keyword == "default") missing = args[given + i];
    else
      throw Error(ErrorKind::TypeError,
                  "'" + std::string(keyword) + "' is an invalid keyword argument for " + name + "()");
  }
  if (given > 1 && !missing.is_undefined()) {
    throw Error(ErrorKind::TypeError,
                std::string("Cannot specify a default for ") + name + "() with multiple positional arguments");
  }
  Value best, best_key;
  auto offer = [&](Value item) {
    Value item_key = key.is_none() ? item : call(in, key, {item});
    bool better = best.is_undefined();
    if (!better) {
      if (item_key.is_int() && best_key.is_int()) {
        better = op == CompareOp::Lt ? item_key.as_int() < best_key.as_int() : item_key.as_int() > best_key.as_int();
      } else if (item_key.is_float() && best_key.is_float()) {
        better =
            op == CompareOp::Lt ? item_key.as_float() < best_key.as_float() : item_key.as_float() > best_key.as_float();
      } else {
        better = truth(in, compare(in, op, item_key, best_key));
      }
    }
    if (better) {
      best = std::move(item);
      best_key = std::move(item_key);
    }
  };
  if (given > 1) {
    for (uint32_t i = 0; i < given; ++i) offer(args[i]);
  } else if (!key.is_none() || !for_each_gathered(in, args[0], best, offer)) {
    for_each(in, args[0], offer);
  }
  if (!best.is_undefined()) return best;
  if (missing.is_undefined()) throw Error(ErrorKind::ValueError, std::string(name) + "() arg is an empty sequence");
  return missing;
}

Value min_function(Interpreter& in, const Args& args) { return extreme(in, args, CompareOp::Lt, "min"); }
Value max_function(Interpreter& in, const Args& args) { return extreme(in, args, CompareOp::Gt, "max"); }

template <CompareOp kOp>
bool short_extreme(Interpreter&, Value* args, Value& answer) {
  const Value &a = args[0], &b = args[1];
  bool second;
  if (a.is_int() && b.is_int()) second = kOp == CompareOp::Lt ? b.as_int() < a.as_int() : b.as_int() > a.as_int();
  else if (a.is_float() && b.is_float())
    second = kOp == CompareOp::Lt ? b.as_float() < a.as_float() : b.as_float() > a.as_float();
  else return false;
  answer = second ? b : a;
  return true;
}

// Is there an item whose truth is `wanted`?
bool has_item(Interpreter& in, const Value& iterable, bool wanted) {
  Value item;
  if (Generator* const generator = gatherable(iterable)) {
    const Value keep(generator);
    Gathering passed(wanted ? Gathering::Takes::False : Gathering::Takes::True);
    while (generator_gather(in, generator, passed, item)) {
      if (truth(in, item) == wanted) return true;
    }
    return false;
  }
  if (is_plain_sequence(in, iterable)) {
    const Value keep = iterable;
    for (size_t i = 0; plain_item(keep, i, item); ++i) {
      count_item(in);
      if ((item.is_bool() ? item.as_bool() : truth(in, item)) == wanted) return true;
    }
    return false;
  }
  const Value it = iter(in, iterable);
  while (next(in, it, item)) {
    if (truth(in, item) == wanted) return true;
  }
  return false;
}

Value all_function(Interpreter& in, const Args& args) { return Value::boolean(!has_item(in, args[0], false)); }
Value any_function(Interpreter& in, const Args& args) { return Value::boolean(has_item(in, args[0], true)); }

Value iter_function(Interpreter& in, const Args& args) {
  if (args[1].is_undefined()) {
    if (is_iterable(in, args[0])) return iter(in, args[0]);
    return failure(in, ErrorKind::TypeError, {"'", type_name(in, args[0]), "' object is not iterable"});
  }
  if (!is_callable(in, args[0])) throw Error(ErrorKind::TypeError, "iter(v, w): v must be callable");
  return callable_iter(in, args[0], args[1]);
}

// Of the sequences and sets of the language itself.
bool short_iter(Interpreter& in, Value* args, Value& answer) {
  if (!args[0].is_object()) return false;
  const Object* const object = args[0].as_object();
  const bool known = object->kind >= ObjectKind::Str && object->kind <= ObjectKind::Range;
  if (!known || (object->type->type_flags & kScriptClass)) return false;
  answer = object->type->slots.iter(in, args[0]);
  return true;
}

Error stop(Value value) {
  if (value.is_none() || value.is_undefined()) return Error(ErrorKind::StopIteration, std::string());
  return Error(ErrorKind::StopIteration, std::move(value));
}

// next() without a default: a generator's return value and a script's own StopIteration are kept. Answers a failure at the end.
Value next_or_stop(Interpreter& in, const Value& it) {
  Value out;
  if (it.is_object() && it.as_object()->kind == ObjectKind::Generator) {
    if (generator_resume(in, object_cast<Generator>(it), Value::none(), out)) return out;
    return failure(in, stop(std::move(out)));
  }
  if (it.is_object() && (it.as_object()->type->type_flags & kScriptClass)) {
    const Value method = type_lookup(it.as_object()->type, in.names->next);
    if (is_function(method)) return in.vm().call_function_answer(as_function(method), it, Args{});
  }
  const WantedStop wanted(in);
  if (next(in, it, out)) return out;
  raise_kept_stop(in, it);
  return failure(in, stop(take_stop_value(in, it)));
}

Value next_function(Interpreter& in, const Args& args) {
  if (args[1].is_undefined()) return next_or_stop(in, args[0]);
  Value out;
  clear_stop_value(in);
  return next(in, args[0], out) ? out : args[1];
}

constexpr NativeDef kRows[] = {
    {"sorted", sorted_function, "Return a new sorted list of the items of an iterable."},
    {"sum(iterable, /, start=0)", sum_function, "Return the sum of start and the items of an iterable."},
    {"min", min_function, "Return the smallest item.", {short_extreme<CompareOp::Lt>, 2}},
    {"max", max_function, "Return the largest item.", {short_extreme<CompareOp::Gt>, 2}},
    {"all(iterable, /)", all_function, "True if all items are true."},
    {"any(iterable, /)", any_function, "True if any item is true."},
    {"iter(object, sentinel=..., /)", iter_function, "Get an iterator.", {short_iter, 1}},
    {"next(iterator, default=..., /)", next_function, "Return the next item from the iterator."},
    {"aiter(async_iterable, /)", [](Interpreter& in, const Args& args) { return make_aiter(in, args[0]); },
     "Return an AsyncIterator for an AsyncIterable object."},
    {"anext(aiterator, default=..., /)",
     [](Interpreter& in, const Args& args) { return make_anext(in, args[0], args[1]); },
     "Return the next item from the async iterator. If default is given and the async iterator is exhausted, it is "
     "returned instead of raising StopAsyncIteration."},
};

}  // namespace

void add_iteration_functions(Interpreter& in, Module& module) { define_all(in, module, kRows); }

}  // namespace tessera::lang
