// compile: few-inlines (runs once for a program's text)
#include "lang/compiler/resolve.h"

#include <algorithm>

namespace tessera::lang {

namespace {

using namespace ast;

// A function with more locals than the first number has the second number of them in registers, the others are far variables: what
// is known of locals on a way through the code is a set of bits that each branch copies.
constexpr uint32_t kMostLocalRegisters = 140;
constexpr uint32_t kLocalRegistersOfMany = 100;

[[noreturn]] void fail(Span span, std::string message) { throw CompileError{span, std::move(message)}; }

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

// First pass: scopes, and what is bound and used in each.
class NameCollector {
 public:
  NameCollector(Tree& tree, Scopes& scopes) : tree_(tree), scopes_(scopes) {}

  void run() {
    scope_ = open(ScopeKind::Module, nullptr);
    block(tree_.body);
    if (tree_.expression != nullptr) expression(tree_.expression);
  }

  // --- statements
  void operator()(ExpressionStmt& s) { expression(s.value); }
  void operator()(AssignStmt& s) {
    expression(s.value);
    for (Expr* target : s.targets) bind_target(target);
  }
  void operator()(AugmentedAssignStmt& s) {
    expression(s.target);
    expression(s.value);
    bind_target(s.target);
  }
  void operator()(AnnotatedAssignStmt& s) {
    if (s.value != nullptr) expression(s.value);
    if (scope_->kind != ScopeKind::Function) expression(s.annotation);
    if (s.simple) {
      const auto& name = as<Name>(*s.target);
      Symbol& symbol = touch(name.name, s.target->span);
      if (symbol.declared_global && scope_->kind != ScopeKind::Module)
        fail(s.span, "annotated name " + quoted(name.name) + " can't be global");
      if (symbol.declared_nonlocal) fail(s.span, "annotated name " + quoted(name.name) + " can't be nonlocal");
      symbol.annotated = true;
      if (scope_->kind != ScopeKind::Function) scope_->has_annotations = true;
    }
    if (s.value != nullptr || s.simple || !is<Name>(*s.target)) bind_target(s.target);
  }
  void operator()(DeleteStmt& s) {
    for (Expr* target : s.targets) delete_target(target);
  }
  void operator()(PassStmt&) {}
  void operator()(BreakStmt&) {}
  void operator()(ContinueStmt&) {}
  void operator()(ReturnStmt& s) { optional(s.value); }
  void operator()(RaiseStmt& s) {
    optional(s.exception);
    optional(s.cause);
  }
  void operator()(AssertStmt& s) {
    expression(s.condition);
    optional(s.message);
  }
  void operator()(GlobalStmt& s) {
    for (const Identifier& name : s.names) declare(name, s.span, true);
  }
  void operator()(NonlocalStmt& s) {
    for (const Identifier& name : s.names) {
      declare(name, s.span, false);
      if (name.text == "__class__") want_class_cell();
    }
  }
  void operator()(ImportStmt& s) {
    for (const ImportAlias& alias : s.names) {
      const Identifier& name = alias.as_name.empty() ? alias.name : alias.as_name;
      bind(tree_.intern(name.text.substr(0, name.text.find('.'))), name.span, s.span);
    }
  }
  void operator()(ImportFromStmt& s) {
    for (const ImportAlias& alias : s.names) {
      const Identifier& name = alias.as_name.empty() ? alias.name : alias.as_name;
      bind(name.text, name.span, s.span);
    }
  }
  void operator()(IfStmt& s) {
    for (IfArm& arm : s.arms) {
      expression(arm.condition);
      block(arm.body);
    }
    block(s.else_body);
  }
  void operator()(WhileStmt& s) {
    expression(s.condition);
    block(s.body);
    block(s.else_body);
  }
  void operator()(ForStmt& s) {
    expression(s.iterable);
    bind_target(s.target);
    block(s.body);
    block(s.else_body);
  }
  void operator()(WithStmt& s) {
    for (WithItem& item : s.items) {
      expression(item.context);
      if (item.target != nullptr) bind_target(item.target);
    }
    block(s.body);
  }
  void operator()(TryStmt& s) {
    block(s.body);
    for (ExceptHandler& handler : s.handlers) {
      optional(handler.type);
      if (!handler.name.empty()) bind(handler.name.text, handler.name.span, handler.span).deleted = true;
      block(handler.body);
    }
    block(s.else_body);
    block(s.finally_body);
  }
  void operator()(MatchStmt& s) {
    expression(s.subject);
    for (MatchCase& c : s.cases) {
      pattern(c.pattern);
      optional(c.guard);
      block(c.body);
    }
  }
  void operator()(FunctionStmt& s) {
    for (Expr* decorator : s.decorators) expression(decorator);
    signature(s.parameters);
    optional(s.returns);
    bind(s.name.text, s.name.span, s.span);
    Scope* outer = scope_;
    open_function(s.mark, s.parameters, s.span);
    block(s.body);
    scope_ = outer;
  }
  void operator()(ClassStmt& s) {
    for (Expr* decorator : s.decorators) expression(decorator);
    for (Expr* base : s.bases) expression(base);
    for (Keyword& keyword : s.keywords) expression(keyword.value);
    bind(s.name.text, s.name.span, s.span);
    Scope* outer = scope_;
    scope_ = open(ScopeKind::Class, outer);
    s.mark = scope_->number;
    scope_->class_name = s.name.text;
    block(s.body);
    scope_ = outer;
  }

