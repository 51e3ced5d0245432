// Sorting: a stable merge sort that finds runs first, so that sorted or reversed input costs one pass.
//
// Keys are computed once. When all of them are ints, floats or plain strings the comparison is a direct one. Slices of
// under kSmall items are sorted by insertion.
#include <algorithm>
#include <cmath>
#include <vector>

#include "lang/error.h"
#include "lang/protocol.h"
#include "lang/types/list.h"
#include "lang/types/str.h"

namespace tessera {
namespace {

constexpr size_t kSmall = 24;

struct Keyed {
  Value key;
  Value item;  // Undefined when the item is its own key
};

// Comparisons may throw at any moment; `Keyed`s are only ever moved or swapped whole, so that none is lost.
template <class Less>
class MergeSort {
 public:
  MergeSort(std::vector<Keyed>& items, Less less) : items_(items), less_(less) {}

  void run() {
    const size_t n = items_.size();
    std::vector<size_t> ends;  // of the runs
    for (size_t start = 0; start < n;) {
      size_t end = find_run(start);
      if (end - start < kSmall && end < n) {
        const size_t wanted = std::min(n, start + kSmall);
        insert_into(start, end, wanted);
        end = wanted;
      }
      ends.push_back(end);
      start = end;
    }
    buffer_.resize(n / 2 + 1);
    merge_runs(0, ends, 0, ends.size());
  }

 private:
  // A run that goes up, or one that goes strictly down, which is turned round.
  size_t find_run(size_t start) {
    const size_t n = items_.size();
    size_t end = start + 1;
    if (end == n) return end;
    if (less_(items_[end].key, items_[start].key)) {
      for (++end; end < n && less_(items_[end].key, items_[end - 1].key);) ++end;
      std::reverse(items_.begin() + static_cast<ptrdiff_t>(start), items_.begin() + static_cast<ptrdiff_t>(end));
    } else {
      for (++end; end < n && !less_(items_[end].key, items_[end - 1].key);) ++end;
    }
    return end;
  }

  // [start, sorted) is in order; brings [sorted, end) in, by binary search.
  void insert_into(size_t start, size_t sorted, size_t end) {
    for (size_t i = sorted; i < end; ++i) {
      size_t low = start, high = i;
      while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (less_(items_[i].key, items_[middle].key)) high = middle;
        else low = middle + 1;
      }
      const auto at = items_.begin();
      std::rotate(at + static_cast<ptrdiff_t>(low), at + static_cast<ptrdiff_t>(i), at + static_cast<ptrdiff_t>(i + 1));
    }
  }

  void merge_runs(size_t start, const std::vector<size_t>& ends, size_t first, size_t last) {
    if (last - first < 2) return;
    const size_t middle = first + (last - first) / 2;
    merge_runs(start, ends, first, middle);
    merge_runs(ends[middle - 1], ends, middle, last);
    merge(start, ends[middle - 1], ends[last - 1]);
  }

  void merge(size_t start, size_t middle, size_t end) {
    if (!less_(items_[middle].key, items_[middle - 1].key)) return;  // in order already
    if (middle - start <= end - middle) merge_forward(start, middle, end);
    else merge_backward(start, middle, end);
  }

  void merge_forward(size_t start, size_t middle, size_t end) {
    const size_t count = middle - start;
    for (size_t i = 0; i < count; ++i) buffer_[i] = std::move(items_[start + i]);
    size_t left = 0, right = middle, to = start;
    try {
      while (left < count && right < end) {
        if (less_(items_[right].key, buffer_[left].key)) items_[to++] = std::move(items_[right++]);
        else items_[to++] = std::move(buffer_[left++]);
      }
    } catch (...) {
      while (left < count) items_[to++] = std::move(buffer_[left++]);
      throw;
    }
    while (left < count) items_[to++] = std::move(buffer_[left++]);
  }

