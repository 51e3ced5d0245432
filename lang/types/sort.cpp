// Sorting: a stable merge sort that finds runs first, so that sorted or reversed input costs one pass.
//
// Keys are computed once. When all of them are ints, floats or plain strings the comparison is a direct one. Slices of
// under kSmall items are sorted by insertion.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {
namespace {

constexpr size_t kSmall = 24;

// A value whose reference somebody else counts: sorting moves these as plain bytes.
class Loan {
 public:
  Loan() = default;
  explicit Loan(const Value& v) noexcept { std::memcpy(bytes_, static_cast<const void*>(&v), sizeof bytes_); }
  const Value& value() const noexcept { return *std::launder(reinterpret_cast<const Value*>(bytes_)); }

 private:
  alignas(Value) unsigned char bytes_[sizeof(Value)];
};

// An item with the key that was computed for it.
struct Keyed {
  Loan key;
  Loan item;
};

// Comparisons may throw at any moment: at that moment each item stands somewhere exactly once, or is put back to where
// it can.
template <class T, class Less>
class MergeSort {
 public:
  MergeSort(Interpreter& in, T* items, size_t size, Less less) : in_(in), items_(items), size_(size), less_(less) {}

  void run() {
    const size_t n = size_;
    if (n <= kSmall) {
      if (n > 1) insert_into(0, find_run(0), n);
      return;
    }
    std::vector<size_t> ends;  // of the runs
    for (size_t start = 0; start < n;) {
      size_t end = find_run(start);
      if (end - start < kSmall && end < n) {
        const size_t wanted = std::min(n, start + kSmall);
        insert_into(start, end, wanted);
        end = wanted;
      }
      ends.push_back(end);
      in_.check_stop(static_cast<int64_t>(end - start));
      start = end;
    }
    buffer_.resize(n / 2 + 1);
    merge_runs(0, ends, 0, ends.size());
  }

 private:
  // A run that goes up, or one that goes strictly down, which is turned round.
  size_t find_run(size_t start) {
    const size_t n = size_;
    size_t end = start + 1;
    if (end == n) return end;
    if (less_(items_[end], items_[start])) {
      for (++end; end < n && less_(items_[end], items_[end - 1]);) look(++end);
      std::reverse(items_ + start, items_ + end);
    } else {
      for (++end; end < n && !less_(items_[end], items_[end - 1]);) look(++end);
    }
    return end;
  }

  // Now and then, whether to stop.
  void look(size_t at) {
    if (at % kChunk == 0) [[unlikely]]
      in_.check_stop(0);
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
      std::rotate(items_ + low, items_ + i, items_ + i + 1);
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
    in_.check_stop(static_cast<int64_t>(end - start));
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
        in_.check_stop(0);
        for (size_t sure = std::min({count - left, end - right, kChunk}); sure != 0; --sure) {
          if (less_(items_[right], buffer_[left])) items_[to++] = std::move(items_[right++]);
          else items_[to++] = std::move(buffer_[left++]);
        }
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
        in_.check_stop(0);
        for (size_t sure = std::min({right, left - start, kChunk}); sure != 0; --sure) {
          if (less_(buffer_[right - 1], items_[left - 1])) items_[--to] = std::move(items_[--left]);
          else items_[--to] = std::move(buffer_[--right]);
        }
      }
    } catch (...) {
      while (right > 0) items_[--to] = std::move(buffer_[--right]);
      throw;
    }
    while (right > 0) items_[--to] = std::move(buffer_[--right]);
  }

  static constexpr size_t kChunk = 1 << 16;  // items between two looks at whether to stop

  Interpreter& in_;
  T* const items_;
  const size_t size_;
  Less less_;
  std::vector<T> buffer_;
};

template <class T, class Less>
void sort_with(Interpreter& in, std::vector<T>& items, Less less) {
  MergeSort<T, Less>(in, items.data(), items.size(), less).run();
}

enum class KeyKind { Ints, Floats, Strings, Tuples, Mixed };

