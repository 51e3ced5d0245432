// _caller: where a call comes from, for warnings, logging and tracebacks, and how messages name what it was given.
#include "lang/compiler/chunk.h"
#include "lang/core/bind.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/heap_type.h"
#include "lang/syntax/source.h"
#include "lang/types/tuple.h"
#include "lang/vm/frame.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/vm.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

// caller(1) is the call of the script function that asks: (file, line, function, module name).
Value caller(Interpreter& in, const Args& args) {
  const Frame* frame = in.vm().top();
  for (int64_t depth = int_argument(in, args[0]); depth > 0 && frame != nullptr; --depth) frame = calling_frame(*frame);
  if (frame == nullptr) {
    return make_tuple(in, {make_str(in, "sys"), Value::integer(1), make_str(in, "<module>"), make_str(in, "sys")});
  }
  const Value* module = dict_get_text(frame->function->globals, "__name__");
  return make_tuple(in, {make_str_lossy(in, frame->code->source->name()), Value::integer(frame_line(*frame)),
                         Value(frame->code->name), module != nullptr ? *module : make_str(in, "__main__")});
}

Value type_name_of(Interpreter& in, const Args& args) { return make_str(in, type_name(in, args[0])); }

// adopt(cls, names): the methods that the class inherits from a native type become its own, for messages and reprs.
Value adopt(Interpreter& in, const Args& args) {
  if (!is_type(args[0]) || !is_tuple(args[1])) throw Error(ErrorKind::TypeError, "adopt() takes a class and a tuple");
  Type* const type = as_type(args[0]);
  for (const Value& name : *as_tuple(args[1])) {
    const Value found = type_lookup(type, intern(in, text_of(name)));
    if (!is_native_method(found)) throw Error(ErrorKind::TypeError, "adopt() takes names of native methods");
    const auto* const from = known_cast<NativeFunction>(found);
    const Value made = in.new_function(from->text != nullptr ? from->text : from->name->data, from->doc, from->function, from->data);
    auto* const method = known_cast<NativeFunction>(made);
    method->short_way = from->short_way;
    method->short_count = from->short_count;
    own_method(in, method, type);
    set_attr(in, args[0], from->name, made);
  }
  return Value::none();
}

// The bases of such types decide how pickle reduces their objects by the protocols 0 and 1.
Value is_made_by_object(Interpreter& in, const Args& args) {
  if (!is_type(args[0])) throw_error(ErrorKind::TypeError, "is_made_by_object() argument must be a type, not %s", lang::argument_type(in, args[0]));
  const Type* const type = as_type(args[0]);
  return Value::boolean(type->make == lang::refuse_to_make && lang::is_heap_type(type));
}

}  // namespace

void fill_caller(Interpreter& in, Module& module) {
  in.def(module, "caller(depth, /)", "File, line, function and module of a call.", caller);
  in.def(module, "adopt(cls, names: tuple, /)", "Make inherited native methods the class's own.", adopt);
  in.def(module, "is_made_by_object(type, /)", "Whether CPython has the native type on the heap and without a __new__ of its own.", is_made_by_object);
  in.def(module, "type_name(value, /)", "The name of a value's type as messages of CPython's functions in C have it.", type_name_of);
}

}  // namespace tessera::stdlib
