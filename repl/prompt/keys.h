// Bytes of a terminal to keys: characters, control characters, escape sequences (CSI, SS3, those of modifyOtherKeys and of
// kitty), pasted text. Sequences that mean nothing to us, and what a terminal answers to a question, are swallowed whole:
// none of their bytes reaches the block.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::repl {

// Names are those of keymaps: "a" .. are characters themselves; "Enter", "Tab", "Backspace", "Escape", "Up", "Delete", ...;
// before them the modifiers in this order: "C-" control, "M-" alt, "S-" shift ("C-a", "M-Enter", "S-Tab", "C-M-x").
struct Key {
  std::string name;
  std::string text;  // what it would insert: the character, the pasted text; empty: nothing

  bool is_paste() const { return name == "Paste"; }
};

class KeyReader {
 public:
  void feed(std::string_view bytes) { pending_.append(bytes); }

  // The next whole key. None: what stands there, if anything, is the beginning of one.
  std::optional<Key> next();

  // Something stands there that may be a whole key, or the beginning of one: an Escape. A reader waits a moment for the rest
  // and then takes it with next_after_wait().
  bool undecided() const { return !pending_.empty() && !pasting_; }
  std::optional<Key> next_after_wait();

  // The byte that comes next, if it is there already; else 0.
  char ahead() const { return pending_.empty() ? '\0' : pending_[0]; }

  // Bytes that no key was made of yet; they are gone from here then.
  std::string take_rest();

 private:
  std::optional<Key> next_of(bool wait_is_over);
  std::optional<Key> paste_end();

  std::string pending_;
  std::string pasted_;
  bool pasting_ = false;
};

// How long a lone Escape may wait for what follows it: longer than the pieces of one sequence lie apart on a slow line.
inline constexpr int kEscapeWaitMilliseconds = 40;

}  // namespace tessera::repl
