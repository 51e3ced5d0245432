// compile: small (runs after an error)
#include "lang/vm/provenance.h"

#include <algorithm>

#include "lang/core/interpreter.h"
#include "lang/core/object_cast.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class.h"
#include "lang/objects/module.h"
#include "lang/syntax/children.h"
#include "lang/syntax/definitions.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

using ast::AssignStmt;
using ast::Attribute;
using ast::AugmentedAssignStmt;
using ast::Binary;
using ast::Block;
using ast::Call;
using ast::Compare;
using ast::each_block;
using ast::each_expression;
using ast::Expr;
using ast::ExprKind;
using ast::IntLiteral;
using ast::Keyword;
using ast::Name;
using ast::Stmt;
using ast::StringLiteral;
using ast::Subscript;
using ast::Tree;
using ast::try_as;
using ast::Unary;

void watch_names(Dict* names) { names->aux = 1; }

std::shared_ptr<const ParsedSource> Provenance::parsed(const Source& source) {
  const auto found =
      std::find_if(trees_.begin(), trees_.end(), [&](const auto& each) { return each->source.get() == &source; });
  if (found != trees_.end()) {
    std::rotate(found, found + 1, trees_.end());
    return trees_.back();
  }
  if (source.text().size() > kLargestText) return nullptr;
  ParseResult result = parse(source);
  if (!result) return nullptr;
  auto made = std::make_shared<ParsedSource>();
  made->source = source.shared_from_this();
  made->tree = std::move(result.tree);
  if (trees_.size() == kMostTrees) trees_.erase(trees_.begin());
  trees_.push_back(std::move(made));
  return trees_.back();
}

void Provenance::add_block(std::shared_ptr<const Source> source, uint32_t end) {
  if (blocks_.size() == kMostBlocks) {
    blocks_.erase(blocks_.begin(), blocks_.begin() + kMostBlocks / 2);
    forgotten_ += kMostBlocks / 2;
  }
  blocks_.push_back({std::move(source), end});
}

// Of very many names the dict alone is kept.
void Provenance::note_write(const Dict* names, std::string_view name) {
  writes_[{names, writes_.size() < kMostWrites ? std::string(name) : ""}] = forgotten_ + blocks_.size();
}

bool Provenance::may_have_kept(const Dict* names, std::string_view name, uint64_t number) const {
  for (const std::string_view each : {name, std::string_view()}) {
    const auto found = writes_.find({names, std::string(each)});
    if (found != writes_.end() && number <= found->second) return false;
  }
  return true;
}

bool is_library(const Frame& frame) { return frame.code->source->name().starts_with("stdlib/"); }

const Frame* program_frame(const Frame* frame) {
  while (frame != nullptr && is_library(*frame)) frame = calling_frame(*frame);
  return frame;
}

Span current_span(const Frame& frame) {
  const Code& code = *frame.code;
  const auto word = static_cast<size_t>(frame.pc - code.words.data());
  if (word == 0 || word > code.places.size()) return code.span;
  return code.places[word - 1].span;
}

// Trees may be as deep as the parser lets them.
std::shared_ptr<const ParsedSource> parsed_source(Interpreter& in, const Source& source) {
  constexpr size_t kForDeepTrees = size_t{2} << 20;
  return in.vm().has_stack(kForDeepTrees) ? in.vm().provenance().parsed(source) : nullptr;
}

// The failing expression ------------------------------------------------------------------------------------------

