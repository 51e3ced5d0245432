// Chains of pointwise ops, tile by tile: every step runs on a tile by the kernel that runs it alone, so the bits are those of the
// single ops. What a step leaves for later ones stays in the first-level cache. Neighbouring steps for which machine code can be generated
// (chain_code.h) run as one loop over the tile.
#include "backends/cpu/chain_code.h"
#include "backends/cpu/chain_operands.h"
#include "backends/cpu/code_cache.h"
#include "backends/cpu/convert.h"
#include "backends/cpu/pointwise_job.h"
#include "backends/cpu/reduce_table.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/threads.h"
#include "hwy/cache_control.h"
#include "runtime/error.h"
#include "runtime/fuse/chain.h"
#include "runtime/ops/reduce_ids.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <vector>

namespace tessera::tensor::cpu {
namespace {

using Kind = ChainOperand::Kind;

// Tiles whose buffers fill half of a first-level cache of 32 KiB, within bounds: a short tile pays more for its calls than it saves. Where
// operands come from memory the processor forgets their streams during a long tile: chains of 5 and 12 ops of 10^7 floats take 4.5 and 9.8 ms
// with tiles of 512 elements, 6.8 and 13 with 2048.
constexpr int64_t kTileBytes = 16384, kShortestTile = 512, kLongestTile = 2048;
constexpr int64_t kLine = 64, kLongRow = 128;
// A row that repeats, up to this length, fills a tile, which serves until the row changes.
constexpr int64_t kLongestPattern = 512, kVector = 16, kPair = 2 * kVector;
// The buffers of one thread: 64 elements of every buffer of the longest chain fit.
constexpr int64_t kBufferBytes = 24576;

struct Work {
  const ChainStep* step;
  InnerKernel kernel = nullptr;  // null: `store` does it
  DType takes[4];
  Source in[3];
  ConvertRun store = nullptr;  // from a scratch buffer to the result
  int buffer = -1;             // of the result; -1: it goes where it belongs at once
  bool past_caches = false;    // then from the buffer to memory
  bool reduced = false;        // the buffer is that of the reduction
};

// Works [first, last) as one generated function.
struct Region {
  struct In {
    const Source* source;  // null: a number of the region
    int scratch;           // buffer for a broadcast operand
  };
  struct Out {
    const Work* work;
    ChainCode::Store store;
  };
  size_t first, last;
  ChainFunction function;
  int inputs = 0, outputs = 0;
  In in[ChainCode::kMostInputs] = {};
  Out out[ChainCode::kMostOutputs];
  float numbers[ChainCode::kMostInputs];
};

// Bytes that the chain reads and writes in memory.
int64_t bytes_moved(const ChainCall& call) {
  int64_t bytes = 0;
  for (const ChainStep& step : call.steps) {
    if (!step.needed) continue;
    if (step.to && !step.to_block) bytes += call.numel * int64_t(item_size(step.dtype));
    for (int k = 0; k < step.operands; k++)
      if (step.in[k].kind == Kind::Flat && !step.in[k].in_block) bytes += call.numel * int64_t(item_size(step.in[k].dtype));
  }
  return bytes;
}

class Chain {
 public:
  explicit Chain(const ChainCall& call) : call_(call) {
    past_caches_ = bytes_moved(call) > last_cache_bytes();
    find_last_uses();
    work_.reserve(call.steps.size());
    for (size_t i = 0; i < call.steps.size(); i++)
      if (call.steps[i].needed) add(int(i));
    tile_ = std::clamp(kTileBytes / std::max<int64_t>(buffers_ * widest_, 1) / kLine * kLine, kShortestTile, kLongestTile);
    if (past_caches_) tile_ = kShortestTile;
    tile_ = std::min(tile_, kBufferBytes / ((buffers_ + kScratch + patterns_) * widest_) / kLine * kLine);
    if (repeats_ > 0 && repeats_ <= tile_) tile_ -= tile_ % repeats_;
    buffer_bytes_ = tile_ * widest_;
    if (CodeCache* const cache = CodeCache::of(call)) find_regions(*cache);
    one_loop_ = is_one_loop();
    in_rows_ = totals_ || (!one_loop_ && !call.reduce && is_one_region() && goes_by_rows(row_));
    for (size_t i = 0; past_caches_ && i < work_.size(); i++)
      if (!in_region(i)) parts_++, note_flat(work_[i]);
  }

