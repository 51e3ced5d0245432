#include "repl/prompt/menu.h"

#include <algorithm>
#include <utility>

#include "repl/characters.h"

namespace tessera::repl {
namespace {

constexpr size_t kFew = 10;  // candidates that are shown one a line, with their notes
constexpr int kGap = 2;
constexpr int kWidest = 20;  // a column at least, before names are cut

std::string note_of(const Candidate& candidate) {
  if (candidate.kind.empty() || candidate.note.empty()) return candidate.kind + candidate.note;
  return candidate.kind + "  " + candidate.note;
}

// Shown without what would break a line.
std::string one_line(std::string_view text) {
  std::string shown(text);
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  return shown;
}

std::string cut(const std::string& text, int columns) {
  if (columns_of(text) <= columns) return text;
  return std::string(fitting(text, columns - 1)) + "~";
}

}  // namespace

std::string common_beginning(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) return "";
  std::string_view common = candidates[0].text;
  for (const Candidate& each : candidates) {
    const auto differs = std::mismatch(common.begin(), common.end(), each.text.begin(), each.text.end());
    common = common.substr(0, static_cast<size_t>(differs.first - common.begin()));
  }
  while (!common.empty() && common.size() < candidates[0].text.size() &&
         (static_cast<unsigned char>(candidates[0].text[common.size()]) & 0xc0) == 0x80)
    common.remove_suffix(1);
  return std::string(common);
}

void Menu::open(Completion completion) {
  completion_ = std::move(completion);
  open_ = true;
  at_ = -1;
  top_ = 0;
  last_ = {completion_.candidates.size(), 1, 0};
}

const Candidate* Menu::chosen() const {
  return open_ && at_ >= 0 ? &completion_.candidates[static_cast<size_t>(at_)] : nullptr;
}

void Menu::step(int by) {
  const long count = static_cast<long>(completion_.candidates.size());
  if (at_ < 0) {
    at_ = by > 0 ? 0 : count - 1;
  } else {
    at_ = (at_ + by + count) % count;
  }
}

void Menu::step_row(int by) { step(by); }

void Menu::step_column(int by) {
  const long count = static_cast<long>(completion_.candidates.size());
  if (at_ < 0 || last_.columns <= 1) return step(by);
  const long next = at_ + by * static_cast<long>(last_.in_a_column);
  if (next >= 0 && next < count) at_ = next;
}

Menu::Shape Menu::shape(int columns, int most) const {
  const std::vector<Candidate>& all = completion_.candidates;
  int width = 0;
  for (const Candidate& each : all) width = std::max(width, columns_of(each.text));
  const int room = std::max(columns - kGap - 2, 4);
  Shape shape{all.size(), 1, std::min(width, room)};
  if (all.size() <= std::min(kFew, static_cast<size_t>(std::max(most, 1)))) return shape;
  width = shape.width =
      std::min(width, std::max(room / 3, std::min(kWidest, room)));  // one long name does not cost all others a column
  shape.columns = static_cast<size_t>(std::max(1, (columns - 1) / (width + kGap)));
  shape.in_a_column = (all.size() + shape.columns - 1) / shape.columns;
  shape.columns = (all.size() + shape.in_a_column - 1) / shape.in_a_column;
  return shape;
}

std::vector<Pieces> Menu::lines(int columns, int most) {
  const std::vector<Candidate>& all = completion_.candidates;
  last_ = shape(columns, most);
  const bool notes = last_.columns == 1 && last_.in_a_column <= kFew;
  const size_t foot = notes ? 0 : 1;
  const size_t shown = std::min(last_.in_a_column, static_cast<size_t>(std::max(most - static_cast<int>(foot), 1)));
  if (at_ >= 0) {
    const size_t row = static_cast<size_t>(at_) % last_.in_a_column;
    if (row < top_) top_ = row;
    if (row >= top_ + shown) top_ = row - shown + 1;
  }
  std::vector<Pieces> lines;
  for (size_t row = top_; row < std::min(top_ + shown, last_.in_a_column); ++row) {
    Pieces line;
    for (size_t column = 0; column < last_.columns; ++column) {
      const size_t i = column * last_.in_a_column + row;
      if (i >= all.size()) break;
      std::string text = cut(one_line(all[i].text), last_.width);
      const int gap = last_.width - columns_of(text) + kGap;
      line.push_back({std::move(text), static_cast<long>(i) == at_ ? Look::kMenuChosen : Look::kMenu});
      line.push_back({std::string(static_cast<size_t>(gap), ' '), Look::kMenu});
      if (notes) line.push_back({one_line(note_of(all[i])), Look::kMenuNote});
    }
    lines.push_back(std::move(line));
  }
  if (foot > 0) {
    std::string text = std::to_string(all.size()) + " candidates";
    if (const Candidate* candidate = chosen(); candidate != nullptr) text = one_line(note_of(*candidate));
    lines.push_back({{std::move(text), Look::kMenuNote}});
  }
  return lines;
}

}  // namespace tessera::repl
