// Finding and running modules. The order of search: sys.modules, native, embedded, files beside the importer or on the path.
// compile: small (a module is found once, and what it runs takes longer)
//
// Note [Finders]: sys.meta_path and sys.path_hooks are made when a program reads them (sys.tsr). As long as they hold only the finders and
// hooks of the program itself, their answer is known, and the search here gives it without a call of script code. If a program has
// changed one of them, or if a ZIP file stands on the path, importlib.util does what CPython's import does (load_by_finders). Finders that a
// program has put behind those of the program itself are asked only for what the search here does not find.
// compile: few-inlines (no faster with more inlines)
#include "lang/objects/module.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/objects/code_cache.h"
#include "lang/builtins/builtins.h"
#include "lang/compiler/compile.h"
#include "lang/objects/exception.h"
#include "lang/core/files.h"
#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/syntax/source.h"
#include "lang/syntax/source_encoding.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/allow_others.h"
#include "lang/vm/provenance.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

void destroy_module(Interpreter& in, Object* object) {
  Module* const module = known_cast<Module>(object);
  if (module->dict != nullptr && --module->dict->refcount == 0) destroy_object(module->dict);
  if (module->name != nullptr && --module->name->refcount == 0) destroy_object(module->name);
  free_object(in, module);
}

void traverse_module(Object* object, Visitor& visitor) {
  visitor(static_cast<Object*>(known_cast<Module>(object)->dict));
}

void clear_module(Interpreter& in, Object* object) {
  if (Dict* const dict = known_cast<Module>(object)->dict) dict_clear(in, dict);
}

// None where the module's dict lacks the name.
Value module_entry(Interpreter& in, const Module* module, const char* name) {
  const Value* found = dict_get_str(module->dict, intern(in, name));
  return found == nullptr ? Value::none() : *found;
}

std::string repr_of_name(Interpreter& in, const Value& name) {
  return name.is_undefined() || name.is_none() ? "'?'" : repr_text(in, name);
}

// <module 'm' from 'file'>, or by its __spec__ or its __loader__ where it has one.
Value module_repr(Interpreter& in, const Value& self) {
  const Value keep = self;
  const Module* module = object_cast<Module>(self);
  const Value spec = module_entry(in, module, "__spec__"), loader = module_entry(in, module, "__loader__");
  const auto asked = [&](const Value& of, const char* name) { return find_attr(in, of, intern(in, name)); };
  if (!spec.is_none() && truth(in, spec)) {
    const std::string name = repr_of_name(in, asked(spec, "name"));
    const Value origin = asked(spec, "origin"), by = asked(spec, "loader"), has_location = asked(spec, "has_location");
    if (origin.is_undefined() || origin.is_none()) {
      const bool bare = by.is_undefined() || by.is_none();
      return make_str(in, "<module " + name + (bare ? ">" : " (" + repr_text(in, by) + ")>"));
    }
    const bool located = !has_location.is_undefined() && truth(in, has_location);
    return make_str(in, "<module " + name + (located ? " from " + repr_text(in, origin) : " (" + str_text(in, origin) + ")") + ">");
  }
  if (const Value told = loader.is_none() ? Value() : asked(loader, "module_repr"); !told.is_undefined()) {
    try {
      return call(in, told, {keep});
    } catch (const std::exception&) {  // the loader has nothing to say then
      if (!is_error(in, current_native_exception(in), ErrorKind::Exception)) throw;
    }
  }
  const std::string start = "<module " + repr_of_name(in, module_entry(in, module, "__name__"));
  if (const Value file = module_entry(in, module, "__file__"); !file.is_none())
    return make_str(in, start + " from " + repr_text(in, file) + ">");
  if (!loader.is_none()) return make_str(in, start + " (" + repr_text(in, loader) + ")>");
  // Import gives native modules a package; a module that a script has made has none.
  return make_str(in, start + (module_entry(in, module, "__package__").is_none() ? ">" : " (built-in)>"));
}

