// Numbers from text tables, as numpy.loadtxt reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

struct TableFormat {
  std::string delimiter;       // empty: white space
  std::string comments = "#";  // empty: none
  int64_t skip_rows = 0;
  int64_t max_rows = -1;         // -1: all
  std::vector<int64_t> columns;  // empty: all
  bool all_columns = true;
};

// A two-dimensional tensor of the dtype. TensorError(Value) with NumPy's words for a line that cannot be read: a cell
// that is no number, a row with more or fewer columns than the first.
Tensor parse_table(std::string_view text, const TableFormat& format, DType dtype);

}  // namespace tessera::stdlib