  void merge_backward(size_t start, size_t middle, size_t end) {
    size_t right = end - middle;
    for (size_t i = 0; i < right; ++i) buffer_[i] = std::move(items_[middle + i]);
    size_t left = middle, to = end;
    try {
      while (right > 0 && left > start) {
        if (less_(buffer_[right - 1].key, items_[left - 1].key)) items_[--to] = std::move(items_[--left]);
        else items_[--to] = std::move(buffer_[--right]);
      }
    } catch (...) {
      while (right > 0) items_[--to] = std::move(buffer_[--right]);
      throw;
    }
    while (right > 0) items_[--to] = std::move(buffer_[--right]);
  }

  std::vector<Keyed>& items_;
  Less less_;
  std::vector<Keyed> buffer_;
};

template <class Less>
void sort_with(std::vector<Keyed>& items, Less less) {
  MergeSort<Less>(items, less).run();
}

enum class KeyKind { Ints, Floats, Strings, Mixed };

KeyKind kind_of(Interpreter& in, const std::vector<Keyed>& items) {
  auto kind = [&in](const Value& v) {
    if (v.is_int()) return KeyKind::Ints;
    if (v.is_float()) return KeyKind::Floats;
    if (v.is_object() && v.as_object()->type == in.types.str) return KeyKind::Strings;
    return KeyKind::Mixed;
  };
  const KeyKind first = kind(items[0].key);
  for (const Keyed& each : items) {
    if (kind(each.key) != first) return KeyKind::Mixed;
  }
  return first;
}

void sort_keyed(Interpreter& in, std::vector<Keyed>& items) {
  switch (kind_of(in, items)) {
    case KeyKind::Ints: sort_with(items, [](const Value& a, const Value& b) { return a.as_int() < b.as_int(); }); return;
    case KeyKind::Floats: sort_with(items, [](const Value& a, const Value& b) { return a.as_float() < b.as_float(); }); return;
    case KeyKind::Strings:
      sort_with(items, [](const Value& a, const Value& b) { return str_compare(as_str(a), as_str(b)) < 0; });
      return;
    case KeyKind::Mixed: sort_with(items, [&in](const Value& a, const Value& b) { return less(in, a, b); }); return;
  }
}

// The list is empty while it is sorted, so that key functions and comparisons cannot see it half done.
class Borrowed {
 public:
  explicit Borrowed(Interpreter& in, List* list) : in_(in), list_(list), items_(list->items), size_(list->size), capacity_(list->capacity) {
    list->items = nullptr;
    list->size = list->capacity = 0;
  }
  ~Borrowed() {
    const bool changed = list_->items != nullptr || list_->size != 0;
    if (changed) list_clear(in_, list_);
    list_->items = items_;
    list_->size = size_;
    list_->capacity = capacity_;
  }
  Value* items() const { return items_; }
  uint32_t size() const { return size_; }
  bool changed() const { return list_->items != nullptr; }

 private:
  Interpreter& in_;
  List* list_;
  Value* items_;
  uint32_t size_, capacity_;
};

}  // namespace

void list_sort(Interpreter& in, List* list, const Value& key, bool reverse) {
  const Value keep(list);
  bool changed = false;
  {
    Borrowed borrowed(in, list);
    const uint32_t size = borrowed.size();
    Value* items = borrowed.items();
    if (size == 0) return;
    const bool has_key = !key.is_none() && !key.is_undefined();
    std::vector<Keyed> keyed(size);
    for (uint32_t i = 0; has_key && i < size; ++i) keyed[i].key = call(in, key, {items[i]});
    for (uint32_t i = 0; i < size; ++i) (has_key ? keyed[i].item : keyed[i].key) = std::move(items[i]);
    auto give_back = [&] {
      for (uint32_t i = 0; i < size; ++i) items[i] = std::move(has_key ? keyed[i].item : keyed[i].key);
    };
    // Stable in reverse too: equal items keep their order, so turn round before and after.
    if (reverse) std::reverse(keyed.begin(), keyed.end());
    try {
      if (size > 1) sort_keyed(in, keyed);
    } catch (...) {
      give_back();
      throw;
    }
    if (reverse) std::reverse(keyed.begin(), keyed.end());
    give_back();
    changed = borrowed.changed();
  }
  if (changed) throw Error(ErrorKind::ValueError, "list modified during sort");
}

}  // namespace tessera
