// _expat: one object for each parser of Expat's, which calls a script's handlers. The class that programs see is in pyexpat.tsr.
//
// No exception may pass through Expat's frames: what a handler raises is kept, Expat is told to stop, and parse() raises it again.
// compile: small (the library takes longer)
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/types/bytes.h"
#include "stdlib/python/native/expat.h"
#include "stdlib/python/native/machine_library.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

using expat::Content;
using expat::Handle;
using expat::Text;

expat::Library open_library() {
  expat::Library made;
  MachineLibrary library({"libexpat.so.1"});
#define TS_EXPAT_FIND(NAME, RESULT, PARAMETERS) library.find("XML_" #NAME, made.NAME);
  TS_EXPAT_FUNCTIONS(TS_EXPAT_FIND)
#undef TS_EXPAT_FIND
  made.found = library.is_complete();
  return made;
}

const expat::Library& library() {
  static const expat::Library opened = open_library();
  return opened;
}

// In the order of pyexpat.tsr's names.
enum Event : uint8_t {
  kStartElement, kEndElement, kProcessingInstruction, kCharacterData, kUnparsedEntityDecl, kNotationDecl, kStartNamespaceDecl,
  kEndNamespaceDecl, kComment, kStartCdataSection, kEndCdataSection, kDefault, kDefaultExpand, kNotStandalone, kExternalEntityRef,
  kStartDoctypeDecl, kEndDoctypeDecl, kEntityDecl, kXmlDecl, kElementDecl, kAttlistDecl, kSkippedEntity, kUnknownEncoding, kEvents
};

struct Parser;

// What Expat gives back with each event.
struct Hook {
  Parser* parser;
};

struct Parser : GcObject {
  Handle* handle = nullptr;
  Hook hook{this};
  Interpreter* in = nullptr;
  Value handlers[kEvents];
  Value parent;  // of a parser for an external entity: they share what the declarations said
  std::exception_ptr problem;
  std::string characters;       // that no handler was given yet
  int64_t room = 0;             // for `characters`; 0: each piece goes to the handler as it comes
  bool ordered = false, specified = false, parsing = false;

  ~Parser() {
    if (handle != nullptr) library().ParserFree(handle);
  }
};

Parser* self_of(const Args& args) { return known_cast<Parser>(args[0]); }
Parser* parser_of(void* user) { return static_cast<Hook*>(user)->parser; }

Value text_or_none(Interpreter& in, Text text) { return text == nullptr ? Value::none() : make_str(in, text); }
Value name_or_none(Interpreter& in, Text text) { return text == nullptr ? Value::none() : Value(intern(in, text)); }

void give_characters(Parser* p) {
  if (p->characters.empty()) return;
  const std::string text = std::exchange(p->characters, std::string());
  const Value handler = p->handlers[kCharacterData];
  if (!handler.is_none()) call(*p->in, handler, {make_str(*p->in, text)});
}

// Calls the handler of an event with the arguments that `make` makes, unless one has raised before.
template <class Make>
Value tell(Parser* p, Event event, Make&& make) noexcept {
  if (p->problem != nullptr) return Value();
  try {
    if (event != kCharacterData) give_characters(p);
    const Value handler = p->handlers[event];
    if (!handler.is_none()) return make(*p->in, handler);
  } catch (...) {
    p->problem = std::current_exception();
    library().StopParser(p->handle, 0);
  }
  return Value();
}

int truth_of(Parser* p, const Value& answer) noexcept {
  if (answer.is_undefined()) return 0;
  if (answer.is_int() || answer.is_bool()) return static_cast<int>(answer.as_int());
  try {
    return static_cast<int>(index(*p->in, answer));
  } catch (...) {
    p->problem = std::current_exception();
    return 0;
  }
}

// --- Expat's calls

void start_element(void* user, Text name, Text* attributes) {
  Parser* const p = parser_of(user);
  tell(p, kStartElement, [&](Interpreter& in, const Value& handler) {
    size_t count = 0;
    if (p->specified) count = static_cast<size_t>(library().GetSpecifiedAttributeCount(p->handle));
    else while (attributes[count] != nullptr) count += 2;
    const Value found = p->ordered ? make_list(in, count) : make_dict(in);
    for (size_t i = 0; i < count; i += 2) {
      const Value key(intern(in, attributes[i]));
      Value value = make_str(in, attributes[i + 1]);
      if (!p->ordered) {
        dict_set(in, as_dict(found), key, std::move(value));
        continue;
      }
      list_append(in, as_list(found), key);
      list_append(in, as_list(found), std::move(value));
    }
    return call(in, handler, {Value(intern(in, name)), found});
  });
}

