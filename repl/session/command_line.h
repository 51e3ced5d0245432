// Blocks, and lines of blocks, that are no statements: ":time f()", "%run x.py", "!ls", "files = !ls", "x?", "?x".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::repl {

struct CommandLine {
  enum class Kind {
    Command,  // a row of commands.h, after ':' or '%'
    Cell,     // "%%time": the rest of the block belongs to it
    Shell,    // "!ls"
    Inspect,  // "x?"
    Source,   // "x??"
  };
  Kind kind;
  char sign = ':';        // ':', '%' or '!'
  std::string name;       // of the command
  std::string arguments;  // or the shell's line, or what is looked at
  std::string body;       // of a cell
  std::string target;     // "files" of `files = !ls`; may be empty
};

// What one line is, or a whole block that begins with "%%". Nothing: statements.
std::optional<CommandLine> command_of(std::string_view text);

// A block in the pieces that are run one after another: statements, and lines that are commands.
struct BlockPiece {
  std::string text;  // of statements with empty lines before them, so that lines have their numbers
  std::optional<CommandLine> command;
};
std::vector<BlockPiece> split_block(std::string_view block);

// Words as a shell's user writes them: parted at blanks, quotes keep them together.
std::vector<std::string> words_of(std::string_view arguments);
std::string_view trimmed(std::string_view text);

}  // namespace tessera::repl