  /// Runs the chain for elements [begin, end). Those of a reduction go to `reduced`. The buffers lie on the heap, because a small stack has
  /// no room for them (`ulimit -s 256`), and on the stack where the heap has no room: a chain that has begun may not fail.
  /// `shift`: how many elements before its place an element of a block lies.
  void run(int64_t begin, int64_t end, char* reduced = nullptr, int64_t shift = 0) const {
    if (one_loop_ && run_region(regions_[0], {nullptr, nullptr, reduced, shift}, begin, end - begin)) {
      if (past_caches_) hwy::FlushStream();
      return;
    }
    if (in_rows_) {
      const int64_t first = std::min((begin + row_ - 1) / row_ * row_, end), last = std::max(first, end / row_ * row_);
      run_in_tiles(begin, first, nullptr, shift);
      if (first < last) run_rows(first / row_, last / row_, shift);
      return run_in_tiles(last, end, nullptr, shift);
    }
    run_in_tiles(begin, end, reduced, shift);
  }

  /// True if the elements of the reduction never leave the generated loop: then `reduce_rows` does it.
  bool makes_totals() const { return totals_; }
  /// Reduces rows [begin, end) to elements of `out` from `begin` on: the loop adds up the columns of blocks, the kernel these.
  void reduce_rows(int64_t begin, int64_t end, float* out, int64_t shift = 0) const {
    alignas(kLine) float blocks[kTotals];
    const ReduceKernels<float>& kernel = float_reductions(kFloat32)[call_.reduce->op];
    const int64_t in_row = row_ / totals_block(row_) * kColumns, most = kTotals / in_row;
    for (int64_t n; begin < end; begin += n) {
      n = std::min(most, end - begin);
      run_rows(begin, begin + n, shift, blocks);
      kernel.rows(out + begin, nullptr, blocks, in_row, in_row, n, 0);
      kernel.finish(out + begin, n, double(row_), 0);
    }
  }

  int64_t kernels() const { return int64_t(work_.size()); }

 private:
  void run_in_tiles(int64_t begin, int64_t end, char* reduced, int64_t shift) const {
    if (begin == end) return;
    std::optional<Scratch<char>> memory;
    try {
      memory.emplace(kBufferBytes);
    } catch (const TensorError&) {
      return run_on_stack(begin, end, reduced, shift);
    }
    run_tiles(memory->data(), begin, end, reduced, shift);
  }

  [[gnu::noinline, gnu::cold]] void run_on_stack(int64_t begin, int64_t end, char* reduced, int64_t shift) const {
    alignas(kLine) char memory[kBufferBytes];
    run_tiles(memory, begin, end, reduced, shift);
  }

  // Memory that the tiles of a run use.
  struct Places {
    char* memory;  // buffers
    Pattern* patterns;
    char* reduced;  // of the tile
    int64_t shift;  // as in run
  };

  void run_tiles(char* memory, int64_t begin, int64_t end, char* reduced, int64_t shift) const {
    Pattern patterns[kMostPatterns];
    Places places{memory, patterns, reduced, shift};
    for (int64_t at = begin, n; at < end; at += n) {
      n = std::min(tile_, end - at);
      if (row_ > 0) n = std::min(n, row_ - at % row_);
      run_tile(places, at, n, std::min(tile_, end - at - n));
      if (reduced) places.reduced += n * int64_t(item_size(call_.steps.back().dtype));
    }
    if (past_caches_) hwy::FlushStream();
  }

  static constexpr int kMost = ChainCall::kMostSteps;
  static constexpr int kScratch = 4;  // three operands and a result
  static constexpr int kMostPatterns = 6;
  static constexpr int64_t kColumns = kRowColumns<float>, kLongestRow = 4096;
  static constexpr int64_t kTotals = 2048;  // at once
  void find_last_uses() {
    std::fill_n(last_use_, kMost, int8_t(-1));
    std::fill_n(buffer_of_, kMost, int8_t(-1));
    for (size_t i = 0; i < call_.steps.size(); i++) {
      const ChainStep& step = call_.steps[i];
      for (int k = 0; step.needed && k < step.operands; k++)
        if (step.in[k].kind == Kind::Step) last_use_[step.in[k].step] = int8_t(i);
    }
  }

  int8_t take_buffer() { return free_count_ ? free_[--free_count_] : int8_t(buffers_++); }

