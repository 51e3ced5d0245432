// The docstrings of the built-in types: what `__doc__` of a type shows that was made without one.
// compile: small (text of help)
#include "lang/types/type_docs.h"

#include <iterator>

namespace tessera::lang {

namespace {

struct Row {
  std::string_view name, doc;
};

constexpr Row kRows[] = {
    {"object", "The base class of the class hierarchy.\n\nIts instances have no attributes of their own."},
    {"type", "type(object) -> the object's type\ntype(name, bases, dict, **kwds) -> a new type"},
    {"int",
     "int([x]) -> integer\nint(x, base=10) -> integer\n\nConvert a number or a string to an integer; without an argument, 0. "
     "A float is\ntruncated towards zero. A string may have a base of 2 to 36; with base 0 the\nprefix of the literal says it."},
    {"bool", "bool(x) -> bool\n\nThe truth of x. True and False are the only two instances; bool is a subclass of int."},
    {"float", "Convert a string or number to a floating-point number, if possible."},
    {"complex", "Create a complex number from a string or numbers."},
    {"str",
     "str(object='') -> str\nstr(bytes_or_buffer[, encoding[, errors]]) -> str\n\nThe text of an object, or the decoded "
     "contents of a buffer."},
    {"bytes",
     "bytes(iterable_of_ints) -> bytes\nbytes(string, encoding[, errors]) -> bytes\nbytes(bytes_or_buffer) -> bytes\n"
     "bytes(int) -> bytes of that size, all zero\nbytes() -> empty bytes"},
    {"bytearray",
     "bytearray(iterable_of_ints) -> bytearray\nbytearray(string, encoding[, errors]) -> bytearray\n"
     "bytearray(bytes_or_buffer) -> bytearray\nbytearray(int) -> bytes of that size, all zero\nbytearray() -> empty bytearray"},
    {"memoryview", "Create a new memoryview object which references the given object."},
    {"list",
     "Built-in mutable sequence.\n\nIf no argument is given, the constructor creates a new empty list.\nThe argument must be an "
     "iterable if specified."},
    {"tuple",
     "Built-in immutable sequence.\n\nIf no argument is given, the constructor returns an empty tuple.\nIf iterable is specified "
     "the tuple is initialized from iterable's items.\n\nIf the argument is a tuple, the return value is the same object."},
    {"dict",
     "dict() -> new empty dictionary\ndict(mapping) -> new dictionary of a mapping's pairs\ndict(iterable) -> new dictionary of "
     "an iterable of pairs\ndict(**kwargs) -> new dictionary of the keyword arguments"},
    {"set", "set() -> new empty set object\nset(iterable) -> new set object\n\nBuild an unordered collection of unique elements."},
    {"frozenset",
     "frozenset() -> empty frozenset object\nfrozenset(iterable) -> frozenset object\n\nBuild an immutable unordered collection "
     "of unique elements."},
    {"range",
     "range(stop) -> range object\nrange(start, stop[, step]) -> range object\n\nThe integers from start (inclusive) to stop "
     "(exclusive) by step."},
    {"slice", "slice(stop)\nslice(start, stop[, step])\n\nThe places that an extended subscript names."},
    {"property",
     "Property attribute.\n\n  fget\n    function to be used for getting an attribute value\n  fset\n    function to be used for "
     "setting an attribute value\n  fdel\n    function to be used for del'ing an attribute\n  doc\n    docstring"},
    {"staticmethod", "staticmethod(function) -> method\n\nConvert a function to a static method: it gets no first argument."},
    {"classmethod", "classmethod(function) -> method\n\nConvert a function to a class method: its first argument is the class."},
    {"super",
     "super() -> same as super(__class__, <first argument>)\nsuper(type) -> unbound super object\nsuper(type, obj) -> bound super "
     "object; requires isinstance(obj, type)\nsuper(type, type2) -> bound super object; requires issubclass(type2, type)"},
    {"enumerate", "Return an enumerate object.\n\nIt yields pairs of a count, which begins at start, and an item of the iterable."},
    {"zip",
     "zip(*iterables, strict=False) --> Yield tuples until an input is exhausted.\n\nIf strict is true and one of the arguments "
     "is exhausted before the others,\nraise a ValueError."},
    {"map", "map(func, *iterables) --> map object\n\nThe values of the function for the items of each of the iterables."},
    {"filter",
     "filter(function or None, iterable) --> filter object\n\nThe items for which the function, or the item itself, is true."},
    {"reversed", "Return a reverse iterator over the values of the given sequence."},
    {"function", "Create a function object."},
    {"method", "Create a bound instance method object."},
    {"module", "Create a module object."},
    {"code", "Create a code object.  Not for mere mortals."},
    {"cell", "Create a new cell object."},
    {"traceback", "Create a new traceback object."},
    {"mappingproxy", "A read-only view of a mapping."},
};

}  // namespace

std::string_view builtin_type_doc(std::string_view name) noexcept {
  for (const Row& row : kRows)
    if (row.name == name) return row.doc;
  return {};
}

}  // namespace tessera::lang