  // --- expressions
  void operator()(Constant&) {}
  void operator()(IntLiteral&) {}
  void operator()(BigIntLiteral&) {}
  void operator()(FloatLiteral&) {}
  void operator()(ImaginaryLiteral&) {}
  void operator()(StringLiteral&) {}
  void operator()(BytesLiteral&) {}
  void operator()(FString& e) {
    for (FStringPart& part : e.parts) {
      optional(part.value);
      if (part.format != nullptr) (*this)(*part.format);
    }
  }
  void operator()(Name& e) {
    use(e.name, e.span);
    if (e.name == "__class__" || (e.name == "super" && scope_->kind != ScopeKind::Class)) want_class_cell();
  }
  void operator()(ast::Tuple& e) { list(e.elements); }
  void operator()(ast::List& e) { list(e.elements); }
  void operator()(ast::Set& e) { list(e.elements); }
  void operator()(ast::Dict& e) {
    for (DictItem& item : e.items) {
      optional(item.key);
      expression(item.value);
    }
  }
  void operator()(Starred& e) { expression(e.value); }
  void operator()(Unary& e) { expression(e.operand); }
  void operator()(Binary& e) {
    expression(e.first);
    for (BinaryStep& step : e.steps) expression(step.right);
  }
  void operator()(Logical& e) { list(e.operands); }
  void operator()(Compare& e) {
    expression(e.first);
    for (CompareStep& step : e.steps) expression(step.right);
  }
  void operator()(Conditional& e) {
    expression(e.condition);
    expression(e.then_value);
    expression(e.else_value);
  }
  void operator()(Lambda& e) {
    signature(e.parameters);
    Scope* outer = scope_;
    open_function(e.mark, e.parameters, e.span);
    expression(e.body);
    scope_ = outer;
  }
  void operator()(Walrus& e) {
    expression(e.value);
    Scope* target = scope_;
    while (target->kind == ScopeKind::Comprehension || target->is_generator_expression) {
      Symbol* own = target->find(mangled(e.target.text));
      if (own != nullptr && own->iteration) {
        fail(e.target.span,
             "assignment expression cannot rebind comprehension iteration variable " + quoted(e.target.text));
      }
      target = target->parent;
    }
    if (target != scope_ && target->kind == ScopeKind::Class) {
      fail(e.target.span, "assignment expression within a comprehension cannot be used in a class body");
    }
    Scope* inner = scope_;
    scope_ = target;
    Symbol& symbol = bind(e.target.text, e.target.span);
    symbol.walrus = true;
    scope_ = inner;
    if (target != inner) {
      Symbol& seen = touch(e.target.text, e.target.span);
      seen.used = true;
      if (target->kind == ScopeKind::Module) seen.declared_global = true;
    }
  }
  void operator()(Attribute& e) { expression(e.object); }
  void operator()(Subscript& e) {
    expression(e.object);
    expression(e.index);
  }
  void operator()(ast::Slice& e) {
    optional(e.lower);
    optional(e.upper);
    optional(e.step);
  }
  void operator()(ast::Call& e) {
    expression(e.callee);
    list(e.arguments);
    for (Keyword& keyword : e.keywords) expression(keyword.value);
  }
  void operator()(Comprehension& e) {
    expression(e.clauses[0].iterable);  // in the scope around it
    Scope* outer = scope_;
    const bool generator = e.result == ComprehensionKind::kGenerator;
    scope_ = open(generator ? ScopeKind::Function : ScopeKind::Comprehension, outer);
    scope_->is_generator_expression = generator;
    e.mark = scope_->number;
    if (generator) parameter(tree_.intern(".0"), e.span, e.span);
    for (size_t i = 0; i < e.clauses.size(); ++i) {
      ForClause& clause = e.clauses[i];
      if (i != 0) expression(clause.iterable);
      in_iteration_target_ = true;
      bind_target(clause.target);
      in_iteration_target_ = false;
      list(clause.conditions);
    }
    expression(e.element);
    optional(e.value);
    scope_ = outer;
  }
  void operator()(Yield& e) { optional(e.value); }
  void operator()(YieldFrom& e) { expression(e.value); }
  void operator()(Await& e) { expression(e.value); }

