// frame.f_lineno = N in a tracer: the frame goes on at another line.
//
// Note [Jumps of a tracer]: a jump may go to a word where a statement, or a clause of one, begins. The compiler writes down where
// that is, and which temporaries the statements around it hold there (Code::statements, Code::blocks): the state of a loop, the
// __exit__ of a with, the exception that is handled. A jump is allowed, as in CPython, if the frame holds values of these kinds in this
// order where it is, and perhaps more; those are let go of, without a call of an __exit__ or a finally. The values that stay may
// have to move, since the registers of the place are other ones. A finally body that goes on with an exception counts as two
// values, which it is for CPython: a jump from an except clause to it goes to its other copy.
//
// The compiler reads a local without a look where all ways to the word have set it. After a jump this is no longer so: until the
// frame ends, tracing looks in its place (check_locals_set), and where it is over, unset locals become None.
// compile: small (runs in a debugger)
#include <algorithm>
#include <string>
#include <vector>

#include "lang/core/interpreter.h"
#include "lang/core/native.h"
#include "lang/objects/code_object.h"
#include "lang/types/bigint.h"
#include "lang/types/str.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/steps.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

bool ends_way(Op op) {
  switch (op) {
    case Op::Jump:
    case Op::Return:
    case Op::ReturnNone:
    case Op::Raise:
    case Op::Reraise:
    case Op::AssertFailed: return true;
    default: return false;
  }
}

// Words that some way from the first one leads to.
class Reachable {
 public:
  explicit Reachable(const Code& code) : code_(code), seen_(code.words.size()) {
    go(0);
    for (bool more = true; more;) {
      more = false;
      for (const Protected& row : code_.handlers) {
        if (seen_[row.handler] || !any(row.begin, row.end)) continue;
        go(row.handler);
        more = true;
      }
    }
  }

  bool operator[](uint32_t word) const { return seen_[word]; }

 private:
  bool any(uint32_t begin, uint32_t end) const {
    return std::find(seen_.begin() + begin, seen_.begin() + end, true) != seen_.begin() + end;
  }

  void go(uint32_t first) {
    std::vector<uint32_t> starts{first};
    while (!starts.empty()) {
      uint32_t at = starts.back();
      starts.pop_back();
      while (at < seen_.size() && !seen_[at]) {
        seen_[at] = true;
        const Word w = code_.words[at];
        const char* const form = form_of(op_of(w));
        const uint32_t next = at + 1;
        if (op_of(w) == Op::Jump) starts.push_back(next + static_cast<uint32_t>(sbx_of(w)));
        else if (form[2] == 'j') starts.push_back(next + static_cast<uint32_t>(offset_of(code_, &code_.words[at] + 1)));
        if (ends_way(op_of(w))) break;
        at = next + (second_of(op_of(w)) != 0);
      }
    }
  }

  const Code& code_;
  std::vector<bool> seen_;
};

// What a place holds, from the outside in.
std::vector<HeldBlock> held_at(const Code& code, int32_t block) {
  std::vector<HeldBlock> held;
  for (; block >= 0; block = code.blocks[static_cast<size_t>(block)].outer) {
    const HeldBlock& each = code.blocks[static_cast<size_t>(block)];
    if (each.kind == HeldKind::Subject) continue;  // read by the tests alone, to which no jump goes
    held.push_back(each);
    if (each.kind != HeldKind::FinallyException) continue;
    held.back().kind = HeldKind::Exception;
    held.push_back(held.back());
  }
  std::reverse(held.begin(), held.end());
  return held;
}

bool holds_all(const std::vector<HeldBlock>& from, const std::vector<HeldBlock>& to) {
  return to.size() <= from.size() && std::equal(to.begin(), to.end(), from.begin(), [](const HeldBlock& a, const HeldBlock& b) {
           return a.kind == b.kind;
         });
}

const char* refusal(const std::vector<HeldBlock>& to) {
  switch (to.back().kind) {
    case HeldKind::Iteration:
    case HeldKind::AsyncIteration: return "can't jump into the body of a for loop";
    case HeldKind::Exception: return "can't jump into an 'except' block as there's no exception";
    default: return "incompatible stacks";
  }
}

