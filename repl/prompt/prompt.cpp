// The prompt at a terminal: reads a block with the editor, runs it in the session, shows what comes of it.
// compile: small (once for a key)
#include "repl/prompt/prompt.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "lang/core/error.h"
#include "lang/core/signals.h"
#include "repl/inspector/pictures.h"
#include "repl/prompt/editor.h"
#include "repl/prompt/screen.h"
#include "repl/prompt/surroundings.h"
#include "repl/prompt/tty.h"
#include "repl/session/complete.h"
#include "repl/session/draft_file.h"
#include "repl/session/history.h"
#include "repl/session/session.h"

namespace tessera::repl {
namespace {

constexpr int kIdleMilliseconds = 200;  // without a key: then the session reads ahead

class Prompt : public Client {
 public:
  Prompt(Interpreter& in, Terminal& terminal)
      : in_(in),
        terminal_(terminal),
        style_(style_of(process_environment)),
        session_(in, *this),
        history_(history_file()),
        editor_(sources(), key_style_of(process_environment)),
        screen_(style_.colours) {}

  int run();

  // --- Client
  Style style() const override {
    Style style = style_;
    int columns = 0, rows = 0;
    Tty::size(columns, rows);
    style.columns = static_cast<unsigned>(columns);
    style.rows = static_cast<unsigned>(rows);
    return style;
  }
  void write(std::string_view text) override { terminal_.write_out(text); }
  void show_result(int number, const Display& value) override;
  void show(const Display& what) override {
    const std::string picture = png_text(what.png, style());
    terminal_.write_out(picture.empty() ? what.text + "\n" : picture);
  }
  void show_error(lang::Interpreter&, const lang::Value&, std::string_view text) override {
    // The terminal has echoed Ctrl-C: not on the same line.
    const std::string echoed = text.ends_with("KeyboardInterrupt\n") ? "\n" : "";
    terminal_.write_error(echoed + coloured_error(text, style_.colours));
  }
  bool edit(const std::string& path) override {
    terminal_.flush();
    return run_editor(path);
  }
  bool offer(const std::string& text) override {
    offered_ = text;
    return true;
  }

 private:
  enum class Read { kBlock, kDropped, kEnd, kGone };

  Sources sources();
  Read read_block();
  Read act(Effect effect, bool& reading);
  bool next_key(Key& key, Tty::Event& event);
  void begin_line();
  void say_problem();
  bool paint();
  void paint_anew();
  void edit_outside();
  bool set_cursor_shape();
  void finish(std::string text);
  View view() { return editor_.view(session_.number(), screen_.columns(), screen_.rows()); }

