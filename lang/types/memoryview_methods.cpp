// The methods and properties of memoryview: copies of the items, casts, and what describes the memory.
// compile: small (memoryviews are rare)
#include <algorithm>
#include <span>

#include "lang/core/error.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes_parts.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/sequence.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

constexpr size_t kMostDimensions = 64;
constexpr int64_t kReserved = 1 << 16;  // items that a list has room for at first: a stride of 0 makes a long view of little memory

MemoryView* self_of(const Args& args) { return view_of(args[0]); }

Value tobytes(Interpreter& in, const Args& args) {
  const MemoryView* view = self_of(args);
  const std::string_view order = args[1].is_none() ? "C" : text_of(args[1]);
  if (order != "C" && order != "F" && order != "A")
    throw Error(ErrorKind::ValueError, "order must be 'C', 'F' or 'A'");
  return memory_view_bytes(in, view, order == "F" || (order == "A" && !view->contiguous() && view->column_contiguous()));
}

Value list_of(Interpreter& in, const MemoryView* view, char letter, size_t dimension, const char* at) {
  if (dimension == view->shape.size()) return load_item(in, letter, at);
  Value list = make_list(in, static_cast<size_t>(std::min(view->shape[dimension], kReserved)));
  StopBudget budget(in);
  for (int64_t i = 0; i < view->shape[dimension]; ++i, budget.take())
    list_append(in, as_list(list), list_of(in, view, letter, dimension + 1, at + i * view->strides[dimension]));
  return list;
}
Value tolist(Interpreter& in, const Args& args) {
  const MemoryView* view = self_of(args);
  return list_of(in, view, readable_format(view), 0, view->data);
}

Value hex(Interpreter& in, const Args& args) {
  const Value bytes = memory_view_bytes(in, self_of(args));
  return make_str(in, hex_text(in, bytes_of(bytes), args[1], args[2].as_int()));
}

Value toreadonly(Interpreter& in, const Args& args) {
  Value made;
  share_view(in, self_of(args), made)->readonly = true;
  return made;
}

Value release(Interpreter&, const Args& args) {
  MemoryView* view = as_memory_view(args[0]);
  if (view->exports != 0) {
    throw Error(ErrorKind::BufferError, "memoryview has " + std::to_string(view->exports) + " exported buffer" +
                                            (view->exports == 1 ? "" : "s"));
  }
  release_view(view);
  return Value::none();
}

// The letter of a format to cast to, which may stand behind '@'.
ItemFormat cast_format(Interpreter& in, const Value& format) {
  const std::string_view text = text_of(format);
  if (!as_str(format)->is_ascii()) call_method(in, format, intern(in, "encode"), {make_str(in, "ascii")});  // raises UnicodeEncodeError
  if (text.size() == 1 || (text.size() == 2 && text[0] == '@')) {
    const char letter = text.back();
    if (letter != 'e' && format_width(letter) != 0) return ItemFormat(letter, text.size() == 2);
  }
  throw Error(ErrorKind::ValueError,
              "memoryview: destination format must be a native single character format prefixed with an optional '@'");
}

std::span<const Value> sizes_of(const Value& shape) {
  if (is_list(shape)) return {as_list(shape)->begin(), as_list(shape)->end()};
  if (is_tuple(shape)) return {as_tuple(shape)->begin(), as_tuple(shape)->end()};
  throw Error(ErrorKind::TypeError, "shape must be a list or a tuple");
}

std::vector<int64_t> shape_argument(const Value& shape) {
  std::vector<int64_t> out;
  for (const Value& v : sizes_of(shape)) {
    const Value size = unboxed(v);
    if (!is_whole(size)) throw Error(ErrorKind::TypeError, "memoryview.cast(): elements of shape must be integers");
    const int64_t count = size.is_bool() ? size.as_bool() : whole_to_int64(size, "ssize_t");
    if (count <= 0) throw Error(ErrorKind::ValueError, "memoryview.cast(): elements of shape must be integers > 0");
    out.push_back(count);
  }
  return out;
}

void give_shape(MemoryView* view, const Value& given, int64_t bytes) {
  std::vector<int64_t> shape = shape_argument(given);
  int64_t wanted = view->item_size;
  for (const int64_t each : shape)
    if (__builtin_mul_overflow(wanted, each, &wanted))
      throw Error(ErrorKind::ValueError, "memoryview.cast(): product(shape) > SSIZE_MAX");
  if (wanted != bytes) throw Error(ErrorKind::TypeError, "memoryview: product(shape) * itemsize != buffer size");
  set_view_shape(view, std::move(shape));
}

