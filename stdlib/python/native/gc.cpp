// gc: the collector of cycles, for scripts.
#include "lang/core/cycles.h"
#include "stdlib/python/native/native_modules.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

Value collect(Interpreter& in, const Args&) { return Value::integer(static_cast<int64_t>(in.collector().collect())); }

Value enable(Interpreter& in, const Args&) {
  in.collector().set_enabled(true);
  return Value::none();
}

Value disable(Interpreter& in, const Args&) {
  in.collector().set_enabled(false);
  return Value::none();
}

Value is_enabled(Interpreter& in, const Args&) { return Value::boolean(in.collector().enabled()); }

Value get_count(Interpreter& in, const Args&) {
  return make_tuple(
      in, {Value::integer(static_cast<int64_t>(in.collector().tracked_count())), Value::integer(0), Value::integer(0)});
}

Value get_threshold(Interpreter& in, const Args&) {
  return make_tuple(in, {Value::integer(700), Value::integer(10), Value::integer(10)});
}

Value ignore(Interpreter&, const Args&) { return Value::none(); }

}  // namespace

void fill_gc(Interpreter& in, Module& module) {
  in.def(module, "collect(generation=2)", "Collect cycles now; answers how many objects were garbage.", collect);
  in.def(module, "enable()", "Collect by itself.", enable);
  in.def(module, "disable()", "Collect on demand only.", disable);
  in.def(module, "isenabled()", "Does it collect by itself?", is_enabled);
  in.def(module, "get_count()", "Tracked objects.", get_count);
  in.def(module, "get_threshold()", "For compatibility.", get_threshold);
  in.def(module, "set_threshold(*thresholds)", "For compatibility.", ignore);
  in.def(module, "freeze()", "For compatibility.", ignore);
  in.def(module, "unfreeze()", "For compatibility.", ignore);
}

}  // namespace tessera::stdlib
