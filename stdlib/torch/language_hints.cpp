// Hints for what the language refuses: misspelt keywords, tensors that are called, a forgotten self, modules that are not there.
#include <algorithm>

#include "lang/core/native.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/vm/frame.h"
#include "lang/vm/vm.h"
#include "stdlib/torch/error_hints.h"

namespace tessera::stdlib {
namespace {

using namespace lang;
using ast::Attribute;
using ast::Binary;
using ast::Call;
using ast::is;
using ast::Keyword;
using ast::try_as;

bool says(std::string_view message, std::string_view part) { return message.find(part) != message.npos; }

struct Failure {
  Interpreter& in;
  const Frame& frame;  // of the program
  const Value& exception;
  const std::string& message;
  std::optional<FailingExpression> failing;

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
    callee = type_lookup(static_cast<Type*>(callee.as_object()), intern(in, "__init__"));
  if (callee.is_object() && callee.as_object()->kind == ObjectKind::BoundMethod)
    callee = static_cast<BoundMethod*>(callee.as_object())->function;
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

// `x[n / 2]`: a division gives a float.
std::string float_index(const Failure& f) {
  const bool about =
      says(f.message, "list indices must be integers") || says(f.message, "cannot be interpreted as an integer") ||
      says(f.message, "slice indices must be integers") || says(f.message, "tuple indices must be integers") ||
      (says(f.message, "must be") && says(f.message, "not float")) || says(f.message, "found element of type float") ||
      says(f.message, "only integers, slices");
  if (!about || !f.failing) return "";
  for (const OperandText& operand : f.failing->operands) {
    if (operand.expr == nullptr) continue;
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
constexpr Hint kHints[] = {misspelt_keyword,       called_a_value, list_and_tensor, float_index,
                           missing_self_parameter, unknown_name,   unknown_module,  unfinished_layer};

}  // namespace

std::string hint_for_language_error(Interpreter& in, const Value& exception, const std::string& message) {
  const Frame* const user = program_frame(in.vm().top());
  if (user == nullptr) return "";
  const Failure failure{in, *user, exception, message, failing_expression(in, *user)};
  for (const Hint hint : kHints)
    if (std::string found = hint(failure); !found.empty()) return found;
  return "";
}

}  // namespace tessera::stdlib
