// _cdata: memory with C's layouts, shared libraries, and calls of their functions through libffi; the classes are in _ctypes.tsr.
//
// All of it is for programs that their host trusts with the whole process (Limits::processes): a wrong address ends it.
// compile: small (the called function takes longer)
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/class.h"
#include "lang/objects/exception.h"
#include "lang/objects/unraisable.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "lang/vm/threads.h"
#include "stdlib/python/native/ffi.h"
#include "stdlib/python/native/machine_library.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/processes.h"

namespace tessera::stdlib {
namespace {

using ffi::Kind;

ffi::Library open_library() {
  ffi::Library made;
  MachineLibrary library({"libffi.so.8"});
#define TS_FFI_FIND(NAME, RESULT, PARAMETERS) library.find("ffi_" #NAME, made.NAME);
  TS_FFI_FUNCTIONS(TS_FFI_FIND)
#undef TS_FFI_FIND
  for (size_t i = 0; i < std::size(ffi::kKinds); ++i)
    library.find((std::string("ffi_type_") + ffi::kKinds[i].name).c_str(), made.kinds[i]);
  made.found = library.is_complete();
  return made;
}

const ffi::Library& library() {
  static const ffi::Library opened = open_library();
  return opened;
}

[[noreturn]] void refuse_code(char code) { throw Error(ErrorKind::ValueError, std::string("no type of C has the letter ") + code); }

Kind* kind_of(char code) {
  for (size_t i = 0; i < std::size(ffi::kKinds); ++i)
    if (strchr(ffi::kKinds[i].codes, code) != nullptr) return library().kinds[i];
  refuse_code(code);
}

char* address_of(Interpreter& in, const Value& v) {
  if (v.is_none()) return nullptr;
  const Value whole = whole_index(in, v);
  const WholeView view(whole);  // a larger number is cut, as C does it
  uint64_t bits = view.limbs().size == 0 ? 0 : view.limbs()[0];
  if (view.negative()) bits = ~bits + 1;
  return reinterpret_cast<char*>(bits);
}

Value address_value(Interpreter& in, const void* address) { return whole_from_uint64(in, reinterpret_cast<uint64_t>(address)); }

// --- memory

struct Block : Object {
  char* data = nullptr;
  size_t size = 0;
  ~Block() { free(data); }
};

// What all instances of a class share: size, the items as a buffer shows them, and how calls pass it by value.
struct Layout : Object {
  size_t size = 0;
  std::string format;
  uint32_t item_size = 1;
  std::vector<int64_t> shape;
  std::unique_ptr<Kind> structure;
  std::vector<Kind*> elements;     // of it, and a null one
};

constexpr char kDataLayout[] = "_ctypes._CData";

struct Data : GcObject {
  char* data = nullptr;
  size_t size = 0;
  Value block;  // holds the memory; None: somebody else does
  Value base;   // the object of which this one is a part
  Value objects;  // that the memory points to, as the class keeps them
  Value layout;
  int64_t index = 0;  // in `base`
  uint32_t exports = 0;
};

Data* data_of(const Value& v) {
  if (!has_layout(v, kDataLayout)) throw Error(ErrorKind::TypeError, "this type has no size");
  return object_cast<Data>(v);
}

Value make_block(Interpreter& in, Type* type, size_t size) {
  const Value made = Value::adopt(make_object<Block>(in, type));
  Block* const block = known_cast<Block>(made);
  if (size > (size_t{1} << 47)) throw Error(ErrorKind::MemoryError, std::string());
  in.heap.expect(size);
  block->data = static_cast<char*>(calloc(std::max<size_t>(size, 1), 1));
  if (block->data == nullptr) throw Error(ErrorKind::MemoryError, std::string());
  block->size = size;
  return made;
}

Value new_block(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 1) throw Error(ErrorKind::TypeError, "Block() takes 1 argument");
  const int64_t size = int_argument(in, args[0]);
  if (size < 0) throw Error(ErrorKind::ValueError, "negative size");
  return make_block(in, type, static_cast<size_t>(size));
}

Value block_address(Interpreter& in, const Args& args) { return address_value(in, object_cast<Block>(args[0])->data); }

// (size, format, item size, shape, leaves: a list of (offset, letter))
Value new_layout(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 6) throw Error(ErrorKind::TypeError, "Layout() takes 6 arguments");
  const Value made = Value::adopt(make_object<Layout>(in, type));
  Layout* const layout = known_cast<Layout>(made);
  layout->size = static_cast<size_t>(int_argument(in, args[0]));
  layout->format = std::string(text_argument(in, args[2], "format"));
  layout->item_size = static_cast<uint32_t>(int_argument(in, args[3]));
  for_each(in, args[4], [&](const Value& length) { layout->shape.push_back(int_argument(in, length)); });
  const uint16_t alignment = static_cast<uint16_t>(int_argument(in, args[1]));
  for_each(in, args[5], [&](const Value& letter) { layout->elements.push_back(kind_of(text_argument(in, letter, "letter")[0])); });
  layout->elements.push_back(nullptr);
  layout->structure = std::make_unique<Kind>(Kind{layout->size, alignment, ffi::kStructure, layout->elements.data()});
  return made;
}

