// The flags of compile(), with CPython's numbers.
#pragma once

#include <cstdint>

namespace tessera::lang {

enum CompileFlag : int64_t {
  kDontImplyDedent = 0x200,
  kOnlyAst = 0x400,
  kTypeComments = 0x1000,
  kAllowTopLevelAwait = 0x2000,
  kAllowIncompleteInput = 0x4000,
  kFutureFlags = 0x1fe0000,  // CO_FUTURE_DIVISION … CO_FUTURE_ANNOTATIONS
  kFutureAnnotations = 0x1000000,
  kKnownFlags = 0x7f00 | 0x10 | kFutureFlags,  // 0x10: CO_NESTED, without effect
};

}  // namespace tessera::lang
