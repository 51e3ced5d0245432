#include "repl/notebook/look.h"

#include <algorithm>
#include <utility>

#include "repl/inspector/elements.h"

namespace tessera::repl {

TensorLook look_at(lang::Interpreter& in, TensorRow row, const std::vector<int64_t>& at) {
  constexpr int64_t kMostRead = int64_t(1) << 26;  // of more elements evenly spread parts
  constexpr size_t kMostBins = 60;
  const Stopping stopping = [&in] { return in.is_stopping(); };
  TensorLook look;
  const HostCopy host = on_host(in, row.tensor, kMostCopied);
  look.row = std::move(row);
  if (!host.tensor.defined()) return look;
  look.row.statistics = survey(host.tensor, kMostRead, stopping).statistics;
  if (!look.row.statistics) return look;
  if (host.is_part) look.row.statistics->sampled = true;
  look.bars = histogram_of(host.tensor, *look.row.statistics, kMostBins, stopping);
  if (host.is_part) return look;
  look.host = host.tensor;
  look.range = colour_range(*look.row.statistics);
  look.at = at;
  if (host.tensor.dim() > 0) look.heat = averaged(matrix_at(host.tensor, look.at), kMostHeatCells, kMostHeatCells);
  return look;
}

std::string which_matrix(const std::vector<int64_t>& at) {
  std::string text;
  for (const int64_t each : at) text += std::to_string(each) + ", ";
  return text.empty() ? "" : "[" + text + ":, :]";
}

tensor::Tensor matrix_at(const tensor::Tensor& t, std::vector<int64_t>& at) {
  const int64_t leading = std::max<int64_t>(0, t.dim() - 2);
  at.resize(static_cast<size_t>(leading), 0);
  if (leading == 0 || t.numel() == 0) return t;
  int64_t offset = 0;
  for (int64_t d = 0; d < leading; ++d) {
    int64_t& index = at[static_cast<size_t>(d)];
    index = std::clamp<int64_t>(index, 0, t.size(d) - 1);
    offset += index * t.stride(d);
  }
  const auto first = static_cast<size_t>(leading);
  return t.view_of(t.sizes().drop(first), t.strides().drop(first), offset);
}

}  // namespace tessera::repl
