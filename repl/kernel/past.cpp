#include "repl/kernel/past.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace tessera::repl {
namespace {

// Everything that was run before has one number, that of this kernel follows.
constexpr int64_t kBefore = 1, kThis = 2;
constexpr size_t kMostShared =
    256 << 10;  // a longer cell does not go into the file that every prompt reads at its start

size_t character_length(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) ++length;
  return std::min(length, text.size());
}

// Does the character fit the class at the beginning of `pattern`, "[...]"? Its length, or 0: it is no class.
size_t read_class(std::string_view pattern, std::string_view character, bool& fits) {
  size_t at = 1;
  const bool is_not = pattern.substr(at, 1) == "^";
  if (is_not) ++at;
  bool is_in = false;
  for (bool first = true; at < pattern.size() && (first || pattern[at] != ']'); first = false) {
    const std::string_view low = pattern.substr(at, character_length(pattern.substr(at)));
    at += low.size();
    std::string_view high = low;
    if (pattern.substr(at, 1) == "-" && at + 1 < pattern.size() && pattern[at + 1] != ']') {
      high = pattern.substr(at + 1, character_length(pattern.substr(at + 1)));
      at += 1 + high.size();
    }
    is_in = is_in || (low <= character && character <= high);
  }
  fits = is_in != is_not;
  return at < pattern.size() ? at + 1 : 0;
}

}  // namespace

// One star is undone at a time, the last: so it ends in the product of the lengths.
bool fits_pattern(std::string_view text, std::string_view pattern) {
  size_t t = 0, p = 0, star = pattern.npos, star_text = 0;
  while (t < text.size()) {
    const std::string_view character = text.substr(t, character_length(text.substr(t)));
    bool fits = false;
    size_t step = 0;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
      continue;
    }
    if (p < pattern.size() && pattern[p] == '?') {
      fits = true;
      step = 1;
    } else if (p < pattern.size() && pattern[p] == '[') {
      step = read_class(pattern.substr(p), character, fits);
    }
    if (step == 0 && p < pattern.size()) {
      fits = pattern.substr(p).starts_with(character);
      step = character.size();
    }
    if (fits) {
      t += character.size();
      p += step;
    } else if (star != pattern.npos) {
      p = star + 1;
      star_text += character_length(text.substr(star_text));
      t = star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

void Past::add(int number, const std::string& cell, std::optional<std::string> output) {
  own_.push_back({number, cell, std::move(output)});
  if (cell.size() <= kMostShared) shared_.add(cell);
}

std::vector<Past::Cell> Past::all() const {
  std::vector<Cell> cells;
  const size_t before = shared_.blocks().size() - shared_.own();
  for (size_t i = 0; i < before; ++i)
    cells.push_back({kBefore, static_cast<int64_t>(i) + 1, &shared_.blocks()[i], nullptr});
  for (const Own& each : own_) cells.push_back({kThis, each.number, &each.text, each.output ? &*each.output : nullptr});
  return cells;
}

// Sessions from 1; 0 is this one, -1 the one before it.
std::vector<Past::Cell> Past::range(const Message& request) const {
  int64_t session = request.number("session", 0);
  if (session <= 0) session += kThis;
  std::vector<Cell> cells = all();
  std::erase_if(cells, [&](const Cell& each) { return each.session != session; });
  const int64_t behind = cells.empty() ? 1 : cells.back().number + 1;
  const auto from_end = [&](int64_t number) { return number < 0 ? number + behind : number; };
  const int64_t start = from_end(request.number("start", 0));
  const int64_t stop = from_end(request.number("stop", std::numeric_limits<int64_t>::max()));
  std::erase_if(cells, [&](const Cell& each) { return each.number < start || each.number >= stop; });
  return cells;
}

std::vector<Past::Cell> Past::found(const Message& request) const {
  const std::string kind = request.text("hist_access_type");
  if (kind == "range") return range(request);
  if (kind != "tail" && kind != "search") return {};
  std::vector<Cell> cells = all();
  if (kind == "search") {
    std::string pattern = request.text("pattern");
    if (pattern.empty()) pattern = "*";
    std::erase_if(cells, [&](const Cell& each) { return !fits_pattern(*each.text, pattern); });
    if (request.flag("unique", false)) {  // the last of each
      std::map<std::string_view, size_t> last;
      for (size_t i = 0; i < cells.size(); ++i) last[*cells[i].text] = i;
      size_t i = 0;
      std::erase_if(cells, [&](const Cell& each) { return last[*each.text] != i++; });
    }
  }
  const int64_t most = request.number("n", kind == "tail" ? 10 : std::numeric_limits<int64_t>::max());
  const size_t count = std::min(cells.size(), static_cast<size_t>(std::max<int64_t>(most, 0)));
  cells.erase(cells.begin(), cells.end() - static_cast<std::ptrdiff_t>(count));
  return cells;
}

Json Past::answer(const Message& request) const {
  const bool with_output = request.flag("output", false);
  Json list = Json::array();
  for (const Cell& each : found(request)) {
    Json text = *each.text;
    if (with_output) text = Json::array({std::move(text), each.output == nullptr ? Json() : Json(*each.output)});
    list.push_back(Json::array({each.session, each.number, std::move(text)}));
  }
  return list;
}

}  // namespace tessera::repl
