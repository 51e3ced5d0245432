// _mmap: a part of a file, or memory of its own, in the address space; the class mmap.mmap is built on its type.
// compile: small (the system calls take longer)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/descriptors.h"
#include "stdlib/python/native/named_numbers.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/processes.h"

namespace tessera::stdlib {
namespace {

constexpr NamedNumber kNumbers[] = {
    TS_NUMBER(MAP_SHARED),      TS_NUMBER(MAP_PRIVATE),   TS_NUMBER(MAP_DENYWRITE), TS_NUMBER(MAP_EXECUTABLE), TS_NUMBER(MAP_ANON),
    TS_NUMBER(MAP_ANONYMOUS),   TS_NUMBER(MAP_POPULATE),  TS_NUMBER(MAP_STACK),     TS_NUMBER(MAP_NORESERVE),  TS_NUMBER(PROT_READ),
    TS_NUMBER(PROT_WRITE),      TS_NUMBER(PROT_EXEC),     TS_NUMBER(MADV_NORMAL),   TS_NUMBER(MADV_RANDOM),    TS_NUMBER(MADV_SEQUENTIAL),
    TS_NUMBER(MADV_WILLNEED),   TS_NUMBER(MADV_DONTNEED), TS_NUMBER(MADV_REMOVE),   TS_NUMBER(MADV_DONTFORK),  TS_NUMBER(MADV_DOFORK),
    TS_NUMBER(MADV_HWPOISON),   TS_NUMBER(MADV_MERGEABLE), TS_NUMBER(MADV_UNMERGEABLE), TS_NUMBER(MADV_HUGEPAGE),
    TS_NUMBER(MADV_NOHUGEPAGE), TS_NUMBER(MADV_DONTDUMP), TS_NUMBER(MADV_DODUMP),   TS_NUMBER(MADV_FREE),
};

constexpr char kMapLayout[] = "mmap.mmap";

struct Map : Object {
  char* data = nullptr;  // null: closed
  size_t size = 0;
  int file = -1;  // a copy of the descriptor: the script may close its own
  bool writable = false;
  uint32_t exports = 0;

