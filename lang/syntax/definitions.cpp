// compile: small (runs after an error)
#include "lang/syntax/definitions.h"

#include <algorithm>
#include <set>

#include "lang/syntax/children.h"

namespace tessera::lang {

using namespace ast;

namespace {

// What may reach a place: offsets of assignments, and kOutside for what the scope began with. Empty: nothing comes here.
using Reaching = std::set<uint32_t>;
constexpr uint32_t kOutside = UINT32_MAX;

bool holds(Span span, uint32_t place) { return span.begin <= place && place < span.end; }

void join(Reaching& into, const Reaching& other) { into.insert(other.begin(), other.end()); }

// The place of the name among the targets of an assignment, or kOutside.
uint32_t target_place(const Expr* target, std::string_view name) {
  if (target == nullptr) return kOutside;
  if (const auto* plain = try_as<Name>(target)) return plain->name == name ? plain->span.begin : kOutside;
  if (const auto* starred = try_as<Starred>(target)) return target_place(starred->value, name);
  ExprList elements;
  if (const auto* tuple = try_as<Tuple>(target)) elements = tuple->elements;
  if (const auto* list = try_as<List>(target)) elements = list->elements;
  for (const Expr* each : elements)
    if (const uint32_t place = target_place(each, name); place != kOutside) return place;
  return kOutside;
}

uint32_t capture_place(const Pattern* pattern, std::string_view name);

template <class List>
uint32_t first_capture(const List& patterns, std::string_view name) {
  for (const Pattern* p : patterns)
    if (const uint32_t place = capture_place(p, name); place != kOutside) return place;
  return kOutside;
}

uint32_t capture_place(const Pattern* pattern, std::string_view name) {
  if (pattern == nullptr) return kOutside;
  const auto named = [&](const Identifier& id) { return id.text == name ? id.span.begin : kOutside; };
  if (const auto* capture = try_as<CapturePattern>(pattern))
    return std::min(named(capture->name), capture_place(capture->pattern, name));
  if (const auto* star = try_as<StarPattern>(pattern)) return named(star->name);
  if (const auto* sequence = try_as<SequencePattern>(pattern)) return first_capture(sequence->elements, name);
  if (const auto* either = try_as<OrPattern>(pattern)) return first_capture(either->alternatives, name);
  if (const auto* mapping = try_as<MappingPattern>(pattern)) {
    uint32_t place = named(mapping->rest);
    for (const MappingPatternItem& item : mapping->items) place = std::min(place, capture_place(item.value, name));
    return place;
  }
  if (const auto* instance = try_as<InstancePattern>(pattern)) {
    uint32_t place = first_capture(instance->arguments, name);
    for (const KeywordPattern& k : instance->keywords) place = std::min(place, capture_place(k.value, name));
    return place;
  }
  return kOutside;
}

std::string_view bound_name(const ImportAlias& alias, bool from) {
  if (!alias.as_name.empty()) return alias.as_name.text;
  return from ? alias.name.text : alias.name.text.substr(0, alias.name.text.find('.'));
}

// `name := ` somewhere in an expression, which is not in a function of its own.
uint32_t walrus_place(Expr& e, std::string_view name) {
  if (is<Lambda>(e)) return kOutside;
  uint32_t place = kOutside;
  if (const auto* walrus = try_as<Walrus>(&e); walrus != nullptr && walrus->target.text == name)
    place = walrus->target.span.begin;
  each_expression(e, [&](Expr& child) { place = std::min(place, walrus_place(child, name)); });
  return place;
}

// One scope's statements, walked as they run, with what may have assigned the name so far.
class Flow {
 public:
  Flow(std::string_view name, uint32_t place, Reaching* all) : name_(name), place_(place), all_(all) {}

  void block(Block statements, Reaching& state) {
    for (Stmt* s : statements) {
      may_raise(state);
      statement(*s, state);
    }
  }

  const Reaching& found() const { return found_; }
  bool gave_up() const { return steps_ > kMostSteps; }

 private:
  // Loops in loops are walked twice each: a bound for what nobody writes.
  static constexpr uint32_t kMostSteps = 200'000;