  // --- patterns
  void operator()(ValuePattern& p) { expression(p.value); }
  void operator()(SingletonPattern&) {}
  void operator()(SequencePattern& p) {
    for (Pattern* element : p.elements) pattern(element);
  }
  void operator()(StarPattern& p) {
    if (!p.name.empty()) bind(p.name.text, p.name.span, p.span);
  }
  void operator()(MappingPattern& p) {
    for (MappingPatternItem& item : p.items) {
      expression(item.key);
      pattern(item.value);
    }
    if (!p.rest.empty()) bind(p.rest.text, p.rest.span, p.span);
  }
  void operator()(InstancePattern& p) {
    expression(p.type);
    for (Pattern* argument : p.arguments) pattern(argument);
    for (KeywordPattern& keyword : p.keywords) {
      refuse_debug(keyword.name.text, keyword.value->span, "assign to");
      pattern(keyword.value);
    }
  }
  void operator()(CapturePattern& p) {
    if (p.pattern != nullptr) pattern(p.pattern);
    if (!p.name.empty()) bind(p.name.text, p.name.span, p.span);
  }
  void operator()(OrPattern& p) {
    for (Pattern* alternative : p.alternatives) pattern(alternative);
  }

 private:
  void block(Block statements) {
    for (Stmt* statement : statements) visit(*statement, *this);
  }
  void expression(Expr* e) { visit(*e, *this); }
  void optional(Expr* e) {
    if (e != nullptr) expression(e);
  }
  void list(ExprList expressions) {
    for (Expr* e : expressions) expression(e);
  }
  void pattern(Pattern* p) { visit(*p, *this); }

  Scope* open(ScopeKind kind, Scope* parent) {
    auto scope = std::make_unique<Scope>();
    scope->kind = kind;
    scope->number = static_cast<uint32_t>(scopes_.all.size());
    scope->parent = parent;
    scope->code = kind == ScopeKind::Comprehension ? parent->code : scope.get();
    if (parent != nullptr) scope->class_name = parent->class_name;
    scopes_.all.push_back(std::move(scope));
    return scopes_.all.back().get();
  }

  // Defaults and annotations belong to the scope around the function.
  void signature(Parameters parameters) {
    for (Parameter& p : parameters) {
      optional(p.default_value);
      optional(p.annotation);
    }
  }

  void open_function(uint32_t& mark, Parameters parameters, Span shown) {
    scope_ = open(ScopeKind::Function, scope_);
    mark = scope_->number;
    // Registers: positional, keyword-only, then *args and **kwargs.
    auto add = [&](auto&& wanted) {
      for (Parameter& p : parameters) {
        if (wanted(p.kind)) parameter(mangled(p.name.text), p.name.span, shown);
      }
    };
    using K = ParameterKind;
    add([](K k) { return k == K::kPositionalOnly || k == K::kRegular; });
    add([](K k) { return k == K::kKeywordOnly; });
    add([](K k) { return k == K::kVarPositional; });
    add([](K k) { return k == K::kVarKeyword; });
  }

  void parameter(std::string_view name, Span span, Span shown) {
    if (Symbol* there = scope_->find(name); there != nullptr && there->parameter) {
      fail(span, "duplicate argument " + quoted(name) + " in function definition");
    }
    Symbol& symbol = symbol_of(name);
    symbol.parameter = symbol.bound = true;
    refuse_debug(name, shown, "assign to");
  }

