// Places in text files: seek, tell and truncate.
//
// tell() of a file that was read gives the byte position of the next character. It is found by decoding the block that the character
// came from again. Where the decoder's state matters there, the number that tell() gives carries it as CPython's cookies do: how many
// bytes to decode from there, how many characters of them to skip.
// compile: small (the system calls take longer)
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/core/booking.h"
#include "lang/core/host.h"
#include "lang/core/names.h"
#include "lang/types/bigint.h"
#include "lang/types/number.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/text_file.h"

namespace tessera::stdlib {
namespace {

// CPython's layout in a whole number, from its lowest bit on: 64 bits, three times 32, 8.
struct Cookie {
  int64_t position = 0;
  int32_t state = 0;  // a codec's flags, shifted by one; bit 0: a "\n" that follows was given out already
  int32_t feed = 0, skip = 0;
  bool ends = false;  // the bytes to decode are the last ones
};

Value pack(Interpreter& in, const Cookie& cookie) {
  unsigned char bytes[21];
  std::memcpy(bytes, &cookie.position, 8);
  std::memcpy(bytes + 8, &cookie.state, 4);
  std::memcpy(bytes + 12, &cookie.feed, 4);
  std::memcpy(bytes + 16, &cookie.skip, 4);
  bytes[20] = cookie.ends;
  return whole_of_bytes(in, bytes, sizeof bytes, false);
}

Cookie unpack(const Value& number) {
  const WholeView whole(number);
  const Limbs limbs = whole.limbs();
  const auto limb = [&](uint32_t i) { return i < limbs.size ? static_cast<uint64_t>(limbs[i]) : 0; };
  if (limbs.size > 3 || limb(2) >> 40 != 0) throw Error(ErrorKind::OverflowError, "int too big to convert");
  return {static_cast<int64_t>(limb(0)), static_cast<int32_t>(limb(1)), static_cast<int32_t>(limb(1) >> 32), static_cast<int32_t>(limb(2)),
          limb(2) >> 32 != 0};
}

int64_t ask_position(Interpreter& in, const TextFile* f) {
  if (f->place == Place::Disk) {
    const int64_t place = in.host().files->seek(f->fd, 0, SEEK_CUR);
    if (place < 0) throw_unsupported(in, "underlying stream is not seekable");
    return place;
  }
  const Value buffer = f->buffer;
  return index(in, call_method(in, buffer, intern(in, "tell")));
}

void check_seekable(Interpreter& in, const TextFile* f) {
  if (f->place == Place::Disk) return static_cast<void>(ask_position(in, f));
  const Value buffer = f->buffer;
  if (f->place != Place::Stream || !truth(in, call_method(in, buffer, intern(in, "seekable"))))
    throw_unsupported(in, "underlying stream is not seekable");
}

int64_t go_to(Interpreter& in, const TextFile* f, int64_t place, int whence) {
  if (f->place == Place::Stream) {
    const Value buffer = f->buffer;
    return index(in, call_method(in, buffer, intern(in, "seek"), {Value::integer(place), Value::integer(whence)}));
  }
  const int64_t there = in.host().files->seek(f->fd, place, whence == 2 ? SEEK_END : SEEK_SET);
  if (there < 0) throw_os_error(in, errno);
  return there;
}

int32_t as_int(int64_t number) { return whole_to_int(Value::integer(number)); }

// Decodes prefixes of a block as they were decoded when it was read.
class Again {
 public:
  Again(Interpreter& in, TextFile* f, const TextBlock& block) : in_(in), f_(f), block_(block), bytes_(block.bytes) {
    if (block.state.is_undefined()) {
      bytes_ = block.before.carry() + bytes_;
      return;
    }
    const Tuple& state = *as_tuple(block.state);
    bytes_ = std::string(bytes_of(state[0])) + bytes_;
    flags_ = state[1];
    now_ = decoder_state(in, f);
  }
  ~Again() {
    if (now_.is_undefined()) return;
    try {
      set_state(now_);
    } catch (...) {
      f_->codec_decoder = Value();  // its next block starts anew
    }
  }
  Again(const Again&) = delete;
  Again& operator=(const Again&) = delete;

  // Bytes of text that the first `count` bytes make.
  size_t text_of_first(size_t count) {
    Decoder lines = block_.before;
    lines.clear_carry();
    text_.clear();
    const std::string_view part = std::string_view(bytes_).substr(0, count);
    if (now_.is_undefined()) {
      lines.decode(part, false, text_, nullptr);
      clean_ = lines.carry().empty();
      state_ = 0;
    } else {
      set_state(make_tuple(in_, {make_bytes(in_, {}), flags_}));
      const Value decoder = decoder_of_codec(in_, f_);
      const Value text = call_method(in_, decoder, intern(in_, "decode"), {make_bytes(in_, part), Value::boolean(false)});
      lines.translate(text_argument(in_, text, "decoder result"), false, text_, nullptr);
      const Value state = decoder_state(in_, f_);
      clean_ = bytes_of((*as_tuple(state))[0]).empty();
      state_ = number_of((*as_tuple(state))[1]) << 1;
    }
    after_return_ = lines.after_return();
    return text_.size();
  }

