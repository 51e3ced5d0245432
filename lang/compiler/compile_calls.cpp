// Calls: plain, of methods, with keywords, with stars, and super().
// compile: few-inlines (runs once for a program's text)
#include "lang/compiler/compiler.h"
#include "lang/core/interpreter.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

using namespace ast;

namespace {

// More arguments than these go through a list.
constexpr size_t kMostArguments = 60;

bool needs_spreading(const ast::Call& e) {
  if (e.arguments.size() + e.keywords.size() > kMostArguments) return true;
  for (const Expr* argument : e.arguments) {
    if (is<Starred>(*argument)) return true;
  }
  for (const Keyword& keyword : e.keywords) {
    if (keyword.name.empty()) return true;
  }
  return false;
}

}  // namespace

uint32_t Compiler::keyword_names(std::span<Keyword> keywords) {
  std::vector<Value> names;
  for (const Keyword& keyword : keywords) {
    names.emplace_back(static_cast<Object*>(name_text(keyword.name.text)));
  }
  return Emitter::constant(make_tuple(in_, names.data(), names.size()));
}

// super() in a method, where the name is the builtin's.
bool Compiler::is_plain_super(Expr& e) {
  auto* const call = try_as<ast::Call>(&e);
  const auto* const callee = call != nullptr ? try_as<Name>(call->callee) : nullptr;
  if (callee == nullptr || callee->name != "super" || !call->arguments.empty() || !call->keywords.empty()) return false;
  const Symbol* cell = own_scope_.find(unit_.tree.intern("__class__"));
  const Symbol* at_module = unit_.scopes.module().find(callee->name);
  const bool own_super =
      symbol(callee->name).kind == VariableKind::Global && (at_module == nullptr || !at_module->bound);
  return cell != nullptr && own_super && code_->positional > 0;
}

// Calls what is in R[callee] with the `count` temporaries above it.
void Compiler::emit_call(uint32_t callee, uint32_t count, uint32_t to, Span span) {
  if (!has_far_variables()) return emit(Op::Call, callee, count, to, span);
  const uint32_t mark = top_;
  top_ = callee + 1;
  const uint32_t arguments = take_temporary(span);
  emit(Op::BuildTuple, arguments, arguments, count, span);
  emit(Op::CallSpread, callee, 0, to, span);
  top_ = mark;
}

uint32_t Compiler::call(ast::Call& e, int want) {
  if (is_plain_super(e)) return super_call(e, want);
  if (needs_spreading(e) || has_far_variables() || !has_room_for(e.arguments.size() + e.keywords.size())) return spread_call(e, want);
  if (auto* callee = try_as<Attribute>(e.callee)) return method_call(e, *callee, want);
  const uint32_t mark = top_;
  on_top(*e.callee);
  for (Expr* argument : e.arguments) on_top(*argument);
  for (Keyword& keyword : e.keywords) on_top(*keyword.value);
  const auto count = static_cast<uint32_t>(e.arguments.size() + e.keywords.size());
  top_ = mark;
  const uint32_t to = result(want, e.span);
  if (e.keywords.empty()) emit(Op::Call, mark, count, to, e.span);
  else emit_word(Op::CallKeywords, mark, count, to, keyword_names(e.keywords), e.span);
  return to;
}

// Evaluating it can neither have an effect nor fail: the method may be looked up after it.
bool Compiler::is_harmless(Expr& e) {
  if (const auto* name = try_as<Name>(&e)) {
    const Symbol& s = symbol(name->name);
    return s.kind == VariableKind::Register && assigned_.test(s.index);
  }
  return is<Constant>(e) || is<IntLiteral>(e) || is<BigIntLiteral>(e) || is<FloatLiteral>(e) || is<StringLiteral>(e) || is<BytesLiteral>(e);
}

uint32_t Compiler::method_call(ast::Call& e, Attribute& callee, int want) {
  const uint32_t mark = top_;
  const bool of_super = is_plain_super(*callee.object);
  const std::string_view name = mangled(callee.name.text);
  const Span lookup = span_from_name(callee.span, callee), span = span_from_name(e.span, callee);
  const auto count = static_cast<uint32_t>(e.arguments.size() + e.keywords.size());
  bool harmless = e.keywords.empty() && !of_super;
  for (Expr* argument : e.arguments) harmless = harmless && is_harmless(*argument);
  if (harmless) {
    on_top(*callee.object);
    for (Expr* argument : e.arguments) on_top(*argument);
    top_ = mark;
    const uint32_t to = result(want, e.span);
    emit_name(Op::Invoke, mark, count, to, name, {span});
    code_->places[code_->places.size() - 2].span = lookup;
    return to;
  }
  if (of_super) {
    super_method(as<ast::Call>(*callee.object), name, lookup);
  } else {
    const uint32_t object = value(*callee.object);
    top_ = mark;
    take_temporary(e.span);
    take_temporary(e.span);
    emit_name(Op::LoadMethod, mark, object, 0, name, {lookup});
  }
  for (Expr* argument : e.arguments) on_top(*argument);
  for (Keyword& keyword : e.keywords) on_top(*keyword.value);
  top_ = mark;
  const uint32_t to = result(want, e.span);
  if (e.keywords.empty()) emit(Op::CallMethod, mark, count, to, span);
  else emit_word(Op::CallMethodKeywords, mark, count, to, keyword_names(e.keywords), span);
  return to;
}