  // CPython's compiler refuses it, in the order of the text with its other refusals and behind those of its symbol table.
  void refuse_debug(std::string_view name, Span span, const char* what) {
    if (name != "__debug__" || (!tree_.late_refusal.empty() && tree_.late_span.begin <= span.begin)) return;
    tree_.late_refusal = std::string("cannot ") + what + " __debug__";
    tree_.late_span = span;
  }

  std::string_view mangled(std::string_view name) { return mangle(tree_, scope_->class_name, name); }

  Symbol& symbol_of(std::string_view name) {
    auto [at, fresh] = scope_->by_name.try_emplace(name.data(), static_cast<uint32_t>(scope_->symbols.size()));
    if (fresh) {
      scope_->symbols.emplace_back();
      scope_->symbols.back().name = name;
    }
    return scope_->symbols[at->second];
  }

  Symbol& touch(std::string_view name, Span span) {
    Symbol& symbol = symbol_of(mangled(name));
    if (symbol.first_use == Span{}) symbol.first_use = span;
    return symbol;
  }

  void use(std::string_view name, Span span) { touch(name, span).used = true; }

  Symbol& bind(std::string_view name, Span span) { return bind(name, span, span); }
  // `shown`: what a refusal shows.
  Symbol& bind(std::string_view name, Span span, Span shown) {
    refuse_debug(name, shown, "assign to");
    Symbol& symbol = touch(name, span);
    symbol.bound = true;
    if (in_iteration_target_) symbol.iteration = true;
    return symbol;
  }

  void declare(const Identifier& name, Span span, bool global) {
    const char* what = global ? "global" : "nonlocal";
    Symbol& symbol = symbol_of(mangled(name.text));
    if (symbol.parameter) fail(span, "name " + quoted(name.text) + " is parameter and " + what);
    if (symbol.declared_global != symbol.declared_nonlocal && symbol.declared_global != global) {
      fail(symbol.declaration, "name " + quoted(name.text) + " is nonlocal and global");
    }
    if (symbol.annotated && !symbol.declared_global && !symbol.declared_nonlocal)
      fail(span, "annotated name " + quoted(name.text) + " can't be " + what);
    if (symbol.used && !symbol.declared_global && !symbol.declared_nonlocal) {
      fail(span, "name " + quoted(name.text) + " is used prior to " + what + " declaration");
    }
    if (symbol.bound && !symbol.declared_global && !symbol.declared_nonlocal) {
      fail(span, "name " + quoted(name.text) + " is assigned to before " + what + " declaration");
    }
    (global ? symbol.declared_global : symbol.declared_nonlocal) = true;
    if (symbol.declaration == Span{}) symbol.declaration = span;
  }

  void bind_target(Expr* target) {
    switch (target->kind) {
      case ExprKind::kName: bind(as<Name>(*target).name, target->span); return;
      case ExprKind::kTuple:
        for (Expr* e : as<ast::Tuple>(*target).elements) bind_target(e);
        return;
      case ExprKind::kList:
        for (Expr* e : as<ast::List>(*target).elements) bind_target(e);
        return;
      case ExprKind::kStarred: bind_target(as<Starred>(*target).value); return;
      default: {
        const bool outer = in_iteration_target_;
        in_iteration_target_ = false;
        expression(target);
        in_iteration_target_ = outer;
      }
    }
  }

  void delete_target(Expr* target) {
    switch (target->kind) {
      case ExprKind::kName:
        refuse_debug(as<Name>(*target).name, target->span, "delete");
        bind(as<Name>(*target).name, target->span).deleted = true;
        return;
      case ExprKind::kTuple:
        for (Expr* e : as<ast::Tuple>(*target).elements) delete_target(e);
        return;
      case ExprKind::kList:
        for (Expr* e : as<ast::List>(*target).elements) delete_target(e);
        return;
      default: expression(target);
    }
  }

  // super() and __class__ inside of a function of a class: the class gives its functions a cell with itself. The body of a
  // class sees the cell of the class around it.
  // A function around that has a variable of this name gives it as well: code that is made for a class that stands already.
  void want_class_cell() {
    const std::string_view name = tree_.intern("__class__");
    const auto gives_variable = [&](Scope& s) {
      const Symbol* const own = &s != scope_ && s.kind == ScopeKind::Function ? s.find(name) : nullptr;
      return own != nullptr && own->bound;
    };
    Scope* s = scope_->kind == ScopeKind::Class ? scope_->parent : scope_;
    while (s != nullptr && s->kind != ScopeKind::Class && !gives_variable(*s)) s = s->parent;
    if (s == nullptr) return;
    if (s->kind == ScopeKind::Class) s->needs_class_cell = true;
    symbol_of(name).used = true;
  }

