// What a failing instruction was about, in the program's own words: the expressions of its operands, and the lines where
// their values come from. All of it is found when something has failed, from the text and the running frames; no script runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/parse.h"
#include "lang/vm/frame.h"

namespace tessera::lang {

class Interpreter;
struct Dict;
struct Str;

// A source and its tree.
struct ParsedSource {
  std::shared_ptr<const Source> source;
  std::unique_ptr<ast::Tree> tree;
};

// The names of a program's module: dict_set() and its like tell Provenance of them, statements of the text do not.
void watch_names(Dict* names);

// One per machine: the trees that were asked for lately, and the blocks that a session has run.
class Provenance {
 public:
  // Null: it does not parse, or is larger than what anybody has written: nobody has paid for its tree.
  std::shared_ptr<const ParsedSource> parsed(const Source& source);

  // A block has run up to `end` (kEndOfText: to its end).
  void add_block(std::shared_ptr<const Source> source, uint32_t end);
  struct Block {
    std::shared_ptr<const Source> source;
    uint32_t end;
  };
  const std::vector<Block>& blocks() const { return blocks_; }
  // How many blocks ran before the one at blocks()[0].
  uint64_t forgotten_blocks() const { return forgotten_; }

  // A module's variable was set by something else than a statement of its text: setattr, globals()[...], the host. No
  // assignment of a block that had begun by then can be named for it. Without a name: any of its variables.
  void note_write(const Dict* names, std::string_view name);
  void note_writes(const Dict* names) { note_write(names, ""); }
  // Can the variable still have what a statement of block `number`, counted from the session's begin, gave it?
  bool may_have_kept(const Dict* names, std::string_view name, uint64_t number) const;

  // Attributes that an object has besides its own ones, without running a script; null: none are known. A layer's
  // parameters, for example.
  using FindAttribute = Value (*)(Interpreter& in, const Value& object, Str* name);
  FindAttribute find_attribute = nullptr;

 private:
  static constexpr size_t kMostTrees = 4, kMostBlocks = 4000, kLargestText = 512 << 10;
  std::vector<std::shared_ptr<const ParsedSource>> trees_;  // the latest last
  std::vector<Block> blocks_;
  uint64_t forgotten_ = 0;
  static constexpr size_t kMostWrites = 4096;
  // The number of the block that ran at the time. A dict that is gone may be taken for another one: that only says less.
  std::map<std::pair<const Dict*, std::string>, uint64_t, std::less<>> writes_;
};

// One operand of a failing expression.
struct OperandText {
  const ast::Expr* expr = nullptr;  // null: the left side of a longer chain, a * b of a * b * c
  Span span;
  std::string_view keyword;  // of an argument that was passed by name
};

struct FailingExpression {
  enum class Kind { kCall, kBinary, kAugmented, kUnary, kCompare, kSubscript, kAttribute, kName };
  Kind kind = Kind::kCall;
  const Frame* frame = nullptr;
  std::shared_ptr<const ParsedSource> parsed;
  Span span;                            // of the whole expression
  const ast::Expr* whole = nullptr;     // null for `x += y`
  std::vector<OperandText> operands;    // in order; of a call, the arguments
  const ast::Call* call = nullptr;      // of kCall
  const ast::Expr* receiver = nullptr;  // of `receiver.method(...)`, which may be a module

  std::string_view text(Span part) const { return parsed->source->text(part); }
  // The whole text with parts of it replaced.
  struct Change {
    Span span;
    std::string text;
  };
  std::string rewritten(std::vector<Change> changes) const;
};

// A module of the library, whose frames are not the program's.
bool is_library(const Frame& frame);
// The innermost frame of the program itself, from `frame` outwards; null: there is none.
const Frame* program_frame(const Frame* frame);
Span current_span(const Frame& frame);

// The tree of its source, where enough of the stack is left to walk it; null: not.
std::shared_ptr<const ParsedSource> parsed_source(Interpreter& in, const Source& source);

// What the frame's current instruction computes; nothing for imports, with statements and the like.
std::optional<FailingExpression> failing_expression(Interpreter& in, const Frame& frame);

// The value of a variable, or of an expression of variables, plain attributes and constant indices; Undefined: not known.
Value value_of_variable(Interpreter& in, const Frame& frame, std::string_view name);
Value known_value(Interpreter& in, const Frame& frame, const ast::Expr& expr);

// "made at f.tsr:12", "made at f.tsr:12 or 15", "passed at f.tsr:30"; empty where that cannot be known. `value`: what the
// expression is known to be.
std::string came_from(Interpreter& in, const Frame& frame, const ast::Expr& expr, const Value& value);
// The same of a variable as it is at the frame's current instruction.
std::string came_from(Interpreter& in, const Frame& frame, std::string_view variable, const Value& value);
// The one assignment that gave a name its value: its right side, or null.
const ast::Expr* assigned_value(const FailingExpression& failing, const ast::Expr& name);

// The expression on one line, the middle left out where it is long.
std::string shown_expression(std::string_view text);

}  // namespace tessera::lang
