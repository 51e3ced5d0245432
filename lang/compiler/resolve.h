// Names to slots: which names of a scope are registers, shared cells, variables of functions around it, or globals.
//
// One walk over the tree notes for every scope what is bound and what is used; then each use is resolved outwards.
// Comprehensions other than generator expressions are scopes without code of their own: their variables are registers
// of the function around them. The scopes are found again through `mark` of the tree's nodes (FunctionStmt, Lambda,
// ClassStmt, Comprehension), which is the number of the scope.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/compiler/chunk.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/syntax_error.h"

namespace tessera::lang {

// Thrown by resolver and compiler; what the program's text is refused for.
struct CompileError {
  Span span;
  std::string message;
};

enum class VariableKind : uint8_t {
  Unresolved,
  Register,  // R[index]
  Cell,      // the cell in R[index]
  Free,      // closure[index]
  Global,
  ClassName,  // in the mapping R[0]: of a class body, or of the outermost code of eval and exec
  // Note [Far variables] in opcodes.def:
  FarRegister,  // far variable `index`
  FarCell,      // the cell in it
  FarFree,      // closure[index]
};

struct Symbol {
  std::string_view name;
  VariableKind kind = VariableKind::Unresolved;
  uint32_t index = 0;
  bool bound : 1 = false;
  bool used : 1 = false;
  bool parameter : 1 = false;
  bool declared_global : 1 = false;
  bool declared_nonlocal : 1 = false;
  bool captured : 1 = false;   // by a function inside
  bool deleted : 1 = false;    // by del, or at the end of an except clause: may be unset anywhere
  bool walrus : 1 = false;     // an expression may change it halfway
  bool annotated : 1 = false;  // by a statement `x: T` before any declaration
  bool iteration : 1 = false;  // a comprehension's own variable
  Span first_use{}, declaration{};
};

enum class ScopeKind : uint8_t { Module, Function, Class, Comprehension };

struct Scope {
  ScopeKind kind;
  uint32_t number;
  Scope* parent;
  Scope* code;                  // the scope whose code this one's names live in: itself, but for comprehensions
  std::string_view class_name;  // of the innermost class around, for private names
  std::vector<Symbol> symbols;  // in the order of first appearance
  std::unordered_map<const char*, uint32_t> by_name;
  std::vector<Capture> captures;  // of a scope with code
  std::vector<std::string_view> captured_names;
  // The places in them, by name and owner: a comprehension's x and its function's x are two.
  std::map<std::pair<const char*, const Scope*>, uint32_t> capture_places;
  std::vector<std::string_view> locals;      // names of registers, in order; of a scope with code
  uint32_t register_count = 0;               // locals and comprehension variables; of a scope with code
  uint32_t first_register = 0;               // comprehensions: where their variables begin
  uint32_t comprehension_registers = 0;      // and how many they are
  std::vector<std::string_view> far_locals;  // names of the far variables; of a scope with code
  uint32_t near_parameters = 0;              // how many parameters are no far variables
  bool is_generator_expression = false;      // Function: a generator expression
  bool needs_class_cell = false;             // Class: a function inside says super() or __class__
  bool has_annotations = false;              // module or class: fills __annotations__

  Symbol* find(std::string_view name) {
    auto it = by_name.find(name.data());
    return it == by_name.end() ? nullptr : &symbols[it->second];
  }
};

struct Scopes {
  std::vector<std::unique_ptr<Scope>> all;  // [0]: the module
  Scope& module() { return *all[0]; }
};

// Throws CompileError. `names_in_mapping`: R[0] of the module's code is a mapping with its names.
Scopes resolve(ast::Tree& tree, bool names_in_mapping = false);

// `__name` inside of class C is `_C__name`.
std::string_view mangle(ast::Tree& tree, std::string_view class_name, std::string_view name);

}  // namespace tessera::lang
