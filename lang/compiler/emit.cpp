// compile: few-inlines (runs once for a program's text)
#include "lang/compiler/emit.h"

#include <algorithm>
#include <bit>

#include "lang/compiler/resolve.h"
#include "lang/core/interpreter.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

}  // namespace

Emitter::Emitter(Interpreter& in, Code* code) : in_(in), code_(code), singletons_{kNone, kNone, kNone, kNone} {}

bool Emitter::try_emit_name(Op op, uint32_t a, uint32_t b, uint32_t d, std::string_view text, const Place& place) {
  const char* const form = form_of(op);
  if (form[1] == 'x') {
    put(make_wide(op, a, global_site(op, text)), place);
    return true;
  }
  const uint32_t site = site_for(op, text);
  if (site == kNone) return false;
  if (second_of(op) == 0) {
    put(make_word(op, a, b, site, d), place);
    return true;
  }
  put(make_word(op, a, b, d), place);
  put(make_wide(Op::Nop, 0, site), place);
  return true;
}

void Emitter::emit_word(Op op, uint32_t a, uint32_t b, uint32_t c, uint32_t word, Span span) {
  put(make_word(op, a, b, c), {span});
  put(make_wide(Op::Nop, 0, word), {span});
}

void Emitter::jump(Label& label, Span span) {
  put(make_wide(Op::Jump, 0, 0), {span});
  use(label, here() - 1);
}

void Emitter::branch(Op op, uint32_t a, uint32_t b, Label& label, Span span) {
  put(make_word(op, a, b), {span});
  use(label, here() - 1);
}

void Emitter::test(Op op, uint32_t a, uint32_t b, bool when, Label& label, Span span) {
  put(make_word(op, a, b, 0, when), {span});
  use(label, here() - 1);
}

void Emitter::use(Label& label, uint32_t at) {
  if (label.target >= 0) patch(at, label.target);
  else label.uses.push_back(at);
}

void Emitter::bind(Label& label) {
  label.target = here();
  for (uint32_t at : label.uses) patch(at, label.target);
  label.uses.clear();
}

void Emitter::patch(uint32_t at, int64_t target) {
  const int64_t offset = target - (static_cast<int64_t>(at) + 1);
  if (offset > INT32_MAX || offset < INT32_MIN)
    throw Error(ErrorKind::MemoryError, "too much code in one function");
  Word& word = code_->words[at];
  if (op_of(word) == Op::Jump) {
    word = make_wide(Op::Jump, 0, static_cast<uint32_t>(offset));
  } else if (offset > INT16_MAX || offset <= kFarJump) {
    word.c = static_cast<uint16_t>(kFarJump);
    const FarJump jump{at, static_cast<int32_t>(offset)};
    code_->far_jumps.insert(std::upper_bound(code_->far_jumps.begin(), code_->far_jumps.end(), at,
                                             [](uint32_t word, const FarJump& each) { return word < each.word; }),
                            jump);
  } else {
    word.c = static_cast<uint16_t>(offset);
  }
}

int32_t far_offset(const Code& code, const Word* next) noexcept {
  const auto at = static_cast<uint32_t>(next - code.words.data()) - 1;
  return std::lower_bound(code.far_jumps.begin(), code.far_jumps.end(), at,
                          [](const FarJump& each, uint32_t word) { return each.word < word; })
      ->offset;
}

void Emitter::load_constant(uint32_t to, const Value& value, Span span) {
  if (value.is_none()) return emit(Op::LoadNone, to, 0, 0, span);
  if (value.is_bool()) return emit(Op::LoadBool, to, 0, value.as_bool(), span);
  if (value.is_int() && value.as_int() >= INT32_MIN && value.as_int() <= INT32_MAX) {
    return emit_x(Op::LoadInt, to, static_cast<uint32_t>(value.as_int()), span);
  }
  emit_x(Op::LoadK, to, constant(value), span);
}

uint32_t Emitter::add_constant(const Value& value) {
  code_->constants.push_back(value);
  return static_cast<uint32_t>(code_->constants.size() - 1);
}

uint32_t Emitter::constant(const Value& value) {
  auto once = [&](uint32_t& slot) {
    if (slot == kNone) slot = add_constant(value);
    return slot;
  };
  if (value.is_none()) return once(singletons_[0]);
  if (value.is_bool()) return once(singletons_[value.as_bool() ? 2 : 1]);
  if (value.is_int()) return once(ints_.try_emplace(value.as_int(), kNone).first->second);
  if (value.is_float())
    return once(floats_.try_emplace(std::bit_cast<uint64_t>(value.as_float()), kNone).first->second);
  if (value.is(in_.ellipsis)) return once(singletons_[3]);
  if (is_str(value)) {
    auto found = strings_.find(text_of(value));
    if (found != strings_.end()) return found->second;
    const uint32_t k = add_constant(value);
    strings_.emplace(text_of(code_->constants[k]), k);
    return k;
  }
  if (is_tuple(value)) {
    const uint32_t k = same_tuple(value);
    if (k != kNone) return k;
  }
  return add_constant(value);
}

// The index of an equal tuple among the last constants of the code, or kNone. CPython has one object for equal constant tuples of a code, too.
uint32_t Emitter::same_tuple(const Value& value) const {
  constexpr size_t kLast = 16;
  const Tuple* const wanted = as_tuple(value);
  const auto& constants = code_->constants;
  for (size_t k = constants.size(); k-- > 0 && k + kLast >= constants.size();) {
    if (!is_tuple(constants[k]) || as_tuple(constants[k])->size != wanted->size) continue;
    const auto same = [](const Value& a, const Value& b) { return a.is(b); };
    if (std::equal(wanted->items, wanted->items + wanted->size, as_tuple(constants[k])->items, same)) return static_cast<uint32_t>(k);
  }
  return kNone;
}

Str* Emitter::name_text(std::string_view text) { return intern(in_, text); }

uint32_t Emitter::name(std::string_view text) {
  Str* str = name_text(text);
  auto [at, fresh] = names_.try_emplace(str, static_cast<uint32_t>(code_->names.size()));
  if (fresh) code_->names.push_back(str);
  return at->second;
}

// Instructions that remember something have a site of their own; all others of a name share one, and so do those of a very
// large function, whose numbers would not fit. kNone: there is no number left that fits.

uint32_t Emitter::site_for(Op op, std::string_view text) {
  constexpr uint32_t kMostOwn = 60'000;
  Str* const name = name_text(text);
  const auto fresh = static_cast<uint32_t>(code_->caches.size());
  const bool remembers = op == Op::GetAttr || op == Op::SetAttr || op == Op::LoadMethod || op == Op::Invoke;
  if (!remembers || fresh >= kMostOwn) {
    const auto at = shared_sites_.find(name);
    if (at != shared_sites_.end() && (at->second <= kMostNumber || op == Op::Invoke)) return at->second;
    if (fresh > kMostNumber && op != Op::Invoke) return kNone;
    shared_sites_[name] = fresh;
  }
  code_->caches.emplace_back().name = name;
  return fresh;
}

uint32_t Emitter::global_site(Op op, std::string_view text) {
  Str* const name = name_text(text);
  const auto fresh = static_cast<uint32_t>(code_->global_caches.size());
  if (op == Op::DeleteGlobal) {
    auto [at, made] = shared_globals_.try_emplace(name, fresh);
    if (!made) return at->second;
  }
  code_->global_caches.emplace_back().name = name;
  return fresh;
}

}  // namespace tessera::lang
