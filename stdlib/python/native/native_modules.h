// The modules of the standard library that are C++.
#pragma once

#include "lang/core/interpreter.h"
#include "stdlib/namespaces.h"

namespace tessera::stdlib {

void fill_math_integers(Interpreter& in, Module& module);  // part of math
void fill_abc(Interpreter& in, Module& module);
void fill_math(Interpreter& in, Module& module);
void fill_thread(Interpreter& in, Module& module);
void add_locks(Interpreter& in, Module& module);  // a part of _threads
void fill_time(Interpreter& in, Module& module);
void fill_sys(Interpreter& in, Module& module);
void fill_coroutines(Interpreter& in, Module& module);
void fill_asyncio(Interpreter& in, Module& module);
void fill_select(Interpreter& in, Module& module);
void fill_socket(Interpreter& in, Module& module);
void fill_termios(Interpreter& in, Module& module);
void fill_contexts(Interpreter& in, Module& module);
void fill_posix(Interpreter& in, Module& module);
void fill_processes(Interpreter& in, Module& module);
void fill_posixsubprocess(Interpreter& in, Module& module);
void fill_accounts(Interpreter& in, Module& module);
void fill_fcntl(Interpreter& in, Module& module);
void fill_random(Interpreter& in, Module& module);
void fill_regex(Interpreter& in, Module& module);
void fill_json(Interpreter& in, Module& module);
void fill_array(Interpreter& in, Module& module);
void fill_bisect(Interpreter& in, Module& module);
void fill_collections(Interpreter& in, Module& module);
void add_named_tuple(Interpreter& in, Module& module);  // a part of _collections
void add_counting(Interpreter& in, Module& module);     // another: the loop of Counter
void fill_io(Interpreter& in, Module& module);
void fill_caller(Interpreter& in, Module& module);
void fill_dataclasses(Interpreter& in, Module& module);
void fill_itertools(Interpreter& in, Module& module);
void fill_operator(Interpreter& in, Module& module);
void fill_functools(Interpreter& in, Module& module);
void fill_heapq(Interpreter& in, Module& module);
void fill_csv(Interpreter& in, Module& module);
void fill_datetime(Interpreter& in, Module& module);
void fill_gc(Interpreter& in, Module& module);
void fill_cmath(Interpreter& in, Module& module);
void fill_traceback(Interpreter& in, Module& module);
void fill_weakref(Interpreter& in, Module& module);
void fill_struct(Interpreter& in, Module& module);
void fill_zlib(Interpreter& in, Module& module);
void fill_bz2(Interpreter& in, Module& module);
void fill_lzma(Interpreter& in, Module& module);
void fill_hashlib(Interpreter& in, Module& module);
void fill_binascii(Interpreter& in, Module& module);
void fill_ast(Interpreter& in, Module& module);
void fill_images(Interpreter& in, Module& module);
void fill_unicode_names(Interpreter& in, Module& module);
void fill_codec(Interpreter& in, Module& module);
void fill_multibyte(Interpreter& in, Module& module);
void fill_statistics(Interpreter& in, Module& module);
void fill_pickle(Interpreter& in, Module& module);
void fill_expat(Interpreter& in, Module& module);
void fill_mmap(Interpreter& in, Module& module);
void fill_sqlite(Interpreter& in, Module& module);
void fill_cdata(Interpreter& in, Module& module);
void fill_resource(Interpreter& in, Module& module);

// Registers them all; each is filled when it is first imported.
void add_native_modules(Interpreter& in);

}  // namespace tessera::stdlib
