// Patterns that bind a name twice, alternatives that bind different names, cases that can never be reached.
// compile: small (match statements are few)
#include <algorithm>
#include <set>
#include <string>

#include "lang/syntax/parse_checks.h"

namespace tessera::lang {

using namespace ast;

namespace {

using Names = std::set<std::string_view>;

[[noreturn]] void refuse(std::string message, Span span) { throw Refusal{std::move(message), span}; }

// Thrown at a mapping pattern that may have a key twice: the compiler, which knows the values of keys, comes to it before anything behind it.
struct LeftToCompiler {};

bool same_literal(const Expr& a, const Expr& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case ExprKind::kConstant: return as<Constant>(a).value == as<Constant>(b).value;
    case ExprKind::kIntLiteral: return as<IntLiteral>(a).value == as<IntLiteral>(b).value;
    case ExprKind::kStringLiteral: return as<StringLiteral>(a).value == as<StringLiteral>(b).value;
    default: return false;
  }
}

// Walks over a pattern in the order in which CPython compiles it.
struct NameCollector {
  Names& names;
  Span& last;             // of the pattern that was walked to last, where CPython shows an error
  bool may_match_all = true;  // whether the pattern may be one that matches everything

  void add(const Identifier& name) {
    if (name.empty() || names.insert(name.text).second) return;
    refuse("multiple assignments to name '" + std::string(name.text) + "' in pattern", last);
  }
  void collect(const Pattern& pattern, bool all = true) {
    last = pattern.span;
    visit(pattern, NameCollector{names, last, all});
  }

  void operator()(const ValuePattern& p) {
    if (is<FString>(*p.value)) refuse("patterns may only match literals and attribute lookups", p.span);
  }
  void operator()(const SingletonPattern&) {}
  void operator()(const SequencePattern& p) {
    const auto starred = [](const Pattern* element) { return is<StarPattern>(*element); };
    if (std::count_if(p.elements.begin(), p.elements.end(), starred) > 1) refuse("multiple starred names in sequence pattern", p.span);
    for (const Pattern* element : p.elements) collect(*element);
  }
  void operator()(const StarPattern& p) { add(p.name); }
  void operator()(const MappingPattern& p) {
    for (const MappingPatternItem& item : p.items) {
      if (is<FString>(*item.key)) refuse("mapping pattern keys may only match literals and attribute lookups", p.span);
      for (const MappingPatternItem* before = p.items.data(); before != &item; ++before)
        if (same_literal(*before->key, *item.key)) throw LeftToCompiler{};
    }
    for (const MappingPatternItem& item : p.items) collect(*item.value);
    add(p.rest);
  }
  void operator()(const InstancePattern& p) {
    for (std::size_t i = 0; i < p.keywords.size(); ++i) check_repetition(p.keywords, i);
    for (const Pattern* argument : p.arguments) collect(*argument);
    for (const KeywordPattern& keyword : p.keywords) collect(*keyword.value);
  }
  void operator()(const CapturePattern& p) {
    if (p.pattern != nullptr) collect(*p.pattern, may_match_all);
    else if (!may_match_all) refuse_unreachable(p.name);
    add(p.name);
  }
  void operator()(const OrPattern& p);

  void refuse_unreachable(const Identifier& name) {
    const std::string what = name.empty() ? "wildcard" : "name capture '" + std::string(name.text) + "'";
    refuse(what + " makes remaining patterns unreachable", last);
  }

  // The error shows the second of two keywords with the same name.
  static void check_repetition(std::span<const KeywordPattern> keywords, std::size_t first) {
    for (std::size_t i = first + 1; i < keywords.size(); ++i)
      if (keywords[i].name.text == keywords[first].name.text)
        refuse("attribute name repeated in class pattern: " + std::string(keywords[i].name.text), keywords[i].value->span);
  }
};

void NameCollector::operator()(const OrPattern& p) {
  Names first;
  for (const Pattern* alternative : p.alternatives) {
    Names own;
    NameCollector{own, last}.collect(*alternative, may_match_all && alternative == p.alternatives.back());
    if (alternative == p.alternatives.front()) first = own;
    else if (own != first) refuse("alternative patterns bind different names", last);
  }
  for (std::string_view name : first) add({name, last});
}

}  // namespace

void check_cases(const MatchStmt& match) try {
  for (const MatchCase& part : match.cases) {
    Names names;
    Span walked;
    NameCollector{names, walked}.collect(*part.pattern, &part == &match.cases.back() || part.guard != nullptr);
  }
} catch (const LeftToCompiler&) {
}

}  // namespace tessera::lang
