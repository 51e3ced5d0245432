#include "repl/session/prelude.h"

#include <exception>

#include "lang/assist/pieces.h"
#include "lang/core/protocol.h"
#include "lang/objects/module.h"
#include "lang/types/dict.h"
#include "lang/vm/vm.h"

namespace tessera::repl {
using namespace lang;

namespace {

struct Name {
  std::string_view name, module;
  std::string_view member = {};  // of the module; empty: the module itself
};

constexpr Name kNames[] = {{"torch", "torch"},
                           {"nn", "torch.nn"},
                           {"F", "torch.nn.functional"},
                           {"optim", "torch.optim"},
                           {"np", "numpy"},
                           {"plt", "matplotlib.pyplot"},
                           {"display", "IPython.display", "display"}};

const Name* find(std::string_view name) {
  for (const Name& each : kNames)
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace

Value prelude_module(Interpreter& in, std::string_view name) {
  const Name* const found = find(name);
  if (found == nullptr) return Value();
  const RunScope run(in.vm());
  try {
    const Value module(static_cast<Object*>(in.import(found->module)));
    return found->member.empty() ? module : get_attr(in, module, intern(in, found->member));
  } catch (const std::exception&) {  // interrupted, or no memory: the block says that the name means nothing
    return Value();
  }
}

void import_prelude(Interpreter& in, std::string_view text) {
  const std::vector<Piece> pieces = pieces_of(text);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kind == Piece::Kind::String && text[pieces[i].begin] != '\'' && text[pieces[i].begin] != '"')
      import_prelude(in, text.substr(pieces[i].inside, pieces[i].end - pieces[i].inside));  // f"{torch.ones(2)}"
    if (pieces[i].kind != Piece::Kind::Name || (i > 0 && pieces[i - 1].is(text, "."))) continue;
    const std::string_view name = text.substr(pieces[i].begin, pieces[i].end - pieces[i].begin);
    if (find(name) == nullptr || dict_get_text(in.main_module()->dict, name) != nullptr) continue;
    const Value module = prelude_module(in, name);
    if (!module.is_undefined()) dict_set_str(in, in.main_module()->dict, intern(in, name), module);
  }
}

bool read_ahead(Interpreter& in) {
  for (const Name& each : kNames) {
    if (each.name == "plt" || !each.member.empty() || in.modules().find(each.module) != nullptr)
      continue;  // plots are for few
    return !prelude_module(in, each.name).is_undefined();
  }
  return false;
}

std::vector<std::string> prelude_names(Interpreter&) {
  std::vector<std::string> names;
  for (const Name& each : kNames) names.emplace_back(each.name);
  return names;
}

bool is_prelude_name(Interpreter& in, std::string_view name, const Value& value) {
  const Name* const found = find(name);
  if (found == nullptr || !value.is_object()) return false;
  const Module* const module = in.modules().find(found->module);
  if (module == nullptr || found->member.empty()) return module == value.as_object();
  const Value* const member = dict_get_text(module->dict, found->member);
  return member != nullptr && member->is(value);
}

}  // namespace tessera::repl
