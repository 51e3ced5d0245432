// _csv: reading and writing records. What a dialect says arrives as a tuple: (delimiter, quotechar, escapechar, doublequote,
// skipinitialspace, lineterminator, quoting, strict); characters that are not there are None.
// compile: small (seldom in an inner loop)
#include <cstring>

#include "lang/core/object_cast.h"
#include "lang/types/bigint.h"
#include "lang/core/cycles.h"
#include "lang/core/make_object.h"
#include "lang/core/names.h"
#include "lang/types/setup.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

enum Quoting : int64_t { kMinimal, kAll, kNonNumeric, kNone };

struct Format {
  std::string delimiter, quote, escape, terminator;  // empty: there is none
  bool doubled = false, skip_space = false, strict = false;
  int64_t quoting = kMinimal;
};

Format format_of(Interpreter& in, const Value& v) {
  if (!is_tuple(v) || as_tuple(v)->size != 8) throw Error(ErrorKind::TypeError, "a dialect has eight parts");
  const Tuple& t = *as_tuple(v);
  const auto text = [&](uint32_t i) { return is_str(t[i]) ? std::string(text_of(t[i])) : std::string(); };
  Format f;
  f.delimiter = text(0);
  f.quote = text(1);
  f.escape = text(2);
  f.doubled = truth(in, t[3]);
  f.skip_space = truth(in, t[4]);
  f.terminator = text(5);
  f.quoting = int_argument(in, t[6]);
  f.strict = truth(in, t[7]);
  return f;
}

[[noreturn]] void throw_csv(Interpreter& in, const Value& error, const std::string& message) {
  throw Thrown(call(in, error, {make_str(in, message)}));
}

bool begins(std::string_view text, size_t at, const std::string& what) {
  return !what.empty() && text.compare(at, what.size(), what) == 0;
}

size_t character_bytes(std::string_view text, size_t at) {
  size_t n = 1;
  while (at + n < text.size() && (static_cast<uint8_t>(text[at + n]) & 0xC0) == 0x80) ++n;
  return n;
}

// --- reading

enum class State : uint8_t {
  StartRecord,
  StartField,
  Escaped,
  InField,
  InQuoted,
  EscapedInQuoted,
  QuoteInQuoted,
  AfterEscapedEnd,
  AfterEnd
};

struct Reader : GcObject {
  Value lines;  // an iterator of str
  Value error;  // the class csv.Error
  Value limit;  // a list of one int: how many characters a field may have
  Format format;
  int64_t line_number = 0;
};

Reader* reader_of(const Value& v) { return object_cast<Reader>(v); }
void destroy_reader(Interpreter& in, Object* self) { free_object(in, known_cast<Reader>(self)); }
void traverse_reader(Object* self, Visitor& visitor) {
  Reader* r = known_cast<Reader>(self);
  visitor(r->lines);
  visitor(r->error);
  visitor(r->limit);
}
void clear_reader(Interpreter&, Object* self) { const Value gone = std::move(known_cast<Reader>(self)->lines); }

Value make_reader(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 4) throw Error(ErrorKind::TypeError, "a reader takes lines, a format, an error and a limit");
  const Value lines = iter(in, args[0]);
  Format format = format_of(in, args[1]);
  Reader* r = make_object<Reader>(in, type);
  Value made = Value::adopt(r);
  r->lines = lines;
  r->format = std::move(format);
  r->error = args[2];
  r->limit = args[3];
  return made;
}

// One record in the making.
struct Record {
  Interpreter& in;
  const Reader* reader;
  Value row;
  std::string field;
  State state = State::StartRecord;
  bool numeric = false;
  int64_t limit;

  void save() {
    Value text = make_str(in, field);
    field.clear();
    if (numeric) {
      numeric = false;
      text = Value::real(to_float_text(text));
    }
    list_append(in, as_list(row), text);
  }

  double to_float_text(const Value& text) { return to_float(in, call(in, Value(in.types.real), {text})); }

  void add(std::string_view text) {
    if (static_cast<int64_t>(field.size() + text.size()) > limit)
      throw_csv(in, reader->error, "field larger than field limit (" + std::to_string(limit) + ")");
    field += text;
  }

