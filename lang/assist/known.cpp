// compile: small (runs once for a key that is pressed)
#include "lang/assist/known.h"

#include <charconv>
#include <exception>
#include <map>

#include "lang/assist/complete.h"
#include "lang/builtins/builtins.h"
#include "lang/compiler/chunk.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"
#include "lang/vm/vm.h"

namespace tessera::lang {
namespace {

bool is_module(const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::Module; }
Module& module_of(const Value& v) { return *object_cast<Module>(v); }

const Value* own_attribute(Interpreter& in, const Value& object, std::string_view name) {
  if (!object.is_object() || object.as_object()->type->attributes_offset == 0) return nullptr;
  return find_own_attribute(object.as_object(), intern(in, name));
}

std::vector<Dict*> dicts_of(Interpreter& in, const Value& object, const Assist& assist) {
  return assist.attribute_dicts == nullptr ? std::vector<Dict*>() : assist.attribute_dicts(in, object);
}

Dict* items_of(Interpreter& in, const Value& object, const Assist& assist) {
  return assist.items == nullptr ? nullptr : assist.items(in, object);
}

Known module_attribute(Interpreter& in, Module& module, Str* name) {
  if (const Value* found = dict_get_str(module.dict, name)) return known_of(in, *found);
  if (module.missing != nullptr) {
    const Value made = module.missing(in, module, name);
    if (!made.is_undefined()) return known_of(in, made);
  }
  const Value* hook = dict_get_str(module.dict, in.names->getattr);
  if (hook != nullptr && is_of_library(*hook))
    return known_of(in, call(in, Value(*hook), {Value(static_cast<Object*>(name))}));
  return {};
}

// A class of the person's may have put something else in the place of what a getter of the library calls.
bool is_type_of_library(Type& type) {
  bool found = false;
  dict_for_each(type.attributes(), [&](const Value&, const Value& value) { found |= is_of_library(value); });
  return found;
}

// A property is asked only where its getter is native, or the library's and the object too.
Known property_of(Interpreter& in, const Property& property, const Known& object) {
  if (object.value.is_undefined() || !property.get.is_object()) return {};
  const ObjectKind kind = property.get.as_object()->kind;
  const bool native = kind == ObjectKind::NativeFunction && (object.type->type_flags & kScriptClass) == 0;
  if (!native && !is_of_library(property.get)) return {};
  if (!native && !is_type_of_library(*object.type)) return {};
  return known_of(in, call(in, Value(property.get), {object.value}));
}

Known in_class(Interpreter& in, const Value& found, const Known& object) {
  if (!found.is_object()) return known_of(in, found);
  Known answer = known_of(in, found);
  switch (found.as_object()->kind) {
    case ObjectKind::Function: answer.bound = true; return answer;
    case ObjectKind::NativeFunction:
      answer.bound = object_cast<NativeFunction>(found)->is_method();
      return answer;
    case ObjectKind::StaticMethod: return known_of(in, object_cast<StaticMethod>(found)->function);
    case ObjectKind::ClassMethod:
      answer = known_of(in, object_cast<ClassMethod>(found)->function);
      answer.bound = true;
      return answer;
    case ObjectKind::Property: return property_of(in, *object_cast<Property>(found), object);
    default: return answer;
  }
}

Known attribute_of_class(Interpreter& in, Type* type, Str* name) {
  const Value& found = type_lookup(type, name);
  Known answer = in_class(in, found, {});
  if (found.is_object() && found.as_object()->kind != ObjectKind::ClassMethod) answer.bound = false;
  return answer;
}

using KindsByName = std::map<std::string, std::string>;

// With `assist` the names' kinds too.
void add_keys(KindsByName& names, Interpreter& in, const Dict* dict, const Assist* assist) {
  dict_for_each(dict, [&](const Value& key, const Value& value) {
    if (is_str(key)) names.emplace(text_of(key), assist != nullptr ? kind_of(in, value, *assist) : "");
  });
}

void add_module_names(KindsByName& names, Interpreter& in, Module& module, const Assist& assist) {
  const bool builtin = module.dict == in.vm().builtins();
  if (builtin) complete_builtins(in);
  add_keys(names, in, module.dict, &assist);
  const Value more = make_dict(in);
  if (module.names != nullptr) module.names(in, module, as_dict(more));
  if (const Value* hook = dict_get_text(module.dict, "__dir__"); hook != nullptr && is_of_library(*hook)) {
    const Value told = list_from(in, call(in, Value(*hook)));
    for (const Value& name : *as_list(told)) dict_set(in, as_dict(more), name, Value::none());
  }
  add_keys(names, in, as_dict(more), nullptr);
}

int64_t number_of(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The item at a position of an object whose items are in a dict under the digits of their positions.
Known item_at(Interpreter& in, Dict* items, int64_t at) {
  if (at < 0) at += items->count;
  const Value* found = dict_get_text(items, std::to_string(at));
  return found == nullptr ? Known{} : known_of(in, *found);
}

Known item_under(Interpreter& in, const Dict* items, std::string_view key) {
  const Value* found = dict_get_text(items, unquoted(key));
  return found == nullptr ? Known{} : known_of(in, *found);
}

}  // namespace

bool is_of_library(const Value& function) {
  return is_function(function) && as_function(function)->code->source->name().starts_with("stdlib/");
}

std::string unquoted(std::string_view literal) {
  const size_t quote = literal.find_first_of("'\"");
  if (quote == literal.npos) return std::string(literal);
  literal.remove_prefix(quote);
  const size_t width = literal.size() >= 6 && literal.substr(0, 3) == std::string(3, literal[0]) ? 3 : 1;
  literal.remove_prefix(width);
  if (literal.size() >= width) literal.remove_suffix(width);
  std::string text;
  for (size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] == '\\' && i + 1 < literal.size()) ++i;
    text += literal[i];
  }
  return text;
}

