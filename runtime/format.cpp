// PyTorch's repr of a tensor. The rules, in order: choose one form for all shown numbers (Column), lay out nested
// rows (Layout), then append the suffixes where they fit.
// compile: small (prints tensors)
#include "runtime/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/autograd/tangents.h"
#include "runtime/context.h"
#include "runtime/format_sheet.h"
#include "runtime/pieces.h"
#include "runtime/ops.h"
#include "runtime/ops/math_bits.h"

namespace tessera::tensor {
namespace {

using Scientific = FormatOptions::Scientific;

// One number format and one width for a whole column of values.
class Column {
 public:
  Column(const std::vector<double>& values, const FormatOptions& options) : precision_(options.precision) {
    double most = 0, least = INFINITY;
    bool whole = true;
    for (const double v : values) {
      if (v == 0 || !std::isfinite(v)) continue;
      most = std::max(most, std::fabs(v));
      least = std::min(least, std::fabs(v));
      whole = whole && v == std::ceil(v);
    }
    if (most > 0) {
      bool scientific = options.sci_mode == Scientific::Always;
      if (options.sci_mode == Scientific::Choose) scientific = most / least > 1000.0 || most > 1e8 || (!whole && least < 1e-4);
      form_ = scientific ? 'e' : whole ? 'w' : 'f';
      for (const double v : values)
        if (v != 0 && std::isfinite(v)) width_ = std::max(width_, text(v).size());
    }
  }

  size_t width() const { return width_; }
  std::string padded(double v) const { return pad(text(v), width_); }
  static std::string pad(std::string s, size_t width) {
    if (s.size() < width) s.insert(0, width - s.size(), ' ');
    return s;
  }

 private:
  std::string text(double v) const {
    Context::current().poll();
    if (form_ != 'w') return print_float(v, form_, precision_);
    std::string s = print_float(v, 'f', 0);
    if (std::isfinite(v)) s += '.';
    return s;
  }

  int precision_;
  char form_ = 'w';  // 'e' scientific, 'f' fixed, 'w' whole: the integer and a point
  size_t width_ = 1;
};

struct Cells {
  std::vector<std::string> texts;
  size_t width = 1;  // what lines are broken by; zeros and infinities may be wider
};

constexpr int64_t kTextCost = 32;  // of a number's text, in elements of a loop

std::vector<double> parts(const Sheet& sheet, double Sheet::Number::*part) {
  std::vector<double> list;
  list.reserve(sheet.numbers.size());
  in_pieces(int64_t(sheet.numbers.size()), [&](int64_t i, int64_t end) {
    for (; i < end; i++) list.push_back(sheet.numbers[size_t(i)].*part);
  });
  return list;
}

Cells integer_cells(const Sheet& sheet) {
  Cells cells;
  PollBudget budget;
  for (const auto& n : sheet.numbers) {
    budget.take(kTextCost);
    cells.texts.push_back(sheet.kind == Sheet::Kind::Bool ? n.integer ? "True" : "False" : print_integer(sheet, n));
    cells.width = std::max(cells.width, cells.texts.back().size());
  }
  for (auto& s : cells.texts) budget.take(kTextCost), s = Column::pad(std::move(s), cells.width);
  return cells;
}

Cells float_cells(const Sheet& sheet, const FormatOptions& options) {
  std::vector<double> counted = parts(sheet, &Sheet::Number::real);
  if (const DTypeFacts& f = facts(sheet.dtype);
      f.has_no_sign)  // zero is written as the least number, and counts as zero
    std::replace(counted.begin(), counted.end(), f.least_normal, 0.0);
  const Column column(counted, options);
  Cells cells{{}, column.width()};
  for (const auto& n : sheet.numbers) cells.texts.push_back(column.padded(n.real));
  return cells;
}

// "1.+2.j": the imaginary part loses its padding.
Cells complex_cells(const Sheet& sheet, const FormatOptions& options) {
  const Column real(parts(sheet, &Sheet::Number::real), options),
      imaginary(parts(sheet, &Sheet::Number::imaginary), options);
  Cells cells{{}, real.width() + imaginary.width() + 1};
  for (const auto& n : sheet.numbers) {
    std::string right = imaginary.padded(n.imaginary) + 'j';
    right.erase(0, right.find_first_not_of(' '));
    if (right[0] != '-' && right[0] != '+') right.insert(0, 1, '+');
    cells.texts.push_back(real.padded(n.real) + right);
  }
  return cells;
}

Cells make_cells(const Sheet& sheet, const FormatOptions& options) {
  switch (sheet.kind) {
    case Sheet::Kind::Float: return float_cells(sheet, options);
    case Sheet::Kind::Complex: return complex_cells(sheet, options);
    default: return integer_cells(sheet);
  }
}

class Layout {
 public:
  Layout(const Sheet& sheet, Cells cells, int64_t linewidth)
      : sheet_(sheet), cells_(std::move(cells)), linewidth_(linewidth) {}

  std::string text(int64_t indent) {
    write(0, indent);
    return std::move(out_);
  }

