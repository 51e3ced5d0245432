// Arguments to parameters of script functions, and CPython's words where they do not fit.
#include <algorithm>
#include <string>
#include <vector>
#include "lang/core/interpreter.h"
#include "lang/objects/exception.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/types/dict.h"
#include "lang/types/tuple.h"
#include "lang/vm/call.h"
#include "lang/vm/native_refusal.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

namespace {

std::string quoted(const Str* name) { return "'" + std::string(name->view()) + "'"; }

// 'a', 'b', and 'c'
std::string name_list(const std::vector<Str*>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += names.size() == 2 ? " and " : i + 1 == names.size() ? ", and " : ", ";
    text += quoted(names[i]);
  }
  return text;
}

const char* plural(uint64_t n) { return n == 1 ? "" : "s"; }

// One call on its way into the registers.
class Binder {
 public:
  Binder(Interpreter& in, const Function* function, Value* arguments, uint32_t count, const Tuple* keywords,
         Value* window)
      : in_(in),
        function_(function),
        code_(*function->code),
        arguments_(arguments),
        positional_(keywords == nullptr ? count : count - keywords->size),
        keywords_(keywords),
        window_(window) {
    named_ = code_.positional + code_.keyword_only;
    uint32_t next = named_;
    var_args_ = (code_.code_flags & kVarArgs) ? next++ : kNone;
    var_keywords_ = (code_.code_flags & kVarKeywords) ? next : kNone;
  }

  bool bind() {
    if (code_.code_flags & kNamesInMapping && positional_ == 0 && keywords_ == nullptr) {
      window_[0] = Value(function_->globals);  // FunctionType(compile(...), globals)()
      return true;
    }
    empty_window();
    bool bound = false;
    try {
      place_positional();
      bound = place_keywords() && (positional_ <= code_.positional || var_args_ != kNone || too_many()) && fill_defaults();
    } catch (...) {
      empty_window();
      throw;
    }
    if (!bound) empty_window();
    return bound;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void empty_window() {
    for (size_t i = 0; i < code_.parameters.size(); ++i) window_[i] = Value();
  }

  [[gnu::cold, gnu::noinline]] bool fail(const std::string& what) {
    if (is_native_in_cpython(in_, function_->globals, function_->qualname->view())) refuse_as_native();
    in_.vm().raise_next(ErrorKind::TypeError, {function_->qualname->view(), "() ", what});
    return false;
  }

  void place_positional() {
    const uint32_t plain = std::min(positional_, code_.positional);
    for (uint32_t i = 0; i < plain; ++i) window_[i] = std::move(arguments_[i]);
    if (var_args_ != kNone) {
      window_[var_args_] = make_tuple_moving(in_, arguments_ + plain, positional_ - plain);
    }
    if (var_keywords_ != kNone) window_[var_keywords_] = make_dict(in_);
  }

  uint32_t find(const Str* name) const {
    for (uint32_t i = code_.positional_only; i < named_; ++i) {
      if (str_equal(code_.parameters[i], name)) return i;
    }
    return kNone;
  }

  bool place_keywords() {
    if (keywords_ == nullptr) return true;
    for (uint32_t i = 0; i < keywords_->size; ++i) {
      const Value& key = (*keywords_)[i];
      if (!is_str(key)) return fail("keywords must be strings");
      Value& value = arguments_[positional_ + i];
      const uint32_t at = find(as_str(key));
      if (at == kNone) {
        if (var_keywords_ == kNone) return unexpected(as_str(key));
        Dict* const rest = as_dict(window_[var_keywords_]);
        if (key.as_object()->type == in_.types.str) dict_set_str(in_, rest, as_str(key), std::move(value));
        else dict_set(in_, rest, key, std::move(value));
      } else if (!window_[at].is_undefined()) {
        return repeated(as_str(key));
      } else {
        window_[at] = std::move(value);
      }
    }
    return true;
  }

  [[gnu::cold, gnu::noinline]] bool repeated(const Str* key) {
    return fail(make_error(ErrorKind::TypeError, {"got multiple values for argument '", key->view(), "'"}).message);
  }

  [[gnu::cold, gnu::noinline]] bool unexpected(const Str* key) {
    std::string names;
    for (uint32_t k = 0; k < keywords_->size; ++k) {
      if (!is_str((*keywords_)[k])) continue;
      for (uint32_t i = 0; i < code_.positional_only; ++i) {
        if (!str_equal(code_.parameters[i], as_str((*keywords_)[k]))) continue;
        names += (names.empty() ? "" : ", ") + std::string(code_.parameters[i]->view());
      }
    }
    if (!names.empty()) return fail("got some positional-only arguments passed as keyword arguments: '" + names + "'");
    return fail("got an unexpected keyword argument " + quoted(key));
  }

  uint32_t default_count() const {
    return function_->defaults.is_undefined() ? 0 : as_tuple(function_->defaults)->size;
  }

  [[gnu::cold, gnu::noinline]] bool too_many() {
    uint32_t keyword_given = 0;
    for (uint32_t i = code_.positional; i < named_; ++i) keyword_given += window_[i].is_undefined() ? 0 : 1;
    const uint32_t defaults = std::min(default_count(), code_.positional);
    std::string takes = std::to_string(code_.positional);
    bool many = code_.positional != 1;
    if (defaults != 0) {
      takes = "from " + std::to_string(code_.positional - defaults) + " to " + takes;
      many = true;
    }
    std::string given = std::to_string(positional_);
    if (keyword_given != 0) {
      given += std::string(" positional argument") + plural(positional_) + " (and " + std::to_string(keyword_given) +
               " keyword-only argument" + plural(keyword_given) + ")";
    }
    return fail("takes " + takes + " positional argument" + (many ? "s" : "") + " but " + given +
         (positional_ == 1 && keyword_given == 0 ? " was given" : " were given"));
  }

  bool fill_defaults() {
    const uint32_t defaults = std::min(default_count(), code_.positional);
    const uint32_t first_default = code_.positional - defaults;
    std::vector<Str*> missing;
    for (uint32_t i = 0; i < code_.positional; ++i) {
      if (!window_[i].is_undefined()) continue;
      if (i >= first_default) {
        const Tuple* tuple = as_tuple(function_->defaults);
        window_[i] = (*tuple)[tuple->size - defaults + (i - first_default)];
      } else {
        missing.push_back(code_.parameters[i]);
      }
    }
    if (!missing.empty()) return report_missing("positional", missing);
    for (uint32_t i = code_.positional; i < named_; ++i) {
      if (!window_[i].is_undefined()) continue;
      const Value* value = function_->keyword_defaults.is_undefined()
                               ? nullptr
                               : dict_get_str(as_dict(function_->keyword_defaults), code_.parameters[i]);
      if (value == nullptr) {
        missing.push_back(code_.parameters[i]);
      } else {
        window_[i] = *value;
      }
    }
    return missing.empty() || report_missing("keyword-only", missing);
  }

  [[gnu::cold, gnu::noinline]] bool report_missing(const char* kind, const std::vector<Str*>& names) {
    return fail(make_error(ErrorKind::TypeError, {"missing ", std::to_string(names.size()), " required ", kind, " argument",
                                                  plural(names.size()), ": ", name_list(names)}).message);
  }

  // Throws the error that a function in C has for these arguments. What was moved to the window is taken from there.
  void refuse_as_native() {
    std::vector<Value> given;
    const uint32_t plain = std::min(positional_, code_.positional);
    for (uint32_t i = 0; i < plain; ++i) given.push_back(window_[i]);
    for (uint32_t i = plain; i < positional_; ++i)
      given.push_back(var_args_ == kNone ? arguments_[i] : (*as_tuple(window_[var_args_]))[i - plain]);
    std::vector<Value> names;
    for (uint32_t i = 0; keywords_ != nullptr && i < keywords_->size; ++i) {
      const Value& key = (*keywords_)[i];
      if (!is_str(key)) return;
      const uint32_t at = find(as_str(key));
      const Value* rest = var_keywords_ == kNone ? nullptr : dict_get(in_, as_dict(window_[var_keywords_]), key);
      names.push_back(key);
      given.push_back(!arguments_[positional_ + i].is_undefined() ? arguments_[positional_ + i]
                      : at != kNone                               ? window_[at]
                      : rest != nullptr                           ? *rest
                                                                  : Value::none());
    }
    const Value tuple = make_tuple(in_, names.data(), names.size());
    refuse_native_call(in_, function_, Args{given.data(), static_cast<uint32_t>(given.size()), names.empty() ? nullptr : as_tuple(tuple)});
  }

  Interpreter& in_;
  const Function* function_;
  const Code& code_;
  Value* arguments_;
  uint32_t positional_;
  const Tuple* keywords_;
  Value* window_;
  uint32_t named_, var_args_, var_keywords_;
};

}  // namespace

