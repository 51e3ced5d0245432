// _json: text to values and back. The options arrive in a fixed order from json.tsr.
#include <cmath>
#include <limits>

#include "lang/core/object_cast.h"
#include "lang/core/pieces.h"
#include "lang/core/booking.h"
#include "lang/objects/class.h"
#include "lang/types/format.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr uint32_t kDeepest = 990;

// --- reading ---

struct ReadOptions {
  Value object_hook, parse_float, parse_int, parse_constant, pairs_hook;
  bool strict = true;
};

class Reader {
 public:
  Reader(Interpreter& in, const Value& text, ReadOptions options)
      : in_(in),
        doc_(text),
        begin_(as_str(text)->data),
        p_(begin_),
        end_(begin_ + as_str(text)->size),
        options_(std::move(options)) {}

  Value whole() {
    skip();
    Value value = scan();
    skip();
    if (p_ != end_) fail("Extra data", p_);
    return value;
  }

  // The text behind the quote before code point `index`, which becomes the place behind it.
  Value text_at(int64_t& index) {
    if (index < 1 || index > as_str(doc_)->length) throw Error(ErrorKind::ValueError, "end is out of bounds");
    p_ = begin_ + byte_offset(in_, as_str(doc_), static_cast<uint32_t>(index)) - 1;  // the letter before may be a wide one
    Value value = string();
    index = char_index(as_str(doc_), static_cast<uint32_t>(p_ - begin_));
    return value;
  }

  // One value from code point `index` on; `index` becomes the place behind it.
  Value part(int64_t& index) {
    if (index < 0 || index > as_str(doc_)->length) fail("Expecting value", end_);
    p_ = begin_ + byte_offset(in_, as_str(doc_), static_cast<uint32_t>(index));
    Value value = scan();
    index = char_index(as_str(doc_), static_cast<uint32_t>(p_ - begin_));
    return value;
  }

 private:
  [[noreturn]] void fail(const char* message, const char* where) {
    const Value error_class = get_attr(in_, Value(in_.import("json")), intern(in_, "JSONDecodeError"));
    const int64_t at = char_index(as_str(doc_), static_cast<uint32_t>(where - begin_));
    throw Thrown(call(in_, error_class, {make_str(in_, message), doc_, Value::integer(at)}));
  }

