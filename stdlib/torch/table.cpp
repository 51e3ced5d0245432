// compile: small (reads files)
#include "stdlib/torch/table.h"

#include <charconv>
#include <cmath>

namespace tessera::stdlib {
namespace {

constexpr std::string_view kSpace = " \t\r\f\v";

std::string_view strip(std::string_view s) {
  const size_t first = s.find_first_not_of(kSpace);
  if (first == s.npos) return {};
  return s.substr(first, s.find_last_not_of(kSpace) - first + 1);
}

bool parse_number(std::string_view cell, double& out) {
  if (cell.starts_with('+')) {
    cell.remove_prefix(1);
    if (cell.starts_with('-')) return false;
  }
  if (cell.empty() || cell.starts_with('+')) return false;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), out);
  if (end != cell.data() + cell.size()) return false;
  if (error == std::errc::result_out_of_range) out = cell.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  return true;
}

class TableReader {
 public:
  TableReader(const TableFormat& format, DType dtype) : format_(format), dtype_(dtype) {}

  void line(std::string_view text) {
    if (!format_.comments.empty()) text = text.substr(0, text.find(format_.comments));
    if (strip(text).empty()) return;
    split(text);
    if (rows_ == 0) first_width_ = cells_.size();
    if (format_.all_columns && cells_.size() != first_width_)
      fail(TensorErrorKind::Value, "the number of columns changed from ", first_width_, " to ", cells_.size(),
           " at row ", rows_ + 1, "; use `usecols` to select a subset and avoid this error");
    if (format_.all_columns) {
      for (size_t i = 0; i < cells_.size(); ++i) cell(i);
    } else {
      for (const int64_t column : format_.columns) cell(chosen(column));
    }
    ++rows_;
  }

  bool full() const { return format_.max_rows >= 0 && rows_ >= format_.max_rows; }

  Tensor finish() {
    const int64_t columns = rows_ == 0 ? 0 : static_cast<int64_t>(values_.size()) / rows_;
    if (rows_ == 0) return Tensor::empty({0}, dtype_);
    return Tensor::from_values(values_, {rows_, columns}, dtype_);
  }

 private:
  void split(std::string_view text) {
    cells_.clear();
    if (!format_.delimiter.empty()) {
      for (size_t at = 0;;) {
        const size_t next = text.find(format_.delimiter, at);
        cells_.push_back(strip(text.substr(at, next - at)));
        if (next == text.npos) return;
        at = next + format_.delimiter.size();
      }
    }
    for (size_t at = text.find_first_not_of(kSpace); at != text.npos; at = text.find_first_not_of(kSpace, at)) {
      const size_t end = std::min(text.find_first_of(kSpace, at), text.size());
      cells_.push_back(text.substr(at, end - at));
      at = end;
    }
  }

  size_t chosen(int64_t column) const {
    const int64_t n = static_cast<int64_t>(cells_.size());
    if (column < -n || column >= n)
      fail(TensorErrorKind::Value, "invalid column index ", column, " at row ", rows_ + 1, " with ", n, " columns");
    return static_cast<size_t>(column < 0 ? column + n : column);
  }

  // Integers pass through a double here: longer ones are refused, as fractions are.
  void cell(size_t i) {
    double value = 0;
    const bool whole = dtype_ != kInt64 || (cells_[i].size() < 16 && cells_[i].find_first_not_of("+-0123456789") == cells_[i].npos);
    if (!whole || !parse_number(cells_[i], value))
      fail(TensorErrorKind::Value, "could not convert string '", cells_[i], "' to ", name(dtype_), " at row ", rows_,
           ", column ", i + 1, ".");
    values_.push_back(value);
  }

  const TableFormat& format_;
  DType dtype_;
  std::vector<std::string_view> cells_;
  std::vector<double> values_;
  size_t first_width_ = 0;
  int64_t rows_ = 0;
};

}  // namespace

Tensor parse_table(std::string_view text, const TableFormat& format, DType dtype) {
  TableReader reader(format, dtype);
  int64_t skip = format.skip_rows;
  while (!text.empty() && !reader.full()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (skip-- <= 0) reader.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace tessera::stdlib
