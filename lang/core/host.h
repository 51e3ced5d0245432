// What a host does for an interpreter. Apart from interpreter.h, so that few files read <functional>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lang/core/flags.h"

namespace tessera::lang {

class Files;       // files.h
class ClassNames;  // lang/types/class_names.h

// A module that is embedded in the program, whose text has not been read.
struct EmbeddedFile {
  std::string path;
  bool is_package = false;
  std::size_t size = 0;    // of the text
  std::uint64_t sum = 0;   // of the texts of all modules
  std::string (*read)(const void* of) = nullptr;
  const void* of = nullptr;
};

struct Host {
  // All may be empty: then nothing is printed, input() raises EOFError, and only embedded modules can be imported.
  std::function<void(std::string_view)> write_out;
  std::function<void(std::string_view)> write_error;
  std::function<void()> flush_out;  // what was printed is to be seen now
  std::function<bool(std::string& line)> read_line;  // with its line end, which an unfinished last line lacks; false: the end
  // The text of a module that is embedded in the program, or nothing. `path` is what tracebacks show.
  std::function<std::optional<std::string>(std::string_view name, std::string& path, bool& is_package)> embedded_module;
  // Finds the same module, unread; asked where compiled code is kept. May be empty.
  std::function<bool(std::string_view name, EmbeddedFile& found)> embedded_file;
  // Returns true if a module that is found on sys.path replaces the embedded module of this name. An empty function: embedded modules always win.
  std::function<bool(std::string_view name)> embedded_yields;
  const ClassNames* classes_of_c = nullptr;  // the embedded modules' classes that CPython has in C
  // Called at a safe point of the running script after kAttention was set. It may look; scripts do not run in it.
  std::function<void()> attend;
  std::shared_ptr<Files> files;  // made by the interpreter from its limits
  Flags flags;
  // Compiled code of imported files is kept in files (lang/objects/code_cache.h). Without it no such file is read or written.
  bool keeps_code = false;
  std::string code_folder;  // the folder of those of embedded modules; empty: none are kept
};

}  // namespace tessera::lang