  Interpreter& in_;
  Terminal& terminal_;
  Style style_;
  Session session_;
  History history_;
  Editor editor_;
  Screen screen_;
  Tty tty_;
  KeyReader keys_;
  ViMode shape_ = ViMode::kInsert;
  std::string offered_;  // the next block begins with it
  bool said_problem_ = false;
  bool has_read_ahead_ = false;
  bool ran_ = false;  // a block since the last prompt: an empty line sets it off
};

Sources Prompt::sources() {
  Sources sources;
  sources.state_of = [this](std::string_view block) { return session_.state_of(block); };
  // Neither may end what is typed, whatever becomes of looking.
  sources.complete = [this](std::string_view text, size_t cursor) {
    try {
      return complete(session_, text, cursor);
    } catch (const std::exception&) {
      return Completion{cursor, cursor, {}};
    }
  };
  sources.call_at = [this](std::string_view text, size_t cursor) -> std::optional<CallHelp> {
    try {
      return call_at(session_, text, cursor);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  };
  sources.history = &history_.blocks();
  return sources;
}

void Prompt::show_result(int number, const Display& value) {
  const bool several = value.text.find('\n') != std::string::npos;
  const std::string digits = std::to_string(number);
  terminal_.write_out(coloured("Out[", Look::kOut, style_.colours) +
                      coloured(digits, Look::kOutNumber, style_.colours) + coloured("]: ", Look::kOut, style_.colours) +
                      (several ? "\n" : "") + value.text + "\n" + png_text(value.png, style()));
}

// To the beginning of an empty line. Where the cursor stands cannot be known (another program may have written) and is not
// asked, since the answer would mix with what is typed: a mark, and blanks up to the margin. They fill the line when it was
// empty, and are erased then; else they run over into the next one, and the mark shows that the line had no end.
void Prompt::begin_line() {
  std::string bytes(kReset);
  bytes += "\x1b[?25h";
  bytes += coloured(style_.unicode ? "\xe2\x8f\x8e" : "%", Look::kFaint, style_.colours);
  bytes.append(static_cast<size_t>(std::max(screen_.columns() - 1, 0)), ' ');
  bytes += "\r\x1b[K";
  if (ran_) bytes += "\r\n";
  ran_ = false;
  tty_.write(bytes);
}

void Prompt::say_problem() {
  if (said_problem_ || history_.problem().empty()) return;
  said_problem_ = true;
  tty_.write(coloured(history_.problem(), Look::kFaint, style_.colours) + "\r\n");
}

// A bar while vi's keys insert, a block when they command; with Emacs' keys the terminal's own.
bool Prompt::set_cursor_shape() {
  if (editor_.vi_mode() == shape_) return true;
  shape_ = editor_.vi_mode();
  const bool inserts = shape_ == ViMode::kInsert;
  return tty_.set_shape(inserts                     ? Tty::Shape::kBar
                        : shape_ == ViMode::kNormal ? Tty::Shape::kBlock
                                                    : Tty::Shape::kUnderline);
}

bool Prompt::paint() {
  const std::string bytes = screen_.paint(view());
  return (bytes.empty() || tty_.write(bytes)) && set_cursor_shape();
}

// The size is another, or somebody else has written on the terminal.
void Prompt::paint_anew() {
  int columns = 0, rows = 0;
  Tty::size(columns, rows);
  screen_.resize(columns, rows);
  shape_ = ViMode::kInsert;  // given back, if the process was stopped
  tty_.write(screen_.paint_anew(view()));
}

// The next whole key; false: something else happened.
bool Prompt::next_key(Key& key, Tty::Event& event) {
  std::optional<Key> found = keys_.next();
  if (!found) {
    if (!tty_.has_input() && !paint()) {
      event = Tty::Event::kEnd;
      return false;
    }
    std::string bytes;
    const bool undecided = keys_.undecided();
    event = tty_.read(bytes, undecided ? kEscapeWaitMilliseconds : has_read_ahead_ ? -1 : kIdleMilliseconds);
    if (event == Tty::Event::kTimeout && !undecided) {
      has_read_ahead_ = !session_.prepare();
      return false;
    }
    keys_.feed(bytes);
    found = event == Tty::Event::kTimeout ? keys_.next_after_wait() : keys_.next();
    if (!found) return false;
  }
  if (found->name == "Enter" && keys_.ahead() == '\0' && tty_.has_input()) {  // what follows it matters
    std::string bytes;
    event = tty_.read(bytes, 0);
    keys_.feed(bytes);
    if (event == Tty::Event::kEnd) return false;
    if (event == Tty::Event::kChanged) paint_anew();
  }
  key = std::move(*found);
  return true;
}

void Prompt::edit_outside() {
  const DraftFile draft(editor_.buffer().text() + "\n");
  if (!draft.problem().empty()) {
    tty_.write(coloured(draft.problem(), Look::kFaint, style_.colours) + "\r\n");
    return;
  }
  tty_.cooked();
  const bool edited = run_editor(draft.path());
  tty_.raw();
  if (const std::optional<std::string> text = draft.text(); edited && text) editor_.set_text(*text);
}

// The block as it stays on the terminal; the cursor goes below it.
void Prompt::finish(std::string text) {
  View last = view();
  last.spans = highlight(text);
  last.text = std::move(text);
  tty_.write(screen_.finish(std::move(last)));
}

// What the editor asks for. `reading` becomes false when the block is over.
Prompt::Read Prompt::act(Effect effect, bool& reading) {
  const std::string& text = editor_.buffer().text();
  reading = effect != Effect::kRun && effect != Effect::kDrop && effect != Effect::kLeave;
  switch (effect) {
    case Effect::kNone: break;
    case Effect::kRun: finish(editor_.block()); return Read::kBlock;
    case Effect::kDrop: finish(text + "^C"); return Read::kDropped;
    case Effect::kLeave: finish(text); return Read::kEnd;
    case Effect::kSuspend:
      finish(text);
      Tty::suspend();
      break;
    case Effect::kClear: tty_.write(screen_.paint_cleared(view())); break;
    case Effect::kEdit:
      finish(text);
      edit_outside();
      break;
  }
  return Read::kBlock;
}

Prompt::Read Prompt::read_block() {
  int columns = 0, rows = 0;
  Tty::size(columns, rows);
  screen_.resize(columns, rows);
  history_.refresh();
  editor_.start();
  if (!offered_.empty()) editor_.set_text(std::exchange(offered_, {}));
  tty_.raw();
  begin_line();
  say_problem();
  screen_.begin();
  keys_.feed(terminal_.take_input());  // typed ahead
  if (!paint()) return Read::kGone;
  Read result = Read::kBlock;
  for (bool reading = true; reading;) {
    Key key;
    Tty::Event event = Tty::Event::kInput;
    if (next_key(key, event)) {
      result = act(editor_.press(key, keys_.ahead()), reading);
    } else if (event == Tty::Event::kEnd) {
      return Read::kGone;
    } else if (event == Tty::Event::kChanged) {
      paint_anew();
    } else if (event == Tty::Event::kSignal && (in_.interrupt.fetch_and(~lang::kKeyboard) & lang::kKeyboard) != 0) {
      result = act(editor_.press({"C-c", ""}), reading);
    }
  }
  // Typed ahead: for input() of the block, or the next one.
  std::string rest = keys_.take_rest();
  std::replace(rest.begin(), rest.end(), '\r', '\n');
  terminal_.give_back(std::move(rest));
  tty_.cooked();
  return result;
}

int Prompt::run() {
  for (;;) {
    const Read read = read_block();
    if (read == Read::kEnd) return 0;
    if (read == Read::kGone) return 128 + SIGHUP;  // quietly: there is nobody to read it
    const std::string block = read == Read::kBlock ? editor_.block() : "";
    if (block.empty()) continue;
    history_.add(block);
    keep_reserve(in_);
    const Outcome outcome = session_.run(block);
    terminal_.flush();
    if (outcome.kind == Outcome::Kind::kLeft) return outcome.status;
    if (terminal_.output_failed()) return 0;
    ran_ = true;
  }
}

}  // namespace

int run_prompt(Interpreter& in, Terminal& terminal) {
  constexpr const char* kBanner = "Tessera " TESSERA_VERSION ": a tensor language. :help shows what there is, Ctrl-D leaves.\n";
  if (in.host().flags.quiet == 0) is_driven() ? terminal.write_error(kBanner) : terminal.write_out(kBanner);
  terminal.flush();
  const bool at_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  if (!at_terminal || is_plain_terminal(process_environment)) return run_plain_prompt(in, terminal);
  Prompt prompt(in, terminal);
  return prompt.run();
}

}  // namespace tessera::repl