Known known_of(Interpreter& in, Value value) {
  if (value.is_undefined()) return {};
  Type* const type = type_of(in, value);
  return {std::move(value), type, false};
}

Known known_name(Interpreter& in, std::string_view name, const Assist& assist) {
  Str* const key = intern(in, name);
  if (const Value* found = dict_get_str(in.main_module()->dict, key)) return known_of(in, *found);
  if (assist.late_name != nullptr)
    if (const Value late = assist.late_name(in, name); !late.is_undefined()) return known_of(in, late);
  const Value* found = find_builtin(in, key);
  return found == nullptr ? Known{} : known_of(in, *found);
}

Known known_attribute(Interpreter& in, const Known& object, std::string_view text, const Assist& assist) {
  Str* const name = intern(in, text);
  if (!object.value.is_undefined()) {
    if (is_module(object.value)) return module_attribute(in, module_of(object.value), name);
    if (is_type(object.value)) return attribute_of_class(in, as_type(object.value), name);
    if (const Value* own = own_attribute(in, object.value, text)) return known_of(in, *own);
    for (Dict* const dict : dicts_of(in, object.value, assist))
      if (const Value* found = dict_get_str(dict, name)) return known_of(in, *found);
  }
  if (object.type == nullptr) return {};
  const Value found = type_lookup(object.type, name);
  Type* const told = assist.type_of_attribute == nullptr ? nullptr : assist.type_of_attribute(in, object.type, text);
  if (told != nullptr) return {Value(), told, false};
  if (!found.is_undefined()) return in_class(in, found, object);
  const bool native = (object.type->type_flags & kScriptClass) == 0 && object.type->slots.get_attr != nullptr;
  return native && !object.value.is_undefined() ? known_of(in, object.type->slots.get_attr(in, object.value, name))
                                                : Known{};
}

Known known_item(Interpreter& in, const Known& object, std::string_view key, const Assist& assist) {
  const Value& value = object.value;
  if (value.is_undefined() || key.empty()) return {};
  const bool text = key.find_first_of("'\"") != key.npos;
  const int64_t number = text ? 0 : number_of(key);
  if (is_dict(value)) {
    if (text) return item_under(in, as_dict(value), key);
    const int32_t at = dict_find_int(as_dict(value), number);
    return at < 0 ? Known{} : known_of(in, as_dict(value)->entries[at].value);
  }
  if (Dict* const items = items_of(in, value, assist)) return text ? item_under(in, items, key) : item_at(in, items, number);
  if (text || !is_plain_sequence(in, value)) return {};
  Value item;
  const int64_t count = is_list(value) ? as_list(value)->size : as_tuple(value)->size;
  if (!plain_item(value, static_cast<size_t>(number < 0 ? number + count : number), item)) return {};
  return known_of(in, item);
}

