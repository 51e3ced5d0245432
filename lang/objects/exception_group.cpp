// compile: small (runs after an error)
#include "lang/objects/exception_group.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/objects/exception_types.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {

namespace {

using Condition = std::function<bool(const Value& exception)>;

Type* base_group(Interpreter& in) { return error_type(in, ErrorKind::BaseExceptionGroup); }

Value message_of(const Value& group) { return as_exception(group)->fields[0]; }

// --- making

void check_exceptions(Interpreter& in, const Tuple* exceptions, bool& all_ordinary) {
  all_ordinary = true;
  for (uint32_t i = 0; i < exceptions->size; ++i) {
    if (!is_exception((*exceptions)[i])) {
      throw_error(ErrorKind::ValueError, "Item %u of second argument (exceptions) is not an exception", i);
    }
    all_ordinary = all_ordinary && is_error(in, (*exceptions)[i], ErrorKind::Exception);
  }
}

// A group of ordinary exceptions is an ExceptionGroup, whichever of the two was asked for.
Type* class_of_group(Interpreter& in, Type* type, bool all_ordinary) {
  if (all_ordinary) return type == base_group(in) ? error_type(in, ErrorKind::ExceptionGroup) : type;
  if (type == error_type(in, ErrorKind::ExceptionGroup)) {
    throw Error(ErrorKind::TypeError, "Cannot nest BaseExceptions in an ExceptionGroup");
  }
  if (type->is_subtype_of(error_type(in, ErrorKind::Exception))) {
    throw_error(ErrorKind::TypeError, "Cannot nest BaseExceptions in '%s'", std::string(type->name->view()).c_str());
  }
  return type;
}

Value make_group(Interpreter& in, Type* type, const Args& args) {
  const uint32_t given = args.positional();
  if (given != 2) {
    throw_error(ErrorKind::TypeError, "BaseExceptionGroup.__new__() takes exactly 2 arguments (%u given)", given);
  }
  if (!is_str(args[0])) {
    throw_error(ErrorKind::TypeError, "BaseExceptionGroup.__new__() argument 1 must be str, not %s",
                args[0].is_none() ? "None" : std::string(type_name(in, args[0])).c_str());
  }
  const bool is_sequence =
      is_list(args[1]) || is_tuple(args[1]) ||
      (args[1].is_object() && type_of(in, args[1])->slots.get_item != nullptr && !is_dict(args[1]));
  if (!is_sequence) throw Error(ErrorKind::TypeError, "second argument (exceptions) must be a sequence");
  const Value exceptions = tuple_from(in, args[1]);
  if (as_tuple(exceptions)->size == 0) {
    throw Error(ErrorKind::ValueError, "second argument (exceptions) must be a non-empty sequence");
  }
  bool all_ordinary = false;
  check_exceptions(in, as_tuple(exceptions), all_ordinary);
  Value made = make_exception(in, class_of_group(in, type, all_ordinary), make_tuple(in, {args[0], args[1]}));
  as_exception(made)->fields[0] = args[0];
  as_exception(made)->fields[1] = exceptions;
  return made;
}

Value new_group(Interpreter& in, const Value& message, const Value& exceptions) {
  const Value args[] = {message, exceptions};
  return make_group(in, base_group(in), Args{args, 2});
}

// --- taking apart

// A group like `original` with these exceptions; None for none.
Value derived(Interpreter& in, const Value& original, const Value& exceptions) {
  if (as_list(exceptions)->size == 0) return Value::none();
  Value made = call_method(in, original, intern(in, "derive"), {exceptions});
  if (!is_exception_group(in, made)) {
    throw Error(ErrorKind::TypeError, "derive must return an instance of BaseExceptionGroup");
  }
  Exception* const to = as_exception(made);
  const Exception* const from = as_exception(original);
  to->traceback = from->traceback;
  to->context = from->context;
  to->cause = from->cause;
  to->suppress_context = from->suppress_context;
  const Value notes = find_attr(in, original, in.names->notes);
  if (is_list(notes) || is_tuple(notes)) set_attr(in, made, in.names->notes, list_from(in, notes));
  return made;
}

struct Parts {
  Value match = Value::none(), rest = Value::none();
};

Parts split(Interpreter& in, const Value& exception, const Condition& condition) {
  Parts parts;
  if (condition(exception)) {
    parts.match = exception;
    return parts;
  }
  if (!is_exception_group(in, exception)) {
    parts.rest = exception;
    return parts;
  }
  const RecursionGuard guard(in, " in exceptiongroup_split_recursive");
  const Value matching = make_list(in), others = make_list(in);
  for (const Value& inner : *as_tuple(exceptions_of(exception))) {
    Parts of_inner = split(in, inner, condition);
    if (!of_inner.match.is_none()) list_append(in, as_list(matching), of_inner.match);
    if (!of_inner.rest.is_none()) list_append(in, as_list(others), of_inner.rest);
  }
  parts.match = derived(in, exception, matching);
  parts.rest = derived(in, exception, others);
  return parts;
}

bool is_exception_class(Interpreter& in, const Value& v) {
  return v.is_object() && v.as_object()->kind == ObjectKind::Type &&
         object_cast<Type>(v)->is_subtype_of(error_type(in, ErrorKind::BaseException));
}

// A class, a tuple of classes, or a function that decides.
Condition condition_of(Interpreter& in, const Value& given) {
  bool classes = is_exception_class(in, given);
  if (is_tuple(given)) {
    classes = true;
    for (const Value& each : *as_tuple(given)) classes = classes && is_exception_class(in, each);
  }
  if (classes) return [&in, given](const Value& e) { return exception_matches(in, e, given); };
  const bool is_type = given.is_object() && given.as_object()->kind == ObjectKind::Type;
  if (is_type || !is_callable(in, given)) {
    throw Error(ErrorKind::TypeError, "expected a function, exception type or tuple of exception types");
  }
  return [&in, given](const Value& e) { return truth(in, call(in, given, {e})); };
}

// --- methods

Value split_method(Interpreter& in, const Args& args) {
  const Parts parts = split(in, args[0], condition_of(in, args[1]));
  return make_tuple(in, {parts.match, parts.rest});
}

Value subgroup_method(Interpreter& in, const Args& args) { return split(in, args[0], condition_of(in, args[1])).match; }

Value derive_method(Interpreter& in, const Args& args) { return new_group(in, message_of(args[0]), args[1]); }

Value new_method(Interpreter& in, const Args& args) {
  Args rest = args;
  ++rest.values;
  --rest.count;
  return make_group(in, object_cast<Type>(args[0]), rest);
}

Value group_str(Interpreter& in, const Value& self) {
  const uint32_t count = as_tuple(exceptions_of(self))->size;
  return make_str(in, str_text(in, message_of(self)) + " (" + std::to_string(count) +
                          (count == 1 ? " sub-exception)" : " sub-exceptions)"));
}

constexpr NativeDef kMethods[] = {
    {"__new__", new_method},
    {"split(self, matcher_value, /)", split_method, "The part that matches and the rest."},
    {"subgroup(self, matcher_value, /)", subgroup_method, "The part that matches, or None."},
    {"derive(self, excs, /)", derive_method, "A group with the same message and other exceptions."},
};

// --- except*

bool same_origin(const Value& a, const Value& b, Interpreter& in) {
  if (!is_exception_group(in, a) || !is_exception_group(in, b)) return false;
  const Exception *left = as_exception(a), *right = as_exception(b);
  return left->traceback.is(right->traceback) && left->cause.is(right->cause) && left->context.is(right->context);
}

void add_leaves(Interpreter& in, std::set<const Object*>& leaves, const Value& exception) {
  if (!is_exception_group(in, exception)) {
    leaves.insert(exception.as_object());
    return;
  }
  const RecursionGuard guard(in, " in collect_exception_group_leaf_ids");
  for (const Value& inner : *as_tuple(exceptions_of(exception))) add_leaves(in, leaves, inner);
}

// `original` without the leaves that none of `parts` has: its nesting, as it was.
Value projection(Interpreter& in, const Value& original, const std::vector<Value>& parts) {
  std::set<const Object*> leaves;
  for (const Value& part : parts) add_leaves(in, leaves, part);
  return split(in, original,
               [&](const Value& e) { return !is_exception_group(in, e) && leaves.contains(e.as_object()); })
      .match;
}

void check_classes(Interpreter& in, const Value& classes) {
  const auto check = [&](const Value& each) {
    if (!is_exception_class(in, each)) {
      throw Error(ErrorKind::TypeError, "catching classes that do not inherit from BaseException is not allowed");
    }
    if (object_cast<Type>(each)->is_subtype_of(base_group(in))) {
      throw Error(ErrorKind::TypeError, "catching ExceptionGroup with except* is not allowed. Use except instead.");
    }
  };
  if (!is_tuple(classes)) return check(classes);
  for (const Value& each : *as_tuple(classes)) check(each);
}

void fill_base_group(Interpreter& in, Type* base) {
  in.add_methods(base, kMethods, std::size(kMethods));
  add_class_getitem(in, base);
  constexpr NativeDef text = {"__str__(self, /)", [](Interpreter& in2, const Args& a) { return group_str(in2, a[0]); }, "Return str(self)."};
  in.add_methods(base, &text, 1);
  in.add_property(base, "message", [](Interpreter&, const Args& a) { return message_of(a[0]); });
  in.add_property(base, "exceptions", [](Interpreter&, const Args& a) { return exceptions_of(a[0]); });
}

}  // namespace

