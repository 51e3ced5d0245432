#include "lang/objects/library_method.h"

#include <string>

#include "lang/compiler/chunk.h"
#include "lang/core/bind.h"
#include "lang/core/interpreter.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/native_refusal.h"

namespace tessera::lang {

namespace {

const Value& function_of(const NativeFunction* f) { return static_cast<const StandsBefore*>(f->data)->function; }
void drop_function(void* data) { delete static_cast<StandsBefore*>(data); }

Value call_function(Interpreter& in, const Args& args) {
  return call(in, function_of(args.callee), Args{args.values, args.count, args.keyword_names});
}

std::string doc_of_function(const NativeFunction* f) {
  if (!is_function(function_of(f))) return "";
  const Value& doc = as_function(function_of(f))->doc;
  return is_str(doc) ? std::string(text_of(doc)) : std::string();
}

// The descriptors that were made before, in a dict of the module: `Decimal.sqrt is Decimal.sqrt`.
Dict* made_before(Interpreter& in, Dict* module) {
  Str* const key = intern(in, "__methods__");
  if (dict_get_str(module, key) == nullptr) dict_set_str(in, module, key, make_dict(in));
  const Value* const made = dict_get_str(module, key);
  return is_dict(*made) ? as_dict(*made) : nullptr;
}

Value new_descriptor(Interpreter& in, Type* owner, Str* name, const Value& found) {
  const bool of_script = is_function(found);
  const NativeFunction* const native = of_script ? nullptr : known_cast<NativeFunction>(found);
  const Value made = of_script ? stand_before(in, name->view(), call_function, found)
                               : in.new_function(std::string(name->view()).c_str(), "", native->function, native->data);
  auto* const f = known_cast<NativeFunction>(made);
  if (!of_script) {
    f->text = native->text, f->signature = native->signature, f->doc = native->doc, f->describe = native->describe;
  }
  own_method(in, f, owner);
  return made;
}

// Whether the module's `__adopted__` lists the method for the class.
bool is_adopted(const Dict* module, const Type* type, const Str* name) {
  const Value* const lists = dict_get_text(module, "__adopted__");
  const Value* const names = lists != nullptr && is_dict(*lists) ? dict_get_str(as_dict(*lists), type->name) : nullptr;
  if (names == nullptr || !is_tuple(*names)) return false;
  for (const Value& each : *as_tuple(*names))
    if (is_str(each) && text_of(each) == name->view()) return true;
  return false;
}

bool speaks_as_c(Interpreter& in, const Type* type) {
  return (type->type_flags & kScriptClass) && type_name(in, type).size() != type->name->view().size();
}

}  // namespace

Value library_method(Interpreter& in, Type* type, Str* name, const Value& found) {
  if (name->view().starts_with('_') && !name->view().starts_with("__")) return Value();
  const bool of_script = is_function(found);
  if (!of_script && !is_native_method(found)) return Value();
  for (Type* each : type->mro) {
    if (!speaks_as_c(in, each)) continue;
    if (of_script && dict_get_str(each->attributes(), name) == nullptr) continue;
    Dict* module = nullptr;
    if (of_script) {
      module = as_function(found)->globals;
      if (dict_get_text(module, "__native__") == nullptr) return Value();
    } else {
      const Value* const held = dict_get_str(in.modules().table(), each->module);
      if (held == nullptr || held->as_object()->kind != ObjectKind::Module) continue;
      module = object_cast<Module>(*held)->dict;
      if (!is_adopted(module, each, name)) continue;
    }
    Dict* const made = made_before(in, module);
    if (made == nullptr) return Value();
    Str* const key = intern(in, std::string(each->name->view()) + "." + std::string(name->view()));
    if (dict_get_str(made, key) == nullptr) dict_set_str(in, made, key, new_descriptor(in, each, name, found));
    return *dict_get_str(made, key);
  }
  return Value();
}

Value stand_before(Interpreter& in, std::string_view name, NativeFn native, const Value& function, const void* with) {
  const Value made = in.new_function(std::string(name).c_str(), "", native, new StandsBefore{function, with}, drop_function);
  known_cast<NativeFunction>(made)->describe = doc_of_function;
  return made;
}

bool describes_library_method(Interpreter& in, const Value& descriptor, std::string& signature) {
  if (!descriptor.is_object() || descriptor.as_object()->kind != ObjectKind::NativeFunction) return false;
  const auto* const f = known_cast<NativeFunction>(descriptor);
  if (f->drop != drop_function || !is_function(function_of(f))) return false;
  signature = signature_in_c(in, as_function(function_of(f)), f->owner != nullptr);
  // A default that only the library knows is shown as `...` where CPython has one that can be written down.
  if (f->function != call_function)
    for (size_t at; (at = signature.find("<unrepresentable>")) != signature.npos;) signature.replace(at, 17, "...");
  return true;
}

}  // namespace tessera::lang
