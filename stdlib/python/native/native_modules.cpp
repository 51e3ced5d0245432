// The names under which scripts find the native modules.
#include "stdlib/python/native/native_modules.h"

namespace tessera::stdlib {

void add_native_modules(Interpreter& in) {
  in.add_native_module("math", fill_math);
  in.add_native_module("_threads", fill_thread);
  in.add_native_module("_time", fill_time);
  in.add_native_module("_sys", fill_sys);
  in.add_native_module("_posix", fill_posix);
  in.add_native_module("_processes", fill_processes);
  in.add_native_module("_posixsubprocess", fill_posixsubprocess);
  in.add_native_module("_accounts", fill_accounts);
  in.add_native_module("fcntl", fill_fcntl);
  in.add_native_module("_random", fill_random);
  in.add_native_module("_regex", fill_regex);
  in.add_native_module("_json", fill_json);
  in.add_native_module("_abc", fill_abc);
  in.add_native_module("array", fill_array);
  in.add_native_module("bisect", fill_bisect);
  in.add_native_module("_collections", fill_collections);
  in.add_native_module("_io", fill_io);
  in.add_native_module("_caller", fill_caller);
  in.add_native_module("_dataclasses", fill_dataclasses);
  in.add_native_module("itertools", fill_itertools);
  in.add_native_module("operator", fill_operator);
  in.add_native_module("_functools", fill_functools);
  in.add_native_module("_heapq", fill_heapq);
  in.add_native_module("_datetime", fill_datetime);
  in.add_native_module("_csv", fill_csv);
  in.add_native_module("gc", fill_gc);
  in.add_native_module("cmath", fill_cmath);
  in.add_native_module("_traceback", fill_traceback);
  in.add_native_module("_weakref", fill_weakref);
  in.add_native_module("_struct", fill_struct);
  in.add_native_module("_zlib", fill_zlib);
  in.add_native_module("_bz2", fill_bz2);
  in.add_native_module("_lzma", fill_lzma);
  in.add_native_module("_hashlib", fill_hashlib);
  in.add_native_module("_binascii", fill_binascii);
  in.add_native_module("_unicode_names", fill_unicode_names);
  in.add_native_module("_codec", fill_codec);
  in.add_native_module("_multibyte", fill_multibyte);
  in.add_native_module("_statistics", fill_statistics);
  in.add_native_module("_images", fill_images);
  in.add_native_module("_ast", fill_ast);
  in.add_native_module("_pickle_parts", fill_pickle);
  in.add_native_module("_coroutines", fill_coroutines);
  in.add_native_module("_asyncio", fill_asyncio);
  in.add_native_module("select", fill_select);
  in.add_native_module("_socket", fill_socket);
  in.add_native_module("_termios", fill_termios);
  in.add_native_module("_contextvars", fill_contexts);
  in.add_native_module("_expat", fill_expat);
  in.add_native_module("_mmap", fill_mmap);
  in.add_native_module("_sqlite", fill_sqlite);
  in.add_native_module("_cdata", fill_cdata);
  in.add_native_module("_resource", fill_resource);
}

}  // namespace tessera::stdlib
