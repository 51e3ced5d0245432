// The expressions that stand directly in a node, for those who look for something in a tree and not at every kind of node.
#pragma once

#include "lang/syntax/ast.h"

namespace tessera::lang::ast {

// What is called with each of them: a lambda of the caller's, by reference.
template <class T>
class Each {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Each>) Each(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, T part) { (*static_cast<std::remove_reference_t<F>*>(object))(part); }) {}
  void operator()(T part) const { call_(object_, part); }

 private:
  void* object_;
  void (*call_)(void*, T);
};

// Of an expression its parts; of a statement what stands in its head: blocks are for each_block.
void each_expression(Expr& e, Each<Expr&> f);
void each_expression(Stmt& s, Each<Expr&> f);
void each_block(Stmt& s, Each<Block> f);

}  // namespace tessera::lang::ast
