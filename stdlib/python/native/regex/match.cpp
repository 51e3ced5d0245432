// The matcher: backtracking over an explicit stack, with a memory of failures.
//
// [Memory of failures] When an attempt has met `Split` (or a repeat) at a position and come back to try elsewhere, it
// would fail there again: nothing but the instruction and the position decides what follows (back-references excepted,
// for them the memory stays off). So each such state is entered once. The memory is a bit per state; it is made only
// after an attempt has failed often, since most matches never need it. Inside look-around and atomic groups a state
// can have been left by success; those marks are taken back (see `Marks`).
#include <algorithm>
#include <cstring>
#include <memory>

#include "stdlib/python/native/regex/program.h"

namespace tessera::stdlib::regex {
namespace {

constexpr uint64_t kMostMemoryBits = uint64_t{1} << 29;
constexpr uint64_t kStepsWithoutMemory = 40'000'000;
constexpr uint64_t kCheckEvery = 1024;
constexpr int64_t kWindow = 1 << 16;  // characters between two looks, where nothing else is done
constexpr size_t kMostFrames = size_t{1} << 24;

struct Frame {
  enum Kind : uint32_t { Branch, Restore, Greedy, Lazy } kind;
  uint32_t pc;       // Restore: the slot
  int64_t position;  // Restore: the old value; Greedy: the least position
  int64_t extra;     // Greedy: the position to try next; Lazy: how many more it may take
};

// A vector whose first items stand in the object itself: the memory of a matcher, which lives as long as one match.
template <class T, size_t kFew>
class SmallVector {
 public:
  SmallVector() = default;
  SmallVector(const SmallVector&) = delete;
  SmallVector& operator=(const SmallVector&) = delete;

  size_t size() const { return size_; }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  T& back() { return items_[size_ - 1]; }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }
  void push_back(const T& item) {
    if (size_ == capacity_) [[unlikely]]
      grow(2 * capacity_);
    items_[size_++] = item;
  }
  void pop_back() { --size_; }
  // Keeps the first `size` items.
  void shrink(size_t size) { size_ = size; }
  void assign(size_t size, const T& item) {
    if (size > capacity_) grow(size);
    size_ = size;
    std::fill(begin(), end(), item);
  }

 private:
  void grow(size_t capacity) {
    std::unique_ptr<T[]> larger(new T[capacity]);
    std::copy(begin(), end(), larger.get());
    many_ = std::move(larger);
    items_ = many_.get();
    capacity_ = capacity;
  }

  T few_[kFew];
  T* items_ = few_;
  size_t size_ = 0, capacity_ = kFew;
  std::unique_ptr<T[]> many_;
};

template <class Char>
class Matcher {
 public:
  Matcher(const Program& program, const Char* text, int64_t length, void (*poll)(void*), void* poll_data)
      : program_(program), code_(program.code.data()), text_(text), end_(length), poll_(poll), poll_data_(poll_data) {
    slots_.assign(program.slots, -1);
  }

  bool run(int64_t start, Mode mode, int64_t not_at, Result& result) {
    full_ = mode == Mode::FullMatch;
    not_at_ = not_at;
    if (mode != Mode::Search) return attempt(start, result);
    if (program_.anchored && start > 0) return false;
    for (int64_t at = start, tried = 1; at <= end_; ++at, ++tried) {
      if (tried % static_cast<int64_t>(kCheckEvery) == 0) look();
      at = skip(at);
      if (at < 0) return false;
      if (attempt(at, result)) return true;
      if (program_.anchored) return false;
    }
    return false;
  }

 private:
  void look() const {
    if (poll_ != nullptr) poll_(poll_data_);
  }
  // The first place in [at, limit) where `wanted` holds, or limit.
  template <class F>
  int64_t scan(int64_t at, int64_t limit, const F& wanted) const {
    for (int64_t stop; at < limit; look()) {
      stop = std::min(limit, at + kWindow);
      while (at < stop && !wanted(text_[at])) ++at;
      if (at < stop || stop == limit) return at;
    }
    return at;
  }

  // The next position from `at` on where a match can begin, or -1.
  int64_t skip(int64_t at) const {
    if (program_.has_first_char) {
      if constexpr (sizeof(Char) == 1) {
        if (program_.first_char > 255 || at >= end_) return -1;
        const void* found =
            std::memchr(text_ + at, static_cast<int>(program_.first_char), static_cast<size_t>(end_ - at));
        return found ? static_cast<const Char*>(found) - text_ : -1;
      } else {
        at = scan(at, end_, [&](Char c) { return c == program_.first_char; });
        return at < end_ ? at : -1;
      }
    }
    if (program_.first_set >= 0) {
      const CharSet& set = program_.sets[static_cast<size_t>(program_.first_set)];
      at = scan(at, end_, [&](Char c) { return set.contains(c, program_.types); });
      return at < end_ ? at : -1;
    }
    return at;
  }