bool is_exception_group(Interpreter& in, const Value& value) {
  return is_error(in, value, ErrorKind::BaseExceptionGroup);
}

const Value& exceptions_of(const Value& group) { return as_exception(group)->fields[1]; }

Value match_exception_group(Interpreter& in, const Value& exception, const Value& classes) {
  if (exception.is_none()) return make_tuple(in, {Value::none(), Value::none()});
  check_classes(in, classes);
  if (exception_matches(in, exception, classes)) {
    if (is_exception_group(in, exception)) return make_tuple(in, {exception, Value::none()});
    // A bare exception: the clause sees a group all the same.
    Value group = new_group(in, in.shared->empty_str, make_tuple(in, {exception}));
    as_exception(group)->traceback = as_exception(exception)->traceback;
    return make_tuple(in, {group, Value::none()});
  }
  if (!is_exception_group(in, exception)) return make_tuple(in, {Value::none(), exception});
  const Value parts = call_method(in, exception, intern(in, "split"), {classes});
  if (!is_tuple(parts) || as_tuple(parts)->size < 2) {
    throw_error(ErrorKind::TypeError, "%s.split must return a tuple, not %s",
                std::string(type_name(in, exception)).c_str(), std::string(type_name(in, parts)).c_str());
  }
  return make_tuple(in, as_tuple(parts)->items, 2);
}