void character_data(void* user, Text text, int size) {
  Parser* const p = parser_of(user);
  tell(p, kCharacterData, [&](Interpreter& in, const Value& handler) {
    const std::string_view piece(text, static_cast<size_t>(size));
    if (p->room == 0) return call(in, handler, {make_str(in, piece)});
    if (p->characters.size() + piece.size() > static_cast<size_t>(p->room)) give_characters(p);
    const Value now = p->handlers[kCharacterData];
    if (now.is_none()) return Value();
    if (piece.size() > static_cast<size_t>(p->room)) return call(in, now, {make_str(in, piece)});
    p->characters += piece;
    return Value();
  });
}

template <Event event>
void of_name(void* user, Text name) {
  tell(parser_of(user), event, [&](Interpreter& in, const Value& handler) { return call(in, handler, {name_or_none(in, name)}); });
}

template <Event event>
void of_nothing(void* user) {
  tell(parser_of(user), event, [&](Interpreter& in, const Value& handler) { return call(in, handler, {}); });
}

template <Event event>
void of_two(void* user, Text first, Text second) {
  tell(parser_of(user), event,
       [&](Interpreter& in, const Value& handler) { return call(in, handler, {name_or_none(in, first), text_or_none(in, second)}); });
}

template <Event event>
void of_text(void* user, Text text, int size) {
  tell(parser_of(user), event, [&](Interpreter& in, const Value& handler) {
    return call(in, handler, {make_str(in, std::string_view(text, static_cast<size_t>(size)))});
  });
}

void unparsed_entity(void* user, Text name, Text base, Text system, Text id, Text notation) {
  tell(parser_of(user), kUnparsedEntityDecl, [&](Interpreter& in, const Value& handler) {
    return call(in, handler, {name_or_none(in, name), text_or_none(in, base), text_or_none(in, system), text_or_none(in, id),
                              name_or_none(in, notation)});
  });
}

void notation(void* user, Text name, Text base, Text system, Text id) {
  tell(parser_of(user), kNotationDecl, [&](Interpreter& in, const Value& handler) {
    return call(in, handler, {name_or_none(in, name), text_or_none(in, base), text_or_none(in, system), text_or_none(in, id)});
  });
}

int not_standalone(void* user) {
  Parser* const p = parser_of(user);
  return truth_of(p, tell(p, kNotStandalone, [&](Interpreter& in, const Value& handler) { return call(in, handler, {}); }));
}

int external_entity(Handle* handle, Text context, Text base, Text system, Text id) {
  Parser* const p = parser_of(*reinterpret_cast<void**>(handle));  // as XML_GetUserData, a macro of Expat's
  return truth_of(p, tell(p, kExternalEntityRef, [&](Interpreter& in, const Value& handler) {
                    return call(in, handler, {text_or_none(in, context), text_or_none(in, base), text_or_none(in, system),
                                              text_or_none(in, id)});
                  }));
}

void start_doctype(void* user, Text name, Text system, Text id, int has_subset) {
  tell(parser_of(user), kStartDoctypeDecl, [&](Interpreter& in, const Value& handler) {
    return call(in, handler, {name_or_none(in, name), text_or_none(in, system), text_or_none(in, id), Value::integer(has_subset)});
  });
}

void entity(void* user, Text name, int is_parameter, Text text, int size, Text base, Text system, Text id, Text notation_name) {
  tell(parser_of(user), kEntityDecl, [&](Interpreter& in, const Value& handler) {
    const Value value = text == nullptr ? Value::none() : make_str(in, std::string_view(text, static_cast<size_t>(size)));
    return call(in, handler, {name_or_none(in, name), Value::integer(is_parameter), value, text_or_none(in, base),
                              text_or_none(in, system), text_or_none(in, id), name_or_none(in, notation_name)});
  });
}

