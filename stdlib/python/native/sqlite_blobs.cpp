// Of _sqlite what handles a database as bytes: open blobs, copies to another database, and whole databases in memory.
// compile: small (the library takes longer)
#include <cstring>
#include <utility>

#include "lang/types/bytes.h"
#include "stdlib/python/native/processes.h"
#include "stdlib/python/native/sqlite.h"

namespace tessera::stdlib::sqlite {
namespace {

struct Blob : GcObject {
  BlobHandle* handle = nullptr;  // null: closed
  Database* db = nullptr;
  Value owner;  // the database
};

Blob* blob_of(const Args& args) { return known_cast<Blob>(args[0]); }
Blob* open_blob_of(const Args& args) {
  Blob* const blob = blob_of(args);
  wait_turn(blob->db);
  if (blob->handle == nullptr) throw Error(ErrorKind::ValueError, "the blob is closed");
  return blob;
}

// (database, name of the database, table, column, row, writable)
Value make_blob(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 6) throw Error(ErrorKind::TypeError, "Blob() takes 6 arguments");
  const std::string name = name_argument(in, args[1]), table = name_argument(in, args[2]), column = name_argument(in, args[3]);
  const int64_t row = int_argument(in, args[4]);
  const int writable = truth(in, args[5]);
  Database* const db = open_database(args[0]);
  const Value made = Value::adopt(make_object<Blob>(in, type));
  Blob* const blob = known_cast<Blob>(made);
  blob->owner = args[0], blob->db = db;
  int code;
  {
    const Away away(db);
    code = library().blob_open(db->handle, name.c_str(), table.c_str(), column.c_str(), row, writable, &blob->handle);
  }
  if (code != kOk) blob->handle = nullptr;
  check(db, code);
  return made;
}

void destroy_blob(Interpreter& in, Object* self) {
  Blob* const blob = known_cast<Blob>(self);
  if (blob->handle != nullptr && blob->db->calls != 0) blob->db->dead_blobs.push_back(blob->handle), blob->db->must_sweep = true;
  else if (blob->handle != nullptr) library().blob_close(blob->handle);
  free_object(in, blob);
}

Value close_blob(Interpreter&, const Args& args) {
  Blob* const blob = blob_of(args);
  wait_turn(blob->db);
  if (blob->handle == nullptr) return Value::none();
  BlobHandle* const handle = std::exchange(blob->handle, nullptr);
  const Away away(blob->db);
  library().blob_close(handle);
  return Value::none();
}

Value size(Interpreter&, const Args& args) { return Value::integer(library().blob_bytes(open_blob_of(args)->handle)); }

// (offset, count), which lie inside
Value read(Interpreter& in, const Args& args) {
  Blob* const blob = open_blob_of(args);
  const int offset = small(in, args[1]), count = small(in, args[2]);
  std::string bytes(static_cast<size_t>(std::max(count, 0)), '\0');
  int code;
  {
    const Away away(blob->db);
    code = library().blob_read(blob->handle, bytes.data(), count, offset);
  }
  check(blob->db, code);
  return make_bytes(in, bytes);
}

// (offset, data)
Value write(Interpreter& in, const Args& args) {
  Blob* const blob = open_blob_of(args);
  const int offset = small(in, args[1]);
  const BytesLike data(in, args[2]);
  const std::string_view bytes = data.view();
  int code;
  {
    const Away away(blob->db);
    code = library().blob_write(blob->handle, bytes.data(), static_cast<int>(bytes.size()), offset);
  }
  check(blob->db, code);
  return Value::none();
}

const NativeDef kBlobMethods[] = {
    {"close(self, /)", close_blob}, {"size(self, /)", size}, {"read(self, offset, count, /)", read}, {"write(self, offset, data, /)", write}};

// Ends the copy whatever happens.
struct Copy {
  BackupHandle* handle;
  int finish() { return handle == nullptr ? kOk : library().backup_finish(std::exchange(handle, nullptr)); }
  ~Copy() { finish(); }
};

// Keeps a database's handle open: a progress function may close the connections.
class Held {
 public:
  explicit Held(Database* db) : db_(db) { ++db->copies; }
  ~Held() {
    --db_->copies;
    db_->sweep();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Database* const db_;
};

void wait_turns(Database* one, Database* other) {
  do wait_turn(one), wait_turn(other);
  while (one->calls != 0 && one->owner != &one->in->threads().current());
}

// (target, name, pages at a time, progress or None, wait): calls progress(code, remaining, pages) after each step, and wait() when the
// database was busy.
Value backup(Interpreter& in, const Args& args) {
  const std::string name = name_argument(in, args[2]);
  const int pages = small(in, args[3]);
  Database *const source = open_database(args[0]), *const target = open_database(args[1]);
  const Value kept_source = args[0], kept_target = args[1], progress = args[4], wait = args[5];
  wait_turns(source, target);
  if (source->handle == nullptr) refuse_closed(source);
  const Held hold_source(source), hold_target(target);
  const Library& l = library();
  Copy copy{l.backup_init(target->handle, "main", source->handle, name.c_str())};
  if (copy.handle == nullptr) fail(target, kError);
  int code;
  do {
    wait_turns(source, target);
    {
      const Turn turn(target);
      const Away away(source);
      code = l.backup_step(copy.handle, pages);
    }
    if (!progress.is_none()) {
      call(in, progress, {Value::integer(code), Value::integer(l.backup_remaining(copy.handle)),
                          Value::integer(l.backup_pagecount(copy.handle))});
    }
    if (code == kBusy || code == kLocked) call(in, wait);
    in.poll();
  } while (code == kOk || code == kBusy || code == kLocked);
  check(target, copy.finish());
  return Value::none();
}

// The bytes of a database, or None: there is no such one.
Value serialize(Interpreter& in, const Args& args) {
  constexpr unsigned kNoCopy = 1;
  Database* const db = open_database(args[0]);
  const std::string name = name_argument(in, args[1]);
  int64_t bytes = 0;
  unsigned char* data;
  bool owned;
  {
    const Away away(db);
    Handle* const handle = db->handle;  // the authorizer may close the connection
    data = library().serialize(handle, name.c_str(), &bytes, kNoCopy);
    owned = data == nullptr;
    if (owned) data = library().serialize(handle, name.c_str(), &bytes, 0);
  }
  if (data == nullptr) return Value::none();
  Value made;
  try {
    made = make_bytes(in, {reinterpret_cast<char*>(data), static_cast<size_t>(bytes)});
  } catch (...) {
    if (owned) library().free(data);
    throw;
  }
  if (owned) library().free(data);
  return made;
}

// Is a statement, an open blob or a copy reading or writing the database `name`?
bool is_in_use(const Database* db, const std::string& name) {
  constexpr int kNoTransaction = 0;
  const Library& l = library();
  if (db->copies != 0) return true;
  if (l.txn_state(db->handle, name.c_str()) <= kNoTransaction) return false;
  Program* each = nullptr;
  while ((each = l.next_stmt(db->handle, each)) != nullptr)
    if (l.stmt_busy(each) != 0) return true;
  return false;
}

Value deserialize(Interpreter& in, const Args& args) {
  constexpr unsigned kFreeOnClose = 1, kResizable = 2;
  Database* const db = open_database(args[0]);
  const std::string name = name_argument(in, args[2]);
  const BytesLike data(in, args[1]);
  const std::string_view bytes = data.view();
  if (is_in_use(db, name)) throw_failure(in, db, kBusy, kBusy, library().errstr(kBusy));  // SQLite would free what they use
  unsigned char* const copied = static_cast<unsigned char*>(library().malloc64(bytes.size()));
  if (copied == nullptr) throw Error(ErrorKind::MemoryError, std::string());
  memcpy(copied, bytes.data(), bytes.size());
  const int64_t count = static_cast<int64_t>(bytes.size());
  int code;
  {
    const Away away(db);
    code = library().deserialize(db->handle, name.c_str(), copied, count, count, kFreeOnClose | kResizable);
  }
  check(db, code);
  return Value::none();
}

const NativeDef kDatabaseMethods[] = {
    {"backup(self, target, name: str, pages, progress, wait, /)", backup},
    {"serialize(self, name: str, /)", serialize},
    {"deserialize(self, data, name: str, /)", deserialize},
};

}  // namespace

void add_blobs(Interpreter& in, Module& module, Type* database) {
  in.add_methods(database, kDatabaseMethods, std::size(kDatabaseMethods));
  Type* const type = holding_type<Blob, &Blob::owner>(in, "_sqlite", "Blob", make_blob, destroy_blob);
  in.add_methods(type, kBlobMethods, std::size(kBlobMethods));
  set_member(in, module, "Blob", Value(static_cast<Object*>(type)));
}

}  // namespace tessera::stdlib::sqlite
