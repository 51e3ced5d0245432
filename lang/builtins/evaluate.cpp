// eval, exec, compile, __import__, breakpoint: programs that are made while the program runs.
// compile: small (compiling the text takes longer)
#include <memory>
#include <string>

#include "lang/objects/class.h"
#include "lang/builtins/builtins.h"
#include "lang/builtins/code_flags.h"
#include "lang/compiler/chunk.h"
#include "lang/compiler/compile.h"
#include "lang/core/error.h"
#include "lang/core/files.h"
#include "lang/core/host.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/attribute.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/syntax/parse.h"
#include "lang/syntax/source.h"
#include "lang/syntax/source_encoding.h"
#include "lang/types/bigint.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/types/number.h"
#include "lang/types/sequence.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/vm.h"

namespace tessera::lang {
namespace {

std::string name_of_type(Interpreter& in, const Value& v) { return std::string(type_name(in, v)); }

bool is_mapping(Interpreter& in, const Value& v) {
  return is_mapping_type(type_of(in, v)) && !is_type(v);
}

bool is_package(const Value& v) {
  return v.is_object() && v.as_object()->kind == ObjectKind::Module && object_cast<Module>(v)->is_package;
}

bool is_code(const Value& v) { return v.is_object() && v.as_object()->kind == ObjectKind::Code; }
Code* as_code(const Value& v) { return object_cast<Code>(v); }

void require_code(Interpreter& in, const char* what) {
  if (in.limits.code) return;
  throw_error(ErrorKind::PermissionError, "this program is not allowed to use %s", what);
}

// The text of a str or of an object with bytes, whose encoding its first lines may declare. False: it is neither.
bool source_text(Interpreter& in, const Value& v, std::string& text) {
  if (is_str(v)) {
    text = text_of(v);
    // Surrogates cannot be written in UTF-8, which the error says.
    for (size_t at = text.find('\xed'); at != std::string::npos; at = text.find('\xed', at + 1))
      if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xa0) call_method(in, v, intern(in, "encode"));
  } else if (is_bytes_without_gaps(in, v)) {
    text = decode_source(std::string(BytesLike(in, v).view()));
  } else {
    return false;
  }
  if (text.find('\0') != std::string::npos)
    throw Error(ErrorKind::ValueError, "source code string cannot contain null bytes");
  return true;
}

std::string file_name(Interpreter& in, const Value& v) {
  if (is_str(v)) return std::string(text_of(v));
  Value name = v;
  if (!is_bytes(v) && is_bytes_like(in, v)) {
    in.warn(ErrorKind::DeprecationWarning, "path should be string, bytes, or os.PathLike, not " + name_of_type(in, v));
    name = call(in, Value(bytes_types(in).bytes), {v});  // of memory with gaps too
  } else if (!is_bytes(v)) {
    const Value method = type_lookup(type_of(in, v), intern(in, "__fspath__"));
    if (method.is_undefined())
      throw_error(ErrorKind::TypeError, "expected str, bytes or os.PathLike object, not %s",
                  std::string(type_of(in, v)->name->view()).c_str());
    name = call_special(in, method, v);
  }
  if (is_str(name)) return std::string(text_of(name));
  if (!is_bytes(name))
    throw_error(ErrorKind::TypeError, "expected %s.__fspath__() to return str or bytes, not %s",
                name_of_type(in, v).c_str(), name_of_type(in, name).c_str());
  return std::string(bytes_of(name));
}

// A traceback shows lines of the text only where a file of this name could have been read.
std::shared_ptr<Source> make_source(Interpreter& in, std::string name, std::string_view text) {
  auto source = std::make_shared<Source>(std::move(name), text);
  Files* const files = in.host().files.get();
  if (source->name().starts_with('<') || !in.limits.files || files == nullptr || !files->is_file(source->name()))
    source->set_unlisted();
  return source;
}

// --- running

// What eval and exec run a code with.
struct Names {
  Value globals, locals;
};

const Frame& running_frame(Interpreter& in) {
  const Frame* frame = in.vm().top();
  if (frame == nullptr) throw Error(ErrorKind::SystemError, "globals and locals cannot be NULL");
  return *frame;
}

void fill_names(Interpreter& in, Names& names, const Value& globals, const Value& locals) {
  names.globals = globals;
  names.locals = locals;
  if (globals.is_none()) {
    const Frame& frame = running_frame(in);
    names.globals = Value(frame.function->globals);
    if (locals.is_none()) names.locals = frame_locals(in, frame);
  } else if (locals.is_none()) {
    names.locals = globals;
  }
  Dict* const dict = as_dict(names.globals);
  if (dict_get_str(dict, in.names->builtins_) == nullptr) {
    const Frame* frame = in.vm().top();
    dict_set_str(in, dict, in.names->builtins_, Value(frame == nullptr ? in.vm().builtins() : frame->function->builtins));
  }
}

Value run(Interpreter& in, const Value& code, const Names& names, const Value& cells) {
  const Value made = make_function(in, as_code(code), as_dict(names.globals));
  Function* const function = as_function(made);
  for (size_t i = 0; i < as_code(code)->captures.size(); ++i) {
    function->closure[i] = object_cast<Cell>(as_tuple(cells)->items[i]);
    ++function->closure[i]->refcount;
  }
  // Other code than that of eval, exec and class statements keeps its variables in registers.
  const bool in_mapping = (as_code(code)->code_flags & (kNamesInMapping | kClassBody)) != 0;
  return in.vm().call_function(function, Args{&names.locals, in_mapping ? 1u : 0u});
}

bool inherits_annotations(Interpreter& in) {
  const Frame* frame = in.vm().top();
  return frame != nullptr && (frame->code->code_flags & kTextAnnotations) != 0;
}

Value compile_for(Interpreter& in, const std::string& text, CompileMode mode) {
  CompileOptions options(mode);
  options.names_in_mapping = true;
  options.text_annotations = inherits_annotations(in);
  return compile_source(in, make_source(in, "<string>", text), options);
}

Value eval_function(Interpreter& in, const Args& args) {
  require_code(in, "eval");
  const Value &globals = args[1], &locals = args[2];
  if (!locals.is_none() && !is_mapping(in, locals)) throw Error(ErrorKind::TypeError, "locals must be a mapping");
  if (!globals.is_none() && !is_dict(globals)) {
    throw Error(ErrorKind::TypeError, is_mapping(in, globals)
                                          ? "globals must be a real dict; try eval(expr, {}, mapping)"
                                          : "globals must be a dict");
  }
  Names names;
  fill_names(in, names, globals, locals);
  if (is_code(args[0])) {
    if (!as_code(args[0])->captures.empty())
      throw Error(ErrorKind::TypeError, "code object passed to eval() may not contain free variables");
    return run(in, args[0], names, Value());
  }
  std::string text;
  if (!source_text(in, args[0], text))
    throw Error(ErrorKind::TypeError, "eval() arg 1 must be a string, bytes or code object");
  text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
  return run(in, compile_for(in, text, CompileMode::Expression), names, Value());
}

void check_closure(const Value& code, const Value& closure) {
  const size_t wanted = as_code(code)->captures.size();
  if (wanted == 0) {
    if (!closure.is_none()) throw Error(ErrorKind::TypeError, "cannot use a closure with this code object");
    return;
  }
  bool fits = is_tuple(closure) && as_tuple(closure)->size == wanted;
  for (size_t i = 0; fits && i < wanted; ++i) {
    const Value& cell = as_tuple(closure)->items[i];
    fits = cell.is_object() && cell.as_object()->kind == ObjectKind::Cell;
  }
  if (!fits) throw_error(ErrorKind::TypeError, "code object requires a closure of exactly length %zu", wanted);
}

Value exec_function(Interpreter& in, const Args& args) {
  require_code(in, "exec");
  const Value &globals = args[1], &locals = args[2], &closure = args[3];
  if (!globals.is_none() && !is_dict(globals)) {
    throw_error(ErrorKind::TypeError, "exec() globals must be a dict, not %s", name_of_type(in, globals).c_str());
  }
  if (!locals.is_none() && !is_mapping(in, locals)) {
    throw_error(ErrorKind::TypeError, "locals must be a mapping or None, not %s", name_of_type(in, locals).c_str());
  }
  Names names;
  fill_names(in, names, globals, locals);
  if (is_code(args[0])) {
    check_closure(args[0], closure);
    run(in, args[0], names, closure);
    return Value::none();
  }
  if (!closure.is_none()) throw Error(ErrorKind::TypeError, "closure can only be used when source is a code object");
  std::string text;
  if (!source_text(in, args[0], text))
    throw Error(ErrorKind::TypeError, "exec() arg 1 must be a string, bytes or code object");
  run(in, compile_for(in, text, CompileMode::Module), names, Value());
  return Value::none();
}

// --- compile

CompileMode mode_of(const std::string_view mode, int64_t flags) {
  if (mode == "exec" || mode == "single") return CompileMode::Module;
  if (mode == "eval") return CompileMode::Expression;
  if (mode == "func_type" && !(flags & kOnlyAst))
    throw Error(ErrorKind::ValueError, "compile() mode 'func_type' requires flag PyCF_ONLY_AST");
  throw Error(ErrorKind::ValueError, flags & kOnlyAst
                                         ? "compile() mode must be 'exec', 'eval', 'single' or 'func_type'"
                                         : "compile() mode must be 'exec', 'eval' or 'single'");
}

Value of_ast(Interpreter& in, std::string_view function, std::initializer_list<Value> args) {
  const Value module(static_cast<Object*>(in.import("ast")));
  return call(in, get_attr(in, module, intern(in, function)), args);
}

// A node of the module ast, which nobody has before that is imported.
bool is_tree(Interpreter& in, const Value& v) {
  Module* const module = in.modules().find("ast");
  const Value* base = module == nullptr ? nullptr : dict_get_text(module->dict, "AST");
  return base != nullptr && base->is_object() && base->as_object()->kind == ObjectKind::Type &&
         is_instance(in, v, object_cast<Type>(*base));
}

void check_no_null(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) throw Error(ErrorKind::ValueError, "embedded null character");
}