// An instance without its __init__: of a new block, or at a place in memory. (class, layout, block or None, address or None, base, index)
Value at(Interpreter& in, const Args& args) {
  if (!args[0].is_object() || args[0].as_object()->kind != ObjectKind::Type) throw Error(ErrorKind::TypeError, "at() takes a class");
  Type* const type = known_cast<Type>(args[0]);
  if (type->slots.layout != kDataLayout) throw Error(ErrorKind::TypeError, "at() takes a class of C data");
  const Layout* const layout = object_cast<Layout>(args[1]);
  const Value made = Value::adopt(make_object<Data>(in, type));
  Data* const data = known_cast<Data>(made);
  data->layout = args[1], data->size = layout->size, data->block = args[2], data->base = args[4], data->index = int_argument(in, args[5]);
  data->objects = Value::none();
  data->data = args[3].is_none() ? object_cast<Block>(args[2])->data : address_of(in, args[3]);
  return made;
}

Value data_address(Interpreter& in, const Args& args) { return address_value(in, data_of(args[0])->data); }
Value data_size(Interpreter&, const Args& args) { return Value::integer(static_cast<int64_t>(data_of(args[0])->size)); }
Value data_block(Interpreter&, const Args& args) { return data_of(args[0])->block; }
Value data_base(Interpreter&, const Args& args) { return data_of(args[0])->base; }
Value data_index(Interpreter&, const Args& args) { return Value::integer(data_of(args[0])->index); }
Value data_objects(Interpreter&, const Args& args) { return data_of(args[0])->objects; }

Value keep_objects(Interpreter&, const Args& args) {
  data_of(args[0])->objects = args[1];
  return Value::none();
}

// The memory becomes a larger or smaller block of its own.
Value resize(Interpreter& in, const Args& args) {
  Data* const data = data_of(args[0]);
  const size_t size = static_cast<size_t>(int_argument(in, args[1]));
  if (data->exports != 0) throw Error(ErrorKind::BufferError, "Existing exports of data: object cannot be re-sized");
  if (const size_t least = object_cast<Layout>(data->layout)->size; size < least) throw_error(ErrorKind::ValueError, "minimum size is %zu", least);
  Block* const old = object_cast<Block>(data->block);
  const Value made = make_block(in, old->type, size);
  memcpy(known_cast<Block>(made)->data, data->data, std::min(size, data->size));
  data->block = made, data->data = known_cast<Block>(made)->data, data->size = size;
  return Value::none();
}

bool show_data(Interpreter&, const Value& self, Buffer& out, BufferLayout* layout) {
  Data* const data = object_cast<Data>(self);
  const Layout* const items = object_cast<Layout>(data->layout);
  out.data = data->data, out.size = data->size, out.readonly = false, out.item_size = items->item_size, out.exports = &data->exports;
  out.format = ItemFormat(items->format.c_str());
  out.keeper = self;
  if (layout == nullptr) return true;
  layout->shape = items->shape, layout->given = true;
  layout->strides.assign(items->shape.size(), 0);
  int64_t stride = items->item_size;
  for (size_t i = items->shape.size(); i-- > 0; stride *= items->shape[i]) layout->strides[i] = stride;
  return true;
}

