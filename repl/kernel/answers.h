// What a frontend asks between the cells. Nothing of it is shown to others.
#pragma once

#include "repl/kernel/message.h"
#include "repl/session/session.h"

namespace tessera::repl {

Json complete_answer(Session& session, const Message& request);
Json inspect_answer(Session& session, const Message& request);
Json is_complete_answer(const Session& session, const Message& request);
Json kernel_info_answer();

}  // namespace tessera::repl
