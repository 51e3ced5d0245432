// Tree to bytecode.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "lang/compiler/chunk.h"
#include "lang/core/booking.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/source.h"
#include "lang/core/value.h"

namespace tessera::lang {

class Interpreter;

enum class CompileMode : uint8_t {
  Module,       // a file: returns None
  Interactive,  // an entry at the prompt: a last bare expression is shown (Intrinsic ShowResult)
  Expression,   // returns the value
};

struct CompileOptions {
  CompileOptions(CompileMode m) : mode(m) {}  // NOLINT: a mode alone is the usual way to say it
  CompileMode mode;
  // The names of the outermost code live in a mapping that its caller passes (kNamesInMapping): eval, exec and single mode.
  bool names_in_mapping = false;
  bool text_annotations = false;  // as under from __future__ import annotations
  bool annotations_written = false;  // the tree has their texts as literals already: it was made from objects, and its source is blank
  bool shows_values = false;      // single mode: expression statements of the outermost code go to sys.displayhook
  bool top_level_await = false;   // the outermost code may await: it is a coroutine's then
  int optimize = -1;  // 1: without assert statements and with __debug__ False; 2: without docstrings; -1: as the program is run
};

// Throws CompileError (resolve.h) where the text means nothing.
// With top_level_await the module's own code may await; if it does, its code is a coroutine's (kCoroutine).
Code* compile_tree(Interpreter& in, std::shared_ptr<const Source> source, ast::Tree& tree,
                   const CompileOptions& options);

// Parses, resolves, compiles; a mistake in the text is thrown as the SyntaxError (IndentationError …) of the language.
// Answers a Code object, owned.
Value compile_source(Interpreter& in, std::shared_ptr<const Source> source, const CompileOptions& options);

// What a text is parsed into, booked against the limit of memory; a safe point every now and then.
class BookedGrowth final : public Growth {
 public:
  explicit BookedGrowth(Interpreter& in) : in_(in) {}
  void grew(std::size_t bytes) override;
  std::size_t stack_left() const override;

 private:
  Interpreter& in_;
  Booking booked_;
  std::size_t bytes_ = 0;
};

// Folds operators on constants as the machine would compute them; Undefined where they are no constants, or where
// computing raises (then the program shall raise when it runs).
Value big_int_literal(Interpreter& in, const ast::BigIntLiteral& literal);  // ValueError beyond int_max_str_digits
Value fold_constant(Interpreter& in, const ast::Expr& expression);

}  // namespace tessera::lang