const Value& key_of(const Loan& item) { return item.value(); }
const Value& key_of(const Keyed& item) { return item.key.value(); }

template <class T>
KeyKind kind_of(Interpreter& in, const T* items, size_t size) {
  auto kind = [&in](const Value& v) {
    if (v.is_int()) return KeyKind::Ints;
    if (v.is_float()) return KeyKind::Floats;
    if (v.is_object() && v.as_object()->type == in.types.str) return KeyKind::Strings;
    if (v.is_object() && v.as_object()->type == in.types.tuple) return KeyKind::Tuples;
    return KeyKind::Mixed;
  };
  const KeyKind first = kind(key_of(items[0]));
  for (size_t i = 1; i < size; ++i) {
    if (kind(key_of(items[i])) != first) return KeyKind::Mixed;
  }
  return first;
}

// The usual tuples differ at an int, a float or a string near their beginning; the rest goes the long way.
bool tuple_less(Interpreter& in, const Value& left, const Value& right) {
  const Tuple *a = as_tuple(left), *b = as_tuple(right);
  const uint32_t size = std::min(a->size, b->size);
  for (uint32_t i = 0; i < size; ++i) {
    const Value &x = a->items[i], &y = b->items[i];
    if (x.is_int() && y.is_int()) {
      if (x.as_int() != y.as_int()) return x.as_int() < y.as_int();
    } else if (x.is_float() && y.is_float()) {
      if (x.as_float() != y.as_float()) return x.as_float() < y.as_float();
    } else if (x.is_object() && y.is_object() && x.as_object()->type == in.types.str &&
               y.as_object()->type == in.types.str) {
      const int order = str_compare(as_str(x), as_str(y));
      if (order != 0) return order < 0;
    } else {
      return less(in, left, right);
    }
  }
  return a->size < b->size;
}

// Sorts what is cheap to move, made of the items and put back afterwards.
template <class Cheap, class T, class Get, class Put, class Less>
void sort_through(Interpreter& in, std::vector<T>& items, Get get, Put put, Less less) {
  std::vector<Cheap> cheap;
  cheap.reserve(items.size());
  for (const T& item : items) cheap.push_back(get(item));
  sort_with(in, cheap, less);
  for (size_t i = 0; i < items.size(); ++i) items[i] = put(cheap[i]);
}

void sort_ints(Interpreter& in, std::vector<Loan>& items) {
  sort_through<int64_t>(
      in, items, [](const Loan& v) { return v.value().as_int(); }, [](int64_t i) { return Loan(Value::integer(i)); },
      [](int64_t a, int64_t b) { return a < b; });
}
void sort_floats(Interpreter& in, std::vector<Loan>& items) {
  sort_through<double>(
      in, items, [](const Loan& v) { return v.value().as_float(); }, [](double d) { return Loan(Value::real(d)); },
      [](double a, double b) { return a < b; });
}
void sort_ints(Interpreter& in, std::vector<Keyed>& items) {
  sort_with(in, items, [](const Keyed& a, const Keyed& b) { return a.key.value().as_int() < b.key.value().as_int(); });
}
void sort_floats(Interpreter& in, std::vector<Keyed>& items) {
  sort_with(in, items,
            [](const Keyed& a, const Keyed& b) { return a.key.value().as_float() < b.key.value().as_float(); });
}

template <class T>
void sort_items(Interpreter& in, std::vector<T>& items) {
  switch (kind_of(in, items.data(), items.size())) {
    case KeyKind::Ints: sort_ints(in, items); return;
    case KeyKind::Floats: sort_floats(in, items); return;
    case KeyKind::Strings:
      sort_with(in, items,
                [](const T& a, const T& b) { return str_compare(as_str(key_of(a)), as_str(key_of(b))) < 0; });
      return;
    case KeyKind::Tuples:
      sort_with(in, items, [&in](const T& a, const T& b) { return tuple_less(in, key_of(a), key_of(b)); });
      return;
    case KeyKind::Mixed:
      sort_with(in, items, [&in](const T& a, const T& b) { return less(in, key_of(a), key_of(b)); });
      return;
  }
}

