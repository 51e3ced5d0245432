// The rest of str's methods: joining, padding, translating, formatting; and str() itself.
#include <algorithm>
#include <cstring>

#include "lang/core/bind_maker.h"
#include "lang/core/booked_text.h"
#include "lang/core/booking.h"
#include "lang/objects/class.h"
#include "lang/core/error.h"
#include "lang/core/names.h"
#include "lang/core/pieces.h"
#include "lang/core/protocol.h"
#include "lang/core/bind.h"
#include "lang/objects/exception.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/bytes.h"
#include "lang/types/codec.h"
#include "lang/types/dict.h"
#include "lang/types/format.h"
#include "lang/types/iterators.h"
#include "lang/types/list.h"
#include "lang/types/setup.h"
#include "lang/types/str.h"
#include "lang/types/str_methods.h"
#include "lang/types/tuple.h"
#include "lang/types/types.h"

namespace tessera::lang {
namespace {

const Value* items_to_join(Interpreter& in, const Value& iterable, Value& holder, size_t& count) {
  const auto iterates_as = [&](const Type* type) { return iterable.as_object()->type->slots.iter == type->slots.iter; };
  if ((is_list(iterable) && iterates_as(in.types.list)) || (is_tuple(iterable) && iterates_as(in.types.tuple))) {
    holder = iterable;
  } else {
    holder = list_from(in, iterable_to_join(in, iterable));
  }
  count = is_list(holder) ? as_list(holder)->size : as_tuple(holder)->size;
  return is_list(holder) ? as_list(holder)->items : as_tuple(holder)->items;
}

Value join(Interpreter& in, const Args& args) {
  const Str* separator = as_str(args[0]);
  Value holder;
  size_t count = 0;
  const Value* items = items_to_join(in, args[1], holder, count);
  if (count == 0) return in.shared->empty_str;
  size_t size = size_t{separator->size} * (count - 1), length = size_t{separator->length} * (count - 1);
  for (size_t i = 0; i < count; ++i) {
    if (i % kPieceItems == kPieceItems - 1) in.check_stop(kPieceSteps);
    if (!is_str(items[i])) {
      throw Error(ErrorKind::TypeError, "sequence item " + std::to_string(i) + ": expected str instance, " +
                                            std::string(type_name(in, items[i])) + " found");
    }
    size += as_str(items[i])->size;
    length += as_str(items[i])->length;
  }
  if (count == 1) return plain_str(in, items[0]);
  Str* out = new_str(in, size, length);
  Value made = Value::adopt(out);
  char* p = out->data;
  for (size_t i = 0; i < count; ++i) {
    if (i % kPieceItems == kPieceItems - 1) in.check_stop(kPieceSteps);
    if (i != 0 && separator->size != 0) {
      copy_few(p, separator->data, separator->size);
      p += separator->size;
    }
    const Str* item = as_str(items[i]);
    if (item->size <= 16) copy_few(p, item->data, item->size);
    else copy_in_pieces(in, p, item->data, item->size);
    p += item->size;
  }
  return made;
}

std::string_view fill_of(Interpreter& in, const Value& fill) {
  if (!is_str(fill)) {
    throw Error(ErrorKind::TypeError,
                "The fill character must be a unicode character, not " + std::string(type_name(in, fill)));
  }
  if (as_str(fill)->length != 1)
    throw Error(ErrorKind::TypeError, "The fill character must be exactly one character long");
  return text_of(fill);
}

char* put_fill(Interpreter& in, char* to, std::string_view fill, int64_t times) {
  const size_t size = static_cast<size_t>(times) * fill.size();
  repeat_in_pieces(in, to, fill, size);
  return to + size;
}

Value pad(Interpreter& in, const Args& args, int64_t left, int64_t right) {
  const std::string_view fill = fill_of(in, args[2]), text = text_of(args[0]);
  left = std::max<int64_t>(left, 0), right = std::max<int64_t>(right, 0);
  if (left + right == 0) return plain_str(in, args[0]);
  if (left + right > 0x7fffffff) throw Error(ErrorKind::MemoryError, std::string());
  const size_t more = static_cast<size_t>(left + right);
  Str* out = new_str(in, text.size() + more * fill.size(), as_str(args[0])->length + more);
  Value made = Value::adopt(out);
  char* p = put_fill(in, out->data, fill, left);
  copy_in_pieces(in, p, text.data(), text.size());
  put_fill(in, p + text.size(), fill, right);
  return made;
}

// How many characters a text lacks of the width; a negative width is compared, since the difference could overflow.
int64_t missing(const Args& args) {
  const int64_t length = as_str(args[0])->length;
  return std::max(args[1].as_int(), length) - length;
}

Value ljust(Interpreter& in, const Args& args) { return pad(in, args, 0, missing(args)); }
Value rjust(Interpreter& in, const Args& args) { return pad(in, args, missing(args), 0); }
Value center(Interpreter& in, const Args& args) {
  const int64_t room = missing(args);
  const int64_t left = room <= 0 ? 0 : room / 2 + (room & args[1].as_int() & 1);
  return pad(in, args, left, room - left);
}

Value zfill(Interpreter& in, const Args& args) {
  const int64_t room = missing(args);
  if (room <= 0) return plain_str(in, args[0]);
  if (room > 0x7fffffff) throw Error(ErrorKind::MemoryError, std::string());
  in.heap.expect(2 * static_cast<size_t>(room));
  std::string_view text = text_of(args[0]);
  std::string out;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    out += text[0];
    text.remove_prefix(1);
  }
  out.append(static_cast<size_t>(room), '0');
  out += text;
  return make_str(in, out);
}

Value expandtabs(Interpreter& in, const Args& args) {
  const int64_t tab = whole_to_int(args[1]);
  std::string out;
  Booking booked;
  int64_t column = 0;
  const std::string_view text = text_of(args[0]);
  for (const char *p = text.data(), *end = p + text.size(); p < end;) {
    const char* const start = p;
    const uint32_t cp = decode_char(p);
    if (cp == '\t') {
      const int64_t n = tab > 0 ? tab - column % tab : 0;
      in.poll();
      booked.cover(in.heap, out.size() + static_cast<size_t>(n));
      out.append(static_cast<size_t>(n), ' ');
      column += n;
      continue;
    }
    out.append(start, p);
    column = cp == '\n' || cp == '\r' ? 0 : column + 1;
  }
  return make_str(in, out);
}

// --- translate

Value look_up(Interpreter& in, const Value& table, uint32_t cp) {
  const Value key = Value::integer(cp);
  if (is_dict(table) && table.as_object()->type == in.types.dict) {
    const Value* found = dict_get(in, as_dict(table), key);
    return found != nullptr ? *found : Value();
  }
  auto is_lookup_error = [&](const Value& e) { return is_error(in, e, ErrorKind::LookupError); };
  try {
    return get_item(in, table, key);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::KeyError && error.kind != ErrorKind::IndexError &&
        error.kind != ErrorKind::LookupError)
      throw;
  } catch (const Thrown& thrown) {
    if (!is_lookup_error(thrown.exception)) throw;
  }
  return Value();
}