// --- values in memory

template <class T>
T read(const char* from, bool swapped) {
  T value;
  memcpy(&value, from, sizeof value);
  if (swapped) std::reverse(reinterpret_cast<char*>(&value), reinterpret_cast<char*>(&value + 1));
  return value;
}

template <class T>
void write(char* to, T value, bool swapped) {
  if (swapped) std::reverse(reinterpret_cast<char*>(&value), reinterpret_cast<char*>(&value + 1));
  memcpy(to, &value, sizeof value);
}

// A number; pointers as addresses.
Value load_number(Interpreter& in, char code, const char* from, bool swapped) {
  switch (code) {
    case 'b': return Value::integer(read<int8_t>(from, false));
    case 'c': case 'B': return Value::integer(read<uint8_t>(from, false));
    case '?': return Value::boolean(*from != 0);
    case 'h': return Value::integer(read<int16_t>(from, swapped));
    case 'H': return Value::integer(read<uint16_t>(from, swapped));
    case 'i': return Value::integer(read<int32_t>(from, swapped));
    case 'u': case 'I': return Value::integer(read<uint32_t>(from, swapped));
    case 'l': case 'q': return Value::integer(read<int64_t>(from, swapped));
    case 'f': return Value::real(static_cast<double>(read<float>(from, swapped)));
    case 'd': return Value::real(read<double>(from, swapped));
    case 'g': return Value::real(static_cast<double>(read<long double>(from, false)));
    case 'L': case 'Q': case 'P': case 'z': case 'Z': case 'O': return whole_from_uint64(in, read<uint64_t>(from, swapped));
    default: refuse_code(code);
  }
}

void store_number(Interpreter& in, char code, const Value& value, char* to, bool swapped) {
  if (code == 'f') return write(to, static_cast<float>(to_float(in, value)), swapped);
  if (code == 'd') return write(to, to_float(in, value), swapped);
  if (code == 'g') return write(to, static_cast<long double>(to_float(in, value)), false);
  const uint64_t bits = reinterpret_cast<uint64_t>(address_of(in, value));
  switch (code) {
    case 'b': case 'B': case 'c': case '?': return write(to, static_cast<uint8_t>(bits), false);
    case 'h': case 'H': return write(to, static_cast<uint16_t>(bits), swapped);
    case 'i': case 'I': case 'u': return write(to, static_cast<uint32_t>(bits), swapped);
    case 'l': case 'L': case 'q': case 'Q': case 'P': case 'z': case 'Z': case 'O': return write(to, bits, swapped);
    default: refuse_code(code);
  }
}

// A letter, behind '>' where its bytes are swapped.
struct Code {
  char letter;
  bool swapped;
  Code(Interpreter& in, const Value& v) {
    const std::string_view text = text_argument(in, v, "code");
    if (text.empty()) refuse_code(' ');
    letter = text.back(), swapped = text.size() > 1;
  }
};

Value load(Interpreter& in, const Args& args) {
  const Code code(in, args[0]);
  return load_number(in, code.letter, address_of(in, args[1]), code.swapped);
}

Value store(Interpreter& in, const Args& args) {
  const Code code(in, args[0]);
  store_number(in, code.letter, args[2], address_of(in, args[1]), code.swapped);
  return Value::none();
}

Value bytes_at(Interpreter& in, const Args& args) {
  const char* const from = address_of(in, args[0]);
  const int64_t size = int_argument(in, args[1]);
  return make_bytes(in, {from, size < 0 ? strlen(from) : static_cast<size_t>(size)});
}

// (address, size or -1: up to a null): wide characters.
Value text_at(Interpreter& in, const Args& args) {
  const char* const from = address_of(in, args[0]);
  int64_t size = int_argument(in, args[1]);
  if (size < 0) for (size = 0; read<uint32_t>(from + size * 4, false) != 0;) ++size;
  std::string text;
  for (int64_t i = 0; i < size; ++i) {
    const uint32_t c = read<uint32_t>(from + i * 4, false);
    if (c > 0x10FFFF) throw_error(ErrorKind::ValueError, "character U+%x is not in range [U+0000; U+10ffff]", c);
    text += text_of(char_str(in, c));
  }
  return make_str(in, text, static_cast<size_t>(size));
}

