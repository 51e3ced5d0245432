// One function, `transfer`, names the parts of a code object; a Writer and a Reader take it through them in the same order.
//
// Numbers are written seven bits a byte, those with a sign in zigzag order. Texts stand once, in front, and are named by their index.
// compile: small (a few calls for each part of a file)
#include "lang/compiler/code_bytes.h"

#include <algorithm>
#include <functional>
#include <cstring>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "lang/compiler/chunk.h"
#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/number.h"
#include "lang/types/set.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

namespace {

constexpr uint32_t kMostDepth = 200;  // of code in code and tuples in tuples
constexpr int kMostTries = 16;        // of orders of a set

enum class Form : uint8_t { Undefined, None, False, True, Int, Float, Complex, BigInt, Text, Bytes, Tuple, FrozenSet, Ellipsis, Code };

constexpr const char* kLoopNames[] = {"<listcomp>", "<setcomp>", "<dictcomp>"};

// The head byte of a run of places. Above these bits: how many more words have the same place.
enum PlaceBits : uint8_t { kAugmented = 1, kHidden = 2, kAnchored = 4 };
constexpr uint32_t kRunShift = 3, kMostRun = 31;

bool same_place(const Place& a, const Place& b) {
  return a.span == b.span && a.anchor == b.anchor && a.augmented == b.augmented && a.hidden == b.hidden;
}

// A part that is added to Code belongs here, or is made anew where it is empty.
static_assert(sizeof(Code) == 584);

template <class Io>
void transfer(Io& io, Code& code) {
  io.name(code.name);
  io.name(code.qualname);
  io.value(code.doc);
  io.span(code.span);
  for (uint32_t* const each : {&code.first, &code.positional_only, &code.positional, &code.keyword_only, &code.near_parameters,
                               &code.first_temporary, &code.near_registers, &code.registers})
    io.number(*each);
  io.number(code.code_flags);
  for (auto* const each : {&code.names, &code.parameters, &code.locals, &code.free_names, &code.cell_names, &code.far_locals})
    io.list(*each, [&](Str*& name) { io.name(name); });
  io.list(code.caches, [&](InlineCache& site) { io.name(site.name); });
  io.list(code.global_caches, [&](GlobalCache& site) { io.name(site.name); });
  io.words(code.words);
  io.places(code.places);
  io.list(code.handlers, [&](Protected& row) {
    for (uint32_t* const each : {&row.begin, &row.end, &row.handler}) io.number(*each);
    io.number(row.target);
  });
  io.list(code.comprehensions, [&](InlinedLoop& loop) {
    io.number(loop.begin);
    io.number(loop.end);
    io.span(loop.span);
    io.loop_name(loop.name);
  });
  io.list(code.captures, [&](Capture& capture) {
    io.number(capture.from);
    io.number(capture.index);
  });
  io.list(code.far_jumps, [&](FarJump& jump) {
    io.number(jump.word);
    io.number(jump.offset);
  });
  io.list(code.blocks, [&](HeldBlock& block) {
    io.number(block.outer);
    io.number(block.kind);
    io.number(block.reg);
  });
  io.list(code.statements, [&](StatementAt& statement) {
    io.number(statement.word);
    io.number(statement.block);
    io.number(statement.begins);
  });
  io.list(code.constants, [&](Value& constant) { io.value(constant); });
}

// ---- Writing ---------------------------------------------------------------------------------------------------------

class Writer {
 public:
  explicit Writer(Interpreter& in) : in_(in) {}

  std::string run(const Code& code) {
    transfer(*this, const_cast<Code&>(code));  // a Writer only reads
    if (failed_) return {};
    std::string body = std::move(out_);
    out_.clear();
    put(texts_.size());
    for (const Str* const text : texts_) {
      put(uint64_t{text->size} << 1 | ((text->flags & kInterned) != 0));
      put(text->size - text->length);
      out_.append(text->data, text->size);
    }
    return std::move(out_) + body;
  }

