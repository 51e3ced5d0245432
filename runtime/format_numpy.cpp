// NumPy's text of arrays: shortest digits that read back, cut at eight decimals, aligned at the point.
// compile: small (prints tensors)
#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/context.h"
#include "runtime/format.h"
#include "runtime/format_sheet.h"
#include "runtime/ops.h"

namespace tessera::tensor {
namespace {

// The shortest digits of |x| that read back as x in its own type: "d.ddde+XX" taken apart.
struct Shortest {
  int digits;  // after the first
  int exponent;
};

std::string shortest_text(double x, Digits kind, std::chars_format form) {
  char buffer[400];
  char* const last = buffer + sizeof buffer;
  if (kind == Digits::Double) return {buffer, std::to_chars(buffer, last, x, form).ptr};
  if (kind == Digits::Single) return {buffer, std::to_chars(buffer, last, float(x), form).ptr};
  for (int digits = 0;; digits++) {
    const std::string s = print_float(x, 'e', digits);
    const double read = std::strtod(s.c_str(), nullptr);
    if (digits < 8 && double(float(Half(float(read)))) != x) continue;
    return {buffer, std::to_chars(buffer, last, read, form).ptr};
  }
}

Shortest shortest(double x, Digits kind) {
  const std::string s = shortest_text(x, kind, std::chars_format::scientific);
  const size_t e = s.find('e'), point = s.find('.');
  return {point == std::string::npos ? 0 : int(e - point - 1), std::stoi(s.substr(e + 1))};
}

// Left and right of the point, trailing zeros dropped.
struct Halves {
  std::string left, right;
};

Halves split(const std::string& s) {
  const size_t point = s.find('.');
  if (point == std::string::npos) return {s, ""};
  std::string right = s.substr(point + 1);
  right.erase(right.find_last_not_of('0') + 1);
  return {s.substr(0, point), right};
}

Halves positional(double x, Digits kind, int precision) {
  const Shortest d = shortest(x, kind);
  return split(print_float(x, 'f', std::clamp(d.digits - d.exponent, 0, precision)));
}

// Mantissa halves of the scientific form; the exponent goes to `exponent`.
Halves scientific(double x, Digits kind, int precision, std::string& exponent) {
  const std::string s = print_float(x, 'e', std::min(shortest(x, kind).digits, precision));
  const size_t e = s.find('e');
  exponent = s.substr(e + 1);
  return split(s.substr(0, e));
}

// Numbers of a type print with an exponent from this size on: the type does not tell all whole numbers of so many digits apart.
double whole_limit(Digits kind) { return kind == Digits::Double ? 1e16 : kind == Digits::Single ? 1e6 : 1e3; }

class FloatColumn {
 public:
  FloatColumn(const std::vector<double>& values, Digits digits, bool plus, const NumpyOptions& options)
      : kind_(digits), plus_(plus), options_(options) {
    double most = 0, least = INFINITY;
    bool all_finite = true, any_finite = false, negative_infinity = false;
    for (const double v : values) {
      if (std::isfinite(v)) any_finite = true;
      else all_finite = false, negative_infinity |= v < 0;
      if (v == 0 || !std::isfinite(v)) continue;
      most = std::max(most, std::fabs(v));
      least = std::min(least, std::fabs(v));
    }
    scientific_ = most > 0 && (most >= std::min(1e8, whole_limit(kind_)) || (!options.suppress && (least < 1e-4 || ratio(most, least) > 1000.0)));
    if (any_finite) measure(values);
    if (all_finite) return;
    const int offset = right_pad_ + 1;
    left_ = std::max({left_, 3 - offset, 3 + int(plus || negative_infinity) - offset});
  }

  std::string text(double v) const {
    if (!std::isfinite(v)) {
      std::string s = print_float(v, 'f', 0);
      if (plus_ && s[0] != '-') s.insert(0, 1, '+');
      return pad_left(s, left_ + right_pad_ + 1);
    }
    if (scientific_) return pad_left(scientific_text(v), left_ + 1 + digits_ + exponent_ + 2);
    Halves h = positional(v, kind_, options_.precision);
    h.left = pad_left(with_sign(h.left), left_);
    h.right.append(size_t(right_pad_) - h.right.size(), options_.fixed ? '0' : ' ');
    return h.left + '.' + h.right;
  }

