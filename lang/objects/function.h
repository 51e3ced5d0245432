// The types of functions, bound methods, cells and code.
#pragma once

namespace tessera::lang {

class Interpreter;

void make_function_types(Interpreter& in);
void fill_function_types(Interpreter& in);  // says how their methods are made

}  // namespace tessera::lang