  Cookie find(int64_t base, size_t wanted) {
    size_t low = 0, high = bytes_.size();
    while (low < high) {  // the least number of bytes that make the text
      in_.poll();
      const size_t middle = low + (high - low) / 2;
      if (text_of_first(middle) >= wanted) high = middle;
      else low = middle + 1;
    }
    const size_t made = text_of_first(low);
    if (clean_ && made == wanted) {
      const bool ends_here = after_return_ && low < bytes_.size() && bytes_[low] == '\n';
      const bool waits = after_return_ && low == bytes_.size();
      return {base + static_cast<int64_t>(low + (ends_here ? 1 : 0)), as_int(state_ | (waits ? 1 : 0)), 0, 0};
    }
    const size_t skipped = count_chars(std::string_view(text_).substr(0, wanted));
    const int64_t flags = now_.is_undefined() ? 0 : number_of(flags_) << 1;
    return {base, as_int(flags | (block_.before.after_return() ? 1 : 0)), as_int(low), as_int(skipped)};
  }

  size_t waiting() const { return bytes_.size() - block_.bytes.size(); }

 private:
  int64_t number_of(const Value& flags) {
    if (!is_index(in_, flags)) throw Error(ErrorKind::TypeError, "illegal decoder state");
    return index(in_, flags);
  }

  void set_state(const Value& state) {
    const Value decoder = decoder_of_codec(in_, f_);
    call_method(in_, decoder, intern(in_, "setstate"), {state});
  }

