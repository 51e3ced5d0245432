// What an example says of itself in its first lines.
#pragma once

#include <string>

namespace tessera::repl::page {

struct ExampleTitle {
  std::string title, about;
};

// A notebook's first heading and the sentence below it; a program's file name and its first comment.
ExampleTitle title_of_example(const std::string& name, const std::string& text);

}  // namespace tessera::repl::page