  // True if the result of a step may go where its operand k is.
  static bool may_be_overwritten(const Work& work, int k) {
    if (!work.kernel) return false;
    for (int other = 0; other < work.step->operands; other++) {
      const bool same = work.in[other].buffer == work.in[k].buffer;
      if (same && !work.store && !work.in[other].load && item_size(work.takes[other + 1]) != item_size(work.takes[0])) return false;
    }
    return true;
  }

  // A buffer is free again behind its last reader.
  void free_buffer(const ChainOperand& operand, int reader) {
    if (operand.kind != Kind::Step || last_use_[operand.step] != reader) return;
    int8_t& buffer = buffer_of_[operand.step];
    if (buffer >= 0) free_[free_count_++] = buffer;
    buffer = -1;
  }

  void add(int i) {
    const ChainStep& step = call_.steps[size_t(i)];
    Work& work = work_.emplace_back();
    work.step = &step;
    if (step.op == ChainStep::kConvert) work.takes[0] = work.takes[1] = step.in[0].dtype;
    else choose_kernel(work);
    for (int k = 0; k < step.operands; k++) add_source(work, k);
    if (work.takes[0] != step.dtype || !work.kernel) work.store = converter(step.dtype, work.takes[0]);
    widen(step.dtype), widen(work.takes[0]);
    work.past_caches = step.to && !step.to_block && past_caches_ && !is_read(step.to);
    work.reduced = call_.reduce && &step == &call_.steps.back();
    for (int k = 0; k < step.operands; k++)
      if (may_be_overwritten(work, k)) free_buffer(step.in[k], i);
    if (!work.reduced && (!step.to || work.past_caches)) work.buffer = take_buffer();
    buffer_of_[i] = work.buffer;
    for (int k = 0; k < step.operands; k++) free_buffer(step.in[k], i);
    if (work.buffer >= 0 && last_use_[i] < 0) free_[free_count_++] = int8_t(work.buffer);
  }

  // True if the caches get the lines of a result anyway.
  bool is_read(const char* to) const {
    return std::any_of(call_.steps.begin(), call_.steps.end(), [&](const ChainStep& step) {
      return step.needed && std::any_of(step.in, step.in + step.operands, [&](const ChainOperand& o) { return o.address == to; });
    });
  }

  // The kernel of a call over one run, as a single op of these dtypes has.
  void choose_kernel(Work& work) {
    const ChainStep& step = *work.step;
    Loop loop;
    loop.operands = step.operands + 1;
    loop.ndim = 1;
    loop.dtype[0] = step.dtype, loop.strides[0][0] = 1;
    for (int k = 0; k < step.operands; k++) {
      loop.dtype[k + 1] = step.in[k].dtype;
      loop.strides[k + 1][0] = step.in[k].kind == Kind::Number ? 0 : 1;
      if (step.in[k].kind == Kind::Number) std::memcpy(loop.numbers[k + 1], step.in[k].number, 16), loop.use_number(k + 1, step.in[k].dtype);
    }
    const Job job = make_job(PointwiseCall{step.op, step.lane, loop, step.params}, true);
    work.kernel = job.kernel;
    std::copy_n(job.takes, 4, work.takes);
  }

  void add_source(Work& work, int k) {
    Source& source = work.in[k];
    const ChainOperand& operand = work.step->in[k];
    const DType takes = work.takes[k + 1];
    source.operand = &operand;
    source.takes = takes;
    source.address = operand.address;
    source.in_block = operand.in_block;
    widen(takes), widen(operand.dtype);
    if (operand.kind == Kind::Number) {
      converter(takes, operand.dtype)(source.number, 1, operand.number, 1, 1);
      return;
    }
    if (takes != operand.dtype || operand.kind == Kind::Spread) source.load = converter(takes, operand.dtype);
    if (operand.kind == Kind::Spread && is_pattern(operand) && patterns_ < kMostPatterns) {
      source.pattern = patterns_++;
      if (repeats_ == 0) repeats_ = std::lcm(operand.sizes[0], kVector);
    } else if (operand.kind == Kind::Spread && operand.sizes[0] >= kLongRow)
      row_ = row_ > 0 ? std::min(row_, operand.sizes[0]) : operand.sizes[0];
    if (operand.kind != Kind::Step) return;
    source.buffer = buffer_of_[operand.step];
    source.address = call_.steps[operand.step].to;
    source.in_block = call_.steps[operand.step].to_block;
  }