 private:
  void write(size_t dim, int64_t indent) {
    if (dim == sheet_.ndim()) return void(out_ += cells_.texts[next_++]);
    if (dim + 1 == sheet_.ndim()) return write_row(dim, indent);
    const std::string separator =
        "," + std::string(sheet_.ndim() - dim - 1, '\n') + std::string(size_t(indent) + 1, ' ');
    out_ += '[';
    for (int64_t i = 0; i < sheet_.shape[dim]; i++) {
      if (i) out_ += separator;
      if (i && i == sheet_.edge[dim]) out_ += "..." + separator;
      write(dim + 1, indent + 1);
    }
    out_ += ']';
  }

  void write_row(size_t dim, int64_t indent) {
    const int64_t per_line = std::max<int64_t>(1, (linewidth_ - indent) / int64_t(cells_.width + 2));
    int64_t written = 0;
    const auto item = [&](const std::string& s) {
      if (written && written % per_line == 0) out_ += ",\n" + std::string(size_t(indent) + 1, ' ');
      else if (written) out_ += ", ";
      out_ += s;
      written++;
    };
    out_ += '[';
    for (int64_t i = 0; i < sheet_.shape[dim]; i++) {
      budget_.take(kTextCost);
      if (i && i == sheet_.edge[dim]) item(" ...");
      item(cells_.texts[next_++]);
    }
    out_ += ']';
  }

  const Sheet& sheet_;
  Cells cells_;
  int64_t linewidth_;
  size_t next_ = 0;
  std::string out_;
  PollBudget budget_;
};

std::string size_suffix(Ints sizes) {
  std::string s = "size=(";
  for (size_t i = 0; i < sizes.size(); i++) s += (i ? ", " : "") + std::to_string(sizes[i]);
  return s + (sizes.size() == 1 ? ",)" : ")");
}

// Of one number PyTorch shows the number.
std::string tangent_text(const Tangent& tangent) {
  const LevelsBelow below(tangent.level);
  const Tensor& t = tangent.value;
  if (t.dim() == 0 && is_floating(t.dtype()) && !t.device().is_meta()) return float_text(t.item().to_double());
  return tensor_text(t);
}

std::vector<std::string> suffixes(const Tensor& t) {
  std::vector<std::string> list;
  const DType dtype = t.dtype();
  if (!t.device().is_cpu()) list.push_back("device='" + t.device().str() + "'");
  const DType usual = Context::current().default_dtype;
  const bool implied = dtype == usual || (!t.device().is_meta() && t.numel() && is_implied(dtype, usual));
  if (t.device().is_meta() || (t.numel() == 0 && t.dim() != 1)) list.push_back(size_suffix(t.sizes()));
  if (!implied) list.push_back(std::string("dtype=torch.") + name(dtype));
  if (const CountedPtr<Node> node = t.requires_grad() ? grad_fn_of(t) : nullptr)
    list.push_back(std::string("grad_fn=<") + node->name + ">");
  else if (t.requires_grad()) list.push_back("requires_grad=True");
  if (t.is_dual()) [[unlikely]]
    if (const Tangents seen = seen_tangents(t); !seen.empty()) list.push_back("tangent=" + tangent_text(seen.back()));
  return list;
}

void append_suffixes(std::string& out, const std::vector<std::string>& list, int64_t linewidth, size_t indent) {
  size_t used = out.size() - (out.rfind('\n') + 1) + 2;
  for (const auto& s : list) {
    if (int64_t(used + s.size() + 2) > linewidth) {
      out += ",\n" + std::string(indent, ' ') + s;
      used = indent + s.size();
    } else {
      out += ", " + s;
      used += s.size() + 2;
    }
  }
}

}  // namespace

std::string tensor_body(const ArrayView& a, const FormatOptions& options, int64_t indent) {
  if (numel_of(a.sizes) == 0) return "[]";
  const Sheet sheet = make_sheet(a, options.threshold, options.edgeitems);
  return Layout(sheet, make_cells(sheet, options), options.linewidth).text(indent);
}

std::string tensor_text(const Tensor& t, const FormatOptions& options, std::string_view name) {
  const GradMode no_grad(false);
  std::string out = std::string(name) + "(";
  const size_t indent = out.size();
  if (t.device().is_meta()) {
    out += "...";
  } else {
    const Tensor host = t.device().is_cpu() ? resolved(t) : to_device(t, kCpu);
    out += tensor_body({host.data_ptr(), host.dtype(), host.sizes(), host.strides()}, options, int64_t(indent));
  }
  append_suffixes(out, suffixes(t), options.linewidth, indent);
  return out + ")";
}

std::string tensor_text(const Tensor& t, std::string_view name) {
  return tensor_text(t, Context::current().format, name);
}

std::string float_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char buffer[64];
  const double size = std::fabs(x);
  const bool scientific = size != 0 && (size < 1e-4 || size >= 1e16);
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x,
                                 scientific ? std::chars_format::scientific : std::chars_format::fixed)
                       .ptr;
  std::string s(buffer, end);
  if (!scientific && s.find('.') == std::string::npos) s += ".0";
  return s;
}

}  // namespace tessera::tensor