void xml_declaration(void* user, Text version, Text encoding, int standalone) {
  tell(parser_of(user), kXmlDecl, [&](Interpreter& in, const Value& handler) {
    return call(in, handler, {text_or_none(in, version), text_or_none(in, encoding), Value::integer(standalone)});
  });
}

Value model_of(Interpreter& in, const Content& content) {
  const RecursionGuard guard(in, " in conv_content_model");
  const Value children = make_list(in);
  for (unsigned i = 0; i < content.count; i++) list_append(in, as_list(children), model_of(in, content.children[i]));
  List* const list = as_list(children);
  return make_tuple(in, {Value::integer(content.type), Value::integer(content.quantifier), name_or_none(in, content.name),
                         make_tuple(in, list->begin(), list->size)});
}

void element(void* user, Text name, Content* model) {
  Parser* const p = parser_of(user);
  tell(p, kElementDecl, [&](Interpreter& in, const Value& handler) {
    return call(in, handler, {name_or_none(in, name), model_of(in, *model)});
  });
  library().FreeContentModel(p->handle, model);
}

void attributes(void* user, Text of, Text name, Text kind, Text value, int required) {
  tell(parser_of(user), kAttlistDecl, [&](Interpreter& in, const Value& handler) {
    return call(in, handler, {name_or_none(in, of), name_or_none(in, name), text_or_none(in, kind), text_or_none(in, value),
                              Value::integer(required)});
  });
}

void skipped_entity(void* user, Text name, int is_parameter) {
  tell(parser_of(user), kSkippedEntity, [&](Interpreter& in, const Value& handler) {
    return call(in, handler, {name_or_none(in, name), Value::integer(is_parameter)});
  });
}

// The handler answers the 256 code points of an encoding's bytes, or None.
int unknown_encoding(void* user, Text name, expat::Encoding* encoding) {
  const Value codes = tell(parser_of(user), kUnknownEncoding,
                           [&](Interpreter& in, const Value& handler) { return call(in, handler, {make_str(in, name)}); });
  if (!is_list(codes) || as_list(codes)->size != std::size(encoding->map)) return 0;
  const Value* code = as_list(codes)->begin();
  for (int& place : encoding->map) place = code->is_int() ? static_cast<int>(code->as_int()) : -1, ++code;
  encoding->data = nullptr, encoding->convert = nullptr, encoding->release = nullptr;
  return 1;
}

void listen(Parser* p, int event, bool on) {
  const expat::Library& l = library();
  Handle* const h = p->handle;
  switch (event) {
    case kStartElement: return l.SetStartElementHandler(h, on ? start_element : nullptr);
    case kEndElement: return l.SetEndElementHandler(h, on ? of_name<kEndElement> : nullptr);
    case kProcessingInstruction: return l.SetProcessingInstructionHandler(h, on ? of_two<kProcessingInstruction> : nullptr);
    case kCharacterData: return l.SetCharacterDataHandler(h, on ? character_data : nullptr);
    case kUnparsedEntityDecl: return l.SetUnparsedEntityDeclHandler(h, on ? unparsed_entity : nullptr);
    case kNotationDecl: return l.SetNotationDeclHandler(h, on ? notation : nullptr);
    case kStartNamespaceDecl: return l.SetStartNamespaceDeclHandler(h, on ? of_two<kStartNamespaceDecl> : nullptr);
    case kEndNamespaceDecl: return l.SetEndNamespaceDeclHandler(h, on ? of_name<kEndNamespaceDecl> : nullptr);
    case kComment: return l.SetCommentHandler(h, on ? of_name<kComment> : nullptr);
    case kStartCdataSection: return l.SetStartCdataSectionHandler(h, on ? of_nothing<kStartCdataSection> : nullptr);
    case kEndCdataSection: return l.SetEndCdataSectionHandler(h, on ? of_nothing<kEndCdataSection> : nullptr);
    case kDefault: return l.SetDefaultHandler(h, on ? of_text<kDefault> : nullptr);
    case kDefaultExpand: return l.SetDefaultHandlerExpand(h, on ? of_text<kDefaultExpand> : nullptr);
    case kNotStandalone: return l.SetNotStandaloneHandler(h, on ? not_standalone : nullptr);
    case kExternalEntityRef: return l.SetExternalEntityRefHandler(h, on ? external_entity : nullptr);
    case kStartDoctypeDecl: return l.SetStartDoctypeDeclHandler(h, on ? start_doctype : nullptr);
    case kEndDoctypeDecl: return l.SetEndDoctypeDeclHandler(h, on ? of_nothing<kEndDoctypeDecl> : nullptr);
    case kEntityDecl: return l.SetEntityDeclHandler(h, on ? entity : nullptr);
    case kXmlDecl: return l.SetXmlDeclHandler(h, on ? xml_declaration : nullptr);
    case kElementDecl: return l.SetElementDeclHandler(h, on ? element : nullptr);
    case kAttlistDecl: return l.SetAttlistDeclHandler(h, on ? attributes : nullptr);
    case kSkippedEntity: return l.SetSkippedEntityHandler(h, on ? skipped_entity : nullptr);
    default: return l.SetUnknownEncodingHandler(h, on ? unknown_encoding : nullptr, &p->hook);
  }
}