  bool is_one_region() const { return regions_.size() == 1 && regions_[0].last - regions_[0].first == work_.size(); }
  // True if a generated function needs no buffer and no tiles.
  bool is_one_loop() const {
    if (!is_one_region() || totals_) return false;
    const Region& region = regions_[0];
    return std::all_of(region.in, region.in + region.inputs, [](const Region::In& in) { return !in.source || in.source->operand->kind == Kind::Flat; }) &&
           std::all_of(region.out, region.out + region.outputs, [](const Region::Out& out) { return out.store != ChainCode::kInBuffer || out.work->reduced; });
  }

  // The elements of a row that a kernel adds up in one block, if the rest of the row is such blocks too; else 0.
  static int64_t totals_block(int64_t row) {
    constexpr int64_t kBlock = 16 * kColumns;  // cascade_step of all these rows
    if (row > kLongestRow || row % kColumns != 0) return 0;
    return row <= kBlock ? row : row % kBlock == 0 ? kBlock : 0;
  }
  static ChainCode::Total total_of(int op) {
    switch (op) {
      case reduction::r_sum: case reduction::r_mean: return ChainCode::Total::Sum;
      case reduction::r_amax: return ChainCode::Total::Largest;
      case reduction::r_amin: return ChainCode::Total::Smallest;
      default: return ChainCode::Total::None;
    }
  }
  // Length of the rows that the chain can reduce in its loop, or 0.
  int64_t find_row_of_totals() const {
    const ReduceCall* const c = call_.reduce;
    if (!c || c->compute != kFloat32 || c->out_dtype != kFloat32 || c->out_index || c->reduced != 1 || c->reduced_strides[0] != 1) return 0;
    const int64_t row = c->reduced_sizes[0];
    if (total_of(c->op) == ChainCode::Total::None || totals_block(row) == 0 || (row_ > 0 && row_ != row)) return 0;
    if (!goes_by_rows(row)) return 0;
    return (c->kept == 0 || (c->kept == 1 && c->kept_strides[0] == row)) && call_.numel == row * c->kept_numel ? row : 0;
  }

  // True if the addresses of all operands go from one row to the next in equal steps, so that one generated function can run row by row.
  bool goes_by_rows(int64_t row) const {
    if (row == 0 || row % kPair != 0 || call_.numel % row != 0) return false;
    return std::all_of(work_.begin(), work_.end(), [&](const Work& work) {
      if (work.past_caches && reinterpret_cast<uintptr_t>(work.step->to) % kLine != 0) return false;
      return std::all_of(work.in, work.in + work.step->operands, [&](const Source& source) { return goes_by_rows(source, row); });
    });
  }
  static bool goes_by_rows(const Source& source, int64_t row) {
    const ChainOperand& o = *source.operand;
    if (o.kind != Kind::Spread) return true;
    if (o.ndim == 1) return repeats_in_region(source);
    return o.ndim == 2 && o.sizes[0] == row && (o.strides[0] == 1 || repeats_in_region(source));
  }

  // Runs rows [begin, end) by calls of the generated function.
  void run_rows(int64_t begin, int64_t end, int64_t shift, float* totals = nullptr) const {
    const void* pointers[ChainCode::kMostInputs + ChainCode::kMostOutputs + 1];
    int64_t steps[std::size(pointers)];
    const Region& region = regions_[0];
    int count = 0;
    bool rows_differ = false;
    const auto add = [&](const void* from, int64_t step) { pointers[count] = from, steps[count++] = step; };
    for (int k = 0; k < region.inputs; k++) {
      const Source* const source = region.in[k].source;
      if (!source) {
        add(&region.numbers[k], 0);
        continue;
      }
      const ChainOperand& o = *source->operand;
      const int64_t size = int64_t(item_size(o.dtype));
      const int64_t step = size * (o.kind == Kind::Flat ? row_ : o.ndim > 1 ? o.strides[1] : 0);
      add(source->address + begin * step - (source->in_block ? shift * size : 0), step);
      rows_differ |= o.kind == Kind::Spread && o.ndim > 1;
    }
    for (int k = 0; k < region.outputs; k++) {
      const ChainStep& step = *region.out[k].work->step;
      add(destination(step, {nullptr, nullptr, nullptr, shift}, begin * row_), row_ * int64_t(item_size(step.dtype)));
    }
    if (totals) add(totals, 0);  // the function moves it
    const int64_t rows = rows_differ ? 1 : end - begin, n = rows * row_;
    for (; begin < end; begin += rows) {
      region.function(pointers, totals ? totals_block(row_) : n, totals ? uint32_t(n) : 0);
      for (int k = 0; k < count; k++) pointers[k] = static_cast<const char*>(pointers[k]) + steps[k];
    }
    if (past_caches_) hwy::FlushStream();
  }