Value copy(Interpreter& in, const Args& args) {
  memmove(address_of(in, args[0]), address_of(in, args[1]), static_cast<size_t>(int_argument(in, args[2])));
  return Value::none();
}

// Of bytes, which do not move: the caller holds the object as long as it uses the address.
Value bytes_address(Interpreter& in, const Args& args) {
  if (!is_bytes(args[0])) throw Error(ErrorKind::TypeError, "bytes expected");
  return address_value(in, as_bytes(args[0])->data());
}

// (buffer, offset): of memory that the memoryview holds.
Value buffer_address(Interpreter& in, const Args& args) {
  Buffer buffer;
  if (!find_buffer(in, args[0], buffer)) throw Error(ErrorKind::TypeError, "a buffer expected");
  return address_value(in, buffer.data + int_argument(in, args[1]));
}

// --- libraries

Value open_shared(Interpreter& in, const Args& args) {
  require_processes(in);
  const std::string name = args[0].is_none() ? std::string() : path_argument(in, args[0]);
  void* const handle = dlopen(args[0].is_none() ? nullptr : name.c_str(), small(in, args[1]) | RTLD_NOW);
  if (handle == nullptr) {
    const char* const words = dlerror();
    throw Error(ErrorKind::OSError, words == nullptr ? "dlopen() error" : words);
  }
  return address_value(in, handle);
}

Value close_shared(Interpreter& in, const Args& args) {
  if (dlclose(address_of(in, args[0])) == 0) return Value::none();
  throw Error(ErrorKind::OSError, dlerror());
}

// The address of a name, or the words of what was wrong.
Value find_shared(Interpreter& in, const Args& args) {
  const std::string name(text_argument(in, args[1], "name"));
  dlerror();
  const void* const found = dlsym(address_of(in, args[0]), name.c_str());
  if (found != nullptr) return address_value(in, found);
  const char* const words = dlerror();
  return make_str_lossy(in, words == nullptr ? "symbol not found" : words);
}

// --- calls

// One for each interpreter: what callbacks have to know.
struct Calls : Object {
  std::exception_ptr problem;  // what ends the run, and arrived in a callback
  std::mutex lock;
  // Threads of the system that are in a call without the baton, the latest last; null while a callback of it has the baton.
  std::vector<std::pair<pid_t, Thread*>> away;

  Thread* find(pid_t thread, Thread* instead) {
    const std::lock_guard guard(lock);
    for (size_t i = away.size(); i-- > 0;)
      if (away[i].first == thread) return std::exchange(away[i].second, instead);
    return nullptr;
  }
  void begin(pid_t thread, Thread* left) {
    const std::lock_guard guard(lock);
    away.push_back({thread, left});
  }
  Thread* end(pid_t thread) {
    const std::lock_guard guard(lock);
    for (size_t i = away.size(); i-- > 0;) {
      if (away[i].first != thread) continue;
      Thread* const left = away[i].second;
      away.erase(away.begin() + static_cast<ptrdiff_t>(i));
      return left;
    }
    return nullptr;
  }
};

union Cell {
  char bytes[16];
  long double widest;
};

// How a value is passed: a letter, or a layout.
struct Passed {
  Kind* kind;
  char code;
};

Passed passed(Interpreter& in, const Value& type) {
  if (is_str(type)) {
    const char code = text_argument(in, type, "type")[0];
    return {kind_of(code), code};
  }
  return {object_cast<Layout>(type)->structure.get(), 0};
}

// Of a number's type smaller than a word, what libffi leaves in a whole one.
Value result_value(Interpreter& in, const Passed& result, const char* from) {
  return result.code == 'v' || result.code == 0 ? Value::none() : load_number(in, result.code, from, false);
}