Value compile_function(Interpreter& in, const Args& args) {
  require_code(in, "compile");
  const std::string name = file_name(in, args[1]);
  check_no_null(name);
  if (!is_str(args[2])) throw_error(ErrorKind::TypeError, "compile() argument 'mode' must be str, not %s", argument_type(in, args[2]));
  const std::string_view mode_name = text_of(args[2]);
  check_no_null(mode_name);
  const int flags = whole_to_int(whole_index(in, args[3]));
  const bool inherits = whole_to_int(whole_index(in, args[4])) == 0;
  const int optimize = whole_to_int(whole_index(in, args[5]));
  if (flags & ~kKnownFlags) throw Error(ErrorKind::ValueError, "compile(): unrecognised flags");
  if (optimize < -1 || optimize > 2) throw Error(ErrorKind::ValueError, "compile(): invalid optimize value");
  CompileOptions options(mode_of(mode_name, flags));
  options.names_in_mapping = true;
  options.text_annotations = (flags & kFutureAnnotations) != 0 || (inherits && inherits_annotations(in));
  options.top_level_await = (flags & kAllowTopLevelAwait) != 0;
  options.shows_values = mode_name == "single";
  options.optimize = optimize;
  if (is_tree(in, args[0])) {
    if (flags & kOnlyAst) return args[0];
    return of_ast(in, "_compile", {args[0], args[1], args[2], Value::integer(flags), args[5]});
  }
  if (flags & kOnlyAst) return of_ast(in, "_parse", {args[0], args[1], args[2]});
  std::string text;
  if (!source_text(in, args[0], text))
    throw Error(ErrorKind::TypeError, "compile() arg 1 must be a string, bytes or AST object");
  const std::shared_ptr<Source> source = make_source(in, name, text);
  // A prompt's text that ends a line is as a block whose last line is empty.
  if ((flags & kAllowIncompleteInput) &&
      is_complete(text.ends_with('\n') ? text + "\n" : text) == Completeness::kIncomplete) {
    const auto end = static_cast<uint32_t>(source->text().size());
    throw_syntax_error(in, *source, make_syntax_error(*source, Span{end, end}, "incomplete input"));
  }
  return compile_source(in, source, options);
}