  // Of works whose operands come from memory beyond the caches, one after the other. The processor itself fetches those of a generated loop: a
  // loop that fetched its own would take 1.2 times as long over 10^6 elements.
  void note_flat(const Work& work) {
    for (int k = 0; k < work.step->operands; k++) {
      const ChainOperand& operand = work.step->in[k];
      if (operand.kind == Kind::Flat && !operand.is_warm && std::none_of(flat_.begin(), flat_.end(), [&](const ChainOperand* o) { return o->address == operand.address; }))
        flat_.push_back(&operand);
    }
  }

  bool in_region(size_t work) const {
    return std::any_of(regions_.begin(), regions_.end(), [&](const Region& r) { return r.first <= work && work < r.last; });
  }

  void find_regions(CodeCache& cache) {
    const int64_t row_of_totals = find_row_of_totals();
    size_t last = work_.size();  // a region of more works needs too many registers
    const size_t shortest = row_of_totals > 0 || goes_by_rows(row_) ? std::clamp<size_t>(work_.size(), 1, 2) : 2;
    for (size_t i = 0; i + shortest <= work_.size();) {
      RegionFinder finder(*this, i, cache.bodies);
      while (finder.end() < last && finder.add(work_[finder.end()])) {}
      const size_t length = finder.end() - i;
      const bool has_totals = length == work_.size() && row_of_totals > 0;
      if (length >= shortest) {
        if (has_totals) finder.add_totals(total_of(call_.reduce->op), totals_block(row_of_totals));
        finder.finish();
        finder.region.function = cache.function(finder.code.code);
        if (finder.region.function && has_totals) totals_ = true, row_ = row_of_totals;
        if (finder.region.function) regions_.push_back(finder.region);
        else if (length > 3 && !cache.is_lost()) {
          last = i + length / 2;
          continue;
        }
      }
      i = std::max(i + 1, finder.end());
      last = work_.size();
    }
    if (cache.is_lost()) regions_.clear(), totals_ = false;
  }

  static bool is_pattern(const ChainOperand& o) {
    return o.ndim > 1 && o.strides[0] != 0 && o.strides[1] == 0 && o.sizes[0] <= kLongestPattern;
  }

  void widen(DType type) { widest_ = std::max(widest_, int64_t(item_size(type))); }

  // Prefetches the operands of the next tile while the current tile computes. Each step prefetches a part: the processor has few line buffers.
  void fetch(int64_t part, int64_t at, int64_t n) const {
    const int64_t begin = n * part / parts_, end = n * (part + 1) / parts_;
    for (const ChainOperand* o : flat_) {
      const int64_t size = int64_t(item_size(o->dtype));
      for (int64_t i = begin * size; i < end * size; i += kLine) __builtin_prefetch(o->address + at * size + i, 0, 2);
    }
  }

  char* buffer(char* memory, int i) const { return memory ? memory + i * buffer_bytes_ : nullptr; }

  void run_tile(const Places& places, int64_t at, int64_t n, int64_t next) const {
    const Region* region = regions_.data();
    const Region* const regions_end = region + regions_.size();
    int64_t part = 0;
    for (size_t i = 0; i < work_.size();) {
      if (region != regions_end && region->first == i && run_region(*region++, places, at, n)) {
        i = region[-1].last;
        continue;
      }
      if (part < parts_) fetch(part++, at + n, next);
      run_step(work_[i++], places, at, n);
    }
  }

  // Returns false if the code does not fit the addresses of this tile.
  bool run_region(const Region& region, const Places& places, int64_t at, int64_t n) const {
    const void* pointers[ChainCode::kMostInputs + ChainCode::kMostOutputs];
    const void** pointer = pointers;
    for (int k = 0; k < region.inputs; k++) {
      const Region::In& in = region.in[k];
      int64_t step = 0;
      *pointer++ = in.source ? operand(*in.source, buffer(places.memory, buffers_ + in.scratch), places, at, n, step) : &region.numbers[k];
      if (in.source && (step != 0) == repeats_in_region(*in.source)) return false;
    }
    for (int k = 0; k < region.outputs; k++) {
      const Region::Out& out = region.out[k];
      const Work& work = *out.work;
      char* const there = destination(*work.step, places, at);
      if (out.store == ChainCode::kPastCaches && reinterpret_cast<uintptr_t>(there) % kLine != 0) return false;
      *pointer++ = out.store != ChainCode::kInBuffer ? there : work.reduced ? places.reduced : buffer(places.memory, work.buffer);
    }
    region.function(pointers, n & -kPair, (1U << (n % kPair)) - 1);
    return true;
  }

