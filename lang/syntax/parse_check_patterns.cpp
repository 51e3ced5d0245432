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

struct NameCollector {
  Names& names;

  void add(const Identifier& name, Span span) {
    if (name.empty() || names.insert(name.text).second) return;
    refuse("multiple assignments to name '" + std::string(name.text) + "' in pattern", span);
  }
  void collect(const Pattern& pattern) { visit(pattern, *this); }

  void operator()(const ValuePattern&) {}
  void operator()(const SingletonPattern&) {}
  void operator()(const SequencePattern& p) {
    for (const Pattern* element : p.elements) collect(*element);
  }
  void operator()(const StarPattern& p) { add(p.name, p.span); }
  void operator()(const MappingPattern& p) {
    for (const MappingPatternItem& item : p.items) collect(*item.value);
    add(p.rest, p.span);
  }
  void operator()(const InstancePattern& p) {
    for (const Pattern* argument : p.arguments) collect(*argument);
    for (const KeywordPattern& keyword : p.keywords) collect(*keyword.value);
  }
  void operator()(const CapturePattern& p) {
    if (p.pattern != nullptr) collect(*p.pattern);
    add(p.name, p.span);
  }
  void operator()(const OrPattern& p);
};

// The name that makes a pattern match everything, "_" for the wildcard, empty if it can fail.
std::string_view catches_all(const Pattern& pattern) {
  if (auto* alternatives = try_as<OrPattern>(&pattern)) return catches_all(*alternatives->alternatives.back());
  auto* capture = try_as<CapturePattern>(&pattern);
  if (capture == nullptr) return {};
  if (capture->pattern != nullptr) return catches_all(*capture->pattern);
  return capture->name.empty() ? "_" : capture->name.text;
}

[[noreturn]] void refuse_unreachable(std::string_view name, Span span) {
  std::string what = name == "_" ? "wildcard" : "name capture '" + std::string(name) + "'";
  refuse(what + " makes remaining patterns unreachable", span);
}

void NameCollector::operator()(const OrPattern& p) {
  Names first;
  for (const Pattern* alternative : p.alternatives) {
    Names own;
    NameCollector{own}.collect(*alternative);
    bool last = alternative == p.alternatives.back();
    if (std::string_view name = catches_all(*alternative); !last && !name.empty()) {
      refuse_unreachable(name, alternative->span);
    }
    if (alternative == p.alternatives.front()) first = own;
    else if (own != first) refuse("alternative patterns bind different names", p.span);
  }
  for (std::string_view name : first) add({name, p.span}, p.span);
}

}  // namespace

void check_cases(const MatchStmt& match) {
  for (const MatchCase& part : match.cases) {
    Names names;
    NameCollector{names}.collect(*part.pattern);
    bool last = &part == &match.cases.back();
    std::string_view name = catches_all(*part.pattern);
    if (!last && part.guard == nullptr && !name.empty()) refuse_unreachable(name, part.pattern->span);
  }
}

}  // namespace tessera::lang
