// The terminal device: its two sets of modes, its size, its bytes. While a block is typed every key comes as it is ("raw");
// while one runs the modes are those that the program was started with, so that input(), Ctrl-C and other programs find
// what they know. Whatever ends or stops the process in between gives the modes back first.
#pragma once

#include <string>
#include <string_view>

namespace tessera::repl {

class Tty {
 public:
  Tty();
  ~Tty() { cooked(); }
  Tty(const Tty&) = delete;
  Tty& operator=(const Tty&) = delete;

  void raw();
  void cooked();

  enum class Event {
    kInput,    // bytes were read
    kTimeout,  // nothing came
    kChanged,  // the size is another, or the process was stopped and goes on: paint anew
    kSignal,   // some other signal was heard
    kEnd,      // the terminal is gone
  };
  // Waits for input, at most `milliseconds` (below 0: for ever), and appends it. Only in raw mode.
  Event read(std::string& bytes, int milliseconds);
  bool has_input() const;
  bool write(std::string_view bytes);
  // Of the cursor, until the terminal is given back.
  enum class Shape { kBar, kBlock, kUnderline };
  bool set_shape(Shape shape);

  static void size(int& columns, int& rows);
  // Ctrl-Z: comes back when the process goes on.
  static void suspend();
};

}  // namespace tessera::repl