void check_castable(const MemoryView* view, const Value& shape) {
  const bool has_shape = !shape.is_undefined();
  const std::vector<int64_t>& sizes = view->shape;
  if (!view->contiguous()) throw Error(ErrorKind::TypeError, "memoryview: casts are restricted to C-contiguous views");
  if ((has_shape || sizes.size() != 1) && std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    throw Error(ErrorKind::TypeError, "memoryview: cannot cast view with zeros in shape or strides");
  if (!has_shape) return;
  const size_t dimensions = sizes_of(shape).size();
  if (dimensions > kMostDimensions)
    throw Error(ErrorKind::ValueError, "memoryview: number of dimensions must not exceed 64");
  if (sizes.size() != 1 && dimensions != 1)
    throw Error(ErrorKind::TypeError, "memoryview: cast must be 1D -> ND or ND -> 1D");
}

Value cast(Interpreter& in, const Args& args) {
  const MemoryView* from = self_of(args);
  check_castable(from, args[2]);
  const ItemFormat format = cast_format(in, args[1]);
  const auto is_byte = [](char letter) { return letter == 'B' || letter == 'b' || letter == 'c'; };
  if (!is_byte(from->format.letter()) && !is_byte(format.letter()))
    throw Error(ErrorKind::TypeError, "memoryview: cannot cast between two non-byte formats");
  const int64_t bytes = from->items() * from->item_size, width = format_width(format.letter());
  if (bytes % width != 0) throw Error(ErrorKind::TypeError, "memoryview: length is not a multiple of itemsize");
  Value made;
  MemoryView* view = share_view(in, from, made);
  view->format = format;
  view->item_size = static_cast<uint32_t>(width);
  if (args[2].is_undefined()) set_view_shape(view, {bytes / width});
  else give_shape(view, args[2], bytes);
  return made;
}

Value enter(Interpreter&, const Args& args) {
  self_of(args);
  return args[0];
}

Value numbers(Interpreter& in, const std::vector<int64_t>& from) {
  std::vector<Value> items;
  for (const int64_t each : from) items.push_back(Value::integer(each));
  return make_tuple(in, items.data(), items.size());
}

constexpr NativeDef kRows[] = {
    {"tobytes(self, /, order: str | None = 'C')", tobytes, "The data as a bytes object."},
    {"tolist(self, /)", tolist, "The data as a list."},
    {"hex(self, /, sep=..., bytes_per_sep: cint = 1)", hex, "The data as hexadecimal digits."},
    {"toreadonly(self, /)", toreadonly, "A readonly view of the same memory."},
    {"release(self, /)", release, "Let go of the memory."},
    {"cast(self, /, format: str, shape=...)", cast, "A view with another format or shape."},
    {"__enter__(self, /)", enter, ""},
    {"__exit__(self, /, *exc_info)", release, ""},
};

void add_properties(Interpreter& in, Type* type) {
  in.add_property(type, "obj", [](Interpreter&, const Args& a) { return self_of(a)->owner; });
  in.add_property(type, "nbytes", [](Interpreter&, const Args& a) {
    return Value::integer(self_of(a)->items() * self_of(a)->item_size);
  });
  in.add_property(type, "itemsize", [](Interpreter&, const Args& a) { return Value::integer(self_of(a)->item_size); });
  in.add_property(type, "format", [](Interpreter& i, const Args& a) { return make_str(i, self_of(a)->format.text); });
  in.add_property(type, "ndim", [](Interpreter&, const Args& a) {
    return Value::integer(static_cast<int64_t>(self_of(a)->shape.size()));
  });
  in.add_property(type, "shape", [](Interpreter& i, const Args& a) { return numbers(i, self_of(a)->shape); });
  in.add_property(type, "strides", [](Interpreter& i, const Args& a) { return numbers(i, self_of(a)->strides); });
  in.add_property(type, "suboffsets", [](Interpreter& i, const Args& a) { return self_of(a), make_tuple(i, {}); });
  in.add_property(type, "readonly", [](Interpreter&, const Args& a) { return Value::boolean(self_of(a)->readonly); });
  in.add_property(type, "c_contiguous",
                  [](Interpreter&, const Args& a) { return Value::boolean(self_of(a)->contiguous()); });
  in.add_property(type, "f_contiguous",
                  [](Interpreter&, const Args& a) { return Value::boolean(self_of(a)->column_contiguous()); });
  in.add_property(type, "contiguous", [](Interpreter&, const Args& a) {
    return Value::boolean(self_of(a)->contiguous() || self_of(a)->column_contiguous());
  });
}

}  // namespace

void memory_view_methods(Interpreter& in, Type* type) {
  add_rows(in, type, kRows);
  add_properties(in, type);
  slot_methods(in, type);
}

}  // namespace tessera::lang
