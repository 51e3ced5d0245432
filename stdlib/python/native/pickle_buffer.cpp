// The names of pickle that are native for everybody to see: PickleBuffer, dump, dumps, load and loads.
//
// A PickleBuffer is an object's memory as pickle hands it over outside of the data (protocol 5). It holds a memoryview, and shows its
// memory as its own. The functions call those of the script half, which have the same names with an underscore: a class that has
// `dumps` of pickle for an attribute may not bind it as a method.
// compile: small (seldom in an inner loop)
#include "lang/core/bind.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/types/bytes_parts.h"
#include "lang/types/setup.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/pickle_buffer.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr char kPickleBufferLayout[] = "pickle.PickleBuffer";

struct PickleBuffer : GcObject {
  Value view;  // Undefined: released
};

MemoryView* view_in(const Value& value) {
  PickleBuffer* const buffer = object_cast<PickleBuffer>(value);
  if (buffer->view.is_undefined())
    throw Error(ErrorKind::ValueError, "operation forbidden on released PickleBuffer object");
  return lang::view_of(buffer->view);
}

Value make_pickle_buffer(Interpreter& in, Type* type, const Args& args) {
  if (args.count > 1) throw_error(ErrorKind::TypeError, "PickleBuffer() takes at most 1 argument (%u given)", args.count);
  if (args.positional() != 1) throw Error(ErrorKind::TypeError, "PickleBuffer() takes exactly 1 positional argument (0 given)");
  if (!is_bytes_like(in, args[0]))
    throw Error(ErrorKind::TypeError, "a bytes-like object is required, not '" + std::string(type_name(in, args[0])) + "'");
  Value view = make_memory_view(in, args[0]);
  auto* const buffer = make_object<PickleBuffer>(in, type);
  buffer->view = std::move(view);
  return Value::adopt(buffer);
}

bool pickle_buffer_memory(Interpreter& in, const Value& value, Buffer& out, BufferLayout* layout) {
  view_in(value);
  const Value view = object_cast<PickleBuffer>(value)->view;
  find_buffer(in, view, out, layout);
  out.keeper = view;
  return true;
}

Value raw(Interpreter& in, const Args& args) {
  const MemoryView* const from = view_in(args[0]);
  if (!from->contiguous() && !from->column_contiguous())
    throw Error(ErrorKind::BufferError, "cannot extract raw buffer from non-contiguous buffer");
  Value made;
  MemoryView* const view = share_view(in, from, made);
  const int64_t size = view->items() * view->item_size;
  view->format = ItemFormat();
  view->item_size = 1;
  set_view_shape(view, {size});
  return made;
}

Value release(Interpreter&, const Args& args) {
  const Value gone = std::move(object_cast<PickleBuffer>(args[0])->view);
  return Value::none();
}

void traverse(Object* self, lang::Visitor& visitor) { visitor(known_cast<PickleBuffer>(self)->view); }
void clear(Interpreter&, Object* self) { const Value gone = std::move(known_cast<PickleBuffer>(self)->view); }
void destroy(Interpreter& in, Object* self) { free_object(in, known_cast<PickleBuffer>(self)); }

constexpr lang::NativeDef kRows[] = {
    {"raw(self, /)", raw, "The memory as a one-dimensional memoryview of bytes, whatever its shape."},
    {"release(self, /)", release, "Let go of the memory."},
};

Value call_script_half(Interpreter& in, const Args& args) {
  const lang::NativeFunction* const f = args.callee;
  const auto& parameters = lang::signature_of(in, f)->parameters;
  std::vector<Value> names;
  for (const lang::Parameter& p : parameters)
    if (p.kind == lang::Parameter::Kind::KeywordOnly) names.push_back(Value(p.name));
  const Value function = get_attr(in, Value(static_cast<Object*>(in.import("pickle"))), intern(in, "_" + std::string(f->name->view())));
  const Value keywords = make_tuple(in, names.data(), names.size());
  return call(in, function, Args{args.values, static_cast<uint32_t>(parameters.size()), as_tuple(keywords)});
}

}  // namespace

void add_pickle_functions(Interpreter& in, Module& module) {
  const struct {
    const char *signature, *doc;
  } rows[] = {
      {"dump(obj, file, protocol=None, *, fix_imports=True, buffer_callback=None)", "Write a pickle of obj to the open file."},
      {"dumps(obj, protocol=None, *, fix_imports=True, buffer_callback=None)", "Return a pickle of obj as bytes."},
      {"load(file, *, fix_imports=True, encoding='ASCII', errors='strict', buffers=None)", "Read an object from a pickle in a file."},
      {"loads(data, /, *, fix_imports=True, encoding='ASCII', errors='strict', buffers=None)", "Read an object from a pickle in bytes."},
  };
  for (const auto& row : rows) in.def(module, row.signature, row.doc, call_script_half);
}

void add_pickle_buffer(Interpreter& in, Module& module) {
  Type* const type = in.new_type({.name = "PickleBuffer", .module = "pickle", .size = sizeof(PickleBuffer)});
  type->slots.layout = kPickleBufferLayout;
  type->slots.traverse = traverse;
  type->slots.clear = clear;
  type->slots.destroy = destroy;
  type->make = make_pickle_buffer;
  type->fill_later([](Interpreter& i, Type* self) { lang::add_rows(i, self, kRows); });
  add_buffer_source(in, kPickleBufferLayout, pickle_buffer_memory);
  set_member(in, module, "PickleBuffer", Value(type));
}

}  // namespace tessera::stdlib
