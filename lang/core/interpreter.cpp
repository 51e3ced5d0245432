// The interpreter as hosts see it: construction, running text, modules by name.
#include "lang/core/interpreter.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/compiler/compile.h"
#include "lang/core/cycles.h"
#include "lang/core/files.h"
#include "lang/core/host.h"
#include "lang/objects/exception.h"
#include "lang/objects/exception_types.h"
#include "lang/objects/function.h"
#include "lang/objects/coroutine.h"
#include "lang/objects/generator.h"
#include "lang/objects/module.h"
#include "lang/vm/frame_object.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/syntax/definitions.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/types.h"
#include "lang/objects/weak.h"
#include "lang/vm/provenance.h"
#include "lang/vm/threads.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

struct Interpreter::State {
  Host host;
  std::unordered_map<const Str*, Type*> types;  // by name, for signatures
  std::vector<std::pair<void*, void (*)(void*)>> kept;
  std::set<std::string> warned;
  Value builtins;  // the module
  Value main;      // the module, once there is one
  Value result;    // of an interactive run
  std::unique_ptr<VirtualMachine> vm;
  std::unique_ptr<Threads> threads;
  std::unique_ptr<Collector> collector;
  std::unique_ptr<TypeCache> type_cache;
  std::unique_ptr<WeakReferences> weak_references;
  std::unique_ptr<Modules> modules;

  void drop_objects(Interpreter& in) noexcept;
};

// Each of these steps can run a finalizer, or the callback of a weak reference.
void Interpreter::State::drop_objects(Interpreter& in) noexcept {
  Dict* const names = main.is_undefined() ? nullptr : known_cast<Module>(main)->dict;
  collector->finalize_all(names);
  if (names != nullptr) dict_clear(in, names);  // finalizers of strings and the like: not in its list
  result = Value();
  main = Value();
  for (auto [thing, drop] : kept) drop(thing);
  in.extension = nullptr;
  in.modules_ = nullptr;
  modules.reset();
  threads->forget_locals();
  collector->clear_all();
  vm->drop_memory_error();
  vm->forget_tracers();
  builtins = Value();
  in.not_implemented = Value();
  in.ellipsis = Value();
  drop_shared_objects(in);
}

Interpreter::Interpreter() : Interpreter(Host{}) {}

namespace {

// How much of `text` fits into `bytes`, in whole characters.
size_t fitting(std::string_view text, uint64_t bytes) {
  size_t size = static_cast<size_t>(bytes);
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return size;
}

// Whoever prints calls the host's functions: so what is printed is counted there. What still fits is shown; what comes later
// than the limit is not, in later runs neither.
void count_output(Interpreter& in, Host& host) {
  if (in.limits.output_bytes == 0) return;
  const auto left = std::make_shared<uint64_t>(in.limits.output_bytes);
  for (auto* write : {&host.write_out, &host.write_error}) {
    if (!*write) continue;
    *write = [&in, left, plain = std::move(*write)](std::string_view text) {
      if (text.size() <= *left) {
        *left -= text.size();
        return plain(text);
      }
      const size_t size = fitting(text, std::exchange(*left, 0));
      if (size != 0) plain(text.substr(0, size));
      in.vm().hit_limit(ErrorKind::RuntimeError, "output limit exceeded");
    };
  }
}

}  // namespace

Interpreter::Interpreter(Host host, Limits l) : limits(l), state_(new State) {
  state_->host = std::move(host);
  count_output(*this, state_->host);
  state_->host.files = std::make_shared<Files>(limits);
  host_ = &state_->host;
  int_max_str_digits = state_->host.flags.int_max_str_digits;
  const auto make = [](auto& owner, auto&&... arguments) {
    owner = std::make_unique<std::remove_reference_t<decltype(*owner)>>(arguments...);
    return owner.get();
  };
  collector_ = make(state_->collector, *this);
  type_cache_ = make(state_->type_cache);
  weak_references_ = make(state_->weak_references, *this);
  vm_ = make(state_->vm, *this);
  threads_ = make(state_->threads, *this);
  const bool collects = collector_->enabled();
  collector_->set_enabled(false);
  make_core_types(*this);
  make_first_types(*this);
  finish_core_types(*this);
  make_function_types(*this);
  make_generator_type(*this);
  make_coroutine_types(*this);
  make_exception_types(*this);
  make_frame_type(*this);
  make_value_types(*this);
  fill_function_types(*this);
  modules_ = make(state_->modules, *this);
  Module* const builtins = make_module(*this, "builtins");
  state_->builtins = Value::adopt(builtins);
  vm_->set_builtins(builtins->dict);
  dict_set_str(*this, modules_->table(), intern(*this, "builtins"), state_->builtins);
  add_builtins(*this, *builtins);
  vm_->prepare_memory_error();
  collector_->set_enabled(collects);
  // The limit holds from here on: an exception that leaves a constructor runs no destructor, and what was made above would stay.
  heap.set_limit(limits.object_bytes);
}

