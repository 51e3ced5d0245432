// The skeleton of kernels over outer x inner results: reductions, scans, rows. It shares out tiles to threads and polls the
// cancel flag between them; a kernel sees one tile and knows nothing of either.
#pragma once

#include <algorithm>

#include "backends/cpu/threads.h"
#include "runtime/context.h"

namespace tessera::tensor::cpu {

/// Results [outer_begin, outer_end) x [inner_begin, inner_end). Only a tile of one outer row may cut the inner ones.
struct Tile {
  int64_t outer_begin, outer_end, inner_begin, inner_end;
};

/// About 20 microseconds of simple work: less is not worth a thread.
inline constexpr int64_t kTileGrain = 32768;

/// A strip of `most` inner results or fewer, so that each thread finds `tiles` of them in `results`. Threads that write side by
/// side had better have two: the line of the cache in which tiles of different threads meet is then written at different times.
inline int64_t strip_for_threads(int64_t results, int64_t most, int64_t tiles) {
  constexpr int64_t kLine = 64;  // elements: a line of the cache of bytes
  const int64_t threads = Context::current().threads;
  return threads == 1 ? most : std::min(most, results / (threads * tiles) / kLine * kLine + kLine);
}

/// f(begin, end) over n tiles of so many elements. Large ones are few, and wake threads before the first of them is done.
template <class F>
void share_tiles(int64_t n, int64_t elements, const F& f) {
  const int64_t grain = std::max<int64_t>(1, kTileGrain / std::max<int64_t>(1, elements));
  if (n <= grain && elements <= 4 * kTileGrain) [[likely]] {  // a long one is left when the program is to stop
    if (n > 0) f(int64_t(0), n);
    return;
  }
  run_split(n, {.grain = grain, .tasks = elements >= 4 * kTileGrain}, RangeBody(f));
}

/// f(tile) over all results. `strip`: how many inner results make a tile at most; `cost`: elements read for one result.
/// How results fall into tiles depends on the number of threads, so a result may not depend on its tile.
template <class F>
void parallel_2d(int64_t outer, int64_t inner, int64_t strip, int64_t cost, const F& f) {
  if (inner <= strip) {
    share_tiles(outer, cost * inner, [&](int64_t begin, int64_t end) { f(Tile{begin, end, 0, inner}); });
    return;
  }
  const int64_t strips = (inner + strip - 1) / strip;
  share_tiles(outer * strips, cost * strip, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; t++) {
      const int64_t o = t / strips, first = t % strips * strip;
      f(Tile{o, o + 1, first, std::min(inner, first + strip)});
    }
  });
}

}  // namespace tessera::tensor::cpu
