// compile: small (waits for a person)
#include "repl/prompt/keys.h"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "repl/characters.h"

namespace tessera::repl {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr size_t kLongestSequence = 256;  // one that goes on longer is none

// The sum that xterm sends with a key, less one: shift 1, alt 2, control 4.
std::string modifiers(int sum) {
  const int bits = sum > 0 ? sum - 1 : 0;
  std::string name;
  if ((bits & 4) != 0) name += "C-";
  if ((bits & 2) != 0) name += "M-";
  if ((bits & 1) != 0) name += "S-";
  return name;
}

const char* name_of_letter(char letter) {
  switch (letter) {
    case 'A': return "Up";
    case 'B': return "Down";
    case 'C': return "Right";
    case 'D': return "Left";
    case 'E': return "Begin";
    case 'F': return "End";
    case 'H': return "Home";
    case 'M': return "Enter";  // of the key pad
    case 'P': return "F1";
    case 'Q': return "F2";
    case 'R': return "F3";
    case 'S': return "F4";
    default: return nullptr;
  }
}

const char* name_of_number(int number) {
  switch (number) {
    case 1:
    case 7: return "Home";
    case 2: return "Insert";
    case 3: return "Delete";
    case 4:
    case 8: return "End";
    case 5: return "PageUp";
    case 6: return "PageDown";
    default: return nullptr;
  }
}

Key character_key(char32_t code, std::string prefix) {
  Key key;
  const bool plain = prefix.empty() || prefix == "S-";
  switch (code) {
    case '\r':
    case '\n': key.name = prefix + "Enter"; return key;
    case '\t': key.name = prefix + "Tab"; return key;
    case 0x7f: key.name = prefix + "Backspace"; return key;
    case kEscape: key.name = prefix + "Escape"; return key;
    default: break;
  }
  if (code < 0x20) {
    key.name = "C-" + prefix;
    if (code >= 1 && code <= 26) {
      key.name += static_cast<char>('a' + code - 1);
    } else {
      key.name += code == 0 ? '@' : static_cast<char>(code + 0x40);
    }
    return key;
  }
  if (plain) {
    append_utf8(key.text, code);
    key.name = key.text;
    return key;
  }
  key.name = std::move(prefix);
  append_utf8(key.name, code);
  return key;
}

std::vector<int> numbers_of(std::string_view parameters) {
  std::vector<int> numbers;
  while (!parameters.empty()) {
    int value = 0;
    const size_t end = std::min(parameters.find(';'), parameters.size());
    std::from_chars(parameters.data(), parameters.data() + end, value);  // what follows a ':' is left out
    numbers.push_back(value);
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
  }
  return numbers;
}

// A whole CSI sequence; no name: it means nothing here.
std::optional<Key> csi_key(std::string_view parameters, char final) {
  if (!parameters.empty() && parameters[0] >= '<' && parameters[0] <= '?') return std::nullopt;  // answers, mice
  const std::vector<int> numbers = numbers_of(parameters);
  const auto number = [&](size_t i) { return i < numbers.size() ? numbers[i] : 0; };
  if (final == 'Z') return Key{"S-Tab", ""};
  if (final == 'u') return character_key(static_cast<char32_t>(number(0)), modifiers(number(1)));
  if (final == '~' && number(0) == 27) return character_key(static_cast<char32_t>(number(2)), modifiers(number(1)));
  const char* const name = final == '~' ? name_of_number(number(0)) : name_of_letter(final);
  if (name == nullptr || (final == 'R' && numbers.size() > 1 && number(0) != 1)) return std::nullopt;
  return Key{modifiers(number(1)) + name, ""};
}

}  // namespace

std::optional<Key> KeyReader::next() { return next_of(false); }

std::optional<Key> KeyReader::next_after_wait() { return next_of(true); }

std::string KeyReader::take_rest() {
  std::string rest = std::move(pasted_);
  rest += pending_;
  pasted_.clear();
  pending_.clear();
  pasting_ = false;
  return rest;
}

std::optional<Key> KeyReader::paste_end() {
  const size_t end = pending_.find(kPasteEnd);
  if (end == std::string::npos) {
    // All but what may be the beginning of the end.
    const size_t keep = std::min(pending_.size(), kPasteEnd.size() - 1);
    pasted_.append(pending_, 0, pending_.size() - keep);
    pending_.erase(0, pending_.size() - keep);
    return std::nullopt;
  }
  pasted_.append(pending_, 0, end);
  pending_.erase(0, end + kPasteEnd.size());
  pasting_ = false;
  return Key{"Paste", std::exchange(pasted_, {})};
}

