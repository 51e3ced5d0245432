// Opens the page in the person's browser.
#pragma once

#include <string>

namespace tessera::repl::page {

// Where there is a display. `folder`: private to the person; a file in it leads to the page, since the words of a command can be
// read by every user of the machine, and the address has the token. False: there is no display, or nothing that opens a browser.
bool open_browser(const std::string& url, const std::string& folder);

}  // namespace tessera::repl::page