Interpreter::~Interpreter() {
  threads_->close();
  {
    const RunScope run(*vm_);  // finalizers and callbacks have the limits of a run, all of them together
    state_->drop_objects(*this);
    destroy_types(*this);
  }
  delete state_;
}

// --- running text

namespace {

// A module's Code as a function without parameters, called.
Value run_code(Interpreter& in, const Value& code, Dict* globals) {
  const Value function = make_function(in, known_cast<Code>(code), globals);
  return in.vm().call_function(as_function(function), Args{});
}

// What compiles and runs may throw Error before a frame exists; hosts get Thrown only.
template <class F>
Value as_thrown(Interpreter& in, F&& body) {
  const RunScope run(in.vm());
  try {
    Value value = body();
    // A limit that was met where there was nobody to tell, in a finalizer, ends the run all the same.
    if ((in.interrupt.load(std::memory_order_relaxed) & kLimitHit) != 0) in.vm().stop_now();
    return value;
  } catch (const Thrown&) {
    throw;
  } catch (const std::exception&) {
    throw Thrown(current_native_exception(in));
  }
}

}  // namespace

Value Interpreter::run(const Source& source, std::string_view name) {
  return as_thrown(*this, [&] {
    Value module;
    if (name == "__main__") {
      module = Value(main_module());
    } else {
      module = Value::adopt(make_module(*this, name));
      dict_set_str(*this, modules_->table(), intern(*this, name), module);
    }
    Dict* const globals = known_cast<Module>(module)->dict;
    dict_set_str(*this, globals, names->file, make_str_lossy(*this, source.name()));
    if (name == "__main__") dict_set_str(*this, globals, names->cached, Value::none());
    if (!source.name().starts_with("stdlib/")) watch_names(globals);
    // A session's blocks have its variables no longer from their own lines.
    if (vm_->keeps_variables()) vm_->provenance().note_writes(globals);
    return run_code(*this, compile_source(*this, source.shared_from_this(), CompileMode::Module), globals);
  });
}

namespace {

// Where the block's own statements had come to when it failed.
uint32_t failed_at(const Source& source, const Value& exception) {
  const Value& first = as_exception(exception)->traceback;
  if (!first.is_object()) return 0;
  const auto* entry = known_cast<const Traceback>(first);
  if (entry->code->source.get() != &source || entry->word >= entry->code->places.size()) return 0;
  return entry->code->places[entry->word].span.begin;
}

// Runs a block that awaits, in the event loop that asyncio keeps for such blocks. An exception's traceback begins with the block.
Value run_awaiting(Interpreter& in, const Source& source, const Value& coroutine) {
  try {
    return call_method(in, Value(in.import("asyncio.runners")), intern(in, "_run_block"), {coroutine});
  } catch (const Thrown& thrown) {
    const Value& first = as_exception(thrown.exception)->traceback;
    for (Value entry = first; entry.is_object(); entry = known_cast<Traceback>(entry)->next) {
      if (known_cast<Traceback>(entry)->code->source.get() != &source) continue;
      as_exception(thrown.exception)->traceback = entry;
      break;
    }
    throw;
  }
}

Value run_block(Interpreter& in, const Source& source) {
  CompileOptions options(CompileMode::Interactive);
  options.top_level_await = true;
  const Value code = compile_source(in, source.shared_from_this(), options);
  Value answer = run_code(in, code, in.main_module()->dict);
  const bool awaits = (known_cast<Code>(code)->code_flags & kCoroutine) != 0;
  return awaits ? run_awaiting(in, source, answer) : answer;
}

}  // namespace

