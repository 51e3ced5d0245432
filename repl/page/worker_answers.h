// What the worker answers to who asks in between: completions, help, tensors, graphs.
#pragma once

#include <string>

#include "repl/page/json_text.h"
#include "repl/session/session.h"

namespace tessera::repl::page {

// `message`: complete, call, help, tensor or graph, with its `ask`. Throws nothing: what goes wrong is the answer's `problem`.
// `running`: in the middle of a block, where no script may run.
Json answer_ask(Session& session, const Json& message, bool running);

// Needs no interpreter: also for another thread than the session's.
Json answer_block_state(const Session& session, const Json& message);

// The message `tensors`.
std::string tensors_line(Session& session, bool running);

}  // namespace tessera::repl::page