  void start_field(std::string_view line, size_t& at) {
    const Format& f = reader->format;
    if (line[at] == '\r' || line[at] == '\n') {
      save();
      state = State::AfterEnd;
      ++at;
    } else if (begins(line, at, f.quote) && f.quoting != kNone) {
      state = State::InQuoted;
      at += f.quote.size();
    } else if (begins(line, at, f.escape)) {
      state = State::Escaped;
      at += f.escape.size();
    } else if (line[at] == ' ' && f.skip_space) {
      ++at;
    } else if (begins(line, at, f.delimiter)) {
      save();
      at += f.delimiter.size();
    } else {
      numeric = f.quoting == kNonNumeric;
      state = State::InField;
    }
  }

  void in_field(std::string_view line, size_t& at) {
    const Format& f = reader->format;
    if (line[at] == '\r' || line[at] == '\n') {
      save();
      state = State::AfterEnd;
      ++at;
    } else if (begins(line, at, f.escape)) {
      state = State::Escaped;
      at += f.escape.size();
    } else if (begins(line, at, f.delimiter)) {
      save();
      state = State::StartField;
      at += f.delimiter.size();
    } else {
      take(line, at);
    }
  }

  // Takes characters up to the next one that may mean something.
  void take(std::string_view line, size_t& at) {
    const Format& f = reader->format;
    const auto special = [&](char c) {
      return c == '\r' || c == '\n' || c == f.delimiter[0] || (!f.quote.empty() && c == f.quote[0]) ||
             (!f.escape.empty() && c == f.escape[0]);
    };
    size_t end = at + character_bytes(line, at);
    while (end < line.size() && !special(line[end])) ++end;
    add(line.substr(at, end - at));
    at = end;
  }

  void in_quoted(std::string_view line, size_t& at) {
    const Format& f = reader->format;
    if (begins(line, at, f.escape)) {
      state = State::EscapedInQuoted;
      at += f.escape.size();
    } else if (begins(line, at, f.quote) && f.quoting != kNone) {
      state = f.doubled ? State::QuoteInQuoted : State::InField;
      at += f.quote.size();
    } else {
      take(line, at);
    }
  }

  void quote_in_quoted(std::string_view line, size_t& at) {
    const Format& f = reader->format;
    if (f.quoting != kNone && begins(line, at, f.quote)) {
      add(f.quote);
      state = State::InQuoted;
      at += f.quote.size();
    } else if (begins(line, at, f.delimiter)) {
      save();
      state = State::StartField;
      at += f.delimiter.size();
    } else if (line[at] == '\r' || line[at] == '\n') {
      save();
      state = State::AfterEnd;
      ++at;
    } else if (!f.strict) {
      take(line, at);
      state = State::InField;
    } else {
      throw_csv(in, reader->error, "'" + f.delimiter + "' expected after '" + f.quote + "'");
    }
  }

  void read_line(std::string_view line) {
    for (size_t at = 0; at < line.size();) {
      switch (state) {
        case State::StartRecord:
          state = line[at] == '\r' || line[at] == '\n' ? State::AfterEnd : State::StartField;
          break;
        case State::StartField: start_field(line, at); break;
        case State::InField: in_field(line, at); break;
        case State::InQuoted: in_quoted(line, at); break;
        case State::QuoteInQuoted: quote_in_quoted(line, at); break;
        case State::Escaped:
        case State::EscapedInQuoted: {
          const size_t bytes = character_bytes(line, at);
          const bool end = line[at] == '\r' || line[at] == '\n';
          add(line.substr(at, bytes));
          at += bytes;
          state = state == State::EscapedInQuoted ? State::InQuoted : end ? State::AfterEscapedEnd : State::InField;
          break;
        }
        case State::AfterEscapedEnd: state = State::InField; break;
        case State::AfterEnd:
          if (line[at] != '\r' && line[at] != '\n') {
            throw_csv(in, reader->error,
                      "new-line character seen in unquoted field - do you need to open the file in universal-newline "
                      "mode?");
          }
          ++at;
      }
    }
    end_line();
  }

