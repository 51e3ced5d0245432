// compile: small (output of --dump)
#include "lang/compiler/dump.h"

#include <cstdio>

#include "lang/compiler/compile.h"
#include "lang/compiler/disasm.h"
#include "lang/core/object_cast.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/lexer.h"
#include "lang/syntax/parse.h"

namespace tessera::lang {
namespace {

// Each line with how deep it stands, and the text of its tokens: what the indentation and the joining of lines came to.
std::string layout(const Source& source) {
  const Tokens tokens = tokenize(source);
  std::string text;
  int depth = 0;
  uint32_t line = 0;
  char head[48];
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token kind = tokens.kind(i);
    if (kind == Token::kIndent || kind == Token::kDedent) {
      depth += kind == Token::kIndent ? 1 : -1;
    } else if (kind == Token::kNewline) {
      text += "\n";
      line = 0;
    } else if (kind != Token::kEnd && kind != Token::kError) {
      const uint32_t at = source.line_number(tokens.spans[i].begin);
      if (at != line) {
        std::snprintf(head, sizeof head, "%s%5u  %*s", line == 0 ? "" : "\n", at, depth * 2, "");
        text += head;
      }
      line = at;
      text += std::string(source.text(tokens.spans[i])) + " ";
    }
  }
  return text;
}

}  // namespace

std::string dump(Interpreter& in, std::shared_ptr<const Source> source) {
  const Value code = compile_source(in, source, CompileMode::Module);
  const ParseResult parsed = parse(*source);
  return "Layout\n" + layout(*source) + "\nTree\n" + ast::dump_tree(*parsed.tree, *source) + "\nBytecode\n" +
         disassemble(in, object_cast<const Code>(code));
}

}  // namespace tessera::lang
