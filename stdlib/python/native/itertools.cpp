// itertools: every one of its iterators is a type of its own.
#include "stdlib/python/native/itertools.h"

namespace tessera::stdlib {

void fill_itertools(Interpreter& in, Module& module) {
  itertools::add_endless(in, module);
  itertools::add_stages(in, module);
  itertools::add_groups(in, module);
  itertools::add_arrangements(in, module);
}

}  // namespace tessera::stdlib
