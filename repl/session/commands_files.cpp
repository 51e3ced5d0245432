// :run, :load, :edit, :save, :restore, and going about in folders.
// compile: small (once for a look of a person)
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "lang/assist/known.h"
#include "lang/compiler/compile.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/syntax/source.h"
#include "lang/syntax/source_encoding.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "repl/session/commands.h"
#include "repl/session/draft_file.h"
#include "repl/session/inspect.h"
#include "repl/session/saved.h"
#include "stdlib/python/native/support.h"

namespace tessera::repl {
using namespace lang;

namespace {

std::string home_path(std::string path) {
  const char* home = std::getenv("HOME");
  if ((path == "~" || path.starts_with("~/")) && home != nullptr) path.replace(0, 1, home);
  return path;
}

// A program's text; OSError where it cannot be read, ValueError where it is none.
std::string read_program(Session& session, const std::string& path) {
  Interpreter& in = session.interpreter();
  std::string bytes;
  Files& files = stdlib::files_of(in);
  if (files.is_folder(path)) stdlib::throw_os_error(in, EISDIR, path);
  if (files.read_all(path, bytes) != 0) stdlib::throw_os_error(in, errno, path);
  if (bytes.find('\0') != bytes.npos)
    throw Error(ErrorKind::ValueError, "'" + path + "' is not a text: it has zero bytes");
  return decode_source(std::move(bytes));
}

std::string_view trimmed_end(std::string_view text) { return text.substr(0, text.find_last_not_of(" \t\n") + 1); }

std::string one_word(std::string_view arguments, const char* usage) {
  const std::vector<std::string> words = words_of(arguments);
  if (words.size() != 1) throw CommandError(std::string("usage: ") + usage);
  return home_path(words[0]);
}

// sys.argv and the first folder of sys.path as a program finds them; put back afterwards.
class ProgramSurroundings {
 public:
  ProgramSurroundings(Interpreter& in, const std::vector<std::string>& words)
      : in_(in), sys_(Value(static_cast<Object*>(in.import("sys")))) {
    before_ = get_attr(in, sys_, intern(in, "argv"));
    const Value argv = make_list(in);
    for (const std::string& word : words) list_append(in, as_list(argv), make_str_lossy(in, word));
    set_attr(in, sys_, intern(in, "argv"), argv);
    std::string folder = std::filesystem::path(words[0]).parent_path().string();
    path_ = get_attr(in, sys_, intern(in, "path"));
    if (is_list(path_)) list_insert(in, as_list(path_), 0, make_str_lossy(in, folder.empty() ? "." : folder));
  }
  ~ProgramSurroundings() {
    try {
      set_attr(in_, sys_, intern(in_, "argv"), before_);
      if (is_list(path_) && as_list(path_)->size > 0) list_pop(in_, as_list(path_), 0);
    } catch (const std::exception&) {  // the script has made of them something else
    }
  }
  ProgramSurroundings(const ProgramSurroundings&) = delete;

