// compile: small (waits for a person)
#include "repl/prompt/layout.h"

#include <algorithm>

#include "repl/characters.h"

namespace tessera::repl {
namespace {

constexpr int kTab = 4;
constexpr int kNarrow = 24;  // below this wrapped rows begin at the margin

int width_of(const Pieces& pieces) {
  int columns = 0;
  for (const Piece& piece : pieces) columns += columns_of(piece.text);
  return columns;
}

void add_text(Row& row, std::string_view text, Look look, int limit) {
  for (size_t at = 0; at < text.size();) {
    const size_t next = character_after(text, at);
    const std::string_view character = text.substr(at, next - at);
    const int width = columns_of(character);
    at = next;
    if (static_cast<unsigned char>(character[0]) < 0x20) continue;
    if (row.columns + width > limit) return;
    row.add(character, width, look);
  }
}

void add_pieces(Row& row, const Pieces& pieces, int limit) {
  for (const Piece& piece : pieces) add_text(row, piece.text, piece.look, limit);
}

// The looks of the text's bytes, in order: a walker over spans, brackets and hits.
class Looks {
 public:
  explicit Looks(const View& view) : view_(view) {}

  void skip_to(size_t at) {
    next_ = static_cast<size_t>(std::partition_point(view_.spans.begin(), view_.spans.end(),
                                                     [at](const TokenSpan& span) { return span.end <= at; }) -
                                view_.spans.begin());
  }
  Look at(size_t byte) {
    while (next_ < view_.spans.size() && view_.spans[next_].end <= byte) ++next_;
    if (byte >= view_.hit_begin && byte < view_.hit_end) return Look::kHit;
    if (view_.brackets && (byte == view_.brackets->first || byte == view_.brackets->second)) return Look::kBracketPair;
    if (next_ == view_.spans.size() || view_.spans[next_].begin > byte) return Look::kPlain;
    return look_of(view_.spans[next_].what);
  }

 private:
  const View& view_;
  size_t next_ = 0;
};

// Walks a line of the text as it falls into rows. `place(row, column, width, begin, end)` for each character; answers the row
// and column behind the last one.
struct Place {
  size_t row = 0;
  int column = 0;
};

class Wrapping {
 public:
  Wrapping(const View& view, int columns)
      : columns_(std::max(columns, 2)), margin_(width_of(view.prompt)), indent_(columns_ >= kNarrow ? margin_ : 0) {
    if (margin_ >= columns_ - 2) margin_ = indent_ = 0;
  }

  int columns() const { return columns_; }
  int margin() const { return margin_; }
  int indent() const { return indent_; }

  // Columns that a character takes at this column of the text.
  static int character_width(std::string_view character, int column) {
    const auto first = static_cast<unsigned char>(character[0]);
    if (first == '\t') return kTab - column % kTab;
    if (first < 0x20 || first == 0x7f) return 2;  // ^X
    return columns_of(character);
  }

  template <typename Function>
  Place walk(std::string_view line, Function place) const {
    Place now{0, margin_};
    int in_text = 0;
    for (size_t at = 0; at < line.size();) {
      const bool simple = static_cast<unsigned char>(line[at]) < 0x80 &&
                          (at + 1 == line.size() || static_cast<unsigned char>(line[at + 1]) < 0x80);
      const size_t next = simple ? at + 1 : character_after(line, at);
      const int width = std::min(character_width(line.substr(at, next - at), in_text), columns_ - indent_);
      if (now.column + width > columns_) now = {now.row + 1, indent_};
      place(now, width, at, next);
      now.column += width;
      in_text += width;
      at = next;
    }
    // The cursor behind a full row stands at the beginning of the next.
    if (now.column >= columns_) now = {now.row + 1, indent_};
    return now;
  }

  size_t height(std::string_view line) const {
    const bool short_line = line.size() < static_cast<size_t>(columns_ - margin_) && line.find('\t') == line.npos;
    if (short_line && line.size() * 2 < static_cast<size_t>(columns_ - margin_)) return 1;
    return walk(line, [](const Place&, int, size_t, size_t) {}).row + 1;
  }

 private:
  int columns_, margin_, indent_;
};

struct Line {
  size_t begin, end;
  size_t first_row;  // of the block
  size_t height;
};

std::vector<Line> lines_of(const View& view, const Wrapping& wrapping) {
  std::vector<Line> lines;
  const std::string_view text(view.text);
  size_t row = 0;
  for (size_t begin = 0;;) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const bool last = end == text.size();
    std::string with_suggestion;
    if (last && !view.suggestion.empty()) with_suggestion = std::string(text.substr(begin)) + view.suggestion;
    const size_t height = wrapping.height(with_suggestion.empty() ? text.substr(begin, end - begin) : with_suggestion);
    lines.push_back({begin, end, row, height});
    row += height;
    if (last) return lines;
    begin = end + 1;
  }
}

void add_character(Row& row, std::string_view character, int width, Look look) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first == '\t') {
    for (int i = 0; i < width; ++i) row.add(" ", 1, look);
  } else if (first < 0x20 || first == 0x7f) {
    const char shown[] = {'^', static_cast<char>(first ^ 0x40), '\0'};
    row.add(std::string_view(shown, 1), 1, Look::kFaint);
    row.add(std::string_view(shown + 1, 1), 1, Look::kFaint);
  } else if (columns_of(character) > width) {
    row.add("~", 1, Look::kFaint);  // wider than the whole terminal
    for (int i = 1; i < width; ++i) row.add(" ", 1, look);
  } else {
    row.add(character, width, look);
  }
}

