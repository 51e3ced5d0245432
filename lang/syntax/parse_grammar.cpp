// Runs the grammar over the tokens and gathers nodes on a stack.
//
// One Control does it all: a rule remembers the height of the stack when it begins, cuts back to it when it fails (whatever
// rules inside it had succeeded), and, if it makes a node, takes what lies above it as its children when it succeeds.
// compile: few-inlines, templates (many templates, run once for a program's text)
#include "lang/syntax/parse_grammar.h"

#include <type_traits>
#include <vector>

#include "lang/syntax/grammar.h"

namespace tessera::lang {
namespace {

namespace p = tao::pegtl;

// Brackets and blocks are bounded by the lexer; a lambda's body is the one other thing that recurses.
constexpr int kMaxLambdas = 200;

struct TooDeep {};

struct State {
  Arena& arena;
  std::vector<SyntaxNode> stack;
  const char* furthest;
  const char* begin;
  const char* lowest;  // address that the C++ stack may reach; rules recurse with the text
  int lambdas = 0;
  std::size_t booked = 4096;  // nodes on the stack that the arena's owner knows of, or need not
};

enum class Makes : std::uint8_t { kNothing, kNode, kFold };

template <class Rule>
struct Trait {
  static constexpr Makes kMakes = Makes::kNothing;
  static constexpr Syntax kKind = Syntax::token;
};
template <Token... Kinds>
struct Trait<grammar::leaf<Kinds...>> {
  static constexpr Makes kMakes = Makes::kNode;
  static constexpr Syntax kKind = Syntax::token;
};
#define TS_NODE(rule)                             \
  template <>                                     \
  struct Trait<grammar::rule> {                   \
    static constexpr Makes kMakes = Makes::kNode; \
    static constexpr Syntax kKind = Syntax::rule; \
  };
#define TS_FOLD(rule)                             \
  template <>                                     \
  struct Trait<grammar::rule> {                   \
    static constexpr Makes kMakes = Makes::kFold; \
    static constexpr Syntax kKind = Syntax::rule; \
  };
TS_SYNTAX_NODES(TS_NODE)
TS_SYNTAX_FOLDS(TS_FOLD)
#undef TS_NODE
#undef TS_FOLD
// Leaves that keep apart what the same token means in different places, but need no kind: the token says enough.
template <>
struct Trait<grammar::arithmetic_operator> : Trait<grammar::leaf<>> {};
template <>
struct Trait<grammar::logical_operator> : Trait<grammar::leaf<>> {};
template <>
struct Trait<grammar::augmented_operator> : Trait<grammar::leaf<>> {};
template <>
struct Trait<grammar::sign_mark> : Trait<grammar::leaf<>> {};
template <>
struct Trait<grammar::target_name> : Trait<grammar::leaf<>> {};

void gather(State& state, Syntax kind, std::size_t mark, const char* first, const char* last) {
  constexpr std::size_t kNodes = 4096;
  if (state.stack.size() >= state.booked) {
    state.booked += kNodes;
    if (Growth* const growth = state.arena.growth()) growth->grew(kNodes * sizeof(SyntaxNode));
  }
  auto count = static_cast<std::uint32_t>(state.stack.size() - mark);
  SyntaxNode node{kind, static_cast<std::uint32_t>(first - state.begin), static_cast<std::uint32_t>(last - state.begin),
                  state.arena.copy(state.stack.data() + mark, count).data(), count};
  state.stack.resize(mark);
  state.stack.push_back(node);
}

template <class Rule>
struct Control : p::normal<Rule> {
  static constexpr bool enable = false;  // no start/success/failure: match below is all

  template <p::apply_mode A, p::rewind_mode M, template <typename...> class Action, template <typename...> class Ctrl,
            class Input>
  static bool match(Input& in, State& state) {
    const char* first = in.current();
    if constexpr (Trait<Rule>::kMakes != Makes::kNothing) {
      if (static_cast<const char*>(__builtin_frame_address(0)) < state.lowest) throw TooDeep{};
    }
    if (state.furthest < first) state.furthest = first;
    std::size_t mark = state.stack.size();
    constexpr bool kLambda = std::is_same_v<Rule, grammar::lambda>;
    if constexpr (kLambda) {
      if (++state.lambdas > kMaxLambdas) throw TooDeep{};
    }
    bool matched = p::normal<Rule>::template match<A, M, Action, Ctrl>(in, state);
    if constexpr (kLambda) --state.lambdas;
    if (!matched) {
      state.stack.resize(mark);
    } else if constexpr (Trait<Rule>::kMakes == Makes::kNode) {
      gather(state, Trait<Rule>::kKind, mark, first, in.current());
    } else if constexpr (Trait<Rule>::kMakes == Makes::kFold) {
      if (state.stack.size() - mark != 1) gather(state, Trait<Rule>::kKind, mark, first, in.current());
    }
    return matched;
  }
};

using Input = p::memory_input<p::tracking_mode::lazy, p::eol::lf, const char*>;

template <class Rule>
bool run(const Tokens& tokens, State& state, std::uint32_t begin = 0) {
  Input in(tokens.kinds.data() + begin, tokens.kinds.data() + tokens.kinds.size(), "");
  return p::parse<Rule, p::nothing, Control>(in, state);
}

bool run_part(const Tokens& tokens, State& state, GrammarPart part, std::uint32_t begin) {
  switch (part) {
    case GrammarPart::kBitOr: return run<grammar::bitor_expression>(tokens, state, begin);
    case GrammarPart::kDisjunction: return run<grammar::disjunction>(tokens, state, begin);
    case GrammarPart::kExpression: return run<grammar::expression>(tokens, state, begin);
    case GrammarPart::kNamedExpression: return run<grammar::named_expression>(tokens, state, begin);
    case GrammarPart::kPattern: return run<grammar::pattern>(tokens, state, begin);
    case GrammarPart::kOpenPattern: return run<grammar::open_pattern>(tokens, state, begin);
    case GrammarPart::kClauses: return run<grammar::comprehension_clauses>(tokens, state, begin);
    case GrammarPart::kStarExpressions: return run<grammar::star_expressions>(tokens, state, begin);
  }
  return false;
}

const char* lowest_address(const Arena& arena) {
  if (arena.growth() == nullptr) return nullptr;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::uintptr_t left = arena.growth()->stack_left();
  return left < here ? reinterpret_cast<const char*>(here - left) : nullptr;
}

}  // namespace

GrammarResult match_grammar(const Tokens& tokens, GrammarStart start, Arena& arena) {
  State state{arena, {}, tokens.kinds.data(), tokens.kinds.data(), lowest_address(arena)};
  GrammarResult result;
  try {
    bool matched = start == GrammarStart::kFile ? run<grammar::file>(tokens, state)
                                                : run<grammar::single_expression>(tokens, state);
    if (matched) result.root = arena.make<SyntaxNode>(state.stack.front());
  } catch (const TooDeep&) {
    result.too_deep = true;
  }
  result.furthest = static_cast<std::uint32_t>(state.furthest - state.begin);
  return result;
}

GrammarResult match_part(const Tokens& tokens, GrammarPart part, std::uint32_t begin, Arena& arena) {
  State state{arena, {}, tokens.kinds.data(), tokens.kinds.data(), lowest_address(arena)};
  GrammarResult result;
  try {
    if (run_part(tokens, state, part, begin)) result.root = arena.make<SyntaxNode>(state.stack.front());
  } catch (const TooDeep&) {
    result.too_deep = true;
  }
  result.furthest = static_cast<std::uint32_t>(state.furthest - state.begin);
  return result;
}

}  // namespace tessera::lang