namespace {

bool holds(Span outer, Span inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

using Kind = FailingExpression::Kind;

class Finder {
 public:
  Finder(Span wanted, FailingExpression& result) : wanted_(wanted), result_(result) {}

  bool in(Block block) {
    for (Stmt* s : block) {
      bool found = false;
      if (auto* augmented = try_as<AugmentedAssignStmt>(s); augmented != nullptr && s->span == wanted_) {
        take(Kind::kAugmented, nullptr);
        add(augmented->target), add(augmented->value);
        return true;
      }
      if (auto* assign = try_as<AssignStmt>(s); assign != nullptr && stores(*assign)) return true;
      each_expression(*s, [&](Expr& e) { found = found || in(e); });
      if (auto* loop = try_as<ast::ForStmt>(s); !found && loop != nullptr && is_head(*loop)) {
        wanted_ = loop->iterable->span;
        return whole(*loop->iterable);
      }
      if (!found && holds(s->span, wanted_)) each_block(*s, [&](Block inner) { found = found || in(inner); });
      if (found) return true;
    }
    return false;
  }

 private:
  // What a loop does with its iterable has the place of its head.
  bool is_head(const ast::ForStmt& loop) const {
    return wanted_.begin == loop.span.begin && loop.iterable->span.end <= wanted_.end &&
           (wanted_ == loop.span || loop.body.empty() || wanted_.end <= loop.body[0]->span.begin);
  }

  // container[index] = value, which has the place of its target.
  bool stores(AssignStmt& s) {
    for (Expr* target : s.targets)
      if (auto* subscript = try_as<Subscript>(target); subscript != nullptr && target->span == wanted_) {
        whole(*target);
        add(s.value);
        result_.span = s.span;
        return true;
      }
    return false;
  }

  void take(Kind kind, const Expr* whole) {
    result_.kind = kind;
    result_.whole = whole;
    result_.span = wanted_;
  }

  void add(const Expr* e, std::string_view keyword = {}) { result_.operands.push_back({e, e->span, keyword}); }

  bool in(Expr& e) {
    // An f-string's fields stand in its span; parentheses belong to the parent, so a child may be all that is wanted.
    if (!holds(e.span, wanted_)) return false;
    if (auto* binary = try_as<Binary>(&e); binary != nullptr && step_of(*binary)) return true;
    if (e.span == wanted_ && whole(e)) return true;
    bool found = false;
    each_expression(e, [&](Expr& child) { found = found || in(child); });
    return found;
  }

  bool step_of(Binary& e) {
    for (size_t i = 0; i < e.steps.size(); ++i) {
      if (e.step_span(e.steps[i]) != wanted_) continue;
      take(Kind::kBinary, &e);
      if (i == 0) add(e.first);
      else result_.operands.push_back({nullptr, e.step_span(e.steps[i - 1]), {}});
      add(e.steps[i].right);
      return true;
    }
    return false;
  }

  bool whole(Expr& e) {
    if (auto* call = try_as<ast::Call>(&e)) {
      take(Kind::kCall, &e);
      if (const auto* method = try_as<Attribute>(call->callee)) result_.receiver = method->object;
      result_.call = call;
      for (const Expr* argument : call->arguments) add(argument);
      for (const Keyword& k : call->keywords) add(k.value, k.name.text);
    } else if (auto* unary = try_as<Unary>(&e)) {
      take(Kind::kUnary, &e);
      add(unary->operand);
    } else if (auto* compare = try_as<Compare>(&e)) {
      take(Kind::kCompare, &e);
      add(compare->first);
      for (const ast::CompareStep& step : compare->steps) add(step.right);
    } else if (auto* subscript = try_as<Subscript>(&e)) {
      take(Kind::kSubscript, &e);
      add(subscript->object), add(subscript->index);
    } else if (auto* attribute = try_as<Attribute>(&e)) {
      take(Kind::kAttribute, &e);
      add(attribute->object);
    } else if (ast::is<Name>(e)) {
      take(Kind::kName, &e);
      add(&e);
    } else {
      return false;
    }
    return true;
  }

  Span wanted_;
  FailingExpression& result_;
};

}  // namespace

std::optional<FailingExpression> failing_expression(Interpreter& in, const Frame& frame) {
  FailingExpression result{};
  result.frame = &frame;
  result.parsed = parsed_source(in, *frame.code->source);
  if (result.parsed == nullptr) return std::nullopt;
  if (!Finder(current_span(frame), result).in(result.parsed->tree->body)) return std::nullopt;
  return result;
}

std::string FailingExpression::rewritten(std::vector<Change> changes) const {
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.span.begin < b.span.begin; });
  std::string made;
  uint32_t at = span.begin;
  for (const Change& change : changes) {
    made += text({at, change.span.begin});
    made += change.text;
    at = change.span.end;
  }
  return made + std::string(text({at, span.end}));
}

// Values -------------------------------------------------------------------------------------------------------------

