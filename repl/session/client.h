// What a session asks of whoever shows it to a person: a prompt in a terminal, a notebook's kernel, a page. What scripts print
// and read does not go this way but through the interpreter's own Host, which the client gave when it made the interpreter.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/value.h"

namespace tessera::repl {

// What the place can show. Texts that are made for it (tables, heat maps, histograms) keep to this.
struct Style {
  enum class Colours { kNone, k16, k256, kTrue };
  enum class Images { kNone, kKitty, kSixel };
  unsigned columns = 80;
  unsigned rows = 24;
  Colours colours = Colours::kNone;
  bool unicode = true;
  Images images = Images::kNone;
};

// One thing in each of the forms that it has; a client takes the best that it can show. `text` is always there.
struct Display {
  std::string text;            // without colours, without a newline at its end
  std::string html, svg, png;  // may be empty; png: the file's bytes
};

class Client {
 public:
  virtual ~Client() = default;

  virtual Style style() const = 0;
  // What a command answers: may have the colours of style(), and ends with a newline.
  virtual void write(std::string_view text) = 0;
  // The value of block `number`'s last expression.
  virtual void show_result(int number, const Display& value) = 0;
  // A picture or the like in the middle of a block.
  virtual void show(const Display& what) = 0;
  // The traceback and our notes, as a script's is printed; `exception` for whoever wants to show it otherwise.
  virtual void show_error(lang::Interpreter& in, const lang::Value& exception, std::string_view text) = 0;
  // Lets a person edit the file and answers when that is done; false: there is no editor here.
  virtual bool edit(const std::string& path) = 0;
  // Puts a text where the next block is typed, to be changed and run; false: that is not possible here.
  virtual bool offer(const std::string& /*text*/) { return false; }
};

}  // namespace tessera::repl