// Stable in reverse too: equal items keep their order, so the items are turned round before and after.
template <class T>
void sort_either_way(Interpreter& in, std::vector<T>& items, bool reverse) {
  if (reverse) std::reverse(items.begin(), items.end());
  if (items.size() > 1) sort_items(in, items);
  if (reverse) std::reverse(items.begin(), items.end());
}

// Sorts a few numbers or strings in place. Returns false if the items are others.
bool sort_few(Interpreter& in, Value* values, size_t size, bool reverse) {
  Loan items[kSmall];
  for (size_t i = 0; i < size; ++i) items[i] = Loan(values[i]);
  const auto sort = [&](auto less) {
    if (reverse) std::reverse(items, items + size);
    MergeSort<Loan, decltype(less)>(in, items, size, less).run();
    if (reverse) std::reverse(items, items + size);
    std::memcpy(static_cast<void*>(values), static_cast<const void*>(items), size * sizeof(Value));
    return true;
  };
  switch (kind_of(in, items, size)) {
    case KeyKind::Ints: return sort([](const Loan& a, const Loan& b) { return a.value().as_int() < b.value().as_int(); });
    case KeyKind::Floats: return sort([](const Loan& a, const Loan& b) { return a.value().as_float() < b.value().as_float(); });
    case KeyKind::Strings:
      return sort([](const Loan& a, const Loan& b) { return str_compare(as_str(a.value()), as_str(b.value())) < 0; });
    default: return false;
  }
}

// The list is empty while it is sorted, so that key functions and comparisons cannot see it half done.
class Borrowed {
 public:
  explicit Borrowed(Interpreter& in, List* list)
      : in_(in), list_(list), items_(list->items), size_(list->size), capacity_(list->capacity) {
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

// The items go into their places as bytes: the same references in another order.
void put_back(Value* items, size_t i, const Loan& loan) {
  std::memcpy(static_cast<void*>(items + i), static_cast<const void*>(&loan), sizeof(Value));
}

void sort_plain(Interpreter& in, Value* items, size_t size, bool reverse) {
  in.heap.expect(size * 2 * sizeof(Loan));
  std::vector<Loan> taken;
  taken.reserve(size);
  for (size_t i = 0; i < size; ++i) taken.emplace_back(items[i]);
  auto give_back = [&] {
    for (size_t i = 0; i < size; ++i) put_back(items, i, taken[i]);
  };
  try {
    sort_either_way(in, taken, reverse);
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

void sort_by_key(Interpreter& in, Value* items, size_t size, const Value& key, bool reverse) {
  in.heap.expect(size * (sizeof(Value) + sizeof(Keyed) * 3 / 2));
  std::vector<Value> keys(size);
  for (size_t i = 0; i < size; ++i) {
    in.check_stop(1);
    keys[i] = call(in, key, Args{&items[i], 1});
  }
  std::vector<Keyed> keyed;
  keyed.reserve(size);
  for (size_t i = 0; i < size; ++i) keyed.push_back(Keyed{Loan(keys[i]), Loan(items[i])});
  auto give_back = [&] {
    for (size_t i = 0; i < size; ++i) put_back(items, i, keyed[i].item);
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
  const bool plain = key.is_none() || key.is_undefined();
  if (list->size <= 1 && plain) return;
  if (list->size <= kSmall && plain && sort_few(in, list->items, list->size, reverse)) return;
  const Value keep(list);
  bool changed = false;
  {
    const Borrowed borrowed(in, list);
    if (borrowed.size() == 0) return;
    if (plain) sort_plain(in, borrowed.items(), borrowed.size(), reverse);
    else sort_by_key(in, borrowed.items(), borrowed.size(), key, reverse);
    changed = borrowed.changed();
  }
  if (changed) throw Error(ErrorKind::ValueError, "list modified during sort");
}

}  // namespace tessera::lang
