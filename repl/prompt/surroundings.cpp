#include "repl/prompt/surroundings.h"

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tessera::repl {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Style::Colours colours_of(const Environment& environment) {
  if (!environment("NO_COLOR").empty()) return Style::Colours::kNone;
  const std::string term = environment("TERM"), colour = environment("COLORTERM");
  if (colour == "truecolor" || colour == "24bit" || contains(term, "direct")) return Style::Colours::kTrue;
  if (contains(term, "256color") || contains(term, "kitty") || contains(term, "ghostty")) return Style::Colours::k256;
  if (term.starts_with("vt") || contains(term, "-m")) return Style::Colours::kNone;
  return Style::Colours::k16;
}

// Only what a terminal says of itself without being asked: an answer would mix with what is typed.
Style::Images images_of(const Environment& environment) {
  const std::string wanted = environment("TESSERA_IMAGES");
  if (wanted == "kitty") return Style::Images::kKitty;
  if (wanted == "sixel") return Style::Images::kSixel;
  if (!wanted.empty() || !environment("TMUX").empty() || !environment("STY").empty()) return Style::Images::kNone;
  const std::string term = environment("TERM"), program = environment("TERM_PROGRAM");
  if (!environment("KITTY_WINDOW_ID").empty() || contains(term, "kitty") || contains(term, "ghostty") ||
      program == "WezTerm" || program == "ghostty")
    return Style::Images::kKitty;
  if (term.starts_with("foot") || term.starts_with("mlterm") || contains(term, "sixel") || term.starts_with("yaft") ||
      term.starts_with("contour"))
    return Style::Images::kSixel;
  return Style::Images::kNone;
}

// A locale that names another coding says so; one that says nothing is a container's, as a rule, under a terminal of UTF-8.
bool has_unicode(const Environment& environment) {
  std::string locale = environment("LC_ALL");
  if (locale.empty()) locale = environment("LC_CTYPE");
  if (locale.empty()) locale = environment("LANG");
  std::transform(locale.begin(), locale.end(), locale.begin(), [](unsigned char c) { return std::tolower(c); });
  return locale.empty() || locale == "c" || locale == "posix" || contains(locale, "utf-8") ||
         contains(locale, "utf8") || !contains(locale, ".");
}

}  // namespace

std::string process_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Style style_of(const Environment& environment) {
  Style style;
  style.colours = colours_of(environment);
  style.images = images_of(environment);
  style.unicode = has_unicode(environment);
  return style;
}

bool is_plain_terminal(const Environment& environment) {
  const std::string term = environment("TERM");
  return term.empty() || term == "dumb" || term == "emacs" || term == "unknown";
}

KeyStyle key_style_of(const Environment& environment) {
  const std::string wanted = environment("TESSERA_KEYS");
  if (wanted == "vi") return KeyStyle::kVi;
  if (!wanted.empty()) return KeyStyle::kEmacs;
  std::string path = environment("INPUTRC");
  if (path.empty() && !environment("HOME").empty()) path = environment("HOME") + "/.inputrc";
  std::ifstream file(path);
  KeyStyle style = KeyStyle::kEmacs;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string set, name, value;
    if (words >> set >> name >> value && set == "set" && name == "editing-mode")
      style = value == "vi" ? KeyStyle::kVi : KeyStyle::kEmacs;
  }
  return style;
}

bool run_editor(const std::string& path) {
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  quoted += "'";
  const int status = std::system(("${VISUAL:-${EDITOR:-vi}} " + quoted).c_str());
  return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tessera::repl
