// def and class: decorators, defaults, annotations.
// compile: few-inlines (runs once for a program's text)
#include "lang/compiler/compiler.h"
#include "lang/core/interpreter.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

using namespace ast;

namespace {

enum MakeFunctionParts : uint32_t { kDefaults = 1, kKeywordDefaults = 2, kAnnotations = 4 };

bool is_positional(const ast::Parameter& p) {
  return p.kind == ParameterKind::kPositionalOnly || p.kind == ParameterKind::kRegular;
}

}  // namespace

// R[to], the top temporary, becomes the function.
void Compiler::make_function(Parameters parameters, Expr* returns, const Value& code, uint32_t to, Span span,
                             bool annotations) {
  top_ = to;
  uint32_t parts = 0;
  std::vector<Expr*> defaults;
  bool keyword_defaults = false, annotated = returns != nullptr;
  for (ast::Parameter& p : parameters) {
    if (is_positional(p) && p.default_value != nullptr) defaults.push_back(p.default_value);
    keyword_defaults |= p.kind == ParameterKind::kKeywordOnly && p.default_value != nullptr;
    annotated |= p.annotation != nullptr;
  }
  if (!defaults.empty()) {
    const uint32_t first = top_;
    if (std::vector<Value> values; defaults.size() < 30) {
      for (Expr* e : defaults) on_top(*e);
      emit(Op::BuildTuple, first, first, static_cast<uint32_t>(defaults.size()), span);
    } else {
      sequence(*defaults[0], ExprList(defaults), kOnTop);
      emit(Op::ListToTuple, first, 0, 0, span);
    }
    top_ = first + 1;
    parts |= kDefaults;
  }
  if (keyword_defaults) {
    const uint32_t dict = take_temporary(span);
    emit(Op::BuildDict, dict, dict, 0, span);
    for (ast::Parameter& p : parameters) {
      if (p.kind != ParameterKind::kKeywordOnly || p.default_value == nullptr) continue;
      const uint32_t key = constant_value(Value(static_cast<Object*>(name_text(mangled(p.name.text)))), kOnTop, span);
      emit(Op::DictSet, dict, key, value(*p.default_value), span);
      top_ = dict + 1;
    }
    parts |= kKeywordDefaults;
  }
  if (annotations && annotated) {
    parameter_annotations(parameters, returns, take_temporary(span), span);
    parts |= kAnnotations;
  }
  top_ = to + 1;
  emit_word(Op::MakeFunction, to, parts, 0, Emitter::constant(code), span);
}

void Compiler::parameter_annotations(Parameters parameters, Expr* returns, uint32_t to, Span span) {
  emit(Op::BuildDict, to, to, 0, span);
  auto add = [&](std::string_view name, Expr* e) {
    if (e == nullptr) return;
    const uint32_t key = constant_value(Value(static_cast<Object*>(name_text(name))), kOnTop, e->span);
    emit(Op::DictSet, to, key, annotation(*e), e->span);
    top_ = to + 1;
  };
  for (ast::Parameter& p : parameters) add(mangled(p.name.text), p.annotation);
  add("return", returns);
}

// `make` leaves what is decorated in the top temporary, whose register it gets; the result is stored under `name`.
void Compiler::decorated(ExprList decorators, std::string_view name, Span span, const std::function<void(uint32_t)>& make) {
  const uint32_t first = top_;
  if (!has_room_for(decorators.size())) {
    many_decorators(decorators, span, make);
    return store_variable(name, first, span);
  }
  for (Expr* decorator : decorators) on_top(*decorator);
  uint32_t reg = take_temporary(span);
  make(reg);
  for (size_t i = decorators.size(); i-- > 0;) {
    reg = first + static_cast<uint32_t>(i);
    emit_call(reg, 1, reg, decorators[i]->span);
  }
  top_ = reg + 1;
  store_variable(name, reg, span);
}

// Keeps them in a list; leaves the result where that was.
void Compiler::many_decorators(ExprList decorators, Span span, const std::function<void(uint32_t)>& make) {
  const uint32_t list = take_temporary(span);
  emit(Op::BuildList, list, list, 0, span);
  for (Expr* decorator : decorators) {
    emit(Op::ListAppend, list, value(*decorator), 0, decorator->span);
    top_ = list + 1;
  }
  const uint32_t made = take_temporary(span);
  make(made);
  for (size_t i = decorators.size(); i-- > 0;) {
    const Span at = decorators[i]->span;
    const uint32_t callee = copy(list, at);
    const uint32_t index = constant_value(Value::integer(static_cast<int64_t>(i)), kOnTop, at);
    emit(Op::GetItem, callee, callee, index, at);
    move(index, made, at);
    emit_call(callee, 1, made, at);
    top_ = made + 1;
  }
  move(list, made, span);
  top_ = list + 1;
}

void Compiler::operator()(FunctionStmt& s) {
  const Span span{s.span.begin, std::max(s.name.span.end, s.span.begin)};
  decorated(s.decorators, s.name.text, span, [&](uint32_t reg) {
    Compiler inner(unit_, scope_of(s.mark), this, s.name.text, s.span);
    make_function(s.parameters, s.returns, inner.compile_function(s), reg, span, true);
  });
}

void Compiler::operator()(ClassStmt& s) {
  const Span span{s.span.begin, std::max(s.name.span.end, s.span.begin)};
  decorated(s.decorators, s.name.text, span, [&](uint32_t reg) { class_value(s, reg); });
}

// R[to], the top temporary, becomes the class.
void Compiler::class_value(ClassStmt& s, uint32_t to) {
  const Span span{s.span.begin, std::max(s.name.span.end, s.span.begin)};
  Compiler inner(unit_, scope_of(s.mark), this, s.name.text, s.span);
  const Value code = inner.compile_class(s);
  make_function({}, nullptr, code, to, span, false);
  constant_value(Value(static_cast<Object*>(name_text(s.name.text))), kOnTop, span);
  if (s.bases.empty()) {
    constant_value(make_tuple(in_, nullptr, 0), kOnTop, span);
  } else {
    const uint32_t bases = sequence(*s.bases[0], s.bases, kOnTop);
    emit(Op::ListToTuple, bases, 0, 0, span);
  }
  const uint32_t keywords = take_temporary(span);
  if (s.keywords.empty()) emit(Op::LoadNone, keywords, 0, 0, span);
  else emit(Op::BuildDict, keywords, keywords, 0, span);
  for (Keyword& keyword : s.keywords) {
    if (keyword.name.empty()) {
      emit(Op::DictUpdate, keywords, value(*keyword.value), 0, keyword.span);
    } else {
      const uint32_t key =
          constant_value(Value(static_cast<Object*>(name_text(keyword.name.text))), kOnTop, keyword.span);
      emit(Op::DictSet, keywords, key, value(*keyword.value), keyword.span);
    }
    top_ = keywords + 1;
  }
  intrinsic(IntrinsicId::BuildClass, to, {span.begin, s.span.end});
}

}  // namespace tessera::lang
