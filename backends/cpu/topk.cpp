// The first k of each row.
//
// A few out of many: a heap of the best so far, and blocks of the row are passed over by one comparison when nothing in them
// beats the worst of the heap. That is std::partial_sort, which PyTorch calls, without the steps that change nothing. Many:
// the row is sorted. There PyTorch calls std::nth_element and std::sort, whose order of equal elements is only theirs, so
// rows in which equal elements could be told apart go through these again.
// compile: vectors (plain loops over elements)
#include <algorithm>
#include <vector>

#include "backends/cpu/order_key.h"
#include "backends/cpu/sort.h"
#include "backends/cpu/threads.h"
#include "runtime/context.h"

namespace tessera::tensor::cpu {
namespace {

constexpr int64_t kBlock = 32;
constexpr int64_t kLong = 65536;  // elements of a row that threads share
constexpr int64_t kPollEvery = int64_t(1) << 18;

template <class T>
class RowTopk {
 public:
  using Key = OrderKey<T>;

  explicit RowTopk(const TopkCall& call)
      : call_(call), flip_(call.largest ? Key(0) : ~Key(0)), as_partial_sort_(call.k * 64 <= call.size) {}

  void run(int64_t row) {
    in_ = static_cast<const T*>(call_.in) + row * call_.size;
    if (!as_partial_sort_ && !call_.sorted) select_like_std();
    else if (call_.k * 8 <= call_.size) select_by_heap();
    else select_by_sorting();
    T* out = static_cast<T*>(call_.out) + row * call_.k;
    int64_t* index = call_.index + row * call_.k;
    for (int64_t i = 0; i < call_.k; i++) index[i] = items_[size_t(i)].place, out[i] = in_[index[i]];
  }

 private:
  struct Item {
    Key key;
    int64_t place;
  };
  static constexpr auto better = [](const Item& a, const Item& b) {
    return a.key > b.key;
  };  // no function: it is inlined
  Key key_at(int64_t i) const { return order_key(in_[i]) ^ flip_; }

  /// The best of a block, whose keys are left in `keys`.
  Key best_of(int64_t i, int64_t count, Key (&keys)[kBlock]) const {
    Key most = 0;
    for (int64_t j = 0; j < count; j++) keys[j] = key_at(i + j);
    for (int64_t j = 0; j < count; j++) most = std::max(most, keys[j]);
    return most;
  }

  void fill_items(int64_t n) {
    items_.resize(size_t(n));
    for (int64_t i = 0; i < n; i++) {
      if (i % kPollEvery == kPollEvery - 1) Context::current().poll();
      items_[size_t(i)] = {key_at(i), i};
    }
  }

  void select_by_heap() {
    const int64_t k = call_.k, n = call_.size;
    fill_items(k);
    items_.emplace_back();
    const auto heap = items_.begin(), end = items_.begin() + k;
    std::make_heap(heap, end, better);
    // Of a single long row threads look for the best of each block, which takes nearly all of the time.
    std::vector<Key> best(call_.rows == 1 && n >= kLong ? size_t((n - k + kBlock - 1) / kBlock) : 0);
    parallel_for(int64_t(best.size()), kLong / 2 / kBlock, [&](int64_t begin, int64_t last) {
      Key keys[kBlock];
      for (int64_t b = begin; b < last; b++)
        best[size_t(b)] = best_of(k + b * kBlock, std::min(kBlock, n - k - b * kBlock), keys);
    });
    for (int64_t i = k, looked = k; i < n; i += kBlock) {
      if (i - looked >= kPollEvery) Context::current().poll(), looked = i;
      if (!best.empty() && best[size_t((i - k) / kBlock)] <= heap->key) continue;
      const int64_t count = std::min(kBlock, n - i);
      Key keys[kBlock];
      if (best_of(i, count, keys) <= heap->key) continue;
      for (int64_t j = 0; j < count; j++) {
        if (keys[j] <= heap->key) continue;
        *end = {keys[j], i + j};  // the worst one goes to the end, this one into the heap
        std::pop_heap(heap, end + 1, better);
      }
    }
    std::sort_heap(heap, end, better);
    if (!as_partial_sort_ && order_is_open(k)) select_like_std();
  }

  void select_by_sorting() {
    const int64_t n = call_.size;
    if (!sorted_.defined()) sorted_ = Tensor::empty({n}, call_.dtype), places_ = Tensor::empty({n}, kInt64);
    sort_rows({call_.dtype, in_, sorted_.data_ptr(), places_.data<int64_t>(), 1, n, call_.largest});
    items_.resize(size_t(call_.k));
    const T* sorted = static_cast<const T*>(sorted_.data_ptr());
    for (int64_t i = 0; i < call_.k; i++)
      items_[size_t(i)] = {Key(order_key(sorted[i]) ^ flip_), places_.data<int64_t>()[i]};
    if (order_is_open(call_.k)) select_like_std();
  }

  // Whether equal elements were chosen, or one was and another was not.
  bool order_is_open(int64_t k) const {
    for (int64_t i = 1; i < k; i++)
      if (items_[size_t(i)].key == items_[size_t(i) - 1].key) return true;
    const Key worst = items_[size_t(k) - 1].key;
    int64_t all = 0;
    for (int64_t i = 0; i < call_.size; i++) all += key_at(i) == worst;
    Context::current().poll();
    return all > 1;
  }

  void select_like_std() {
    fill_items(call_.size);
    const auto begin = items_.begin(), nth = items_.begin() + call_.k - 1;
    int64_t looks = 0;
    const auto better_or_stop = [&looks](const Item& a, const Item& b) {
      if (++looks % kPollEvery == 0) [[unlikely]]
        Context::current().poll();
      return better(a, b);
    };
    std::nth_element(begin, nth, items_.end(), better_or_stop);
    if (call_.sorted) std::sort(begin, nth, better_or_stop);
  }

  const TopkCall& call_;
  const Key flip_;
  const bool as_partial_sort_;
  const T* in_ = nullptr;
  std::vector<Item> items_;
  Tensor sorted_, places_;
};

void topk_rows(const TopkCall& c) {
  if (c.k == 0) return;
  with_type(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(c.rows, std::max<int64_t>(1, 16384 / c.size), [&](int64_t begin, int64_t end) {
      RowTopk<T> topk(c);
      for (int64_t row = begin; row < end; row++) topk.run(row);
    });
  });
}

const KernelRegistration<TopkCall> registration{topk_kernel, DeviceType::Cpu, topk_rows};

}  // namespace
}  // namespace tessera::tensor::cpu