// One line of the text as rows, with its prompt; sets the cursor where it stands in it.
void add_line(const View& view, const Wrapping& wrapping, const Line& line, Looks& looks, std::vector<Row>& rows,
              Layout& layout, size_t first_shown) {
  const bool last = line.end == view.text.size();
  std::string text = view.text.substr(line.begin, line.end - line.begin);
  const size_t own = text.size();
  if (last) text += view.suggestion;
  rows.assign(line.height, Row());
  const int margin = wrapping.margin();
  if (margin > 0) add_pieces(rows[0], line.begin == 0 ? view.prompt : view.continuation, margin);
  for (size_t i = 1; i < rows.size(); ++i)
    for (int column = 0; column < wrapping.indent(); ++column) rows[i].add(" ", 1, Look::kPlain);
  const auto put_cursor = [&](const Place& place) {
    layout.cursor_row = line.first_row + place.row - first_shown;
    layout.cursor_column = place.column;
  };
  const bool has_cursor = view.cursor >= line.begin && view.cursor <= line.end;
  const Place end = wrapping.walk(text, [&](const Place& place, int width, size_t begin, size_t behind) {
    if (has_cursor && line.begin + begin == view.cursor) put_cursor(place);
    const Look look = begin < own ? looks.at(line.begin + begin) : Look::kFaint;
    add_character(rows[place.row], std::string_view(text).substr(begin, behind - begin), width, look);
  });
  if (has_cursor && line.begin + text.size() == view.cursor) put_cursor(end);
}

}  // namespace

void Row::add(std::string_view character, int width, Look look) {
  const CodePoint first = code_point_at(character, 0);
  const bool broken = first.bytes == 1 && first.code >= 0x80;
  if (broken || is_order(first.code)) {
    character = "~";
    look = Look::kFaint;
  }
  if (character.size() > 255) character = character.substr(0, 252 - 252 % 4);
  cells.push_back(
      {static_cast<uint32_t>(text.size()), static_cast<uint8_t>(character.size()), static_cast<uint8_t>(width), look});
  text += character;
  columns += width;
}

bool Row::same_cell(size_t i, const Row& other) const {
  const Cell &mine = cells[i], &its = other.cells[i];
  return mine.look == its.look && mine.bytes == its.bytes &&
         text.compare(mine.begin, mine.bytes, other.text, its.begin, its.bytes) == 0;
}

bool Row::operator==(const Row& other) const {
  if (cells.size() != other.cells.size() || text != other.text) return false;
  for (size_t i = 0; i < cells.size(); ++i)
    if (cells[i].look != other.cells[i].look) return false;
  return true;
}

std::vector<Pieces> wrapped(const Pieces& pieces, int columns, size_t most) {
  std::vector<Pieces> lines(1);
  int room = std::max(columns, 1);
  for (const Piece& piece : pieces) {
    for (std::string_view rest = piece.text; !rest.empty();) {
      std::string_view fits = fitting(rest, room);
      if (fits.size() < rest.size()) {  // behind a blank, if there is one
        const size_t blank = fits.rfind(' ');
        if (blank != fits.npos) {
          fits = fits.substr(0, blank + 1);
        } else if (!lines.back().empty()) {
          fits = {};
        }
      }
      if (!fits.empty()) lines.back().push_back({std::string(fits), piece.look});
      room -= columns_of(fits);
      rest.remove_prefix(fits.size());
      if (rest.empty()) break;
      if (lines.size() == most || (fits.empty() && lines.back().empty())) return lines;
      lines.emplace_back();
      room = std::max(columns, 1);
    }
  }
  return lines;
}

Layout lay_out(const View& view, int columns, int rows, size_t& top) {
  const Wrapping wrapping(view, columns);
  const std::vector<Line> lines = lines_of(view, wrapping);
  const size_t total = lines.back().first_row + lines.back().height;
  size_t below = view.below.size(), shown = total;
  if (rows > 0) {
    const size_t room = static_cast<size_t>(std::max(rows, 1));
    below = std::min(below, room - std::min(room, std::max<size_t>(room / 2, 1)));
    shown = std::min(total, room - below);
  }
  // Which row the cursor is in decides what is shown, so its line is walked first.
  const auto cursor_line =
      std::partition_point(lines.begin(), lines.end(), [&](const Line& line) { return line.end < view.cursor; });
  Layout layout;
  {
    std::vector<Row> ignored;
    Looks looks(view);
    add_line(view, wrapping, *cursor_line, looks, ignored, layout, 0);
  }
  const size_t cursor_row = layout.cursor_row;
  top = std::min(top, total - shown);
  if (cursor_row < top) top = cursor_row;
  if (cursor_row >= top + shown) top = cursor_row - shown + 1;
  layout.cursor_row -= top;
  Looks looks(view);
  std::vector<Row> made;
  for (const Line& line : lines) {
    if (line.first_row + line.height <= top || line.first_row >= top + shown) continue;
    looks.skip_to(line.begin);
    Layout ignored;
    add_line(view, wrapping, line, looks, made, ignored, 0);
    for (size_t i = 0; i < made.size(); ++i)
      if (line.first_row + i >= top && line.first_row + i < top + shown) layout.rows.push_back(std::move(made[i]));
  }
  for (size_t i = 0; i < below; ++i) {
    Row row;
    add_pieces(row, view.below[i], wrapping.columns() - 1);
    layout.rows.push_back(std::move(row));
  }
  return layout;
}

}  // namespace tessera::repl
