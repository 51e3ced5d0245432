// einsum: every operand gets all labels as dimensions, in one order (kept ones first, summed ones last); then operands are
// multiplied pair by pair, each pair as one batched matrix product over the labels that end there.
// compile: small (seldom in a step, and the kernel takes longer)
#include <algorithm>
#include <array>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {
namespace {

constexpr int kEllipsis = 52;  // labels: a-z, A-Z, then the dimensions of "..."
constexpr int kLabels = kEllipsis + 16;

int label_of(char c) { return c >= 'a' ? c - 'a' : c - 'A' + 26; }
bool is_label(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char letter_of(int label) { return label < 26 ? char('a' + label) : char('A' + label - 26); }

struct Equation {
  std::vector<std::vector<int>> operands;  // labels; -1 stands for "..."
  std::vector<int> output;
  bool has_output = false;

  explicit Equation(const std::string& text) {
    const size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    operands.emplace_back();
    for (size_t i = 0; i < left.size(); i++) {
      if (left[i] == ',') operands.emplace_back();
      else read(left, i, operands.back(), operands.size() - 1);
    }
    if (arrow == std::string::npos) return;
    has_output = true;
    const std::string right = text.substr(arrow + 2);
    for (size_t i = 0; i < right.size(); i++) read(right, i, output, size_t(-1));
  }

 private:
  static void read(const std::string& s, size_t& i, std::vector<int>& labels, size_t operand) {
    if (s[i] == ' ') return;
    if (s[i] == '.') {
      check(i + 2 < s.size() && s[i + 1] == '.' && s[i + 2] == '.', TensorErrorKind::Runtime,
            "einsum(): found '.' for ",
            operand == size_t(-1) ? std::string("output") : "operand " + std::to_string(operand),
            " that is not part of any ellipsis");
      i += 2;
      labels.push_back(-1);
      return;
    }
    check(is_label(s[i]), TensorErrorKind::Runtime, "einsum(): invalid subscript given at index ", i,
          " in the equation string, subscripts must be in [a-zA-Z]");
    labels.push_back(label_of(s[i]));
  }
};

class Einsum {
 public:
  Einsum(const std::string& text, TensorList operands) : equation_(text), operands_(std::move(operands)) {
    check(!operands_.empty(), TensorErrorKind::Runtime, "einsum(): must provide at least one operand");
    check(equation_.operands.size() == operands_.size(), TensorErrorKind::Runtime, "einsum(): ",
          equation_.operands.size() > operands_.size() ? "fewer operands were provided than specified in the equation"
                                                       : "more operands were provided than specified in the equation");
    place_.fill(-1);
    size_.fill(1);
    last_use_.fill(-1);
    for (size_t k = 0; k < operands_.size(); k++) measure(k);
    choose_order();
  }

  Tensor run() {
    std::vector<Tensor> aligned;
    for (size_t k = 0; k < operands_.size(); k++) aligned.push_back(align(k));
    if (aligned.size() == 1) return summed_rest(aligned[0]);
    Tensor result = aligned[0];
    for (size_t d = size_t(kept_); d < order_.size(); d++)  // labels of the first operand alone
      if (last_use_[order_[d]] == 0 && result.sizes()[d] != 1) result = sum(result, Dims{int64_t(d)}, true);
    for (size_t k = 1; k < aligned.size(); k++) result = multiply(result, aligned[k], int(k));
    const bool done =
        std::all_of(result.sizes().begin() + kept_, result.sizes().end(), [](int64_t n) { return n == 1; });
    if (!done) return summed_rest(result);
    if (result.dim() == kept_) return result;
    return viewed(result, result.sizes().first(size_t(kept_)));
  }

 private:
  Tensor summed_rest(const Tensor& t) const {
    Dims rest;
    for (int64_t d = kept_; d < t.dim(); d++) rest.push_back(d);
    return rest.empty() ? t : sum(t, rest);
  }
  // A product is one run of memory, so this is a view of it.
  static Tensor viewed(const Tensor& t, Ints shape) { return t.is_contiguous() ? view(t, shape) : reshape(t, shape); }

  void measure(size_t k) {
    const Tensor& t = operands_[k];
    const auto& labels = equation_.operands[k];
    const int64_t named = int64_t(std::count_if(labels.begin(), labels.end(), [](int l) { return l >= 0; }));
    const bool open = named != int64_t(labels.size());
    check(open ? named <= t.dim() : named == t.dim(), TensorErrorKind::Runtime,
          "einsum(): the number of subscripts in the equation (", named,
          open ? ") is more than the number of dimensions (" : ") does not match the number of dimensions (", t.dim(),
          ") for operand ", k, open ? "" : " and no ellipsis was given");
    hidden_ = std::max(hidden_, t.dim() - named);
    int64_t d = 0;
    for (const int label : labels) {
      if (label < 0) {
        d += t.dim() - named;
        continue;
      }
      const int64_t size = t.sizes()[d++];
      check(size == 1 || size_[label] == 1 || size_[label] == size, TensorErrorKind::Runtime, "einsum(): subscript ",
            letter_of(label), " has size ", size, " for operand ", k,
            " which does not broadcast with previously seen size ", size_[label]);
      if (size != 1) size_[label] = size;
      last_use_[label] = int(k);
    }
  }

  // Kept labels in the order of the output, then all others.
  void choose_order() {
    const auto put = [&](int label) { place_[label] = int(order_.size()), order_.push_back(label); };
    const auto put_hidden = [&] {
      for (int64_t i = 0; i < hidden_; i++) put(kEllipsis + int(i));
    };
    if (equation_.has_output) {
      for (const int label : equation_.output) {
        if (label < 0) {
          put_hidden();
          continue;
        }
        check(place_[label] < 0, TensorErrorKind::Runtime, "einsum(): output subscript ", letter_of(label),
              " appears more than once in the output");
        check(last_use_[label] >= 0, TensorErrorKind::Runtime, "einsum(): output subscript ", letter_of(label),
              " does not appear in the equation for any input operand");
        put(label);
      }
    } else {
      put_hidden();
      std::array<int, kLabels> uses{};
      for (const auto& labels : equation_.operands)
        for (const int label : labels)
          if (label >= 0) uses[label]++;
      // Alphabetical, capitals first, as PyTorch orders them.
      for (int i = 0; i < 52; i++)
        if (const int label = (i + 26) % 52; uses[label] == 1) put(label);
    }
    kept_ = int64_t(order_.size());
    if (equation_.has_output && hidden_ && place_[kEllipsis] < 0) put_hidden();
    for (int label = 0; label < kEllipsis; label++)
      if (last_use_[label] >= 0 && place_[label] < 0) put(label);
  }

  // All labels as dimensions; those that an operand lacks have size 1. A label that stands twice is its diagonal.
  Tensor align(size_t k) {
    Tensor t = operands_[k];
    std::vector<int> labels;
    const auto& given = equation_.operands[k];
    const int64_t named = int64_t(std::count_if(given.begin(), given.end(), [](int l) { return l >= 0; })),
                  hidden = t.dim() - named;
    for (const int label : given) {
      if (label >= 0) labels.push_back(label);
      else
        for (int64_t i = 0; i < hidden; i++) labels.push_back(kEllipsis + int(hidden_ - hidden + i));
    }
    for (size_t i = 0; i < labels.size(); i++)
      for (size_t j = i + 1; j < labels.size();) {
        if (labels[i] != labels[j]) {
          j++;
          continue;
        }
        t = movedim(diagonal(t, 0, int64_t(i), int64_t(j)), {-1}, {int64_t(i)});
        labels.erase(labels.begin() + int64_t(j));
      }
    Dims order;
    for (const int label : order_) {
      const auto at = std::find(labels.begin(), labels.end(), label);
      if (at == labels.end()) {
        t = unsqueeze(t, t.dim());
        order.push_back(t.dim() - 1);
      } else {
        order.push_back(at - labels.begin());
      }
    }
    return permute(t, order);
  }

  // Dimensions fall into four groups: in both and kept (batch), in one only, in both and ending here (summed).
  Tensor multiply(Tensor a, Tensor b, int k) {
    for (size_t d = 0; d < order_.size(); d++) {
      const bool ends = int64_t(d) >= kept_ && last_use_[order_[d]] <= k && order_[d] < kEllipsis;
      if (!ends || (a.sizes()[d] != 1 && b.sizes()[d] != 1)) continue;
      if (a.sizes()[d] != 1) a = sum(a, Dims{int64_t(d)}, true);
      if (b.sizes()[d] != 1) b = sum(b, Dims{int64_t(d)}, true);
    }
    Dims batch, left, right, summed, shape;
    for (int64_t d = 0; d < int64_t(order_.size()); d++) {
      const int64_t x = a.sizes()[d], y = b.sizes()[d];
      const bool ends = d >= kept_ && last_use_[order_[d]] <= k;
      if (x != 1 && y != 1) (ends ? summed : batch).push_back(d);
      else if (x != 1) left.push_back(d);
      else if (y != 1) right.push_back(d);
      shape.push_back(ends && x != 1 && y != 1 ? 1 : std::max(x == 0 || y == 0 ? 0 : x, x == 0 || y == 0 ? 0 : y));
    }
    if (summed.empty()) return a * b;
    const Tensor product = matmul(matrix(a, batch, left, summed), matrix(b, batch, summed, right));
    return restore(product, a, b, batch, left, right);
  }

  static int64_t count(const Tensor& t, const Dims& dims) {
    int64_t n = 1;
    for (const int64_t d : dims) n *= t.sizes()[d];
    return n;
  }
  static Tensor matrix(const Tensor& t, const Dims& batch, const Dims& rows, const Dims& columns) {
    Dims order;
    for (const Dims* group : {&batch, &rows, &columns})
      for (const int64_t d : *group) order.push_back(d);
    for (int64_t d = 0; d < t.dim(); d++)
      if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
    return reshape(permute(t, order), {count(t, batch), count(t, rows), count(t, columns)});
  }
  Tensor restore(const Tensor& product, const Tensor& a, const Tensor& b, const Dims& batch, const Dims& left,
                 const Dims& right) const {
    Dims shape, order;
    for (const int64_t d : batch) shape.push_back(a.sizes()[d]), order.push_back(d);
    for (const int64_t d : left) shape.push_back(a.sizes()[d]), order.push_back(d);
    for (const int64_t d : right) shape.push_back(b.sizes()[d]), order.push_back(d);
    for (int64_t d = 0; d < a.dim(); d++)
      if (std::find(order.begin(), order.end(), d) == order.end()) shape.push_back(1), order.push_back(d);
    Dims back(order.size());
    for (size_t i = 0; i < order.size(); i++) back[order[i]] = int64_t(i);
    return permute(viewed(product, shape), back);
  }

  Equation equation_;
  TensorList operands_;
  int64_t hidden_ = 0;  // dimensions that "..." stands for
  int64_t kept_ = 0;
  std::vector<int> order_;
  std::array<int, kLabels> place_, last_use_;
  std::array<int64_t, kLabels> size_;
};

Tensor einsum(const std::string& equation, const TensorList& tensors) { return Einsum(equation, tensors).run(); }

Tensor tensordot(const Tensor& given_a, const Tensor& given_b, const Dims& dims_a, const Dims& dims_b) {
  check(dims_a.size() == dims_b.size(), TensorErrorKind::Runtime, "both dimension lists should have same length");
  check(given_a.dtype() == given_b.dtype(), TensorErrorKind::Runtime, "both inputs should have same dtype");
  Dims left, right, order_a, order_b, from, to;
  int64_t inner = 1;
  Tensor a = given_a, b = given_b;
  for (size_t i = 0; i < dims_a.size(); i++) {
    for (const auto& [t, d] : {std::pair(&a, dims_a[i]), std::pair(&b, dims_b[i])})
      check(t->dim() > 0, TensorErrorKind::Index, "Dimension specified as ", d, " but tensor has no dimensions");
    from.push_back(wrap_dim(dims_a[i], a.dim())), to.push_back(wrap_dim(dims_b[i], b.dim()));
    if (a.sizes()[from[i]] == 1) b = sum(b, Dims{to[i]}, true, b.dtype());
    else if (b.sizes()[to[i]] == 1) a = sum(a, Dims{from[i]}, true, a.dtype());
    check(a.sizes()[from[i]] == b.sizes()[to[i]], TensorErrorKind::Runtime,
          "contracted dimensions need to match, but first has size ", a.sizes()[from[i]], " in dim ", dims_a[i],
          " and second has size ", b.sizes()[to[i]], " in dim ", dims_b[i]);
    inner *= a.sizes()[from[i]];
  }
  Dims shape;
  int64_t rows = 1, columns = 1;
  for (int64_t d = 0; d < a.dim(); d++)
    if (std::find(from.begin(), from.end(), d) == from.end())
      order_a.push_back(d), shape.push_back(a.sizes()[d]), rows *= a.sizes()[d];
  for (const int64_t d : from) order_a.push_back(d);
  for (const int64_t d : to) order_b.push_back(d);
  for (int64_t d = 0; d < b.dim(); d++)
    if (std::find(to.begin(), to.end(), d) == to.end())
      order_b.push_back(d), shape.push_back(b.sizes()[d]), columns *= b.sizes()[d];
  return reshape(mm(reshape(permute(a, order_a), {rows, inner}), reshape(permute(b, order_b), {inner, columns})),
                 shape);
}

Tensor tensordot_count(const Tensor& a, const Tensor& b, int64_t count) {
  check(count >= 0 && count <= std::min(a.dim(), b.dim()), TensorErrorKind::Runtime,
        "tensordot expects dims >= 0, but got dims=", count);
  Dims last, first;
  for (int64_t i = 0; i < count; i++) last.push_back(a.dim() - count + i), first.push_back(i);
  return tensordot(a, b, last, first);
}

TS_OP(einsum, "einsum(str equation, Tensor[] operands) -> Tensor",
      "Products and sums as the subscripts say: 'ij,jk->ik'.", kFunction | kSizes, &einsum,
      "'ij,jk->ik', (f[2,3], f[3,4])\n"
      "'ii', (f[3,3])\n"
      "'bij,bjk->bik', (f[2,2,3], f[2,3,2])\n"
      "'...i,i', (f[2,3,4], f[4])\n"
      "'i,j,k->kij', (f[2], f[3], f[2])\n"
      "'ij', (f[2,3], f[2]) -> RuntimeError: einsum(): more operands were provided than specified in the equation\n"
      "'ij,jk', (f[2,3], f[2,3]) -> RuntimeError: einsum(): subscript j has size 2 for operand 1 which does not "
      "broadcast with previously seen size 3",
      .gathers = true, .autocast_cuda = Autocast::Lower, .batching = Batching::InScript);
TS_OP(
    tensordot, "tensordot.dims(Tensor a, Tensor b, int[] dims_self, int[] dims_other) -> Tensor",
    "Sums over pairs of dimensions.", kFunction, &tensordot,
    "f[2,3,4], f[4,3,2], [1, 2], [1, 0]\n"
    "f[3,4], f[1,4], [0, 1], [0, 1]\n"
    "f[2,3], f[2,3], [0], [0, 1] -> RuntimeError: both dimension lists should have same length\n"
    "f[2,3], f[2,3], [0], [1] -> RuntimeError: contracted dimensions need to match, but first has size 2 in dim 0 and "
    "second has size 3 in dim 1",
    .python_function = {"a b dims= out="}, .gathers = true,
    .out = {OutRule::Same,
            "tensordot: Expected the output tensor to have dtype $R, but got an output tensor with dtype $O"},
    .autocast_cuda = Autocast::Widest);
TS_OP(tensordot, "tensordot(Tensor a, Tensor b, int dims=2) -> Tensor",
      "Sums over the last dimensions of a and the first of b.", kFunction, &tensordot_count, "f[2,3], f[3,2], 1",
      .python_function = {"a b dims= out="}, .gathers = true,
      .out = {OutRule::Same,
              "tensordot: Expected the output tensor to have dtype $R, but got an output tensor with dtype $O"});

}  // namespace
}  // namespace tessera::tensor
