// Sorting: a stable merge sort that finds runs first, so that sorted or reversed input costs one pass.
//
// Keys are computed once. When all of them are ints, floats or plain strings the comparison is a direct one. Slices of
// under kSmall items are sorted by insertion.
#include <algorithm>
#include <iterator>
#include <type_traits>
#include <vector>

#include "lang/error.h"
#include "lang/protocol.h"
#include "lang/types/list.h"
#include "lang/types/str.h"

namespace tessera {
namespace {

constexpr size_t kSmall = 24;

// An item with the key that was computed for it.
struct Keyed {
  Value key;
  Value item;
};

// Comparisons may throw at any moment; items are only ever moved or swapped whole, so that none is lost.
template <class T, class Less>
class MergeSort {
 public:
  MergeSort(std::vector<T>& items, Less less) : items_(items), less_(less) {}

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
    if (less_(items_[end], items_[start])) {
      for (++end; end < n && less_(items_[end], items_[end - 1]);) ++end;
      std::reverse(items_.begin() + static_cast<ptrdiff_t>(start), items_.begin() + static_cast<ptrdiff_t>(end));
    } else {
      for (++end; end < n && !less_(items_[end], items_[end - 1]);) ++end;
    }
    return end;
  }

  // [start, sorted) is in order; brings [sorted, end) in, by binary search.
  void insert_into(size_t start, size_t sorted, size_t end) {
    for (size_t i = sorted; i < end; ++i) {
      size_t low = start, high = i;
      while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (less_(items_[i], items_[middle])) high = middle;
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
    if (!less_(items_[middle], items_[middle - 1])) return;  // in order already
    if (middle - start <= end - middle) merge_forward(start, middle, end);
    else merge_backward(start, middle, end);
  }

  void merge_forward(size_t start, size_t middle, size_t end) {
    const size_t count = middle - start;
    for (size_t i = 0; i < count; ++i) buffer_[i] = std::move(items_[start + i]);
    size_t left = 0, right = middle, to = start;
    try {
      while (left < count && right < end) {
        if (less_(items_[right], buffer_[left])) items_[to++] = std::move(items_[right++]);
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
        if (less_(buffer_[right - 1], items_[left - 1])) items_[--to] = std::move(items_[--left]);
        else items_[--to] = std::move(buffer_[--right]);
      }
    } catch (...) {
      while (right > 0) items_[--to] = std::move(buffer_[--right]);
      throw;
    }
    while (right > 0) items_[--to] = std::move(buffer_[--right]);
  }

  std::vector<T>& items_;
  Less less_;
  std::vector<T> buffer_;
};

template <class T, class Less>
void sort_with(std::vector<T>& items, Less less) {
  MergeSort<T, Less>(items, less).run();
}

enum class KeyKind { Ints, Floats, Strings, Mixed };

const Value& key_of(const Value& item) { return item; }
const Value& key_of(const Keyed& item) { return item.key; }

template <class T>
KeyKind kind_of(Interpreter& in, const std::vector<T>& items) {
  auto kind = [&in](const Value& v) {
    if (v.is_int()) return KeyKind::Ints;
    if (v.is_float()) return KeyKind::Floats;
    if (v.is_object() && v.as_object()->type == in.types.str) return KeyKind::Strings;
    return KeyKind::Mixed;
  };
  const KeyKind first = kind(key_of(items[0]));
  for (const T& each : items) {
    if (kind(key_of(each)) != first) return KeyKind::Mixed;
  }
  return first;
}

// Numbers that are their own keys are sorted as bare numbers.
template <class Number, class Get, class Make>
void sort_numbers(std::vector<Value>& items, Get get, Make make) {
  std::vector<Number> numbers;
  numbers.reserve(items.size());
  for (const Value& item : items) numbers.push_back(get(item));
  sort_with(numbers, [](Number a, Number b) { return a < b; });
  for (size_t i = 0; i < items.size(); ++i) items[i] = make(numbers[i]);
}

template <class T>
void sort_items(Interpreter& in, std::vector<T>& items) {
  switch (kind_of(in, items)) {
    case KeyKind::Ints:
      if constexpr (std::is_same_v<T, Value>) {
        sort_numbers<int64_t>(items, [](const Value& v) { return v.as_int(); }, Value::integer);
      } else {
        sort_with(items, [](const T& a, const T& b) { return a.key.as_int() < b.key.as_int(); });
      }
      return;
    case KeyKind::Floats:
      if constexpr (std::is_same_v<T, Value>) {
        sort_numbers<double>(items, [](const Value& v) { return v.as_float(); }, Value::real);
      } else {
        sort_with(items, [](const T& a, const T& b) { return a.key.as_float() < b.key.as_float(); });
      }
      return;
    case KeyKind::Strings:
      sort_with(items, [](const T& a, const T& b) { return str_compare(as_str(key_of(a)), as_str(key_of(b))) < 0; });
      return;
    case KeyKind::Mixed: sort_with(items, [&in](const T& a, const T& b) { return less(in, key_of(a), key_of(b)); }); return;
  }
}

// Stable in reverse too: equal items keep their order, so the items are turned round before and after.
template <class T>
void sort_either_way(Interpreter& in, std::vector<T>& items, bool reverse) {
  if (reverse) std::reverse(items.begin(), items.end());
  if (items.size() > 1) sort_items(in, items);
  if (reverse) std::reverse(items.begin(), items.end());
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

void sort_plain(Interpreter& in, Value* items, size_t size, bool reverse) {
  std::vector<Value> taken(std::make_move_iterator(items), std::make_move_iterator(items + size));
  auto give_back = [&] { std::move(taken.begin(), taken.end(), items); };
  try {
    sort_either_way(in, taken, reverse);
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

void sort_by_key(Interpreter& in, Value* items, size_t size, const Value& key, bool reverse) {
  std::vector<Keyed> keyed(size);
  for (size_t i = 0; i < size; ++i) keyed[i].key = call(in, key, {items[i]});
  for (size_t i = 0; i < size; ++i) keyed[i].item = std::move(items[i]);
  auto give_back = [&] {
    for (size_t i = 0; i < size; ++i) items[i] = std::move(keyed[i].item);
  };
  try {
    sort_either_way(in, keyed, reverse);
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

}  // namespace

void list_sort(Interpreter& in, List* list, const Value& key, bool reverse) {
  const Value keep(list);
  bool changed = false;
  {
    const Borrowed borrowed(in, list);
    if (borrowed.size() == 0) return;
    if (key.is_none() || key.is_undefined()) sort_plain(in, borrowed.items(), borrowed.size(), reverse);
    else sort_by_key(in, borrowed.items(), borrowed.size(), key, reverse);
    changed = borrowed.changed();
  }
  if (changed) throw Error(ErrorKind::ValueError, "list modified during sort");
}

}  // namespace tessera
