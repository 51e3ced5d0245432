// Hints for what the language refuses: misspelt keywords, tensors that are called, a forgotten self, modules that are not there.
// compile: small (runs after an error)
#include <algorithm>

#include "lang/core/native.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/syntax/children.h"
#include "lang/types/list.h"
#include "lang/types/tuple.h"
#include "lang/vm/frame.h"
#include "lang/vm/vm.h"
#include "stdlib/torch/error_hints.h"

namespace tessera::stdlib {
namespace {

using namespace lang;
using ast::Attribute;
using ast::Binary;
using ast::Call;
using ast::Expr;
using ast::is;
using ast::Keyword;
using ast::try_as;

bool says(std::string_view message, std::string_view part) { return message.find(part) != message.npos; }

// The expression that failed, which is looked for when a hint first asks: most messages fit none.
class LateExpression {
 public:
  LateExpression(Interpreter& in, const Frame& frame) : in_(in), frame_(frame) {}
  explicit operator bool() const { return found().has_value(); }
  const FailingExpression* operator->() const { return &*found(); }
  const FailingExpression& operator*() const { return *found(); }

 private:
  const std::optional<FailingExpression>& found() const {
    if (!sought_) found_ = failing_expression(in_, frame_);
    sought_ = true;
    return found_;
  }
  Interpreter& in_;
  const Frame& frame_;
  mutable bool sought_ = false;
  mutable std::optional<FailingExpression> found_;
};

struct Failure {
  Interpreter& in;
  const Frame& frame;  // of the program
  const Value& exception;
  const std::string& message;
  LateExpression failing;

