// Reading samples: a small recursive reader over one line, driven by the schema's kinds.
// compile: small (reads the samples of help and tests)
#include "runtime/ops/samples.h"

#include <cmath>
#include <cstdlib>

#include "runtime/ops.h"
#include "runtime/ops/complex.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

// Numbers without a simple pattern, no two alike (a Weyl sequence), the same on every machine.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : at_(double(seed % 1000) * 0.0713) {}
  double unit() { return at_ = std::fmod(at_ + 0.754877666246693, 1.0); }
  double between(double low, double high) { return low + (high - low) * unit(); }
  /// In (-2, 2), at least 0.08 away from every multiple of one half.
  double floating() {
    for (;;) {
      const double x = between(-2, 2);
      if (std::fabs(x * 2 - std::round(x * 2)) > 0.16) return x;
    }
  }

 private:
  double at_;
};

// A matrix, or a stack of them, of a form: s Hermitian and positive definite, l and u triangular with a positive diagonal,
// z zeros.
Tensor of_form(const Tensor& x, char form) {
  if (form == 'z') return zeros_like(x);
  const Tensor one = eye(x.size(-1), {}, x.dtype());
  if (form != 's') return form == 'l' ? tril(x, -1) + one * 1.4 : triu(x, 1) + one * 1.4;
  const Tensor squares = matmul(x, conj(transpose(x, -2, -1))) * 0.25;
  return (squares + conj(transpose(squares, -2, -1))) * 0.5 + one * 1.5;
}

class ArgumentReader {
 public:
  ArgumentReader(std::string_view text, DType floats, uint64_t seed) : text_(text), floats_(floats), numbers_(seed) {}

  std::vector<OpArg> read(const OpEntry& entry) {
    const OpSchema& schema = entry.schema();
    std::vector<OpArg> args(schema.args.size());
    std::vector<bool> given(args.size());
    for (size_t next = 0; !done(); next++) {
      size_t at = next;
      if (const std::string key = keyword(); !key.empty()) {
        const int found = schema.find(key);
        if (found < 0) error("an argument's name");
        at = size_t(found);
      }
      if (at >= args.size()) error("no more arguments");
      args[at] = value(schema.args[at]);
      given[at] = true;
      if (!done() && !take(",")) error("','");
    }
    for (size_t i = 0; i < args.size(); i++)
      if (!given[i]) args[i] = default_value(schema.args[i]);
    return args;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
  }
  bool done() {
    skip();
    return at_ == text_.size();
  }
  bool peek(std::string_view token) {
    skip();
    return text_.substr(at_, token.size()) == token;
  }
  bool take(std::string_view token) {
    if (!peek(token)) return false;
    at_ += token.size();
    return true;
  }
  [[noreturn]] void error(const char* expected) const {
    fail(TensorErrorKind::Assertion, "sample '", text_, "': expected ", expected, " at ", at_);
  }
  std::string_view word() {
    skip();
    size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_')) end++;
    return text_.substr(at_, end - at_);
  }
  std::string keyword() {
    const std::string_view name = word();
    const size_t after = at_ + name.size();
    if (name.empty() || after >= text_.size() || text_[after] != '=') return {};
    at_ = after + 1;
    return std::string(name);
  }