// The file that holds a module: x.tsr, x.py, or a package's __init__. `is_folder`: there is a folder of the name.
bool find_in_folder(Files& files, const std::string& base, bool is_folder, std::string& path, bool& is_package) {
  for (const char* extension : {".tsr", ".py"}) {
    for (const bool package : {true, false}) {
      if (package && !is_folder) continue;
      path = base + (package ? "/__init__" : "") + extension;
      is_package = package;
      if (files.is_file(path)) return true;
    }
  }
  return false;
}

// A ZIP file, or what would be a folder in one.
bool is_in_file(Files& files, std::string_view path) {
  for (; !path.empty() && !files.is_folder(path); path = path.substr(0, path.find_last_of('/') == path.npos ? 0 : path.find_last_of('/')))
    if (files.is_file(path)) return true;
  return false;
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::string module_place(Interpreter& in, const Dict* dict) {
  const Value* file = dict_get_str(dict, in.names->file);
  return file != nullptr && is_str(*file) ? std::string(text_of(*file)) : "unknown location";
}

bool is_module(const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::Module; }
Module* as_module(const Value& v) { return object_cast<Module>(v); }

// Takes the frames of importlib out of a traceback, as CPython does, unless nothing but them would say where an error comes from.
void drop_finder_frames(Interpreter& in, const Value& exception) {
  const auto is_finders = [](const Value& entry) {
    return known_cast<Traceback>(entry)->code->source->name().starts_with("stdlib/python/importlib/");
  };
  Value* place = &as_exception(exception)->traceback;
  Value last = *place;
  while (last.is_object() && known_cast<Traceback>(last)->next.is_object()) last = Value(known_cast<Traceback>(last)->next);
  if (!last.is_object() || (is_finders(last) && !is_error(in, exception, ErrorKind::ImportError))) return;
  while (place->is_object()) {
    if (is_finders(*place)) *place = Value(known_cast<Traceback>(*place)->next);
    else place = &known_cast<Traceback>(*place)->next;
  }
}

// While its body runs, aux is 1.
bool is_initialising(const Module* module) { return module->aux != 0; }

// __spec__ and __loader__ of a module that was made of a text, which few programs ask for: importlib.util makes them then.
Value make_spec(Interpreter& in, Module& module, Str* name) {
  if (name != in.names->spec && name != in.names->loader) return Value();
  call(in, get_attr(in, Value(in.import("importlib.util")), intern(in, "_give_spec")), {Value(static_cast<Object*>(&module))});
  const Value* const made = dict_get_str(module.dict, name);
  return made == nullptr ? Value::none() : *made;
}

void add_spec_names(Interpreter& in, Module&, Dict* names) {
  for (Str* const name : {in.names->spec, in.names->loader}) dict_set_str(in, names, name, Value::none());
}

constexpr std::string_view kMachineLibrary = "/usr/lib/python3.";

// The entries of sys.path under which a package of the standard library inside of the program may have modules that it lacks.
void add_machine_folders(Interpreter& in, std::string_view package, List* folders) {
  constexpr std::string_view kInside = "stdlib/python/";
  if (!package.starts_with(kInside) || !in.limits.imports_of_files) return;
  for (const std::string& each : in.search_path)
    if (each.starts_with(kMachineLibrary) && each.find('/', kMachineLibrary.size()) == each.npos)
      list_append(in, folders, make_str_lossy(in, each + "/" + std::string(package.substr(kInside.size()))));
}

// Is it a module of Python's standard library, and has sys.path no library of the machine that would have it?
bool is_of_absent_library(Interpreter& in, std::string_view name) {
  for (const std::string& each : in.search_path)
    if (each.starts_with(kMachineLibrary)) return false;
  std::string path;
  bool is_package = false;
  const std::optional<std::string> names = in.host().embedded_module ? in.host().embedded_module("_stdlib_names", path, is_package) : std::nullopt;
  if (!names) return false;
  const std::string top(name.substr(0, name.find('.')));
  const auto is_break = [](char c) { return c == ' ' || c == '\n'; };
  for (size_t at = 0; (at = names->find(top, at)) != names->npos; ++at)
    if (at > 0 && is_break((*names)[at - 1]) && is_break((*names)[at + top.size()])) return true;
  return false;
}

}  // namespace