  bool attempt(int64_t start, Result& result) {
    std::fill(slots_.begin(), slots_.end(), -1);
    last_group_ = 0;
    stack_.shrink(0);
    begin_ = start;
    int64_t end = 0;
    if (!execute(0, start, 0, end)) return false;
    result.spans.assign(slots_.begin(), slots_.begin() + 2 * (program_.groups + 1));
    result.spans[0] = start;
    result.spans[1] = end;
    for (size_t i = 2; i < result.spans.size(); i += 2) {
      if (result.spans[i + 1] < 0) result.spans[i] = -1;
    }
    result.last_group = static_cast<int32_t>(last_group_);
    return true;
  }

  bool one(const Instruction& in, int64_t at) const {
    const char32_t c = text_[at];
    switch (in.op) {
      case Op::Char: return c == in.x;
      case Op::Any: return c != '\n';
      case Op::AnyAll: return true;
      default: return program_.sets[in.x].contains(c, program_.types);
    }
  }

  // How far from `at` on characters match `in`, at most to `limit`.
  int64_t run_of(const Instruction& in, int64_t at, int64_t limit) const {
    switch (in.op) {
      case Op::AnyAll: return limit;
      case Op::Any: return scan(at, limit, [](Char c) { return c == '\n'; });
      case Op::Char: return scan(at, limit, [&](Char c) { return c != in.x; });
      default: {
        const CharSet& set = program_.sets[in.x];
        return scan(at, limit, [&](Char c) { return !set.contains(c, program_.types); });
      }
    }
  }

  bool is_word(int64_t at, bool ascii) const {
    if (at < 0 || at >= end_) return false;
    const char32_t c = text_[at];
    return (!ascii || c < 128) && program_.types.is_word(c);
  }

  bool edge(int64_t at, bool ascii) const { return is_word(at - 1, ascii) != is_word(at, ascii); }

  bool holds(Op op, int64_t at) const {
    switch (op) {
      case Op::TextStart: return at == 0;
      case Op::TextEnd: return at == end_;
      case Op::LineStart: return at == 0 || text_[at - 1] == '\n';
      case Op::LineEnd: return at == end_ || text_[at] == '\n';
      case Op::LastLineEnd: return at == end_ || (at == end_ - 1 && text_[at] == '\n');
      case Op::WordEdge: return edge(at, false);
      case Op::NotWordEdge: return end_ > 0 && !edge(at, false);
      case Op::AsciiWordEdge: return edge(at, true);
      default: return end_ > 0 && !edge(at, true);
    }
  }

  void set_slot(uint32_t slot, int64_t value) {
    stack_.push_back({Frame::Restore, slot, slots_[slot], 0});
    slots_[slot] = value;
  }

  void set_last_group(uint32_t group) {
    stack_.push_back({Frame::Restore, kLastGroup, static_cast<int64_t>(last_group_), 0});
    last_group_ = group;
  }

  void restore(const Frame& frame) {
    if (frame.pc == kLastGroup) {
      last_group_ = static_cast<uint32_t>(frame.position);
    } else {
      slots_[frame.pc] = frame.position;
    }
  }

  // --- the memory of failures ---

  void count(uint64_t work) {
    steps_ += work;
    if (steps_ < next_check_) return;
    next_check_ = steps_ + kCheckEvery;
    if (poll_) poll_(poll_data_);
    if (memory_.empty() && !no_memory_ && steps_ > 1000 + 4 * static_cast<uint64_t>(end_)) make_memory();
    if ((no_memory_ && steps_ > kStepsWithoutMemory) || stack_.size() > kMostFrames) throw TooManySteps{};
  }

  void make_memory() {
    const uint64_t bits = static_cast<uint64_t>(program_.memo_rows) * static_cast<uint64_t>(end_ + 1);
    if (program_.has_backrefs || bits > kMostMemoryBits) {
      no_memory_ = true;
    } else {
      memory_.assign(bits / 64 + 1, 0);
    }
  }