// ASCII by a plain dict that gives one ASCII character for each. False: the dict gives something else.
bool translate_ascii(Interpreter& in, const Str* s, const Dict* table, char* out) {
  constexpr int kUnknown = -1;
  int known[128];
  std::fill(std::begin(known), std::end(known), kUnknown);
  for (uint32_t i = 0; i < s->size; ++i) {
    const unsigned char c = static_cast<unsigned char>(s->data[i]);
    if (known[c] == kUnknown) {
      const Value mapped = look_up(in, Value(const_cast<Dict*>(table)), c);
      int64_t code = -1;
      if (mapped.is_undefined()) code = c;
      else if (mapped.is_int()) code = mapped.as_int();
      else if (is_str(mapped) && as_str(mapped)->size == 1) code = static_cast<unsigned char>(text_of(mapped)[0]);
      if (code < 0 || code > 127) return false;
      known[c] = static_cast<int>(code);
    }
    out[i] = static_cast<char>(known[c]);
  }
  return true;
}

Value translate(Interpreter& in, const Args& args) {
  if (as_str(args[0])->is_ascii() && is_dict(args[1]) && args[1].as_object()->type == in.types.dict) {
    Str* same_size = new_str(in, as_str(args[0])->size, as_str(args[0])->size);
    Value result = Value::adopt(same_size);
    if (translate_ascii(in, as_str(args[0]), as_dict(args[1]), same_size->data)) return result;
  }
  BookedText out(in);
  const auto append_char = [&](uint32_t cp) {
    char bytes[4];
    out += std::string_view(bytes, encode_char(bytes, cp));
  };
  const std::string_view text = text_of(args[0]);
  for (const char *p = text.data(), *end = p + text.size(); p < end;) {
    const uint32_t cp = decode_char(p);
    const Value mapped = unboxed(look_up(in, args[1], cp));
    if (mapped.is_undefined()) {
      append_char(cp);
    } else if (is_str(mapped)) {
      out += text_of(mapped);
    } else if (is_whole(mapped)) {
      uint64_t c;
      if (!whole_to_uint64(mapped, c) || c > 0x10ffff)
        throw Error(ErrorKind::ValueError, "character mapping must be in range(0x110000)");
      append_char(static_cast<uint32_t>(c));
    } else if (!mapped.is_none()) {
      throw Error(ErrorKind::TypeError, "character mapping must return integer, None or str");
    }
  }
  return make_str(in, out.str());
}

