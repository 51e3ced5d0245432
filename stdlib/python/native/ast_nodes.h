// The tree of a program as objects of the module ast.
#pragma once

#include <string>
#include <string_view>

#include "lang/compiler/compile.h"
#include "lang/core/value.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/source.h"

namespace tessera::stdlib {

// `classes`: a dict of the classes by name; it also keeps the one object of each operator and context.
lang::Value tree_objects(lang::Interpreter& in, const lang::Source& source, const lang::ast::Tree& tree,
                         std::string_view mode, const lang::Value& classes);

// Code of such a tree. `shapes`: the fields of the classes by name.
lang::Value compile_objects(lang::Interpreter& in, const lang::Value& root, const std::string& name,
                            lang::CompileOptions options, const lang::Value& shapes, const lang::Value& classes);

}  // namespace tessera::stdlib
