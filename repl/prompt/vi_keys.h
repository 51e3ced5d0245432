// The keys of vi, on the block: the state of a command that is being typed (count, operator, what f looks for) and what it
// does. Insert mode is a keymap as Emacs' is (emacs_keys.cpp); here are normal and visual mode. There is one register; '/' and '?'
// search the history, as shells have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "repl/prompt/keys.h"

namespace tessera::repl {

class Editor;
class TextBuffer;
enum class Effect;

enum class ViMode { kInsert, kNormal, kReplace };

class ViKeys {
 public:
  void start();  // a new block: insert mode
  ViMode mode() const { return mode_; }
  // What visual mode has marked.
  std::optional<std::pair<size_t, size_t>> selection(const TextBuffer& buffer) const;

  // Every key goes through here first. False: it is insert mode's, or means the same in both.
  bool press(Editor& editor, const Key& key, Effect& effect);

 private:
  struct Find {
    char kind = 0;  // f F t T
    std::string character;
  };
  // Where a motion goes; `inclusive`: the character there belongs to it; `lines`: whole lines do.
  struct Motion {
    size_t to = 0;
    bool inclusive = false, lines = false;
  };

  bool press_normal(Editor& editor, const Key& key, Effect& effect);
  void press_replace(Editor& editor, const Key& key);
  bool press_visual(Editor& editor, const std::string& key);
  bool complete_waiting(Editor& editor, const std::string& key);
  bool count_digit(const std::string& key);
  bool operator_key(Editor& editor, const std::string& key);
  bool move(Editor& editor, const std::string& key);
  bool change(Editor& editor, const std::string& key);
  bool insert_command(Editor& editor, const std::string& key);
  Effect enter(Editor& editor);
  std::optional<Motion> motion(const TextBuffer& buffer, const std::string& key, size_t from, int times);
  std::optional<Motion> line_motion(const TextBuffer& buffer, const std::string& key, size_t from, int times);
  std::optional<Motion> find(const TextBuffer& buffer, const Find& what, size_t from, int times) const;
  void apply(Editor& editor, const Motion& motion);
  void operate(Editor& editor, size_t begin, size_t end, bool lines);
  void indent(Editor& editor, size_t begin, size_t end, bool deeper);
  void replace_characters(Editor& editor, const std::string& by);
  void join(Editor& editor);
  void change_case(Editor& editor);
  void put(Editor& editor, bool behind);
  void repeat(Editor& editor);
  void to_insert(Editor& editor, size_t at);
  void to_normal(Editor& editor);
  int times() const { return (count_ == 0 ? 1 : count_) * (operator_count_ == 0 ? 1 : operator_count_); }
  bool is_counted() const { return count_ + operator_count_ > 0; }
  bool idle() const { return operator_ == 0 && waiting_ == 0 && count_ == 0 && operator_count_ == 0; }
  void done();

  ViMode mode_ = ViMode::kInsert;
  int count_ = 0, operator_count_ = 0;
  char operator_ = 0;                         // d c y > <
  char waiting_ = 0;                          // f F t T g r: the next key completes it
  char visual_ = 0;                           // v: characters are marked, V: lines
  size_t anchor_ = 0;                         // from here to the cursor
  bool changes_ = false;                      // the command that is being typed changes the text
  std::vector<Key> recording_, last_change_;  // for '.'
  bool replaying_ = false;
  Find last_find_;
  bool lines_kept_ = false;  // what was cut last were whole lines
};

}  // namespace tessera::repl
