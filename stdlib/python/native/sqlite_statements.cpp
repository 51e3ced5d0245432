// Of _sqlite the statements: their parameters, steps and rows.
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

struct Statement : GcObject {
  Program* program = nullptr;  // null: nothing but comments
  Database* db = nullptr;
  Value owner;  // the database
  const void* run = nullptr;  // the Run that has claimed or bound it last and not reset it
  bool writes = false;  // INSERT, UPDATE, DELETE or REPLACE
  bool stepping = false;  // SQLite is in a step of it, and may be calling back
};

// A statement that a cursor runs. The connection keeps the statement for the next cursor, so a run resets it when it ends.
struct Run : GcObject {
  Value statement;
};

Statement* in_turn(const Value& statement) {
  Statement* const s = known_cast<Statement>(statement);
  wait_turn(s->db);
  return s;
}
Statement* statement_of(const Args& args) { return in_turn(args[0]); }
Statement* run_of(const Args& args) { return in_turn(known_cast<Run>(args[0])->statement); }

}  // namespace

// Resetting and finalizing may call an aggregate's finalize().
void Database::sweep_now() noexcept {
  const Turn turn(this);
  must_sweep = closing != nullptr && copies != 0;
  for (Program* const program : std::exchange(ended, {})) library().reset(program);
  for (Program* const program : std::exchange(dead, {})) library().finalize(program);
  for (BlobHandle* const blob : std::exchange(dead_blobs, {})) library().blob_close(blob);
  if (closing != nullptr && copies == 0) library().close_v2(std::exchange(closing, nullptr));
}

