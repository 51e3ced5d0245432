// Expat, the XML parser behind xml.parsers.expat, opened with dlopen at the first import: start-up stays small, and a machine without it
// runs all programs that read no XML. Only what expat_module.cpp calls is declared, after Expat's own documentation of its C interface
// (version 2), whose numbers and layouts never change.
#pragma once

namespace tessera::stdlib::expat {

struct Handle;  // XML_Parser
using Text = const char*;
struct Content {
  int type, quantifier;
  char* name;
  unsigned count;
  Content* children;
};
struct Encoding {
  int map[256];
  void* data;
  int (*convert)(void*, Text);
  void (*release)(void*);
};

inline constexpr int kError = 0;  // of parse()

// name, result, parameters
#define TS_EXPAT_FUNCTIONS(F)                                                                     \
  F(ParserCreate_MM, Handle*, (Text encoding, const void* memory, Text separator))                \
  F(ExternalEntityParserCreate, Handle*, (Handle*, Text context, Text encoding))                  \
  F(ParserFree, void, (Handle*))                                                                  \
  F(Parse, int, (Handle*, Text, int size, int is_final))                                          \
  F(SetEncoding, int, (Handle*, Text))                                                            \
  F(StopParser, int, (Handle*, unsigned char resumable))                                          \
  F(SetUserData, void, (Handle*, void*))                                                          \
  F(GetErrorCode, int, (Handle*))                                                                 \
  F(ErrorString, Text, (int code))                                                                \
  F(GetCurrentLineNumber, unsigned long, (Handle*))                                               \
  F(GetCurrentColumnNumber, unsigned long, (Handle*))                                             \
  F(GetCurrentByteIndex, long, (Handle*))                                                         \
  F(GetInputContext, Text, (Handle*, int* offset, int* size))                                     \
  F(GetSpecifiedAttributeCount, int, (Handle*))                                                   \
  F(SetReturnNSTriplet, void, (Handle*, int))                                                     \
  F(SetParamEntityParsing, int, (Handle*, int))                                                   \
  F(UseForeignDTD, int, (Handle*, unsigned char))                                                 \
  F(SetBase, int, (Handle*, Text))                                                                \
  F(GetBase, Text, (Handle*))                                                                     \
  F(FreeContentModel, void, (Handle*, Content*))                                                  \
  F(ExpatVersion, Text, ())                                                                       \
  F(SetUnknownEncodingHandler, void, (Handle*, int (*)(void*, Text, Encoding*), void*))           \
  F(SetStartElementHandler, void, (Handle*, void (*)(void*, Text, Text*)))                        \
  F(SetEndElementHandler, void, (Handle*, void (*)(void*, Text)))                                 \
  F(SetProcessingInstructionHandler, void, (Handle*, void (*)(void*, Text, Text)))                \
  F(SetCharacterDataHandler, void, (Handle*, void (*)(void*, Text, int)))                         \
  F(SetUnparsedEntityDeclHandler, void, (Handle*, void (*)(void*, Text, Text, Text, Text, Text))) \
  F(SetNotationDeclHandler, void, (Handle*, void (*)(void*, Text, Text, Text, Text)))             \
  F(SetStartNamespaceDeclHandler, void, (Handle*, void (*)(void*, Text, Text)))                   \
  F(SetEndNamespaceDeclHandler, void, (Handle*, void (*)(void*, Text)))                           \
  F(SetCommentHandler, void, (Handle*, void (*)(void*, Text)))                                    \
  F(SetStartCdataSectionHandler, void, (Handle*, void (*)(void*)))                                \
  F(SetEndCdataSectionHandler, void, (Handle*, void (*)(void*)))                                  \
  F(SetDefaultHandler, void, (Handle*, void (*)(void*, Text, int)))                               \
  F(SetDefaultHandlerExpand, void, (Handle*, void (*)(void*, Text, int)))                         \
  F(SetNotStandaloneHandler, void, (Handle*, int (*)(void*)))                                     \
  F(SetExternalEntityRefHandler, void, (Handle*, int (*)(Handle*, Text, Text, Text, Text)))       \
  F(SetStartDoctypeDeclHandler, void, (Handle*, void (*)(void*, Text, Text, Text, int)))          \
  F(SetEndDoctypeDeclHandler, void, (Handle*, void (*)(void*)))                                   \
  F(SetEntityDeclHandler, void, (Handle*, void (*)(void*, Text, int, Text, int, Text, Text, Text, Text))) \
  F(SetXmlDeclHandler, void, (Handle*, void (*)(void*, Text, Text, int)))                         \
  F(SetElementDeclHandler, void, (Handle*, void (*)(void*, Text, Content*)))                      \
  F(SetAttlistDeclHandler, void, (Handle*, void (*)(void*, Text, Text, Text, Text, int)))         \
  F(SetSkippedEntityHandler, void, (Handle*, void (*)(void*, Text, int)))

struct Library {
#define TS_EXPAT_MEMBER(NAME, RESULT, PARAMETERS) RESULT(*NAME) PARAMETERS = nullptr;
  TS_EXPAT_FUNCTIONS(TS_EXPAT_MEMBER)
#undef TS_EXPAT_MEMBER
  bool found = false;
};

}  // namespace tessera::stdlib::expat