uint32_t width_of(HeldKind kind) {
  return kind == HeldKind::Iteration || kind == HeldKind::AsyncIteration || kind == HeldKind::Group ? 3 : 1;
}

struct Target {
  const StatementAt* at = nullptr;
  std::vector<HeldBlock> held;
};

uint32_t line_at(const Code& code, uint32_t word) { return code.source->line_number(code.places[word].span.begin); }

// The first line from `wanted` on that has code, or 0. In its first line a function begins, whatever stands there.
uint32_t line_not_before(const Code& code, const Reachable& reachable, uint32_t first, uint32_t wanted) {
  uint32_t found = (code.code_flags & kModuleBody) == 0 && wanted <= first ? first : 0;
  const auto look = [&](uint32_t word) {
    if (!reachable[word]) return;
    const uint32_t line = line_at(code, word);
    if (line >= wanted && (found == 0 || line < found)) found = line;
  };
  for (uint32_t word = 0; word < code.words.size(); ++word) {
    if (!code.places[word].hidden) look(word);
  }
  for (const StatementAt& each : code.statements) {
    if (each.begins) look(each.word);
  }
  return found;
}

const StatementAt* statement_at(const Code& code, uint32_t word) {
  const auto after = std::upper_bound(code.statements.begin(), code.statements.end(), word,
                                      [](uint32_t w, const StatementAt& each) { return w < each.word; });
  return after == code.statements.begin() ? nullptr : &*(after - 1);
}

Target find_target(const Code& code, const Reachable& reachable, uint32_t first, uint32_t line,
                   const std::vector<HeldBlock>& from) {
  Target best;
  const char* problem = nullptr;
  const bool begins_function = (code.code_flags & kModuleBody) == 0 && line == first;
  for (const StatementAt& each : code.statements) {
    if (!each.begins || !reachable[each.word]) continue;
    const bool is_start = begins_function && &each == &code.statements.front();
    if (!is_start && line_at(code, each.word) != line) continue;
    std::vector<HeldBlock> held = held_at(code, each.block);
    if (!holds_all(from, held)) {
      if (problem == nullptr) problem = refusal(held);
    } else if (best.at == nullptr || held.size() > best.held.size()) {
      best = {&each, std::move(held)};
    }
  }
  if (best.at == nullptr) throw Error(ErrorKind::ValueError, problem != nullptr ? problem : "incompatible stacks");
  return best;
}

// The values that stay go to the registers of the target; all other temporaries are let go of when the frame is in order again.
void keep_held(Frame& frame, const std::vector<HeldBlock>& from, const std::vector<HeldBlock>& to) {
  Value* const registers = frame.registers;
  std::vector<Value> kept, dropped;
  for (size_t i = 0; i < to.size(); ++i) {
    for (uint32_t k = 0; k < width_of(to[i].kind); ++k) kept.push_back(registers[from[i].reg + k]);
  }
  for (uint32_t r = frame.code->first_temporary; r < frame.code->near_registers; ++r) dropped.push_back(std::move(registers[r]));
  frame.handled = kNoRegister;
  size_t next = 0;
  for (const HeldBlock& each : to) {
    for (uint32_t k = 0; k < width_of(each.kind); ++k) registers[each.reg + k] = kept[next++];
    if (each.kind == HeldKind::Exception) frame.handled = each.reg;
    if (each.kind == HeldKind::Group) frame.handled = static_cast<uint16_t>(each.reg + 2);
  }
}