bool bind_parameters(Interpreter& in, const Function* function, Value* arguments, uint32_t count, const Tuple* keywords,
                     Value* window) {
  return Binder(in, function, arguments, count, keywords, window).bind();
}

std::string callee_text(Interpreter& in, const Value& callee) {
  if (callee.is_none()) return "None";
  if (callee.is_object()) {
    switch (callee.as_object()->kind) {
      case ObjectKind::Function: {
        const Function* function = as_function(callee);
        const bool method = function->qualname->size != function->name->size && is_native_in_cpython(in, function->globals, function->qualname->view());
        std::string module = is_str(function->module) && !method ? std::string(text_of(function->module)) + "." : "";
        if (module == "builtins.") module.clear();
        return module + std::string(function->qualname->view()) + "()";
      }
      case ObjectKind::BoundMethod:
        if (known_cast<BoundMethod>(callee)->function.as_object()->kind == ObjectKind::NativeFunction) break;  // the name of the bound method counts
        return callee_text(in, known_cast<BoundMethod>(callee)->function);
      case ObjectKind::Type: {
        const Type* type = known_cast<Type>(callee);
        std::string module = type->module != nullptr ? std::string(type->module->view()) + "." : "";
        if (module == "builtins.") module.clear();
        return module + std::string(type->qualname->view()) + "()";
      }
      default: break;
    }
  }
  const Value name = find_attr(in, callee, in.names->qualname);
  if (!is_str(name)) return str_text(in, callee);
  const Value module = find_attr(in, callee, in.names->module);
  const bool named = is_str(module) && text_of(module) != "builtins";
  return (named ? std::string(text_of(module)) + "." : "") + std::string(text_of(name)) + "()";
}

}  // namespace tessera::lang