  double number() {
    skip();
    const std::string rest(text_.substr(at_));
    char* end;
    const double x = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str()) error("a number");
    whole_ = rest.substr(0, size_t(end - rest.c_str())).find_first_of(".einf") == std::string::npos;
    if (whole_) integer_ = std::strtoll(rest.c_str(), nullptr, 10);
    at_ += size_t(end - rest.c_str());
    return x;
  }
  std::vector<double> number_list(const char* close) {
    std::vector<double> list;
    while (!take(close)) {
      list.push_back(number());
      if (!take(",") && !peek(close)) error(close);
    }
    return list;
  }
  std::vector<int64_t> int_list(const char* close) {
    std::vector<int64_t> list;
    while (!take(close)) {
      number();
      list.push_back(integer_);
      if (!take(",") && !peek(close)) error(close);
    }
    return list;
  }

  bool at_tensor() {
    skip();
    return at_ + 1 < text_.size() && std::string_view("fpgibc").find(text_[at_]) != std::string_view::npos &&
           (text_[at_ + 1] == '[' || text_[at_ + 1] == '{');
  }
  Scalar element(char kind, int64_t below) {
    if (kind == 'f') return numbers_.floating();
    if (kind == 'p') return numbers_.between(0.15, 0.85);
    if (kind == 'g') return numbers_.between(1.2, 3.1);
    if (kind == 'i') return int64_t(numbers_.unit() * double(below));
    if (kind == 'c') {
      const double real = numbers_.floating();
      return std::complex<double>(real, numbers_.floating());
    }
    return numbers_.unit() < 0.5;
  }
  Tensor tensor() {
    const char kind = text_[at_++];
    DType type = kind == 'i' ? kInt64 : kind == 'b' ? kBool : kind == 'c' ? (item_size(floats_) < 4 ? kComplex64 : complex_type(floats_)) : floats_;
    Dims sizes;
    std::vector<Scalar> values;
    if (take("{")) {
      for (const double x : number_list("}")) values.emplace_back(x);
      sizes = Dims{int64_t(values.size())};
    } else {
      at_++;
      sizes = Dims(int_list("]"));
      int64_t below = 2;
      if (take("<")) below = int64_t(number());
      for (int64_t n = numel_of(sizes); n > 0; n--) values.push_back(element(kind, below));
    }
    const bool transposed = take(".t");
    char form = 0;
    for (const char each : {'s', 'l', 'u', 'z'})
      if (const char token[] = {'.', each, 0}; take(token)) form = each;
    if (take(":")) {
      const std::string_view name = word();
      if (!dtype_from_name(name, type)) error("a dtype");
      at_ += name.size();
    }
    Tensor out = Tensor::empty(sizes, type);
    for (size_t i = 0; i < values.size(); i++)
      values[i].put(type, static_cast<char*>(out.data_ptr()) + i * item_size(type));
    if (transposed && sizes.size() > 1) {
      Dims swapped(sizes), strides;
      std::swap(swapped[sizes.size() - 1], swapped[sizes.size() - 2]);
      strides = contiguous_strides(swapped);
      std::swap(strides[sizes.size() - 1], strides[sizes.size() - 2]);
      const Tensor stored = Tensor::empty(swapped, type).view_of(sizes, strides);
      copy_into(stored, out);
      out = stored;
    }
    if (form != 0) out = of_form(out, form);
    return out;
  }

  OpArg value(const SchemaArg& arg) {
    if (take("None")) return std::monostate();
    if (take("True")) return true;
    if (take("False")) return false;
    if (at_tensor()) {
      if (arg.kind == ArgKind::OptionalTensorList) return std::vector<OptionalTensor>{tensor()};
      return tensor();
    }
    if (take("(")) return tensors(arg.kind == ArgKind::OptionalTensorList);
    if (take("[")) return list(arg.kind);
    if (take("'")) {
      const size_t end = text_.find('\'', at_);
      if (end == std::string_view::npos) error("'");
      std::string s(text_.substr(at_, end - at_));
      at_ = end + 1;
      return s;
    }
    if (DType type; arg.kind == ArgKind::DType && dtype_from_name(word(), type)) {
      at_ += word().size();
      return type;
    }
    OpArg number = scalar(arg.kind);
    if (auto* ints = std::get_if<std::vector<int64_t>>(&number); ints && arg.fixed_size > 1)
      ints->assign(size_t(arg.fixed_size), ints->front());
    return number;
  }

  OpArg tensors(bool optional) {
    TensorList list;
    std::vector<OptionalTensor> maybe;
    while (!take(")")) {
      if (take("None")) maybe.emplace_back();
      else if (at_tensor()) list.push_back(tensor()), maybe.emplace_back(list.back());
      else error("a tensor");
      if (!take(",") && !peek(")")) error("')'");
    }
    if (optional) return maybe;
    return list;
  }
  OpArg list(ArgKind kind) {
    if (kind == ArgKind::FloatList) return number_list("]");
    if (kind != ArgKind::BoolList) return int_list("]");
    std::vector<bool> flags;
    while (!take("]")) {
      flags.push_back(take("True"));
      if (!flags.back() && !take("False")) error("True or False");
      take(",");
    }
    return flags;
  }
  OpArg scalar(ArgKind kind) {
    const double x = number();
    if (take("j")) return std::complex<double>(0, x);
    if (kind == ArgKind::Scalar && (peek("+") || peek("-"))) {  // 1-2j
      const double imaginary = number();
      if (!take("j")) error("j");
      return std::complex<double>(x, imaginary);
    }
    if (kind == ArgKind::IntList && whole_) return std::vector<int64_t>{integer_};
    if (whole_ && kind != ArgKind::Float) return integer_;
    return x;
  }

  std::string_view text_;
  size_t at_ = 0;
  DType floats_;
  Numbers numbers_;
  bool whole_ = false;
  int64_t integer_ = 0;
};

}  // namespace

std::vector<Sample> samples_of(const OpEntry& entry) {
  std::vector<Sample> list;
  std::string_view rest = entry.samples;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t arrow = line.find(" -> ");
    Sample sample{std::string(line.substr(0, arrow)), {}, {}};
    if (arrow != line.npos) {
      const std::string_view error = line.substr(arrow + 4);
      const size_t colon = error.find(": ");
      sample.error_kind = error.substr(0, colon);
      if (colon != error.npos) sample.error_message = error.substr(colon + 2);
    }
    list.push_back(std::move(sample));
  }
  return list;
}

std::vector<OpArg> sample_args(const OpEntry& entry, const Sample& sample, DType floats, uint64_t seed) {
  return ArgumentReader(sample.call, floats, seed).read(entry);
}

}  // namespace tessera::tensor