  template <class T>
  void number(const T& n) {
    if constexpr (std::is_enum_v<T>) put(static_cast<uint64_t>(n));
    else if constexpr (std::is_signed_v<T>) put(static_cast<uint64_t>(n) << 1 ^ static_cast<uint64_t>(int64_t{n} >> 63));
    else put(n);
  }
  void span(const Span& span) {
    put(span.begin);
    put(span.end);
  }
  void name(const Str* text) {
    if (text == nullptr) return put(0);
    const auto [at, fresh] = indices_.try_emplace(text, texts_.size());
    if (fresh) texts_.push_back(text);
    put(at->second + 1);
  }
  template <class T, class F>
  void list(std::vector<T>& items, F&& each) {
    put(items.size());
    for (T& item : items) each(item);
  }
  void words(const std::vector<Word>& words) {
    put(words.size());
    out_.append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(Word));
  }
  void loop_name(const char* name) {
    uint64_t k = 0;
    while (std::strcmp(kLoopNames[k], name) != 0) ++k;
    put(k);
  }

  void places(const Places& places) {
    const std::string before = std::move(out_);
    out_.clear();
    pack(places);
    const std::string packed = std::exchange(out_, std::move(before));
    text(packed);
  }

  void value(const Value& v) {
    if (v.is_undefined()) return form(Form::Undefined);
    if (v.is_none()) return form(Form::None);
    if (v.is_bool()) return form(v.as_bool() ? Form::True : Form::False);
    if (v.is_int()) return form(Form::Int), number(v.as_int());
    if (v.is_float()) return form(Form::Float), real(v.as_float());
    if (v.is(in_.ellipsis)) return form(Form::Ellipsis);
    object(v);
  }

 private:
  void put(uint64_t n) {
    for (; n >= 0x80; n >>= 7) out_ += static_cast<char>(n | 0x80);
    out_ += static_cast<char>(n);
  }
  void pack(const Places& places) {
    uint32_t begin = 0;
    for (size_t at = 0; at < places.size();) {
      const Place& place = places[at];
      uint32_t more = 0;
      while (++at < places.size() && more < kMostRun && same_place(places[at], place)) ++more;
      const bool anchored = place.anchor != Span{};
      out_ += static_cast<char>(more << kRunShift | (place.augmented ? kAugmented : 0) | (place.hidden ? kHidden : 0) | (anchored ? kAnchored : 0));
      number(int64_t{place.span.begin} - begin);
      number(int64_t{place.span.end} - place.span.begin);
      begin = place.span.begin;
      if (anchored) number(int64_t{place.anchor.begin} - begin), number(int64_t{place.anchor.end} - place.anchor.begin);
    }
  }
  void form(Form form) { out_ += static_cast<char>(form); }
  void real(double d) { out_.append(reinterpret_cast<const char*>(&d), sizeof d); }
  void text(std::string_view bytes) {
    put(bytes.size());
    out_ += bytes;
  }

  void object(const Value& v) {
    switch (v.as_object()->kind) {
      case ObjectKind::Str: return form(Form::Text), name(as_str(v));
      case ObjectKind::Tuple: return form(Form::Tuple), items(as_tuple(v));
      case ObjectKind::Set: return frozen_set(v);
      case ObjectKind::Code: return form(Form::Code), inner([&] { transfer(*this, *known_cast<Code>(v)); });
      case ObjectKind::BigInt:
        form(Form::BigInt);
        out_ += static_cast<char>(as_big_int(v)->negative());
        return text(whole_text(in_, whole_absolute(in_, v), 16));
      default: break;
    }
    if (is_complex(in_, v)) {
      form(Form::Complex);
      real(known_cast<Complex>(v)->real);
      return real(known_cast<Complex>(v)->imag);
    }
    if (!is_bytes(v)) return fail();
    form(Form::Bytes);
    text(as_bytes(v)->view());
  }

  void items(const Tuple* tuple) {
    inner([&] {
      put(tuple->size);
      for (size_t i = 0; i < tuple->size; ++i) value(tuple->items[i]);
    });
  }