uint32_t only_char(const Str* s) {
  const char* p = s->data;
  return decode_char(p);
}

Value table_of_dict(Interpreter& in, const Value& mapping) {
  if (type_of(in, mapping) != in.types.dict)
    throw Error(ErrorKind::TypeError, "if you give only one argument to maketrans it must be a dict");
  Value table = make_dict(in);
  dict_for_each(as_dict(mapping), [&](const Value& key, const Value& value) {
    if (is_str(key)) {
      if (as_str(key)->length != 1)
        throw Error(ErrorKind::ValueError, "string keys in translate table must be of length 1");
      dict_set(in, as_dict(table), Value::integer(only_char(as_str(key))), value);
    } else if (is_whole(key)) {
      dict_set(in, as_dict(table), key, value);
    } else {
      throw Error(ErrorKind::TypeError, "keys in translate table must be strings or integers");
    }
  });
  return table;
}

Value maketrans(Interpreter& in, const Args& args) {
  if (args[1].is_undefined()) return table_of_dict(in, args[0]);
  for (uint32_t i = 1; i < 3; ++i) {
    if (args[i].is_undefined() || is_str(args[i])) continue;
    throw Error(ErrorKind::TypeError, "maketrans() argument " + std::to_string(i + 1) + " must be str, not " +
                                          (args[i].is_none() ? "None" : std::string(type_name(in, args[i]))));
  }
  if (!is_str(args[0]))
    throw Error(ErrorKind::TypeError, "first maketrans argument must be a string if there is a second argument");
  if (as_str(args[0])->length != as_str(args[1])->length) {
    throw Error(ErrorKind::ValueError, "the first two maketrans arguments must have equal length");
  }
  Value table = make_dict(in);
  const char* from = as_str(args[0])->data;
  const char* to = as_str(args[1])->data;
  for (uint32_t i = 0; i < as_str(args[0])->length; ++i) {
    const Value key = Value::integer(decode_char(from));
    dict_set(in, as_dict(table), key, Value::integer(decode_char(to)));
  }
  if (!args[2].is_undefined()) {
    const std::string_view gone = text_of(args[2]);
    for (const char *p = gone.data(), *end = p + gone.size(); p < end;) {
      dict_set(in, as_dict(table), Value::integer(decode_char(p)), Value::none());
    }
  }
  return table;
}

// --- formatting

Value format_method(Interpreter& in, const Args& args) {
  return make_str(in, brace_format(in, text_of(args[0]), args[1], args[2]));
}
Value format_map(Interpreter& in, const Args& args) {
  return make_str(in, brace_format(in, text_of(args[0]), Value(), args[1]));
}