  Tree& tree_;
  Scopes& scopes_;
  Scope* scope_ = nullptr;
  bool in_iteration_target_ = false;
};

// Second pass: where each name of each scope lives.
class Linker {
 public:
  Linker(Tree& tree, Scopes& scopes, bool names_in_mapping)
      : scopes_(scopes), class_name_(tree.intern("__class__")), names_in_mapping_(names_in_mapping) {}

  void run() {
    for (auto& scope : scopes_.all) {
      for (size_t i = 0; i < scope->symbols.size(); ++i) capture_outer(*scope, scope->symbols[i]);
    }
    for (auto& scope : scopes_.all) {
      if (scope->code == scope.get()) place_locals(*scope);
      else place_comprehension(*scope);
    }
    for (auto& scope : scopes_.all) {
      for (Symbol& symbol : scope->symbols) {
        if (symbol.kind == VariableKind::Unresolved) link(*scope, symbol);
      }
    }
  }

 private:
  static bool is_own(const Scope& scope, const Symbol& symbol) {
    return symbol.bound && !symbol.declared_global && !symbol.declared_nonlocal && scope.kind != ScopeKind::Module;
  }

  // The scope outside of `scope` that owns the name, or null for a global.
  Scope* owner_of(Scope& scope, std::string_view name) {
    for (Scope* s = scope.parent; s != nullptr; s = s->parent) {
      if (s->kind == ScopeKind::Module) return nullptr;
      if (s->kind == ScopeKind::Class) {
        if (name.data() == class_name_.data() && s->needs_class_cell) return s;
        continue;
      }
      Symbol* symbol = s->find(name);
      if (symbol == nullptr) continue;
      if (symbol->declared_global) return nullptr;
      if (is_own(*s, *symbol)) return s;
    }
    return nullptr;
  }

  void capture_outer(Scope& scope, Symbol& symbol) {
    if (scope.kind == ScopeKind::Module || symbol.declared_global || is_own(scope, symbol)) return;
    Scope* owner = owner_of(scope, symbol.name);
    if (owner == nullptr) {
      if (symbol.declared_nonlocal)
        fail(symbol.declaration, "no binding for nonlocal " + quoted(symbol.name) + " found");
      return;
    }
    if (owner->code == scope.code) return;
    if (owner->kind != ScopeKind::Class) owner->find(symbol.name)->captured = true;
  }

  void place_locals(Scope& scope) {
    if (scope.kind == ScopeKind::Module) {
      if (!names_in_mapping_) return;
      scope.locals.push_back({});
      scope.register_count = 1;
      share_globals(scope);
      for (Symbol& symbol : scope.symbols) {
        if (!symbol.declared_global) symbol.kind = VariableKind::ClassName;
      }
      return;
    }
    if (scope.kind == ScopeKind::Class) {
      scope.locals.push_back({});  // R[0] is the namespace
      if (scope.needs_class_cell) scope.locals.push_back(class_name_);
      scope.register_count = static_cast<uint32_t>(scope.locals.size());
      for (Symbol& symbol : scope.symbols) {
        if (is_own(scope, symbol)) symbol.kind = VariableKind::ClassName;
      }
      return;
    }
    size_t own = 0;
    for (Symbol& symbol : scope.symbols) own += is_own(scope, symbol);
    const uint32_t most = own > kMostLocalRegisters ? kLocalRegistersOfMany : kMostLocalRegisters;
    // Parameters come first, in their order.
    for (Symbol& symbol : scope.symbols) {
      if (symbol.parameter) give_place(scope, symbol, most);
    }
    scope.near_parameters = static_cast<uint32_t>(scope.locals.size());
    for (Symbol& symbol : scope.symbols) {
      if (!symbol.parameter && is_own(scope, symbol)) give_place(scope, symbol, most);
    }
    scope.register_count = static_cast<uint32_t>(scope.locals.size());
  }

  // A name that a function inside declares global is the global in the outermost code too, not one of its mapping.
  void share_globals(Scope& module) {
    for (auto& scope : scopes_.all) {
      for (const Symbol& symbol : scope->symbols) {
        if (!symbol.declared_global) continue;
        if (Symbol* const outer = module.find(symbol.name)) outer->declared_global = true;
      }
    }
  }

