// 'text' % values and 'text'.format(…).
#include <algorithm>
#include <charconv>
#include <cmath>

#include "lang/objects/exception.h"
#include "lang/objects/class.h"
#include "lang/core/booking.h"
#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/protocol.h"
#include "lang/objects/class_slots.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes_parts.h"
#include "lang/types/dict.h"
#include "lang/types/format.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/sequence.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

// What ascii() does to a text: everything else than ASCII escaped.
std::string escape_non_ascii(std::string_view text) {
  std::string out;
  char buffer[16];
  for (const char *p = text.data(), *end = p + text.size(); p < end;) {
    const uint32_t cp = decode_char(p);
    if (cp < 128) {
      out += static_cast<char>(cp);
      continue;
    }
    std::snprintf(buffer, sizeof buffer, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
    out += buffer;
  }
  return out;
}

namespace {

[[noreturn]] void value_error(std::string message) { throw Error(ErrorKind::ValueError, std::move(message)); }

// Where the values of a % come from: a tuple in order, one value, or a mapping by name.
class PercentValues {
 public:
  PercentValues(Interpreter& in, const Value& values, bool bytes) : in_(in), values_(values), bytes_(bytes) {}

  Value next() {
    if (is_tuple(values_)) {
      if (used_ < as_tuple(values_)->size) return as_tuple(values_)->items[used_++];
    } else if (used_ == 0) {
      used_ = 1;
      return values_;
    }
    throw Error(ErrorKind::TypeError, "not enough arguments for format string");
  }

  Value by_name(std::string_view name) {
    if (!is_mapping()) throw Error(ErrorKind::TypeError, "format requires a mapping");
    used_ = 1;
    return get_item(in_, values_, bytes_ ? make_bytes(in_, name) : make_str(in_, name));
  }

  void finish() {
    const bool left = is_tuple(values_) ? used_ < as_tuple(values_)->size : used_ == 0 && !is_mapping();
    if (left) {
      throw Error(ErrorKind::TypeError, bytes_ ? "not all arguments converted during bytes formatting"
                                               : "not all arguments converted during string formatting");
    }
  }

 private:
  bool is_mapping() const {
    // Bytes are a mapping to the `%` of a str, as for CPython: nothing of them need be used.
    const bool is_one_value = bytes_ && (is_bytes(values_) || is_byte_array(values_));
    return values_.is_object() && !is_tuple(values_) && !is_str(values_) && !is_one_value &&
           is_mapping_type(values_.as_object()->type) && !is_type(values_);
  }
  Interpreter& in_;
  const Value& values_;
  bool bytes_;
  size_t used_ = 0;
};

struct Directive {
  bool left = false, plus = false, blank = false, alternate = false, zero = false;
  int64_t width = -1, precision = -1;
};

std::string padded(const std::string& body, size_t length, const Directive& d) {
  if (d.width <= static_cast<int64_t>(length)) return body;
  const std::string blanks(static_cast<size_t>(d.width) - length, ' ');
  return d.left ? body + blanks : blanks + body;
}

// sign, prefix and digits; zeros go between prefix and digits.
std::string padded_number(std::string sign, const std::string& prefix, const std::string& digits, const Directive& d) {
  const size_t size = sign.size() + prefix.size() + digits.size();
  if (d.zero && !d.left && d.width > static_cast<int64_t>(size)) {
    return sign + prefix + std::string(static_cast<size_t>(d.width) - size, '0') + digits;
  }
  const std::string body = sign + prefix + digits;
  return padded(body, body.size(), d);
}

std::string sign_text(bool negative, const Directive& d) { return negative ? "-" : d.plus ? "+" : d.blank ? " " : ""; }

// By __int__ where the format is not one of digits to a base, or by __index__; as int() does it, if the object is a number by __float__ alone.
// Undefined: the object is no number.
Value converted_to_whole(Interpreter& in, const Value& value, bool based) {
  if (!value.is_object()) return Value();
  const Value method = based ? Value() : type_lookup(value.as_object()->type, in.names->int_);
  if (!method.is_undefined()) return whole_index(in, call_special(in, method, value));
  if (!type_lookup(value.as_object()->type, in.names->index).is_undefined()) return whole_index(in, value);
  const bool is_real = !based && !type_lookup(value.as_object()->type, in.names->float_).is_undefined();
  return is_real ? call(in, Value(in.types.integer), {value}) : Value();
}

// Whatever TypeError a conversion raises, the message is that of the format.
Value whole_number(Interpreter& in, const Value& value, char type) {
  const Value plain = unboxed(value);
  if (is_whole(plain)) return plain;
  const bool based = type == 'x' || type == 'X' || type == 'o';
  if (value.is_float() && !based) return whole_from_float(in, value.as_float());
  try {
    const Value whole = converted_to_whole(in, value, based);
    if (!whole.is_undefined()) return whole;
  } catch (const Error& error) {
    if (error.kind != ErrorKind::TypeError) throw;
  } catch (const Thrown& thrown) {
    if (!is_error(in, thrown.exception, ErrorKind::TypeError)) throw;
  }
  throw Error(ErrorKind::TypeError, std::string("%") + type +
                                        " format: " + (based ? "an integer is required" : "a real number is required") +
                                        ", not " + std::string(type_name(in, value)));
}

void append_int(std::string& out, int64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

std::string format_whole(Interpreter& in, const Value& value, char type, const Directive& d) {
  const Value number = whole_number(in, value, type);
  const unsigned base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : 10;
  std::string digits = whole_text(in, number, base, type == 'X');
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  if (d.precision > static_cast<int64_t>(digits.size()))
    digits.insert(0, static_cast<size_t>(d.precision) - digits.size(), '0');
  const std::string prefix = d.alternate && base != 10 ? std::string("0") + type : "";
  return padded_number(sign_text(negative, d), prefix, digits, d);
}

std::string format_real(Interpreter& in, const Value& value, char type, const Directive& d) {
  const double number = to_float(in, value);
  std::string text =
      float_text(number, type, d.precision < 0 ? 6 : static_cast<int>(d.precision), d.alternate ? kAlternate : 0);
  const bool negative = text[0] == '-';
  if (negative) text.erase(0, 1);
  return padded_number(sign_text(negative, d), "", text, d);
}

std::string format_text(const std::string& text, const Directive& d) {
  size_t length = count_chars(text);
  if (d.precision >= 0 && static_cast<size_t>(d.precision) < length) {
    const char* p = text.data();
    for (int64_t i = 0; i < d.precision; ++i) decode_char(p);
    length = static_cast<size_t>(d.precision);
    return padded(text.substr(0, static_cast<size_t>(p - text.data())), length, d);
  }
  return padded(text, length, d);
}

std::string format_bytes(Interpreter& in, const Value& value, const Directive& d) {
  std::string text;
  const Value method = value.is_object() && !is_bytes(value) && !is_byte_array(value)
                           ? type_lookup(value.as_object()->type, intern(in, "__bytes__"))
                           : Value();
  if (is_bytes_like(in, value)) {
    text = BytesLike(in, value, BytesLike::kCopyGaps).view();
  } else if (!method.is_undefined()) {
    const Value answer = call_special(in, method, value);
    if (!is_bytes(answer))
      throw_error(ErrorKind::TypeError, "__bytes__ returned non-bytes (type %s)", std::string(type_name(in, answer)).c_str());
    text = bytes_of(answer);
  } else {
    throw Error(ErrorKind::TypeError, "%b requires a bytes-like object, or an object that implements __bytes__, not '" +
                                          std::string(type_name(in, value)) + "'");
  }
  if (d.precision >= 0 && static_cast<size_t>(d.precision) < text.size()) text.resize(static_cast<size_t>(d.precision));
  return padded(text, text.size(), d);
}

// The __index__ of a value; a TypeError that it raises becomes `message`.
Value index_or(Interpreter& in, const Value& value, const char* message) {
  try {
    return whole_index(in, value);
  } catch (const std::exception&) {
    if (!is_error(in, current_native_exception(in), ErrorKind::TypeError)) throw;
    throw Error(ErrorKind::TypeError, message);
  }
}

std::string format_byte(Interpreter& in, const Value& value, const Directive& d) {
  std::string out;
  if (is_bytes(value) || is_byte_array(value)) {
    out = bytes_of(value);
  } else if (is_index(in, value)) {
    const Value whole = index_or(in, value, "%c requires an integer in range(256) or a single byte");
    const int64_t byte = is_big_int(whole) ? -1 : whole.as_int();
    if (byte < 0 || byte > 255) throw Error(ErrorKind::OverflowError, "%c arg not in range(256)");
    out = static_cast<char>(byte);
  }
  if (out.size() != 1) throw Error(ErrorKind::TypeError, "%c requires an integer in range(256) or a single byte");
  return padded(out, 1, d);
}

std::string format_char(Interpreter& in, const Value& value, const Directive& d) {
  std::string out;
  if (is_str(value)) {
    if (as_str(value)->length != 1) throw Error(ErrorKind::TypeError, "%c requires int or char");
    out = text_of(value);
  } else {
    int64_t cp;
    if (!is_whole(value) &&
        !(value.is_object() && !type_lookup(value.as_object()->type, in.names->index).is_undefined())) {
      throw Error(ErrorKind::TypeError, "%c requires int or char");
    }
    const Value whole = index_or(in, value, "%c requires int or char");
    cp = is_big_int(whole) ? -1 : whole.as_int();
    if (cp < 0 || cp > 0x10ffff) throw Error(ErrorKind::OverflowError, "%c arg not in range(0x110000)");
    append_char(out, static_cast<uint32_t>(cp));
  }
  return padded(out, 1, d);
}

class PercentFormatter {
 public:
  PercentFormatter(Interpreter& in, std::string_view text, const Value& values, bool bytes = false)
      : in_(in), text_(text), values_(in, values, bytes), bytes_(bytes) {}

  std::string run() {
    while (at_ < text_.size()) {
      constexpr size_t kNear = 32;  // shorter than the call is long
      size_t mark = at_;
      while (mark < text_.size() && mark - at_ < kNear && text_[mark] != '%') ++mark;
      if (mark - at_ == kNear) mark = std::min(text_.find('%', mark), text_.size());
      if (mark != at_) out_.append(text_.data() + at_, mark - at_);
      if (mark == text_.size()) break;
      at_ = mark + 1;
      directive();
    }
    values_.finish();
    return std::move(out_);
  }

 private:
  char peek() const {
    if (at_ >= text_.size()) value_error("incomplete format");
    return text_[at_];
  }

  void read_name() {
    const size_t start = ++at_;
    int depth = 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '(') ++depth;
      if (text_[at_] == ')' && --depth == 0) break;
    }
    if (at_ >= text_.size()) value_error("incomplete format key");
    named_ = values_.by_name(text_.substr(start, at_ - start));
    ++at_;
  }

  void format_number(const Value& value, char type, const Directive& d) {
    try {
      out_ += format_real(in_, value, type, d);
    } catch (const Error& error) {
      if (!bytes_ || error.kind != ErrorKind::TypeError) throw;
      throw Error(ErrorKind::TypeError, "float argument required, not " + std::string(type_name(in_, value)));
    }
  }

  static int64_t star_number(const Value& v, std::string_view what) {
    if (what == "width") return whole_to_int64(v);
    return whole_to_int(v);
  }

  int64_t read_star_or_number(const char* what) {
    if (peek() == '*') {
      ++at_;
      const Value v = unboxed(values_.next());
      if (!is_whole(v)) throw Error(ErrorKind::TypeError, "* wants int");
      return star_number(v, what);
    }
    int64_t n = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      n = n * 10 + (text_[at_++] - '0');
      if (n > INT32_MAX) value_error(std::string(what) + " too big");
    }
    return n;
  }

  Directive read_flags() {
    Directive d;
    for (;; ++at_) {
      switch (peek()) {
        case '-': d.left = true; continue;
        case '+': d.plus = true; continue;
        case ' ': d.blank = true; continue;
        case '#': d.alternate = true; continue;
        case '0': d.zero = true; continue;
        default: return d;
      }
    }
  }

  // %s and %d alone, by far the most of all directives. Returns false for any other.
  bool short_directive() {
    const char type = at_ < text_.size() && !bytes_ ? text_[at_] : '\0';
    if (type != 's' && type != 'd') return false;
    ++at_;
    const Value v = values_.next();
    if (type == 'd') {
      if (v.is_int()) append_int(out_, v.as_int());
      else out_ += format_whole(in_, v, 'd', Directive());
    } else if (v.is_object()) {
      const Value shown = str(in_, v);
      out_ += text_of(shown);
    } else {
      out_ += str_text(in_, v);
    }
    return true;
  }

  void directive() {
    if (short_directive()) return;
    named_ = Value();
    start_ = at_;
    if (peek() == '(') read_name();
    Directive d = read_flags();
    if (peek() == '*' || (peek() >= '0' && peek() <= '9')) {
      d.width = read_star_or_number("width");
      if (d.width < 0) {
        d.left = true;
        d.width = -d.width;
      }
    }
    if (peek() == '.') {
      ++at_;
      peek();
      d.precision = read_star_or_number("precision");
      if (d.precision < 0) d.precision = 0;
    }
    const int64_t wanted = std::max<int64_t>(d.width, 0) + std::max<int64_t>(d.precision, 0);
    if (wanted > 0) in_.heap.expect(2 * static_cast<size_t>(wanted));
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
    convert(d);
  }

  Value value() { return named_.is_undefined() ? values_.next() : named_; }

  void convert(const Directive& d) {
    const size_t where = at_;
    const bool bare = at_ == start_;
    const char* p = text_.data() + at_;
    const uint32_t type = bytes_ ? static_cast<unsigned char>(*p++) : decode_char(p);
    at_ = static_cast<size_t>(p - text_.data());
    if (bytes_ && (type == 's' || type == 'b')) {
      out_ += format_bytes(in_, value(), d);
      return;
    }
    if (bytes_ && (type == 'r' || type == 'c')) {
      out_ += type == 'c' ? format_byte(in_, value(), d) : format_text(escape_non_ascii(repr_text(in_, value())), d);
      return;
    }
    switch (type) {
      case '%':
        if (!bare) break;
        out_ += '%';
        return;
      case 's': out_ += format_text(str_text(in_, value()), d); return;
      case 'r': out_ += format_text(repr_text(in_, value()), d); return;
      case 'a': out_ += format_text(escape_non_ascii(repr_text(in_, value())), d); return;
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': out_ += format_whole(in_, value(), type == 'i' && bytes_ ? 'd' : static_cast<char>(type), d); return;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': format_number(value(), static_cast<char>(type), d); return;
      case 'c': out_ += format_char(in_, value(), d); return;
      default: break;
    }
    value();  // a value that is missing is told of first
    char code[48];
    std::snprintf(code, sizeof code, "' (0x%x) at index %zu", type,
                  bytes_ ? where : count_chars(text_.substr(0, where)));
    std::string shown;
    append_char(shown, type >= 32 && type < 127 ? type : '?');
    value_error("unsupported format character '" + shown + code);
  }

  Interpreter& in_;
  std::string_view text_;
  PercentValues values_;
  bool bytes_;
  size_t at_ = 0;
  size_t start_ = 0;  // of the directive, behind its %
  std::string out_;
  Value named_;
};