namespace {

Value opened(const Value& held) {
  const bool is_cell = held.is_object() && held.as_object()->kind == ObjectKind::Cell;
  return is_cell ? known_cast<Cell>(held)->value : held;
}

Value of_dict(Interpreter& in, Dict* dict, Str* name) {
  (void)in;
  const Value* found = dict == nullptr ? nullptr : dict_get_str(dict, name);
  return found == nullptr ? Value() : *found;
}

Value attribute_of(Interpreter& in, const Value& object, Str* name) {
  if (!object.is_object()) return Value();
  Object* const o = object.as_object();
  if (o->kind == ObjectKind::Module) return of_dict(in, known_cast<Module>(o)->dict, name);
  if (o->kind != ObjectKind::Instance) return Value();
  if (const Value* own = find_own_attribute(o, name)) return *own;
  const auto more = in.vm().provenance().find_attribute;
  return more == nullptr ? Value() : more(in, object, name);
}

Value item_of(Interpreter& in, const Value& object, const Expr& index) {
  if (const auto* number = try_as<IntLiteral>(&index)) {
    int64_t at = number->value;
    const auto pick = [&](const Value* items, uint32_t size) {
      if (at < 0) at += size;
      return at >= 0 && at < size ? items[at] : Value();
    };
    if (is_list(object)) return pick(as_list(object)->items, as_list(object)->size);
    if (is_tuple(object)) return pick(as_tuple(object)->items, as_tuple(object)->size);
  }
  if (const auto* key = try_as<StringLiteral>(&index); key != nullptr && is_dict(object))
    return of_dict(in, as_dict(object), intern(in, key->value));
  return Value();
}

}  // namespace

Value value_of_variable(Interpreter& in, const Frame& frame, std::string_view text) {
  const Code& code = *frame.code;
  Str* const name = intern(in, text);
  if (frame.registers != nullptr && (code.code_flags & (kClassBody | kModuleBody)) == 0) {
    for (size_t i = 0; i < code.locals.size(); ++i)
      if (code.locals[i] == name) return opened(frame.registers[i]);
    for (size_t i = 0; i < code.far_locals.size(); ++i)
      if (code.far_locals[i] == name) return opened(frame.registers[code.near_registers + i]);
    for (size_t i = 0; i < code.free_names.size(); ++i)
      if (code.free_names[i] == name) return frame.function->closure[i]->value;
  }
  if ((code.code_flags & kClassBody) != 0 && is_dict(frame.registers[0]))
    if (const Value own = of_dict(in, as_dict(frame.registers[0]), name); !own.is_undefined()) return own;
  if ((code.code_flags & kModuleBody) != 0)  // the variable of a comprehension
    for (size_t i = 0; i < code.locals.size(); ++i)
      if (code.locals[i] == name && !frame.registers[i].is_undefined()) return opened(frame.registers[i]);
  return of_dict(in, frame.function->globals, name);
}

Value known_value(Interpreter& in, const Frame& frame, const Expr& expr) {
  if (const auto* name = try_as<Name>(&expr)) return value_of_variable(in, frame, name->name);
  if (const auto* attribute = try_as<Attribute>(&expr)) {
    const Value object = known_value(in, frame, *attribute->object);
    return attribute_of(in, object, intern(in, attribute->name.text));
  }
  if (const auto* subscript = try_as<Subscript>(&expr)) {
    const Value object = known_value(in, frame, *subscript->object);
    return item_of(in, object, *subscript->index);
  }
  return Value();
}

// Where values come from ---------------------------------------------------------------------------------------------