  ~Map() { close(); }
  void close() {
    if (data != nullptr) munmap(data, size);
    if (file >= 0) ::close(file);
    data = nullptr, file = -1;
  }
};

Map* map_of(const Value& v) { return object_cast<Map>(v); }

// Last, behind the arguments' conversions: they run scripts, which may close it.
Map* open_map(const Value& v) {
  Map* const map = map_of(v);
  if (map->data == nullptr) throw Error(ErrorKind::ValueError, "mmap closed or invalid");
  return map;
}

// (file or -1, length, flags, protection, offset), which the script has checked.
Value begin(Interpreter& in, const Args& args) {
  require_processes(in);
  Map* const map = map_of(args[0]);
  if (map->data != nullptr) throw Error(ErrorKind::ValueError, "the memory is mapped already");
  const int file = small(in, args[1]), flags = small(in, args[3]);
  const int protection = small(in, args[4]);
  const size_t size = static_cast<size_t>(int_argument(in, args[2]));
  const off_t offset = int_argument(in, args[5]);
  const int copy = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (file >= 0 && copy < 0) throw_os_error(in, errno);
  void* const data = mmap(nullptr, size, protection, file < 0 ? flags | MAP_ANONYMOUS : flags, copy, offset);
  if (data == MAP_FAILED) {
    const int code = errno;
    if (copy >= 0) close(copy);
    throw_os_error(in, code);
  }
  map->data = static_cast<char*>(data), map->size = size, map->file = copy;
  map->writable = (protection & PROT_WRITE) != 0;
  return Value::none();
}

Value close_map(Interpreter&, const Args& args) {
  Map* const map = map_of(args[0]);
  if (map->exports != 0) throw Error(ErrorKind::BufferError, "cannot close exported pointers exist");
  map->close();
  return Value::none();
}

Value resize(Interpreter& in, const Args& args) {
  const size_t size = static_cast<size_t>(int_argument(in, args[1]));
  const off_t offset = int_argument(in, args[2]);
  Map* const map = open_map(args[0]);
  if (map->exports != 0) throw Error(ErrorKind::BufferError, "mmap can't resize with extant buffers exported.");
  if (map->file >= 0 && ftruncate(map->file, offset + static_cast<off_t>(size)) != 0) throw_os_error(in, errno);
  void* const data = mremap(map->data, map->size, size, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) throw_os_error(in, errno);
  map->data = static_cast<char*>(data), map->size = size;
  return Value::none();
}

Value file_size(Interpreter& in, const Args& args) {
  const Map* const map = open_map(args[0]);
  struct stat status {};
  if (map->file < 0) return Value::integer(static_cast<int64_t>(map->size));
  if (fstat(map->file, &status) != 0) throw_os_error(in, errno);
  return Value::integer(status.st_size);
}

// (start, size), which lie inside; `advice` below 0: what was written goes to the file.
Value advise(Interpreter& in, const Args& args) {
  const size_t start = static_cast<size_t>(int_argument(in, args[1])), size = static_cast<size_t>(int_argument(in, args[2]));
  const int advice = small(in, args[3]);
  Map* const map = open_map(args[0]);
  if (start > map->size || size > map->size - start) throw Error(ErrorKind::ValueError, "flush values out of range");
  const int result = advice < 0 ? msync(map->data + start, size, MS_SYNC) : madvise(map->data + start, size, advice);
  if (result != 0) throw_os_error(in, errno);
  return Value::none();
}

Value find(Interpreter& in, const Args& args) {
  const BytesLike sought(in, args[1]);
  const size_t start = static_cast<size_t>(int_argument(in, args[2])), end = static_cast<size_t>(int_argument(in, args[3]));
  const bool last = truth(in, args[4]);
  Map* const map = open_map(args[0]);
  if (start > end || end > map->size) return Value::integer(-1);
  const std::string_view part(map->data + start, end - start);
  const size_t at = last ? part.rfind(sought.view()) : part.find(sought.view());
  return Value::integer(at == part.npos ? -1 : static_cast<int64_t>(start + at));
}

// (to, from, count)
Value move(Interpreter& in, const Args& args) {
  const size_t to = static_cast<size_t>(int_argument(in, args[1])), from = static_cast<size_t>(int_argument(in, args[2]));
  const size_t count = static_cast<size_t>(int_argument(in, args[3]));
  Map* const map = open_map(args[0]);
  if (to > map->size || from > map->size || count > map->size - to || count > map->size - from)
    throw Error(ErrorKind::ValueError, "source, destination, or count out of range");
  memmove(map->data + to, map->data + from, count);
  return Value::none();
}

const NativeDef kMethods[] = {
    {"_begin(self, file, length, flags, protection, offset, /)", begin},
    {"_close(self, /)", close_map},
    {"_resize(self, size, offset, /)", resize},
    {"_file_size(self, /)", file_size},
    {"_advise(self, start, size, advice, /)", advise},
    {"_find(self, sought, start, end, reverse, /)", find},
    {"_move(self, to, from_, count, /)", move},
};

}  // namespace

void fill_mmap(Interpreter& in, Module& module) {
  set_numbers(in, module, kNumbers);
  set_member(in, module, "PAGESIZE", Value::integer(sysconf(_SC_PAGESIZE)));
  NativeTypeSpec spec;
  spec.name = "Map";
  spec.module = "_mmap";
  spec.size = sizeof(Map);
  Type* const type = in.new_type(spec);
  type->make = [](Interpreter& in2, Type* made, const Args&) { return Value::adopt(make_object<Map>(in2, made)); };
  type->slots.layout = kMapLayout;
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<Map>(self)); };
  type->slots.length = [](Interpreter&, const Value& self) { return static_cast<int64_t>(open_map(self)->size); };
  in.add_methods(type, kMethods, std::size(kMethods));
  in.add_property(type, "closed", [](Interpreter&, const Args& args) { return Value::boolean(map_of(args[0])->data == nullptr); });
  add_buffer_source(in, kMapLayout, [](Interpreter&, const Value& self, Buffer& out, BufferLayout*) {
    Map* const map = map_of(self);
    if (map->data == nullptr) throw Error(ErrorKind::ValueError, "mmap closed or invalid");
    out.data = map->data, out.size = map->size, out.readonly = !map->writable, out.exports = &map->exports;
    return true;
  });
  set_member(in, module, "Map", Value(static_cast<Object*>(type)));
}

}  // namespace tessera::stdlib