  struct Loop {
    Reaching breaks, continues;
  };

  // A handler around may find it so.
  void may_raise(const Reaching& state) {
    if (raising_ != nullptr) join(*raising_, state);
  }
  void look(Span span, const Reaching& state) {
    if (holds(span, place_)) join(found_, state);
  }
  void look(Expr* e, Reaching& state) {
    if (e == nullptr) return;
    look(e->span, state);
    if (const uint32_t at = walrus_place(*e, name_); at != kOutside) add(state, at);
  }
  void add(Reaching& state, uint32_t at) {
    if (state.empty()) return;  // nothing comes here
    state.insert(at);
    if (all_ != nullptr) all_->insert(at);
  }
  void set(Reaching& state, uint32_t at) {
    if (at == kOutside || state.empty()) return;
    add(state, at);
    state = {at};
  }

  void statement(Stmt& s, Reaching& state) {
    if (++steps_ > kMostSteps) return;
    if (auto* branch = try_as<IfStmt>(&s)) return if_statement(*branch, state);
    if (auto* loop = try_as<WhileStmt>(&s)) {
      const auto* truth = try_as<Constant>(loop->condition);
      const bool endless = truth != nullptr && truth->value == ConstantValue::kTrue;
      return loop_statement(loop->condition, nullptr, loop->body, loop->else_body, endless, state);
    }
    if (auto* loop = try_as<ForStmt>(&s)) {
      look(loop->iterable, state);
      return loop_statement(nullptr, loop->target, loop->body, loop->else_body, false, state);
    }
    if (auto* with = try_as<WithStmt>(&s)) return with_statement(*with, state);
    if (auto* tried = try_as<TryStmt>(&s)) return try_statement(*tried, state);
    if (auto* match = try_as<MatchStmt>(&s)) return match_statement(*match, state);
    if (is<FunctionStmt>(s) || is<ClassStmt>(s)) {
      each_expression(s, [&](Expr& e) { look(&e, state); });
    } else {
      look(s.span, state);
      each_expression(s, [&](Expr& e) {
        if (const uint32_t at = walrus_place(e, name_); at != kOutside) add(state, at);
      });
    }
    simple(s, state);
  }

  void simple(Stmt& s, Reaching& state) {
    if (const auto* assign = try_as<AssignStmt>(&s)) {
      for (const Expr* target : assign->targets) set(state, target_place(target, name_));
    } else if (const auto* annotated = try_as<AnnotatedAssignStmt>(&s)) {
      if (annotated->value != nullptr) set(state, target_place(annotated->target, name_));
    } else if (const auto* removal = try_as<DeleteStmt>(&s)) {
      for (const Expr* target : removal->targets)
        if (target_place(target, name_) != kOutside) state = {kOutside};
    } else if (const auto* function = try_as<FunctionStmt>(&s)) {
      if (function->name.text == name_) set(state, function->name.span.begin);
    } else if (const auto* type = try_as<ClassStmt>(&s)) {
      if (type->name.text == name_) set(state, type->name.span.begin);
    } else if (const auto* import = try_as<ImportStmt>(&s)) {
      for (const ImportAlias& alias : import->names)
        if (bound_name(alias, false) == name_) set(state, alias.span.begin);
    } else if (const auto* from = try_as<ImportFromStmt>(&s)) {
      for (const ImportAlias& alias : from->names)
        if (bound_name(alias, true) == name_) set(state, alias.span.begin);
      if (from->star) add(state, kOutside);
    } else if (is<ReturnStmt>(s) || is<RaiseStmt>(s)) {
      state.clear();
    } else if ((is<BreakStmt>(s) || is<ContinueStmt>(s)) && loop_ != nullptr) {
      join(is<BreakStmt>(s) ? loop_->breaks : loop_->continues, state);
      state.clear();
    }
  }

  void if_statement(IfStmt& s, Reaching& state) {
    Reaching after;
    for (const IfArm& arm : s.arms) {
      look(arm.condition, state);
      Reaching taken = state;
      block(arm.body, taken);
      join(after, taken);
    }
    block(s.else_body, state);
    join(state, after);
  }

