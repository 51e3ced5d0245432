// compile: small (runs under torch.profiler alone)
#include "stdlib/torch/profiler_events.h"

#include <time.h>

#include <span>
#include <string>
#include <utility>

#include "lang/core/protocol.h"
#include "lang/types/list.h"
#include "lang/vm/frame.h"
#include "lang/vm/provenance.h"
#include "lang/vm/threads.h"
#include "lang/vm/vm.h"
#include "stdlib/torch/index.h"
#include "stdlib/torch/torch_function.h"

namespace tessera::stdlib {
namespace {

constexpr uint32_t kMostEvents = 1 << 20;
constexpr int64_t kNoEvent = -1;

// The items of an event's tuple.
enum Field : uint8_t { kName, kStart, kEnd, kParent, kBytes, kShapes, kStack, kScope };
// Which of PyTorch's scopes it has.
enum Scope : uint8_t { kOfFunction = 0, kOfBackward = 1, kOfUser = 7 };

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

Value* fields(const ProfilerEvents& profiler, uint32_t at) {
  return as_tuple(as_list(profiler.events)->items[at])->items;
}

// "train.py(12): step", innermost first.
Value stack_of(Interpreter& in) {
  const Value stack = make_list(in);
  for (const lang::Frame* f = in.vm().top(); f != nullptr; f = lang::calling_frame(*f)) {
    f = lang::program_frame(f);
    if (f == nullptr) break;
    const lang::Source& source = *f->code->source;
    list_append(in, as_list(stack),
                make_str(in, std::string(source.name()) + "(" +
                                 std::to_string(source.line_number(lang::current_span(*f).begin)) +
                                 "): " + std::string(f->code->name->view())));
  }
  return stack;
}

Value sizes_of(Interpreter& in, const Value& v) {
  const Value sizes = make_list(in);
  if (is_tensor(torch_state(in), v))
    for (const int64_t size : tensor_of(v).sizes()) list_append(in, as_list(sizes), Value::integer(size));
  return sizes;
}

// The sizes of tensors among the arguments that were given; what else was given has none.
Value shapes_of(Interpreter& in, const Args& args) {
  const Value shapes = make_list(in);
  for (uint32_t i = 0; i < args.count; ++i) list_append(in, as_list(shapes), sizes_of(in, args[i]));
  return shapes;
}

// Another thread may have set up the profiler since: an event is of the session that began it.
int64_t begin_event(Interpreter& in, const std::string& name, Scope scope, const Value& shapes) {
  TorchState& state = torch_state(in);
  ProfilerEvents& profiler = state.profiler;
  if ((state.modes & kProfiles) == 0 || profiler.thread != in.threads().current().ident() ||
      profiler.events.is_undefined())
    return kNoEvent;
  List* const events = as_list(profiler.events);
  const uint32_t at = events->size;
  if (at >= kMostEvents) {
    if (!std::exchange(profiler.is_full, true))
      state.context.warn("torch.profiler keeps the first " + std::to_string(kMostEvents) +
                         " events; profile fewer steps, by a schedule for example.");
    return kNoEvent;
  }
  const Value parent = Value::integer(profiler.open.empty() ? -1 : int64_t(profiler.open.back()));
  const Value stack = profiler.with_stack ? stack_of(in) : Value::none();
  profiler.open.reserve(profiler.open.size() + 1);
  list_append(in, events,
              make_tuple(in, {Value(intern(in, name)), Value::integer(0), Value::none(), parent,
                              Value::integer(state.context.account->used()), shapes, stack, Value::integer(scope)}));
  profiler.open.push_back(at);
  fields(profiler, at)[kStart] = Value::integer(now());
  return (profiler.session << 32) | at;
}

// Events that began inside of the event and did not end, because an exception left them, end with it.
void end_event(TorchState& state, int64_t event) {
  ProfilerEvents& profiler = state.profiler;
  if (event == kNoEvent || profiler.session != event >> 32 || profiler.events.is_undefined()) return;
  const int64_t end = now();
  const auto at = static_cast<uint32_t>(event);
  while (!profiler.open.empty() && profiler.open.back() >= at) {
    Value* const items = fields(profiler, profiler.open.back());
    items[kEnd] = Value::integer(end);
    items[kBytes] = Value::integer(state.context.account->used() - items[kBytes].as_int());
    profiler.open.pop_back();
  }
}

// (record_shapes, with_stack)
Value start(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  ProfilerEvents& profiler = state.profiler;
  const bool shapes = truth(in, args[0]), stack = truth(in, args[1]);
  const Value events = make_list(in);
  profiler.events = events;
  profiler.open.clear();
  profiler.thread = in.threads().current().ident();
  profiler.with_shapes = shapes, profiler.with_stack = stack, profiler.is_full = false;
  profiler.session = (profiler.session + 1) & INT32_MAX;
  if ((state.modes & kProfiles) == 0) profiler.fuses_from = state.context.fuses_from;
  state.context.fuses_from = tensor::Context::kNever;  // each op is to take its own time and memory
  tensor::PendingLaunches::flush();
  state.modes |= kProfiles;
  return Value::integer(profiler.session);
}

// The events of the session, or None where another one has taken its place.
Value stop(Interpreter& in, const Args& args) {
  TorchState& state = torch_state(in);
  ProfilerEvents& profiler = state.profiler;
  if (profiler.events.is_undefined() || args[0].as_int() != profiler.session) return Value::none();
  if (!profiler.open.empty()) end_event(state, (profiler.session << 32) | profiler.open.front());
  state.modes &= ~kProfiles;
  state.context.fuses_from = profiler.fuses_from;
  return std::exchange(profiler.events, Value());
}

Value running(Interpreter& in, const Args&) { return Value::boolean((torch_state(in).modes & kProfiles) != 0); }

Value begin_block(Interpreter& in, const Args& args) {
  if ((torch_state(in).modes & kProfiles) == 0) return Value::integer(kNoEvent);
  return Value::integer(begin_event(in, std::string(text_of(args[0])), kOfUser, make_list(in)));
}

Value end_block(Interpreter& in, const Args& args) {
  end_event(torch_state(in), args[0].as_int());
  return Value::none();
}

}  // namespace

// The name as PyTorch has it: without the namespace that shows the op, with the underscore of what writes to self.
void NotedCall::begin(Interpreter& in, std::string_view op, const Args& args, bool in_place) {
  std::string name = "aten::";
  name += op;
  if (in_place) name += '_';
  event_ = begin_event(in, name, kOfFunction, state_.profiler.with_shapes ? shapes_of(in, args) : make_list(in));
}

void NotedCall::end() { end_event(state_, event_); }

namespace {

// Returns the op that the profiler shows for an index expression.
const char* name_of_index(const TorchState& state, const Value& key) {
  bool selects = false;
  const std::span<const Value> items =
      is_tuple(key) ? std::span<const Value>(as_tuple(key)->items, as_tuple(key)->size) : std::span(&key, 1);
  for (const Value& item : items) {
    if (is_tensor(state, item) || is_list(item)) return "index";
    selects = selects || item.is_int();
  }
  return selects ? "select" : "slice";  // names the op: of PyTorch's event
}

}  // namespace

Value get_item_noted(Interpreter& in, const Value& self, const Value& key) {
  const NotedCall noted(in, name_of_index(torch_state(in), key), Args{&self, 1});
  return get_tensor_item(in, self, key);
}

void set_item_noted(Interpreter& in, const Value& self, const Value& key, const Value& value) {
  const TorchState& state = torch_state(in);
  const char* name = is_tensor(state, value) ? "copy_" : "fill_";  // names the op: of PyTorch's event
  if (std::string_view(name_of_index(state, key)) == "index") name = "index_put_";
  const Value operands[] = {self, value};
  const NotedCall noted(in, name, Args{operands, 2});
  set_tensor_item(in, self, key, value);
}

NotedSweeps::NotedSweeps(Interpreter& in)
    : in_(in), before_(tensor::watch_nodes((torch_state(in).modes & kProfiles) != 0 ? this : nullptr)) {}

NotedSweeps::~NotedSweeps() { tensor::watch_nodes(before_); }

int64_t NotedSweeps::begins(const tensor::Node& node) {
  const std::string name =
      (std::string_view(node.name) == "AccumulateGrad" ? "torch::autograd::" : "") + std::string(node.name);
  const Value none = make_list(in_);
  const int64_t event = begin_event(in_, "autograd::engine::evaluate_function: " + name, kOfFunction, none);
  begin_event(in_, name, kOfBackward, none);
  return event;
}

void NotedSweeps::ended(int64_t event) { end_event(torch_state(in_), event); }

void add_profiler_functions(Interpreter& in, Module& module) {
  in.def(module, "_profiler_start(shapes, stack)", "", start);
  in.def(module, "_profiler_stop(session: int)", "", stop);
  in.def(module, "_profiler_running()", "", running);
  in.def(module, "_profiler_begin(name: str)", "", begin_block);
  in.def(module, "_profiler_end(event: int)", "", end_block);
}

}  // namespace tessera::stdlib
