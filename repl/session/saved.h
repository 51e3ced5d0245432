// `:save` and `:restore`: a whole session as a file. docs/session.md says what it holds and what of it is run.
#pragma once

#include <string>

namespace tessera::repl {

class Session;

// Writes beside the file and renames; what cannot be kept is named. Throws what went wrong: then the old file is as it was.
void save_session(Session& session, const std::string& path);
// Puts what the file has in the place of the session's names. Throws what went wrong: then the session is as it was. With
// `data_only` no definition is run and nothing imported that is not the library's: then functions, classes and their objects
// are not there.
void restore_session(Session& session, const std::string& path, bool data_only);

}  // namespace tessera::repl