// --- the object

std::string optional_text(const Value& v) { return v.is_none() ? std::string() : std::string(object_cast<Str>(v)->view()); }

Value new_parser(Interpreter& in, Type* type, Handle* handle) {
  if (handle == nullptr) throw Error(ErrorKind::MemoryError, std::string());
  Parser* const p = make_object<Parser>(in, type);
  p->handle = handle, p->in = &in;
  for (Value& handler : p->handlers) handler = Value::none();
  library().SetUserData(handle, &p->hook);
  return Value::adopt(p);
}

Value make_parser(Interpreter& in, Type* type, const Args& args) {
  if (args.count != 2) throw Error(ErrorKind::TypeError, "Parser() takes 2 arguments");
  const std::string encoding = optional_text(args[0]), separator = optional_text(args[1]);
  return new_parser(in, type, library().ParserCreate_MM(args[0].is_none() ? nullptr : encoding.c_str(), nullptr,
                                                        args[1].is_none() ? nullptr : separator.c_str()));
}

Value child(Interpreter& in, const Args& args) {
  Parser* const p = self_of(args);
  const std::string context = optional_text(args[1]), encoding = optional_text(args[2]);
  const Value made = new_parser(in, p->type, library().ExternalEntityParserCreate(
                                                 p->handle, args[1].is_none() ? nullptr : context.c_str(),
                                                 args[2].is_none() ? nullptr : encoding.c_str()));
  Parser* const c = known_cast<Parser>(made);
  c->parent = args[0];
  c->room = p->room, c->ordered = p->ordered, c->specified = p->specified;
  std::copy(std::begin(p->handlers), std::end(p->handlers), c->handlers);
  return made;
}

// The data's parts one after the other; false: Expat refuses it.
Value parse(Interpreter& in, const Args& args) {
  constexpr size_t kPart = 1 << 20;
  Parser* const p = self_of(args);
  if (p->parsing) throw Error(ErrorKind::RuntimeError, "the parser is parsing");
  const BytesLike data(in, args[1]);
  std::string_view rest = data.view();
  const bool is_final = truth(in, args[2]);
  struct Parsing {
    Parser* p;
    explicit Parsing(Parser* parser) : p(parser) { p->parsing = true; }
    ~Parsing() { p->parsing = false; }
  } const parsing(p);
  for (bool last = false; !last;) {
    const std::string_view part = rest.substr(0, kPart);
    rest.remove_prefix(part.size());
    last = rest.empty();
    const int status = library().Parse(p->handle, part.data(), static_cast<int>(part.size()), last && is_final);
    if (p->problem != nullptr) std::rethrow_exception(std::exchange(p->problem, nullptr));
    if (status == expat::kError) return Value::boolean(false);
    in.poll();
  }
  give_characters(p);
  return Value::boolean(true);
}

Value set_handler(Interpreter& in, const Args& args) {
  Parser* const p = self_of(args);
  const int64_t event = int_argument(in, args[1]);
  if (event < 0 || event >= kEvents) throw Error(ErrorKind::IndexError, "no such event");
  if (event == kCharacterData) give_characters(p);
  p->handlers[event] = args[2];
  listen(p, static_cast<int>(event), !args[2].is_none());
  return Value::none();
}