 private:
  // The quotient is rounded to the type of the elements, as NumPy's is: it decides cases such as 10 / 0.01.
  double ratio(double most, double least) const {
    if (kind_ == Digits::Double) return most / least;
    const float quotient = float(most) / float(least);
    return kind_ == Digits::Single ? quotient : float(Half(quotient));
  }
  void measure(const std::vector<double>& values) {
    for (const double v : values) {
      if (!std::isfinite(v)) continue;
      std::string exponent;
      const Halves h =
          scientific_ ? scientific(v, kind_, options_.precision, exponent) : positional(v, kind_, options_.precision);
      left_ = std::max(left_, int(with_sign(h.left).size()));
      digits_ = std::max(digits_, int(h.right.size()));
      exponent_ = std::max(exponent_, int(exponent.size()) - 1);
    }
    if (options_.fixed) digits_ = options_.precision;
    right_pad_ = scientific_ ? exponent_ + 2 + digits_ : digits_;
  }
  std::string with_sign(const std::string& s) const { return plus_ && s[0] != '-' ? '+' + s : s; }
  std::string scientific_text(double v) const {
    std::string s = print_float(v, 'e', digits_);
    const size_t e = s.find('e');
    std::string mantissa = s.substr(0, e), exponent = s.substr(e + 1);
    if (mantissa.find('.') == std::string::npos) mantissa += '.';
    if (int(exponent.size()) - 1 < exponent_) exponent.insert(1, size_t(exponent_) + 1 - exponent.size(), '0');
    return with_sign(mantissa) + 'e' + exponent;
  }
  static std::string pad_left(std::string s, int width) {
    if (int(s.size()) < width) s.insert(0, size_t(width) - s.size(), ' ');
    return s;
  }

  Digits kind_;
  bool plus_, scientific_;
  const NumpyOptions& options_;
  int left_ = 0, digits_ = 0, exponent_ = 0, right_pad_ = 0;
};

std::vector<double> parts(const Sheet& sheet, double Sheet::Number::*part) {
  std::vector<double> list;
  for (const auto& n : sheet.numbers) list.push_back(n.*part);
  return list;
}

std::vector<std::string> integer_cells(const Sheet& sheet) {
  std::vector<std::string> cells;
  size_t width = sheet.kind == Sheet::Kind::Bool && sheet.ndim() ? 5 : 0;
  for (const auto& n : sheet.numbers) {
    cells.push_back(sheet.kind == Sheet::Kind::Bool ? n.integer ? "True" : "False" : print_integer(sheet, n));
    width = std::max(width, cells.back().size());
  }
  for (auto& s : cells) s.insert(0, width - s.size(), ' ');
  return cells;
}

std::vector<std::string> make_cells(const Sheet& sheet, const NumpyOptions& options) {
  if (sheet.kind == Sheet::Kind::Bool || sheet.kind == Sheet::Kind::Integer) return integer_cells(sheet);
  std::vector<std::string> cells;
  const FloatColumn real(parts(sheet, &Sheet::Number::real), facts(sheet.dtype).digits, false, options);
  if (sheet.kind == Sheet::Kind::Float) {
    for (const auto& n : sheet.numbers) cells.push_back(real.text(n.real));
    return cells;
  }
  const FloatColumn imaginary(parts(sheet, &Sheet::Number::imaginary), facts(sheet.dtype).digits, true, options);
  for (const auto& n : sheet.numbers) {
    std::string right = imaginary.text(n.imaginary);
    right.insert(right.find_last_not_of(' ') + 1, 1, 'j');
    cells.push_back(real.text(n.real) + right);
  }
  return cells;
}

class NumpyLayout {
 public:
  NumpyLayout(const Sheet& sheet, bool commas, int64_t linewidth, const NumpyOptions& options)
      : sheet_(sheet), cells_(make_cells(sheet, options)), separator_(commas ? ", " : " "), linewidth_(linewidth) {}

  std::string text(size_t hanging) { return part(0, hanging, linewidth_); }

 private:
  std::string part(size_t dim, size_t hanging, int64_t width) {
    if (dim == sheet_.ndim()) return cells_[next_++];
    std::string body = dim + 1 == sheet_.ndim() ? row(dim, hanging, width) : rows(dim, hanging, width);
    return "[" + body.substr(hanging) + "]";
  }

  std::string rows(size_t dim, size_t hanging, int64_t width) {
    const std::string indent(hanging, ' ');
    const std::string separator = (separator_.size() > 1 ? "," : "") + std::string(sheet_.ndim() - dim - 1, '\n');
    std::string out;
    for (int64_t i = 0; i < sheet_.shape[dim]; i++) {
      if (i) out += separator;
      if (i && i == sheet_.edge[dim]) out += indent + "..." + separator;
      out += indent + part(dim + 1, hanging + 1, width - 1);
    }
    return out;
  }

  std::string row(size_t dim, size_t hanging, int64_t width) {
    const std::string indent(hanging, ' ');
    std::string done, line = indent;
    const auto item = [&](const std::string& word) {
      if (line.size() > hanging && int64_t(line.size() + word.size()) > width - 1) {
        line.erase(line.find_last_not_of(' ') + 1);
        done += line + '\n';
        line = indent;
      }
      line += word;
    };
    for (int64_t i = 0; i < sheet_.shape[dim]; i++) {
      if (i) line += separator_;
      if (i && i == sheet_.edge[dim]) item("..."), line += separator_;
      item(cells_[next_++]);
    }
    return done + line;
  }

