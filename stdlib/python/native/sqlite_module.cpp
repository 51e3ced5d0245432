// _sqlite: the library, and databases. The classes that programs see are in sqlite3/dbapi2.tsr.
// compile: small (the library takes longer)
#include <time.h>

#include <algorithm>
#include <utility>

#include "lang/objects/exception.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/codec.h"
#include "lang/types/number.h"
#include "stdlib/python/native/machine_library.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/processes.h"
#include "stdlib/python/native/sqlite.h"

namespace tessera::stdlib {
namespace sqlite {
namespace {

Library open_library() {
  Library made;
  MachineLibrary library({"libsqlite3.so.0"});
#define TS_SQLITE_FIND(NAME, RESULT, PARAMETERS) library.find("sqlite3_" #NAME, made.NAME);
  TS_SQLITE_FUNCTIONS(TS_SQLITE_FIND)
#undef TS_SQLITE_FIND
  made.found = library.is_complete();
  return made;
}

}  // namespace

const Library& library() {
  static const Library opened = open_library();
  return opened;
}

Away::Away(Database* db)
    : db_(db), outer_(std::exchange(db->call, this)), thread_(nullptr), stops_(db->in->stops) {
  ++db->calls;
  db->owner = &db->in->threads().current();
  if (!db->in->threads().alone()) thread_ = db->in->threads().leave();
}

Away::~Away() {
  if (thread_ != nullptr) db_->in->threads().enter(thread_);
  db_->call = outer_;
  --db_->calls;
}

Turn::Turn(Database* db) : db_(db) {
  ++db->calls;
  db->owner = &db->in->threads().current();
}

void wait_turn(Database* db) {
  Interpreter& in = *db->in;
  while (db->calls != 0 && db->owner != &in.threads().current()) {
    {
      const AllowOthers others(in);
      const timespec wait{0, 300000};
      nanosleep(&wait, nullptr);
    }
    in.poll();
  }
}

bool Away::is_stopping() const { return (db_->in->interrupt.load(std::memory_order_relaxed) & stops_) != 0; }

bool is_asked_to_stop(const Database* db) noexcept { return db->call != nullptr && db->call->is_stopping(); }

Inside::Inside(Database* db) : db_(db), away_(std::exchange(db->call, nullptr)) {
  if (away_ != nullptr && away_->thread_ != nullptr) db->in->threads().enter(away_->thread_);
}

Inside::~Inside() {
  if (away_ != nullptr && away_->thread_ != nullptr) away_->thread_ = db_->in->threads().leave();
  db_->call = away_;
}

void throw_failure(Interpreter& in, Database* db, int code, int extended, std::string_view message) {
  const Value failure = call_method(in, db->hooks, intern(in, "failure"),
                                    {Value::integer(code), Value::integer(extended), make_str_lossy(in, message)});
  if (!is_exception(failure)) throw Error(ErrorKind::TypeError, "the hooks' failure() returned no exception");
  throw Thrown(failure);
}

void fail(Database* db, int code) {
  if (db->problem != nullptr) std::rethrow_exception(std::exchange(db->problem, nullptr));
  Interpreter& in = *db->in;
  const Library& l = library();
  Handle* const handle = db->handle != nullptr ? db->handle : db->closing;
  const int kind = (handle == nullptr ? code : l.errcode(handle)) & 255, extended = handle == nullptr ? code : l.extended_errcode(handle);
  const std::string message(handle == nullptr ? l.errstr(code) : l.errmsg(handle));
  db->sweep();
  in.poll();  // what interrupted SQLite; other threads may run
  if ((code & 255) == kNoMemory) throw Error(ErrorKind::MemoryError, std::string());
  throw_failure(in, db, kind, extended, message);
}

void refuse_closed(Database* db) {
  constexpr int kMisuse = -1;  // a ProgrammingError
  throw_failure(*db->in, db, kMisuse, 0, "Cannot operate on a closed database.");
}

Database* open_database(const Value& v) {
  Database* const db = object_cast<Database>(v);
  wait_turn(db);
  if (db->handle == nullptr) refuse_closed(db);
  db->sweep();
  return db;
}

// SQLite keeps what is left of a database that has statements until these are gone.
void Database::close() noexcept {
  sweep();
  if (handle != nullptr) library().close_v2(std::exchange(handle, nullptr));
}

Utf8::Utf8(Interpreter& in, const Value& text) {
  view_ = text_of(text);
  if (as_str(text)->is_ascii()) return;
  bytes_ = encode_text(in, text, "utf-8", "strict");
  view_ = bytes_of(bytes_);
}

Value text_or_none(Interpreter& in, Text text) { return text == nullptr ? Value::none() : decode_text(in, text, "utf-8", "strict"); }

std::string name_argument(Interpreter& in, const Value& text) {
  const Utf8 bytes(in, text);
  if (bytes.view().find('\0') != std::string_view::npos) throw Error(ErrorKind::ValueError, "embedded null character");
  return std::string(bytes.view());
}

Program* prepare_program(Database* db, std::string_view sql, Text* tail) {
  if (db->handle == nullptr) refuse_closed(db);
  Program* program = nullptr;
  int code;
  {
    const Away away(db);
    code = library().prepare_v2(db->handle, sql.data(), static_cast<int>(sql.size()) + 1, &program, tail);
  }
  if (db->problem != nullptr) library().finalize(program);  // check() throws it
  check(db, code);
  return program;
}

int step_program(Database* db, Program* program) {
  const Away away(db);
  return library().step(program);
}

void check_length(Interpreter& in, Database* db, std::string_view sql) {
  constexpr int kSqlLength = 1, kTooBig = 18;
  const int most = library().limit(db->handle, kSqlLength, -1);
  if (sql.size() > static_cast<size_t>(most)) throw_failure(in, db, kTooBig, 0, "query string is too large");
}

namespace {

int wait_when_busy(void* data, int times) {
  static constexpr uint8_t kDelays[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100};  // milliseconds
  const Database* const db = static_cast<Hook*>(data)->db;
  int64_t waited = 0;
  for (int i = 0; i < times; ++i) waited += kDelays[std::min<size_t>(static_cast<size_t>(i), std::size(kDelays) - 1)];
  const int64_t next = kDelays[std::min<size_t>(static_cast<size_t>(times), std::size(kDelays) - 1)];
  const int64_t delay = std::min(next, db->timeout - waited);
  if (delay <= 0 || is_asked_to_stop(db)) return 0;
  const timespec wait{0, static_cast<long>(delay) * 1000000};
  nanosleep(&wait, nullptr);
  return 1;
}

// (path: bytes, flags, timeout in milliseconds, number of the thread or 0, hooks)
Value make_database(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 5) throw Error(ErrorKind::TypeError, "Database() takes 5 arguments");
  require(in.limits.files, "files");
  require_processes(in);  // SQLite opens what files it likes
  const std::string path(BytesLike(in, args[0]).view());
  const int flags = small(in, args[1]);
  const Value made = Value::adopt(make_object<Database>(in, type));
  Database* const db = known_cast<Database>(made);
  db->in = &in, db->hooks = args[4];
  db->timeout = std::max<int64_t>(int_argument(in, args[2]), 0);
  db->thread = static_cast<uint64_t>(int_argument(in, args[3]));
  int code;
  {
    const Away away(db);
    code = library().open_v2(path.c_str(), &db->handle, flags, nullptr);
  }
  if (db->handle == nullptr) throw Error(ErrorKind::MemoryError, std::string());
  check(db, code);
  library().busy_handler(db->handle, wait_when_busy, &db->hook);
  listen_for_progress(db);
  return made;
}

Value close_database(Interpreter&, const Args& args) {
  Database* const db = object_cast<Database>(args[0]);
  const Value kept = args[0];
  wait_turn(db);
  db->sweep();
  if (db->handle == nullptr) return Value::none();
  Handle* const handle = std::exchange(db->handle, nullptr);
  if (db->calls != 0 || db->copies != 0) {  // closed by a callback: SQLite is still using the handle
    db->closing = handle, db->must_sweep = true;
    return Value::none();
  }
  const Away away(db);
  library().close_v2(handle);
  return Value::none();
}

Value usable(Interpreter& in, const Args& args) {
  const Database* const db = object_cast<Database>(args[0]);
  if (db->thread != 0 && db->thread != in.threads().current().ident()) return Value::integer(static_cast<int64_t>(db->thread));
  return Value::boolean(db->handle != nullptr);
}

void run_plain(Database* db, const std::string& sql) {
  Program* const program = prepare_program(db, sql, nullptr);
  int code;
  {
    const Away away(db);
    library().step(program);
    code = library().finalize(program);
  }
  check(db, code);
}

// One statement of the module's own, such as COMMIT.
Value run_statement(Interpreter&, const Args& args) {
  run_plain(open_database(args[0]), std::string(text_of(args[1])));
  return Value::none();
}

Value run_script(Interpreter& in, const Args& args) {
  Database* const db = open_database(args[0]);
  const std::string sql = name_argument(in, args[1]);
  check_length(in, db, sql);
  if (library().get_autocommit(db->handle) == 0) run_plain(db, "COMMIT");
  std::string_view rest(sql);
  while (!rest.empty()) {
    Text tail = nullptr;
    Program* const program = prepare_program(db, rest, &tail);
    int code;
    do code = step_program(db, program);
    while (code == kRow && db->problem == nullptr);
    {
      const Away away(db);
      code = library().finalize(program);
    }
    check(db, code);
    rest.remove_prefix(static_cast<size_t>(tail - rest.data()));
    in.poll();
    wait_turn(db);
  }
  return Value::none();
}

// What another thread has running, so without a turn.
Value interrupt(Interpreter&, const Args& args) {
  const Database* const db = object_cast<Database>(args[0]);
  if (db->handle != nullptr) library().interrupt(db->handle);
  return Value::none();
}

Value changes(Interpreter&, const Args& args) { return Value::integer(library().changes(open_database(args[0])->handle)); }
Value total_changes(Interpreter&, const Args& args) { return Value::integer(library().total_changes(open_database(args[0])->handle)); }
Value last_rowid(Interpreter&, const Args& args) { return Value::integer(library().last_insert_rowid(open_database(args[0])->handle)); }
Value in_transaction(Interpreter&, const Args& args) { return Value::boolean(library().get_autocommit(open_database(args[0])->handle) == 0); }

Value limit(Interpreter& in, const Args& args) {
  const int category = small(in, args[1]), value = small(in, args[2]);
  return Value::integer(library().limit(open_database(args[0])->handle, category, value));
}

Value allow_extensions(Interpreter& in, const Args& args) {
  const bool allowed = truth(in, args[1]);
  return Value::boolean(library().enable_load_extension(open_database(args[0])->handle, allowed) == kOk);
}

// The words of what was wrong, or None.
Value load_extension(Interpreter& in, const Args& args) {
  Database* const db = open_database(args[0]);
  const std::string name = name_argument(in, args[1]);
  char* words = nullptr;
  int code;
  {
    const Away away(db);
    code = library().load_extension(db->handle, name.c_str(), nullptr, &words);
  }
  if (code == kOk) return Value::none();
  const Value text = make_str_lossy(in, words == nullptr ? library().errmsg(db->handle) : words);
  library().free(words);
  return text;
}

const NativeDef kDatabaseMethods[] = {
    {"close(self, /)", close_database},
    {"usable(self, /)", usable},
    {"run(self, sql: str, /)", run_statement},
    {"script(self, sql: str, /)", run_script},
    {"interrupt(self, /)", interrupt},
    {"changes(self, /)", changes},
    {"total_changes(self, /)", total_changes},
    {"last_rowid(self, /)", last_rowid},
    {"in_transaction(self, /)", in_transaction},
    {"limit(self, category, value, /)", limit},
    {"allow_extensions(self, allowed, /)", allow_extensions},
    {"load_extension(self, name: str, /)", load_extension},
};

Type* make_database_type(Interpreter& in) {
  Type* const type = in.new_type({.name = "Database", .module = "_sqlite", .size = sizeof(Database), .flags = kFinalType});
  type->make = make_database;
  type->slots.destroy = [](Interpreter& in2, Object* self) {
    known_cast<Database>(self)->close();
    free_object(in2, known_cast<Database>(self));
  };
  type->slots.traverse = [](Object* self, Visitor& visitor) {
    Database* const db = known_cast<Database>(self);
    visitor(db->hooks);
    for (Callback& callback : db->callbacks) visitor(callback.callable);
  };
  type->slots.clear = [](Interpreter&, Object* self) {
    Database* const db = known_cast<Database>(self);
    db->hooks = Value::none();
    for (Callback& callback : db->callbacks) callback.callable = Value::none();
  };
  in.add_methods(type, kDatabaseMethods, std::size(kDatabaseMethods));
  return type;
}

Value complete_statement(Interpreter& in, const Args& args) {
  return Value::boolean(library().complete(name_argument(in, args[0]).c_str()) != 0);
}

Value share_cache(Interpreter& in, const Args& args) {
  return Value::boolean(library().enable_shared_cache(truth(in, args[0])) == kOk);
}

Value error_text(Interpreter& in, const Args& args) { return make_str_lossy(in, library().errstr(small(in, args[0]))); }

}  // namespace
}  // namespace sqlite

void fill_sqlite(Interpreter& in, Module& module) {
  using namespace sqlite;
  if (!library().found) throw Error(ErrorKind::ImportError, "SQLite is not installed (libsqlite3.so.0; Debian: libsqlite3-0)");
  set_member(in, module, "version", make_str(in, library().libversion()));
  set_member(in, module, "threadsafe", Value::integer(library().threadsafe()));
  in.def(module, "complete_statement(statement: str, /)", "Does the text end a statement?", complete_statement);
  in.def(module, "share_cache(shared, /)", "Do databases of this process share what they read?", share_cache);
  in.def(module, "error_text(code, /)", "What an error's number means.", error_text);
  Type* const database = make_database_type(in);
  add_callbacks(in, database);
  add_blobs(in, module, database);
  set_member(in, module, "Database", Value(static_cast<Object*>(database)));
  add_statements(in, module, database);
}

}  // namespace tessera::stdlib
