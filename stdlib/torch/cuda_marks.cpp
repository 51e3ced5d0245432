// torch.cuda.nvtx: ranges and marks, which the backend hands to a profiler that listens.
// compile: small (the device takes longer)
#include "runtime/device/backend.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/cuda_module.h"

namespace tessera::stdlib {
namespace {

// Where there is no backend nobody listens: the host's own says so.
const ProfilerMarks& marks() {
  const DeviceBackend* const backend = device_backend(DeviceType::Cuda);
  return (backend != nullptr ? backend : device_backend(DeviceType::Cpu))->marks;
}

// PyTorch's functions for these are bound to C's: None is a null text there.
[[noreturn]] void refuse(const char* function) {
  throw Error(ErrorKind::TypeError, std::string(function) +
                                        "(): incompatible function arguments. The following "
                                        "argument types are supported:");
}
std::string message(const Value& v, const char* function) {
  if (v.is_none()) return {};
  if (!is_str(v)) refuse(function);
  return std::string(text_of(v));
}

Value push(Interpreter&, const Args& args) {
  return Value::integer(marks().push(message(args[0], "rangePushA").c_str()));
}
Value pop(Interpreter&, const Args&) { return Value::integer(marks().pop()); }
Value start(Interpreter&, const Args& args) {
  return Value::integer(static_cast<int64_t>(marks().start(message(args[0], "rangeStartA").c_str())));
}
Value end(Interpreter&, const Args& args) {
  if (!args[0].is_int()) refuse("rangeEnd");
  marks().end(static_cast<uint64_t>(args[0].as_int()));
  return Value::none();
}
Value mark(Interpreter&, const Args& args) {
  marks().mark(message(args[0], "markA").c_str());
  return Value::none();
}

}  // namespace

void add_cuda_marks(Interpreter& in, Module& module) {
  in.def(module, "range_push(msg)", "", push);
  in.def(module, "range_pop()", "", pop);
  in.def(module, "range_start(msg)", "", start);
  in.def(module, "range_end(range_id)", "", end);
  in.def(module, "mark(msg)", "", mark);
}

}  // namespace tessera::stdlib
