// One text of names in the order of their code points (character_names.txt, whose three parts scripts/make_character_names describes),
// compressed in the program and read at the first name that a program asks for. An index of line starts is made then: a table of pointers
// in the program would cost every start its relocation.
// compile: small (reads the table once)
#include "lang/syntax/character_names.h"

#include <lzma.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <vector>

#include "lang/syntax/lexer_faults.h"

namespace tessera::lang {

namespace {

#include "generated/character_names.inc"

struct Line {
  uint32_t code;
  uint32_t at;  // where its name begins in the text
};

uint32_t hex_at(std::string_view text, size_t at) {
  uint32_t code = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), code, 16);
  return code;
}

class Names {
 public:
  Names() : text_(1 + kPackedTextSize, '\n') {
    lzma_options_lzma options;
    lzma_lzma_preset(&options, LZMA_PRESET_DEFAULT);
    options.dict_size = kPackedWindow;
    options.pb = 0;
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
    size_t read = 0, written = 1;
    if (lzma_raw_buffer_decode(filters, nullptr, reinterpret_cast<const uint8_t*>(kPacked), &read, sizeof kPacked - 1,
                               reinterpret_cast<uint8_t*>(text_.data()), &written, text_.size()) != LZMA_OK)
      throw std::bad_alloc();
    names_end_ = text_.find("\n\n", 1) + 1;
    aliases_end_ = text_.find("\n\n", names_end_ + 1) + 1;
    uint32_t code = 0;
    for (size_t at = 1; at < names_end_;) {
      const size_t end = text_.find('\n', at);
      const size_t mark = text_.find(';', at);
      code = mark < end ? hex_at(text_, mark + 1) : code + 1;
      lines_.push_back({code, static_cast<uint32_t>(at)});
      at = end + 1;
    }
  }

  std::string_view text() const { return text_; }

  std::string name_of(uint32_t code) const {
    const auto found =
        std::lower_bound(lines_.begin(), lines_.end(), code, [](const Line& l, uint32_t c) { return l.code < c; });
    if (found == lines_.end() || found->code != code) return "";
    return text_.substr(found->at, text_.find_first_of(";\n", found->at) - found->at);
  }

  // Of a name that begins at `at`, in the first part or among the aliases.
  uint32_t code_at(size_t at) const {
    if (at >= names_end_) return hex_at(text_, text_.find(';', at) + 1);
    const auto found =
        std::lower_bound(lines_.begin(), lines_.end(), at, [](const Line& l, size_t a) { return l.at < a; });
    return found->code;
  }

  // Where the name stands in the part that begins at `from`; npos: it does not.
  size_t find(std::string_view upper, size_t from) const {
    const std::string wanted = "\n" + std::string(upper);
    const char* const end = text_.data() + text_.size();
    const auto next = [&](const char* at) { return static_cast<const char*>(memmem(at, static_cast<size_t>(end - at), wanted.data(), wanted.size())); };
    for (const char* at = next(text_.data() + from); at != nullptr; at = next(at + 1)) {
      const char* const after = at + wanted.size();  // a null at the end of the text
      if (*after == ';' || *after == '\n' || after == end) return static_cast<size_t>(at - text_.data()) + 1;
    }
    return text_.npos;
  }

  size_t aliases_end() const { return aliases_end_; }

 private:
  std::string text_;  // with a line's end before the first name too
  size_t names_end_ = 0, aliases_end_ = 0;
  std::vector<Line> lines_;
};

const Names& names() {
  static const Names made;
  return made;
}

std::string upper(std::string_view name) {
  std::string out;
  for (const char c : name) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return out;
}

bool could_be_name(std::string_view name) { return !name.empty() && name.find_first_of(";\n") == name.npos; }

// ---- Names by rule ---------------------------------------------------------------------------------------------------

constexpr std::string_view kIdeograph = "CJK UNIFIED IDEOGRAPH-";
constexpr std::string_view kSyllable = "HANGUL SYLLABLE ";

bool is_ideograph(uint32_t code) {
  constexpr uint32_t kRanges[][2] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0x20000, 0x2a6df}, {0x2a700, 0x2b738},
                                     {0x2b740, 0x2b81d}, {0x2b820, 0x2cea1}, {0x2ceb0, 0x2ebe0}, {0x30000, 0x3134a}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const uint32_t(&r)[2]) { return code >= r[0] && code <= r[1]; });
}