  static char* destination(const ChainStep& step, const Places& places, int64_t at) {
    return step.to ? step.to + (at - (step.to_block ? places.shift : 0)) * int64_t(item_size(step.dtype)) : nullptr;
  }

  void run_step(const Work& work, const Places& places, int64_t at, int64_t n) const {
    char* const memory = places.memory;
    Run run;
    run.params = work.step->params;
    run.n = n;
    for (int k = 0; k < work.step->operands; k++)
      run.in[k] = operand(work.in[k], buffer(memory, buffers_ + k), places, at, n, run.step[k]);
    char* const there = destination(*work.step, places, at);
    char* const result = work.reduced ? places.reduced : work.buffer < 0 ? there : buffer(memory, work.buffer);
    run.out = work.store ? buffer(memory, buffers_ + kScratch - 1) : result;
    if (work.kernel) work.kernel(run);
    if (work.store) work.store(result, 1, work.kernel ? run.out : run.in[0], work.kernel ? 1 : run.step[0], n);
    if (work.past_caches) copy_past_caches(there, result, n * int64_t(item_size(work.step->dtype)));
  }

  const void* operand(const Source& source, char* scratch, const Places& places, int64_t at, int64_t n, int64_t& step) const {
    const ChainOperand& o = *source.operand;
    step = 1;
    if (o.kind == Kind::Number) {
      step = 0;
      return source.number;
    }
    if (source.pattern >= 0) return repeat(source, buffer(places.memory, buffers_ + kScratch + source.pattern), places.patterns[source.pattern], at, n);
    if (o.kind == Kind::Spread) return spread(source, scratch, at, n, step);
    const int64_t place = at - (source.in_block ? places.shift : 0);
    const char* const from = source.buffer >= 0 ? buffer(places.memory, source.buffer) : source.address + place * int64_t(item_size(o.dtype));
    if (!source.load) return from;
    source.load(scratch, 1, from, 1, n);
    return scratch;
  }

  // One element for the whole of each tile.
  static bool repeats_in_region(const Source& source) {
    const ChainOperand& o = *source.operand;
    return o.kind == Kind::Number || (o.kind == Kind::Spread && source.pattern < 0 && o.strides[0] == 0 && o.sizes[0] >= kLongRow);
  }

  // Grows a region step by step.
  class RegionFinder {
   public:
    RegionFinder(const Chain& chain, size_t first, RecordedBodies& bodies) : bodies_(bodies), chain_(chain) {
      region.first = region.last = first;
      std::fill_n(value_of_, kMost, ChainCode::kNone);
    }
    size_t end() const { return region.last; }

    // Adds the next work, or changes nothing.
    bool add(const Work& work) {
      const ChainRegion::Mark mark = code.mark();
      const int scratch = scratch_;
      uint8_t values[3] = {}, result = ChainCode::kNone;
      bool fits = work.kernel && !work.store && work.takes[0] == work.step->dtype && !overwrites_mask(work);
      for (int k = 0; fits && k < work.step->operands; k++) fits = (values[k] = value(work.in[k])) != ChainCode::kNone;
      if (fits && stores_ < ChainCode::kMostOutputs - 1) result = code.add_step(*work.step, values, work.kernel, bodies_);
      if (is_too_long(mark.length, code.length - mark.length)) result = ChainCode::kNone;
      if (result == ChainCode::kNone) {
        std::fill(region.in + mark.inputs, region.in + code.code.inputs, Region::In{});
        code.rewind(mark);
        scratch_ = scratch;
        return false;
      }
      value_of_[index(work)] = result;
      if (work.step->to || work.reduced) stores_ += 2;
      else if (chain_.last_use_[index(work)] >= 0) stores_++;
      region.last++;
      return true;
    }

    // The reduction's elements become totals, and no buffer is stored.
    void add_totals(ChainCode::Total total, int64_t block) { code.code.total = total, code.code.block = uint16_t(block); }