  // Twice: what an iteration assigns reaches the next one.
  void loop_statement(Expr* condition, Expr* target, Block body, Block else_body, bool endless, Reaching& state) {
    Loop here, *const outer = loop_;
    Reaching head = state;
    for (size_t before = SIZE_MAX; before != head.size() && !gave_up();) {
      before = head.size();
      may_raise(head);
      if (condition != nullptr) look(condition, head);
      Reaching inner = head;
      if (target != nullptr) {
        if (holds(target->span, place_)) join(found_, inner);
        set(inner, target_place(target, name_));
      }
      loop_ = &here;
      block(body, inner);
      loop_ = outer;
      join(head, inner);
      join(head, here.continues);
    }
    state = endless ? Reaching() : head;
    block(else_body, state);
    join(state, here.breaks);
  }

  void with_statement(WithStmt& s, Reaching& state) {
    for (const WithItem& item : s.items) {
      look(item.context, state);
      if (item.target != nullptr) set(state, target_place(item.target, name_));
    }
    block(s.body, state);
    may_raise(state);
  }

  // A handler may find the name as it was before any statement of the block.
  void try_statement(TryStmt& s, Reaching& state) {
    Reaching anywhere, *const outer = raising_;
    raising_ = &anywhere;
    block(s.body, state);
    raising_ = outer;
    may_raise(anywhere);
    Reaching after = anywhere;
    join(after, state);
    block(s.else_body, state);
    join(after, state);
    for (const ExceptHandler& handler : s.handlers) {
      Reaching caught = anywhere;
      if (handler.type != nullptr) look(handler.type, caught);
      if (handler.name.text == name_) set(caught, handler.name.span.begin);
      block(handler.body, caught);
      if (handler.name.text == name_ && !caught.empty()) caught = {kOutside};
      join(state, caught);
      join(after, caught);
    }
    if (s.finally_body.empty()) return;
    block(s.finally_body, after);  // also on the way out
    block(s.finally_body, state);
  }

  void match_statement(MatchStmt& s, Reaching& state) {
    look(s.subject, state);
    Reaching after = state;
    for (const MatchCase& c : s.cases) {
      Reaching taken = state;
      set(taken, capture_place(c.pattern, name_));
      if (c.guard != nullptr) look(c.guard, taken);
      block(c.body, taken);
      join(after, taken);
    }
    state = after;
  }

  std::string_view name_;
  uint32_t place_;
  Reaching found_;
  Reaching* all_;                // every assignment that was passed
  Reaching* raising_ = nullptr;  // what a handler may find; null: there is none around
  Loop* loop_ = nullptr;
  uint32_t steps_ = 0;
};

// The scopes around a place, from the module inwards.
struct ScopeAt {
  enum class Kind { kModule, kFunction, kClass, kLambda, kComprehension } kind;
  Block body{};
  Parameters parameters{};
  Comprehension* loops = nullptr;
};

void scopes_in(Expr& e, uint32_t place, std::vector<ScopeAt>& scopes) {
  if (!holds(e.span, place)) return;
  if (auto* lambda = try_as<Lambda>(&e); lambda != nullptr && holds(lambda->body->span, place))
    scopes.push_back({ScopeAt::Kind::kLambda, {}, lambda->parameters});
  if (auto* loops = try_as<Comprehension>(&e); loops != nullptr && !holds(loops->clauses[0].iterable->span, place))
    scopes.push_back({ScopeAt::Kind::kComprehension, {}, {}, loops});
  each_expression(e, [&](Expr& child) { scopes_in(child, place, scopes); });
}

void scopes_in(Block block, uint32_t place, std::vector<ScopeAt>& scopes) {
  for (Stmt* s : block) {
    each_expression(*s, [&](Expr& e) { scopes_in(e, place, scopes); });
    if (!holds(s->span, place)) continue;
    if (auto* function = try_as<FunctionStmt>(s)) {
      if (!function->body.empty() && place >= function->body[0]->span.begin)
        scopes.push_back({ScopeAt::Kind::kFunction, function->body, function->parameters});
    } else if (auto* type = try_as<ClassStmt>(s)) {
      if (!type->body.empty() && place >= type->body[0]->span.begin)
        scopes.push_back({ScopeAt::Kind::kClass, type->body});
    }
    each_block(*s, [&](Block inner) { scopes_in(inner, place, scopes); });
  }
}

bool has_parameter(Parameters parameters, std::string_view name) {
  return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name.text == name; });
}