Value group_to_raise(Interpreter& in, const Value& original, const Value& list) {
  std::vector<Value> raised, kept;
  for (const Value& each : *as_list(list)) {
    if (each.is_none()) continue;
    if (!is_exception_group(in, original)) return each;  // one clause at most has run
    (same_origin(each, original, in) ? kept : raised).push_back(each);
  }
  if (!kept.empty()) {
    Value again = projection(in, original, kept);
    if (raised.empty()) return again;
    if (!again.is_none()) raised.push_back(std::move(again));
  }
  if (raised.empty()) return Value::none();
  return new_group(in, in.shared->empty_str, make_list(in, raised.data(), static_cast<uint32_t>(raised.size())));
}

bool makes_groups(const Type* type) {
  return std::any_of(type->mro.begin(), type->mro.end(), [](const Type* base) { return base->make == TypeMaker(make_group); });
}

void become_exception_group(Interpreter& in, Type* type, ErrorKind kind) {
  type->make = make_group;
  type->slots.str = group_str;
  if (kind == ErrorKind::BaseExceptionGroup) return type->fill_later(fill_base_group);
  Type* const exception = error_type(in, ErrorKind::Exception);
  type->bases.push_back(exception);
  exception->add_subclass(type);
  type->mro.insert(type->mro.begin() + 2, exception);
}

}  // namespace tessera::lang