void name_module(Interpreter& in, Module& module, std::string_view name) {
  Str* const old = std::exchange(module.name, intern(in, name));
  ++module.name->refcount;
  if (old != nullptr) const Value let_go = Value::adopt(old);
  dict_set_str(in, module.dict, in.names->name, Value(module.name));
}

Module* make_module(Interpreter& in, std::string_view name, Type* type) {
  Module* const module = make_object<Module>(in, type != nullptr ? type : in.types.module);
  module->name = intern(in, name);
  ++module->name->refcount;
  module->dict = new_dict(in);
  const std::string_view parent = name.find('.') == std::string_view::npos ? "" : name.substr(0, name.rfind('.'));
  dict_set_str(in, module->dict, in.names->name, Value(module->name));
  dict_set_str(in, module->dict, in.names->doc, Value::none());
  dict_set_str(in, module->dict, in.names->package, name == "__main__" ? Value::none() : make_str(in, parent));
  dict_set_str(in, module->dict, in.names->loader, Value::none());
  dict_set_str(in, module->dict, in.names->spec, Value::none());
  return module;
}

Modules::Modules(Interpreter& in) : in_(in), table_(new_dict(in)) {
  native_.reserve(64);
  TypeSlots& slots = in.types.module->slots;
  slots.destroy = destroy_module;
  slots.traverse = traverse_module;
  slots.clear = clear_module;
  slots.repr = module_repr;
}

Modules::~Modules() {
  dict_clear(in_, table_);
  if (--table_->refcount == 0) destroy_object(table_);
}

Module* Modules::find(std::string_view name) {
  const Value* found = dict_get_text(table_, name);
  return found != nullptr && is_module(*found) ? as_module(*found) : nullptr;
}

std::vector<std::string_view> Modules::native_names() const {
  std::vector<std::string_view> names;
  for (const NativeModule& native : native_) names.push_back(native.name);
  return names;
}

// For the length of a block a step stands in its list. Other threads change the list meanwhile.
class Modules::Noted {
 public:
  Noted(std::vector<Step>& list, const Step& step) : list_(list), step_(step) { list_.push_back(step); }
  ~Noted() { list_.erase(std::find(list_.begin(), list_.end(), step_)); }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

 private:
  std::vector<Step>& list_;
  const Step step_;
};

const Thread* Modules::maker_of(const Module* module) const {
  for (const Step& step : making_)
    if (step.module == module) return step.thread;
  return nullptr;
}

// Would a wait for the module, which `maker` runs, wait for this thread itself, over the waits of others?
bool Modules::waits_for_self(const Thread* maker) const {
  const Thread* const self = &in_.threads().current();
  for (size_t length = 0; maker != nullptr && maker != self && length <= waiting_.size(); ++length) {
    const auto step = std::find_if(waiting_.begin(), waiting_.end(), [&](const Step& each) { return each.thread == maker; });
    if (step == waiting_.end()) return false;
    maker = maker_of(step->module);
  }
  return maker != nullptr;
}