Value encode(Interpreter& in, const Args& args) { return encode_text(in, args[0], text_of(args[1]), text_of(args[2])); }

// A str of a script subclass: the text copied into an object of that type.
Value as_subclass(Interpreter& in, Type* type, Value text) {
  if (type == in.types.str) return text;
  const Str* from = as_str(text);
  Str* s = make_object<Str>(in, type, size_t{from->size} + 1);
  s->data = reinterpret_cast<char*>(s) + type->instance_size;
  std::memcpy(s->data, from->data, size_t{from->size} + 1);
  s->size = from->size;
  s->length = from->length;
  s->inline_size = from->size + 1;
  return Value::adopt(s);
}

Value make_from(Interpreter& in, Type* type, const Args& args) {
  if (args.count == 1 && args.keyword_names == nullptr && type == in.types.str) return str(in, args[0]);
  constexpr std::string_view kNames[] = {"object", "encoding", "errors"};
  Value found[3];
  bind_maker(in, "str(object=..., encoding=..., errors=...)", args, found);
  for (int i = 1; i < 3; ++i) {
    if (found[i].is_undefined()) continue;
    if (is_str(found[i])) {
      check_c_text(in, found[i]);
      continue;
    }
    throw Error(ErrorKind::TypeError, "str() argument '" + std::string(kNames[i]) + "' must be str, not " +
                                          (found[i].is_none() ? "None" : std::string(type_name(in, found[i]))));
  }
  if (found[0].is_undefined()) return as_subclass(in, type, in.shared->empty_str);
  if (found[1].is_undefined() && found[2].is_undefined()) return as_subclass(in, type, str(in, found[0]));
  if (is_str(found[0])) throw Error(ErrorKind::TypeError, "decoding str is not supported");
  if (!is_bytes_without_gaps(in, found[0])) {
    throw Error(ErrorKind::TypeError,
                "decoding to str: need a bytes-like object, " + std::string(type_name(in, found[0])) + " found");
  }
  return as_subclass(in, type,
                     decode_text(in, BytesLike(in, found[0]), found[1].is_undefined() ? "utf-8" : text_of(found[1]),
                                 found[2].is_undefined() ? "strict" : text_of(found[2])));
}

bool short_make(Interpreter& in, Value* argument, Value& answer) {
  if (argument->is_object() && argument->as_object()->type != in.types.str) return false;
  answer = str(in, *argument);
  return true;
}

constexpr NativeDef kRows[] = {
    {"join(self, iterable, /)", join, "Concatenate any number of strings, with this one between them."},
    {"ljust(self, width: int, fillchar=' ', /)", ljust, "A left-justified string of length width."},
    {"rjust(self, width: int, fillchar=' ', /)", rjust, "A right-justified string of length width."},
    {"center(self, width: int, fillchar=' ', /)", center, "A centered string of length width."},
    {"zfill(self, width: int, /)", zfill, "Pad a numeric string with zeros on the left."},
    {"expandtabs(self, /, tabsize: cint = 8)", expandtabs, "A copy with tabs replaced by spaces."},
    {"translate(self, table, /)", translate, "Replace each character by what the table gives for its code point."},
    {"maketrans(x, y=..., z=..., /)", maketrans, "A translation table for str.translate()."},
    {"format(self, /, *args, **kwargs)", format_method, "A formatted version, with substitutions from the arguments."},
    {"format_map(self, mapping, /)", format_map, "A formatted version, with substitutions from a mapping."},
    {"encode(self, /, encoding: cstr = 'utf-8', errors: cstr = 'strict')", encode, "The text as bytes."},
};

void fill_str(Interpreter& in, Type* type) {
  str_case_methods(in);
  str_search_methods(in);
  add_rows(in, type, kRows);
  slot_methods(in, type);
}

}  // namespace

void str_methods(Interpreter& in) {
  in.types.str->make = make_from;
  in.types.str->short_make = short_make;
  in.types.str->fill_later(fill_str);
}

}  // namespace tessera::lang
