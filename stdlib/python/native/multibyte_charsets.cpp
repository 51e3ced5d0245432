// compile: small (encodings of East Asia are rare)
#include "stdlib/python/native/multibyte_charsets.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace tessera::stdlib {
namespace {

// How many bytes a sequence has.
enum class Shape : uint8_t { Double, ShiftJis, Cp932, EucJp, EucKr, Gb18030 };

// `count` sequences in a row from `first` on, and their characters (0: none) for both directions; no characters: none has one.
struct CharsetRun {
  uint32_t first, count;
  const uint16_t* codes;
};

// For encoding alone; 0: the character has no sequence.
struct EncodeFix {
  uint32_t code_point, sequence;
};

#include "stdlib/python/native/multibyte_fixes.inc"

}  // namespace

struct Charset {
  std::string_view name;
  const char* iconv_name;
  Shape shape = Shape::Double;
  std::span<const CharsetRun> runs = {};
  std::span<const EncodeFix> encode_fixes = {};
};

namespace {

constexpr Charset kCharsets[] = {
    {"big5", "BIG5", Shape::Double, k_big5_runs},
    {"cp932", "CP932", Shape::Cp932, k_cp932_runs, k_cp932_encode},
    {"cp949", "UHC"},
    {"cp950", "BIG5", Shape::Double, k_cp950_runs, k_cp950_encode},
    {"euc_jp", "EUC-JP", Shape::EucJp, k_euc_jp_runs, k_euc_jp_encode},
    {"euc_kr", "EUC-KR", Shape::EucKr, k_euc_kr_runs, k_euc_kr_encode},
    {"gb18030", "GB18030", Shape::Gb18030, k_gb18030_runs, k_gb18030_encode},
    {"gb2312", "EUC-CN"},
    {"gbk", "GBK"},
    {"johab", "JOHAB", Shape::Double, k_johab_runs, k_johab_encode},
    {"shift_jis", "SJIS", Shape::ShiftJis, k_shift_jis_runs, k_shift_jis_encode},
};

unsigned byte_at(std::string_view bytes, size_t i) { return static_cast<unsigned char>(bytes[i]); }

// The length of the sequence at the beginning of `bytes`, as far as these tell; 0: none begins so.
size_t sequence_length(Shape shape, std::string_view bytes) {
  const unsigned first = byte_at(bytes, 0);
  if (first < 0x80) return 1;
  switch (shape) {
    case Shape::ShiftJis:
    case Shape::Cp932:
      if ((first >= 0x81 && first <= 0x9f) || (first >= 0xe0 && first <= 0xfc)) return 2;
      return shape == Shape::Cp932 || (first >= 0xa1 && first <= 0xdf) ? 1 : 0;
    case Shape::EucJp: return first == 0x8f ? 3 : 2;
    case Shape::EucKr: return bytes.starts_with("\xa4\xd4") ? 8 : 2;
    case Shape::Gb18030: return bytes.size() > 1 && byte_at(bytes, 1) >= '0' && byte_at(bytes, 1) <= '9' ? 4 : 2;
    default: return 2;
  }
}

uint32_t number_of(std::string_view sequence) {
  uint32_t n = 0;
  for (size_t i = 0; i < sequence.size(); ++i) n = n << 8 | byte_at(sequence, i);
  return n;
}

// KS X 1001 spells a syllable that it has no code for: a filler, and three letters, the last of which may be a filler. The second bytes of
// the letters that may begin and end a syllable; those in its middle follow on 0xbf.
constexpr std::string_view kInitials = "\xa1\xa2\xa4\xa7\xa8\xa9\xb1\xb2\xb3\xb5\xb6\xb7\xb8\xb9\xba\xbb\xbc\xbd\xbe";
constexpr std::string_view kFinals =
    "\xd4\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa9\xaa\xab\xac\xad\xae\xaf\xb0\xb1\xb2\xb4\xb5\xb6\xb7\xb8\xba\xbb\xbc\xbd\xbe";
constexpr uint32_t kFirstSyllable = 0xac00, kSyllables = 11172, kMiddles = 21;

std::optional<uint32_t> spelt_syllable(std::string_view bytes) {
  for (size_t i = 0; i < 8; i += 2)
    if (bytes[i] != '\xa4') return std::nullopt;
  const size_t initial = kInitials.find(bytes[3]), final = kFinals.find(bytes[7]);
  const unsigned middle = byte_at(bytes, 5) - 0xbf;
  if (initial == kInitials.npos || final == kFinals.npos || middle >= kMiddles) return std::nullopt;
  return kFirstSyllable + static_cast<uint32_t>((initial * kMiddles + middle) * kFinals.size() + final);
}

size_t spell_syllable(uint32_t code_point, char* out) {
  const uint32_t n = code_point - kFirstSyllable, finals = static_cast<uint32_t>(kFinals.size());
  const char spelling[] = {'\xa4', '\xd4', '\xa4', kInitials[n / (finals * kMiddles)], '\xa4', static_cast<char>(0xbf + n / finals % kMiddles),
                           '\xa4', kFinals[n % finals]};
  std::memcpy(out, spelling, sizeof spelling);
  return sizeof spelling;
}

const iconv_t kNoIconv = reinterpret_cast<iconv_t>(-1);

// What `handle` makes of `given`, all of it; 0 bytes: nothing.
size_t convert(iconv_t handle, std::string_view given, char* out, size_t room) {
  if (handle == kNoIconv) return 0;
  char* from = const_cast<char*>(given.data());  // iconv's signature; the bytes are only read
  char* to = out;
  size_t left = given.size(), free = room;
  iconv(handle, nullptr, nullptr, nullptr, nullptr);
  if (iconv(handle, &from, &left, &to, &free) != 0 || left != 0) return 0;
  return room - free;
}

}  // namespace

