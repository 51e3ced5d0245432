// The keymaps: Emacs' keys as readline and IPython have them, and those of vi's insert mode.
#include <algorithm>
#include <string_view>

#include "repl/prompt/editor.h"

namespace tessera::repl {
namespace {

struct Binding {
  std::string_view keys;
  KeyCommand command;
};

// In both.
constexpr Binding kCommon[] = {
    {"Enter", &Editor::enter},
    {"M-Enter", &Editor::run_as_it_is},
    {"C-Enter", &Editor::run_as_it_is},  // where the terminal tells it from Enter
    {"C-o", &Editor::new_line},
    {"Tab", &Editor::tab},
    {"S-Tab", &Editor::back_tab},
    {"Backspace", &Editor::backspace},
    {"C-h", &Editor::backspace},
    {"Delete", &Editor::delete_right},
    {"Left", &Editor::left},
    {"Right", &Editor::right},
    {"Up", &Editor::up},
    {"Down", &Editor::down},
    {"Home", &Editor::line_begin},
    {"End", &Editor::line_end},
    {"C-Left", &Editor::word_left},
    {"C-Right", &Editor::word_right},
    {"C-Home", &Editor::block_begin},
    {"C-End", &Editor::block_end},
    {"PageUp", &Editor::older},
    {"PageDown", &Editor::newer},
    {"C-p", &Editor::up},
    {"C-n", &Editor::down},
    {"C-c", &Editor::drop},
    {"C-d", &Editor::delete_or_leave},
    {"C-l", &Editor::clear},
    {"C-z", &Editor::suspend},
    {"C-r", &Editor::search_older},
    {"C-s", &Editor::search_newer},
    {"C-w", &Editor::kill_word_left},
    {"C-u", &Editor::kill_line_left},
    {"C-e", &Editor::line_end},
    {"C-x C-e", &Editor::edit_outside},
};

constexpr Binding kEmacs[] = {
    {"C-a", &Editor::line_begin},
    {"C-b", &Editor::left},
    {"C-f", &Editor::right},
    {"C-k", &Editor::kill_line_right},
    {"C-t", &Editor::transpose},
    {"C-y", &Editor::yank},
    {"C-_", &Editor::undo},
    {"C-x C-u", &Editor::undo},
    {"M-_", &Editor::redo},
    {"C-x C-r", &Editor::redo},
    {"M-b", &Editor::word_left},
    {"M-f", &Editor::word_right},
    {"M-Left", &Editor::word_left},
    {"M-Right", &Editor::word_right},
    {"M-d", &Editor::kill_word_right},
    {"C-Delete", &Editor::kill_word_right},
    {"M-Backspace", &Editor::kill_word_part_left},
    {"M-C-h", &Editor::kill_word_part_left},
    {"C-M-h", &Editor::kill_word_part_left},
    {"M-<", &Editor::block_begin},
    {"M->", &Editor::block_end},
    {"M-p", &Editor::older},
    {"M-n", &Editor::newer},
    {"M-y", &Editor::yank_older},
    {"M-.", &Editor::insert_last_word},
    {"M-u", &Editor::upper_word},
    {"M-l", &Editor::lower_word},
    {"M-c", &Editor::capital_word},
};

template <size_t N>
KeyCommand command_of(const Binding (&map)[N], std::string_view keys) {
  const auto* const found =
      std::find_if(std::begin(map), std::end(map), [&](const Binding& b) { return b.keys == keys; });
  return found == std::end(map) ? nullptr : found->command;
}

}  // namespace

KeyCommand emacs_command(std::string_view keys) {
  const KeyCommand command = command_of(kEmacs, keys);
  return command != nullptr ? command : command_of(kCommon, keys);
}

KeyCommand vi_insert_command(std::string_view keys) { return command_of(kCommon, keys); }

bool begins_key_sequence(std::string_view key) { return key == "C-x"; }

}  // namespace tessera::repl
