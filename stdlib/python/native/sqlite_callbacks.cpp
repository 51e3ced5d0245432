// What SQLite calls of a script's: functions, aggregates, collations, the authorizer, progress and trace.
//
// No exception passes through SQLite's frames. An error of the script becomes one of SQLite's and is told to the module's hooks; what ends
// the run is kept and thrown when SQLite has returned.
// compile: small (the library takes longer)
#include <algorithm>
#include <utility>

#include "lang/objects/exception.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/codec.h"
#include "lang/types/number.h"
#include "stdlib/python/native/processes.h"
#include "stdlib/python/native/sqlite.h"

namespace tessera::stdlib::sqlite {
namespace {

constexpr int kSteps = 1000;  // of SQLite's virtual machine, between two looks at limits and Ctrl-C

Value exception_value(Interpreter& in, const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const Thrown& thrown) {
    return thrown.exception;
  } catch (const Error& error) {
    return make_exception(in, error);
  } catch (...) {
    return Value();
  }
}

// Runs `body` for a callback; on an exception `failed` is called with it, and then the module's report.
template <class Body, class Failed>
void guarded(Callback* callback, Body&& body, Failed&& failed) noexcept {
  Database* const db = callback->db;
  Interpreter& in = *db->in;
  const Value callable = callback->callable;  // the script may replace it meanwhile, and the callback is gone then
  try {
    body(in, callable);
  } catch (...) {
    const std::exception_ptr problem = std::current_exception();
    try {
      const Value exception = exception_value(in, problem);
      if (exception.is_undefined()) db->problem = problem;
      failed(exception);
      if (!exception.is_undefined()) call_method(in, db->hooks, intern(in, "report"), {exception, callable});
    } catch (...) {
      db->problem = std::current_exception();
    }
  }
}

// Words for the database's error; MemoryError and OverflowError have errors of their own in SQLite.
void set_failure(Interpreter& in, Context* context, const Value& exception, const std::string& words) {
  if (!exception.is_undefined() && is_error(in, exception, ErrorKind::MemoryError)) return library().result_error_nomem(context);
  if (!exception.is_undefined() && is_error(in, exception, ErrorKind::OverflowError)) return library().result_error_toobig(context);
  library().result_error(context, words.c_str(), -1);
}

Value value_of(Interpreter& in, Cell* cell) {
  const Library& l = library();
  switch (l.value_type(cell)) {
    case kInteger: return Value::integer(l.value_int64(cell));
    case kFloat: return Value::real(l.value_double(cell));
    case kText: {
      const Text text = l.value_text(cell);
      return decode_text(in, {text, static_cast<size_t>(l.value_bytes(cell))}, "utf-8", "strict");
    }
    case kBlob: {
      const void* const bytes = l.value_blob(cell);
      return make_bytes(in, {static_cast<Text>(bytes), static_cast<size_t>(l.value_bytes(cell))});
    }
    default: return Value::none();
  }
}

std::vector<Value> values_of(Interpreter& in, int count, Cell** cells) {
  std::vector<Value> values;
  values.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values.push_back(value_of(in, cells[i]));
  return values;
}

Args args_of(const std::vector<Value>& values) { return {values.data(), static_cast<uint32_t>(values.size()), nullptr, nullptr}; }

int short_size(size_t size) {
  if (size > INT32_MAX) throw Error(ErrorKind::OverflowError, "string or BLOB longer than INT_MAX bytes");
  return static_cast<int>(size);
}

void set_result(Interpreter& in, Context* context, const Value& value) {
  const Library& l = library();
  if (value.is_none()) return l.result_null(context);
  if (value.is_bool()) return l.result_int64(context, value.as_int());
  if (value.is_float()) return l.result_double(context, value.as_float());
  if (is_str(value)) {
    const Utf8 text(in, value);
    return l.result_text(context, text.view().data(), short_size(text.view().size()), kCopied);
  }
  if (is_bytes_like(in, value)) {
    const BytesLike bytes(in, value);
    // SQLite takes a null pointer for NULL, whatever the size
    return l.result_blob(context, bytes.view().empty() ? "" : bytes.view().data(), short_size(bytes.view().size()), kCopied);
  }
  if (is_instance(in, value, in.types.integer)) {
    const Value whole = whole_index(in, value);
    if (is_big_int(whole)) throw Error(ErrorKind::OverflowError, "Python int too large to convert to SQLite INTEGER");
    return l.result_int64(context, whole.as_int());
  }
  if (is_instance(in, value, in.types.real)) return l.result_double(context, to_float(in, value));
  throw Error(ErrorKind::TypeError, "unsupported type of a function's result");
}

Callback* callback_of(Context* context) { return static_cast<Callback*>(library().user_data(context)); }

void call_function(Context* context, int count, Cell** cells) {
  Callback* const callback = callback_of(context);
  Database* const db = callback->db;  // the script may drop the callback
  const Inside inside(db);
  guarded(
      callback,
      [&](Interpreter& in, const Value& callable) {
        const std::vector<Value> values = values_of(in, count, cells);
        set_result(in, context, call(in, callable, args_of(values)));
      },
      [&](const Value& exception) { set_failure(*db->in, context, exception, "user-defined function raised exception"); });
}

// --- aggregates: an instance of the script's class for each group

std::string words_of(Text method, bool defined) {
  return std::string("user-defined aggregate's '") + method + (defined ? "' method raised error" : "' method not defined");
}

// Calls a method of the group's instance; without the method the words say so.
template <class Done>
void call_instance(Context* context, const Value& instance, Text method, int count, Cell** cells, Done&& done) {
  Callback* const callback = callback_of(context);
  Database* const db = callback->db;
  bool defined = true;
  guarded(
      callback,
      [&](Interpreter& in, const Value&) {
        const std::vector<Value> values = values_of(in, count, cells);
        defined = false;
        const Value bound = find_attr(in, instance, intern(in, method));
        defined = !bound.is_undefined();
        done(in, defined ? call(in, bound, args_of(values)) : get_attr(in, instance, intern(in, method)));
      },
      [&](const Value& exception) {
        Interpreter& in = *db->in;
        // without arguments CPython does not tell a missing method from one that raises AttributeError
        const bool missing = !defined || (count == 0 && !exception.is_undefined() && is_error(in, exception, ErrorKind::AttributeError));
        set_failure(in, context, exception, words_of(method, !missing));
      });
}

Value** group_of(Context* context, bool make) {
  return static_cast<Value**>(library().aggregate_context(context, make ? static_cast<int>(sizeof(Value*)) : 0));
}

void step_with(Context* context, Text method, int count, Cell** cells) {
  Callback* const callback = callback_of(context);
  Database* const db = callback->db;
  const Inside inside(db);
  Value** const group = group_of(context, true);
  if (group == nullptr) return library().result_error_nomem(context);
  if (*group == nullptr) {
    guarded(
        callback, [&](Interpreter& in, const Value& made_by) { *group = new Value(call(in, made_by)); },
        [&](const Value& exception) { set_failure(*db->in, context, exception, words_of("__init__", true)); });
    if (*group == nullptr) return;
  }
  const Value instance = **group;
  call_instance(context, instance, method, count, cells, [](Interpreter&, const Value&) {});
}

void step(Context* context, int count, Cell** cells) { step_with(context, "step", count, cells); }
void inverse(Context* context, int count, Cell** cells) { step_with(context, "inverse", count, cells); }

void give_result(Context* context, const Value& instance, Text method) {
  call_instance(context, instance, method, 0, nullptr, [context](Interpreter& in, const Value& answer) { set_result(in, context, answer); });
}

void value_now(Context* context) {
  const Inside inside(callback_of(context)->db);
  Value** const group = group_of(context, false);
  if (group == nullptr || *group == nullptr) return;
  const Value instance = **group;
  give_result(context, instance, "value");
}

void finalize(Context* context) {
  const Inside inside(callback_of(context)->db);
  Value** const group = group_of(context, false);
  if (group == nullptr || *group == nullptr) return;  // no row, or no instance
  const Value instance = std::move(**group);
  delete std::exchange(*group, nullptr);
  give_result(context, instance, "finalize");
}

// --- the other callbacks

int compare_texts(void* data, int left_size, const void* left, int right_size, const void* right) {
  Database* const db = static_cast<Callback*>(data)->db;
  if (db->problem != nullptr) return 0;  // a comparison before has raised it
  const Inside inside(db);
  int answer = 0;
  guarded(
      static_cast<Callback*>(data),
      [&](Interpreter& in, const Value& callable) {
        const Value a = decode_text(in, {static_cast<Text>(left), static_cast<size_t>(left_size)}, "utf-8", "strict");
        const Value b = decode_text(in, {static_cast<Text>(right), static_cast<size_t>(right_size)}, "utf-8", "strict");
        const Value order = call(in, callable, {a, b});
        if (!order.is_none() && is_whole(order)) answer = less(in, order, Value::integer(0)) ? -1 : less(in, Value::integer(0), order);
        else if (is_index(in, order)) answer = static_cast<int>(std::clamp<int64_t>(index(in, order), -1, 1));
      },
      [db](const Value& exception) {  // SQLite has no error for it: check() throws it when the call has returned
        if (!exception.is_undefined()) db->problem = std::make_exception_ptr(Thrown(exception));
      });
  return answer;
}

int authorize(void* data, int action, Text first, Text second, Text database, Text trigger) {
  const Inside inside(static_cast<Callback*>(data)->db);
  int answer = kDeny;
  guarded(
      static_cast<Callback*>(data),
      [&](Interpreter& in, const Value& callable) {
        const Value said = call(in, callable, {Value::integer(action), text_or_none(in, first), text_or_none(in, second),
                                               text_or_none(in, database), text_or_none(in, trigger)});
        if (said.is_int() || said.is_bool() || is_instance(in, said, in.types.integer)) answer = small(in, said);
      },
      [](const Value&) {});
  return answer;
}

int tell_progress(void* data) {
  Database* const db = static_cast<Hook*>(data)->db;
  if (is_asked_to_stop(db)) return 1;
  if (db->progress == nullptr || --db->steps_left > 0) return 0;
  db->steps_left = db->steps_per_progress;
  const Inside inside(db);
  bool stop = true;
  guarded(db->progress, [&](Interpreter& in, const Value& callable) { stop = truth(in, call(in, callable)); }, [](const Value&) {});
  return stop ? 1 : 0;
}

int tell_statement(unsigned, void* data, void* program, void* plain) {
  const Inside inside(static_cast<Callback*>(data)->db);
  guarded(
      static_cast<Callback*>(data),
      [&](Interpreter& in, const Value& callable) {
        char* const expanded = library().expanded_sql(static_cast<Program*>(program));
        const std::string sql(expanded != nullptr ? expanded : static_cast<Text>(plain));
        library().free(expanded);
        if (expanded == nullptr) {
          Database* const db = static_cast<Callback*>(data)->db;
          call_method(in, db->hooks, intern(in, "too_long"), {callable});
        }
        call(in, callable, {decode_text(in, sql, "utf-8", "strict")});
      },
      [](const Value&) {});
  return 0;
}

// --- how they are set

void drop(void* data) {
  Callback* const callback = static_cast<Callback*>(data);
  const Inside inside(callback->db);
  std::list<Callback>& all = callback->db->callbacks;
  std::list<Callback> out;
  const auto here = std::find_if(all.begin(), all.end(), [callback](const Callback& c) { return &c == callback; });
  if (here != all.end()) out.splice(out.begin(), all, here);
}

Callback* keep(Database* db, const Value& callable) {
  db->callbacks.push_back({db, callable});
  return &db->callbacks.back();
}

// Puts a callback in the place of the one of its kind (None: of nothing), and tells SQLite by `set`.
template <class Set>
int replace(Database* db, Callback* Database::*place, const Value& callable, Set&& set) {
  Callback* const now = callable.is_none() ? nullptr : keep(db, callable);
  Callback* const old = std::exchange(db->*place, now);
  int code;
  {
    const Away away(db);
    code = set(now);
  }
  if (old != nullptr) drop(old);
  return code;
}

// (name, count of arguments, callable or None, flags); false: SQLite refuses it, and has dropped the callable.
Value create_function(Interpreter& in, const Args& args) {
  const std::string name = name_argument(in, args[1]);
  const int count = small(in, args[2]), flags = kUtf8 | small(in, args[4]);
  Database* const db = open_database(args[0]);
  const bool gone = args[3].is_none();
  Callback* const callback = gone ? nullptr : keep(db, args[3]);
  const Away away(db);
  return Value::boolean(library().create_function_v2(db->handle, name.c_str(), count, flags, callback, gone ? nullptr : call_function,
                                                     nullptr, nullptr, gone ? nullptr : drop) == kOk);
}

Value create_aggregate(Interpreter& in, const Args& args) {
  const std::string name = name_argument(in, args[1]);
  const int count = small(in, args[2]);
  const bool window = truth(in, args[4]), gone = window && args[3].is_none();
  Database* const db = open_database(args[0]);
  Callback* const callback = gone ? nullptr : keep(db, args[3]);
  const Away away(db);
  const Library& l = library();
  const Function on_step = gone ? nullptr : step;
  const Final on_end = gone ? nullptr : finalize;
  const Free on_drop = gone ? nullptr : drop;
  const int code = window ? l.create_window_function(db->handle, name.c_str(), count, kUtf8, callback, on_step, on_end,
                                                     gone ? nullptr : value_now, gone ? nullptr : inverse, on_drop)
                          : l.create_function_v2(db->handle, name.c_str(), count, kUtf8, callback, nullptr, on_step, on_end, on_drop);
  return Value::boolean(code == kOk);
}

Value create_collation(Interpreter& in, const Args& args) {
  Database* const db = open_database(args[0]);
  const std::string name = name_argument(in, args[1]);
  const bool gone = args[2].is_none();
  Callback* const callback = gone ? nullptr : keep(db, args[2]);
  int code;
  {
    const Away away(db);
    code = library().create_collation_v2(db->handle, name.c_str(), kUtf8, callback, gone ? nullptr : compare_texts, gone ? nullptr : drop);
  }
  if (code != kOk && callback != nullptr) drop(callback);  // here alone SQLite leaves that to its caller
  check(db, code);
  return Value::none();
}

Value set_authorizer(Interpreter&, const Args& args) {
  Database* const db = open_database(args[0]);
  return Value::boolean(replace(db, &Database::authorizer, args[1], [db](Callback* now) {
                          return library().set_authorizer(db->handle, now == nullptr ? nullptr : authorize, now);
                        }) == kOk);
}

Value set_progress(Interpreter& in, const Args& args) {
  const int count = small(in, args[2]);
  Database* const db = open_database(args[0]);
  // SQLite calls back after kSteps at the latest, for limits and Ctrl-C; some of these calls are passed on to the script
  db->steps_per_progress = db->steps_left = std::max(1, (count - 1) / kSteps + 1);
  replace(db, &Database::progress, count > 0 ? args[1] : Value::none(), [db, count](Callback* now) {
    library().progress_handler(db->handle, now == nullptr ? kSteps : count / db->steps_per_progress, tell_progress, &db->hook);
    return kOk;
  });
  return Value::none();
}

Value set_trace(Interpreter&, const Args& args) {
  constexpr unsigned kStatements = 1;
  Database* const db = open_database(args[0]);
  replace(db, &Database::trace, args[1], [db](Callback* now) {
    return library().trace_v2(db->handle, now == nullptr ? 0 : kStatements, now == nullptr ? nullptr : tell_statement, now);
  });
  return Value::none();
}

const NativeDef kMethods[] = {
    {"create_function(self, name: str, count, callable, flags, /)", create_function},
    {"create_aggregate(self, name: str, count, made_by, window, /)", create_aggregate},
    {"create_collation(self, name: str, callable, /)", create_collation},
    {"set_authorizer(self, callable, /)", set_authorizer},
    {"set_progress(self, callable, count, /)", set_progress},
    {"set_trace(self, callable, /)", set_trace},
};

}  // namespace

// Without a handler of the script's, for limits and Ctrl-C alone.
void listen_for_progress(Database* db) {
  library().progress_handler(db->handle, kSteps, tell_progress, &db->hook);
}

void add_callbacks(Interpreter& in, Type* database) { in.add_methods(database, kMethods, std::size(kMethods)); }

}  // namespace tessera::stdlib::sqlite
