// Attention as one op: by a device's kernels, which hold a tile of the scores at a time, or by its definition.
// compile: small (the kernel takes longer)
#include "runtime/ops/attention.h"

#include <algorithm>
#include <limits>

#include "runtime/ops.h"
#include "runtime/ops/entry.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/join.h"
#include "runtime/ops/views.h"

namespace tessera::tensor {

// The CPU's attention is made of products and softmax, whose order of sums is PyTorch's.
constinit Kernel<AttentionCall> attention_kernel("attention", ServedBy::Devices);
constinit Kernel<AttentionGradCall> attention_grad_kernel("attention_backward", ServedBy::Devices);

namespace {

// Makes the slots known: no kernel of the CPU's does.
const KernelRegistration<AttentionCall> known{attention_kernel, DeviceType::Meta, [](const AttentionCall&) {}};
const KernelRegistration<AttentionGradCall> known_too{attention_grad_kernel, DeviceType::Meta,
                                                      [](const AttentionGradCall&) {}};

constexpr int64_t kWidest = 128;  // rows that the kernels have room for

DType arithmetic_of(DType t) { return t == kFloat64 ? kFloat64 : kFloat32; }

bool has_kernel(const Tensor& query, const Tensor& value) {
  const bool type = query.dtype() == kFloat32 || is_half(query.dtype());
  const bool counted = query.numel() / std::max<int64_t>(query.size(-1), 1) < int64_t(1) << 31;  // rows, by the kernels
  return attention_kernel.has(query.device().type) && type && counted && query.size(-1) <= kWidest &&
         value.size(-1) <= kWidest;
}

AttentionRows rows_of(const Tensor& t) { return {t.data_ptr(), {t.strides()[0], t.strides()[1], t.strides()[2]}}; }
Tensor with_whole_rows(const Tensor& t) { return t.size(-1) == 1 || t.strides()[3] == 1 ? t : contiguous(t); }

/// The scores as softmax takes them, in the type of the arithmetic.
Tensor scores_of(const Tensor& query, const Tensor& key, const OptionalTensor& mask, bool is_causal, double scale) {
  const DType type = arithmetic_of(query.dtype());
  const Scalar never = -std::numeric_limits<double>::infinity();
  Tensor scores = matmul(to_dtype(query, type) * scale, transpose(to_dtype(key, type), -2, -1));
  if (is_causal)
    scores = masked_fill(scores, logical_not(tril(ones({query.size(-2), key.size(-2)}, kBool, query.device()))), never);
  if (!mask) return scores;
  return mask->dtype() == kBool ? masked_fill(scores, logical_not(*mask), never) : scores + to_dtype(*mask, type);
}
/// exp(scores - totals); a query that sees nothing has a total of minus infinity.
Tensor weights_of(const Tensor& scores, const Tensor& totals) {
  const Tensor all = unsqueeze(totals, -1);
  return exp(scores - masked_fill(all, eq(all, -std::numeric_limits<double>::infinity()), Scalar(0.0)));
}

/// The result, and of each query the log of the sum of its scores' exponentials, which the gradient needs.
struct Attention {
  static constexpr TypeRule types{kFloatTypes, "_fused_attention"};
  static std::array<Meta, 2> shape(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const OptionalTensor& mask, bool, double) {
    check(query.dim() == 4 && key.dim() == 4 && value.dim() == 4, TensorErrorKind::Runtime,
          "_fused_attention: query, key and value have batches, heads, rows and columns");
    const Dims wanted_keys{query.size(0), query.size(1), key.size(2), query.size(3)};
    const Dims wanted_values{query.size(0), query.size(1), key.size(2), value.size(3)};
    check(key.sizes() == Ints(wanted_keys) && value.sizes() == Ints(wanted_values), TensorErrorKind::Runtime,
          "_fused_attention: query ", query.sizes(), ", key ", key.sizes(), " and value ", value.sizes(),
          " do not fit together");
    check(key.dtype() == query.dtype() && value.dtype() == query.dtype(), TensorErrorKind::Runtime,
          "_fused_attention: query, key and value have one dtype");
    check(!mask || mask->dtype() == kBool || mask->dtype() == kFloat32 || mask->dtype() == query.dtype(),
          TensorErrorKind::Runtime, "_fused_attention: a mask is bool, float32 or of the query's dtype");
    if (mask) expand(*mask, {query.size(0), query.size(1), query.size(2), key.size(2)});
    return {Meta({query.size(0), query.size(1), query.size(2), value.size(3)}, query.dtype(), query.device()),
            Meta({query.size(0), query.size(1), query.size(2)}, arithmetic_of(query.dtype()), query.device())};
  }
  static void run(const Tensor& out, const Tensor& totals, const Tensor& query, const Tensor& key, const Tensor& value,
                  const OptionalTensor& mask, bool is_causal, double scale) {
    if (out.numel() == 0) return;
    if (key.numel() != 0 && has_kernel(query, value)) {
      const Tensor q = with_whole_rows(query), k = with_whole_rows(key), v = with_whole_rows(value);
      return attention_kernel(query.device(), call_of(out, totals, q, k, v, mask, is_causal, scale));
    }
    const Tensor scores = scores_of(query, key, mask, is_causal, scale);
    copy_into(totals, logsumexp(scores, Dims{-1}));
    copy_into(out, matmul(weights_of(scores, totals), to_dtype(value, scores.dtype())));
  }
  static void grad(Tensor& out, Tensor& totals, const Tensor& query, const Tensor& key, const Tensor& value,
                   const OptionalTensor& mask, bool is_causal, double scale) {
    const Tensor hides = mask.value_or(Tensor());
    record(out, "ScaledDotProductFlashAttentionBackward0", {&query, &key, &value, &hides},
           Kept<6>{{SavedTensor(query), SavedTensor(key), SavedTensor(value), SavedTensor(hides),
                    SavedTensor(out, true), SavedTensor(totals)}},
           [is_causal, scale](Sweep& s) {
             const Tensor query = s.kept(0), key = s.kept(1), value = s.kept(2), hides = s.kept(3);
             const OptionalTensor mask = hides.defined() ? OptionalTensor(hides) : OptionalTensor();
             const bool whole = query.numel() != 0 && key.numel() != 0 && value.numel() != 0;
             if (!Context::current().records && whole && !s.needs(3) && has_kernel(query, value))
               return by_kernel(s, mask, is_causal, scale);
             by_definition(s, mask, is_causal, scale);
           });
  }