  // The order of a set follows from that in which its elements were put in, which is not known: tries orders until one gives the same table.
  // An element that has taken another's place goes to the end. After kMostTries the order may become another one, as in CPython's files.
  void frozen_set(const Value& v) {
    if (!is_frozen(in_, as_set(v))) return fail();
    const Set* const wanted = as_set(v);
    std::vector<Value> keys;
    set_for_each(wanted, [&](const Value& key) { keys.push_back(key); });
    for (int tries = 0; tries < kMostTries; ++tries) {
      const Value again = set_from(in_, make_tuple(in_, keys.data(), keys.size()), true);
      const auto takes_place = [&](const Value& key) {
        for (uint32_t i = 0; as_set(again)->mask == wanted->mask && i <= wanted->mask; ++i)
          if (as_set(again)->table[i].key.is(key)) return !wanted->table[i].key.is_undefined() && !wanted->table[i].key.is(key);
        return false;
      };
      if (keys.empty() || std::stable_partition(keys.begin(), keys.end(), std::not_fn(takes_place)) == keys.end()) break;
    }
    form(Form::FrozenSet);
    items(as_tuple(make_tuple(in_, keys.data(), keys.size())));
  }

  template <class F>
  void inner(F&& f) {
    if (depth_ == kMostDepth) return fail();
    ++depth_;
    f();
    --depth_;
  }
  void fail() { failed_ = true; }

  Interpreter& in_;
  std::string out_;
  std::vector<const Str*> texts_;
  std::unordered_map<const Str*, size_t> indices_;
  uint32_t depth_ = 0;
  bool failed_ = false;
};

// ---- Reading ---------------------------------------------------------------------------------------------------------

// Numbers out of bytes. Behind the end, and where they are none, `failed` is true and all that follows is zero.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  uint8_t byte() {
    if (at_ == end_) return fail(), uint8_t{0};
    return static_cast<uint8_t>(*at_++);
  }
  uint64_t get() {
    uint64_t n = byte();
    if (n < 0x80) [[likely]]
      return n;
    n &= 0x7f;
    for (uint32_t shift = 7; shift < 64; shift += 7) {
      const uint64_t next = byte();
      n |= (next & 0x7f) << shift;
      if (next < 0x80) return n;
    }
    fail();
    return 0;
  }
  int64_t get_signed() {
    const uint64_t n = get();
    return static_cast<int64_t>(n >> 1 ^ (~(n & 1) + 1));
  }

 protected:
  void fail() {
    failed_ = true;
    at_ = end_;
  }
  const char *at_, *end_;
  bool failed_ = false;
};

class Reader : Numbers {
 public:
  Reader(Interpreter& in, std::string_view bytes, std::shared_ptr<const Source> source)
      : Numbers(bytes), in_(in), source_(std::move(source)) {}

  Value run() {
    const size_t count = count_of(1);
    texts_.reserve(count);
    while (texts_.size() < count && !failed_) read_text();
    const Value made = code();
    return failed_ || at_ != end_ ? Value() : made;
  }

  template <class T>
  void number(T& n) {
    if constexpr (!std::is_enum_v<T> && std::is_signed_v<T>) n = static_cast<T>(get_signed());
    else n = static_cast<T>(get());
  }
  void span(Span& span) {
    number(span.begin);
    number(span.end);
  }
  void name(Str*& text) {
    const Value* const found = text_at(get());
    text = found == nullptr ? nullptr : as_str(*found);
    if (text != nullptr && (text->flags & kInterned) == 0) fail(), text = nullptr;  // code owns none of its names
  }
  template <class T, class F>
  void list(std::vector<T>& items, F&& each) {
    items.resize(count_of(1));
    for (T& item : items) {
      if (failed_) return;
      each(item);
    }
  }
  void words(std::vector<Word>& words) {
    const size_t count = count_of(sizeof(Word));
    words.resize(count);
    if (count != 0) std::memcpy(static_cast<void*>(words.data()), at_, count * sizeof(Word));
    at_ += count * sizeof(Word);
    words_ = count;
  }
  void loop_name(const char*& name) {
    const uint64_t k = get();
    if (k >= std::size(kLoopNames)) return fail();
    name = kLoopNames[k];
  }

  // Each word has one, so there are as many as words.
  void places(Places& places) { places.set_packed(text(), words_); }

  void value(Value& v) { v = value(); }