// A module whose body runs in another thread is given when that has ended, as by CPython's locks of modules. Two threads that wait for each
// other's modules have them unfinished.
Value Modules::wait_until_made(std::string_view name, const Value& found) {
  if (!is_module(found) || !is_initialising(as_module(found)) || in_.threads().alone()) return found;
  const Value held = found;
  const Module* const module = as_module(held);
  const Thread* const maker = maker_of(module);
  if (maker == nullptr || waits_for_self(maker)) return held;
  {
    const Noted waits(waiting_, {module, &in_.threads().current()});
    while (is_initialising(module)) {
      {
        AllowOthers others(in_);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      in_.poll();
    }
  }
  return dict_get_text(table_, name) != nullptr ? held : import(name);  // its body has failed in the other thread
}

Value Modules::import(std::string_view name) {
  if (const Value* ready = dict_get_text(table_, name)) {
    if (!ready->is_none()) return wait_until_made(name, *ready);
    throw_import_error(in_, ErrorKind::ModuleNotFoundError, make_str(in_, name),
                       "import of " + std::string(name) + " halted; None in sys.modules");
  }
  Module* parent = nullptr;
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) {
    in_.vm().check_native_stack();  // a.a.a… as far as it goes
    const Value above = import(name.substr(0, dot));
    if (const Value* ready = dict_get_text(table_, name)) return *ready;  // the parent has made it
    if (is_module(above)) parent = as_module(above);
    else if (find_attr(in_, above, in_.names->path).is_undefined())
      throw_import_error(in_, ErrorKind::ModuleNotFoundError, make_str(in_, name),
                         "No module named '" + std::string(name) + "'; '" + std::string(name.substr(0, dot)) + "' is not a package");
  }
  const Value loaded = load(name, parent);
  // A module may put something else in its place, and is gone then.
  const Value* in_table = dict_get_text(table_, name);
  const Value made = in_table != nullptr ? *in_table : loaded;
  if (parent != nullptr) dict_set_str(in_, parent->dict, intern(in_, last_part(name)), made);
  return made;
}

struct Modules::Text {
  std::string text, path;
  bool is_package = false;
  std::vector<std::string> folders;  // of a package without a text: its parts
  EmbeddedFile embedded;             // unless its `read` is null, the text is not here yet
};

// `later`: the text is not needed if its compiled code is kept.
bool Modules::find_embedded(std::string_view name, Text& found, bool later) {
  if (later && in_.host().keeps_code && in_.host().embedded_file) {
    if (!in_.host().embedded_file(name, found.embedded)) return false;
    found.path = found.embedded.path;
    found.is_package = found.embedded.is_package;
    return true;
  }
  if (!in_.host().embedded_module) return false;
  std::optional<std::string> text = in_.host().embedded_module(name, found.path, found.is_package);
  if (text) found.text = std::move(*text);
  return text.has_value();
}

Modules::Found Modules::find_text(std::string_view name, Module* parent, Text& found, bool later) {
  const Host& host = in_.host();
  const bool files = in_.limits.imports_of_files, yields = files && host.embedded_yields && host.embedded_yields(name);
  if (!yields && find_embedded(name, found, later)) return Found::Text;
  if (!files) return Found::Nothing;
  const Found how = find_file(name, parent, found);
  if (how == Found::Nothing && yields && find_embedded(name, found, later)) return Found::Text;
  if (how != Found::Text) return how;
  if (!found.folders.empty()) {
    found.path = found.folders[0] + "/__init__.py";
    return Found::Text;
  }
  std::string text;
  in_.host().files->read_all(found.path, text);
  found.text = decode_source(std::move(text));
  return Found::Text;
}

const NativeModule* Modules::find_native(std::string_view name) const {
  for (const NativeModule& native : native_)
    if (native.name == name) return &native;
  return nullptr;
}

