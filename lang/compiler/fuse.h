// Fused instructions: the last section of opcodes.def.
#pragma once

#include "lang/compiler/chunk.h"

namespace tessera::lang {

// Makes fused instructions of those that begin a sequence for which there is one. The words behind them stay as they are: for jumps
// to them, their places in the text, the traced loop, and operands that are not everyday.
void fuse_words(Code& code);

// What a fused instruction that loads a constant does without its second part; any other one: itself.
constexpr Op plain_load(Op op) {
  return op == Op::LoadBoolSetItem ? Op::LoadBool : op == Op::LoadIntSetItem ? Op::LoadInt : op;
}

}  // namespace tessera::lang
