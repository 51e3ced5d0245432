#include "repl/notebook/look.h"

#include <utility>

#include "repl/inspector/elements.h"

namespace tessera::repl {

Look look_at(lang::Interpreter& in, TensorRow row) {
  constexpr int64_t kMostRead = int64_t(1) << 26;  // of more elements evenly spread parts
  constexpr size_t kMostBins = 60;
  const Stopping stopping = [&in] { return in.is_stopping(); };
  Look look;
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
  if (host.tensor.dim() > 0) look.heat = averaged(host.tensor, kMostHeatCells, kMostHeatCells);
  return look;
}

std::string which_matrix(const tensor::Tensor& t) {
  std::string at;
  for (int64_t d = 0; d + 2 < t.dim(); ++d) at += "0, ";
  return at.empty() ? "" : "[" + at + ":, :]";
}

}  // namespace tessera::repl