namespace {

void destroy_statement(Interpreter& in, Object* self) {
  Statement* const statement = known_cast<Statement>(self);
  if (Program* const program = statement->program) {
    Database* const db = statement->db;
    std::erase(db->ended, program);
    if (db->calls != 0) {  // SQLite's lock may belong to a thread that waits for the baton
      db->dead.push_back(program), db->must_sweep = true;
    } else {
      const Turn turn(db);
      library().finalize(program);
    }
  }
  free_object(in, statement);
}

void destroy_run(Interpreter& in, Object* self) {
  Run* const run = known_cast<Run>(self);
  Statement* const statement = known_cast<Statement>(run->statement);
  if (statement->run == run && statement->program != nullptr) {
    Database* const db = statement->db;
    statement->run = nullptr;
    if (db->calls != 0) {
      db->ended.push_back(statement->program), db->must_sweep = true;
    } else {
      const Turn turn(db);
      library().reset(statement->program);
    }
  }
  free_object(in, run);
}

// Behind white space and comments.
std::string_view without_comments(std::string_view sql) {
  for (;;) {
    const size_t start = sql.find_first_not_of(" \t\n\f\r");
    sql.remove_prefix(std::min(start, sql.size()));
    size_t end;
    if (sql.starts_with("--")) {
      end = sql.find('\n');
      sql.remove_prefix(end == sql.npos ? sql.size() : end + 1);
    } else if (sql.starts_with("/*")) {
      end = sql.find("*/");
      sql.remove_prefix(end == sql.npos ? sql.size() : end + 2);
    } else {
      return sql;
    }
  }
}

bool is_writing(std::string_view sql) {
  sql = without_comments(sql);
  for (const std::string_view word : {"insert", "update", "delete", "replace"}) {
    if (sql.size() >= word.size() && std::equal(word.begin(), word.end(), sql.begin(), [](char a, char b) { return a == (b | 32); })) return true;
  }
  return false;
}

Value prepare(Interpreter& in, const Args& args) {
  constexpr int kMisuse = -1;  // a ProgrammingError
  Database* const db = open_database(args[0]);
  const Utf8 text(in, args[1]);
  check_length(in, db, text.view());
  const std::string sql(text.view());
  if (sql.find('\0') != sql.npos) throw_failure(in, db, kMisuse, 0, "the query contains a null character");
  const Value type = get_attr(in, db->hooks, intern(in, "Statement"));
  if (!type.is_object() || type.as_object()->kind != ObjectKind::Type || known_cast<Type>(type)->slots.destroy != destroy_statement)
    throw Error(ErrorKind::TypeError, "the hooks have no type Statement");
  const Value made = Value::adopt(make_object<Statement>(in, known_cast<Type>(type)));
  Statement* const statement = known_cast<Statement>(made);
  statement->owner = args[0], statement->db = db;
  Text tail = nullptr;
  statement->program = prepare_program(db, sql, &tail);
  if (tail != nullptr && !without_comments(tail).empty())
    throw_failure(in, db, kMisuse, 0, "You can only execute one statement at a time.");
  statement->writes = is_writing(sql);
  return made;
}

void check_size(size_t size, const char* words) {
  if (size > INT32_MAX) throw Error(ErrorKind::OverflowError, words);
}

// false: SQLite has no such type.
bool bind_value(Interpreter& in, Statement* statement, int place, const Value& value) {
  const Library& l = library();
  Program* const program = statement->program;
  int code;
  if (value.is_none()) {
    code = l.bind_null(program, place);
  } else if (value.is_int() || value.is_bool()) {
    code = l.bind_int64(program, place, value.as_int());
  } else if (value.is_float()) {
    code = l.bind_double(program, place, value.as_float());
  } else if (is_str(value)) {
    const Utf8 text(in, value);
    check_size(text.view().size(), "string longer than INT_MAX bytes");
    code = l.bind_text(program, place, text.view().data(), static_cast<int>(text.view().size()), kCopied);
  } else if (is_instance(in, value, in.types.integer)) {
    const Value whole = whole_index(in, value);
    if (is_big_int(whole)) throw Error(ErrorKind::OverflowError, "Python int too large to convert to SQLite INTEGER");
    code = l.bind_int64(program, place, whole.as_int());
  } else if (is_instance(in, value, in.types.real)) {
    code = l.bind_double(program, place, to_float(in, value));
  } else if (is_bytes_like(in, value)) {
    const BytesLike bytes(in, value);
    check_size(bytes.view().size(), "BLOB longer than INT_MAX bytes");
    // SQLite takes a null pointer for NULL, whatever the size
    code = l.bind_blob(program, place, bytes.view().empty() ? "" : bytes.view().data(), static_cast<int>(bytes.view().size()), kCopied);
  } else {
    return false;
  }
  check(statement->db, code);
  return true;
}

// May a value of this type be bound as it is, unless an adapter is registered for it?
bool is_plain(const Value& v) {
  return v.is_int() || v.is_float() || v.is_none() || v.is_bool() || (is_str(v) && (v.as_object()->type->type_flags & kScriptClass) == 0) ||
         (is_bytes(v) && (v.as_object()->type->type_flags & kScriptClass) == 0);
}

// (place from 1 on, value, adapt or None where plain values are bound as they are)
void bind_adapted(Interpreter& in, Statement* statement, int place, const Value& value, const Value& adapt, bool always) {
  constexpr int kMisuse = -1;
  const bool plain = !always && is_plain(value);
  const Value adapted = plain ? value : call(in, adapt, {value});
  if (!plain) wait_turn(statement->db);
  if (bind_value(in, statement, place, adapted)) return;
  throw_failure(in, statement->db, kMisuse, 0,
                "Error binding parameter " + std::to_string(place) + ": type '" + std::string(type_name(in, adapted)) + "' is not supported");
}

int parameter_count(const Statement* statement) {
  return statement->program == nullptr ? 0 : library().bind_parameter_count(statement->program);
}

[[noreturn]] void refuse_count(Interpreter& in, Statement* statement, int64_t given) {
  throw_failure(in, statement->db, -1, 0,
                "Incorrect number of bindings supplied. The current statement uses " + std::to_string(parameter_count(statement)) +
                    ", and there are " + std::to_string(given) + " supplied.");
}

void bind_sequence(Interpreter& in, Statement* statement, const Value& values, const Value& adapt, bool always) {
  const int64_t given = length(in, values);
  if (given != parameter_count(statement)) refuse_count(in, statement, given);
  const bool ready = is_plain_sequence(in, values);
  for (int64_t i = 0; i < given; ++i) {
    Value item;
    if (!ready) item = get_item(in, values, Value::integer(i)), wait_turn(statement->db);
    else if (!plain_item(values, static_cast<size_t>(i), item)) throw Error(ErrorKind::IndexError, "list index out of range");  // shortened
    bind_adapted(in, statement, static_cast<int>(i) + 1, item, adapt, always);
  }
}

void bind_names(Interpreter& in, Statement* statement, const Value& values, const Value& adapt, bool always) {
  const int count = parameter_count(statement);
  for (int place = 1; place <= count; ++place) {
    wait_turn(statement->db);
    const Text name = library().bind_parameter_name(statement->program, place);
    if (name == nullptr) {
      throw_failure(in, statement->db, -1, 0,
                    "Binding " + std::to_string(place) + " has no name, but you supplied a dictionary (which has only names).");
    }
    const std::string plain(name + 1);  // without its sign
    const Value key = decode_text(in, plain, "utf-8", "strict");
    Value value;
    if (const Value* const found = values.as_object()->type == in.types.dict ? dict_get(in, as_dict(values), key) : nullptr) {
      value = *found;
    } else {
      try {
        if (values.as_object()->type == in.types.dict) throw Error(ErrorKind::KeyError, plain);
        value = get_item(in, values, key);
      } catch (const Error& error) {
        if (error.kind != ErrorKind::KeyError && error.kind != ErrorKind::IndexError) throw;
        value = Value();
      } catch (const Thrown& thrown) {
        if (!is_error(in, thrown.exception, ErrorKind::LookupError)) throw;
        value = Value();
      }
      if (value.is_undefined()) {
        throw_failure(in, statement->db, -1, 0, "You did not supply a value for binding parameter :" + plain + ".");
      }
    }
    bind_adapted(in, statement, place, value, adapt, always);
  }
}

void reset_statement(Statement* statement) {
  if (statement->program == nullptr) return;
  if (statement->stepping) {  // by a callback of its own
    statement->db->ended.push_back(statement->program), statement->db->must_sweep = true;
    return;
  }
  const Away away(statement->db);
  library().reset(statement->program);
}

// (parameters, adapt, always: also what SQLite knows is to be adapted): binds them anew.
Value bind(Interpreter& in, const Args& args) {
  Statement* const statement = run_of(args);
  statement->run = known_cast<Run>(args[0]);
  std::erase(statement->db->ended, statement->program);
  reset_statement(statement);
  const Value& values = args[1];
  const bool always = truth(in, args[3]);
  if (is_dict(values) || (values.is_object() && values.as_object()->type->name->view() == "mappingproxy")) {
    bind_names(in, statement, values, args[2], always);
  } else if (is_plain_sequence(in, values) || !type_lookup(type_of(in, values), intern(in, "__getitem__")).is_undefined()) {
    bind_sequence(in, statement, values, args[2], always);
  } else {
    throw_failure(in, statement->db, -1, 0, "parameters are of unsupported type");
  }
  return Value::none();
}

// True: a row is there.
bool take_step(Interpreter& in, Statement* statement) {
  if (statement->program == nullptr) return false;
  Database* const db = statement->db;
  wait_turn(db);
  if (statement->stepping) throw_failure(in, db, -1, 0, "Recursive use of cursors not allowed.");
  statement->stepping = true;
  const int code = step_program(db, statement->program);
  statement->stepping = false;
  if (db->problem == nullptr && (code == kRow || code == kDone)) {
    db->sweep();
    in.poll();
    return code == kRow;
  }
  struct Reset {
    Statement* statement;
    ~Reset() { reset_statement(statement); }
  } const reset_after{statement};
  statement->run = nullptr;
  fail(db, code);
}

Value step(Interpreter& in, const Args& args) { return Value::boolean(take_step(in, run_of(args))); }

Value reset(Interpreter&, const Args& args) {
  Statement* const statement = run_of(args);
  if (statement->run != known_cast<Run>(args[0])) return Value::none();  // another cursor runs it now
  statement->run = nullptr;
  reset_statement(statement);
  return Value::none();
}

Value column_text(Interpreter& in, Statement* statement, int column, const Value& factory) {
  const Library& l = library();
  const Text begin = l.column_text(statement->program, column);
  if (begin == nullptr) throw Error(ErrorKind::MemoryError, std::string());
  const std::string_view text(begin, static_cast<size_t>(l.column_bytes(statement->program, column)));
  if (factory.is(Value(static_cast<Object*>(in.types.str)))) {
    try {
      return decode_text(in, text, "utf-8", "strict");
    } catch (const Error&) {
    } catch (const Thrown&) {
    }
    constexpr int kOperational = -2;
    throw_failure(in, statement->db, kOperational, 0,
                  std::string("Could not decode to UTF-8 column '") + l.column_name(statement->program, column) + "' with text '" +
                      std::string(text) + "'");
  }
  const Value bytes = make_bytes(in, text);
  if (factory.is(Value(static_cast<Object*>(bytes_types(in).bytes)))) return bytes;
  return call(in, factory, {bytes});
}

Value converted(Interpreter& in, Statement* statement, int column, const Value& converter) {
  const Library& l = library();
  const void* const bytes = l.column_blob(statement->program, column);
  if (bytes == nullptr) return Value::none();
  return call(in, converter, {make_bytes(in, {static_cast<Text>(bytes), static_cast<size_t>(l.column_bytes(statement->program, column))})});
}

// `converters`: a tuple with a callable or None for each column, or null.
Value row_of(Interpreter& in, Statement* statement, const Value& factory, const Tuple* converters) {
  const Library& l = library();
  Program* const program = statement->program;
  const int count = l.data_count(program);
  std::vector<Value> items(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    wait_turn(statement->db);  // a column before may have called a script
    Value& item = items[static_cast<size_t>(i)];
    if (converters != nullptr && static_cast<uint32_t>(i) < converters->size && !(*converters)[static_cast<size_t>(i)].is_none()) {
      item = converted(in, statement, i, (*converters)[static_cast<size_t>(i)]);
      continue;
    }
    switch (l.column_type(program, i)) {
      case kInteger: item = Value::integer(l.column_int64(program, i)); break;
      case kFloat: item = Value::real(l.column_double(program, i)); break;
      case kText: item = column_text(in, statement, i, factory); break;
      case kBlob: {
        const void* const bytes = l.column_blob(program, i);
        item = make_bytes(in, {static_cast<Text>(bytes), static_cast<size_t>(l.column_bytes(program, i))});
        break;
      }
      default: item = Value::none();
    }
  }
  return make_tuple_moving(in, items.data(), items.size());
}

// (text factory, converters or None): the row that the last step reached.
Value row(Interpreter& in, const Args& args) {
  const Value converters = args[2];
  return row_of(in, run_of(args), args[1], converters.is_none() ? nullptr : object_cast<Tuple>(converters));
}

// (list, most or -1): appends rows without converters and with texts as str. True: there are more, and the last step reached one. None: a
// callback has ended the run.
Value rows(Interpreter& in, const Args& args) {
  Statement* const statement = run_of(args);
  const Value list = args[1], factory(static_cast<Object*>(in.types.str));
  if (!is_list(list)) throw Error(ErrorKind::TypeError, "rows() takes a list");
  const bool was_open = statement->db->handle != nullptr;
  for (int64_t most = int_argument(in, args[2]); most != 0; most -= most > 0) {
    list_append(in, as_list(list), row_of(in, statement, factory, nullptr));
    const bool more = take_step(in, statement);
    if (statement->run != known_cast<Run>(args[0])) return Value::none();
    if (!more) return Value::boolean(false);
    if (was_open && statement->db->handle == nullptr) refuse_closed(statement->db);  // by a callback
  }
  return Value::boolean(true);
}

// Has a step failed, or a callback ended it?
Value ended(Interpreter&, const Args& args) {
  const Run* const run = known_cast<Run>(args[0]);
  return Value::boolean(known_cast<Statement>(run->statement)->run != run);
}

// (the type Run): a Run of the statement, or None while another Run has it. Between the test and the claim no other thread has a turn.
Value claim(Interpreter& in, const Args& args) {
  Statement* const statement = statement_of(args);
  if (statement->run != nullptr || statement->stepping) return Value::none();
  if (statement->program != nullptr && library().stmt_busy(statement->program) != 0) return Value::none();
  Type* const type = object_cast<Type>(args[1]);
  if (type->slots.destroy != destroy_run) throw Error(ErrorKind::TypeError, "_claim() takes the type Run");
  const Value made = Value::adopt(make_object<Run>(in, type));
  known_cast<Run>(made)->statement = args[0];
  statement->run = known_cast<Run>(made);
  return made;
}

Value readonly(Interpreter&, const Args& args) {
  Program* const program = statement_of(args)->program;
  return Value::boolean(program == nullptr || library().stmt_readonly(program) != 0);
}

Value writes(Interpreter&, const Args& args) { return Value::boolean(run_of(args)->writes); }

// (name, declared type or None) of each column.
Value columns(Interpreter& in, const Args& args) {
  const Library& l = library();
  Program* const program = run_of(args)->program;
  const Value list = make_list(in);
  const int count = program == nullptr ? 0 : l.column_count(program);
  for (int i = 0; i < count; ++i) {
    const Value name = text_or_none(in, l.column_name(program, i));
    list_append(in, as_list(list), make_tuple(in, {name, text_or_none(in, l.column_decltype(program, i))}));
  }
  return list;
}

const NativeDef kRunMethods[] = {
    {"_bind(self, parameters, adapt, always, /)", bind},
    {"_step(self, /)", step},
    {"_reset(self, /)", reset},
    {"_row(self, text_factory, converters, /)", row},
    {"_rows(self, rows, most, /)", rows},
    {"_ended(self, /)", ended},
    {"_writes(self, /)", writes},
    {"_columns(self, /)", columns},
};

const NativeDef kStatementMethods[] = {
    {"_claim(self, run_type, /)", claim},
    {"_readonly(self, /)", readonly},
};

const NativeDef kDatabaseMethods[] = {{"prepare(self, sql: str, /)", prepare}};

}  // namespace

void add_statements(Interpreter& in, Module& module, Type* database) {
  in.add_methods(database, kDatabaseMethods, std::size(kDatabaseMethods));
  Type* const run = holding_type<Run, &Run::statement>(in, "_sqlite", "Run", nullptr, destroy_run);
  in.add_methods(run, kRunMethods, std::size(kRunMethods));
  set_member(in, module, "Run", Value(static_cast<Object*>(run)));
  Type* const statement = holding_type<Statement, &Statement::owner>(in, "sqlite3", "Statement", nullptr, destroy_statement);
  in.add_methods(statement, kStatementMethods, std::size(kStatementMethods));
  set_member(in, module, "Statement", Value(static_cast<Object*>(statement)));
}

}  // namespace tessera::stdlib::sqlite