// (calls, function, result: letter or layout, arguments: a tuple of (letter or layout, number or address), errno to set or None,
// address for a structure that is returned, keeps the baton): (result, errno).
Value call_function(Interpreter& in, const Args& args) {
  Calls* const calls = object_cast<Calls>(args[0]);
  void (*function)() = reinterpret_cast<void (*)()>(address_of(in, args[1]));
  const Passed result = passed(in, args[2]);
  std::vector<Kind*> kinds;
  std::vector<void*> places;
  std::vector<Cell> cells;
  const Value arguments = args[3];
  const Tuple* const list = object_cast<Tuple>(arguments);
  cells.resize(list->size);
  for (uint32_t i = 0; i < list->size; ++i) {
    const Tuple* const pair = object_cast<Tuple>((*list)[i]);
    if (pair->size != 2) throw Error(ErrorKind::TypeError, "an argument is a pair");
    const Passed how = passed(in, (*pair)[0]);
    kinds.push_back(how.kind);
    if (how.code != 0) store_number(in, how.code, (*pair)[1], cells[i].bytes, false);
    places.push_back(how.code != 0 ? static_cast<void*>(cells[i].bytes) : address_of(in, (*pair)[1]));
  }
  ffi::Interface interface;
  if (library().prep_cif(&interface, ffi::kAbi, list->size, result.kind, kinds.data()) != 0)
    throw Error(ErrorKind::RuntimeError, "ffi_prep_cif failed");
  Cell answer{};
  void* const to = result.code != 0 ? static_cast<void*>(answer.bytes) : address_of(in, args[5]);
  const bool sets_errno = !args[4].is_none(), keeps = truth(in, args[6]) || in.threads().alone();
  const int number = sets_errno ? small(in, args[4]) : 0;
  int after = 0;
  const auto run = [&] {
    errno = number;
    library().call(&interface, function, to, places.data());
    after = errno;
  };
  if (keeps) {
    run();
  } else {
    const pid_t self = gettid();
    calls->begin(self, in.threads().leave());
    run();
    if (Thread* const left = calls->end(self)) in.threads().enter(left);
  }
  if (calls->problem != nullptr) std::rethrow_exception(std::exchange(calls->problem, nullptr));
  in.poll();
  return make_tuple(in, {result_value(in, result, answer.bytes), Value::integer(after)});
}

struct Thunk;
struct ThunkHook {
  Thunk* closure;
};

struct Thunk : GcObject {
  ThunkHook hook{this};
  Interpreter* in = nullptr;
  Value handler;  // called with the arguments, numbers and addresses; answers a number
  Value function;  // the program's, for the words about an error
  Value calls, layouts;
  Calls* state = nullptr;
  void* closure = nullptr;  // libffi's
  void* code = nullptr;
  Passed result{};
  std::vector<Passed> parameters;
  std::vector<Kind*> kinds;
  ffi::Interface interface{};

  ~Thunk() {
    if (closure != nullptr) library().closure_free(closure);
  }
};

void call_handler(Thunk* closure, void* to, void** places) {
  Interpreter& in = *closure->in;
  std::vector<Value> values;
  for (size_t i = 0; i < closure->parameters.size(); ++i) {
    const char code = closure->parameters[i].code;
    values.push_back(code == 0 ? address_value(in, places[i]) : load_number(in, code, static_cast<char*>(places[i]), false));
  }
  const Value answer = call(in, closure->handler, {make_tuple_moving(in, values.data(), values.size()), address_value(in, to)});
  if (closure->result.code == 'v' || closure->result.code == 0 || answer.is_none()) return;
  const bool is_float = strchr("fdg", closure->result.code) != nullptr;
  if (!is_float) memset(to, 0, sizeof(uint64_t));
  if (is_float || strchr("?BHILQPzZOuc", closure->result.code) != nullptr) {
    store_number(in, closure->result.code, answer, static_cast<char*>(to), false);
  } else {  // signed: libffi wants a whole word
    char narrow[16];
    store_number(in, closure->result.code, answer, narrow, false);
    const int64_t wide = load_number(in, closure->result.code, narrow, false).as_int();
    memcpy(to, &wide, sizeof wide);
  }
}