Known known_answer(Interpreter& in, const Known& callee, const Assist& assist) {
  if (callee.value.is_undefined()) return {};
  if (is_type(callee.value)) return {Value(), as_type(callee.value), false};
  return {Value(), assist.type_of_answer == nullptr ? nullptr : assist.type_of_answer(in, callee.value), false};
}

Known known_primary(Interpreter& in, std::string_view text, const std::vector<Piece>& pieces, size_t last,
                    size_t& begin, const Assist& assist) {
  begin = last;
  if (last >= pieces.size()) return {};
  const Piece& piece = pieces[last];
  const std::string_view written = text.substr(piece.begin, piece.end - piece.begin);
  if (piece.kind == Piece::Kind::String) return {Value(), in.types.str, false};
  if (piece.kind == Piece::Kind::Name) {
    if (last == 0 || !pieces[last - 1].is(text, ".")) return known_name(in, written, assist);
    if (last < 2) return {};
    const Known object = known_primary(in, text, pieces, last - 2, begin, assist);
    return object.is_known() ? known_attribute(in, object, written, assist) : Known{};
  }
  const bool item = piece.is(text, "]");
  if (!item && !piece.is(text, ")")) return {};
  int depth = 0;
  size_t open = last;
  for (; open != SIZE_MAX; --open) {
    if (pieces[open].kind != Piece::Kind::Operator) continue;
    const char c = text[pieces[open].begin];
    depth += (c == ')' || c == ']' || c == '}') - (c == '(' || c == '[' || c == '{');
    if (depth == 0) break;
  }
  if (open == SIZE_MAX || open == 0) return {};
  const Piece& before = pieces[open - 1];
  if (before.kind != Piece::Kind::Name && !before.is(text, "]") && !before.is(text, ")")) {
    begin = open;
    return item ? Known{Value(), in.types.list, false} : Known{};
  }
  const Known object = known_primary(in, text, pieces, open - 1, begin, assist);
  if (!object.is_known()) return {};
  if (!item) return known_answer(in, object, assist);
  return known_item(in, object, text.substr(pieces[open].end, piece.begin - pieces[open].end), assist);
}

std::string kind_of(Interpreter& in, const Value& value, const Assist& assist) {
  if (!value.is_object()) return "name";
  switch (value.as_object()->kind) {
    case ObjectKind::Module: return "module";
    case ObjectKind::Type: return "class";
    case ObjectKind::Function:
    case ObjectKind::NativeFunction:
    case ObjectKind::StaticMethod:
    case ObjectKind::ClassMethod:
    case ObjectKind::BoundMethod: return "function";
    case ObjectKind::Property: return "property";
    default: break;
  }
  const char* const kind = assist.kind == nullptr ? nullptr : assist.kind(in, value);
  return kind == nullptr ? "name" : kind;
}

std::vector<KnownName> known_names(Interpreter& in, const Known& object, const Assist& assist) {
  KindsByName names;
  const Value& value = object.value;
  if (!value.is_undefined() && is_module(value)) {
    add_module_names(names, in, module_of(value), assist);
  } else {
    Type* const type = !value.is_undefined() && is_type(value) ? as_type(value) : object.type;
    if (value.is_object() && !is_type(value) && type->attributes_offset != 0) {
      for (Str* key : type->instance_keys)
        if (const Value* own = find_own_attribute(value.as_object(), key))
          names.emplace(key->view(), kind_of(in, *own, assist));
      const auto* attributes = reinterpret_cast<const Attributes*>(reinterpret_cast<const char*>(value.as_object()) +
                                                                   type->attributes_offset);
      if (attributes->dict != nullptr) add_keys(names, in, attributes->dict, &assist);
      for (const Dict* dict : dicts_of(in, value, assist)) add_keys(names, in, dict, &assist);
    }
    for (Type* base : type->mro) add_keys(names, in, base->attributes(), &assist);
  }
  std::vector<KnownName> answer;
  answer.reserve(names.size());
  for (auto& [name, kind] : names) answer.push_back({name, kind});
  return answer;
}

std::vector<std::string> known_keys(Interpreter& in, const Known& object, const Assist& assist) {
  std::vector<std::string> keys;
  const Value& value = object.value;
  if (value.is_undefined()) return keys;
  const Dict* const dict = is_dict(value) ? as_dict(value) : items_of(in, value, assist);
  if (dict != nullptr)
    dict_for_each(dict, [&](const Value& key, const Value&) {
      if (is_str(key)) keys.emplace_back(text_of(key));
    });
  return keys;
}

}  // namespace tessera::lang