  const Sheet& sheet_;
  std::vector<std::string> cells_;
  std::string separator_;
  int64_t linewidth_;
  size_t next_ = 0;
};

// NumPy has no bfloat16; it prints as the float32 that holds it.
std::string numpy_text(const ArrayView& a, bool commas, size_t prefix, const NumpyOptions& options) {
  if (numel_of(a.sizes) == 0) return "[]";
  const Sheet sheet = make_sheet(a, options.threshold, options.edge);
  return NumpyLayout(sheet, commas, options.linewidth - (commas ? 1 : 0), options).text(prefix + 1);
}

std::string scalar_float(double x, Digits kind) {
  if (!std::isfinite(x)) return print_float(x, 'f', 0);
  const double size = std::fabs(x);
  const bool scientific = size != 0 && (size < 1e-4 || size >= whole_limit(kind));
  std::string s = shortest_text(x, kind, scientific ? std::chars_format::scientific : std::chars_format::fixed);
  // Large whole numbers: digits that the type does not hold become zeros.
  if (const int held = shortest(x, kind).digits + 1; !scientific && s.find('.') == std::string::npos) {
    const size_t first = s[0] == '-';
    std::string mantissa = print_float(x, 'e', held - 1);
    mantissa.erase(mantissa.find('e'));
    std::erase(mantissa, '.');
    for (size_t i = first; i < s.size(); i++) s[i] = i < mantissa.size() ? mantissa[i] : '0';
  }
  if (!scientific && s.find('.') == std::string::npos) s += ".0";
  return s;
}

std::string scalar_text(const ArrayView& a) {
  const Sheet sheet = make_sheet(a, 1, 1);
  const Sheet::Number& n = sheet.numbers[0];
  if (sheet.kind == Sheet::Kind::Float) return scalar_float(n.real, facts(sheet.dtype).digits);
  if (sheet.kind != Sheet::Kind::Complex) return integer_cells(sheet)[0];
  const auto part = [&](double x) {
    std::string s = scalar_float(x, facts(sheet.dtype).digits);
    return s.ends_with(".0") ? s.substr(0, s.size() - 2) : s;
  };
  if (n.real == 0 && !std::signbit(n.real)) return part(n.imaginary) + "j";
  return "(" + part(n.real) + (std::signbit(n.imaginary) && !std::isnan(n.imaginary) ? "" : "+") + part(n.imaginary) + "j)";
}

ArrayView host_view(const Tensor& t, Tensor& host) {
  const GradMode no_grad(false);
  host = t.device().is_cpu() ? t : to_device(t, kCpu);
  return {host.data_ptr(), host.dtype(), host.sizes(), host.strides()};
}

}  // namespace

std::string numpy_str(const ArrayView& a, const NumpyOptions& options) {
  if (a.sizes.empty()) return scalar_text(a);
  return numpy_text(a, false, 0, options);
}

std::string numpy_repr(const ArrayView& a, const NumpyOptions& options) {
  const int64_t count = numel_of(a.sizes);
  const bool implied =
      count && (a.dtype == kInt64 || a.dtype == kFloat64 || a.dtype == kBool || a.dtype == kComplex128);
  std::string out = "array(";
  if (count || (a.sizes.size() == 1 && a.sizes[0] == 0)) {
    out += numpy_text(a, true, 6, options);
  } else {
    out += "[], shape=(";
    for (size_t i = 0; i < a.sizes.size(); i++) out += (i ? ", " : "") + std::to_string(a.sizes[i]);
    out += ")";
  }
  const bool cut = count > options.threshold;  // what is left out takes the shape along
  if (cut) {
    std::string shape = "shape=(";
    for (size_t i = 0; i < a.sizes.size(); i++) shape += (i ? ", " : "") + std::to_string(a.sizes[i]);
    shape += a.sizes.size() == 1 ? ",)" : ")";
    const size_t line = out.size() - (out.rfind('\n') + 1);
    out += (int64_t(line + shape.size()) + 3 > options.linewidth ? ",\n      " : ", ") + shape;
  }
  if (implied) return out + ")";
  out += ",";
  const std::string dtype = std::string("dtype=") + name(a.dtype) + ")";
  const size_t last_line = out.size() - (out.rfind('\n') + 1);
  return out + (int64_t(last_line + dtype.size()) + 1 > options.linewidth ? "\n      " : " ") + dtype;
}

std::string numpy_str(const Tensor& t, const NumpyOptions& options) {
  Tensor host;
  return numpy_str(host_view(t, host), options);
}
std::string numpy_repr(const Tensor& t, const NumpyOptions& options) {
  Tensor host;
  return numpy_repr(host_view(t, host), options);
}

}  // namespace tessera::tensor