// --- str.format

class BraceFormatter {
 public:
  BraceFormatter(Interpreter& in, const Value& args, const Value& kwargs) : in_(in), args_(args), kwargs_(kwargs) {}

  std::string run(std::string_view text, int depth) {
    if (depth < 0) value_error("Max string recursion exceeded");
    std::string out;
    Booking booked;
    size_t at = 0;
    while (at < text.size()) {
      in_.poll();
      booked.cover(in_.heap, out.size());
      const char c = text[at];
      if (c != '{' && c != '}') {
        const size_t end = text.find_first_of("{}", at);
        out.append(text, at, end == text.npos ? text.npos : end - at);
        at = end == text.npos ? text.size() : end;
        continue;
      }
      if (at + 1 < text.size() && text[at + 1] == c) {
        out += c;
        at += 2;
        continue;
      }
      if (c == '}') value_error("Single '}' encountered in format string");
      if (at + 1 == text.size()) value_error("Single '{' encountered in format string");
      const size_t end = field_end(text, at + 1);
      out += field(text.substr(at + 1, end - at - 1), depth);
      at = end + 1;
    }
    return out;
  }

 private:
  // The '}' that closes the field which begins at `start`; brackets of a [key] may hold braces.
  size_t field_end(std::string_view text, size_t start) {
    int depth = 1;
    bool in_brackets = false, in_spec = false;
    size_t conversion = 0;
    for (size_t i = start; i < text.size(); ++i) {
      const char c = text[i];
      if (!in_spec && c == '[') in_brackets = true;
      if (in_brackets) {
        if (c == ']') in_brackets = false;
        continue;
      }
      if (!in_spec && c == '!') conversion = i;
      if (c == ':' || c == '!') in_spec = true;
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) return i;
    }
    if (in_spec && conversion + 1 == text.size()) value_error("end of string while looking for conversion specifier");
    value_error(in_spec ? "unmatched '{' in format spec" : "expected '}' before end of string");
  }

  std::string field(std::string_view text, int depth) {
    size_t name_end = 0;
    bool in_brackets = false;
    for (; name_end < text.size(); ++name_end) {
      const char c = text[name_end];
      if (c == '[') in_brackets = true;
      else if (c == ']') in_brackets = false;
      else if (!in_brackets && (c == '!' || c == ':')) break;
      else if (!in_brackets && c == '{') value_error("unexpected '{' in field name");
    }
    std::string_view rest = text.substr(name_end);
    Value value = look_up(text.substr(0, name_end));
    if (!rest.empty() && rest[0] == '!') {
      if (rest.size() < 2) value_error("unmatched '{' in format spec");
      const char* p = rest.data() + 1;
      const uint32_t conversion = decode_char(p);
      rest = rest.substr(static_cast<size_t>(p - rest.data()));
      if (!rest.empty() && rest[0] != ':') value_error("expected ':' after conversion specifier");
      value = convert(value, conversion);
    }
    const std::string spec = rest.empty() ? std::string() : run(rest.substr(1), depth - 1);
    return std::string(text_of(format(in_, value, spec)));
  }

  Value convert(const Value& value, uint32_t conversion) {
    if (conversion == 's') return str(in_, value);
    if (conversion == 'r') return repr(in_, value);
    if (conversion == 'a') {
      return make_str(in_, escape_non_ascii(repr_text(in_, value)));
    }
    char buffer[64];
    if (conversion > 32 && conversion < 127) {
      std::snprintf(buffer, sizeof buffer, "Unknown conversion specifier %c", static_cast<char>(conversion));
    } else {
      std::snprintf(buffer, sizeof buffer, "Unknown conversion specifier \\x%x", conversion);
    }
    value_error(buffer);
  }

  static bool is_number(std::string_view text, int64_t& out) {
    if (text.empty()) return false;
    out = 0;
    for (char c : text) {
      if (c < '0' || c > '9') return false;
      if (__builtin_mul_overflow(out, 10, &out) || __builtin_add_overflow(out, c - '0', &out)) {
        value_error("Too many decimal digits in format string");
      }
    }
    return true;
  }

  Value argument(int64_t i) {
    if (!is_tuple(args_)) value_error("Format string contains positional fields");
    if (i >= as_tuple(args_)->size) {
      throw Error(ErrorKind::IndexError,
                  "Replacement index " + std::to_string(i) + " out of range for positional args tuple");
    }
    return as_tuple(args_)->items[i];
  }

  Value first_value(std::string_view name) {
    int64_t number;
    const bool automatic = name.empty();
    if (!automatic && !is_number(name, number)) return get_item(in_, kwargs_, make_str(in_, name));
    if (automatic ? numbering_ == Numbering::Manual : numbering_ == Numbering::Automatic) {
      value_error(automatic ? "cannot switch from manual field specification to automatic field numbering"
                            : "cannot switch from automatic field numbering to manual field specification");
    }
    numbering_ = automatic ? Numbering::Automatic : Numbering::Manual;
    return argument(automatic ? next_++ : number);
  }

  // name, then .attribute and [key] in any number
  Value look_up(std::string_view path) {
    size_t end = path.find_first_of(".[");
    Value value = first_value(path.substr(0, end));
    while (end != path.npos && end < path.size()) {
      in_.poll();
      if (path[end] == '.') {
        const size_t stop = path.find_first_of(".[", end + 1);
        const std::string_view name = path.substr(end + 1, stop == path.npos ? path.npos : stop - end - 1);
        if (name.empty()) value_error("Empty attribute in format string");
        value = get_attr(in_, value, intern(in_, name));
        end = stop;
      } else if (path[end] == '[') {
        const size_t stop = path.find(']', end);
        if (stop == path.npos) value_error("Missing ']' in format string");
        const std::string_view key = path.substr(end + 1, stop - end - 1);
        if (key.empty()) value_error("Empty attribute in format string");
        int64_t number;
        value = get_item(in_, value, is_number(key, number) ? Value::integer(number) : make_str(in_, key));
        end = stop + 1;
        if (end == path.size()) break;
        if (path[end] != '.' && path[end] != '[')
          value_error("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  enum class Numbering { Unknown, Automatic, Manual };
  Interpreter& in_;
  const Value& args_;
  const Value& kwargs_;
  Numbering numbering_ = Numbering::Unknown;
  int64_t next_ = 0;
};

}  // namespace

Value percent_format(Interpreter& in, std::string_view text, const Value& values) {
  return make_str(in, PercentFormatter(in, text, values).run());
}

std::string percent_format_bytes(Interpreter& in, std::string_view text, const Value& values) {
  return PercentFormatter(in, text, values, true).run();
}

std::string brace_format(Interpreter& in, std::string_view text, const Value& args, const Value& kwargs) {
  return BraceFormatter(in, args, kwargs).run(text, 2);
}

}  // namespace tessera::lang