Value Interpreter::run_interactive(const Source& source) {
  const auto remember = [&](uint32_t end) {
    if (vm_->keeps_variables()) vm_->provenance().add_block(source.shared_from_this(), end);
  };
  try {
    const Value value = as_thrown(*this, [&] {
      state_->result = Value();
      run_block(*this, source);
      return std::exchange(state_->result, Value());
    });
    remember(kEndOfText);
    return value;
  } catch (const Thrown& thrown) {
    remember(failed_at(source, thrown.exception));
    throw;
  }
}

Value Interpreter::eval(const Source& source) {
  return as_thrown(*this, [&] {
    return run_code(*this, compile_source(*this, source.shared_from_this(), CompileMode::Expression),
                    main_module()->dict);
  });
}

Value Interpreter::compile(const Source& source, CompileMode mode) {
  return as_thrown(*this, [&] {
    const Value code = compile_source(*this, source.shared_from_this(), mode);
    return make_function(*this, known_cast<Code>(code), main_module()->dict);
  });
}

Value Interpreter::take_result() { return std::exchange(state_->result, Value()); }

void Interpreter::safe_point() { vm_->safe_point(); }
void Interpreter::stop_now() { vm_->stop_now(); }

void Interpreter::set_result(const Value& value) { state_->result = value; }

Module* Interpreter::main_module() {
  if (state_->main.is_undefined()) {
    state_->main = Value::adopt(make_module(*this, "__main__"));
    Dict* const own = known_cast<Module>(state_->main)->dict;
    watch_names(own);
    dict_set_str(*this, own, names->annotations, make_dict(*this));
    dict_set_str(*this, own, names->builtins_, state_->builtins);
    dict_set_str(*this, modules_->table(), names->main_, state_->main);
  }
  return known_cast<Module>(state_->main);
}

// --- modules and types by name

Module* Interpreter::import(std::string_view name) {
  const Value module = modules_->import(name);
  // `sys.modules` may hold anything.
  if (!module.is_object() || module.as_object()->kind != ObjectKind::Module)
    throw Error(ErrorKind::TypeError, "sys.modules['" + std::string(name) + "'] is not a module");
  return known_cast<Module>(module);
}

void Interpreter::add_native_module(std::string_view name, void (*fill)(Interpreter& in, Module& module)) {
  modules_->add_native(name, fill);
}

Module* Interpreter::new_module(std::string_view name) { return make_module(*this, name); }

void Interpreter::register_type(Type* type) { state_->types.emplace(type->name, type); }

Type* Interpreter::named_type(std::string_view name) const {
  const auto found = state_->types.find(shared->interned.find(name, hash_text(name)));
  return found == state_->types.end() ? nullptr : found->second;
}

void Interpreter::keep(void* thing, void (*drop)(void*)) { state_->kept.emplace_back(thing, drop); }

// --- errors and warnings

std::string Interpreter::format_exception(const Value& exception) { return format_traceback(*this, exception); }

void Interpreter::warn(ErrorKind category, std::string_view message) {
  const Value module = [&] {
    const Value* found = dict_get_text(modules_->table(), "warnings");
    return found == nullptr ? Value() : *found;
  }();
  if (!module.is_undefined()) {
    const Value function = find_attr(*this, module, intern(*this, "warn"));
    if (!function.is_undefined()) {
      call(*this, function, {make_str_lossy(*this, message), Value(error_type(*this, category))});
      return;
    }
  }
  std::string where = "<string>:1: ";
  if (const Frame* frame = vm_->top()) {
    const size_t word = static_cast<size_t>(frame->pc - frame->code->words.data()) - 1;
    const Source& source = *frame->code->source;
    where = source.name() + ":" + std::to_string(source.line_number(frame->code->places[word].span.begin)) + ": ";
  }
  const std::string text =
      where + std::string(error_type(*this, category)->name->view()) + ": " + std::string(message) + "\n";
  if (state_->warned.insert(text).second && host_->write_error) host_->write_error(text);
}

}  // namespace tessera::lang
