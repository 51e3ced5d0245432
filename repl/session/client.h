// What a session asks of whoever shows it to a person: a prompt in a terminal, a notebook's kernel, a page. What scripts print
// and read does not go this way but through the interpreter's own Host, which the client gave when it made the interpreter.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  bool html = false;  // a notebook: it takes every form of a Display, and has tables and pictures of its own
};

// One thing in each of the forms that it has; a client takes the best that it can show. `text` is always there.
struct Display {
  struct Form {
    std::string type, data;  // "text/markdown", "image/jpeg", "application/json": a text, or a file's bytes
  };
  std::string text;            // without colours, without a newline at its end
  std::string html, svg, png;  // may be empty; png: the file's bytes
  std::vector<Form> others;
  std::vector<std::pair<std::string, std::string>>
      metadata;          // what viewers are told, by a form's type or another word: JSON texts
  std::string problems;  // what kept a form from being there: tracebacks, words
};

struct LiveTensors;
struct TableChoice;

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

  // --- for clients that can do more than write below what stands there

  // Forms of a value besides those that it has itself: what a notebook makes of a tensor.
  virtual void add_forms(lang::Interpreter& /*in*/, const lang::Value& /*value*/, Display& /*display*/) {}
  // Like show(); `id` is the name under which a later update replaces it. Who cannot go back shows each one.
  virtual void show_named(const Display& what, const std::string& /*id*/, bool /*is_update*/) { show(what); }
  // Takes away what the running block has shown; with `wait` when the next thing is shown.
  virtual void clear(bool /*wait*/) {}
  // A long text that a person asked for: help, a source.
  virtual void page(std::string_view text) { write(text); }
  // Asks a person for a line that nobody shall see; false: the end of the input, or not possible here.
  virtual bool ask_hidden(const std::string& /*prompt*/, std::string& /*line*/) { return false; }
  // What commands have as data besides their text; false: the text is to be written.
  virtual bool show_tensors(const LiveTensors& /*live*/, const TableChoice& /*choice*/) { return false; }
  virtual bool show_inspection(lang::Interpreter& /*in*/, const lang::Value& /*value*/, std::string_view /*name*/) {
    return false;
  }
  virtual bool show_graph(lang::Interpreter& /*in*/, const lang::Value& /*value*/, std::string_view /*name*/) {
    return false;
  }
};

}  // namespace tessera::repl
