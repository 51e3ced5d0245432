// _contextvars: variables whose values belong to a context, which Context.run() enters.
//
// A context is a dict from variables to values. Copies share the dict until one of them sets a variable, so that
// copy_context(), which every task and callback of an event loop takes, costs one object.
// compile: small (entered once for a task)
#include <cstdio>
#include <string>

#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/exception.h"
#include "lang/types/setup.h"
#include "lang/types/types.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

struct Context : GcObject {
  Value values;    // a dict, shared with copies if it has other references; Undefined: empty
  Value previous;  // the context that was current when this one was entered
  bool entered = false;
};

struct ContextVar : GcObject {
  Value name;
  Value default_value;  // Undefined: none
};

struct Token : GcObject {
  Value context, variable;
  Value old_value;  // Undefined: the variable had none
  bool used = false;
};

// The types, found through the method that is called: each row of this module has them as its data.
struct ContextTypes {
  Type *context, *variable, *token;
  Value missing;
};

constexpr char kContextLayout[] = "contextvars.Context";
constexpr char kVariableLayout[] = "contextvars.ContextVar";
constexpr char kTokenLayout[] = "contextvars.Token";

Context* context_of(const Value& v) { return object_cast<Context>(v); }
ContextVar* variable_of(const Value& v) { return object_cast<ContextVar>(v); }
Token* token_of(const Value& v) { return object_cast<Token>(v); }

std::string address_of(const Object* object) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", static_cast<const void*>(object));
  return text;
}

ContextTypes& types_of(Interpreter& in) { return *static_cast<ContextTypes*>(in.shared->context_types); }

Value new_context(Interpreter& in) { return Value::adopt(make_object<Context>(in, types_of(in).context)); }

// A reference that stays while the context may be left.
Value current_context(Interpreter& in) {
  if (in.shared->context.is_undefined()) in.shared->context = new_context(in);
  return in.shared->context;
}

Value copy_of(Interpreter& in, const Value& context) {
  Value made = new_context(in);
  context_of(made)->values = context_of(context)->values;
  return made;
}

const Value* find(Interpreter& in, const Context* context, const Value& variable) {
  if (context->values.is_undefined()) return nullptr;
  return dict_get(in, as_dict(context->values), variable);
}

// The context's dict, of which nobody else has a reference.
Dict* own_values(Interpreter& in, Context* context) {
  if (context->values.is_undefined()) {
    context->values = make_dict(in);
  } else if (context->values.as_object()->refcount > 1) {
    context->values = dict_copy(in, as_dict(context->values));
  }
  return as_dict(context->values);
}

// --- Context

Value context_copy(Interpreter& in, const Args& args) { return copy_of(in, args[0]); }

// Leaves the context however the call ends.
class Entered {
 public:
  Entered(Interpreter& in, const Value& context) : in_(in), context_(context) {
    if (context_of(context)->entered) {
      throw_error(ErrorKind::RuntimeError, "cannot enter context: %s is already entered",
                  repr_text(in, context).c_str());
    }
    context_of(context)->previous = std::move(in.shared->context);
    context_of(context)->entered = true;
    in.shared->context = context;
  }
  ~Entered() {
    in_.shared->context = std::move(context_of(context_)->previous);
    context_of(context_)->entered = false;
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  Interpreter& in_;
  const Value context_;
};

Value context_run(Interpreter& in, const Args& args) {
  if (args.positional() < 2) {
    throw Error(ErrorKind::TypeError, "run() missing 1 required positional argument");
  }
  const Entered entered(in, args[0]);
  const Value callee = args[1];
  return call(in, callee, Args{args.values + 2, args.count - 2, args.keyword_names});
}

const Value& checked_variable(Interpreter& in, const Value& key) {
  if (!has_layout(key, kVariableLayout)) {
    throw_error(ErrorKind::TypeError, "a ContextVar key was expected, got %s", repr_text(in, key).c_str());
  }
  return key;
}

Value context_item(Interpreter& in, const Value& self, const Value& key) {
  const Value* const found = find(in, context_of(self), checked_variable(in, key));
  if (found == nullptr) throw_key_error(in, key);
  return *found;
}

Value context_get(Interpreter& in, const Args& args) {
  const Value* const found = find(in, context_of(args[0]), checked_variable(in, args[1]));
  return found == nullptr ? args[2] : *found;
}

// keys(), values() and items(): of the values as they are now.
template <int kPart>
Value context_part(Interpreter& in, const Args& args) {
  const Value list = make_list(in);
  const Value values = context_of(args[0])->values;
  if (!values.is_undefined()) {
    dict_for_each(as_dict(values), [&](const Value& key, const Value& value) {
      list_append(in, as_list(list), kPart == 0 ? key : kPart == 1 ? value : make_tuple(in, {key, value}));
    });
  }
  return iter(in, list);
}

Value compare_contexts(Interpreter& in, CompareOp op, const Value& self, const Value& other) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !has_layout(other, kContextLayout)) return in.not_implemented;
  const Value left = context_of(self)->values, right = context_of(other)->values;
  const Value empty = make_dict(in);
  const bool same = equals(in, left.is_undefined() ? empty : left, right.is_undefined() ? empty : right);
  return Value::boolean(same == (op == CompareOp::Eq));
}

