// SQLite's library, opened with dlopen at the first import, and what sqlite_*.cpp share. Only what they call is declared, after SQLite's
// documentation of its C interface (version 3), whose numbers and layouts never change.
#pragma once

#include <exception>
#include <list>
#include <string>
#include <vector>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/vm/allow_others.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib::sqlite {

struct Handle;  // sqlite3
struct Program;  // sqlite3_stmt
struct Cell;  // sqlite3_value
struct Context;  // sqlite3_context
struct BlobHandle;  // sqlite3_blob
struct BackupHandle;  // sqlite3_backup
using Text = const char*;
using Free = void (*)(void*);
using Function = void (*)(Context*, int, Cell**);
using Final = void (*)(Context*);

inline constexpr int kOk = 0, kError = 1, kDeny = 1, kBusy = 5, kLocked = 6, kNoMemory = 7, kInterrupt = 9, kRow = 100, kDone = 101;
inline constexpr int kInteger = 1, kFloat = 2, kText = 3, kBlob = 4;
inline constexpr int kUtf8 = 1;
inline const Free kCopied = reinterpret_cast<Free>(-1);  // SQLITE_TRANSIENT

// name, result, parameters
#define TS_SQLITE_FUNCTIONS(F)                                                                                            \
  F(libversion, Text, ())                                                                                                 \
  F(threadsafe, int, ())                                                                                                  \
  F(complete, int, (Text))                                                                                                \
  F(enable_shared_cache, int, (int))                                                                                      \
  F(open_v2, int, (Text, Handle**, int flags, Text vfs))                                                                  \
  F(close_v2, int, (Handle*))                                                                                             \
  F(errmsg, Text, (Handle*))                                                                                              \
  F(errcode, int, (Handle*))                                                                                              \
  F(extended_errcode, int, (Handle*))                                                                                     \
  F(errstr, Text, (int))                                                                                                  \
  F(interrupt, void, (Handle*))                                                                                           \
  F(busy_handler, int, (Handle*, int (*)(void*, int), void*))                                                             \
  F(progress_handler, void, (Handle*, int, int (*)(void*), void*))                                                        \
  F(limit, int, (Handle*, int, int))                                                                                      \
  F(changes, int, (Handle*))                                                                                              \
  F(total_changes, int, (Handle*))                                                                                        \
  F(last_insert_rowid, int64_t, (Handle*))                                                                                \
  F(get_autocommit, int, (Handle*))                                                                                       \
  F(txn_state, int, (Handle*, Text))                                                                                      \
  F(prepare_v2, int, (Handle*, Text, int, Program**, Text*))                                                              \
  F(step, int, (Program*))                                                                                                \
  F(reset, int, (Program*))                                                                                               \
  F(finalize, int, (Program*))                                                                                            \
  F(next_stmt, Program*, (Handle*, Program*))                                                                             \
  F(stmt_busy, int, (Program*))                                                                                           \
  F(stmt_readonly, int, (Program*))                                                                                       \
  F(expanded_sql, char*, (Program*))                                                                                      \
  F(free, void, (void*))                                                                                                  \
  F(malloc64, void*, (uint64_t))                                                                                          \
  F(bind_parameter_count, int, (Program*))                                                                                \
  F(bind_parameter_name, Text, (Program*, int))                                                                           \
  F(bind_null, int, (Program*, int))                                                                                      \
  F(bind_int64, int, (Program*, int, int64_t))                                                                            \
  F(bind_double, int, (Program*, int, double))                                                                            \
  F(bind_text, int, (Program*, int, Text, int, Free))                                                                     \
  F(bind_blob, int, (Program*, int, const void*, int, Free))                                                              \
  F(column_count, int, (Program*))                                                                                        \
  F(data_count, int, (Program*))                                                                                          \
  F(column_name, Text, (Program*, int))                                                                                   \
  F(column_decltype, Text, (Program*, int))                                                                               \
  F(column_type, int, (Program*, int))                                                                                    \
  F(column_int64, int64_t, (Program*, int))                                                                               \
  F(column_double, double, (Program*, int))                                                                               \
  F(column_text, Text, (Program*, int))                                                                                   \
  F(column_blob, const void*, (Program*, int))                                                                            \
  F(column_bytes, int, (Program*, int))                                                                                   \
  F(value_type, int, (Cell*))                                                                                             \
  F(value_int64, int64_t, (Cell*))                                                                                        \
  F(value_double, double, (Cell*))                                                                                        \
  F(value_text, Text, (Cell*))                                                                                            \
  F(value_blob, const void*, (Cell*))                                                                                     \
  F(value_bytes, int, (Cell*))                                                                                            \
  F(result_null, void, (Context*))                                                                                        \
  F(result_int64, void, (Context*, int64_t))                                                                              \
  F(result_double, void, (Context*, double))                                                                              \
  F(result_text, void, (Context*, Text, int, Free))                                                                       \
  F(result_blob, void, (Context*, const void*, int, Free))                                                                \
  F(result_error, void, (Context*, Text, int))                                                                            \
  F(result_error_nomem, void, (Context*))                                                                                 \
  F(result_error_toobig, void, (Context*))                                                                                \
  F(user_data, void*, (Context*))                                                                                         \
  F(aggregate_context, void*, (Context*, int))                                                                            \
  F(create_function_v2, int, (Handle*, Text, int, int, void*, Function, Function, Final, Free))                           \
  F(create_window_function, int, (Handle*, Text, int, int, void*, Function, Final, Final, Function, Free))                \
  F(create_collation_v2, int, (Handle*, Text, int, void*, int (*)(void*, int, const void*, int, const void*), Free))      \
  F(set_authorizer, int, (Handle*, int (*)(void*, int, Text, Text, Text, Text), void*))                                   \
  F(trace_v2, int, (Handle*, unsigned, int (*)(unsigned, void*, void*, void*), void*))                                    \
  F(enable_load_extension, int, (Handle*, int))                                                                           \
  F(load_extension, int, (Handle*, Text, Text, char**))                                                                   \
  F(serialize, unsigned char*, (Handle*, Text, int64_t*, unsigned))                                                       \
  F(deserialize, int, (Handle*, Text, unsigned char*, int64_t, int64_t, unsigned))                                        \
  F(blob_open, int, (Handle*, Text, Text, Text, int64_t, int, BlobHandle**))                                              \
  F(blob_close, int, (BlobHandle*))                                                                                       \
  F(blob_bytes, int, (BlobHandle*))                                                                                       \
  F(blob_read, int, (BlobHandle*, void*, int, int))                                                                       \
  F(blob_write, int, (BlobHandle*, const void*, int, int))                                                                \
  F(backup_init, BackupHandle*, (Handle*, Text, Handle*, Text))                                                           \
  F(backup_step, int, (BackupHandle*, int))                                                                               \
  F(backup_remaining, int, (BackupHandle*))                                                                               \
  F(backup_pagecount, int, (BackupHandle*))                                                                               \
  F(backup_finish, int, (BackupHandle*))