// --- __import__, breakpoint

Value breakpoint_function(Interpreter& in, const Args& args) {
  const Value sys(static_cast<Object*>(in.import("sys")));
  const Value hook = find_attr(in, sys, intern(in, "breakpointhook"));
  if (hook.is_undefined()) throw Error(ErrorKind::RuntimeError, "lost sys.breakpointhook");
  return call(in, hook, args);
}

constexpr NativeDef kRows[] = {
    {"eval(source, globals=None, locals=None, /)", eval_function,
     "Evaluate the given source in the context of globals and locals.\n\nThe source may be a string representing a "
     "Python expression\nor a code object as returned by compile()."},
    {"exec(source, globals=None, locals=None, /, *, closure=None)", exec_function,
     "Execute the given source in the context of globals and locals.\n\nThe source may be a string representing one or "
     "more Python statements\nor a code object as returned by compile()."},
    {"compile(source, filename, mode, flags=0, dont_inherit=False, optimize=-1, *, "
     "_feature_version: int = -1)",
     compile_function, "Compile source into a code object that can be executed by exec() or eval()."},
    {"__import__(name, globals=None, locals=None, fromlist=(), level: cint = 0)", import_function,
     "Import a module: what the import statement calls."},
    {"breakpoint", breakpoint_function, "Call sys.breakpointhook() with these arguments."},
};

}  // namespace

