// Values of tessera_c.h: made, read, and what the language does with them.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "embed/handles.h"
#include "lang/core/error.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "embed/host_class.h"
#include "stdlib/torch/state.h"

using namespace tessera;
using namespace tessera::embed;
using lang::ErrorKind;
using lang::Interpreter;
using lang::Value;

namespace {

tsr_type type_of_object(const Value& value, Interpreter& in) {
  switch (value.as_object()->kind) {
    case lang::ObjectKind::Str: return TSR_TYPE_STR;
    case lang::ObjectKind::List: return TSR_TYPE_LIST;
    case lang::ObjectKind::Tuple: return TSR_TYPE_TUPLE;
    case lang::ObjectKind::Dict: return TSR_TYPE_DICT;
    case lang::ObjectKind::Function:
    case lang::ObjectKind::NativeFunction:
    case lang::ObjectKind::BoundMethod: return TSR_TYPE_FUNCTION;
    case lang::ObjectKind::Type: return TSR_TYPE_CLASS;
    case lang::ObjectKind::Module: return TSR_TYPE_MODULE;
    default: break;
  }
  const lang::BuiltinTypes& types = in.types;
  if (lang::is_instance(in, value, types.set) || lang::is_instance(in, value, types.frozenset)) return TSR_TYPE_SET;
  if (lang::is_instance(in, value, types.complex)) return TSR_TYPE_COMPLEX;
  if (lang::is_bytes(value)) return TSR_TYPE_BYTES;
  if (is_host_instance(value)) return TSR_TYPE_HOST;
  if (in.extension != nullptr && stdlib::is_tensor(stdlib::torch_state(in), value)) return TSR_TYPE_TENSOR;
  return TSR_TYPE_OTHER;
}

// Runs f(in) and hands what it answers to the host.
template <class F>
bool answer(tsr_interpreter* shell, tsr_value* out, tsr_error** error, F&& f) {
  return guarded(shell, error, [&](Interpreter& in) { hand_over(shell, f(in), out); });
}

// What no memory can hold is a mistake of the host's, such as a size below zero.
void check_count(const void* items, size_t count) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max() / 2;
  if (count > kMost) throw UsageError{"a list of " + std::to_string(count) + " items"};
  if (items == nullptr && count != 0) throw UsageError{"a list that is NULL"};
}

std::vector<Value> values_of(const tsr_interpreter* shell, const tsr_value* items, size_t count) {
  check_count(items, count);
  std::vector<Value> values;
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) values.push_back(to_value(shell, items[i]));
  return values;
}

bool is_plain(tsr_value value) { return value.kind >= TSR_NONE && value.kind <= TSR_FLOAT; }

}  // namespace

tsr_type tsr_type_of(tsr_value value) {
  const tsr_object* const cell = value.as.object;
  if (value.kind != TSR_OBJECT) return is_plain(value) ? static_cast<tsr_type>(value.kind) : TSR_TYPE_OTHER;
  return cell == nullptr || cell->value.is_undefined() ? TSR_TYPE_NONE : type_of_object(cell->value, *cell->owner->in);
}

const char* tsr_type_name(tsr_value value) {
  static constexpr const char* kNames[] = {"NoneType", "bool", "int", "float"};
  if (value.kind != TSR_OBJECT) return is_plain(value) ? kNames[value.kind] : "?";
  if (value.as.object == nullptr) return kNames[0];
  const Value& object = value.as.object->value;
  return object.is_undefined() ? kNames[0] : object.as_object()->type->name->data;
}

bool tsr_str(tsr_interpreter* shell, const char* text, size_t size, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error,
                [&](Interpreter& in) { return lang::make_str_lossy(in, embed::text_of(text, size)); });
}

bool tsr_bytes(tsr_interpreter* shell, const void* data, size_t size, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) {
    return lang::make_bytes(in, {static_cast<const char*>(data), size});
  });
}

bool tsr_complex(tsr_interpreter* shell, double real, double imaginary, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) { return lang::make_complex(in, real, imaginary); });
}

bool tsr_list(tsr_interpreter* shell, const tsr_value* items, size_t count, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) {
    std::vector<Value> values = values_of(shell, items, count);
    return lang::make_list_moving(in, values.data(), count);
  });
}

bool tsr_tuple(tsr_interpreter* shell, const tsr_value* items, size_t count, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) {
    std::vector<Value> values = values_of(shell, items, count);
    return lang::make_tuple_moving(in, values.data(), count);
  });
}

bool tsr_set(tsr_interpreter* shell, const tsr_value* items, size_t count, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) {
    std::vector<Value> values = values_of(shell, items, count);
    return lang::call(in, Value(in.types.set), {lang::make_tuple_moving(in, values.data(), count)});
  });
}

bool tsr_dict(tsr_interpreter* shell, const tsr_value* keys, const tsr_value* values, size_t count, tsr_value* out,
              tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) {
    check_count(keys, count), check_count(values, count);
    const Value dict = lang::make_dict(in);
    for (size_t i = 0; i < count; ++i)
      lang::dict_set(in, lang::as_dict(dict), to_value(shell, keys[i]), to_value(shell, values[i]));
    return dict;
  });
}

bool tsr_as_bool(tsr_interpreter* shell, tsr_value value, bool* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) { *out = lang::truth(in, to_value(shell, value)); });
}