struct Library {
#define TS_SQLITE_MEMBER(NAME, RESULT, PARAMETERS) RESULT(*NAME) PARAMETERS = nullptr;
  TS_SQLITE_FUNCTIONS(TS_SQLITE_MEMBER)
#undef TS_SQLITE_MEMBER
  bool found = false;
};
const Library& library();

struct Database;

// A callable of the script that SQLite calls; it lies in its database's list, where the collector sees it.
struct Callback {
  Database* db;
  Value callable;
};

// What SQLite gives back with the calls that concern the whole database.
struct Hook {
  Database* db;
};

class Away;

// The handle of a connection. Statements and blobs hold it, so it ends after them.
struct Database : GcObject {
  Handle* handle = nullptr;  // null: closed
  Handle* closing = nullptr;  // of a connection that was closed while SQLite was using the handle; sweep() closes it
  Interpreter* in = nullptr;
  Hook hook{this};
  Away* call = nullptr;  // the call of SQLite that runs, unless a callback of it does
  Value hooks;  // of the module: an object with `failure(code, extended, message)`, which makes an exception, and `report(exception, callable)`
  std::list<Callback> callbacks;
  Callback *authorizer = nullptr, *progress = nullptr, *trace = nullptr;
  std::exception_ptr problem;  // what ends the run, and arrived while SQLite was running
  // Dropped while a call was running; sweep() finalizes, closes or resets them after it.
  std::vector<Program*> dead;
  std::vector<BlobHandle*> dead_blobs;
  std::vector<Program*> ended;  // of statements that still exist, whose cursor was dropped
  bool must_sweep = false;      // has one of the four above something?
  int64_t timeout = 0;         // milliseconds
  uint64_t thread = 0;         // the one that may use it; 0: all
  int calls = 0;               // of SQLite that run now, one inside the other: for the thread `owner`
  int copies = 0;              // backups that use the handle, also between their calls
  const Thread* owner = nullptr;
  int steps_per_progress = 0, steps_left = 0;  // calls of SQLite's progress handler for one call of the script's, and until the next one