int64_t context_length(Interpreter&, const Value& self) {
  const Value& values = context_of(self)->values;
  return values.is_undefined() ? 0 : as_dict(values)->count;
}

Value make_context(Interpreter& in, Type*, const Args& args) {
  if (args.count != 0) throw Error(ErrorKind::TypeError, "Context() does not accept any arguments");
  return new_context(in);
}

// --- ContextVar

Value make_variable(Interpreter& in, Type* type, const Args& args) {
  const Value* const name = make_argument(args, 0, "name");
  if (name == nullptr || args.positional() > 1) {
    throw_error(ErrorKind::TypeError, "ContextVar() takes exactly 1 positional argument (%u given)", args.positional());
  }
  if (!is_str(*name)) throw Error(ErrorKind::TypeError, "context variable name must be a str");
  const Value* const otherwise = keyword_argument(args, "default");
  ContextVar* const made = make_object<ContextVar>(in, type);
  made->name = *name;
  if (otherwise != nullptr) made->default_value = *otherwise;
  return Value::adopt(made);
}

Value variable_get(Interpreter& in, const Args& args) {
  const Value& context = in.shared->context;
  if (!context.is_undefined()) {
    if (const Value* const found = find(in, context_of(context), args[0])) return *found;
  }
  if (!args[1].is_undefined()) return args[1];
  const Value& otherwise = variable_of(args[0])->default_value;
  if (!otherwise.is_undefined()) return otherwise;
  throw Thrown(call(in, Value(error_type(in, ErrorKind::LookupError)), {args[0]}));
}

Value variable_set(Interpreter& in, const Args& args) {
  const Value context = current_context(in);
  Token* const made = make_object<Token>(in, types_of(in).token);
  const Value token = Value::adopt(made);
  made->context = context;
  made->variable = args[0];
  if (const Value* const old = find(in, context_of(context), args[0])) made->old_value = *old;
  dict_set(in, own_values(in, context_of(context)), args[0], args[1]);
  return token;
}

Value variable_reset(Interpreter& in, const Args& args) {
  if (!has_layout(args[1], kTokenLayout)) {
    throw_error(ErrorKind::TypeError, "expected an instance of Token, got %s", repr_text(in, args[1]).c_str());
  }
  Token* const token = token_of(args[1]);
  const auto refuse = [&](ErrorKind kind, const char* why) {
    throw_error(kind, "%s %s", repr_text(in, args[1]).c_str(), why);
  };
  if (token->used) refuse(ErrorKind::RuntimeError, "has already been used once");
  if (!token->variable.is(args[0])) refuse(ErrorKind::ValueError, "was created by a different ContextVar");
  const Value context = current_context(in);
  if (!token->context.is(context)) refuse(ErrorKind::ValueError, "was created in a different Context");
  token->used = true;
  Dict* const values = own_values(in, context_of(context));
  if (token->old_value.is_undefined()) dict_delete(in, values, args[0]);
  else dict_set(in, values, args[0], token->old_value);
  return Value::none();
}

Value show_variable(Interpreter& in, const Value& self) {
  const ContextVar* const variable = variable_of(self);
  std::string text = "<ContextVar name=" + repr_text(in, variable->name);
  if (!variable->default_value.is_undefined()) text += " default=" + repr_text(in, variable->default_value);
  return make_str(in, text + " at " + address_of(variable) + ">");
}

// --- Token

Value show_token(Interpreter& in, const Value& self) {
  const Token* const token = token_of(self);
  const std::string used = token->used ? " used" : "";
  return make_str(in, "<Token" + used + " var=" + repr_text(in, token->variable) + " at " + address_of(token) + ">");
}

Value copy_current(Interpreter& in, const Args&) { return copy_of(in, current_context(in)); }