namespace {

enum class Found { kKey, kNothing, kUnfinished };

struct Sequence {
  Found found = Found::kUnfinished;
  Key key;
  size_t bytes = 0;
  bool paste_begins = false;
};

// `text` begins with "\x1b[".
Sequence read_csi(std::string_view text) {
  if (text.size() > 2 && text[2] == '[') {  // the Linux console's F1 to F5
    return text.size() > 3 ? Sequence{Found::kNothing, {}, 4, false} : Sequence{};
  }
  if (text.size() > 2 && text[2] == 'M') {  // a mouse in the old form: three bytes follow
    return text.size() > 5 ? Sequence{Found::kNothing, {}, 6, false} : Sequence{};
  }
  size_t at = 2;
  while (at < text.size() && text[at] >= 0x20 && text[at] < 0x40) ++at;
  if (at == text.size()) return at < kLongestSequence ? Sequence{} : Sequence{Found::kNothing, {}, at, false};
  // A byte that cannot end it: the sequence was cut off, and that byte begins something new.
  if (text[at] < 0x40 || text[at] > 0x7e) return {Found::kNothing, {}, at, false};
  const std::string_view parameters = text.substr(2, at - 2);
  if (parameters == "200" && text[at] == '~') return {Found::kNothing, {}, at + 1, true};
  std::optional<Key> key = csi_key(parameters, text[at]);
  if (!key) return {Found::kNothing, {}, at + 1, false};
  return {Found::kKey, std::move(*key), at + 1, false};
}

// A string that a terminal sends (DCS, OSC, ...): to its end, BEL or ESC backslash.
Sequence read_string(std::string_view text) {
  for (size_t at = 2; at < text.size(); ++at) {
    if (text[at] == '\a') return {Found::kNothing, {}, at + 1, false};
    if (text[at] == kEscape && at + 1 < text.size() && text[at + 1] == '\\')
      return {Found::kNothing, {}, at + 2, false};
  }
  return {};
}

Sequence read_character(std::string_view text, std::string prefix) {
  if (unfinished_utf8(text.substr(0, 4)) == text.size()) return {};
  const CodePoint point = code_point_at(text, 0);
  return {Found::kKey, character_key(point.code, std::move(prefix)), point.bytes, false};
}

Sequence read_escape(std::string_view text, bool wait_is_over) {
  if (text.size() == 1) return wait_is_over ? Sequence{Found::kKey, {"Escape", ""}, 1, false} : Sequence{};
  Sequence found;
  switch (text[1]) {
    case '[': found = read_csi(text); break;
    case 'O': {
      if (text.size() < 3) break;
      const char* const name = name_of_letter(text[2]);
      found = name == nullptr ? Sequence{Found::kNothing, {}, 3, false} : Sequence{Found::kKey, {name, ""}, 3, false};
      break;
    }
    case ']':
    case 'P': found = read_string(text); break;
    case '_':  // what kitty answers, or alt
      if (text.size() > 2) {
        found = text[2] == 'G' ? read_string(text) : Sequence{Found::kKey, {"M-_", ""}, 2, false};
      }
      break;
    case kEscape: {  // alt with a key that is a sequence itself, or two Escapes
      found = text.size() > 2 ? read_escape(text.substr(1), false) : Sequence{};
      if (found.found == Found::kKey && text.size() > 2 && (text[2] == '[' || text[2] == 'O')) {
        return {Found::kKey, {"M-" + found.key.name, ""}, found.bytes + 1, false};
      }
      if (found.found != Found::kUnfinished || wait_is_over) return {Found::kKey, {"Escape", ""}, 1, false};
      return {};
    }
    default:
      found = read_character(text.substr(1), "M-");
      if (found.found == Found::kKey) ++found.bytes;
      if (found.found == Found::kUnfinished && wait_is_over) return {Found::kKey, {"Escape", ""}, 1, false};
      return found;
  }
  if (found.found != Found::kUnfinished || !wait_is_over) return found;
  // Nothing followed: "\x1b[" by itself is alt with that character.
  if (text.size() == 2) return {Found::kKey, {std::string("M-") + text[1], ""}, 2, false};
  return {Found::kNothing, {}, text.size(), false};
}

}  // namespace

std::optional<Key> KeyReader::next_of(bool wait_is_over) {
  while (!pending_.empty()) {
    if (pasting_) return paste_end();
    Sequence found =
        pending_[0] == kEscape ? read_escape(pending_, wait_is_over) : read_character(pending_, std::string());
    if (found.found == Found::kUnfinished) {
      if (!wait_is_over) return std::nullopt;
      found = {Found::kNothing, {}, 1, false};  // half a character
    }
    pending_.erase(0, found.bytes);
    if (found.paste_begins) pasting_ = true;
    if (found.found == Found::kKey) return std::move(found.key);
  }
  return std::nullopt;
}

}  // namespace tessera::repl