// A syllable is a leading consonant, a vowel and perhaps a trailing consonant (The Unicode Standard, section 3.12).
constexpr uint32_t kFirstSyllable = 0xac00, kVowels = 21, kTrails = 28, kSyllables = 19 * kVowels * kTrails;
constexpr std::array<std::string_view, 19> kLeadNames = {"G",  "GG", "N", "D",  "DD", "R", "M", "B", "BB", "S",
                                                         "SS", "",   "J", "JJ", "C",  "K", "T", "P", "H"};
constexpr std::array<std::string_view, kVowels> kVowelNames = {"A",   "AE", "YA", "YAE", "EO", "E",  "YEO",
                                                               "YE",  "O",  "WA", "WAE", "OE", "YO", "U",
                                                               "WEO", "WE", "WI", "YU",  "EU", "YI", "I"};
constexpr std::array<std::string_view, kTrails> kTrailNames = {
    "",   "G",  "GG", "GS", "N",  "NJ", "NH", "D",  "L", "LG", "LM", "LB", "LS", "LT",
    "LP", "LH", "M",  "B",  "BS", "S",  "SS", "NG", "J", "C",  "K",  "T",  "P",  "H"};

std::string syllable_name(uint32_t code) {
  const uint32_t index = code - kFirstSyllable;
  return std::string(kSyllable) + std::string(kLeadNames[index / (kVowels * kTrails)]) +
         std::string(kVowelNames[index / kTrails % kVowels]) + std::string(kTrailNames[index % kTrails]);
}

// The index of the longest part that `text` begins with, which is taken away; nothing if there is none.
template <size_t n>
std::optional<uint32_t> take_longest(const std::array<std::string_view, n>& parts, std::string_view& text) {
  std::optional<uint32_t> best;
  for (uint32_t i = 0; i < n; ++i)
    if (text.starts_with(parts[i]) && (!best || parts[i].size() > parts[*best].size())) best = i;
  if (best) text.remove_prefix(parts[*best].size());
  return best;
}

std::optional<char32_t> syllable_named(std::string_view text) {
  const auto lead = take_longest(kLeadNames, text);
  const auto vowel = take_longest(kVowelNames, text);
  const auto trail = take_longest(kTrailNames, text);
  if (!lead || !vowel || !trail || !text.empty()) return std::nullopt;
  return kFirstSyllable + (*lead * kVowels + *vowel) * kTrails + *trail;
}

std::optional<char32_t> ideograph_named(std::string_view digits) {
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.size() < 4 || digits.size() > 5)
    return std::nullopt;
  return is_ideograph(code) ? std::optional<char32_t>(code) : std::nullopt;
}

}  // namespace

std::optional<char32_t> character_named(std::string_view name) {
  if (!could_be_name(name)) return std::nullopt;
  const std::string wanted = upper(name);
  if (wanted.starts_with(kIdeograph)) return ideograph_named(std::string_view(wanted).substr(kIdeograph.size()));
  if (wanted.starts_with(kSyllable)) return syllable_named(std::string_view(wanted).substr(kSyllable.size()));
  const size_t at = names().find(wanted, 0);
  if (at == std::string::npos || at >= names().aliases_end()) return std::nullopt;
  return names().code_at(at);
}

std::string sequence_named(std::string_view name) {
  std::string out;
  if (!could_be_name(name)) return out;
  const std::string_view text = names().text();
  const size_t found = names().find(upper(name), names().aliases_end());
  if (found == text.npos) return out;
  size_t at = text.find(';', found);
  const size_t end = std::min(text.find('\n', at), text.size());
  while (at < end) {
    append_utf8(out, hex_at(text, at + 1));
    at = std::min(text.find('+', at + 1), end);
  }
  return out;
}

std::string name_of_character(char32_t code) {
  if (is_ideograph(code)) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%X", static_cast<unsigned>(code));
    return std::string(kIdeograph) + digits;
  }
  if (code >= kFirstSyllable && code < kFirstSyllable + kSyllables) return syllable_name(code);
  return names().name_of(code);
}

}  // namespace tessera::lang
