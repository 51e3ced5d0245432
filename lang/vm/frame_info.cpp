#include "lang/vm/frame_info.h"

#include "lang/core/interpreter.h"
#include "lang/objects/exception.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

bool frame_info(Interpreter& in, uint32_t depth, FrameInfo& info) {
  const Frame* frame = in.vm().top();
  while (frame != nullptr && depth-- > 0) frame = calling_frame(*frame);
  if (frame == nullptr) return false;
  const Code& code = *frame->code;
  info.file = code.source->name();
  info.line = frame_line(*frame);
  info.function = std::string(code.name->view());
  info.globals = Value(frame->function->globals);
  return true;
}

Value current_exception(Interpreter& in) { return handled_exception(in); }

}  // namespace tessera::lang