Value Modules::load(std::string_view name, Module* parent) {
  const Finders finders = this->finders();
  bool by_finders = finders != Finders::Own;
  if (finders != Finders::Changed) {
    if (const NativeModule* native = find_native(name)) return Value(load_native(*native));
    Text source;
    const Found how = find_text(name, parent, source, true);
    if (how == Found::Text) return load_source(name, source);
    by_finders |= how == Found::ByFinders;
  }
  if (by_finders) {
    if (Value loaded = load_by_finders(name); !loaded.is_none()) return loaded;
  }
  std::string message = "No module named '" + std::string(name) + "'";
  if (parent != nullptr && find_attr(in_, Value(parent), in_.names->path).is_undefined())
    message += "; '" + std::string(parent->name->view()) + "' is not a package";
  else if (in_.limits.imports_of_files && name[0] != '_' && is_of_absent_library(in_, name))
    message += "; the Python library of the machine has it (Debian: apt install libpython3-stdlib)";
  throw_import_error(in_, ErrorKind::ModuleNotFoundError, make_str(in_, name), std::move(message));
}

Value Modules::load_inside(std::string_view name) {
  if (const NativeModule* native = find_native(name)) return Value(load_native(*native));
  Text source;
  if (!find_embedded(name, source, true)) return Value::none();
  const Value loaded = load_source(name, source);
  const Value* const in_table = dict_get_text(table_, name);
  return in_table != nullptr ? *in_table : loaded;
}

// Note [Finders]
Modules::Finders Modules::finders() {
  Module* const sys = plain_ ? nullptr : find("sys");
  if (sys == nullptr) return Finders::Own;
  Finders found = Finders::Own;
  for (const auto& [list, own] : {std::pair("meta_path", "_own_finders"), std::pair("path_hooks", "_own_hooks")}) {
    const Value* const now = dict_get_text(sys->dict, list);
    if (now == nullptr) continue;
    const Value* const first = dict_get_text(sys->dict, own);
    if (first == nullptr || !is_list(*now) || !is_tuple(*first) || as_list(*now)->size < as_tuple(*first)->size) return Finders::Changed;
    for (uint32_t i = 0; i < as_tuple(*first)->size; ++i)
      if (!as_list(*now)->items[i].is(as_tuple(*first)->items[i])) return Finders::Changed;
    if (as_list(*now)->size == as_tuple(*first)->size) continue;
    if (list == std::string_view("path_hooks")) return Finders::Changed;  // entries of sys.path that only a hook knows stand in front of others
    found = Finders::OwnFirst;
  }
  return found;
}

Value Modules::load_by_finders(std::string_view name) {
  const bool before = std::exchange(plain_, true);
  Value loader;
  try {
    loader = get_attr(in_, import("importlib.util"), intern(in_, "_load_by_finders"));
  } catch (...) {
    plain_ = before;
    throw;
  }
  plain_ = before;
  try {
    return call(in_, loader, {make_str(in_, name)});
  } catch (const Thrown& thrown) {
    drop_finder_frames(in_, thrown.exception);
    throw;
  }
}

Modules::Main Modules::find_main(std::string_view name) {
  if (name.starts_with('.')) return {};  // runpy refuses a relative name
  const auto above = [&](std::string_view package) {
    const Value made = import(package);
    return is_module(made) ? as_module(made) : nullptr;
  };
  const auto refuse = [&](std::string message) {
    throw_import_error(in_, ErrorKind::ImportError, make_str(in_, name), std::move(message));
  };
  const size_t dot = name.rfind('.');
  const std::string_view package = dot == name.npos ? std::string_view() : name.substr(0, dot);
  const std::string quoted(name);
  Text found;
  const Found how = find_text(name, package.empty() ? nullptr : above(package), found);
  if (how == Found::ByFinders) return {};  // no path: importlib knows how to run it
  if (how == Found::Nothing) {
    if (find_native(name) != nullptr) refuse("No code object available for " + quoted);
    refuse("No module named " + quoted);
  }
  if (!found.is_package) return {std::move(found.text), std::move(found.path), std::string(package)};
  Text main;
  if (find_text(quoted + ".__main__", above(name), main) != Found::Text || main.is_package)
    refuse("No module named " + quoted + ".__main__; '" + quoted + "' is a package and cannot be directly executed");
  return {std::move(main.text), std::move(main.path), quoted};
}

