// One interpreter: everything that a running program has. Nothing of the language lives outside of it, so that a host
// can run several, each on one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/heap.h"
#include "lang/core/native.h"
#include "lang/core/signals.h"
#include "lang/core/type.h"
#include "lang/core/value.h"

namespace tessera::lang {

struct Dict;
struct Host;  // what the host does for it (host.h)
struct Exception;
struct Module;
class Modules;         // import (module.h)
class TypeCache;       // look-ups in types by version (attribute.h)
class WeakReferences;  // which objects are weakly referenced, and from where (weak.h)
class Source;
enum class CompileMode : uint8_t;
class VirtualMachine;  // frames, registers, the loop (vm.h)
class Collector;       // cycles (cycles.h)
class Threads;         // which one runs (vm/threads.h)

// Types that native code names. Made by the interpreter's constructor, immortal.
struct BuiltinTypes {
  Type *object, *type, *none, *boolean, *integer, *real, *str, *list, *tuple, *dict, *set, *frozenset, *range, *slice;
  Type *function, *native_function, *bound_method, *cell, *code, *generator, *iterator, *module, *property;
  Type *static_method, *class_method, *super, *not_implemented, *ellipsis, *traceback, *frame;
  // The kinds of native attributes (descriptor_kinds.cpp). A `native_function` is a function of a module or a bound method.
  Type *method_descriptor, *wrapper_descriptor, *class_method_descriptor, *method_wrapper, *getset_descriptor,
      *member_descriptor;
  Type *dict_keys, *dict_values, *dict_items, *complex;
  Type *list_iterator, *tuple_iterator, *str_iterator, *range_iterator, *set_iterator, *dict_key_iterator,
      *dict_value_iterator, *dict_item_iterator, *callable_iterator, *list_reverse_iterator;
  Type *coroutine, *coroutine_wrapper, *async_generator, *async_generator_send, *async_generator_throw, *anext_awaitable;
  Type *enumerate, *zip, *map, *filter, *reversed;
  Type* errors[kErrorKinds];  // by ErrorKind; null until error_type() makes it
};

// What the host grants and how much. A limit of zero is no limit.
struct Limits {
  uint64_t steps = 0;          // backward jumps and calls
  double seconds = 0;          // wall time of one run
  uint64_t object_bytes = 0;   // memory of the language's objects
  uint64_t tensor_bytes = 0;   // memory of tensors on the host
  uint64_t device_bytes = 0;   // and on each other device
  uint32_t call_depth = 1000;  // RecursionError above
  uint32_t open_files = 0;     // at the same time
  uint64_t output_bytes = 0;
  bool files = false, environment = false, clock = false, imports_of_files = false, processes = false, entropy = false;
  bool code = false;       // eval, exec, compile: programs that are made while the program runs
  bool network = false;    // sockets
  uint32_t threads = 0;    // that the program may start beside its first, at the same time
  std::string files_root;  // with `files`: what is not below it is not there; empty: no root
};

class Interpreter {
 public:
  Interpreter();
  explicit Interpreter(Host host, Limits limits = {});
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  BuiltinTypes types{};
  Value not_implemented, ellipsis;
  struct SharedObjects* shared = nullptr;  // empty strings and the like (types/types.h)
  struct Names* names = nullptr;           // interned strings that the machine and natives use (names.def)
  Limits limits;

  // Bits (signals.h), set by other threads, signal handlers, the clock and the allocator, and heard at safe points: backward
  // jumps and calls of scripts, each item that a native pulls (next), each kernel's piece of work.
  std::atomic<uint32_t> interrupt{0};
  // Rises with each key that a dict of globals or of builtins gets or loses, and is the last keys_version given to one (dict_enroll). The
  // counter ends at UINT32_MAX: from there on no site remembers a global, so that none takes an old number for a new one.
  uint32_t keys_versions = 1;
  uint32_t next_keys_version() noexcept {
    if (keys_versions != UINT32_MAX) ++keys_versions;
    return keys_versions == UINT32_MAX ? 0 : keys_versions;  // a site takes no zero for its version
  }
  uint32_t stops = kStops;  // the bits that end a native of the running thread; Ctrl-C is for the first one alone
  int64_t countdown = 0;  // steps until the limit of steps is looked at

