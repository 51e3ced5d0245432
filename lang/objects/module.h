// Modules and import: embedded, native, files beside the script, packages.
//
// sys.modules is an ordinary dict that scripts may read and change; everything that is imported stands in it from before
// its first statement runs, so that a cycle of imports ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/object.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;
struct Str;
struct Dict;

struct Module : GcObject {
  static constexpr ObjectKind kKind = ObjectKind::Module;
  Str* name = nullptr;
  Dict* dict = nullptr;  // owned: globals of its functions
  // Asked for names that the dict lacks; what it answers is stored there. Undefined: no such name.
  Value (*missing)(Interpreter& in, Module& module, Str* name) = nullptr;
  // Adds the names that `missing` would answer, for dir(). May be null.
  void (*names)(Interpreter& in, Module& module, Dict* into) = nullptr;
  bool is_package = false;
};

struct NativeModule {
  using Fill = void (*)(Interpreter& in, Module& module);
  std::string_view name;
  Fill fill;
};

class Thread;

class Modules {
 public:
  explicit Modules(Interpreter& in);
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  // The name is not copied: a literal.
  void add_native(std::string_view name, NativeModule::Fill fill) { native_.push_back({name, fill}); }

  // `import a.b.c` with the importing module's globals (for relative imports; may be null): answers a.b.c.
  Value import(std::string_view absolute_name);
  // Finds its text again and runs that over the names which the module has; one of native code stays as it is.
  void reload(Module* module);
  // The name that `from ..x import y` (level 2, "x") means in a module with these globals.
  std::string absolute_name(const Dict* globals, std::string_view name, uint32_t level);
  // `from module import name`: attribute, then submodule; ImportError as CPython's.
  Value import_from(const Value& module, Str* name);
  Value import_from_object(const Value& object, Str* name);
  // `from module import *` into the globals.
  Value import_submodule(const Value& package, Str* name);
  void import_star(const Value& module, const Value& names);

  // The program that `-m name` means: the module, or a package's __main__. Imports the packages above it. ImportError without one.
  struct Main {
    std::string text, path;
    std::string package;  // its __package__
  };
  Main find_main(std::string_view name);

  // Names of the native modules, for completion.
  std::vector<std::string_view> native_names() const;

  Dict* table() { return table_; }  // sys.modules
  Module* find(std::string_view name);
  // Loads a native or embedded module without asking sys.meta_path. Returns the module's entry of sys.modules (a module may replace itself
  // there), or None if the program has no such module.
  Value load_inside(std::string_view name);

 private:
  struct Text;
  enum class Found : uint8_t { Nothing, Text, ByFinders };
  bool find_embedded(std::string_view name, Text& found, bool later);
  Found find_text(std::string_view name, Module* parent, Text& found, bool later = false);
  const NativeModule* find_native(std::string_view name) const;
  Value load(std::string_view name, Module* parent);
  enum class Finders : uint8_t { Own, OwnFirst, Changed };
  Finders finders();
  Value load_by_finders(std::string_view name);
  Module* load_native(NativeModule native);
  Value load_source(std::string_view name, const Text& source);  // a reference of its own: the module may have left sys.modules
  std::vector<std::string> folders_for(Module* parent);
  Found find_file(std::string_view name, Module* parent, Text& found);
  void run_body(Module* module, const Text& source);
  // Modules among threads: what a thread runs the body of, or waits for.
  struct Step {
    const Module* module;
    const Thread* thread;
    bool operator==(const Step&) const = default;
  };
  class Noted;
  const Thread* maker_of(const Module* module) const;
  bool waits_for_self(const Thread* maker) const;
  Value wait_until_made(std::string_view name, const Value& found);

  Interpreter& in_;
  Dict* table_;
  std::vector<NativeModule> native_;
  std::vector<Step> making_, waiting_;
  bool plain_ = false;  // sys.meta_path is not asked: the module that asks it is being imported itself
};

// A module object with __name__, __doc__, __package__ and so on in its dict; not in sys.modules. `type`: ModuleType or below.
Module* make_module(Interpreter& in, std::string_view name, Type* type = nullptr);
// The attribute of a module, its __getattr__ included; Undefined if it has none.
Value find_module_attribute(Interpreter& in, Module& module, Str* name);
void name_module(Interpreter& in, Module& module, std::string_view name);

}  // namespace tessera::lang