void run_closure(Thunk* closure, void* to, void** places) {
  Interpreter& in = *closure->in;
  const Value held(static_cast<Object*>(closure));
  try {
    call_handler(closure, to, places);
  } catch (const Thrown& thrown) {
    report_unraisable(in, thrown.exception, "Exception ignored on calling ctypes callback function", closure->function);
  } catch (const Error& error) {
    report_unraisable(in, make_exception(in, error), "Exception ignored on calling ctypes callback function", closure->function);
  } catch (...) {
    closure->state->problem = std::current_exception();
  }
}

void enter_closure(ffi::Interface*, void* to, void** places, void* user) {
  Thunk* const closure = static_cast<ThunkHook*>(user)->closure;
  if (closure->result.code != 'v') memset(to, 0, std::max<size_t>(closure->result.kind->size, sizeof(uint64_t)));
  Interpreter& in = *closure->in;
  const pid_t self = gettid();
  Calls* const state = closure->state;  // held by the call that led here; the callback may drop the closure
  Thread* const left = state->find(self, nullptr);
  if (left != nullptr) in.threads().enter(left);
  else if (in.threads().current().native_id() != self) return;  // a thread of the library's own: nothing of the program can run there
  run_closure(closure, to, places);
  if (left != nullptr) state->find(self, in.threads().leave());
}

// (calls, handler, function, result: a letter or a layout, parameters: a tuple of such)
Value new_closure(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 5) throw Error(ErrorKind::TypeError, "Thunk() takes 5 arguments");
  require_processes(in);
  const Value made = Value::adopt(make_object<Thunk>(in, type));
  Thunk* const closure = known_cast<Thunk>(made);
  closure->in = &in, closure->calls = args[0], closure->handler = args[1], closure->function = args[2];
  closure->layouts = make_tuple(in, {args[3], args[4]});
  closure->state = object_cast<Calls>(args[0]);
  closure->result = passed(in, args[3]);
  for_each(in, args[4], [&](const Value& parameter) {
    closure->parameters.push_back(passed(in, parameter));
    closure->kinds.push_back(closure->parameters.back().kind);
  });
  closure->closure = library().closure_alloc(ffi::kClosureBytes, &closure->code);
  if (closure->closure == nullptr) throw Error(ErrorKind::MemoryError, std::string());
  const unsigned count = static_cast<unsigned>(closure->kinds.size());
  if (library().prep_cif(&closure->interface, ffi::kAbi, count, closure->result.kind, closure->kinds.data()) != 0 ||
      library().prep_closure_loc(closure->closure, &closure->interface, enter_closure, &closure->hook, closure->code) != 0) {
    throw Error(ErrorKind::RuntimeError, "ffi_prep_closure failed");
  }
  return made;
}

Value closure_address(Interpreter& in, const Args& args) { return address_value(in, known_cast<Thunk>(args[0])->code); }

template <class T>
Type* plain_type(Interpreter& in, Module& module, const char* name, TypeMaker make) {
  Type* const type = in.new_type({.name = name, .module = "_cdata", .size = sizeof(T), .flags = kFinalType});
  type->make = make;
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<T>(self)); };
  set_member(in, module, name, Value(static_cast<Object*>(type)));
  return type;
}

const NativeDef kDataMethods[] = {
    {"_keep_objects(self, objects, /)", keep_objects},
    {"_resize(self, size, /)", resize},
};
const NativeDef kBlockMethods[] = {{"address(self, /)", block_address}};
const NativeDef kThunkMethods[] = {{"address(self, /)", closure_address}};

// (class, name, function): a method of _CData that is written in the language.
Value add_script_method(Interpreter& in, const Args& args) {
  Type* const type = object_cast<Type>(args[0]);
  if (type->slots.layout != kDataLayout || (type->type_flags & kScriptClass) != 0) throw Error(ErrorKind::TypeError, "_CData expected");
  dict_set_str(in, type->attributes(), intern(in, text_argument(in, args[1], "name")), args[2]);
  type_changed(in, type);
  return Value::none();
}