bool tsr_as_int(tsr_interpreter* shell, tsr_value value, int64_t* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) { *out = lang::index(in, to_value(shell, value)); });
}

bool tsr_as_float(tsr_interpreter* shell, tsr_value value, double* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) { *out = lang::to_float(in, to_value(shell, value)); });
}

bool tsr_as_complex(tsr_interpreter* shell, tsr_value value, double out[2], tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    const Value made = lang::call(in, Value(in.types.complex), {to_value(shell, value)});
    const auto* const number = object_cast<const lang::Complex>(made);
    out[0] = number->real;
    out[1] = number->imag;
  });
}

bool tsr_as_text(tsr_interpreter* shell, tsr_value value, const char** data, size_t* size, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    const Value text = to_value(shell, value);
    if (!lang::is_str(text))
      throw lang::Error(ErrorKind::TypeError, "expected str, got " + std::string(lang::type_name(in, text)));
    *data = lang::text_of(text).data();
    if (size != nullptr) *size = lang::text_of(text).size();
  });
}

bool tsr_as_bytes(tsr_interpreter* shell, tsr_value value, const void** data, size_t* size, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    const Value bytes = to_value(shell, value);
    lang::Buffer buffer;
    if (!lang::find_buffer(in, bytes, buffer) || !buffer.keeper.is_undefined())  // kept memory ends with `buffer`
      throw lang::Error(ErrorKind::TypeError,
                        "a bytes-like object is required, not '" + std::string(lang::type_name(in, bytes)) + "'");
    *data = buffer.data;
    *size = buffer.size;
  });
}

bool tsr_to_str(tsr_interpreter* shell, tsr_value value, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) { return lang::str(in, to_value(shell, value)); });
}

bool tsr_repr(tsr_interpreter* shell, tsr_value value, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) { return lang::repr(in, to_value(shell, value)); });
}

bool tsr_equal(tsr_interpreter* shell, tsr_value a, tsr_value b, bool* out, tsr_error** error) {
  return guarded(shell, error,
                 [&](Interpreter& in) { *out = lang::equals(in, to_value(shell, a), to_value(shell, b)); });
}

bool tsr_is_instance(tsr_interpreter* shell, tsr_value value, tsr_value type, bool* out, tsr_error** error) {
  return guarded(shell, error,
                 [&](Interpreter& in) { *out = lang::is_instance(in, to_value(shell, value), to_value(shell, type)); });
}

bool tsr_length(tsr_interpreter* shell, tsr_value value, int64_t* out, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) { *out = lang::length(in, to_value(shell, value)); });
}

bool tsr_get_attribute(tsr_interpreter* shell, tsr_value object, const char* name, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) {
    return lang::get_attr(in, to_value(shell, object), lang::intern(in, name_of(name)));
  });
}

bool tsr_set_attribute(tsr_interpreter* shell, tsr_value object, const char* name, tsr_value value, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    lang::set_attr(in, to_value(shell, object), lang::intern(in, name_of(name)), to_value(shell, value));
  });
}

bool tsr_get_item(tsr_interpreter* shell, tsr_value object, tsr_value key, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error,
                [&](Interpreter& in) { return lang::get_item(in, to_value(shell, object), to_value(shell, key)); });
}

bool tsr_set_item(tsr_interpreter* shell, tsr_value object, tsr_value key, tsr_value value, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    lang::set_item(in, to_value(shell, object), to_value(shell, key), to_value(shell, value));
  });
}

bool tsr_delete_item(tsr_interpreter* shell, tsr_value object, tsr_value key, tsr_error** error) {
  return guarded(shell, error,
                 [&](Interpreter& in) { lang::del_item(in, to_value(shell, object), to_value(shell, key)); });
}

bool tsr_iterator(tsr_interpreter* shell, tsr_value iterable, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) { return lang::iter(in, to_value(shell, iterable)); });
}

bool tsr_next(tsr_interpreter* shell, tsr_value iterator, tsr_value* out, bool* more, tsr_error** error) {
  return guarded(shell, error, [&](Interpreter& in) {
    Value item;
    *more = lang::next(in, to_value(shell, iterator), item);
    if (*more) hand_over(shell, std::move(item), out);
  });
}

bool tsr_call(tsr_interpreter* shell, tsr_value callee, const tsr_value* arguments, size_t count,
              const char* const* keywords, size_t keyword_count, tsr_value* out, tsr_error** error) {
  return answer(shell, out, error, [&](Interpreter& in) {
    check_count(arguments, count), check_count(keywords, keyword_count);
    constexpr size_t kFew = 8;
    Value few[kFew];
    std::vector<Value> many;
    Value* values = few;
    if (count > kFew) {
      many.resize(count);
      values = many.data();
    }
    for (size_t i = 0; i < count; ++i) values[i] = to_value(shell, arguments[i]);
    lang::Args args{values, static_cast<uint32_t>(count), nullptr, nullptr};
    Value names;
    if (keyword_count != 0) {
      if (keyword_count > count) throw UsageError{"more keywords than arguments"};
      std::vector<Value> texts;
      for (size_t i = 0; i < keyword_count; ++i)
        texts.push_back(Value(static_cast<lang::Object*>(lang::intern(in, name_of(keywords[i])))));
      names = lang::make_tuple(in, texts.data(), texts.size());
      args.keyword_names = lang::as_tuple(names);
    }
    return lang::call(in, to_value(shell, callee), args);
  });
}
