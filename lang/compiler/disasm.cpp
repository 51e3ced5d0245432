// compile: small (output of --dump)
#include "lang/compiler/disasm.h"

#include <cstdio>

#include "lang/compiler/chunk.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/str.h"

namespace tessera::lang {

namespace {

constexpr const char* kNames[] = {
#define TS_OP(name, form) #name,
#include "lang/compiler/opcodes.def"
#undef TS_OP
};

constexpr const char* kIntrinsics[] = {
#define TS_INTRINSIC(name, count) #name,
#include "lang/compiler/intrinsics.def"
#undef TS_INTRINSIC
};

// The second word is a count or a register, not a constant.
bool is_number(Op op) {
  return op == Op::UnpackStar || op == Op::LoadFar || op == Op::StoreFar || op == Op::MakeFarCell ||
         op == Op::LoadFarFree;
}

// Constants longer than this are cut.
constexpr size_t kMostText = 40;

class Printer {
 public:
  Printer(Interpreter& in, const Code* code) : in_(in), code_(code) {}

  std::string run() {
    header();
    for (size_t at = 0; at < code_->words.size();) at = instruction(at);
    for (const Protected& row : code_->handlers) {
      add("  protect %u..%u -> %u, exception in r%u\n", row.begin, row.end, row.handler, row.target);
    }
    for (const Value& constant : code_->constants) {
      if (constant.is_object() && constant.as_object()->kind == ObjectKind::Code) {
        out_ += "\n" + Printer(in_, object_cast<const Code>(constant)).run();
      }
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(const char* format, Args... args) {
    char line[200];
    std::snprintf(line, sizeof line, format, args...);
    out_ += line;
  }

  void header() {
    out_ += "code " + std::string(code_->qualname->view());
    add(" (line %u): %zu words, %u registers", code_->source->line_number(code_->span.begin), code_->words.size(),
        code_->registers);
    for (size_t i = 0; i < code_->locals.size(); ++i) {
      out_ += i == 0 ? "; " : ", ";
      out_ += "r" + std::to_string(i) + " " + std::string(code_->locals[i]->view());
    }
    for (size_t i = 0; i < code_->far_locals.size(); ++i) {
      out_ += ", r" + std::to_string(code_->near_registers + i) + " " + std::string(code_->far_locals[i]->view());
    }
    for (size_t i = 0; i < code_->free_names.size(); ++i) {
      out_ += (i == 0 ? "; free " : ", ") + std::string(code_->free_names[i]->view());
    }
    out_ += "\n";
  }

  // The source line is printed once, above its first instruction.
  void source_line(size_t at) {
    const uint32_t line = code_->source->line_number(code_->places[at].span.begin);
    if (line == line_) return;
    line_ = line;
    std::string_view text = code_->source->line(line);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    out_ += "  # " + std::to_string(line) + ": " + std::string(text.substr(0, 100)) + "\n";
  }

  std::string constant(uint32_t k) {
    if (k >= code_->constants.size()) return "k?";
    const Value& v = code_->constants[k];
    if (v.is_object() && v.as_object()->kind == ObjectKind::Code) {
      return "<code " + std::string(object_cast<const Code>(v)->qualname->view()) + ">";
    }
    std::string text = repr_text(in_, v);
    if (text.size() > kMostText) text = text.substr(0, kMostText) + "...";
    return text;
  }

  std::string name(uint32_t n) { return n < code_->names.size() ? std::string(code_->names[n]->view()) : "n?"; }

  // `raw`: as it stands in the word of the instruction before the word `next`.
  std::string operand(char kind, uint32_t raw, size_t next) {
    switch (kind) {
      case 'r': return raw >> kValueShift == kNoRegister ? "-" : "r" + std::to_string(raw >> kValueShift);
      case 'k': return constant(raw >> kValueShift);
      case 'n': return name(raw);
      case 'i': return std::to_string(static_cast<int16_t>(raw));
      case 's': return std::string(code_->caches[raw].name->view());
      case 'j':
        return "-> " + std::to_string(static_cast<int64_t>(next) + offset_of(*code_, code_->words.data() + next));
      default: return std::to_string(raw);
    }
  }

  std::string wide_operand(char kind, uint32_t value, size_t next) {
    switch (kind) {
      case 'k': return constant(value);
      case 'i': return std::to_string(static_cast<int32_t>(value));
      case 'g': return std::string(code_->global_caches[value].name->view());
      case 'j': return "-> " + std::to_string(static_cast<int64_t>(next) + static_cast<int32_t>(value));
      default: return operand(kind, value, next);
    }
  }

  size_t instruction(size_t at) {
    source_line(at);
    const Word word = code_->words[at];
    const Op op = op_of(word);
    add("  %5zu  %-18s", at, kNames[word.op]);
    std::string text;
    auto put = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
    const char* const form = form_of(op);
    const size_t next = at + 1;
    if (form[0] != '-') put(operand(form[0], word.a, next));
    if (form[1] == 'x') {
      put(wide_operand(form[2], bx_of(word), next));
    } else {
      if (form[1] != '-') put(operand(form[1], word.b, next));
      if (form[3] == 't' || form[3] == 'u') put(operand(form[3], word.d, next));
      if (op == Op::Intrinsic) put(kIntrinsics[word.c]);
      else if (form[2] != '-') put(operand(form[2], word.c, next));
    }
    const char extra = second_of(op);
    if (extra != 0) {
      const uint32_t second = bx_of(code_->words[next]);
      if (extra == 'N') put(operand('s', second, next));
      else put(is_number(op) ? std::to_string(second) : constant(second));
    }
    out_ += text + "\n";
    return extra != 0 ? next + 1 : next;
  }

  Interpreter& in_;
  const Code* code_;
  std::string out_;
  uint32_t line_ = 0;
};

}  // namespace

std::string disassemble(Interpreter& in, const Code* code) { return Printer(in, code).run(); }

}  // namespace tessera::lang
