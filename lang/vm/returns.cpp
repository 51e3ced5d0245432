// Returning from a frame: each kind of frame (FrameKind) delivers its return value in another way, to a register of the caller, to the
// instruction that entered the frame, or to native code.
#include "lang/core/failure.h"
#include "lang/core/interpreter.h"
#include "lang/core/names.h"
#include "lang/core/object_cast.h"
#include "lang/core/protocol.h"
#include "lang/objects/class.h"
#include "lang/objects/class_slots.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/vm/call.h"
#include "lang/vm/frame_object.h"
#include "lang/vm/steps.h"
#include "lang/vm/vm.h"

namespace tessera::lang {

Frame* VirtualMachine::return_none(Frame* frame, Value& out) {
  Value none = Value::none();
  return return_special(frame, none, out);
}

Frame* VirtualMachine::return_special(Frame* frame, Value& returned, Value& out) {
  if (frame->kind == FrameKind::Operator) return return_operator(frame, returned);
  if (frame->kind == FrameKind::Entry && frame->generator == nullptr) {  // natives call scripts as often as scripts do
    Value answer = std::move(returned);
    pop_frame(frame, end_of_objects(frame));
    out = std::move(answer);
    return nullptr;
  }
  return return_otherwise(frame, returned, out);
}

Frame* VirtualMachine::return_otherwise(Frame* frame, Value& returned, Value& out) {
  Frame* const caller = frame->caller;
  if (frame->kind > FrameKind::Operator && frame->kind < FrameKind::Entry) {
    Value answer = std::move(returned);
    return return_to_instruction(frame, answer);
  }
  if (frame->kind != FrameKind::Constructor || !returned.is_none()) return return_rarely(frame, returned, out);
  Value* const place = caller->registers + frame->result;
  Value instance = std::move(frame->constructed);
  pop_frame(frame, end_of_objects(frame));
  *place = std::move(instance);
  return caller;
}

[[gnu::noinline]] Frame* VirtualMachine::return_rarely(Frame* frame, Value& returned, Value& out) {
  if (frame->kind != FrameKind::Watched) return leave_frame(frame, std::move(returned), out);
  if (is_traced()) trace_return(*frame, returned);
  end_watch(*frame);  // before the answer leaves its register, which may be a local's
  const bool in_loop = frame->kind == FrameKind::ForNext;
  const bool ends = (in_loop || frame->kind == FrameKind::Delegate) && !returned.is_none();
  const Value value = ends ? returned : Value();
  Frame* const next = leave_frame(frame, std::move(returned), out);
  if (ends && next != nullptr && is_traced()) trace_stop(*next, value, in_loop);
  if (next != nullptr && is_traced() != loop_traces_) throw OtherLoop{};
  return next;
}

Frame* VirtualMachine::leave_frame(Frame* frame, Value answer, Value& out) {
  if (Generator* const generator = frame->generator) {
    const bool in_loop = frame->kind == FrameKind::ForNext;
    const bool delegate = frame->kind == FrameKind::Delegate;
    Frame* const caller = frame->caller;
    top_ = caller;
    --depth_;
    generator_finish(in_, generator);
    if (delegate) {
      const Word w = caller->pc[-1];
      drop(caller->registers + a_of(w), 2);
      caller->registers[b_of(w)] = std::move(answer);
      return caller;
    }
    out = std::move(answer);
    if (!in_loop) return nullptr;
    out = Value();
    drop(caller->registers + a_of(caller->pc[-1]), 3);
    return caller;
  }
  if (frame->kind == FrameKind::Constructor) {
    if (!answer.is_none()) {
      throw_error(ErrorKind::TypeError, "__init__() should return None, not '%s'",
                  std::string(type_name(in_, answer)).c_str());
    }
    Value instance = std::move(frame->constructed);
    Frame* const caller = frame->caller;
    const uint32_t result = frame->result;
    pop_frame(frame);
    caller->registers[result] = std::move(instance);
    return caller;
  }
  if (frame->kind != FrameKind::Entry) return return_to_instruction(frame, answer);
  pop_frame(frame);
  out = std::move(answer);
  return nullptr;
}

// The frame was entered for an instruction of its caller, which goes on with the answer.
Frame* VirtualMachine::return_to_instruction(Frame* frame, Value& answer) {
  Frame* const caller = frame->caller;
  const FrameKind kind = frame->kind;
  const uint32_t result = frame->result;
  Value* const place = caller->registers + result;
  const Value state = std::move(frame->constructed);
  pop_frame(frame, end_of_objects(frame));
  switch (kind) {
    case FrameKind::Call: *place = std::move(answer); break;
    case FrameKind::Operator: finish_operator_step(in_, caller, result, answer); break;
    case FrameKind::Iterable:
      *place = std::move(answer);
      if (for_prepare_step(in_, caller, place)) {
        if (is_raising()) throw_pending();
        return top_;
      }
      break;
    case FrameKind::Iterator:
      if (type_of(in_, answer)->slots.next == nullptr) {
        throw_error(ErrorKind::TypeError, "iter() returned non-iterator of type '%s'",
                    std::string(type_name(in_, answer)).c_str());
      }
      *place = std::move(answer);
      take_sequence(in_, place);
      break;
    case FrameKind::Item:
      *place = std::move(answer);
      caller->pc += offset_of(*caller->code, caller->pc);
      break;
    case FrameKind::ClassBody: finish_class_step(in_, caller, state, answer); break;
    default: break;
  }
  return caller;
}

}  // namespace tessera::lang
