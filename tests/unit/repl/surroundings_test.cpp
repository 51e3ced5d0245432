#include "repl/prompt/surroundings.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

using namespace tessera::repl;

namespace {

Environment of(std::map<std::string, std::string> names) {
  return [names = std::move(names)](const char* name) {
    const auto found = names.find(name);
    return found == names.end() ? std::string() : found->second;
  };
}

}  // namespace

TEST_CASE("the terminal's name and NO_COLOR say how many colours there are") {
  const auto colours = [](std::map<std::string, std::string> names) { return style_of(of(std::move(names))).colours; };
  CHECK(colours({{"TERM", "xterm"}}) == Style::Colours::k16);
  CHECK(colours({{"TERM", "linux"}}) == Style::Colours::k16);
  CHECK(colours({{"TERM", "xterm-256color"}}) == Style::Colours::k256);
  CHECK(colours({{"TERM", "xterm-256color"}, {"COLORTERM", "truecolor"}}) == Style::Colours::kTrue);
  CHECK(colours({{"TERM", "vt100"}}) == Style::Colours::kNone);
  CHECK(colours({{"TERM", "xterm-mono"}}) == Style::Colours::kNone);
  CHECK(colours({{"TERM", "xterm-256color"}, {"COLORTERM", "truecolor"}, {"NO_COLOR", "1"}}) == Style::Colours::kNone);
  CHECK(colours({{"TERM", "xterm"}, {"NO_COLOR", ""}}) == Style::Colours::k16);
}

TEST_CASE("pictures go to terminals that are known to show them") {
  const auto images = [](std::map<std::string, std::string> names) { return style_of(of(std::move(names))).images; };
  CHECK(images({{"TERM", "xterm-256color"}}) == Style::Images::kNone);
  CHECK(images({{"TERM", "xterm-kitty"}}) == Style::Images::kKitty);
  CHECK(images({{"TERM", "xterm-256color"}, {"TERM_PROGRAM", "WezTerm"}}) == Style::Images::kKitty);
  CHECK(images({{"TERM", "foot"}}) == Style::Images::kSixel);
  CHECK(images({{"TERM", "tmux-256color"}, {"TMUX", "x"}, {"KITTY_WINDOW_ID", "1"}}) == Style::Images::kNone);
  CHECK(images({{"TERM", "foot"}, {"TESSERA_IMAGES", "none"}}) == Style::Images::kNone);
  CHECK(images({{"TERM", "xterm"}, {"TESSERA_IMAGES", "sixel"}}) == Style::Images::kSixel);
}

TEST_CASE("a locale may say that there is no UTF-8") {
  const auto unicode = [](std::map<std::string, std::string> names) { return style_of(of(std::move(names))).unicode; };
  CHECK(unicode({}));
  CHECK(unicode({{"LANG", "C"}}));
  CHECK(unicode({{"LANG", "de_DE.UTF-8"}}));
  CHECK(unicode({{"LANG", "en_US.ISO-8859-1"}, {"LC_ALL", "C.utf8"}}));
  CHECK(!unicode({{"LANG", "en_US.ISO-8859-1"}}));
}

TEST_CASE("keys are vi's where the person says so") {
  const std::string path = (std::filesystem::temp_directory_path() / "tessera-inputrc-test").string();
  std::ofstream(path) << "# set editing-mode emacs\n$if mode=vi\n$endif\n  set   editing-mode vi\n";
  CHECK(key_style_of(of({})) == KeyStyle::kEmacs);
  CHECK(key_style_of(of({{"TESSERA_KEYS", "vi"}})) == KeyStyle::kVi);
  CHECK(key_style_of(of({{"INPUTRC", path}})) == KeyStyle::kVi);
  CHECK(key_style_of(of({{"INPUTRC", path}, {"TESSERA_KEYS", "emacs"}})) == KeyStyle::kEmacs);
  std::remove(path.c_str());
}

TEST_CASE("a terminal that cannot move its cursor has lines") {
  CHECK(is_plain_terminal(of({})));
  CHECK(is_plain_terminal(of({{"TERM", "dumb"}})));
  CHECK(!is_plain_terminal(of({{"TERM", "xterm"}})));
}
