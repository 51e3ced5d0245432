// The tensors that an error is about, under the names that they have where it happened.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/vm/provenance.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// One tensor, or the tensor of an array.
struct Operand {
  Value value;
  const Tensor* tensor = nullptr;
  std::string name;                       // "a", "self.weight", "0.weight"; empty: nobody knows
  std::string origin;                     // "made at train.tsr:12"; empty: nobody knows
  std::optional<Span> span;               // where it stands in the failing expression
  const lang::ast::Expr* expr = nullptr;  // there, if it is one of its own
  bool needs_brackets = false;            // `a + b` before `.T`
  bool of_layer = false;                  // a parameter or buffer
  bool is_array = false;
};

// The innermost layer whose method runs, with its place in those around it.
struct RunningLayer {
  Value layer;       // Undefined: none
  std::string path;  // as in a state dict: "encoder.0"
};

struct Refusal {
  Interpreter& in;
  std::vector<Operand> operands;
  RunningLayer running;
  std::optional<lang::FailingExpression> failing;  // of the program itself
  bool in_library = false;  // it failed in what the program called, not in an operation of its own

  // "Linear", or empty.
  std::string layer_class() const;
};

// A tensor, an array, or a list or tuple that begins with some.
bool holds_tensors(Interpreter& in, const Value& v);
Refusal describe_refusal(Interpreter& in, std::span<const Value> operands);
// A variable of the program whose value `wanted` accepts, the innermost function's first: "w: float32[3], made at f.tsr:3".
std::string describe_variable(Interpreter& in, bool (*wanted)(const Tensor&, const std::string& message),
                              const std::string& message);
// The failing expression with something around the argument that is `v`; empty: there is none.
std::string with_argument_replaced(Interpreter& in, const Value& v, std::string_view before, std::string_view after);

// The failing call with a keyword under another name; empty: it has none such.
std::string with_keyword_renamed(Interpreter& in, std::string_view wrong, std::string_view right);

// How an interpreter's layers show their parameters to whoever may not run scripts.
void show_parameters(Interpreter& in);

}  // namespace tessera::stdlib
