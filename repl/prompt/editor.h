// One block being typed: keys change it, view() is what there is to see. It knows no terminal and asks what it must know
// through Sources, so that a test is a list of keys and a look at the text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/prompt/history_walk.h"
#include "repl/prompt/keys.h"
#include "repl/prompt/layout.h"
#include "repl/prompt/menu.h"
#include "repl/prompt/text_buffer.h"
#include "repl/prompt/vi_keys.h"
#include "repl/session/complete.h"
#include "repl/session/session.h"

namespace tessera::repl {

struct Sources {
  std::function<BlockState(std::string_view)> state_of;
  std::function<Completion(std::string_view, size_t)> complete;
  std::function<std::optional<CallHelp>(std::string_view, size_t)> call_at;
  const std::vector<std::string>* history = nullptr;
};

// What a key asks of the one who holds the terminal.
enum class Effect {
  kNone,
  kRun,      // block() is to be run
  kDrop,     // Ctrl-C
  kLeave,    // Ctrl-D in an empty block
  kSuspend,  // Ctrl-Z
  kClear,    // Ctrl-L
  kEdit,     // in the person's own editor: set_text() brings it back
};

enum class KeyStyle { kEmacs, kVi };

class Editor {
 public:
  Editor(Sources sources, KeyStyle style);

  // A new block. The history may have changed.
  void start();
  // `ahead`: the byte that is there already behind an Enter, 0: none. Lines that come with their indentation, typed ahead or
  // pasted where the terminal does not say so, get none from us.
  Effect press(const Key& key, char ahead = '\0');
  // Of the block as it runs and is kept: without blanks at its end.
  std::string block() const;
  void set_text(std::string text);

  View view(int number, int columns, int rows);
  ViMode vi_mode() const { return style_ == KeyStyle::kVi ? vi_.mode() : ViMode::kInsert; }
  const TextBuffer& buffer() const { return buffer_; }

  // --- Commands: what keymaps name. Those that end a block or need the terminal answer so.
  Effect enter();  // runs what is complete, else a new line
  Effect run_as_it_is();
  Effect new_line();
  Effect drop();
  Effect delete_or_leave();  // Ctrl-D
  Effect suspend() { return Effect::kSuspend; }
  Effect clear() { return Effect::kClear; }
  Effect edit_outside() { return Effect::kEdit; }
  Effect left();
  Effect right();  // at the end: takes the suggestion
  Effect word_left();
  Effect word_right();
  Effect line_begin();
  Effect line_end();
  Effect block_begin();
  Effect block_end();
  Effect up();  // a line, then a block
  Effect down();
  Effect older();  // a block
  Effect newer();
  Effect tab();
  Effect back_tab();
  Effect backspace();
  Effect delete_right();
  Effect kill_line_right();
  Effect kill_line_left();
  Effect kill_word_left();       // to a blank
  Effect kill_word_part_left();  // of letters and digits
  Effect kill_word_right();
  Effect yank();
  Effect yank_older();
  Effect insert_last_word();  // of the block before; again: of the one before that
  Effect undo();
  Effect redo();
  Effect transpose();
  Effect upper_word();
  Effect lower_word();
  Effect capital_word();
  Effect search_older();
  Effect search_newer();
  Effect insert_text(std::string_view text);

 private:
  friend class ViKeys;
  enum class Last { kOther, kKill, kYank, kLastWord };

  Effect press_searching(const Key& key, bool& handled);
  Effect press_menu(const Key& key, bool& handled);
  Effect paste(std::string_view text);
  bool complete_enough() const;
  std::string indentation_behind(const std::string& before, std::string_view line);
  void indent_clause();
  void indent_closing();
  void kill(size_t begin, size_t end, bool before);
  void show_block(std::string text, bool at_end);
  void put_candidate();
  void end_search(bool keep);
  void search_again(bool older);
  std::string suggestion() const;
  bool take_suggestion(bool word);
  template <typename Change>
  Effect change_word(Change change);
  std::vector<Pieces> lines_below(int columns, int rows);

  Sources sources_;
  KeyStyle style_;
  TextBuffer buffer_;
  KillRing kills_;
  HistoryWalk walk_;
  HistorySearch search_;
  ViKeys vi_;
  Menu menu_;
  std::string typed_;   // what the menu's candidates replace
  std::string prefix_;  // "C-x", when it waits for its second key
  bool searching_ = false;
  bool whole_ = false;  // the text came as a whole, from the history or a paste, and was not changed since
  Last last_ = Last::kOther;
  Last now_ = Last::kOther;  // of the command that runs
  char ahead_ = '\0';
  bool comes_indented_ = false;  // lines of this block do
  size_t words_from_ = 0;        // how many blocks ago the last word that was put in stands
  size_t yanked_ = 0;            // where the last yank began
};

// A keymap: what a key's name, or two ("C-x C-e"), stands for; null: nothing.
using KeyCommand = Effect (Editor::*)();
KeyCommand emacs_command(std::string_view keys);
KeyCommand vi_insert_command(std::string_view keys);
bool begins_key_sequence(std::string_view key);

}  // namespace tessera::repl