const Charset* find_charset(std::string_view name) {
  for (const Charset& each : kCharsets)
    if (each.name == name) return &each;
  return nullptr;
}

CharsetConverter::CharsetConverter(const Charset& charset)
    : charset_(charset), to_(iconv_open(charset.iconv_name, "UTF-32LE")), from_(iconv_open("UTF-32LE", charset.iconv_name)) {}

CharsetConverter::~CharsetConverter() {
  if (to_ != kNoIconv) iconv_close(to_);
  if (from_ != kNoIconv) iconv_close(from_);
}

bool CharsetConverter::is_open() const { return to_ != kNoIconv && from_ != kNoIconv; }

std::optional<std::string_view> CharsetConverter::put(uint32_t sequence) {
  if (sequence == 0) return std::nullopt;
  size_t size = 0;
  for (int shift = 24; shift >= 0; shift -= 8)
    if (sequence >> shift != 0) bytes_[size++] = static_cast<char>(sequence >> shift);
  return std::string_view(bytes_, size);
}

// CP932 has IBM's characters twice; those that NEC chose first are written.
void CharsetConverter::fill_preferred() {
  for (uint32_t row = 0xed; row <= 0xee; ++row) {
    for (uint32_t at = 0x40; at <= 0xfc; ++at) {
      const char sequence[] = {static_cast<char>(row), static_cast<char>(at)};
      if (const auto code = look_up({sequence, 2})) preferred_.emplace(*code, static_cast<uint16_t>(row << 8 | at));
    }
  }
}

std::optional<std::string_view> CharsetConverter::encode(uint32_t code_point) {
  for (const EncodeFix& each : charset_.encode_fixes)
    if (each.code_point == code_point) return put(each.sequence);
  for (const CharsetRun& run : charset_.runs) {
    if (run.codes == nullptr || code_point == 0) continue;
    const uint16_t* const end = run.codes + run.count;
    const uint16_t* const found = std::find(run.codes, end, code_point);
    if (found != end) return put(run.first + static_cast<uint32_t>(found - run.codes));
  }
  const char given[] = {static_cast<char>(code_point), static_cast<char>(code_point >> 8), static_cast<char>(code_point >> 16), 0};
  const size_t size = convert(to_, {given, 4}, bytes_, sizeof bytes_);
  if (size == 0 && charset_.shape == Shape::EucKr && code_point - kFirstSyllable < kSyllables)
    return std::string_view(bytes_, spell_syllable(code_point, bytes_));
  const std::string_view bytes(bytes_, size);
  if (size == 0 || sequence_length(charset_.shape, bytes) != size) return std::nullopt;
  const uint32_t sequence = number_of(bytes);
  for (const CharsetRun& run : charset_.runs)
    if (sequence - run.first < run.count) return std::nullopt;  // CPython has another character there
  if (charset_.shape == Shape::Cp932 && sequence >= 0xfa00) {
    if (preferred_.empty()) fill_preferred();
    if (const auto found = preferred_.find(code_point); found != preferred_.end()) return put(found->second);
  }
  return bytes;
}

std::optional<uint32_t> CharsetConverter::look_up(std::string_view sequence) {
  const uint32_t number = number_of(sequence);
  for (const CharsetRun& run : charset_.runs) {
    if (number - run.first >= run.count) continue;
    const uint32_t code = run.codes == nullptr ? 0 : run.codes[number - run.first];
    return code == 0 ? std::nullopt : std::optional(code);
  }
  unsigned char out[16];
  if (convert(from_, sequence, reinterpret_cast<char*>(out), sizeof out) != 4) return std::nullopt;
  return out[0] | out[1] << 8 | out[2] << 16;
}

CharsetConverter::Decoded CharsetConverter::decode(std::string_view bytes) {
  const size_t size = sequence_length(charset_.shape, bytes);
  if (size > bytes.size()) return {.cut_off = true};
  if (size == 0) return {};
  const auto code = size == 8 ? spelt_syllable(bytes) : look_up(bytes.substr(0, size));
  return code ? Decoded{.code_point = *code, .size = size} : Decoded{};
}

}  // namespace tessera::stdlib