void Modules::reload(Module* module) {
  const std::string name(module->name->view());
  const Value key = make_str(in_, name);
  if (find(name) != module)
    throw_import_error(in_, ErrorKind::ImportError, key, "module " + name + " not in sys.modules");
  if (find_native(name) != nullptr) return;
  const size_t dot = name.rfind('.');
  Module* const parent = dot == std::string::npos ? nullptr : find(std::string_view(name).substr(0, dot));
  if (dot != std::string::npos && parent == nullptr)
    throw_import_error(in_, ErrorKind::ImportError, key, "parent '" + name.substr(0, dot) + "' not in sys.modules");
  Text source;
  if (find_text(name, parent, source, true) != Found::Text)
    throw_import_error(in_, ErrorKind::ModuleNotFoundError, key, "spec not found for the module '" + name + "'");
  run_body(module, source);
}

Module* Modules::load_native(NativeModule native) {
  const std::string_view name = native.name;
  Module* const module = make_module(in_, name);
  const Value keep = Value::adopt(module);
  dict_set_str(in_, table_, intern(in_, name), keep);
  const std::string prefix = std::string(name) + ".";
  for (const NativeModule& other : native_) module->is_package = module->is_package || other.name.starts_with(prefix);
  try {
    native.fill(in_, *module);
  } catch (...) {  // the next import is to say the same, and not to find half a module
    dict_delete_str(in_, table_, intern(in_, name));
    throw;
  }
  if (module->is_package) {  // finders on sys.meta_path look for its modules by its __path__
    const Value folders = make_list(in_);
    list_append(in_, as_list(folders), make_str(in_, "stdlib/" + std::string(name)));
    dict_set_str(in_, module->dict, in_.names->path, folders);
    dict_set_str(in_, module->dict, in_.names->package, make_str(in_, name));
  }
  std::vector<Type*> types;
  dict_for_each(module->dict, [&](const Value&, const Value& value) {
    if (!value.is_object() || value.as_object()->kind != ObjectKind::Type) return;
    Type* const type = object_cast<Type>(value);
    if (!(type->type_flags & (kScriptClass | kExceptionType))) types.push_back(type);
  });
  for (Type* type : types) {
    if (!type->is_filled()) type->type_flags |= kCompletesLater;
    else if (dict_get_str(type->attributes(), in_.names->new_) == nullptr) complete_special_methods(in_, type);
  }
  return module;
}

Value Modules::load_source(std::string_view name, const Text& source) {
  Module* const module = make_module(in_, name);
  const Value keep = Value::adopt(module);
  module->is_package = source.is_package;
  module->missing = make_spec;
  module->names = add_spec_names;
  for (Str* const each : {in_.names->spec, in_.names->loader}) dict_delete_str(in_, module->dict, each);
  const Host& host = in_.host();
  if (host.flags.verbose > 0 && host.write_error) host.write_error("import '" + std::string(name) + "' # " + source.path + "\n");
  if (source.folders.empty()) dict_set_str(in_, module->dict, in_.names->file, make_str_lossy(in_, source.path));
  if (source.is_package) {
    const Value folders = make_list(in_);
    for (const std::string& folder : source.folders) list_append(in_, as_list(folders), make_str_lossy(in_, folder));
    if (source.folders.empty()) {
      const std::string folder = source.path.substr(0, source.path.rfind('/'));
      list_append(in_, as_list(folders), make_str_lossy(in_, folder));
      add_machine_folders(in_, folder, as_list(folders));
    }
    dict_set_str(in_, module->dict, in_.names->path, folders);
    dict_set_str(in_, module->dict, in_.names->package, make_str(in_, name));
  }
  Str* const key = intern(in_, name);
  dict_set_str(in_, table_, key, keep);
  try {
    run_body(module, source);
  } catch (...) {
    dict_delete_str(in_, table_, key);
    throw;
  }
  return keep;
}

