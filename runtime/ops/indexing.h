// Indexing as scripts write it (t[1, :, mask, None]) and the ops that read or write elements by their index.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/scalar.h"
#include "runtime/tensor.h"

namespace tessera::tensor {

/// One item between the brackets.
struct TensorIndex {
  enum class Kind : uint8_t { None, Ellipsis, Int, Slice, Bool, Tensor };

  Kind kind = Kind::None;
  bool has_start = false, has_stop = false;
  int64_t start = 0, stop = 0, step = 1;  // Int and Bool: `start` is the value
  Tensor tensor;

  static TensorIndex none() { return {}; }
  static TensorIndex ellipsis() { return of_kind(Kind::Ellipsis, 0); }
  static TensorIndex integer(int64_t i) { return of_kind(Kind::Int, i); }
  static TensorIndex boolean(bool b) { return of_kind(Kind::Bool, b); }
  static TensorIndex slice() { return of_kind(Kind::Slice, 0); }
  static TensorIndex of(Tensor t) {
    TensorIndex item = of_kind(Kind::Tensor, 0);
    item.tensor = std::move(t);
    return item;
  }

 private:
  static TensorIndex of_kind(Kind kind, int64_t value) {
    TensorIndex item;
    item.kind = kind;
    item.start = value;
    return item;
  }
};

Tensor get_index(const Tensor& self, std::span<const TensorIndex> items);
void set_index(const Tensor& self, std::span<const TensorIndex> items, const Tensor& value);

/// self[indices[0], indices[1], ...]; an absent entry stands for a whole dimension. Indices are int64, or masks.
Tensor index(const Tensor& self, const std::vector<std::optional<Tensor>>& indices);
/// In place; repeated indices add up when `accumulate`.
Tensor index_put_(const Tensor& self, const std::vector<std::optional<Tensor>>& indices, const Tensor& values,
                  bool accumulate = false);
Tensor index_put(const Tensor& self, const std::vector<std::optional<Tensor>>& indices, const Tensor& values,
                 bool accumulate = false);

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha = 1);
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, Scalar value);
Tensor gather(const Tensor& self, int64_t dim, const Tensor& index);
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, Scalar value);
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
Tensor take(const Tensor& self, const Tensor& index);
Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value);
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);
Tensor masked_select(const Tensor& self, const Tensor& mask);
Tensor nonzero(const Tensor& self);

}  // namespace tessera::tensor
