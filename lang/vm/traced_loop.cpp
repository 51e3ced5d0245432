// The loop with a look at each word: Note [Tracing] in tracing.cpp.
// compile: small (runs in a debugger)
#define TS_TRACED 1
#include "lang/vm/vm.cpp"  // NOLINT