  std::string text(Span span) const { return std::string(failing->text(span)); }
};

std::string quoted_part(const std::string& message, size_t nth) {
  size_t at = 0;
  for (size_t i = 0;; ++i) {
    const size_t begin = message.find('\'', at);
    const size_t end = begin == message.npos ? begin : message.find('\'', begin + 1);
    if (end == message.npos) return "";
    if (i == nth) return message.substr(begin + 1, end - begin - 1);
    at = end + 1;
  }
}

// The parameters by name of what is called, of a class those of its __init__.
std::vector<std::string_view> keyword_names(Interpreter& in, Value callee) {
  if (callee.is_object() && callee.as_object()->kind == ObjectKind::Type)
    callee = type_lookup(object_cast<Type>(callee), intern(in, "__init__"));
  if (callee.is_object() && callee.as_object()->kind == ObjectKind::BoundMethod)
    callee = object_cast<BoundMethod>(callee)->function;
  std::vector<std::string_view> names;
  if (!is_function(callee)) return names;
  const Code& code = *as_function(callee)->code;
  for (size_t i = code.positional_only; i < code.positional + code.keyword_only && i < code.parameters.size(); ++i)
    names.push_back(code.parameters[i]->view());
  return names;
}

std::string misspelt_keyword(const Failure& f) {
  if (!says(f.message, "got an unexpected keyword argument") || !f.failing || f.failing->call == nullptr) return "";
  const std::string wrong = quoted_part(f.message, 0);
  const Value callee = known_value(f.in, f.frame, *f.failing->call->callee);
  const std::string best = suggest_name(wrong, keyword_names(f.in, callee));
  for (const Keyword& k : f.failing->call->keywords)
    if (!best.empty() && k.name.text == wrong)
      return "hint: " + f.failing->rewritten({{k.name.span, best}}) + " would fit";
  return best.empty() ? "" : "hint: did you mean '" + best + "'?";
}

// `x(0)` for x[0], and `x.T()` for x.T.
std::string called_a_value(const Failure& f) {
  if (!says(f.message, "object is not callable") || !f.failing || f.failing->call == nullptr) return "";
  const Call& call = *f.failing->call;
  const std::string callee = f.text(call.callee->span);
  if (call.arguments.empty() && call.keywords.empty() && is<Attribute>(*call.callee))
    return "hint: " + callee + " is a value, not a method: " + callee + " without brackets would fit";
  const std::string type = quoted_part(f.message, 0);
  const bool indexed = type == "Tensor" || type == "list" || type == "tuple" || type == "dict" ||
                       type == "torch.Size" || type == "Size" || type == "ndarray";
  if (!indexed || call.arguments.empty() || !call.keywords.empty()) return "";
  const Span inside{call.arguments.front()->span.begin, call.arguments.back()->span.end};
  return "hint: " + callee + "[" + f.text(inside) + "] would fit";
}

// A list and a tensor: the list becomes one.
std::string list_and_tensor(const Failure& f) {
  const bool joined = says(f.message, "can only concatenate list (not \"Tensor\") to list");
  const bool refused =
      says(f.message, "unsupported operand type(s)") && says(f.message, "'list'") && says(f.message, "'Tensor'");
  if ((!joined && !refused) || !f.failing || f.failing->operands.size() != 2) return "";
  for (const OperandText& operand : f.failing->operands) {
    if (operand.expr == nullptr) continue;
    const Value known = known_value(f.in, f.frame, *operand.expr);
    if (is_list(known) || is<ast::List>(*operand.expr))
      return "hint: " + f.failing->rewritten({{operand.span, "torch.tensor(" + f.text(operand.span) + ")"}}) +
             " would fit";
  }
  return "";
}

bool is_number(const Value& v) { return v.is_int() || v.is_float(); }

// `'n = ' + n`: a number is no text.
std::string text_and_number(const Failure& f) {
  if (!says(f.message, "can only concatenate str (not") || !f.failing || f.failing->operands.size() != 2) return "";
  const OperandText& right = f.failing->operands[1];
  if (right.expr == nullptr || !is_number(known_value(f.in, f.frame, *right.expr))) return "";
  return "hint: " + f.failing->rewritten({{right.span, "str(" + f.text(right.span) + ")"}}) + " would fit";
}

// `for i in n`.
std::string number_as_range(const Failure& f) {
  if (!says(f.message, "'int' object is not iterable") || !f.failing) return "";
  const bool name = f.failing->kind == FailingExpression::Kind::kName;
  const bool length = f.failing->call != nullptr && f.text(f.failing->call->callee->span) == "len";
  if (!name && !length) return "";
  return "hint: for ... in range(" + f.text(f.failing->span) + ") would fit";
}

std::string index_of_list(const Failure& f) {
  if (!says(f.message, "index out of range") || !f.failing || f.failing->kind != FailingExpression::Kind::kSubscript)
    return "";
  const Value known = known_value(f.in, f.frame, *f.failing->operands[0].expr);
  if (!is_list(known) && !is_tuple(known)) return "";
  const uint32_t size = is_list(known) ? as_list(known)->size : as_tuple(known)->size;
  const std::string name = f.text(f.failing->operands[0].span);
  if (size == 0) return "hint: " + name + " is empty";
  return "hint: " + name + " has " + std::to_string(size) + (size == 1 ? " item" : " items") + ", the last is " + name +
         "[" + std::to_string(size - 1) + "]";
}

// An attribute that a tensor of the list or array has.
std::string attribute_of_tensor(const Failure& f) {
  const bool list = says(f.message, "'list' object has no attribute"),
             array = says(f.message, "ndarray' object has no attribute");
  if ((!list && !array) || !f.failing) return "";
  const std::string name = quoted_part(f.message, 1);
  if (f.in.extension == nullptr) return "";  // nobody has imported torch
  Type* const tensor = torch_state(f.in).tensor;
  if (tensor == nullptr || type_lookup(tensor, intern(f.in, name)).is_undefined()) return "";
  const Attribute* attribute = try_as<Attribute>(f.failing->whole);
  if (attribute == nullptr && f.failing->call != nullptr) attribute = try_as<Attribute>(f.failing->call->callee);
  if (attribute == nullptr || attribute->name.text != name) return "";
  const std::string object = f.text(attribute->object->span);
  const std::string made = (list ? "torch.tensor(" : "torch.from_numpy(") + object + ")";
  return "hint: " + f.failing->rewritten({{attribute->object->span, made}}) + " would fit";
}

bool returns_a_value(ast::Block block) {
  bool found = false;
  for (ast::Stmt* s : block) {
    if (ast::is<ast::FunctionStmt>(*s) || ast::is<ast::ClassStmt>(*s)) continue;
    const auto* answer = try_as<ast::ReturnStmt>(s);
    found |= answer != nullptr && answer->value != nullptr;
    ast::each_block(*s, [&](ast::Block inner) { found |= returns_a_value(inner); });
  }
  return found;
}

const ast::FunctionStmt* function_at(ast::Block block, uint32_t place) {
  const ast::FunctionStmt* found = nullptr;
  for (ast::Stmt* s : block) {
    if (place < s->span.begin || place >= s->span.end) continue;
    if (auto* function = try_as<ast::FunctionStmt>(s); function != nullptr && function->span.begin == place)
      return function;
    ast::each_block(*s, [&](ast::Block inner) { found = found != nullptr ? found : function_at(inner, place); });
  }
  return found;
}

// A function of the program that has no `return` with a value.
std::string forgotten_return(const Failure& f, Value callee) {
  if (callee.is_object() && callee.as_object()->kind == ObjectKind::Instance)
    callee = type_lookup(callee.as_object()->type, intern(f.in, "forward"));
  if (callee.is_object() && callee.as_object()->kind == ObjectKind::BoundMethod)
    callee = object_cast<BoundMethod>(callee)->function;
  if (!is_function(callee)) return "";
  const Code& code = *as_function(callee)->code;
  if (code.source->name().starts_with("stdlib/") || (code.code_flags & (kGenerator | kLambda)) != 0) return "";
  const auto parsed = parsed_source(f.in, *code.source);
  const ast::FunctionStmt* function = parsed == nullptr ? nullptr : function_at(parsed->tree->body, code.span.begin);
  if (function == nullptr || returns_a_value(function->body)) return "";
  return "hint: " + std::string(code.name->view()) + " has no return: " + code.source->name() + ":" +
         std::to_string(code.source->line_number(code.span.begin));
}

// What made the None that an expression is: a function without an answer, or a method that changes its object.
std::string none_of(const Failure& f, const Expr& object) {
  const bool name = ast::is<ast::Name>(object);
  if (name && !known_value(f.in, f.frame, object).is_none()) return "";
  const auto* call = try_as<Call>(name ? assigned_value(*f.failing, object) : &object);
  if (call == nullptr) return "";
  if (const auto* method = try_as<Attribute>(call->callee)) {
    constexpr std::string_view kChanging[] = {"sort", "reverse", "append", "extend", "insert", "update", "shuffle"};
    const bool changes =
        std::find(std::begin(kChanging), std::end(kChanging), method->name.text) != std::end(kChanging);
    if (changes && is_list(known_value(f.in, f.frame, *method->object)))
      return "hint: " + f.text(call->span) + " changes its object and returns None";
  }
  return forgotten_return(f, known_value(f.in, f.frame, *call->callee));
}

std::string none_for_a_value(const Failure& f) {
  if (!says(f.message, "'NoneType'") || !f.failing) return "";
  std::vector<const Expr*> candidates{f.failing->receiver};
  for (const OperandText& operand : f.failing->operands) candidates.push_back(operand.expr);
  for (const Expr* each : candidates)
    if (std::string hint = each == nullptr ? "" : none_of(f, *each); !hint.empty()) return hint;
  return "";
}

// `x[n / 2]`: a division gives a float.
std::string float_index(const Failure& f) {
  const bool about =
      says(f.message, "list indices must be integers") || says(f.message, "cannot be interpreted as an integer") ||
      says(f.message, "slice indices must be integers") || says(f.message, "tuple indices must be integers") ||
      (says(f.message, "must be") && says(f.message, "not float")) || says(f.message, "found element of type float") ||
      says(f.message, "only integers, slices");
  if (!about || !f.failing) return "";
  for (const OperandText& operand : f.failing->operands) {
    const bool indexes = f.failing->kind == FailingExpression::Kind::kSubscript;
    if (operand.expr == nullptr || (indexes && &operand != &f.failing->operands[1])) continue;
    const auto* division = try_as<Binary>(operand.expr);
    if (division == nullptr || division->steps.back().op != ast::BinaryOp::kDivide) continue;
    return "hint: / gives a float, // an int: " + f.failing->rewritten({{division->steps.back().op_span, "//"}}) +
           " would fit";
  }
  return "";
}

// A method's call that passes one argument more than it has parameters: `self` is missing among them.
std::string missing_self_parameter(const Failure& f) {
  if (!says(f.message, "positional argument") || !f.failing || f.failing->receiver == nullptr) return "";
  const Value object = known_value(f.in, f.frame, *f.failing->receiver);
  if (!object.is_object() || object.as_object()->kind != ObjectKind::Instance) return "";
  const auto* method = try_as<Attribute>(f.failing->call->callee);
  const Value function = type_lookup(object.as_object()->type, intern(f.in, method->name.text));
  if (!is_function(function)) return "";
  const Code& code = *as_function(function)->code;
  const bool has_self = !code.parameters.empty() && code.parameters[0]->view() == "self";
  if (has_self || code.positional != f.failing->operands.size() || (code.code_flags & (kVarArgs | kVarKeywords)) != 0)
    return "";
  const uint32_t line = code.source->line_number(code.span.begin);
  return "hint: the object itself is passed first: def " + std::string(method->name.text) + "(self" +
         (code.positional == 0 ? ")" : ", ...)") + " in " + code.source->name() + ":" + std::to_string(line);
}

// A name that the object of the running method has as an attribute.
std::string missing_self(const Failure& f, const std::string& name) {
  const Code& code = *f.frame.code;
  if (code.parameters.empty() || code.parameters[0]->view() != "self") return "";
  const Value self = value_of_variable(f.in, f.frame, "self");
  if (!self.is_object() || self.as_object()->kind != ObjectKind::Instance) return "";
  Str* const wanted = intern(f.in, name);
  const auto more = f.in.vm().provenance().find_attribute;
  const bool has = find_own_attribute(self.as_object(), wanted) != nullptr ||
                   !type_lookup(self.as_object()->type, wanted).is_undefined() ||
                   (more != nullptr && !more(f.in, self, wanted).is_undefined());
  return has ? "hint: self." + name + " is one" : "";
}

constexpr std::pair<std::string_view, std::string_view> kImports[] = {
    {"torch", "import torch"},
    {"nn", "from torch import nn"},
    {"F", "import torch.nn.functional as F"},
    {"optim", "from torch import optim"},
    {"np", "import numpy as np"},
    {"numpy", "import numpy"},
    {"plt", "import matplotlib.pyplot as plt"},
    {"DataLoader", "from torch.utils.data import DataLoader"},
    {"Dataset", "from torch.utils.data import Dataset"},
    {"math", "import math"},
    {"os", "import os"},
    {"sys", "import sys"},
    {"re", "import re"},
    {"json", "import json"},
    {"time", "import time"},
    {"random", "import random"},
    {"Path", "from pathlib import Path"},
    {"defaultdict", "from collections import defaultdict"},
    {"Counter", "from collections import Counter"},
    {"dataclass", "from dataclasses import dataclass"},
    {"partial", "from functools import partial"},
};

std::string unknown_name(const Failure& f) {
  const Value& held = as_exception(f.exception)->fields[0];
  if (!is_error(f.in, f.exception, ErrorKind::NameError) || !is_str(held)) return "";
  const std::string name(text_of(held));
  if (std::string hint = missing_self(f, name); !hint.empty()) return hint;
  for (const auto& [known, line] : kImports)
    if (known == name) return "hint: " + std::string(line);
  return "";
}

std::string unknown_module(const Failure& f) {
  if (!f.message.starts_with("No module named '")) return "";
  const std::string wrong = quoted_part(f.message, 0);
  std::vector<std::string_view> names;
  for (const auto& [name, line] : kImports)
    if (line.starts_with("import "))
      names.push_back(line.substr(7, line.find(' ', 7) == line.npos ? line.npos : line.find(' ', 7) - 7));
  for (const std::string_view more :
       {"matplotlib", "torchvision", "collections", "itertools", "functools", "pathlib", "pickle", "subprocess",
        "argparse", "dataclasses", "datetime", "tqdm", "csv", "glob", "copy", "typing"})
    names.push_back(more);
  const std::string best = suggest_name(wrong, names);
  return best.empty() ? "" : "hint: did you mean '" + best + "'?";
}

// An attribute that a layer's class would have set, had its __init__ called the one above.
std::string unfinished_layer(const Failure& f) {
  for (const std::string_view key : {"'_parameters'", "'_modules'", "'_buffers'", "'_hooked'", "'training'"})
    if (says(f.message, key) && says(f.message, "object has no attribute"))
      return "hint: super().__init__() must come first in __init__, before any layer";
  return "";
}

using Hint = std::string (*)(const Failure&);
constexpr Hint kHints[] = {misspelt_keyword, called_a_value,         list_and_tensor,     text_and_number,
                           number_as_range,  index_of_list,          attribute_of_tensor, none_for_a_value,
                           float_index,      missing_self_parameter, unknown_name,        unknown_module,
                           unfinished_layer};

}  // namespace

std::string hint_for_language_error(Interpreter& in, const Value& exception, const std::string& message,
                                    const Frame& frame) {
  const Frame* const user = program_frame(&frame);
  if (user == nullptr) return "";
  const Failure failure{in, *user, exception, message, LateExpression(in, *user)};
  for (const Hint hint : kHints)
    if (std::string found = hint(failure); !found.empty()) return found;
  return "";
}

}  // namespace tessera::stdlib