namespace {

struct Line {
  const Source* source;
  uint32_t number;
  friend bool operator==(const Line&, const Line&) = default;
};

struct ModuleText {
  Provenance::Block block;
  uint64_t number;  // of a session's block
};

// Texts in which the variables of a frame's module may have been assigned, the latest first, each with how far it has come.
std::vector<ModuleText> texts_of_module(Interpreter& in, const Frame& frame) {
  std::vector<ModuleText> texts;
  const Provenance& known = in.vm().provenance();
  const bool in_session = frame.function->globals == in.main_module()->dict;
  uint64_t number = in_session ? known.forgotten_blocks() + known.blocks().size() : 0;
  for (const Frame* f = &frame; f != nullptr; f = calling_frame(*f))
    if ((f->code->code_flags & kModuleBody) != 0 && f->function->globals == frame.function->globals) {
      texts.push_back({{f->code->source, current_span(*f).begin}, number});
      break;
    }
  if (in_session)
    for (auto block = known.blocks().rbegin(); block != known.blocks().rend(); ++block)
      texts.push_back({*block, --number});
  if (texts.empty()) texts.push_back({{frame.code->source, kEndOfText}, 0});
  return texts;
}

// A function of a block that does not itself assign the name may have done so since.
bool may_declare_global(const Source& source) { return source.text().find("global") != std::string_view::npos; }

struct Found {
  std::vector<Line> lines;
  const Expr* place = nullptr;
  bool argument = false;
  bool of_comprehension = false;
  bool known = true;
};

void add_lines(Found& found, const Source& source, const Origin& origin) {
  for (const uint32_t at : origin.places) {
    const Line line{&source, source.line_number(at)};
    if (std::find(found.lines.begin(), found.lines.end(), line) == found.lines.end()) found.lines.push_back(line);
  }
}

Found found_in_module(Interpreter& in, const Frame& frame, std::string_view name) {
  Found found;
  found.known = false;
  bool assigned = false;  // in a later block, whatever came before
  for (const auto& [text, number] : texts_of_module(in, frame)) {
    if (assigned && !may_declare_global(*text.source)) continue;
    if (!assigned && !in.vm().provenance().may_have_kept(frame.function->globals, name, number)) return found;
    const auto parsed = parsed_source(in, *text.source);
    if (parsed == nullptr) return found;
    const Origin origin = origin_in_module(*parsed->tree, name, text.end);
    if (origin.unknown) return found;
    if (assigned) continue;
    add_lines(found, *text.source, origin);
    assigned = !origin.before;
  }
  found.known = assigned;
  return found;
}

Found find_origin(Interpreter& in, const Frame& frame, const Name& name) {
  Found found;
  const auto parsed = parsed_source(in, *frame.code->source);
  found.known = false;
  if (parsed == nullptr) return found;
  const Origin origin = origin_of(*parsed->tree, name.name, name.span.begin);
  if (origin.unknown) return found;
  if (origin.of_module) return found_in_module(in, frame, name.name);
  found.known = true;
  found.argument = origin.argument;
  found.of_comprehension = origin.of_comprehension;
  add_lines(found, *frame.code->source, origin);
  return found;
}

std::string place_text(const Line& line) { return line.source->name() + ":" + std::to_string(line.number); }

// "f.tsr:12 or 15"; empty for more than anybody would look at.
std::string places_text(const std::vector<Line>& lines) {
  constexpr size_t kMost = 3;
  if (lines.size() > kMost) return "";
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i != 0) text += " or ";
    text += i != 0 && lines[i].source == lines[i - 1].source ? std::to_string(lines[i].number) : place_text(lines[i]);
  }
  return text;
}

struct Passed {
  const Frame* frame = nullptr;  // that passed it
  std::string place;
  FailingExpression call;      // holds the tree that `name` is of
  const Name* name = nullptr;  // under which it has it; null: under none
};

// Was the library's function that `caller` called given the value, or one that holds it?
bool was_given(const Frame& caller, const Frame& frame, const Value& value) {
  const Frame* called = frame.caller;
  while (called->caller != &caller) called = called->caller;
  const auto is_it = [&](const Value& v) { return v.is_object() && v.as_object() == value.as_object(); };
  for (uint32_t i = 0; called->registers != nullptr && i < called->code->near_parameters; ++i) {
    const Value& held = called->registers[i];
    if (is_it(held)) return true;
    if (is_tuple(held) && std::any_of(as_tuple(held)->items, as_tuple(held)->items + as_tuple(held)->size, is_it))
      return true;
    bool found = false;
    if (is_dict(held)) dict_for_each(as_dict(held), [&](const Value&, const Value& v) { found = found || is_it(v); });
    if (found) return true;
  }
  return false;
}

// A generator's frame is resumed by others than who passed its arguments.
std::optional<Passed> who_passed(Interpreter& in, const Frame& frame, const Value& value) {
  if ((frame.code->code_flags & kGenerator) != 0) return std::nullopt;
  const Frame* const caller = program_frame(frame.caller);
  if (caller == nullptr || !(caller == frame.caller || was_given(*caller, frame, value))) return std::nullopt;
  Passed passed;
  passed.frame = caller;
  const Source& source = *caller->code->source;
  passed.place = place_text({&source, source.line_number(current_span(*caller).begin)});
  if (auto call = failing_expression(in, *caller)) {
    passed.call = std::move(*call);
    for (const OperandText& operand : passed.call.operands)
      if (const auto* name = try_as<Name>(operand.expr))
        if (const Value held = known_value(in, *caller, *name);
            held.is_object() && held.as_object() == value.as_object())
          passed.name = name;
  }
  return passed;
}