  void close() noexcept;
  void sweep() noexcept {
    if (must_sweep && calls == 0) sweep_now();
  }

 private:
  void sweep_now() noexcept;
};

// For the length of a call of SQLite's that may call back but keeps the baton: other threads wait for the database in wait_turn().
class Turn {
 public:
  explicit Turn(Database* db);
  ~Turn() { --db_->calls; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Database* const db_;
};

// For the length of a call of SQLite's that may take time or wait for SQLite's own locks: other threads run meanwhile. SQLite calls back
// in the same thread, where Inside takes the baton for as long as the callback touches objects.
class Away {
 public:
  explicit Away(Database* db);
  ~Away();
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;
  bool is_stopping() const;

 private:
  friend class Inside;
  Database* const db_;
  Away* const outer_;
  Thread* thread_;
  const uint32_t stops_;
};

class Inside {
 public:
  explicit Inside(Database* db);
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Database* const db_;
  Away* const away_;
};

// Waits until no other thread is in a call of the database, which may wait for the baton itself. For whoever is about to call SQLite and has
// let scripts run since it last waited.
void wait_turn(Database* db);

bool is_asked_to_stop(const Database* db) noexcept;  // the call that runs

// Throws what a call of SQLite failed with, or what a callback was ended by.
[[noreturn]] void fail(Database* db, int code);
inline void check(Database* db, int code) {
  if (db->problem != nullptr || code != kOk) fail(db, code);
  db->sweep();
}
[[noreturn]] void throw_failure(Interpreter& in, Database* db, int code, int extended, std::string_view message);

[[noreturn]] void refuse_closed(Database* db);

// The database of a method, which must be open, in this thread's turn. Convert the other arguments first: their __index__ or __bool__ may
// close it.
Database* open_database(const Value& v);

// Text for SQLite: UTF-8, which surrogates have none of.
class Utf8 {
 public:
  Utf8(Interpreter& in, const Value& text);
  std::string_view view() const { return view_; }

 private:
  Value bytes_;
  std::string_view view_;
};
Value text_or_none(Interpreter& in, Text text);  // None: a null pointer
std::string name_argument(Interpreter& in, const Value& text);  // without a null character

Program* prepare_program(Database* db, std::string_view sql, Text* tail);  // of the text's first statement; behind the text stands a null
int step_program(Database* db, Program* program);
void check_length(Interpreter& in, Database* db, std::string_view sql);

// The type of objects that hold another one in `held` as long as they live.
template <class T, Value T::* held>
Type* holding_type(Interpreter& in, const char* module, const char* name, TypeMaker make, void (*destroy)(Interpreter&, Object*)) {
  Type* const type = in.new_type({.name = name, .module = module, .size = sizeof(T), .flags = kFinalType});
  type->make = make;
  type->slots.destroy = destroy;
  type->slots.traverse = [](Object* self, Visitor& visitor) { visitor(known_cast<T>(self)->*held); };
  type->slots.clear = [](Interpreter&, Object*) {};
  return type;
}

void add_statements(Interpreter& in, Module& module, Type* database);
void add_callbacks(Interpreter& in, Type* database);
void listen_for_progress(Database* db);
void add_blobs(Interpreter& in, Module& module, Type* database);

}  // namespace tessera::stdlib::sqlite