    // Chooses the results that are stored: which others read is known now.
    void finish() {
      const int end = region.last < chain_.work_.size() ? index(chain_.work_[region.last]) : kMost;
      for (size_t i = region.first; i < region.last; i++) {
        const Work& work = chain_.work_[i];
        const int step = index(work);
        const bool mask = work.step->dtype == kBool, read = chain_.last_use_[step] >= end;
        if (work.step->to && !is_overwritten(i)) store(work, work.past_caches && !mask ? ChainCode::kPastCaches : ChainCode::kInMemory);
        if ((work.reduced && code.code.total == ChainCode::Total::None) || (read && work.buffer >= 0)) store(work, ChainCode::kInBuffer);
      }
      region.inputs = code.code.inputs;
      std::copy_n(code.numbers, region.inputs, region.numbers);
    }

    ChainRegion code;
    Region region;

   private:
    int index(const Work& work) const { return int(work.step - chain_.call_.steps.data()); }

    // True if a later step of the region writes the same elements.
    bool is_overwritten(size_t i) const {
      const ChainStep& step = *chain_.work_[i].step;
      return std::any_of(chain_.work_.begin() + int64_t(i) + 1, chain_.work_.begin() + int64_t(region.last), [&](const Work& later) {
        return later.step->to == step.to && later.step->to_block == step.to_block && item_size(later.step->dtype) == item_size(step.dtype);
      });
    }

    void store(const Work& work, ChainCode::Store kind) {
      code.code.instruction[value_of_[index(work)] - ChainCode::kFirstResult].stores |= kind;
      region.out[region.outputs++] = {&work, kind};
    }

    // Instructions of a long loop wait for each other, and few of the next vectors' are within the processor's sight: two functions one after
    // the other take as long in two loops, three take longer in one.
    static bool is_too_long(int before, int added) { return before + added > 40 && std::min(before, added) > 12; }

    // A byte of a mask lies where a float of an earlier vector would go.
    bool overwrites_mask(const Work& work) const {
      for (int k = 0; k < code.code.inputs; k++)
        if (code.code.input[k] == ChainCode::Input::Mask && region.in[k].source->buffer >= 0 && region.in[k].source->buffer == work.buffer) return true;
      return false;
    }

    uint8_t value(const Source& source) {
      const ChainOperand& o = *source.operand;
      if (o.kind == Kind::Number) {
        float number;
        std::memcpy(&number, source.number, sizeof number);
        return source.takes == kFloat32 && !std::isnan(number) ? code.add_number(number) : ChainCode::kNone;
      }
      if (source.takes != o.dtype || (o.dtype != kFloat32 && o.dtype != kBool)) return ChainCode::kNone;
      if (o.kind == Kind::Step && value_of_[o.step] != ChainCode::kNone) return value_of_[o.step];
      for (uint8_t k = 0; k < code.code.inputs; k++)
        if (const Source* const known = region.in[k].source; known && reads_the_same(*known->operand, o)) return k;
      const bool spread = o.kind == Kind::Spread;
      if (spread && (o.dtype == kBool || (source.pattern < 0 && scratch_ == kScratch))) return ChainCode::kNone;
      const uint8_t value = code.add_input(o.dtype == kBool            ? ChainCode::Input::Mask
                                           : repeats_in_region(source) ? ChainCode::Input::Same
                                                                       : ChainCode::Input::Memory);
      if (value == ChainCode::kNone) return value;
      region.in[value] = {&source, scratch_};
      if (spread && source.pattern < 0) scratch_++;
      return value;
    }

    static bool reads_the_same(const ChainOperand& a, const ChainOperand& b) {
      if (a.kind != b.kind || a.dtype != b.dtype) return false;
      return a.kind == Kind::Step ? a.step == b.step : a.kind == Kind::Flat && a.address == b.address;
    }

    RecordedBodies& bodies_;
    const Chain& chain_;
    uint8_t value_of_[kMost];  // by step
    int scratch_ = 0, stores_ = 0;
  };