constexpr NativeDef kContextMethods[] = {
    {"copy(self, /)", context_copy, "Return a shallow copy of the context object."},
    {"get(self, key, default=None, /)", context_get, "Return the value for `key` if it is set, else default."},
    {"keys(self, /)", context_part<0>, "The variables that are set in the context."},
    {"values(self, /)", context_part<1>, "Their values."},
    {"items(self, /)", context_part<2>, "Both, in pairs."},
};
constexpr NativeDef kVariableMethods[] = {
    {"get(self, default=..., /)", variable_get, "Return the variable's value in the current context."},
    {"set(self, value, /)", variable_set, "Set the variable in the current context; return a Token for reset()."},
    {"reset(self, token, /)", variable_reset, "Restore the value from before the set() that returned the token."},
};

template <class T>
Type* new_context_type(Interpreter& in, Module& module, const char* name, const char* layout,
                       void (*traverse)(Object*, Visitor&)) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = "_contextvars";
  spec.size = sizeof(T);
  spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->slots.layout = layout;
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<T>(self)); };
  type->slots.traverse = traverse;
  set_member(in, module, name, Value(static_cast<Object*>(type)));
  return type;
}

void make_context_type(Interpreter& in, Module& module, ContextTypes& types) {
  Type* const type =
      new_context_type<Context>(in, module, "Context", kContextLayout, [](Object* self, Visitor& visitor) {
        visitor(known_cast<Context>(self)->values);
        visitor(known_cast<Context>(self)->previous);
      });
  type->make = make_context;
  type->slots.get_item = context_item;
  type->slots.contains = [](Interpreter& in2, const Value& self, const Value& key) {
    return find(in2, context_of(self), checked_variable(in2, key)) != nullptr;
  };
  type->slots.length = context_length;
  type->slots.compare = compare_contexts;
  type->slots.iter = [](Interpreter& in2, const Value& self) { return context_part<0>(in2, Args{&self, 1}); };
  in.add_methods(type, kContextMethods, std::size(kContextMethods));
  const NativeDef run{"run", context_run, "Run a callable in the context."};
  in.add_methods(type, &run, 1);
  types.context = type;
}

void make_variable_type(Interpreter& in, Module& module, ContextTypes& types) {
  Type* const type =
      new_context_type<ContextVar>(in, module, "ContextVar", kVariableLayout, [](Object* self, Visitor& visitor) {
        visitor(known_cast<ContextVar>(self)->name);
        visitor(known_cast<ContextVar>(self)->default_value);
      });
  type->make = make_variable;
  type->slots.repr = show_variable;
  in.add_methods(type, kVariableMethods, std::size(kVariableMethods));
  in.add_property(type, "name", [](Interpreter&, const Args& args) { return variable_of(args[0])->name; });
  add_class_getitem(in, type);
  types.variable = type;
}

void make_token_type(Interpreter& in, Module& module, ContextTypes& types) {
  Type* const type = new_context_type<Token>(in, module, "Token", kTokenLayout, [](Object* self, Visitor& visitor) {
    visitor(known_cast<Token>(self)->context);
    visitor(known_cast<Token>(self)->variable);
    visitor(known_cast<Token>(self)->old_value);
  });
  type->make = [](Interpreter&, Type*, const Args&) -> Value {
    throw Error(ErrorKind::RuntimeError, "Tokens can only be created by ContextVars");
  };
  type->slots.repr = show_token;
  in.add_property(type, "var", [](Interpreter&, const Args& args) { return token_of(args[0])->variable; });
  in.add_property(type, "old_value", [](Interpreter& in2, const Args& args) {
    const Value& old = token_of(args[0])->old_value;
    return old.is_undefined() ? types_of(in2).missing : old;
  });
  add_class_getitem(in, type);
  types.token = type;
}

// Token.MISSING
Value make_missing(Interpreter& in) {
  NativeTypeSpec spec;
  spec.name = "Token.MISSING";
  spec.module = "_contextvars";
  spec.flags = kFinalType;
  Type* const type = in.new_type(spec);
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, self); };
  type->slots.repr = [](Interpreter& in2, const Value&) { return make_str(in2, "<Token.MISSING>"); };
  return Value::adopt(make_object<Object>(in, type));
}

}  // namespace

void fill_contexts(Interpreter& in, Module& module) {
  ContextTypes* const types = in.keep(new ContextTypes());
  in.shared->context_types = types;
  make_context_type(in, module, *types);
  make_variable_type(in, module, *types);
  make_token_type(in, module, *types);
  types->missing = make_missing(in);
  dict_set_str(in, types->token->attributes(), intern(in, "MISSING"), types->missing);
  in.def(module, "copy_context()", "Return a shallow copy of the current context.", copy_current);
}

}  // namespace tessera::stdlib