  void skip() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }

  bool word(std::string_view text) {
    if (static_cast<size_t>(end_ - p_) < text.size() || std::string_view(p_, text.size()) != text) return false;
    p_ += text.size();
    return true;
  }

  Value constant(const char* name, double value) {
    if (options_.parse_constant.is_none()) return Value::real(value);
    return call(in_, options_.parse_constant, {make_str(in_, name)});
  }

  Value scan() {
    in_.poll();
    if (p_ >= end_) fail("Expecting value", p_);
    switch (*p_) {
      case '"': return string();
      case '{': return nested('{');
      case '[': return nested('[');
      case 'n':
        if (word("null")) return Value::none();
        break;
      case 't':
        if (word("true")) return Value::boolean(true);
        break;
      case 'f':
        if (word("false")) return Value::boolean(false);
        break;
      case 'N':
        if (word("NaN")) return constant("NaN", std::numeric_limits<double>::quiet_NaN());
        break;
      case 'I':
        if (word("Infinity")) return constant("Infinity", std::numeric_limits<double>::infinity());
        break;
      case '-':
        if (word("-Infinity")) return constant("-Infinity", -std::numeric_limits<double>::infinity());
        break;
      default: break;
    }
    return number();
  }

  Value nested(char kind) {
    if (++depth_ > kDeepest) {
      throw_error(ErrorKind::RecursionError,
                  "maximum recursion depth exceeded while decoding a JSON %s from a unicode string",
                  kind == '{' ? "object" : "array");
    }
    ++p_;
    Value value = kind == '{' ? object() : array();
    --depth_;
    return value;
  }

  Value array() {
    Value list = make_list(in_);
    skip();
    if (p_ < end_ && *p_ == ']') {
      ++p_;
      return list;
    }
    for (;;) {
      list_append(in_, as_list(list), scan());
      skip();
      if (p_ < end_ && *p_ == ']') break;
      if (p_ >= end_ || *p_ != ',') fail("Expecting ',' delimiter", p_);
      ++p_;
      skip();
    }
    ++p_;
    return list;
  }

  Value object() {
    const bool pairs = !options_.pairs_hook.is_none();
    Value result = pairs ? make_list(in_) : make_dict(in_);
    skip();
    if (p_ < end_ && *p_ == '}') {
      ++p_;
      return finish(std::move(result), pairs);
    }
    for (;;) {
      if (p_ >= end_ || *p_ != '"') fail("Expecting property name enclosed in double quotes", p_);
      Value key = string();
      skip();
      if (p_ >= end_ || *p_ != ':') fail("Expecting ':' delimiter", p_);
      ++p_;
      skip();
      Value value = scan();
      if (pairs) {
        list_append(in_, as_list(result), make_tuple(in_, {std::move(key), std::move(value)}));
      } else {
        dict_set(in_, as_dict(result), key, std::move(value));
      }
      skip();
      if (p_ < end_ && *p_ == '}') break;
      if (p_ >= end_ || *p_ != ',') fail("Expecting ',' delimiter", p_);
      ++p_;
      skip();
    }
    ++p_;
    return finish(std::move(result), pairs);
  }

  Value finish(Value result, bool pairs) {
    if (pairs) return call(in_, options_.pairs_hook, {result});
    if (!options_.object_hook.is_none()) return call(in_, options_.object_hook, {result});
    return result;
  }

  static bool digit(char c) { return c >= '0' && c <= '9'; }

  Value number() {
    const char* start = p_;
    const char* q = p_;
    if (q < end_ && *q == '-') ++q;
    if (q >= end_ || !digit(*q)) fail("Expecting value", start);
    if (*q == '0') {
      ++q;
    } else {
      while (q < end_ && digit(*q)) ++q;
    }
    bool whole = true;
    if (q + 1 < end_ && *q == '.' && digit(q[1])) {
      whole = false;
      for (++q; q < end_ && digit(*q);) ++q;
    }
    if (q < end_ && (*q == 'e' || *q == 'E')) {
      const char* e = q + 1;
      if (e < end_ && (*e == '+' || *e == '-')) ++e;
      if (e < end_ && digit(*e)) {
        whole = false;
        while (e < end_ && digit(*e)) ++e;
        q = e;
      }
    }
    p_ = q;
    const std::string_view text(start, static_cast<size_t>(q - start));
    const Value& hook = whole ? options_.parse_int : options_.parse_float;
    if (!hook.is_none()) return call(in_, hook, {make_str(in_, text)});
    if (whole) return parse_int(in_, text, 10);
    double real = 0;
    parse_float(text, real);
    return Value::real(real);
  }

  // Four hex digits at `q`, or -1.
  int32_t hex4(const char* q) const {
    if (end_ - q < 4) return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = q[i];
      const int d = digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
      if (d < 0) return -1;
      value = value * 16 + d;
    }
    return value;
  }

  void unicode_escape(std::string& out, const char* start) {
    int32_t c = hex4(p_);
    if (c < 0) fail("Invalid \\uXXXX escape", start + 1);
    p_ += 4;
    if (c >= 0xD800 && c <= 0xDBFF && end_ - p_ >= 6 && p_[0] == '\\' && p_[1] == 'u') {
      const int32_t low = hex4(p_ + 2);
      if (low >= 0xDC00 && low <= 0xDFFF) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        p_ += 6;
      }
    }
    append_char(out, static_cast<uint32_t>(c));
  }

  Value string() {
    const char* open = p_++;
    const char* run = p_;
    StopBudget budget(in_);
    while (p_ < end_ && *p_ != '"' && *p_ != '\\' && static_cast<unsigned char>(*p_) >= 32) budget.take(), ++p_;
    if (p_ < end_ && *p_ == '"') return make_str(in_, std::string_view(run, static_cast<size_t>(p_++ - run)));
    std::string out(run, static_cast<size_t>(p_ - run));
    for (;;) {
      budget.take();
      if (p_ >= end_) fail("Unterminated string starting at", open);
      const char c = *p_;
      if (c == '"') break;
      if (c != '\\') {
        if (static_cast<unsigned char>(c) < 32 && options_.strict) fail("Invalid control character at", p_);
        out += c;
        ++p_;
        continue;
      }
      const char* slash = p_++;
      if (p_ >= end_) fail("Unterminated string starting at", open);
      const char kind = *p_++;
      static constexpr std::string_view kKinds = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
      if (kind == 'u') {
        unicode_escape(out, slash + 0);
      } else if (const size_t at = kKinds.find(kind); at != std::string_view::npos) {
        out += kMeanings[at];
      } else {
        fail("Invalid \\escape", slash);
      }
    }
    ++p_;
    return make_str(in_, out);
  }

  Interpreter& in_;
  Value doc_;
  const char *begin_, *p_, *end_;
  ReadOptions options_;
  uint32_t depth_ = 0;
};

ReadOptions read_options(Interpreter& in, const Args& args, uint32_t first) {
  ReadOptions options;
  options.object_hook = args[first];
  options.parse_float = args[first + 1];
  options.parse_int = args[first + 2];
  options.parse_constant = args[first + 3];
  options.strict = truth(in, args[first + 4]);
  options.pairs_hook = args[first + 5];
  return options;
}

