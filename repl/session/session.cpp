#include "repl/session/session.h"

#include <exception>

#include "lang/core/protocol.h"
#include "lang/core/signals.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/syntax/parse.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/vm/vm.h"

namespace tessera::repl {
using namespace lang;

namespace {

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

// Texts of exceptions may be a script's, and take memory that there is none of: then the class alone is said.
std::string text_of_exception(Interpreter& in, const Value& exception) {
  const RunScope run(in.vm());
  try {
    return in.format_exception(exception);
  } catch (const std::exception&) {
    return std::string(type_name(in, exception)) + "\n";
  }
}

}  // namespace

Session::Session(Interpreter& in, Client& client) : in_(in), client_(client) {}

Session::~Session() = default;

void Session::interrupt() noexcept { in_.interrupt.fetch_or(kKeyboard); }

BlockState Session::state_of(std::string_view block) const {
  switch (is_complete(block)) {
    case Completeness::kComplete: return {BlockState::Kind::kComplete, ""};
    case Completeness::kIncomplete: return {BlockState::Kind::kIncomplete, ""};
    case Completeness::kInvalid: break;
  }
  return {BlockState::Kind::kInvalid, ""};
}

Outcome Session::run(const std::string& block) {
  if (is_blank(block)) return {};
  const Outcome outcome = run_program(block);
  ++number_;
  return outcome;
}

Outcome Session::run_program(const std::string& block) {
  in_.interrupt.fetch_and(~kKeyboard);  // one that came too late for the last block
  const std::string name = "In [" + std::to_string(number_) + "]";
  try {
    const Value value = in_.run_interactive(*std::make_shared<Source>(name, block));
    if (!value.is_undefined() && !value.is_none()) keep_result(value);
    return {};
  } catch (const std::exception&) {
    return fail(current_native_exception(in_));
  }
}

// The value of a last expression is shown under the limits of a run too: its __repr__ is a script.
void Session::keep_result(const Value& value) {
  Display display;
  {
    const RunScope run(in_.vm());
    display.text = repr_text(in_, value);
  }
  dict_set_str(in_, in_.main_module()->dict, intern(in_, "_"), value);
  client_.show_result(number_, display);
}

Outcome Session::fail(const Value& exception) {
  if (is_error(in_, exception, ErrorKind::SystemExit)) {
    const Value code = get_attr(in_, exception, intern(in_, "code"));
    if (code.is_none()) return {Outcome::Kind::kLeft, 0};
    if (code.is_int() || code.is_bool()) return {Outcome::Kind::kLeft, static_cast<int>(code.as_int() & 0xff)};
    client_.show_error(in_, exception, str_text(in_, code) + "\n");
    return {Outcome::Kind::kLeft, 1};
  }
  in_.interrupt.fetch_and(~kKeyboard);  // it has been heard
  client_.show_error(in_, exception, text_of_exception(in_, exception));
  return {Outcome::Kind::kFailed, is_error(in_, exception, ErrorKind::KeyboardInterrupt) ? 130 : 1};
}

}  // namespace tessera::repl
