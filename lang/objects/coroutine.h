// What `await`, `async for` and `async with` ask of objects, and the types behind `async def` (generator.h has the frames).
#pragma once

#include "lang/core/value.h"
#include "lang/vm/frame.h"

namespace tessera::lang {

class Interpreter;

// What YieldFrom delegates to for `await x`: a coroutine, a generator of types.coroutine, or the iterator of __await__().
// `source` names the special method that gave x, for the message; null: the expression did.
Value awaitable(Interpreter& in, const Value& x, const char* source);
// The same for `yield from x` in the running frame: only coroutines and their kind may delegate to coroutines.
Value delegate_iterator(Interpreter& in, const Value& x, const Frame& frame);
// __aiter__() and __anext__() as `async for` calls them; the latter is ready for YieldFrom.
Value async_iterator(Interpreter& in, const Value& iterable);
Value async_next(Interpreter& in, const Value& iterator);
// The builtin anext(): an awaitable; `otherwise` (or Undefined) is its result at the end.
Value make_anext(Interpreter& in, const Value& iterator, const Value& otherwise);
Value make_aiter(Interpreter& in, const Value& iterable);

// "coroutine 'f' was never awaited", through the module warnings.
void warn_unawaited(Interpreter& in, const Value& coroutine);

void make_coroutine_types(Interpreter& in);
void make_async_generator_types(Interpreter& in);

}  // namespace tessera::lang
