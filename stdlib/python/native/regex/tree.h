// The tree of a pattern, between parse.cpp and compile.cpp.
#pragma once

#include <memory>
#include <vector>

#include "stdlib/python/native/regex/program.h"

namespace tessera::stdlib::regex {

enum class Kind : uint8_t {
  Empty,
  Char,
  Any,
  AnyAll,
  Set,
  Sequence,
  Choice,
  Repeat,
  Group,
  LookAhead,
  LookBehind,
  Atomic,
  BackRef,
  Conditional,
  Assertion,
};

enum class Greed : uint8_t { Greedy, Lazy, Possessive };

struct Node {
  Kind kind = Kind::Empty;
  Greed greed = Greed::Greedy;
  bool negate = false;       // look-around
  bool ignore_case = false;  // BackRef
  Op assertion = Op::Match;
  uint32_t value = 0;  // character, set, group
  uint32_t min = 0, max = 0;
  std::vector<std::unique_ptr<Node>> children;
};
using NodePtr = std::unique_ptr<Node>;

struct Tree {
  NodePtr root;
  std::vector<CharSet> sets;
  std::vector<std::pair<std::string, uint32_t>> names;
  uint32_t groups = 0;
  uint32_t flags = 0;
  bool has_backrefs = false;
};

Tree parse(std::u32string_view pattern, uint32_t flags, const CharacterTypes& types, bool bytes,
           std::vector<Warning>& warnings);

// Least and greatest number of characters that a node can match.
struct Width {
  uint64_t min, max;
};
Width width(const Node& node, const std::vector<Width>& groups);
constexpr uint64_t kWide = uint64_t{1} << 40;

}  // namespace tessera::stdlib::regex