void Modules::run_body(Module* module, const Text& source) {
  const EmbeddedFile& embedded = source.embedded;
  const auto text = embedded.read != nullptr ? std::make_shared<Source>(source.path, embedded.read, embedded.of) : std::make_shared<Source>(source.path, source.text);
  const Value code = code_of_file(in_, text, CompileMode::Module, embedded.read != nullptr ? &embedded : nullptr);
  dict_set_str(in_, module->dict, in_.names->builtins_, Value(in_.vm().builtins()));
  const Value body = make_function(in_, object_cast<Code>(code), module->dict);
  if (!source.path.starts_with("stdlib/")) {
    watch_names(module->dict);
    // A text that names them as globals finds them in the dict.
    for (const Str* const name : {in_.names->spec, in_.names->loader})
      if (source.text.find(name->view()) != source.text.npos) {
        get_attr(in_, Value(static_cast<Object*>(module)), in_.names->spec);
        break;
      }
  }
  module->aux = 1;
  try {
    const Noted makes(making_, {module, &in_.threads().current()});
    call(in_, body);
  } catch (...) {
    module->aux = 0;
    throw;
  }
  module->aux = 0;
}

// The __path__ of the package above, or sys.path, which the program may have changed.
std::vector<std::string> Modules::folders_for(Module* parent) {
  Module* const sys = parent != nullptr ? nullptr : find("sys");
  if (parent == nullptr && sys == nullptr) return in_.search_path;
  const Value* const found = parent != nullptr ? dict_get_str(parent->dict, in_.names->path) : dict_get_text(sys->dict, "path");
  if (found == nullptr || !is_list(*found)) return parent != nullptr ? std::vector<std::string>() : in_.search_path;
  std::vector<std::string> folders;
  for (const Value& folder : *as_list(*found))
    if (is_str(folder)) folders.emplace_back(text_of(folder));
  return folders;
}

// Folders of the name without __init__ make a package together, unless one of the paths has a file for the module.
Modules::Found Modules::find_file(std::string_view name, Module* parent, Text& found) {
  Files& files = *in_.host().files;
  for (const std::string& folder : folders_for(parent)) {
    const std::string base = (folder.empty() ? std::string() : folder + "/") + std::string(last_part(name));
    const bool is_folder = files.is_folder(base);
    if (find_in_folder(files, base, is_folder, found.path, found.is_package)) {
      found.folders.clear();
      return Found::Text;
    }
    if (!plain_ && (files.is_file(base + ".pyc") || (is_folder && files.is_file(base + "/__init__.pyc")))) return Found::ByFinders;
    if (is_folder) found.folders.push_back(base);
    else if (!plain_ && is_in_file(files, folder)) return Found::ByFinders;
  }
  found.is_package = !found.folders.empty();
  return found.folders.empty() ? Found::Nothing : Found::Text;
}

std::string Modules::absolute_name(const Dict* globals, std::string_view name, uint32_t level) {
  if (level == 0) return std::string(name);
  const Value* package = globals == nullptr ? nullptr : dict_get_str(globals, in_.names->package);
  std::string base = package != nullptr && is_str(*package) ? std::string(text_of(*package)) : "";
  if (base.empty()) {
    throw_import_error(in_, ErrorKind::ImportError, Value::none(),
                       "attempted relative import with no known parent package");
  }
  for (uint32_t i = 1; i < level; ++i) {
    const size_t dot = base.rfind('.');
    if (dot == std::string::npos) {
      throw_import_error(in_, ErrorKind::ImportError, Value::none(),
                         "attempted relative import beyond top-level package");
    }
    base.resize(dot);
  }
  return name.empty() ? base : base + "." + std::string(name);
}