  // Notes that a state is entered; false if it was before.
  bool enter(uint32_t row, int64_t at) {
    if (memory_.empty()) return true;
    const uint64_t bit = static_cast<uint64_t>(row) * static_cast<uint64_t>(end_ + 1) + static_cast<uint64_t>(at);
    uint64_t& word = memory_[bit / 64];
    const uint64_t mask = uint64_t{1} << (bit % 64);
    if (word & mask) return false;
    word |= mask;
    if (depth_ > 0) marks_.push_back(bit);
    return true;
  }

  void forget_marks(size_t from) {
    while (marks_.size() > from) {
      memory_[marks_.back() / 64] &= ~(uint64_t{1} << (marks_.back() % 64));
      marks_.pop_back();
    }
  }

  // --- parts of their own: look-around and atomic groups ---

  // Runs the part at pc. On success only the restores of its groups stay on the stack: it will not be entered again.
  bool part(uint32_t pc, int64_t at, int64_t& end) {
    const size_t base = stack_.size(), first_mark = marks_.size();
    const bool full = full_;
    full_ = false;
    ++depth_;
    const bool found = execute(pc, at, base, end);
    --depth_;
    full_ = full;
    if (!found) {
      if (depth_ == 0) marks_.clear();
      return false;
    }
    forget_marks(first_mark);
    const Frame* const kept = std::remove_if(stack_.begin() + base, stack_.end(),
                                             [](const Frame& f) { return f.kind != Frame::Restore; });
    stack_.shrink(static_cast<size_t>(kept - stack_.begin()));
    return true;
  }

  void undo_to(size_t base) {
    while (stack_.size() > base) {
      if (stack_.back().kind == Frame::Restore) restore(stack_.back());
      stack_.pop_back();
    }
  }

  bool look(const Instruction& in, uint32_t pc, int64_t at) {
    const bool negate = in.op == Op::LookAheadNot || in.op == Op::LookBehindNot;
    if (in.op == Op::LookBehind || in.op == Op::LookBehindNot) at -= in.y;
    if (at < 0) return negate;
    const size_t base = stack_.size();
    int64_t end;
    const bool found = part(pc + 1, at, end);
    if (negate) undo_to(base);
    return found != negate;
  }

  bool back_reference(const Instruction& in, int64_t& at) const {
    const int64_t from = slots_[2 * in.x], to = slots_[2 * in.x + 1];
    if (from < 0 || to < 0 || at + (to - from) > end_) return false;
    for (int64_t i = from; i < to; ++i, ++at) {
      const char32_t a = text_[i], b = text_[at];
      if (a != b && (in.op == Op::BackRef || program_.types.lower(a) != program_.types.lower(b))) return false;
    }
    return true;
  }

  // --- repeats of one character ---

  bool repeat(const Instruction& in, uint32_t pc, int64_t& at) {
    const int64_t room = end_ - at;
    const int64_t most = in.z == kUnlimited ? room : std::min<int64_t>(room, in.z);
    const int64_t least = at + in.y;
    if (in.y > most) return false;
    const Instruction& what = code_[pc + 1];
    if (in.op == Op::RepeatLazy) {
      if (run_of(what, at, least) < least) return false;
      at = least;
      stack_.push_back({Frame::Lazy, pc, at, most - in.y});
      return true;
    }
    int64_t far = run_of(what, at, at + most);
    count(static_cast<uint64_t>(far - at) / 16);
    if (far < least) return false;
    if (in.op == Op::Repeat && far > least) stack_.push_back({Frame::Greedy, pc, least, far - 1});
    at = far;
    return true;
  }

  // Can the instruction behind a repeat begin at `at`? Saves a trip through the loop for `.*x`.
  bool may_follow(uint32_t pc, int64_t at) const {
    const Instruction& next = code_[pc];
    return next.op != Op::Char || (at < end_ && text_[at] == next.x);
  }

  bool accepted(int64_t at) const { return (!full_ || at == end_) && !(depth_ == 0 && at == not_at_ && at == begin_); }