// The name that the value had where it was made, and the place; through all the calls that passed it on.
std::string made_text(Interpreter& in, const Frame& frame, const Name& name, const Value& value,
                      std::string_view shown_name) {
  const Found found = find_origin(in, frame, name);
  if (!found.known) return "";
  if (found.argument) {
    const auto passed = found.lines.empty() ? who_passed(in, frame, value) : std::nullopt;
    return passed && passed->name != nullptr ? made_text(in, *passed->frame, *passed->name, value, shown_name) : "";
  }
  const std::string places = places_text(found.lines);
  if (places.empty()) return "";
  return (name.name == shown_name ? "" : std::string(name.name) + ", ") + "made at " + places;
}

}  // namespace

std::string came_from(Interpreter& in, const Frame& frame, const Expr& expr, const Value& value) {
  const auto* name = try_as<Name>(&expr);
  if (name == nullptr || !value.is_object()) return "";
  const Value held = known_value(in, frame, expr);
  const Found found = find_origin(in, frame, *name);
  // The variable of a comprehension has no name while it runs.
  if (!found.of_comprehension && (!held.is_object() || held.as_object() != value.as_object())) return "";
  if (!found.known) return "";
  const std::string places = places_text(found.lines);
  if (!found.argument) return places.empty() ? "" : "made at " + places;
  const auto passed = who_passed(in, frame, value);
  if (!passed) return "";
  if (!found.lines.empty()) return places.empty() ? "" : "passed at " + passed->place + " or made at " + places;
  std::string made;
  if (passed->name != nullptr) made = made_text(in, *passed->frame, *passed->name, value, name->name);
  if (made.empty()) return "passed at " + passed->place;
  return "passed at " + passed->place + (made.starts_with("made at") ? ", " + made : " (" + made + ")");
}

std::string came_from(Interpreter& in, const Frame& frame, std::string_view variable, const Value& value) {
  Name name{};
  name.kind = ExprKind::kName;
  name.span = current_span(frame);
  name.name = variable;
  return came_from(in, frame, name, value);
}

namespace {

// The right side of the assignment whose target stands at `place`.
const Expr* right_side(Block block, uint32_t place) {
  for (Stmt* s : block) {
    if (!(s->span.begin <= place && place < s->span.end)) continue;
    if (const auto* assign = try_as<AssignStmt>(s))
      return assign->targets.size() == 1 && ast::is<Name>(*assign->targets[0]) ? assign->value : nullptr;
    const Expr* found = nullptr;
    each_block(*s, [&](Block inner) { found = found != nullptr ? found : right_side(inner, place); });
    return found;
  }
  return nullptr;
}

}  // namespace

const Expr* assigned_value(const FailingExpression& failing, const Expr& expr) {
  const auto* name = try_as<Name>(&expr);
  if (name == nullptr) return nullptr;
  const bool in_module = (failing.frame->code->code_flags & kModuleBody) != 0;
  Tree& tree = *failing.parsed->tree;
  Origin origin = origin_of(tree, name->name, name->span.begin);
  if (origin.of_module != in_module) return nullptr;
  if (in_module) origin = origin_in_module(tree, name->name, name->span.begin);
  if (origin.unknown || origin.argument || origin.before || origin.places.size() != 1) return nullptr;
  return right_side(tree.body, origin.places[0]);
}

std::string shown_expression(std::string_view text) {
  constexpr size_t kMost = 48, kEnd = 12;
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\\';
    if (!blank) line += c;
    else if (!line.empty() && line.back() != ' ' && line.back() != '(') line += ' ';
  }
  if (line.size() <= kMost) return line;
  size_t cut = kMost - kEnd - 3, from = line.size() - kEnd;
  const auto inside = [&](size_t at) { return (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80; };
  while (inside(cut)) --cut;
  while (inside(from)) ++from;
  return line.substr(0, cut) + "..." + line.substr(from);
}

}  // namespace tessera::lang
