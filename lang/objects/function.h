// The types of functions, bound methods, cells and code.
#pragma once

namespace tessera::lang {

class Interpreter;

void make_function_types(Interpreter& in);
void add_function_methods(Interpreter& in);  // when signatures can be parsed

}  // namespace tessera::lang