 private:
  static AttentionCall call_of(const Tensor& out, const Tensor& totals, const Tensor& query, const Tensor& key,
                               const Tensor& value, const OptionalTensor& mask, bool is_causal, double scale) {
    AttentionCall c{query.dtype(),
                    rows_of(query),
                    rows_of(key),
                    rows_of(value),
                    nullptr,
                    kBool,
                    {},
                    out.data_ptr(),
                    static_cast<float*>(totals.data_ptr()),
                    query.size(0),
                    query.size(1),
                    query.size(2),
                    key.size(2),
                    query.size(3),
                    value.size(3),
                    float(scale),
                    is_causal};
    if (!mask) return c;
    const Tensor all = expand(*mask, {query.size(0), query.size(1), query.size(2), key.size(2)});
    c.mask = all.data_ptr();
    c.mask_dtype = all.dtype();
    for (size_t d = 0; d < 4; d++) c.mask_steps[d] = all.strides()[d];
    return c;
  }
  static void by_kernel(Sweep& s, const OptionalTensor& mask, bool is_causal, double scale) {
    const Tensor query = with_whole_rows(s.kept(0)), key = with_whole_rows(s.kept(1)),
                 value = with_whole_rows(s.kept(2));
    const Tensor g = with_whole_rows(to_dtype(s.g(), query.dtype()));
    Tensor made[3];
    for (int k = 0; k < 3; k++) {
      const Tensor& like = k == 0 ? query : k == 1 ? key : value;
      made[k] = Tensor::empty(like.sizes(), like.dtype(), like.device());
    }
    attention_grad_kernel(query.device(), {call_of(s.kept(4), s.kept(5), query, key, value, mask, is_causal, scale),
                                           rows_of(g), made[0].data_ptr(), made[1].data_ptr(), made[2].data_ptr()});
    for (size_t k = 0; k < 3; k++) s.give(k, [&] { return made[k]; });
  }
  // From ops, which are recorded where the gradients will be differentiated again.
  static void by_definition(Sweep& s, const OptionalTensor& mask, bool is_causal, double scale) {
    const DType given = s.kept(0).dtype(), type = arithmetic_of(given);
    const Tensor query = to_dtype(s.kept(0), type), key = to_dtype(s.kept(1), type), value = to_dtype(s.kept(2), type);
    const Tensor g = to_dtype(s.g(), type), scores = scores_of(query, key, mask, is_causal, scale);
    const Tensor weights = weights_of(scores, logsumexp(scores, Dims{-1}));
    const Tensor dweights = matmul(g, transpose(value, -2, -1));
    const Tensor dsums = weights * (dweights - sum(dweights * weights, Dims{-1}, true)), dscores = dsums * scale;
    s.give(0, [&] { return to_dtype(matmul(dscores, key), given); });
    s.give(1, [&] { return to_dtype(matmul(transpose(dscores, -2, -1), query), given); });
    s.give(2, [&] { return to_dtype(matmul(transpose(weights, -2, -1), g), given); });
    s.give(3, [&] { return to_dtype(sum_to_size(dsums, mask->sizes()), mask->dtype()); });
  }
};

Tensor fused_attention(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask,
                       bool is_causal, double scale) {
  return std::get<0>(apply<Attention>(query, key, value, mask, is_causal, scale));
}

TS_OP(_fused_attention,
      "_fused_attention(Tensor query, Tensor key, Tensor value, Tensor? mask, bool is_causal, float scale) -> Tensor",
      "Values mixed by how well queries match keys.", kFunction | kInternal, &fused_attention,
      "f[2,3,5,4], f[2,3,7,4], f[2,3,7,4], None, False, 0.5\n"
      "f[1,2,6,3], f[1,2,6,3], f[1,2,6,5], None, True, 0.7\n"
      "f[2,1,4,3], f[2,1,5,3], f[2,1,5,3], b[4,5], False, 1.0\n"
      "f[1,2,3,4], f[1,2,3,4], f[1,2,3,4], g[3,3], False, 1.0\n"
      "f[1,2,3,4], f[1,2,3,5], f[1,2,3,4], None, False, 1.0 -> RuntimeError: _fused_attention: query [1, 2, 3, 4], key "
      "[1, 2, 3, 5] and value [1, 2, 3, 4] do not fit together");

}  // namespace
}  // namespace tessera::tensor