 private:
  Interpreter& in_;
  Value sys_, before_, path_;
};

// Under names of its own, as a program; these are the session's afterwards, also where it was left by an exception.
Outcome run_program_text(Session& session, const std::vector<std::string>& words, const std::string& text) {
  Interpreter& in = session.interpreter();
  const ProgramSurroundings surroundings(in, words);
  const Value module = Value::adopt(make_module(in, "__main__"));
  Dict* const names = object_cast<Module>(module)->dict;
  dict_set_str(in, names, intern(in, "__file__"), make_str_lossy(in, words[0]));
  const auto take_names = [&] {
    dict_for_each(names, [&](const Value& key, const Value& value) {
      if (is_str(key) && !text_of(key).starts_with("__")) dict_set_str(in, in.main_module()->dict, as_str(key), value);
    });
  };
  try {
    const RunScope run(in.vm());
    const Value code = compile_source(in, std::make_shared<Source>(words[0], text), CompileMode::Module);
    call(in, make_function(in, object_cast<Code>(code), names));
  } catch (const std::exception&) {
    const Value exception = current_native_exception(in);
    take_names();
    if (!is_error(in, exception, ErrorKind::SystemExit)) return session.fail(exception);
    const Value code = get_attr(in, exception, intern(in, "code"));
    const bool good = code.is_none() || (code.is_int() && code.as_int() == 0);
    if (!good) session.client().write("the program left with " + str_text(in, code) + "\n");
    return {good ? Outcome::Kind::kDone : Outcome::Kind::kFailed, good ? 0 : 1};
  }
  take_names();
  return {};
}

Outcome run_file(Session& session, std::string_view arguments) {
  std::vector<std::string> words = words_of(arguments);
  const bool here = !words.empty() && words[0] == "-i";
  if (here) words.erase(words.begin());
  if (words.empty()) throw CommandError("usage: :run [-i] FILE [ARGUMENTS]");
  words[0] = home_path(words[0]);
  const std::string text = read_program(session, words[0]);
  if (!here) return run_program_text(session, words, text);
  const ProgramSurroundings surroundings(session.interpreter(), words);
  session.interpreter().run(*std::make_shared<Source>(words[0], text), "__main__");
  return {};
}

Outcome run_load(Session& session, std::string_view arguments) {
  const std::string path = one_word(arguments, ":load FILE");
  const std::string text = read_program(session, path);
  if (!session.client().offer(text)) session.client().write(text + (text.ends_with('\n') ? "" : "\n"));
  return {};
}

// The last block that did not open an editor itself.
std::string last_block(const std::vector<std::string>& blocks) {
  const auto found = std::find_if(blocks.rbegin(), blocks.rend(), [](const std::string& block) {
    const auto line = command_of(block);
    return !block.empty() && !(line && line->kind == CommandLine::Kind::Command && line->name == "edit");
  });
  return found == blocks.rend() ? "" : *found;
}

// What `:edit WHAT` begins with: block 3, the source of a function, or the last block.
std::string draft_of(Session& session, std::string_view what) {
  const std::vector<std::string>& blocks = session.results().blocks();
  if (what.empty()) return last_block(blocks);
  size_t number = 0;
  const auto [end, error] = std::from_chars(what.data(), what.data() + what.size(), number);
  if (error == std::errc() && end == what.data() + what.size()) {
    if (number == 0 || number >= blocks.size()) throw CommandError("there is no block " + std::string(what));
    return blocks[number];
  }
  const Value value = value_of_name(session, what);
  if (value.is_undefined()) throw CommandError("there is no block, file or name '" + std::string(what) + "'");
  return source_of(session, value);
}

constexpr const char* kNoEditor = "there is no editor here, or it has failed: nothing was run";

Outcome run_edit(Session& session, std::string_view arguments) {
  const std::string path = home_path(std::string(arguments));
  Interpreter& in = session.interpreter();
  std::string text;
  if (!path.empty() && (path.find('/') != path.npos || path.ends_with(".py") || path.ends_with(".tsr") ||
                        stdlib::files_of(in).is_file(path))) {
    if (!session.client().edit(path)) throw CommandError(kNoEditor);
    text = read_program(session, path);
  } else {
    const DraftFile draft(draft_of(session, arguments));
    if (!draft.problem().empty()) throw CommandError(draft.problem());
    if (!session.client().edit(draft.path())) throw CommandError(kNoEditor);
    text = draft.text().value_or("");
  }
  if (trimmed(text).empty()) return {};
  session.client().write(text + (text.ends_with('\n') ? "" : "\n"));
  return session.run_pieces(text);
}

Outcome run_save(Session& session, std::string_view arguments) {
  save_session(session, one_word(arguments, ":save FILE"));
  return {};
}

Outcome run_restore(Session& session, std::string_view arguments) {
  const bool data_only = arguments.starts_with("-d ");
  restore_session(session, one_word(data_only ? arguments.substr(3) : arguments, ":restore [-d] FILE"), data_only);
  return {};
}

// --- folders

std::string current_folder(Session& session) {
  std::string folder;
  Interpreter& in = session.interpreter();
  if (stdlib::files_of(in).current_folder(folder) != 0) stdlib::throw_os_error(in, errno);
  return folder;
}

Outcome run_pwd(Session& session, std::string_view) {
  session.show(make_str_lossy(session.interpreter(), current_folder(session)));
  return {};
}

Outcome run_cd(Session& session, std::string_view arguments) {
  const std::vector<std::string> words = words_of(arguments);
  const std::string path = home_path(words.empty() ? "~" : words[0]);
  Interpreter& in = session.interpreter();
  if (stdlib::files_of(in).enter_folder(path) != 0) stdlib::throw_os_error(in, errno, path);
  session.client().write(current_folder(session) + "\n");
  return {};
}

Outcome run_ls(Session& session, std::string_view arguments) {
  const std::string style = session.client().style().colours == Style::Colours::kNone ? "" : " --color=always";
  run_shell(session,
            "ls -C -w " + std::to_string(session.client().style().columns) + style + " " + std::string(arguments));
  return {};
}

Outcome run_pip(Session& session, std::string_view) {
  session.client().write(
      "Nothing has to be installed: torch, numpy, matplotlib, torchvision, PIL, tqdm, safetensors and the standard\n"
      "modules are inside. Modules of your own are files beside the program, or in a folder of PYTHONPATH.\n");
  return {};
}

constexpr Command kCommands[] = {
    {"run", "[-i] FILE [ARGUMENTS]", "runs a program; its names are the session's afterwards", Command::Takes::File,
     run_file, "It begins with names of its own, as __main__; with -i it sees those of the session."},
    {"load", "FILE", "puts a file's text at the prompt, to be changed and run", Command::Takes::File, run_load},
    {"edit", "[NUMBER | NAME | FILE]", "opens an editor on a block, a function or a file, and runs what it becomes",
     Command::Takes::File, run_edit},
    {"save", "FILE", "writes the whole session: variables, functions, tensors, blocks", Command::Takes::File, run_save,
     "What cannot be written (open files, generators) is named. docs/session.md says what the file holds."},
    {"restore", "[-d] FILE", "goes on with a session that was saved; tensors are read when they are used",
     Command::Takes::File, run_restore,
     "The definitions in the file are run, as :run would: do that with files that you trust. With -d nothing of the file is\n"
     "run: data and tensors come back, functions and classes do not. Where the file is damaged nothing is changed."},
    {"pwd", "", "the folder that the session is in", Command::Takes::Nothing, run_pwd},
    {"cd", "[FOLDER]", "goes to another folder", Command::Takes::File, run_cd},
    {"ls", "[FILES]", "lists files", Command::Takes::File, run_ls},
    {"pip", "", "says why there is nothing to install", Command::Takes::Words, run_pip},
};

}  // namespace

std::span<const Command> file_commands() { return kCommands; }

Outcome write_file(Session& session, const CommandLine& line) {
  Interpreter& in = session.interpreter();
  std::vector<std::string> words = words_of(line.arguments);
  const bool appends = !words.empty() && words[0] == "-a";
  if (appends) words.erase(words.begin());
  if (words.size() != 1) throw CommandError("usage: %%writefile [-a] FILE");
  const std::string path = home_path(words[0]);
  Files& files = stdlib::files_of(in);
  const bool is_new = !files.is_file(path);
  const int file = files.open(path, O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC));
  if (file < 0) stdlib::throw_os_error(in, errno, path);
  const std::string text = std::string(trimmed_end(line.body)) + "\n";
  size_t done = 0;
  int problem = 0;
  while (done < text.size() && problem == 0) {
    const ssize_t size = files.write(file, text.data() + done, text.size() - done);
    if (size < 0) problem = errno;
    else done += static_cast<size_t>(size);
  }
  if (files.close(file) != 0 && problem == 0) problem = errno;
  if (problem != 0) stdlib::throw_os_error(in, problem, path);
  session.client().write((appends ? "Appending to " : is_new ? "Writing " : "Overwriting ") + path + "\n");
  return {};
}

}  // namespace tessera::repl