// An object that a program has put into sys.modules.
Value Modules::import_from_object(const Value& object, Str* name) {
  const Value shown = find_attr(in_, object, in_.names->name);
  if (is_str(shown)) {
    const Value* ready = dict_get_text(table_, std::string(text_of(shown)) + "." + std::string(name->view()));
    if (ready != nullptr) return *ready;
  }
  const std::string called = is_str(shown) ? quote(text_of(shown)) : "'<unknown module name>'";
  throw_import_error(in_, ErrorKind::ImportError, is_str(shown) ? shown : Value::none(),
                     "cannot import name '" + std::string(name->view()) + "' from " + called + " (unknown location)");
}

// The module `name` of a package; Undefined where there is none.
Value Modules::import_submodule(const Value& package, Str* name) {
  const std::string full =
      std::string(as_module(package)->name->view()) + "." + std::string(name->view());
  if (const Value* ready = dict_get_text(table_, full)) return *ready;
  try {
    return import(full);
  } catch (const Thrown& thrown) {
    // Only "there is no such submodule" means that the name is missing; what a submodule raises is its own.
    const bool missing = is_error(in_, thrown.exception, ErrorKind::ModuleNotFoundError) &&
                         is_str(as_exception(thrown.exception)->fields[1]) &&
                         text_of(as_exception(thrown.exception)->fields[1]) == full;
    if (!missing) throw;
  }
  return Value();
}

Value Modules::import_from(const Value& module, Str* name) {
  Value found = find_attr(in_, module, name);
  if (!found.is_undefined()) return found;
  if (!is_module(module)) return import_from_object(module, name);
  const Module* from = as_module(module);
  if (Value submodule = import_submodule(module, name); !submodule.is_undefined()) return submodule;
  throw_import_error(in_, ErrorKind::ImportError, Value(from->name),
                     "cannot import name '" + std::string(name->view()) + "' from " +
                         (is_initialising(from) ? "partially initialized module " : "") + "'" +
                         std::string(from->name->view()) + "'" +
                         (is_initialising(from) ? " (most likely due to a circular import)" : "") + " (" +
                         module_place(in_, from->dict) + ")");
}

void Modules::import_star(const Value& module, const Value& into) {
  const auto store = [&](Str* name, Value value) {
    if (into.as_object()->type == in_.types.dict) dict_set_str(in_, as_dict(into), name, std::move(value));
    else set_item(in_, into, Value(name), value);
  };
  const Value all = find_attr(in_, module, in_.names->all);
  if (!all.is_undefined()) {
    for_each(in_, all, [&](const Value& name) {
      if (!is_str(name))
        throw_error(ErrorKind::TypeError, "Item in %s.__all__ must be str, not %s", "module",
                    std::string(type_name(in_, name)).c_str());
      Str* const key = intern(in_, text_of(name));
      Value value = find_attr(in_, module, key);
      if (value.is_undefined() && is_module(module)) {
        throw_error(ErrorKind::AttributeError, "module '%s' has no attribute '%s'",
                    std::string(as_module(module)->name->view()).c_str(), std::string(key->view()).c_str());
      }
      if (value.is_undefined()) value = get_attr(in_, module, key);  // raises
      store(key, std::move(value));
    });
    return;
  }
  if (is_module(module) && as_module(module)->dict == in_.vm().builtins()) complete_builtins(in_);
  const Value own = is_module(module) ? Value(static_cast<Object*>(as_module(module)->dict)) : find_attr(in_, module, in_.names->dict_);
  if (own.is_undefined())
    throw Error(ErrorKind::ImportError, "from-import-* object has no __dict__ and no __all__");
  const Value names = is_dict(own) ? dict_copy(in_, as_dict(own)) : call(in_, Value(in_.types.dict), {own});
  for (uint32_t i = 0; i < as_dict(names)->used; ++i) {
    const DictEntry& entry = as_dict(names)->entries[i];
    if (!is_str(entry.key) || text_of(entry.key).starts_with('_')) continue;
    store(as_str(entry.key), entry.value);
  }
}

}  // namespace tessera::lang