Value import_function(Interpreter& in, const Args& args) {
  if (!is_str(args[0])) throw Error(ErrorKind::TypeError, "module name must be a string");
  const int64_t level = args[4].as_int();
  if (level < 0) throw Error(ErrorKind::ValueError, "level must be >= 0");
  const std::string_view written = text_of(args[0]);
  if (level == 0 && written.empty()) throw Error(ErrorKind::ValueError, "Empty module name");
  if (level > 0 && args[1].is_none())
    throw Error(ErrorKind::KeyError, make_str(in, "'__name__' not in globals"));
  if (level > 0 && !is_dict(args[1])) throw Error(ErrorKind::TypeError, "globals must be a dict");
  Modules& modules = in.modules();
  const std::string name = level == 0 ? std::string(written)
                                      : modules.absolute_name(as_dict(args[1]), written, static_cast<uint32_t>(level));
  const Value module = modules.import(name);
  const bool wants_names = truth(in, args[3]);
  if (!wants_names) {
    if (level == 0) {
      const size_t dot = name.find('.');
      return dot == std::string::npos ? module : modules.import(name.substr(0, dot));
    }
    // The first part of what was written, below the package that the level names.
    const size_t rest = written.size() - std::min(written.find('.'), written.size());
    return rest == 0 ? module : modules.import(name.substr(0, name.size() - rest));
  }
  // Modules of a package that the names mean are imported; a name that is no module is for the caller to miss.
  if (is_package(module)) {
    for_each(in, args[3], [&](const Value& wanted) {
      if (!is_str(wanted)) {
        throw_error(ErrorKind::TypeError, "Item in ``from list'' must be str, not %s",
                    name_of_type(in, wanted).c_str());
      }
      if (text_of(wanted) == "*" || !find_attr(in, module, intern(in, text_of(wanted))).is_undefined()) return;
      modules.import_submodule(module, as_str(wanted));
    });
  }
  return module;
}

void add_code_functions(Interpreter& in, Module& module) { define_all(in, module, kRows); }

}  // namespace tessera::lang