Value json_loads(Interpreter& in, const Args& args) {
  text_argument(in, args[0], "the document");
  return Reader(in, args[0], read_options(in, args, 1)).whole();
}

Value json_scan(Interpreter& in, const Args& args) {
  text_argument(in, args[0], "the document");
  int64_t index = int_argument(in, args[1]);
  Value value = Reader(in, args[0], read_options(in, args, 2)).part(index);
  return make_tuple(in, {std::move(value), Value::integer(index)});
}

Value json_scanstring(Interpreter& in, const Args& args) {
  int64_t index = int_argument(in, args[1]);
  text_argument(in, args[0], "first argument");
  ReadOptions options;
  options.strict = truth(in, args[2]);
  Value value = Reader(in, args[0], std::move(options)).text_at(index);
  return make_tuple(in, {std::move(value), Value::integer(index)});
}

// --- writing ---

class Writer {
 public:
  Writer(Interpreter& in, bool ascii)
      : in_(in), skip_keys_(false), ascii_(ascii), allow_nan_(true), indented_(false), sort_keys_(false) {}
  Writer(Interpreter& in, const Args& args)
      : in_(in),
        skip_keys_(truth(in, args[1])),
        ascii_(truth(in, args[2])),
        allow_nan_(truth(in, args[3])),
        indented_(!args[4].is_none()),
        sort_keys_(truth(in, args[7])),
        default_(args[8]) {
    if (indented_) indent_ = text_argument(in, args[4], "indent");
    item_separator_ = text_argument(in, args[5], "item_separator");
    key_separator_ = text_argument(in, args[6], "key_separator");
  }

  Value run(const Value& value) {
    write(value);
    return make_str(in_, out_);
  }

 private:
  void write(const Value& value) {
    in_.poll();
    booked_.cover(in_.heap, out_.size() + kRoom);
    if (value.is_none()) {
      out_ += "null";
    } else if (value.is_bool()) {
      out_ += value.as_bool() ? "true" : "false";
    } else if (value.is_int()) {
      out_ += int_text(value.as_int());
    } else if (value.is_float()) {
      number(value.as_float());
    } else {
      object(value);
    }
  }

  void object(const Value& value) {
    switch (value.as_object()->kind) {
      case ObjectKind::Str: string(text_of(value)); return;
      case ObjectKind::BigInt: out_ += whole_text(in_, value); return;
      case ObjectKind::Boxed: write(object_cast<Boxed>(value)->value); return;
      case ObjectKind::List: sequence(value, as_list(value)->size); return;
      case ObjectKind::Tuple: sequence(value, as_tuple(value)->size); return;
      case ObjectKind::Dict: mapping(value); return;
      default: break;
    }
    enter(value);
    const Value replaced = call(in_, default_, {value});
    write(replaced);
    open_.pop_back();
  }

  void enter(const Value& value) {
    for (const Object* open : open_) {
      if (open == value.as_object()) throw Error(ErrorKind::ValueError, "Circular reference detected");
    }
    if (open_.size() > kDeepest)
      throw Error(ErrorKind::RecursionError, "maximum recursion depth exceeded while encoding a JSON object");
    open_.push_back(value.as_object());
  }

  void number(double value) {
    if (std::isfinite(value)) {
      out_ += float_repr(value);
      return;
    }
    if (!allow_nan_) throw Error(ErrorKind::ValueError, "Out of range float values are not JSON compliant");
    out_ += std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  }

  void escape_unit(uint32_t unit) {
    booked_.cover(in_.heap, out_.size() + kRoom);
    static constexpr char kHex[] = "0123456789abcdef";
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out_ += kHex[(unit >> shift) & 15];
  }

  void string(std::string_view text) {
    in_.poll(static_cast<int64_t>(text.size() >> 10) + 1);
    booked_.cover(in_.heap, out_.size() + text.size() + kRoom);
    out_ += '"';
    size_t looked = out_.size();
    for (const char* p = text.data(); p < text.data() + text.size();) {
      if (out_.size() - looked > kLook) {
        looked = out_.size();
        in_.check_stop(kLook >> 10);
      }
      const unsigned char c = static_cast<unsigned char>(*p);
      if (c >= 0x80 && !ascii_) {
        out_ += *p++;
        continue;
      }
      const uint32_t code = decode_char(p);
      switch (code) {
        case '"': out_ += "\\\""; break;
        case '\\': out_ += "\\\\"; break;
        case '\n': out_ += "\\n"; break;
        case '\r': out_ += "\\r"; break;
        case '\t': out_ += "\\t"; break;
        case '\f': out_ += "\\f"; break;
        case '\b': out_ += "\\b"; break;
        default:
          if (code >= 0x10000) {
            escape_unit(0xD800 + ((code - 0x10000) >> 10));
            escape_unit(0xDC00 + ((code - 0x10000) & 0x3FF));
          } else if (code < 32 || (code >= 127 && ascii_)) {
            escape_unit(code);
          } else {
            out_ += static_cast<char>(code);
          }
      }
    }
    out_ += '"';
  }

