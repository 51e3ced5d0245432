// Where the motions of vi's normal mode go.
#include <algorithm>
#include <cctype>

#include "repl/prompt/text_buffer.h"
#include "repl/prompt/vi_keys.h"
#include "repl/session/highlight.h"

namespace tessera::repl {
namespace {

enum class Kind { kBlank, kWord, kOther };

Kind kind_at(const std::string& text, size_t at, bool big) {
  const char c = text[at];
  if (c == ' ' || c == '\t' || c == '\n') return Kind::kBlank;
  return big || is_word_byte(c) ? Kind::kWord : Kind::kOther;
}

size_t word_forward(const std::string& text, size_t at, bool big) {
  if (at >= text.size()) return at;
  const Kind kind = kind_at(text, at, big);
  while (at < text.size() && kind != Kind::kBlank && kind_at(text, at, big) == kind) ++at;
  while (at < text.size() && kind_at(text, at, big) == Kind::kBlank) ++at;
  return at;
}

// The last character of this word, or of the next when `at` is at one.
size_t word_end(const TextBuffer& buffer, size_t at, bool big) {
  const std::string& text = buffer.text();
  at = buffer.right_of(at);
  while (at < text.size() && kind_at(text, at, big) == Kind::kBlank) ++at;
  if (at >= text.size()) return buffer.left_of(text.size());
  const Kind kind = kind_at(text, at, big);
  size_t end = at;
  while (end < text.size() && kind_at(text, end, big) == kind) ++end;
  return buffer.left_of(end);
}

size_t word_back(const std::string& text, size_t at, bool big) {
  while (at > 0 && kind_at(text, at - 1, big) == Kind::kBlank) --at;
  if (at == 0) return 0;
  const Kind kind = kind_at(text, at - 1, big);
  while (at > 0 && kind_at(text, at - 1, big) == kind) --at;
  return at;
}

}  // namespace

std::optional<ViKeys::Motion> ViKeys::motion(const TextBuffer& buffer, const std::string& key, size_t from, int times) {
  const std::string& text = buffer.text();
  const bool big = key == "W" || key == "B" || key == "E";
  const size_t line_begin = buffer.line_begin(from), line_end = buffer.line_end(from);
  size_t to = from;
  if (key == "h" || key == "Left" || key == "Backspace") {
    for (int i = 0; i < times && to > line_begin; ++i) to = buffer.left_of(to);
    return Motion{to};
  }
  if (key == "l" || key == "Right" || key == " ") {
    for (int i = 0; i < times && to < line_end; ++i) to = buffer.right_of(to);
    return Motion{to};
  }
  if (key == "w" || key == "W") {
    // cw changes the word and leaves the blanks behind it.
    if (operator_ == 'c' && from < text.size() && kind_at(text, from, big) != Kind::kBlank) {
      size_t end = from;
      for (int i = 0; i < times; ++i) {
        const Kind kind = kind_at(text, std::min(end, text.size() - 1), big);
        while (end < text.size() && kind_at(text, end, big) == kind) ++end;
        if (i + 1 < times) end = word_forward(text, end, big);
      }
      return Motion{end};
    }
    for (int i = 0; i < times; ++i) to = word_forward(text, to, big);
    if (operator_ != 0 && to > line_end && times == 1) to = line_end;
    return Motion{to};
  }
  if (key == "e" || key == "E") {
    for (int i = 0; i < times; ++i) to = word_end(buffer, to, big);
    return Motion{to, true};
  }
  if (key == "b" || key == "B") {
    for (int i = 0; i < times; ++i) to = word_back(text, to, big);
    return Motion{to};
  }
  return line_motion(buffer, key, from, times);
}

std::optional<ViKeys::Motion> ViKeys::line_motion(const TextBuffer& buffer, const std::string& key, size_t from,
                                                  int times) {
  const std::string& text = buffer.text();
  size_t to = from;
  if (key == "0" || key == "Home") return Motion{buffer.line_begin(from)};
  if (key == "^") return Motion{buffer.first_of_line(from)};
  if (key == "$" || key == "End") {
    to = buffer.line_end(from);
    for (int i = 1; i < times && to < text.size(); ++i) to = buffer.line_end(to + 1);
    return Motion{to};
  }
  if (key == "gg" || key == "G") {
    const bool last = key == "G" && !is_counted();
    size_t line = last ? buffer.line_begin(text.size()) : 0;
    for (int i = 1; !last && i < times && buffer.line_end(line) < text.size(); ++i) line = buffer.line_end(line) + 1;
    return Motion{operator_ == 0 ? buffer.first_of_line(line) : line, false, true};
  }
  if (key == "j" || key == "k" || key == "Down" || key == "Up") {
    const bool down = key == "j" || key == "Down";
    for (int i = 0; i < times; ++i) {
      const size_t next = down ? buffer.line_below(to) : buffer.line_above(to);
      if (next == std::string::npos)
        return operator_ == 0 && key.size() > 1 ? std::nullopt : std::optional(Motion{to, false, true});
      to = next;
    }
    return Motion{to, false, true};
  }
  if (key == "%") {
    const auto pair = matching_brackets(text, highlight(text), from);
    if (!pair) return Motion{from};
    return Motion{pair->first == from ? pair->second : pair->first, true};
  }
  if ((key == ";" || key == ",") && last_find_.kind != 0) {
    Find again = last_find_;
    const auto turned =
        static_cast<char>(std::islower(again.kind) != 0 ? std::toupper(again.kind) : std::tolower(again.kind));
    if (key == ",") again.kind = turned;
    return find(buffer, again, from, times).value_or(Motion{from});
  }
  return std::nullopt;
}

std::optional<ViKeys::Motion> ViKeys::find(const TextBuffer& buffer, const Find& what, size_t from, int times) const {
  const std::string& text = buffer.text();
  const size_t begin = buffer.line_begin(from), end = buffer.line_end(from);
  const bool forward = what.kind == 'f' || what.kind == 't';
  size_t at = from;
  for (int i = 0; i < times; ++i) {
    const bool beside = i == 0 && (what.kind == 't' || what.kind == 'T');
    if (forward) {
      size_t start = buffer.right_of(at);
      if (beside && text.compare(start, what.character.size(), what.character) == 0) start = buffer.right_of(start);
      at = text.find(what.character, start);
      if (at >= end) return std::nullopt;
    } else {
      if (at == begin) return std::nullopt;
      size_t start = buffer.left_of(at);
      if (beside && start > begin && text.compare(start, what.character.size(), what.character) == 0)
        start = buffer.left_of(start);
      at = text.rfind(what.character, start);
      if (at == std::string::npos || at < begin) return std::nullopt;
    }
  }
  if (what.kind == 't') return Motion{buffer.left_of(at), true};
  if (what.kind == 'T') return Motion{buffer.right_of(at)};
  return Motion{at, what.kind == 'f'};
}

}  // namespace tessera::repl