void add_data_type(Interpreter& in, Module& module) {
  Type* const type = in.new_type({.name = "_CData", .module = "_ctypes", .size = sizeof(Data)});
  type->make = [](Interpreter& in2, Type* made, const Args&) {
    return call_method(in2, Value(static_cast<Object*>(made)), intern(in2, "_made_"), {});
  };
  type->slots.layout = kDataLayout;
  type->slots.hash = [](Interpreter&, const Value&) -> int64_t { throw Error(ErrorKind::TypeError, "unhashable type"); };
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<Data>(self)); };
  type->slots.traverse = [](Object* self, Visitor& visitor) {
    Data* const data = known_cast<Data>(self);
    for (Value* const held : {&data->block, &data->base, &data->objects, &data->layout}) visitor(*held);
  };
  type->slots.clear = [](Interpreter&, Object* self) { known_cast<Data>(self)->objects = Value::none(); };
  in.add_methods(type, kDataMethods, std::size(kDataMethods));
  in.add_member(type, "_b_base_", data_base);
  in.add_member(type, "_objects", data_objects);
  in.add_property(type, "_index_", data_index);
  in.add_property(type, "_address_", data_address);
  in.add_property(type, "_size_", data_size);
  in.add_property(type, "_block_", data_block);
  add_buffer_source(in, kDataLayout, show_data);
  set_member(in, module, "_CData", Value(static_cast<Object*>(type)));
}

}  // namespace

void fill_cdata(Interpreter& in, Module& module) {
  // an ImportError: many a program does without ctypes then
  if (!in.limits.processes) throw Error(ErrorKind::ImportError, "this program is not allowed to use processes");
  if (!library().found) throw Error(ErrorKind::ImportError, "libffi is not installed (libffi.so.8; Debian: libffi8)");
  add_data_type(in, module);
  in.add_methods(plain_type<Block>(in, module, "Block", new_block), kBlockMethods, std::size(kBlockMethods));
  plain_type<Layout>(in, module, "Layout", new_layout);
  plain_type<Calls>(in, module, "Calls", [](Interpreter& in2, Type* type, const Args&) { return Value::adopt(make_object<Calls>(in2, type)); });
  Type* const closure = plain_type<Thunk>(in, module, "Thunk", new_closure);
  closure->slots.traverse = [](Object* self, Visitor& visitor) {
    Thunk* const c = known_cast<Thunk>(self);
    for (Value* const held : {&c->handler, &c->function, &c->calls, &c->layouts}) visitor(*held);
  };
  closure->slots.clear = [](Interpreter&, Object* self) {
    known_cast<Thunk>(self)->handler = Value::none();
    known_cast<Thunk>(self)->function = Value::none();
  };
  in.add_methods(closure, kThunkMethods, std::size(kThunkMethods));
  in.def(module, "at(cls, layout, block, address, base, index, /)", "An instance of a class of C data.", at);
  in.def(module, "add_method(cls, name, function, /)", "A method of _CData.", add_script_method);
  in.def(module, "load(code: str, address, /)", "The number at an address.", load);
  in.def(module, "store(code: str, address, value, /)", "Writes a number.", store);
  in.def(module, "bytes_at(address, size, /)", "Bytes; size -1: up to a null.", bytes_at);
  in.def(module, "text_at(address, size, /)", "Wide characters; size -1: up to a null.", text_at);
  in.def(module, "copy(to, from_, size, /)", "Moves bytes.", copy);
  in.def(module, "bytes_address(data, /)", "Where the bytes of a bytes object are.", bytes_address);
  in.def(module, "buffer_address(data, offset, /)", "Where the memory of a buffer is.", buffer_address);
  in.def(module, "open_shared(name, mode, /)", "The handle of a shared library.", open_shared);
  in.def(module, "close_shared(handle, /)", "Closes a shared library.", close_shared);
  in.def(module, "find_shared(handle, name: str, /)", "The address of a name, or why there is none.", find_shared);
  in.def(module, "call(calls, function, result, arguments, errno, place, keeps, /)", "Calls a function of C.", call_function);
}

}  // namespace tessera::stdlib