  void give_place(Scope& scope, Symbol& symbol, uint32_t most) {
    if (scope.locals.size() >= most) return give_far_place(scope, symbol);
    symbol.kind = symbol.captured ? VariableKind::Cell : VariableKind::Register;
    symbol.index = static_cast<uint32_t>(scope.locals.size());
    scope.locals.push_back(symbol.name);
  }

  void give_far_place(Scope& code, Symbol& symbol) {
    symbol.kind = symbol.captured ? VariableKind::FarCell : VariableKind::FarRegister;
    symbol.index = static_cast<uint32_t>(code.far_locals.size());
    code.far_locals.push_back(symbol.name);
  }

  // Comprehensions follow the scopes around them in `all`, so an outer one has its place already.
  void place_comprehension(Scope& scope) {
    Scope& code = *scope.code;
    const Scope& parent = *scope.parent;
    uint32_t next = parent.kind == ScopeKind::Comprehension ? parent.first_register + parent.comprehension_registers
                                                            : static_cast<uint32_t>(code.locals.size());
    scope.first_register = next;
    for (Symbol& symbol : scope.symbols) {
      if (!is_own(scope, symbol)) continue;
      if (next >= kMostLocalRegisters) {
        give_far_place(code, symbol);
        continue;
      }
      symbol.kind = symbol.captured ? VariableKind::Cell : VariableKind::Register;
      symbol.index = next++;
    }
    scope.comprehension_registers = next - scope.first_register;
    code.register_count = std::max(code.register_count, next);
  }

  void link(Scope& scope, Symbol& symbol) {
    symbol.kind = VariableKind::Global;
    if (scope.kind == ScopeKind::Module || symbol.declared_global) return;
    Scope* owner = owner_of(scope, symbol.name);
    if (owner == nullptr) return;
    if (owner->code == scope.code) {  // a comprehension that uses a variable of its function
      if (owner->kind == ScopeKind::Class) {
        symbol.kind = VariableKind::Cell;
        symbol.index = 1;
        return;
      }
      const Symbol& theirs = *owner->find(symbol.name);
      symbol.kind = theirs.kind;
      symbol.index = theirs.index;
      symbol.deleted = true;  // whether it is set is for the scope around it to know
      symbol.walrus |= theirs.walrus;
      return;
    }
    symbol.index = closure_index(*scope.code, owner, symbol.name);
    symbol.kind = symbol.index <= kMostNumber ? VariableKind::Free : VariableKind::FarFree;
  }

  // Makes sure that every function between the use and the owner hands the cell on.
  uint32_t closure_index(Scope& code, Scope* owner, std::string_view name) {
    const std::pair<const char*, const Scope*> key{name.data(), owner};
    if (auto found = code.capture_places.find(key); found != code.capture_places.end()) return found->second;
    Scope& maker = *code.parent->code;
    Capture capture{};
    if (&maker == owner->code) {
      const Symbol* const symbol = owner->kind == ScopeKind::Class ? nullptr : owner->find(name);
      const bool far = symbol != nullptr && symbol->kind == VariableKind::FarCell;
      capture.from = far ? Capture::From::Far : Capture::From::Register;
      capture.index = symbol == nullptr ? 1 : symbol->index;
    } else {
      capture.from = Capture::From::Closure;
      capture.index = closure_index(maker, owner, name);
    }
    const auto place = static_cast<uint32_t>(code.captures.size());
    code.captures.push_back(capture);
    code.captured_names.push_back(name);
    code.capture_places.emplace(key, place);
    return place;
  }

  Scopes& scopes_;
  std::string_view class_name_;
  bool names_in_mapping_;
};

}  // namespace

std::string_view mangle(Tree& tree, std::string_view class_name, std::string_view name) {
  if (class_name.empty() || name.size() < 3 || !name.starts_with("__") || name.ends_with("__")) return name;
  if (name.find('.') != std::string_view::npos) return name;
  const size_t first = class_name.find_first_not_of('_');
  if (first == std::string_view::npos) return name;
  return tree.intern("_" + std::string(class_name.substr(first)) + std::string(name));
}

Scopes resolve(Tree& tree, bool names_in_mapping) {
  Scopes scopes;
  NameCollector(tree, scopes).run();
  Linker(tree, scopes, names_in_mapping).run();
  return scopes;
}

}  // namespace tessera::lang
