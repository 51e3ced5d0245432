// compile: small (waits for a person)
#include "repl/session/session.h"

#include <exception>

#include "lang/assist/pieces.h"
#include "lang/core/protocol.h"
#include "lang/core/signals.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/syntax/parse.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/vm/vm.h"
#include "repl/inspector/why.h"
#include "repl/session/command_line.h"
#include "repl/session/commands.h"
#include "repl/session/display.h"
#include "repl/session/display_module.h"
#include "repl/session/highlight.h"
#include "repl/session/prelude.h"
#include "repl/session/uncaught.h"

namespace tessera::repl {
using namespace lang;

namespace {

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

BlockState::Kind kind_of(Completeness completeness) {
  switch (completeness) {
    case Completeness::kComplete: return BlockState::Kind::kComplete;
    case Completeness::kIncomplete: return BlockState::Kind::kIncomplete;
    case Completeness::kInvalid: break;
  }
  return BlockState::Kind::kInvalid;
}

// A command's own text: a statement behind it may go on, and a cell ends with an empty line.
BlockState::Kind state_of_command(const CommandLine& line, std::string_view block) {
  if (line.kind == CommandLine::Kind::Cell)
    return block.ends_with("\n\n") || (!line.body.empty() && block.back() != '\n') ? BlockState::Kind::kComplete
                                                                                   : BlockState::Kind::kIncomplete;
  if (line.kind != CommandLine::Kind::Command) return BlockState::Kind::kComplete;
  const Command* const command = find_command(line.name);
  if (command == nullptr || command->takes != Command::Takes::Statement) return BlockState::Kind::kComplete;
  const std::string_view newlines = block.substr(block.find_last_not_of('\n') + 1);
  const Completeness state = is_complete(line.arguments + std::string(newlines));
  return state == Completeness::kIncomplete ? BlockState::Kind::kIncomplete : BlockState::Kind::kComplete;
}

}  // namespace

Session::Session(Interpreter& in, Client& client) : in_(in), client_(client), results_(in) {
  in.vm().keep_variables(true);
  add_display_module(in, client);
}

Session::~Session() = default;

void Session::interrupt() noexcept { in_.interrupt.fetch_or(kKeyboard); }

BlockState Session::state_of(std::string_view block) const {
  const std::vector<BlockPiece> pieces = split_block(block);
  if (!pieces.empty() && pieces.back().command) return {state_of_command(*pieces.back().command, block), ""};
  // Of several pieces the last decides: those before it are whole lines.
  const BlockState::Kind kind = kind_of(is_complete(pieces.size() > 1 ? std::string_view(pieces.back().text) : block));
  if (kind != BlockState::Kind::kIncomplete) return {kind, ""};
  return {kind, next_indentation(block.substr(0, block.find_last_not_of('\n') + 1))};
}

std::string Session::block_name() const { return "In [" + std::to_string(number_) + "]"; }

bool Session::prepare() { return read_ahead(in_); }

Outcome Session::run(const std::string& block, Keep keep) {
  if (is_blank(block)) return {};
  in_.interrupt.fetch_and(~kKeyboard);  // one that came too late for the last block
  Outcome outcome;
  keep_ = keep;
  try {
    if (keep == Keep::kAll) results_.begin(number_, block);
    outcome = run_pieces(block);
  } catch (const std::exception&) {  // no memory for the numbers' names
    outcome = fail(current_native_exception(in_));
  }
  if (outcome.kind != Outcome::Kind::kLeft) end_block();
  if (keep == Keep::kAll) ++number_;
  return outcome;
}

Outcome Session::run_pieces(const std::string& block) {
  Outcome outcome;
  for (const BlockPiece& piece : split_block(block)) {
    outcome = piece.command ? run_command(*piece.command) : run_piece(piece.text);
    if (outcome.kind != Outcome::Kind::kDone) break;
  }
  return outcome;
}

// A copy is called: it may set another.
void Session::end_block() {
  if (!after_block_) return;
  try {
    const auto call = after_block_;
    call(*this);
  } catch (const std::exception&) {
    fail(current_native_exception(in_));
  }
}

Outcome Session::run_piece(const std::string& text) {
  const std::string_view word = trimmed(text);
  if ((word == "exit" || word == "quit") && dict_get_text(in_.main_module()->dict, word) == nullptr)
    return {Outcome::Kind::kLeft, 0};
  try {
    show(execute(text));
    return {};
  } catch (const std::exception&) {
    return fail(current_native_exception(in_));
  }
}

Outcome Session::run_command(const CommandLine& line) {
  try {
    return run_command_line(*this, line);
  } catch (const CommandError& error) {
    client_.write(std::string(error.what()) + "\n");
    return {Outcome::Kind::kFailed, 1};
  } catch (const std::exception&) {
    return fail(current_native_exception(in_));
  }
}

Value Session::execute(const std::string& text) {
  import_prelude(in_, text);
  const Value value = in_.run_interactive(*std::make_shared<Source>(block_name(), text));
  return ends_with_semicolon(text) ? Value() : value;
}

void Session::show(const Value& value) {
  if (value.is_undefined() || value.is_none() || keep_ == Keep::kSilent) return;
  std::optional<Display> display = display_of(in_, value);
  if (display) client_.add_forms(in_, value, *display);
  if (keep_ == Keep::kAll) results_.keep(number_, value);
  if (display) client_.show_result(number_, *display);
}

Outcome Session::fail(const Value& exception) {
  if (is_error(in_, exception, ErrorKind::SystemExit)) {
    const Exit exit = exit_of(in_, exception);
    if (!exit.message.empty()) client_.show_error(in_, exception, exit.message);
    return {Outcome::Kind::kLeft, exit.status};
  }
  in_.interrupt.fetch_and(~kKeyboard);  // it has been heard
  last_exception_ = exception;
  keep_last_exception(in_, exception);
  const bool interrupted = is_error(in_, exception, ErrorKind::KeyboardInterrupt) && !ended_by_limit(exception);
  client_.show_error(in_, exception, interrupted ? interrupt_text(in_, exception) : text_of_exception(in_, exception));
  return {Outcome::Kind::kFailed, is_error(in_, exception, ErrorKind::KeyboardInterrupt) ? 130 : 1};
}

}  // namespace tessera::repl
