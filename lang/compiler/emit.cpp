#include "lang/compiler/emit.h"

#include <bit>

#include "lang/compiler/resolve.h"
#include "lang/core/interpreter.h"
#include "lang/types/str.h"

namespace tessera::lang {

namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kMostNames = 0xffff;

}  // namespace

Emitter::Emitter(Interpreter& in, Code* code) : in_(in), code_(code), singletons_{kNone, kNone, kNone, kNone} {}

void Emitter::emit_name(Op op, uint32_t a, uint32_t b, uint32_t c, std::string_view text, const Place& place) {
  put(make_abc(op, a, b & 0xff, c & 0xff), place);
  put(site_for(op, text), place);
}

void Emitter::emit_word(Op op, uint32_t a, uint32_t b, uint32_t c, uint32_t word, Span span) {
  put(make_abc(op, a, b & 0xff, c & 0xff), {span});
  put(word, {span});
}

void Emitter::jump(Label& label, Span span) {
  const uint32_t at = here();
  put(make_jump(Op::Jump, 0), {span});
  if (label.target >= 0) patch(at, label.target);
  else label.uses.push_back(at);
}

void Emitter::test(Op op, uint32_t a, uint32_t b, bool when, Label& label, Span span) {
  emit(op, a, b, when, span);
  jump(label, span);
}

void Emitter::bind(Label& label) {
  label.target = here();
  for (uint32_t at : label.uses) patch(at, label.target);
  label.uses.clear();
}

void Emitter::patch(uint32_t at, int64_t target) {
  const int64_t offset = target - (static_cast<int64_t>(at) + 1);
  if (offset > kLargestJump || offset < -kLargestJump)
    throw CompileError{code_->places[at].span, "too much code in one function"};
  code_->words[at] = make_jump(op_of(code_->words[at]), static_cast<int32_t>(offset));
}

void Emitter::load_constant(uint32_t to, const Value& value, Span span) {
  if (value.is_none()) return emit(Op::LoadNone, to, 0, 0, span);
  if (value.is_bool()) return emit(Op::LoadBool, to, 0, value.as_bool(), span);
  if (value.is_int() && value.as_int() >= INT16_MIN && value.as_int() <= INT16_MAX) {
    return emit_x(Op::LoadInt, to, static_cast<uint16_t>(value.as_int()), span);
  }
  const uint32_t k = constant(value);
  if (k <= 0xffff) emit_x(Op::LoadK, to, k, span);
  else emit_word(Op::LoadKWide, to, 0, 0, k, span);
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
  return add_constant(value);
}

Str* Emitter::name_text(std::string_view text) { return intern(in_, text); }

uint32_t Emitter::name(std::string_view text) {
  Str* str = name_text(text);
  auto [at, fresh] = names_.try_emplace(str, static_cast<uint32_t>(code_->names.size()));
  if (fresh) {
    if (code_->names.size() >= kMostNames) throw CompileError{{}, "too many variables in one function"};
    code_->names.push_back(str);
  }
  return at->second;
}

// Instructions that remember something have a site of their own; all others of
// a name share one.

uint32_t Emitter::site_for(Op op, std::string_view text) {
  Str* const name = name_text(text);
  const auto fresh = static_cast<uint32_t>(code_->caches.size());
  const bool remembers = op == Op::LoadGlobal || op == Op::StoreGlobal || op == Op::GetAttr || op == Op::SetAttr ||
                         op == Op::LoadMethod || op == Op::Invoke;
  if (!remembers) {
    auto [at, made] = shared_sites_.try_emplace(name, fresh);
    if (!made) return at->second;
  }
  code_->caches.emplace_back().name = name;
  return fresh;
}

}  // namespace tessera::lang