// The line that is asked for, as CPython checks it.
int64_t checked_line(Interpreter& in, const FrameObject* object, const Value& value) {
  if (!value.is_int() && !is_big_int(value)) throw Error(ErrorKind::ValueError, "lineno must be an integer");
  const std::string_view event = object->event != nullptr ? object->event : in.vm().trace_function().is_undefined() ? "call" : "";
  if (event == "call") throw Error(ErrorKind::ValueError, "can't jump from the 'call' trace event of a new frame");
  if (event.empty() || object->frame == nullptr)
    throw Error(ErrorKind::ValueError, "f_lineno can only be set by a trace function");
  if (event != "line") throw Error(ErrorKind::ValueError, "can only jump from a 'line' trace event");
  if (!value.is_int() || value.as_int() > INT32_MAX || value.as_int() < INT32_MIN)
    throw Error(ErrorKind::ValueError, "lineno out of range");
  return value.as_int();
}

// Registers of the compiler's own have no name, or one that begins with a dot.
bool has_name(const Code& code, size_t local) {
  return code.locals[local]->size != 0 && !code.locals[local]->view().starts_with('.');
}

// Which operands of a word are registers that it reads: bits 1, 2 and 4 for A, B and C. Those that are temporaries in any case may
// be left out.
unsigned registers_read(Op op) {
  switch (op) {
    case Op::CheckLocal:
    case Op::DeleteLocal:
    case Op::JumpSet:
    case Op::Call:
    case Op::CallKeywords:
    case Op::CallSpread:
    case Op::CallMethod:
    case Op::CallMethodKeywords:
    case Op::ForNext:
    case Op::YieldFrom: return 0;
    case Op::StoreGlobal:
    case Op::StoreFree:
    case Op::StoreFar:
    case Op::DelAttr:
    case Op::Invoke:
    case Op::Return: return 1;
    case Op::StoreName:
    case Op::StoreCell:
    case Op::SetAttr: return 3;
    case Op::SetItem:
    case Op::DelItem:
    case Op::SetSlice: return 7;
    default: return op >= Op::JumpLt && op <= Op::JumpKeep ? 3 : 6;
  }
}

}  // namespace

void jump_to_line(Interpreter& in, FrameObject* object, const Value& value) {
  const int64_t wanted = checked_line(in, object, value);
  Frame& frame = *object->frame;
  const Code& code = *frame.code;
  const uint32_t first = first_line(&code);
  const std::string line_text = "line " + std::to_string(wanted);
  if (wanted < first) throw Error(ErrorKind::ValueError, line_text + " comes before the current code block");
  const Reachable reachable(code);
  const uint32_t line = line_not_before(code, reachable, first, static_cast<uint32_t>(wanted));
  if (line == 0) throw Error(ErrorKind::ValueError, line_text + " comes after the current code block");
  const auto word = static_cast<uint32_t>(frame.pc - code.words.data()) - 1;
  const StatementAt* const here = statement_at(code, word);
  const std::vector<HeldBlock> from = held_at(code, here == nullptr ? -1 : here->block);
  const Target target = find_target(code, reachable, first, line, from);
  frame.pc = code.words.data() + target.at->word + 1;
  object->traced_line = line;
  object->traced_word = target.at->word;
  object->jumped = true;
  keep_held(frame, from, target.held);
}

void check_locals_set(Interpreter& in, const Frame& frame) {
  const Code& code = *frame.code;
  const Word w = frame.pc[-1];
  const unsigned read = registers_read(op_of(w));
  const char* const form = form_of(op_of(w));
  const uint32_t operands[] = {a_of(w), b_of(w), c_of(w)};
  for (unsigned i = 0; i < 3; ++i) {
    const uint32_t reg = operands[i];
    if ((read & 1u << i) == 0 || form[i] != 'r' || reg >= code.locals.size() || !frame.registers[reg].is_undefined()) continue;
    if (has_name(code, reg)) throw_unbound_local(in, code.locals[reg]);
  }
}

void fill_unset_locals(FrameObject* object) {
  if (!object->jumped || object->frame == nullptr || object->frame->registers == nullptr) return;
  const Code& code = *object->code;
  for (size_t i = 0; i < code.locals.size(); ++i) {
    if (object->frame->registers[i].is_undefined() && has_name(code, i)) object->frame->registers[i] = Value::none();
  }
  object->jumped = false;
}

}  // namespace tessera::lang