// f(*args, **kwargs), and calls with very many arguments: a list and a dict are filled.
uint32_t Compiler::spread_call(ast::Call& e, int want) {
  const uint32_t mark = top_;
  const uint32_t callee = on_top(*e.callee);
  // A star that stands alone needs no list of arguments, and is told of in the callee's name.
  auto* const lone = e.arguments.size() == 1 ? try_as<Starred>(e.arguments[0]) : nullptr;
  uint32_t star = 0;
  if (lone != nullptr) {
    star = on_top(*lone->value);  // what it gives is taken when the keywords are known
  } else {
    const uint32_t list = take_temporary(e.span);
    emit(Op::BuildList, list, list, 0, e.span);
    for (Expr* argument : e.arguments) {
      const uint32_t above = top_;
      auto* star = try_as<Starred>(argument);
      if (star != nullptr) emit(Op::ListExtend, list, value(*star->value), 0, e.span);
      else emit(Op::ListAppend, list, value(*argument), 0, argument->span);
      top_ = above;
    }
  }
  if (!e.keywords.empty()) {
    const uint32_t dict = take_temporary(e.span);
    emit(Op::BuildDict, dict, dict, 0, e.span);
    bool merged = false;
    for (Keyword& keyword : e.keywords) {
      const uint32_t above = top_;
      if (keyword.name.empty()) {
        emit(Op::DictMergeArgs, dict, value(*keyword.value), callee, e.span);
        merged = true;
      } else {
        const Value name(static_cast<Object*>(name_text(keyword.name.text)));
        const uint32_t key = constant_value(name, kOnTop, keyword.span);
        const uint32_t item = on_top(*keyword.value);
        if (merged) {
          emit(Op::BuildDict, key, key, 1, keyword.span);
          emit(Op::DictMergeArgs, dict, key, callee, e.span);
        } else {
          emit(Op::DictSet, dict, key, item, keyword.span);
        }
      }
      top_ = above;
    }
  }
  if (lone != nullptr) emit(Op::SpreadArgs, star, callee, 0, e.span);
  top_ = mark;
  const uint32_t to = result(want, e.span);
  emit(Op::CallSpread, callee, !e.keywords.empty(), to, e.span);
  return to;
}

// super() is super(__class__, first parameter): loads both.
uint32_t Compiler::super_operands(ast::Call& e) {
  const uint32_t type = take_temporary(e.span);
  const Symbol& cell = *own_scope_.find(unit_.tree.intern("__class__"));
  load_variable(cell, type, e.span);
  const uint32_t first = take_temporary(e.span);
  const std::string_view parameter = own_scope_.locals[0];
  const Symbol& self = *own_scope_.find(parameter);
  // A parameter that `del` may have taken away is super()'s to refuse, with words of its own.
  if (self.kind == VariableKind::Register && self.deleted) move(first, self.index, e.span);
  else load_variable(self, first, e.span);
  return type;
}

uint32_t Compiler::super_call(ast::Call& e, int want) {
  const uint32_t mark = top_;
  const uint32_t type = super_operands(e);
  top_ = mark;
  const uint32_t to = result(want, e.span);
  emit(Op::Intrinsic, to, type, static_cast<uint32_t>(IntrinsicId::SuperZero), e.span);
  return to;
}

// super().name as CallMethod wants it, in two temporaries. A SuperZero with D set makes no super object: where the attribute is a
// function of a class, the function takes the class's place before the first argument, and the target, the name's place, is true.
// Else both operands stay, the target is unset, and the super object finds the attribute.
void Compiler::super_method(ast::Call& e, std::string_view name, Span lookup) {
  const uint32_t type = super_operands(e);
  const uint32_t found = constant_value(Value(static_cast<Object*>(name_text(name))), kOnTop, lookup);
  put(make_word(Op::Intrinsic, found, type, static_cast<uint32_t>(IntrinsicId::SuperZero), 1), {e.span});
  Label done;
  test(Op::JumpSet, found, 0, true, done, e.span);
  emit(Op::Intrinsic, type, type, static_cast<uint32_t>(IntrinsicId::SuperZero), e.span);
  emit_name(Op::LoadMethod, type, type, 0, name, {lookup});
  bind(done);
  top_ = found;
}

}  // namespace tessera::lang
