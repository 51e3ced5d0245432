// What a notebook's protocol must carry: the kernel (repl/kernel) says it in Jupyter's messages, the page's worker (repl/page) in
// its own. NotebookClient (notebook_client.h) decides what is said.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::repl {

// One thing in each of its forms, by MIME type. `is_bytes`: a file's bytes, which JSON carries as base64; `is_json`: the text
// of a JSON value, which stands in a message as that value.
struct Form {
  std::string type, data;
  bool is_bytes = false, is_json = false;
};
using Forms = std::vector<Form>;

// What whoever shows the forms is told besides: JSON texts by a form's type ("image/png": a width) or by any other word. Of two for
// one word the last counts.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// Where a part of an error stands. Lines from 1; columns from 0, in characters; the end is behind the last one.
struct ErrorPlace {
  std::string file;                                        // "In [3]", "/home/me/train.tsr"
  std::string function;                                    // "<module>", "forward"
  int line = 0, column = 0, end_line = 0, end_column = 0;  // an end of 0, 0: nothing is known of it
};

struct ErrorReport {
  std::string name;                // "RuntimeError"
  std::string message;             // str(e), without notes
  std::string text;                // the whole traceback with our notes, as a prompt shows it, without colours
  std::vector<std::string> notes;  // ours and the program's, as they stand below the message
  std::vector<ErrorPlace> places;  // from the outermost to where it was raised; of a SyntaxError the place in the text
};

class Frontend {
 public:
  virtual ~Frontend() = default;

  // Standard output or standard error, in pieces of some milliseconds' output. May be called from another thread than the one
  // that runs the block, but never by two at once.
  virtual void stream(bool is_error, std::string_view text) = 0;
  virtual void display(const Forms& forms, const Metadata& metadata, const std::string& id, bool is_update) = 0;
  virtual void result(int number, const Forms& forms, const Metadata& metadata) = 0;
  virtual void error(const ErrorReport& report) = 0;
  virtual void clear(bool wait) = 0;
  virtual void page(const std::string& text) = 0;
  // A line from the person, without its newline; false: the end of the input. Returns, or throws what the interpreter's check_stop throws,
  // within some milliseconds of an interrupt.
  virtual bool input(const std::string& prompt, bool is_hidden, std::string& line) = 0;
  // What is beyond a bound went to a file: of what the block prints (OutputStream) said once, when the block ends; of a result, a
  // display, an error (LongTexts) behind it.
  virtual void overflow(const std::string& path, uint64_t bytes) = 0;
  // Puts a text into a new cell below.
  virtual bool offer(const std::string& text) = 0;
};

}  // namespace tessera::repl