  Interpreter& in_;
  TextFile* f_;
  const TextBlock& block_;
  std::string bytes_, text_;
  Value flags_, now_;
  bool clean_ = true, after_return_ = false;
  int64_t state_ = 0;
};

// Text is the bytes as they lie, so that places need no decoding.
bool is_plain(const TextFile* f, const TextBlock& block) {
  if (!f->codec.is_undefined() || f->encoding != Encoding::Utf8 || f->on_error != OnError::Strict) return false;
  return !f->translate || (!block.before.after_return() && block.bytes.find('\r') == std::string::npos);
}

// Reads the bytes that a cookie has to decode, and skips the characters that were read.
void restore(Interpreter& in, TextFile* f, const Cookie& cookie) {
  f->decoder = std::make_unique<Decoder>(f->encoding, f->on_error, f->translate);
  if (cookie.state & 1) f->decoder->set_after_return();
  if (cookie.position != 0) f->decoder->set_started();
  if (!f->codec.is_undefined() && (cookie.position != 0 || cookie.state != 0)) {
    const Value decoder = decoder_of_codec(in, f);
    call_method(in, decoder, intern(in, "setstate"),
                {make_tuple(in, {make_bytes(in, {}), Value::integer(cookie.state >> 1)})});
  }
  if (cookie.skip == 0) return;
  if (cookie.feed < 0 || cookie.skip < 0) throw Error(ErrorKind::OSError, "can't restore logical file position");
  Booking booked;
  booked.cover(in.heap, static_cast<size_t>(cookie.feed));
  TextBlock read{std::string(static_cast<size_t>(cookie.feed), '\0'), 0, decoder_of(f), {}};
  if (!f->codec.is_undefined()) read.state = decoder_state(in, f);
  if (f->place == Place::Stream) {
    const Value buffer = f->buffer;
    read.bytes = BytesLike(in, call_method(in, buffer, intern(in, "read"), {Value::integer(cookie.feed)})).view();
  } else {
    const ssize_t got = in.host().files->read(f->fd, read.bytes.data(), read.bytes.size());
    read.bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  }
  decode_into(in, f, read.bytes, cookie.ends);
  f->blocks.push_back(std::move(read));
  int64_t missing = 0;
  f->at = bytes_of(f, cookie.skip, missing);
  if (missing != 0) throw Error(ErrorKind::OSError, "can't restore logical file position");
}

Value memory_seek(TextFile* f, int64_t offset, int64_t whence) {
  if (whence == 0 && offset < 0)
    throw_error(ErrorKind::ValueError, "Negative seek position %lld", static_cast<long long>(offset));
  if (whence != 0 && offset != 0) throw_error(ErrorKind::OSError, "Can't do nonzero cur-relative seeks");
  if (whence == 1) return Value::integer(static_cast<int64_t>(count_chars(std::string_view(f->text).substr(0, f->at))));
  if (whence == 2) {
    f->at = f->text.size();
  } else {
    int64_t missing = 0;
    f->at = 0;
    f->at = bytes_of(f, offset, missing) + static_cast<size_t>(missing);
  }
  return Value::integer(whence == 2 ? static_cast<int64_t>(count_chars(f->text)) : offset);
}

void flush_whole(Interpreter& in, TextFile* f) {
  flush(in, f);
  if (f->place != Place::Stream) return;
  const Value buffer = f->buffer;
  call_method(in, buffer, intern(in, "flush"));
}

// An encoder that marks the beginning does so again at the beginning alone.
void set_encoder(Interpreter& in, TextFile* f, bool at_start) {
  f->signature_due = at_start;
  if (f->codec_encoder.is_undefined() && (f->codec.is_undefined() || !f->writable)) return;
  const Value encoder = encoder_of_codec(in, f);
  if (at_start) call_method(in, encoder, intern(in, "reset"));
  else call_method(in, encoder, intern(in, "setstate"), {Value::integer(0)});
}

}  // namespace

Value file_seek(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  const bool in_memory = f->place == Place::Memory;
  const int64_t in_text = in_memory ? int_argument(in, args[1]) : 0;
  const int whence = whole_to_int(whole_index(in, args[2]));
  check_open(in, f);
  if (whence < 0 || whence > 2)
    throw_error(ErrorKind::ValueError, "%cnvalid whence (%d, should be 0, 1 or 2)", in_memory ? 'I' : 'i', whence);
  if (in_memory) return memory_seek(f, in_text, whence);
  check_seekable(in, f);
  Value place = args[1];
  const bool is_zero = equals(in, place, Value::integer(0));
  if (whence == 1) {
    if (!is_zero) throw_unsupported(in, "can't do nonzero cur-relative seeks");
    const Value tell[] = {args[0]};
    place = file_tell(in, Args{tell, 1});
  } else if (whence == 2) {
    if (!is_zero) throw_unsupported(in, "can't do nonzero end-relative seeks");
    flush_whole(in, f);
    forget_read(f);
    const int64_t end = go_to(in, f, 0, 2);
    set_encoder(in, f, end == 0);
    f->telling = true;
    return Value::integer(end);
  }
  if (truth(in, compare(in, CompareOp::Lt, place, Value::integer(0))))
    throw_error(ErrorKind::ValueError, "negative seek position %s", repr_text(in, place).c_str());
  flush_whole(in, f);
  const Cookie cookie = unpack(is_whole(place) ? place : call(in, Value(in.types.integer), {place}));
  go_to(in, f, cookie.position, 0);
  forget_read(f);
  restore(in, f, cookie);
  set_encoder(in, f, cookie.position == 0 && cookie.skip == 0);
  f->telling = true;
  return place;
}

Value file_tell(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_open(in, f);
  if (f->place == Place::Memory) {
    const size_t inside = std::min(f->at, f->text.size());
    return Value::integer(
        static_cast<int64_t>(count_chars(std::string_view(f->text).substr(0, inside)) + (f->at - inside)));
  }
  check_seekable(in, f);
  if (!f->telling) throw Error(ErrorKind::OSError, "telling position disabled by next() call");
  flush_whole(in, f);
  int64_t position = ask_position(in, f);
  if (f->blocks.empty()) {
    const bool waits = f->decoder != nullptr && f->decoder->after_return();
    return pack(in, {position, waits ? 1 : 0, 0, 0});
  }
  size_t which = f->blocks.size() - 1;
  while (which > 0 && f->blocks[which].start > f->at) --which;
  for (size_t i = which; i < f->blocks.size(); ++i) position -= static_cast<int64_t>(f->blocks[i].bytes.size());
  const TextBlock block = f->blocks[which];  // script code may read meanwhile
  const size_t wanted = f->at - block.start;
  if (is_plain(f, block)) {
    return Value::integer(position - static_cast<int64_t>(block.before.carry().size()) + static_cast<int64_t>(wanted));
  }
  Again again(in, f, block);
  return pack(in, again.find(position - static_cast<int64_t>(again.waiting()), wanted));
}

Value file_truncate(Interpreter& in, const Args& args) {
  TextFile* f = this_text_file(args);
  check_open(in, f);
  if (f->place == Place::Stream) {
    flush_whole(in, f);
    const Value buffer = f->buffer;
    return call_method(in, buffer, intern(in, "truncate"), {args[1]});
  }
  if (f->place == Place::Disk) {
    if (!f->writable) throw_unsupported(in, "truncate");
    flush(in, f);
    const int64_t size = args[1].is_none() ? ask_position(in, f) : offset_argument(in, args[1]);
    if (in.host().files->truncate(f->fd, size) != 0) throw_os_error(in, errno);
    return Value::integer(size);
  }
  const size_t saved = f->at;
  size_t end = std::min(f->at, f->text.size());
  if (!args[1].is_none()) {
    const int64_t size = size_argument(in, args[1]);
    if (size < 0) throw_error(ErrorKind::ValueError, "Negative size value %lld", static_cast<long long>(size));
    int64_t missing = 0;
    f->at = 0;
    end = bytes_of(f, size, missing);
  }
  f->text.resize(end);
  f->at = saved;
  return Value::integer(args[1].is_none() ? static_cast<int64_t>(count_chars(f->text)) : int_argument(in, args[1]));
}

}  // namespace tessera::stdlib