  // Runs from pc until Match; frames below `base` are not touched.
  bool execute(uint32_t pc, int64_t at, size_t base, int64_t& end) {
    for (;;) {
      const Instruction& in = code_[pc];
      switch (in.op) {
        case Op::Char:
        case Op::Any:
        case Op::AnyAll:
        case Op::Set:
          if (at >= end_ || !one(in, at)) goto fail;
          ++at;
          ++pc;
          continue;
        case Op::Split:
          if (!enter(in.memo, at)) goto fail;
          stack_.push_back({Frame::Branch, in.y, at, 0});
          pc = in.x;
          continue;
        case Op::Jump: pc = in.x; continue;
        case Op::Save:
          set_slot(in.x, at);
          ++pc;
          continue;
        case Op::SaveEnd:
          set_slot(in.x, at);
          set_last_group(in.y);
          ++pc;
          continue;
        case Op::Repeat:
        case Op::RepeatLazy:
        case Op::RepeatPossessive:
          if (in.op != Op::RepeatPossessive && !enter(in.memo, at)) goto fail;
          if (!repeat(in, pc, at)) goto fail;
          pc += 2;
          continue;
        case Op::Mark:
          set_slot(in.x, at);
          ++pc;
          continue;
        case Op::LoopCheck: pc = slots_[in.x] == at ? in.z : in.y; continue;
        case Op::LookAhead:
        case Op::LookAheadNot:
        case Op::LookBehind:
        case Op::LookBehindNot:
          if (!look(in, pc, at)) goto fail;
          pc = in.x;
          continue;
        case Op::Atomic:
          if (!part(pc + 1, at, at)) goto fail;
          pc = in.x;
          continue;
        case Op::BackRef:
        case Op::BackRefIgnoreCase:
          if (!back_reference(in, at)) goto fail;
          ++pc;
          continue;
        case Op::Conditional: pc = slots_[2 * in.x + 1] >= 0 ? pc + 1 : in.y; continue;
        case Op::Match:
          if (!accepted(at)) goto fail;
          end = at;
          return true;
        default:
          if (!holds(in.op, at)) goto fail;
          ++pc;
          continue;
      }
    fail:
      if (!resume(base, pc, at)) return false;
    }
  }

  // Goes back to the latest choice; false when there is none above `base`.
  bool resume(size_t base, uint32_t& pc, int64_t& at) {
    while (stack_.size() > base) {
      Frame& frame = stack_.back();
      if (frame.kind == Frame::Restore) {
        restore(frame);
        stack_.pop_back();
        continue;
      }
      count(1);
      if (frame.kind == Frame::Branch) {
        pc = frame.pc;
        at = frame.position;
        stack_.pop_back();
        return true;
      }
      if (frame.kind == Frame::Greedy ? less(frame, pc, at) : more(frame, pc, at)) return true;
      stack_.pop_back();
    }
    return false;
  }

  bool less(Frame& frame, uint32_t& pc, int64_t& at) {
    while (frame.extra >= frame.position) {
      at = frame.extra--;
      count(1);
      // Entering the repeat at this place would go through the same ends that were tried here already.
      if (at > frame.position && unlimited_from_zero(frame.pc) && !enter(code_[frame.pc].memo, at)) continue;
      if (!may_follow(frame.pc + 2, at)) continue;
      pc = frame.pc + 2;
      return true;
    }
    return false;
  }

  bool unlimited_from_zero(uint32_t pc) const { return code_[pc].y == 0 && code_[pc].z == kUnlimited; }

  bool more(Frame& frame, uint32_t& pc, int64_t& at) {
    while (frame.extra > 0 && frame.position < end_ && one(code_[frame.pc + 1], frame.position)) {
      ++frame.position;
      --frame.extra;
      count(1);
      if (unlimited_from_zero(frame.pc) && !enter(code_[frame.pc].memo, frame.position)) return false;
      if (!may_follow(frame.pc + 2, frame.position)) continue;
      pc = frame.pc + 2;
      at = frame.position;
      return true;
    }
    return false;
  }

  static constexpr uint32_t kLastGroup = 0xFFFFFFFF;

  const Program& program_;
  const Instruction* code_;
  const Char* text_;
  int64_t end_;
  int64_t begin_ = 0, not_at_ = -1;
  bool full_ = false, no_memory_ = false;
  uint32_t depth_ = 0, last_group_ = 0;
  uint64_t steps_ = 0, next_check_ = kCheckEvery;
  SmallVector<int64_t, 16> slots_;
  SmallVector<Frame, 16> stack_;
  std::vector<uint64_t> memory_, marks_;
  void (*poll_)(void*);
  void* poll_data_;
};

}  // namespace

bool match(const Program& program, const Text& text, int64_t start, Mode mode, Result& result, void (*poll)(void*),
           void* poll_data, int64_t not_at) {
  if (start > text.length) return false;
  if (text.bytes)
    return Matcher<uint8_t>(program, text.bytes, text.length, poll, poll_data).run(start, mode, not_at, result);
  return Matcher<char32_t>(program, text.wide, text.length, poll, poll_data).run(start, mode, not_at, result);
}

}  // namespace tessera::stdlib::regex
