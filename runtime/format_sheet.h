// The elements of a tensor that a print shows, as numbers in reading order. Both printers work on this copy, so
// neither knows of dtypes, strides or devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format.h"

namespace tessera::tensor {

struct Sheet {
  enum class Kind : uint8_t { Bool, Integer, Float, Complex };
  struct Number {
    double real = 0, imaginary = 0;
    int64_t integer = 0;
  };

  Kind kind;
  DType dtype;                 // decides what digits NumPy needs
  std::vector<int64_t> shape;  // how many are shown in each dimension
  std::vector<int64_t> edge;   // dots stand after that many items; 0: all are shown
  std::vector<Number> numbers;

  size_t ndim() const { return shape.size(); }
};

/// Reads what is shown: everything, or with more than `threshold` elements `edge` items at both ends of long dimensions.
Sheet make_sheet(const ArrayView& a, int64_t threshold, int64_t edge);

/// An integer's digits; a uint64 is kept as the int64 of the same bits.
inline std::string print_integer(const Sheet& sheet, const Sheet::Number& n) {
  return sheet.dtype == DType::UInt64 ? std::to_string(uint64_t(n.integer)) : std::to_string(n.integer);
}

/// "%*.{digits}{conversion}" with Python's nan and inf.
std::string print_float(double x, char conversion, int digits);

}  // namespace tessera::tensor
