// Reading of text files: blocks are decoded as they come; characters and lines are taken from what was read ahead.
#include "stdlib/python/native/text_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/vm/threads.h"
#include "lang/core/host.h"
#include "lang/core/names.h"
#include "lang/objects/exception.h"
#include "lang/types/bytes.h"

namespace tessera::stdlib {

void forget_read(TextFile* f) {
  f->text.clear();
  f->at = 0;
  f->blocks.clear();
  f->decoder.reset();
  f->codec_decoder = Value();
  f->at_end = false;
}

namespace {

Value make_incremental(Interpreter& in, TextFile* f, const char* kind) {
  const Value codec = f->codec;
  if (codec.is_undefined()) throw Error(ErrorKind::ValueError, "I/O operation on uninitialized object");  // a script runs __init__ again
  const Value make = get_attr(in, codec, intern(in, kind));
  return call(in, make, {make_str(in, f->errors_name)});
}

[[noreturn]] void throw_decode_failure(Interpreter& in, const DecodeFailure& failure, std::string_view bytes) {
  if (failure.last < bytes.size()) {  // with all the attributes that a handler may ask for
    throw Thrown(call(in, Value(error_type(in, ErrorKind::UnicodeDecodeError)),
                      {make_str(in, failure.codec), make_bytes(in, bytes), Value::integer(static_cast<int64_t>(failure.first)),
                       Value::integer(static_cast<int64_t>(failure.last + 1)), make_str(in, failure.reason)}));
  }
  if (failure.first == failure.last) {
    throw_error(ErrorKind::UnicodeDecodeError, "'%s' codec can't decode byte 0x%02x in position %zu: %s", failure.codec,
                failure.byte, failure.first, failure.reason);
  }
  throw_error(ErrorKind::UnicodeDecodeError, "'%s' codec can't decode bytes in position %zu-%zu: %s", failure.codec,
              failure.first, failure.last, failure.reason);
}

}  // namespace

Value decoder_of_codec(Interpreter& in, TextFile* f) {
  if (f->codec_decoder.is_undefined()) f->codec_decoder = make_incremental(in, f, "incrementaldecoder");
  return f->codec_decoder;
}

Value encoder_of_codec(Interpreter& in, TextFile* f) {
  if (f->codec_encoder.is_undefined()) f->codec_encoder = make_incremental(in, f, "incrementalencoder");
  return f->codec_encoder;
}

Value decoder_state(Interpreter& in, TextFile* f) {
  Value state = call_method(in, decoder_of_codec(in, f), intern(in, "getstate"));
  if (!is_tuple(state) || as_tuple(state)->size != 2) throw Error(ErrorKind::TypeError, "illegal decoder state");
  const Value& waiting = as_tuple(state)->items[0];
  if (!is_bytes(waiting)) {
    throw_error(ErrorKind::TypeError, "illegal decoder state: the first item should be a bytes object, not '%s'",
                std::string(type_name(in, waiting)).c_str());
  }
  return state;
}

Decoder& decoder_of(TextFile* f) {
  if (!f->decoder) f->decoder = std::make_unique<Decoder>(f->encoding, f->on_error, f->translate);
  return *f->decoder;
}

void decode_into(Interpreter& in, TextFile* f, std::string_view bytes, bool last) {
  LineEnds* const ends = f->universal ? &f->ends : nullptr;
  if (!f->codec.is_undefined()) {
    const Value decoder = decoder_of_codec(in, f);
    const Value text = call_method(in, decoder, intern(in, "decode"), {make_bytes(in, bytes), Value::boolean(last)});
    if (!is_str(text)) {
      throw_error(ErrorKind::TypeError, "decoder should return a string result, not '%s'",
                  std::string(type_name(in, text)).c_str());
    }
    decoder_of(f).translate(text_of(text), last, f->text, ends);
    return;
  }
  try {
    decoder_of(f).decode(bytes, last, f->text, ends);
  } catch (const DecodeFailure& failure) {
    throw_decode_failure(in, failure, bytes);
  }
}

namespace {

// Drops the text that a script has read, and the blocks that it alone came from.
void drop_read(TextFile* f) {
  size_t gone = 0;
  while (gone + 1 < f->blocks.size() && f->blocks[gone + 1].start <= f->at) ++gone;
  if (f->at == f->text.size()) gone = f->blocks.size();
  f->blocks.erase(f->blocks.begin(), f->blocks.begin() + static_cast<std::ptrdiff_t>(gone));
  const size_t kept = f->blocks.empty() ? f->at : std::min(f->at, f->blocks[0].start);
  for (TextBlock& block : f->blocks) block.start -= kept;
  f->text.erase(0, kept);
  f->at -= kept;
}

// The next bytes of a stream.
std::string read_stream(Interpreter& in, TextFile* f, bool whole) {
  const Value buffer = f->buffer;
  Value method = whole ? Value() : find_attr(in, buffer, intern(in, "read1"));
  const bool has_read1 = !method.is_undefined();
  if (!has_read1) method = get_attr(in, buffer, intern(in, "read"));
  const Value bytes = whole ? call(in, method) : call(in, method, {Value::integer(static_cast<int64_t>(f->chunk))});
  if (!is_bytes_like(in, bytes)) {
    throw_error(ErrorKind::TypeError, "underlying %s() should have returned a bytes-like object, not '%s'",
                has_read1 ? "read1" : "read", std::string(type_name(in, bytes)).c_str());
  }
  return std::string(BytesLike(in, bytes).view());
}

// Reads one more block, or all of a stream that is left; false at the end.
bool fill(Interpreter& in, TextFile* f, bool whole = false) {
  if (f->place == Place::Memory || f->at_end) return false;
  drop_read(f);
  f->was_read = true;
  if (f->place == Place::In) {
    std::string line;
    if (!in.host().read_line || !in.host().read_line(line)) {
      f->at_end = true;
      const size_t before = f->text.size();
      decode_into(in, f, "", true);
      return f->text.size() > before;
    }
    decode_into(in, f, line, false);
    return true;
  }
  flush(in, f);
  TextBlock read{{}, f->text.size(), decoder_of(f), {}};
  if (!f->codec.is_undefined()) read.state = decoder_state(in, f);
  f->booked.cover(in.heap, f->text.size() + kTextBlock);
  in.poll();
  std::string block(kTextBlock, '\0');
  ssize_t got;
  if (f->place == Place::Stream) {
    block = read_stream(in, f, whole);
    got = static_cast<ssize_t>(block.size());
  } else {
    if (!in.threads().alone()) wait_to_read(in, f->fd);
    while ((got = in.host().files->read(f->fd, block.data(), block.size())) < 0 && errno == EINTR) in.poll();
    if (got < 0) throw_os_error(in, errno);
  }
  block.resize(static_cast<size_t>(got));
  decode_into(in, f, block, got == 0 || (whole && f->place == Place::Stream));
  f->at_end = got == 0 || (whole && f->place == Place::Stream);
  read.bytes = std::move(block);
  if (got != 0) f->blocks.push_back(std::move(read));
  return !f->at_end;
}

// `bytes` may be more than there are, if a script has read meanwhile.
Value take(Interpreter& in, TextFile* f, size_t bytes) {
  bytes = std::min(bytes, f->text.size() - f->at);
  Value text = make_str(in, std::string_view(f->text).substr(f->at, bytes));
  f->at += bytes;
  return text;
}

Value read_all(Interpreter& in, TextFile* f) {
  while (fill(in, f, true)) {}
  in.check_stop();
  return f->at >= f->text.size() ? make_str(in, "") : take(in, f, f->text.size() - f->at);
}

}  // namespace

// The bytes of `count` characters from `at` on, as far as they are there; `missing` says how many are not.
size_t bytes_of(const TextFile* f, int64_t count, int64_t& missing) {
  size_t i = f->at;
  for (; count > 0 && i < f->text.size(); --count) {
    ++i;
    while (i < f->text.size() && (static_cast<uint8_t>(f->text[i]) & 0xC0) == 0x80) ++i;
  }
  missing = count;
  return i - f->at;
}

namespace {

Value read_count(Interpreter& in, TextFile* f, int64_t count) {
  int64_t missing = 0;
  size_t bytes = 0;
  do {
    if (f->at > f->text.size()) return make_str(in, "");
    bytes = bytes_of(f, count, missing);
  } while (missing > 0 && fill(in, f));
  return take(in, f, bytes);
}

// Bytes of the first line from `at` on, with its end; 0: there is no end in what was read. The first `searched` bytes have
// none. `complete`: nothing follows, so a "\r" at the end is a whole line end.
size_t line_length(const TextFile* f, size_t searched, bool complete) {
  const size_t from = f->at + searched;
  if (f->translate || !f->universal) {
    const std::string_view end = f->translate ? "\n" : std::string_view(f->newline);
    const size_t found = f->text.find(end, from);
    return found == std::string::npos ? 0 : found + end.size() - f->at;
  }
  const size_t found = f->text.find_first_of("\r\n", from);
  if (found == std::string::npos) return 0;
  if (f->text[found] == '\n') return found + 1 - f->at;
  if (found + 1 == f->text.size()) return complete ? found + 1 - f->at : 0;
  return found + (f->text[found + 1] == '\n' ? 2 : 1) - f->at;
}

// The next line with its end; empty at the end of the file. `limit` < 0: none.
Value read_line(Interpreter& in, TextFile* f, int64_t limit) {
  if (f->at > f->text.size()) return make_str(in, "");
  size_t searched = 0;
  for (;;) {
    const bool complete = f->place == Place::Memory || f->at_end;
    if (size_t bytes = line_length(f, searched, complete)) {
      int64_t missing = 0;
      if (limit >= 0) bytes = std::min(bytes, bytes_of(f, limit, missing));
      return take(in, f, bytes);
    }
    const size_t there = f->text.size() - f->at;
    if (limit >= 0 && there > static_cast<size_t>(limit) * 4) return read_count(in, f, limit);
    searched = there == 0 ? 0 : there - 1;  // a line end may begin with the last byte
    if (!fill(in, f) && complete) break;
  }
  int64_t missing = 0;
  return take(in, f, limit >= 0 ? bytes_of(f, limit, missing) : f->text.size() - f->at);
}

}  // namespace

Value file_read(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_readable(in, f);
  f->at_end = false;  // there may be more by now
  const int64_t count = size_argument(in, args[1]);
  return count < 0 ? read_all(in, f) : read_count(in, f, count);
}

Value file_readline(Interpreter& in, const Args& args) {
  check_readable(in, this_text_file(args));
  this_text_file(args)->at_end = false;
  const bool in_memory = this_text_file(args)->place == Place::Memory;
  return read_line(in, this_text_file(args), in_memory ? size_argument(in, args[1]) : int_argument(in, args[1]));
}

Value file_readlines(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_open(in, f, true);
  check_readable(in, f);
  f->at_end = false;
  const int64_t hint = size_argument(in, args[1]);
  Value list = make_list(in);
  for (int64_t total = 0; hint <= 0 || total <= hint;) {
    Value line = read_line(in, f, -1);
    if (as_str(line)->size == 0) break;
    total += as_str(line)->length;
    list_append(in, as_list(list), std::move(line));
  }
  return list;
}

Value file_iter(Interpreter& in, const Value& self) {
  check_open(in, text_file_of(self), true);
  return self;
}

bool file_next(Interpreter& in, const Value& self, Value& out) {
  check_readable(in, text_file_of(self));
  TextFile* f = text_file_of(self);
  f->at_end = false;
  out = read_line(in, f, -1);
  f->telling = as_str(out)->size == 0;
  return !f->telling;
}

}  // namespace tessera::stdlib