  // A line has ended, with or without its end-of-line character.
  void end_line() {
    switch (state) {
      case State::StartField:
      case State::InField:
      case State::QuoteInQuoted: save(); [[fallthrough]];
      case State::AfterEnd: state = State::StartRecord; break;
      case State::Escaped:
        add("\n");
        state = State::InField;
        break;
      case State::EscapedInQuoted:
        add("\n");
        state = State::InQuoted;
        break;
      default: break;
    }
  }
};

bool next_record(Interpreter& in, const Value& self, Value& out) {
  const Value keep = self;
  Reader* r = reader_of(self);
  const Value lines = r->lines;
  if (lines.is_undefined()) return false;
  Record record{in, r, make_list(in), {}, State::StartRecord, false, int_argument(in, (*as_list(r->limit)).items[0])};
  do {
    Value line;
    if (!next(in, lines, line)) {
      if (record.field.empty() && record.state != State::InQuoted) return false;
      if (r->format.strict) throw_csv(in, r->error, "unexpected end of data");
      record.save();
      break;
    }
    if (!is_str(line)) {
      throw_csv(in, r->error,
                "iterator should return strings, not " + std::string(type_name(in, line)) +
                    " (the file should be opened in text mode)");
    }
    ++r->line_number;
    record.read_line(text_of(line));
  } while (record.state != State::StartRecord);
  out = std::move(record.row);
  return true;
}

Value itself(Interpreter&, const Value& self) { return self; }
Value line_number(Interpreter&, const Args& args) { return Value::integer(reader_of(args[0])->line_number); }

// --- writing

// Appends the text with what must be escaped or doubled; answers whether it must stand in quotes.
bool append_field(Interpreter& in, const Format& f, const Value& error, std::string& out, std::string_view text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = character_bytes(text, i);
    const std::string_view c = text.substr(i, bytes);
    const bool special = c == f.delimiter || c == f.escape || c == f.quote || f.terminator.find(c) != std::string::npos;
    if (special) {
      const bool doubled = f.quoting != kNone && c == f.quote && f.doubled;
      const bool escaped = f.quoting == kNone || (!doubled && (c == f.quote || c == f.escape));
      if (escaped && f.escape.empty()) throw_csv(in, error, "need to escape, but no escapechar set");
      if (doubled) out += f.quote;
      if (escaped) out += f.escape;
      else quoted = true;
    }
    out += c;
    i += bytes;
  }
  return quoted;
}

bool is_number(Interpreter& in, const Value& v) {
  if (is_whole(v) || v.is_float()) return true;
  const Type* type = type_of(in, v);
  return !type_lookup(type, in.names->float_).is_undefined() || !type_lookup(type, in.names->index).is_undefined();
}

// The line of a row: join(row, format, error)
Value join(Interpreter& in, const Args& args) {
  const Format f = format_of(in, args[1]);
  std::string out;
  const Value row = tuple_from(in, args[0]);
  const Tuple& fields = *as_tuple(row);
  for (uint32_t i = 0; i < fields.size; ++i) {
    if (i > 0) out += f.delimiter;
    const Value& value = fields[i];
    const std::string text = value.is_none() ? std::string()
                             : is_str(value) ? std::string(text_of(value))
                                             : str_text(in, value);
    const bool alone = fields.size == 1 && text.empty();
    if (alone && f.quoting == kNone) throw_csv(in, args[2], "single empty field record must be quoted");
    std::string shown;
    bool quoted = append_field(in, f, args[2], shown, text) || alone || f.quoting == kAll;
    if (f.quoting == kNonNumeric && !is_number(in, value)) quoted = true;
    out += quoted ? f.quote + shown + f.quote : shown;
  }
  return make_str(in, out + f.terminator);
}

}  // namespace

void fill_csv(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "reader";
  spec.module = "_csv";
  spec.size = sizeof(Reader);
  Type* type = in.new_type(spec);
  type->slots.destroy = destroy_reader;
  type->slots.traverse = traverse_reader;
  type->slots.clear = clear_reader;
  type->slots.iter = itself;
  type->slots.next = next_record;
  type->make = make_reader;
  slot_methods(in, type);
  in.add_property(type, "line_num", line_number);
  set_member(in, module, "reader", Value(type));
  in.def(module, "join(row, format, error, /)", "The line of a row.", join);
}

}  // namespace tessera::stdlib
