// Where CPython makes a type: it has the types of scripts, and those of most of its C modules, on the heap, the others in the program.
#pragma once

namespace tessera::lang {

struct Type;

// Whether CPython has the type on the heap. Such a type has slots for sequences, which words of refusals tell ("doesn't support item
// deletion"), and its objects without a __new__ of their own can be reduced by the protocols 0 and 1 of pickle.
bool is_heap_type(const Type* type);

}  // namespace tessera::lang