Value set_option(Interpreter& in, const Args& args) {
  Parser* const p = self_of(args);
  const std::string_view name = text_of(args[1]);
  const int64_t value = int_argument(in, args[2]);
  if (name == "ordered") p->ordered = value != 0;
  else if (name == "specified") p->specified = value != 0;
  else if (name == "prefixes") library().SetReturnNSTriplet(p->handle, value != 0);
  else if (name == "parameters") return Value::integer(library().SetParamEntityParsing(p->handle, static_cast<int>(value)));
  else if (name == "foreign") return Value::integer(library().UseForeignDTD(p->handle, value != 0));
  else give_characters(p), p->room = value;
  return Value::none();
}

// Of all that comes, whatever its declaration says; without effect once parsing has begun.
Value set_encoding(Interpreter&, const Args& args) {
  library().SetEncoding(self_of(args)->handle, std::string(text_of(args[1])).c_str());
  return Value::none();
}

// (code of the error, line, column, byte) where the parser is.
Value place(Interpreter& in, const Args& args) {
  const expat::Library& l = library();
  Handle* const h = self_of(args)->handle;
  return make_tuple(in, {Value::integer(l.GetErrorCode(h)), Value::integer(static_cast<int64_t>(l.GetCurrentLineNumber(h))),
                         Value::integer(static_cast<int64_t>(l.GetCurrentColumnNumber(h))), Value::integer(l.GetCurrentByteIndex(h))});
}

Value buffered(Interpreter&, const Args& args) { return Value::integer(static_cast<int64_t>(self_of(args)->characters.size())); }

Value base(Interpreter& in, const Args& args) { return text_or_none(in, library().GetBase(self_of(args)->handle)); }

Value set_base(Interpreter&, const Args& args) {
  if (library().SetBase(self_of(args)->handle, std::string(text_of(args[1])).c_str()) == 0) throw Error(ErrorKind::MemoryError, std::string());
  return Value::none();
}

// The input from the event on, inside a handler; else None.
Value input_context(Interpreter& in, const Args& args) {
  const Parser* const p = self_of(args);
  int offset = 0, size = 0;
  const Text text = p->parsing ? library().GetInputContext(p->handle, &offset, &size) : nullptr;
  if (text == nullptr) return Value::none();
  return make_bytes(in, {text + offset, static_cast<size_t>(size - offset)});
}

Value error_string(Interpreter& in, const Args& args) {
  return text_or_none(in, library().ErrorString(static_cast<int>(int_argument(in, args[0]))));
}

const NativeDef kMethods[] = {
    {"parse(self, data, is_final, /)", parse},
    {"child(self, context: str | None, encoding: str | None, /)", child},
    {"set_handler(self, event, handler, /)", set_handler},
    {"set_option(self, name: str, value, /)", set_option},
    {"set_encoding(self, encoding: str, /)", set_encoding},
    {"place(self, /)", place},
    {"buffered(self, /)", buffered},
    {"base(self, /)", base},
    {"set_base(self, base: str, /)", set_base},
    {"input_context(self, /)", input_context},
};

}  // namespace

void fill_expat(Interpreter& in, Module& module) {
  if (!library().found)
    throw Error(ErrorKind::ImportError, "the XML parser Expat is not installed (libexpat.so.1; Debian: libexpat1)");
  set_member(in, module, "version", make_str(in, library().ExpatVersion()));
  in.def(module, "error_string(code, /)", "What an error's number means.", error_string);
  Type* const type = in.new_type({.name = "Parser", .module = "_expat", .size = sizeof(Parser), .flags = kFinalType});
  type->make = make_parser;
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<Parser>(self)); };
  type->slots.traverse = [](Object* self, Visitor& visitor) {
    Parser* const p = known_cast<Parser>(self);
    for (Value& handler : p->handlers) visitor(handler);
    visitor(p->parent);
  };
  type->slots.clear = [](Interpreter&, Object* self) {
    for (Value& handler : known_cast<Parser>(self)->handlers) handler = Value::none();
  };
  in.add_methods(type, kMethods, std::size(kMethods));
  set_member(in, module, "Parser", Value(static_cast<Object*>(type)));
}

}  // namespace tessera::stdlib
