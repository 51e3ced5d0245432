// builtins.__build_class__: the class statement as a function, which a program may call or replace.
#include "lang/builtins/builtins.h"
#include "lang/compiler/chunk.h"
#include "lang/core/error.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"

namespace tessera::lang {

// __build_class__(body, name, *bases, metaclass=None, **keywords). The body is a function of the namespace.
Value build_class_function(Interpreter& in, const Args& args) {
  const uint32_t positional = args.positional();
  if (positional < 2) throw Error(ErrorKind::TypeError, "__build_class__: not enough arguments");
  if (!is_function(args[0])) throw Error(ErrorKind::TypeError, "__build_class__: func must be a function");
  if (!is_str(args[1])) throw Error(ErrorKind::TypeError, "__build_class__: name is not a string");
  Str* const name = intern(in, text_of(args[1]));
  const Value bases = make_tuple(in, args.values + 2, positional - 2);
  Value keywords = Value::none();
  if (positional < args.count) keywords = make_dict(in);
  for (uint32_t i = positional; i < args.count; ++i)
    dict_set(in, as_dict(keywords), args.keyword_names->items[i - positional], args[i]);
  const Value state = begin_class(in, name, bases, keywords);
  const Value cell = call(in, args[0], {as_tuple(state)->items[0]});
  return end_class(in, state, cell, name, bases);
}

}  // namespace tessera::lang