 private:
  // A count of items that take at least so many bytes each.
  size_t count_of(size_t least) {
    const uint64_t count = get();
    if (count <= static_cast<size_t>(end_ - at_) / least) return static_cast<size_t>(count);
    fail();
    return 0;
  }
  std::string_view text() {
    const size_t size = count_of(1);
    at_ += size;
    return {at_ - size, size};
  }
  void read_text() {
    const uint64_t head = get(), less = get();
    if (head >> 1 > static_cast<size_t>(end_ - at_) || less > head >> 1) return fail();
    const std::string_view bytes(at_, static_cast<size_t>(head >> 1));
    at_ += bytes.size();
    texts_.push_back((head & 1) != 0 ? Value(static_cast<Object*>(intern(in_, bytes))) : make_str(in_, bytes, bytes.size() - less));
  }
  const Value* text_at(uint64_t index) {
    if (index == 0) return nullptr;
    if (index > texts_.size()) return fail(), nullptr;
    return &texts_[static_cast<size_t>(index) - 1];
  }
  double real() {
    double d = 0;
    if (static_cast<size_t>(end_ - at_) < sizeof d) return fail(), d;
    std::memcpy(&d, at_, sizeof d);
    at_ += sizeof d;
    return d;
  }

  Value code() {
    Code* const code = new_code(in_);
    const Value made = Value::adopt(code);
    code->source = source_;
    transfer(*this, *code);
    if (code->name == nullptr || code->qualname == nullptr || code->words.empty()) fail();
    return made;
  }

  Value items(bool frozen) {
    std::vector<Value> items;
    list(items, [&](Value& item) { item = value(); });
    const Value tuple = make_tuple(in_, items.data(), items.size());
    return frozen && !failed_ ? set_from(in_, tuple, true) : tuple;
  }

  Value value() {
    switch (static_cast<Form>(byte())) {
      case Form::Undefined: return Value();
      case Form::None: return Value::none();
      case Form::False: return Value::boolean(false);
      case Form::True: return Value::boolean(true);
      case Form::Int: {
        int64_t n;
        number(n);
        return Value::integer(n);
      }
      case Form::Float: return Value::real(real());
      case Form::Complex: {
        const double first = real();
        return make_complex(in_, first, real());
      }
      case Form::BigInt: {
        const bool negative = byte() != 0;
        const std::string_view digits = text();
        return failed_ ? Value() : whole_of_digits(in_, digits, 16, negative);
      }
      case Form::Text: {
        const Value* const found = text_at(get());
        return found == nullptr ? fail(), Value() : *found;
      }
      case Form::Bytes: return make_bytes(in_, text());
      case Form::Tuple: return inner([&] { return items(false); });
      case Form::FrozenSet: return inner([&] { return items(true); });
      case Form::Ellipsis: return in_.ellipsis;
      case Form::Code: return inner([&] { return code(); });
    }
    fail();
    return Value();
  }

  template <class F>
  Value inner(F&& f) {
    if (depth_ == kMostDepth || failed_) return fail(), Value();
    ++depth_;
    Value made = f();
    --depth_;
    return made;
  }

  Interpreter& in_;
  const std::shared_ptr<const Source> source_;
  std::vector<Value> texts_;
  size_t words_ = 0;  // of the code that is read
  uint32_t depth_ = 0;
};

class PlacesReader : Numbers {
 public:
  using Numbers::Numbers;
  // `count` places, the last of them empty if the bytes end early.
  void run(std::vector<Place>& places, size_t count) {
    places.reserve(count);
    uint32_t begin = 0;
    while (places.size() < count && !failed_) {
      const uint8_t head = byte();
      Place place;
      place.augmented = (head & kAugmented) != 0;
      place.hidden = (head & kHidden) != 0;
      place.span.begin = begin = step(begin);
      place.span.end = step(begin);
      if ((head & kAnchored) != 0) {
        place.anchor.begin = step(begin);
        place.anchor.end = step(place.anchor.begin);
      }
      for (size_t run = size_t{head} / (1 << kRunShift) + 1; run > 0 && places.size() < count; --run) places.push_back(place);
    }
    places.resize(count);
  }

 private:
  uint32_t step(uint32_t from) { return static_cast<uint32_t>(from + get_signed()); }
};

}  // namespace

void Places::unpack() const {
  PlacesReader(packed_).run(places_, size_);
  packed_ = {};
}

std::string code_to_bytes(Interpreter& in, const Code& code) { return Writer(in).run(code); }

Value code_from_bytes(Interpreter& in, std::string_view bytes, std::shared_ptr<const Source> source) {
  return Reader(in, bytes, std::move(source)).run();
}

}  // namespace tessera::lang