// `global name` or `nonlocal name` in the block, not in the functions in it; `deep`: there too.
bool declares_outer(Block block, std::string_view name, bool deep) {
  bool found = false;
  for (Stmt* s : block) {
    const auto look = [&](std::span<Identifier> names) {
      found |= std::any_of(names.begin(), names.end(), [&](const Identifier& id) { return id.text == name; });
    };
    if (const auto* global = try_as<GlobalStmt>(s)) look(global->names);
    if (const auto* nonlocal = try_as<NonlocalStmt>(s)) look(nonlocal->names);
    if (!deep && (is<FunctionStmt>(*s) || is<ClassStmt>(*s))) continue;
    each_block(*s, [&](Block inner) { found |= declares_outer(inner, name, deep); });
  }
  return found;
}

struct Walked {
  Reaching found, all;
  bool gave_up = false;
};

Walked walk(Block body, std::string_view name, uint32_t place) {
  Walked result;
  Flow flow(name, place, &result.all);
  Reaching state{kOutside};
  flow.block(body, state);
  result.found = place == kEndOfText ? state : flow.found();
  result.gave_up = flow.gave_up();
  return result;
}

void take_places(Origin& origin, const Reaching& reaching) {
  for (const uint32_t at : reaching)
    if (at != kOutside) origin.places.push_back(at);
}

// The comprehension's own variable, if the name is one.
bool of_comprehension(const Comprehension& loops, std::string_view name, Origin& origin) {
  for (const ForClause& clause : loops.clauses)
    if (const uint32_t at = target_place(clause.target, name); at != kOutside) {
      origin.of_comprehension = true;
      origin.places.push_back(at);
      return true;
    }
  return false;
}

}  // namespace

Origin origin_of(Tree& tree, std::string_view name, uint32_t place) {
  std::vector<ScopeAt> scopes;
  scopes_in(tree.body, place, scopes);
  bool own = true;  // the scope in which the place stands, not one around it
  for (size_t i = scopes.size(); i-- > 0;) {
    const ScopeAt& scope = scopes[i];
    Origin origin;
    if (scope.kind == ScopeAt::Kind::kComprehension) {
      if (of_comprehension(*scope.loops, name, origin)) return origin;
      continue;
    }
    if (scope.kind == ScopeAt::Kind::kLambda) {
      origin.argument = own;
      origin.unknown = !own;
      if (has_parameter(scope.parameters, name)) return origin;
      own = false;
      continue;
    }
    if (scope.kind == ScopeAt::Kind::kClass && !own) continue;
    if (declares_outer(scope.body, name, false)) {
      origin.unknown = true;
      return origin;
    }
    const bool parameter = has_parameter(scope.parameters, name);
    const Walked walked = walk(scope.body, name, place);
    if (!parameter && walked.all.empty()) {
      own = false;
      continue;
    }
    // A function around this one may have gone on since: any of its assignments can be the last.
    origin.unknown = walked.gave_up || (!own && parameter) || declares_outer(scope.body, name, true);
    origin.argument = parameter && own && walked.found.contains(kOutside);
    take_places(origin, own ? walked.found : walked.all);
    return origin;
  }
  Origin origin;
  origin.of_module = true;
  return origin;
}

Origin origin_in_module(Tree& tree, std::string_view name, uint32_t place) {
  Origin origin;
  const Walked walked = walk(tree.body, name, place);
  origin.of_module = true;
  origin.unknown = walked.gave_up || declares_outer(tree.body, name, true);
  origin.before = walked.found.empty() || walked.found.contains(kOutside);
  take_places(origin, walked.found);
  return origin;
}

}  // namespace tessera::lang