  const ChainCall& call_;
  std::vector<Work> work_;
  std::vector<Region> regions_;
  std::vector<const ChainOperand*> flat_;
  int8_t last_use_[kMost], buffer_of_[kMost], free_[kMost];  // by step, and buffers without a reader
  int free_count_ = 0, buffers_ = 0, patterns_ = 0;
  int64_t repeats_ = 0;  // elements: tiles whose length is a multiple of this period begin at the same element of the repeating row; 0 if no row repeats
  int64_t widest_ = 1, tile_ = 0, buffer_bytes_ = 0;
  int64_t row_ = 0;  // elements: tiles end at the end of each row of a broadcast operand, of this length; 0 if tiles ignore rows
  int64_t parts_ = 0;  // works that run step by step
  bool past_caches_ = false;
  bool one_loop_ = false, in_rows_ = false, totals_ = false;  // how the one region runs that all works are
};

// The elements of a reduction from `begin` on, which the last step computes. `shift` as in Chain::run.
class ChainSource final : public ElementSource {
 public:
  explicit ChainSource(const Chain& chain, int64_t begin = 0, int64_t shift = 0) : chain_(chain), begin_(begin), shift_(shift) {}
  void read(int64_t first, int64_t n, void* to) const override {
    chain_.run(begin_ + first, begin_ + first + n, static_cast<char*>(to), shift_);
  }

 private:
  const Chain& chain_;
  const int64_t begin_, shift_;
};

void run_chain(const ChainCall& call) {
  const Chain chain(call);
  if (chain.kernels() == 0) return;
  count_work(uint64_t(call.numel * (chain.kernels() - 1)) >> 11);  // each op counts; the last one where the range is split
  if (call.reduce) {
    const ChainSource source(chain);
    ReduceCall reduce = *call.reduce;
    reduce.source = &source;
    if (!chain.makes_totals()) return reduce_kernel(kCpu, reduce);
    return parallel_for(reduce.kept_numel, std::max<int64_t>(1, kFunctionGrain / reduce.reduced_numel), [&](int64_t begin, int64_t end) {
      chain.reduce_rows(begin, end, reinterpret_cast<float*>(reduce.out));
    });
  }
  parallel_for(call.numel, kFunctionGrain, [&](int64_t begin, int64_t end) { chain.run(begin, end); });
}

// A part whose chain is planned once, for all blocks.
class PlannedPart {
 public:
  PlannedPart(const RowsCall& rows, const RowsPart& part, int chains_to_plan)
      : part_(part), call_{part.steps, rows.rows * part.in_row, part.reduce, rows.cache, chains_to_plan}, chain_(call_) {}
  PlannedPart(const PlannedPart&) = delete;

  /// Runs rows [begin, end), which in memory of a block lie `shift` rows before their place.
  void run(int64_t begin, int64_t end, int64_t shift) const {
    const int64_t first = begin * part_.in_row, last = end * part_.in_row;
    shift *= part_.in_row;
    if (!part_.reduce) return chain_.run(first, last, nullptr, shift);
    if (chain_.makes_totals()) return chain_.reduce_rows(begin, end, reinterpret_cast<float*>(part_.reduce->out), shift);
    ReduceCall reduce = *part_.reduce;
    const ChainSource source(chain_, first, shift);
    if (chain_.kernels() > 0) reduce.source = &source;
    else reduce.in += (first - (part_.in_block ? shift : 0)) * int64_t(item_size(reduce.in_dtype));
    reduce.out += begin * int64_t(item_size(reduce.out_dtype));
    reduce.kept_sizes[0] = reduce.kept_numel = end - begin;
    reduce_kernel(kCpu, reduce);
  }
  int64_t work() const { return call_.numel * (chain_.kernels() + (part_.reduce != nullptr)); }

 private:
  const RowsPart& part_;
  const ChainCall call_;
  const Chain chain_;
};

void plan_parts(const RowsCall& call, std::deque<PlannedPart>& parts) {
  for (const RowsPart& part : call.parts) parts.emplace_back(call, part, parts.empty() ? int(call.parts.size()) : 0);
}

void run_rows(const RowsCall& call) {
  std::deque<PlannedPart> parts;
  plan_parts(call, parts);
  if (CodeCache::is_lost(call.cache)) {  // while a later part was planned: the functions of the earlier parts are gone
    parts.clear();
    plan_parts(call, parts);
  }
  int64_t work = 0;
  for (const PlannedPart& part : parts) work += part.work();
  count_work(uint64_t(work) >> 11);
  parallel_for((call.rows + call.block - 1) / call.block, 1, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * call.block;  // all blocks of the piece use its memory
    for (int64_t row = first; begin < end; begin++, row += call.block)
      for (const PlannedPart& part : parts) part.run(row, std::min(row + call.block, call.rows), row - first);
  });
}

const KernelRegistration registration{chain_kernel, DeviceType::Cpu, &run_chain};
const KernelRegistration registration_of_rows{rows_kernel, DeviceType::Cpu, &run_rows};

}  // namespace
}  // namespace tessera::tensor::cpu