  void new_line() {
    if (!indented_) return;
    booked_.cover(in_.heap, out_.size() + level_ * indent_.size() + kRoom);
    out_ += '\n';
    for (size_t i = 0; i < level_; ++i) out_ += indent_;
  }

  void sequence(const Value& value, size_t size) {
    if (size == 0) {
      out_ += "[]";
      return;
    }
    enter(value);
    out_ += '[';
    ++level_;
    bool first = true;
    for_each(in_, value, [&](Value item) {
      if (!first) out_ += item_separator_;
      first = false;
      new_line();
      write(item);
    });
    --level_;
    new_line();
    out_ += ']';
    open_.pop_back();
  }

  // A key as a text; false: leave the pair out.
  bool key_text(const Value& key, std::string& out) {
    const Value plain = unboxed(key);
    if (is_str(plain)) {
      out = text_of(plain);
    } else if (plain.is_none()) {
      out = "null";
    } else if (plain.is_bool()) {
      out = plain.as_bool() ? "true" : "false";
    } else if (plain.is_int()) {
      out = int_text(plain.as_int());
    } else if (is_big_int(plain)) {
      out = whole_text(in_, plain);
    } else if (plain.is_float()) {
      std::string saved;
      saved.swap(out_);
      number(plain.as_float());
      out.swap(out_);
      out_.swap(saved);
    } else if (skip_keys_) {
      return false;
    } else {
      throw_error(ErrorKind::TypeError, "keys must be str, int, float, bool or None, not %s",
                  std::string(type_name(in_, key)).c_str());
    }
    return true;
  }

  std::vector<std::pair<Value, Value>> pairs_of(const Value& dict) {
    std::vector<std::pair<Value, Value>> pairs;
    dict_for_each(as_dict(dict), [&](const Value& key, const Value& value) { pairs.push_back({key, value}); });
    if (!sort_keys_) return pairs;
    Value keys = make_list(in_);
    for (const auto& [key, value] : pairs) list_append(in_, as_list(keys), key);
    list_sort(in_, as_list(keys), Value::none(), false);
    std::vector<std::pair<Value, Value>> sorted;
    for (const Value& key : *as_list(keys)) {
      const Value* value = dict_get(in_, as_dict(dict), key);
      if (value != nullptr) sorted.push_back({key, *value});
    }
    return sorted;
  }

  void mapping(const Value& dict) {
    if (as_dict(dict)->count == 0) {
      out_ += "{}";
      return;
    }
    enter(dict);
    out_ += '{';
    ++level_;
    bool first = true;
    for (const auto& [key, value] : pairs_of(dict)) {
      std::string text;
      if (!key_text(key, text)) continue;
      if (!first) out_ += item_separator_;
      first = false;
      new_line();
      string(text);
      out_ += key_separator_;
      write(value);
    }
    --level_;
    if (!first) new_line();
    out_ += '}';
    open_.pop_back();
  }

  Interpreter& in_;
  bool skip_keys_, ascii_, allow_nan_, indented_, sort_keys_;
  Value default_;
  std::string indent_, item_separator_, key_separator_;
  static constexpr size_t kRoom = 256;      // a number, separators
  static constexpr size_t kLook = 1 << 16;  // bytes between two looks at whether to stop

  std::string out_;
  Booking booked_;  // of `out_`
  size_t level_ = 0;
  std::vector<Object*> open_;
};

Value json_dumps(Interpreter& in, const Args& args) { return Writer(in, args).run(args[0]); }

template <bool ascii>
Value json_string(Interpreter& in, const Args& args) {
  text_argument(in, args[0], "first argument");
  return Writer(in, ascii).run(args[0]);
}

}  // namespace

void fill_json(Interpreter& in, Module& module) {
  in.def(module, "loads(s, object_hook, parse_float, parse_int, parse_constant, strict, object_pairs_hook, /)",
         "Read a document.", json_loads);
  in.def(module, "scan(s, index, object_hook, parse_float, parse_int, parse_constant, strict, object_pairs_hook, /)",
         "Read one value and say where it ends.", json_scan);
  in.def(module,
         "dumps(obj, skipkeys, ensure_ascii, allow_nan, indent, item_separator, key_separator, sort_keys, default, /)",
         "Write a value.", json_dumps);
  in.def(module, "scanstring(string, end, strict=True, /)", "Read a text whose opening quote is before `end`.",
         json_scanstring);
  in.def(module, "encode_basestring(string, /)", "A text in quotes.", json_string<false>);
  in.def(module, "encode_basestring_ascii(string, /)", "A text in quotes, in letters of ASCII.", json_string<true>);
}

}  // namespace tessera::stdlib