  // A safe point in C++, where `steps` steps' work has been done since the last one. It may collect, run handlers of signals
  // and throw. Whoever iterates has it from next() already; others call it about every ten microseconds.
  void poll(int64_t steps = 1) {
    if ((countdown -= steps) < 0 || interrupt.load(std::memory_order_relaxed) != 0) [[unlikely]]
      safe_point();
  }
  // The same where no script may run and nothing be collected: it throws, or nothing happens.
  void check_stop(int64_t steps = 1) {
    if ((countdown -= steps) < 0 || (interrupt.load(std::memory_order_relaxed) & stops) != 0) [[unlikely]]
      stop_now();
  }
  // Is the program asked to end what it does? For loops that have to tidy up before they throw.
  bool is_stopping() const { return (interrupt.load(std::memory_order_relaxed) & stops) != 0; }

  int32_t int_max_str_digits = 4300;  // sys.set_int_max_str_digits; 0: no limit

  std::vector<std::string> argv;         // sys.argv
  std::vector<std::string> search_path;  // sys.path at the start

  // Runs a file's text as module `name` ("__main__"). Throws Thrown; the exception holds its traceback.
  Value run(const Source& source, std::string_view name);
  // As a prompt does it: statements in the main module's names; answers the value of a last bare expression, or Undefined.
  Value run_interactive(const Source& source);
  Value eval(const Source& source);  // one expression in the main module
  // The same to be run again and again: a function without parameters. What an interactive one shows is taken afterwards.
  Value compile(const Source& source, CompileMode mode);
  Value take_result();
  Module* main_module();
  void set_result(const Value& value);  // of run_interactive, by the code that it runs

  // Imports by dotted name ("torch.nn") and answers the module of that name (not the first part).
  Module* import(std::string_view name);
  // A native module: `fill` runs at the first import. Embedded .tsr code is found through host.embedded_module.
  void add_native_module(std::string_view name, void (*fill)(Interpreter& in, Module& module));
  Module* new_module(std::string_view name);

  // Makes a native type; its slots are then filled by the caller, its methods added by add_methods.
  Type* new_type(const NativeTypeSpec& spec);
  void add_methods(Type* type, const NativeDef* rows, size_t count);
  // A getset_descriptor. Without `del` the attribute cannot be deleted.
  void add_property(Type* type, const char* name, NativeFn get, NativeFn set = nullptr, const char* doc = "",
                    NativeFn del = nullptr);
  // The same as a member_descriptor, as CPython has for fields that are read from the object's memory.
  void add_member(Type* type, const char* name, NativeFn get, NativeFn set = nullptr, const char* doc = "",
                  NativeFn del = nullptr);
  // `data` comes with each call as callee->data; it is borrowed, or `drop` frees it when the function ends. The texts are
  // not copied, here and in what follows from it: literals.
  Value new_function(const char* signature, const char* doc, NativeFn function, void* data = nullptr,
                     void (*drop)(void*) = nullptr);
  void def(Module& module, const char* signature, const char* doc, NativeFn function);
  void def(Module& module, const NativeDef& row);
  // Types by the names that signatures use ("Tensor"). new_type registers what it makes.
  void register_type(Type* type);
  Type* named_type(std::string_view name) const;

  // The traceback and message that CPython prints for an exception that nobody caught, with our notes below.
  std::string format_exception(const Value& exception);
  // A warning, through the warnings module when a script has imported it, else printed once per place.
  void warn(ErrorKind category, std::string_view message);

  // Keeps what a module has per interpreter until that ends.
  void keep(void* thing, void (*drop)(void*));
  template <class T>
  T* keep(T* thing) {
    keep(thing, [](void* kept) { delete static_cast<T*>(kept); });
    return thing;
  }
  void* extension = nullptr;  // what the layer above keeps here (the state of its tensors)

  Host& host() { return *host_; }
  VirtualMachine& vm() { return *vm_; }
  Threads& threads() { return *threads_; }
  Collector& collector() { return *collector_; }
  Modules& modules() { return *modules_; }
  TypeCache& type_cache() { return *type_cache_; }
  WeakReferences& weak_references() { return *weak_references_; }

  // Raw memory for objects, counted against limits.object_bytes; free lists by size class.
  Heap heap{interrupt};
  void* allocate(size_t bytes) { return heap.allocate(bytes); }
  void* reallocate(void* memory, size_t bytes, size_t wanted) { return heap.reallocate(memory, bytes, wanted); }
  void deallocate(void* memory, size_t bytes) noexcept { heap.deallocate(memory, bytes); }

 private:
  void safe_point();
  void stop_now();

  struct State;
  State* state_;  // owns what follows
  Host* host_;
  VirtualMachine* vm_;
  Threads* threads_;
  Collector* collector_;
  TypeCache* type_cache_;
  WeakReferences* weak_references_;
  Modules* modules_;
};

// A string that is unique by text in this interpreter; lives as long as it.
Str* intern(Interpreter& in, std::string_view text);

}  // namespace tessera::lang
