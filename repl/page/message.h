// One message to browsers, as it is sent: many tabs and the log share it.
#pragma once

#include <memory>
#include <string>

namespace tessera::repl::page {

using Message = std::shared_ptr<const std::string>;

}  // namespace tessera::repl::page
