// The embedding API over the language's interpreter and the standard library.
#include "embed/include/tessera/tessera.h"

#include "lang/core/bind.h"
#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/core/protocol.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/str.h"
#include "lang/types/tuple.h"
#include "runtime/ops/math_bits.h"
#include "lang/vm/vm.h"
#include "stdlib/standard.h"
#include "stdlib/torch/state.h"
#include "stdlib/torch/torch_module.h"

namespace tessera {

// Not all of lang: it has an Interpreter of its own.
using lang::Args, lang::Error, lang::ErrorKind, lang::Host, lang::Limits, lang::NativeFn, lang::NativeFunction,
    lang::Object, lang::Source, lang::Str, lang::Thrown, lang::Type, lang::Value;
using stdlib::in_torch, stdlib::make_interpreter, stdlib::set_tensor_memory_limit, stdlib::wrap_tensor,
    stdlib::expect_tensor;

struct Ref::State {
  Value value;
};

struct Interpreter::State {
  std::unique_ptr<lang::Interpreter> in;
  Value last;                // the exception that went out to the host last, for a host function that lets it through
  uint64_t last_number = 0;  // its number
  ~State() { last = Value(); }
};

// The way from the public classes to the values behind them.
struct Access {
  using State = Interpreter::State;
  static State& state(const Ref& ref) { return *ref.owner_->state_; }
  static State& state(Interpreter* owner) { return *owner->state_; }
  static lang::Interpreter& in(const Ref& ref) { return *ref.owner_->state_->in; }
  static ScriptError numbered(ScriptError error, uint64_t number) {
    error.number_ = number;
    return error;
  }
  static uint64_t number(const ScriptError& error) { return error.number_; }
  static Ref wrap(Interpreter* owner, Value value) {
    if (value.is_undefined() || value.is_none()) return Ref(owner, nullptr);
    return Ref(owner, new Ref::State{std::move(value)});
  }
  static Value value(const Ref& ref) { return ref.state_ == nullptr ? Value::none() : ref.state_->value; }
  static Ref::State* copy(const Ref& ref) {
    return ref.state_ == nullptr ? nullptr : new Ref::State{ref.state_->value};
  }
};

namespace {

// With limits of its own, for its texts may be a script's; inside of a run that has hit one there is only the class.
ScriptError describe_error(Access::State& state, const Value& exception) {
  lang::Interpreter& in = *state.in;
  const lang::RunScope run(in.vm());
  state.last = exception;
  const uint64_t number = ++state.last_number;
  const std::string name(lang::type_name(in, exception));
  try {
    return Access::numbered(ScriptError(name, str_text(in, exception), in.format_exception(exception)), number);
  } catch (const std::exception&) {
    return Access::numbered(ScriptError(name, "", name + "\n"), number);
  }
}

// Runs f as a run of the host's, with its limits; what a script or native code raises becomes ScriptError.
template <class F>
decltype(auto) guarded(Access::State& state, F&& f) {
  Value exception;
  try {
    const lang::RunScope run(state.in->vm());
    return f();
  } catch (const ScriptError&) {
    throw;
  } catch (const std::exception&) {
    exception = lang::current_native_exception(*state.in);
  }
  throw describe_error(state, exception);
}

}  // namespace

// Ref --------------------------------------------------------------------------------------------------------------

Ref::Ref(const Ref& other) : owner_(other.owner_), state_(Access::copy(other)) {}
Ref::Ref(Ref&& other) noexcept : owner_(other.owner_), state_(std::exchange(other.state_, nullptr)) {}
Ref& Ref::operator=(Ref other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(state_, other.state_);
  return *this;
}
Ref::~Ref() {
  if (state_ == nullptr) return;
  const lang::RunScope run(Access::in(*this).vm());  // what dies with it may have a finalizer
  delete state_;
}

bool Ref::is_none() const { return state_ == nullptr; }
std::string Ref::type_name() const {
  return is_none() ? "NoneType" : std::string(lang::type_name(Access::in(*this), state_->value));
}
std::string Ref::str() const {
  return is_none() ? "None" : guarded(Access::state(*this), [&] { return str_text(Access::in(*this), state_->value); });
}
std::string Ref::repr() const {
  return is_none() ? "None"
                   : guarded(Access::state(*this), [&] { return repr_text(Access::in(*this), state_->value); });
}

bool Ref::to_bool() const {
  return !is_none() && guarded(Access::state(*this), [&] { return truth(Access::in(*this), state_->value); });
}
int64_t Ref::to_int(int64_t least, int64_t most) const {
  return guarded(Access::state(*this), [&] {
    const int64_t value = index(Access::in(*this), Access::value(*this));
    if (value < least || value > most)
      throw Error(ErrorKind::OverflowError, std::to_string(value) + " does not fit the host's integer");
    return value;
  });
}
double Ref::to_double() const {
  return guarded(Access::state(*this), [&] { return to_float(Access::in(*this), Access::value(*this)); });
}
std::string Ref::to_text() const {
  return guarded(Access::state(*this), [&] {
    if (is_none() || !is_str(state_->value)) throw Error(ErrorKind::TypeError, "expected str, got " + type_name());
    return std::string(text_of(state_->value));
  });
}
Tensor Ref::to_tensor() const {
  lang::Interpreter& in = Access::in(*this);
  return guarded(Access::state(*this), [&] {
    in.import("torch");
    return tensor::resolved(expect_tensor(in, Access::value(*this), "value"));
  });
}

Ref Ref::call(std::vector<Ref> arguments) const {
  lang::Interpreter& in = Access::in(*this);
  return guarded(Access::state(*this), [&] {
    std::vector<Value> values;
    for (const Ref& argument : arguments) values.push_back(Access::value(argument));
    const Args args{values.data(), static_cast<uint32_t>(values.size()), nullptr, nullptr};
    return Access::wrap(owner_, lang::call(in, Access::value(*this), args));
  });
}

Ref Ref::attribute(std::string_view name) const {
  lang::Interpreter& in = Access::in(*this);
  return guarded(Access::state(*this),
                 [&] { return Access::wrap(owner_, get_attr(in, Access::value(*this), intern(in, name))); });
}

std::vector<Ref> Ref::items() const {
  lang::Interpreter& in = Access::in(*this);
  return guarded(Access::state(*this), [&] {
    std::vector<Ref> refs;
    for_each(in, Access::value(*this), [&](Value item) { refs.push_back(Access::wrap(owner_, std::move(item))); });
    return refs;
  });
}

// Interpreter ------------------------------------------------------------------------------------------------------

Interpreter::Interpreter(Options options) : state_(std::make_unique<State>()) {
  Limits limits;
  limits.steps = options.step_limit;
  limits.seconds = options.time_limit;
  limits.object_bytes = options.memory_limit;
  limits.files = limits.imports_of_files = options.allow_files;
  limits.clock = options.allow_clock;
  limits.environment = options.allow_environment;
  Host host;
  host.write_out = std::move(options.print);
  state_->in = make_interpreter(std::move(host), limits);
  if (options.memory_limit != 0) set_tensor_memory_limit(*state_->in, options.memory_limit);
}

Interpreter::~Interpreter() = default;

Ref Interpreter::run(std::string_view code, std::string_view name) {
  return guarded(*state_, [&] {
    return Access::wrap(this, state_->in->run_interactive(*std::make_shared<Source>(std::string(name), code)));
  });
}

Ref Interpreter::eval(std::string_view code) {
  return guarded(*state_,
                 [&] { return Access::wrap(this, state_->in->eval(*std::make_shared<Source>("<host>", code))); });
}

bool Interpreter::try_run(std::string_view code, Ref* result, ScriptError* error) {
  try {
    Ref value = run(code);
    if (result != nullptr) *result = std::move(value);
    return true;
  } catch (const ScriptError& raised) {
    if (error != nullptr) *error = raised;
    return false;
  }
}

Ref Interpreter::get(std::string_view name) {
  return guarded(*state_, [&] {
    const Value module(static_cast<Object*>(state_->in->main_module()));
    return Access::wrap(this, get_attr(*state_->in, module, intern(*state_->in, name)));
  });
}

void Interpreter::set_ref(std::string_view name, const Ref& value) {
  dict_set_str(*state_->in, state_->in->main_module()->dict, intern(*state_->in, name), Access::value(value));
}

Ref Interpreter::make(std::nullptr_t) { return Access::wrap(this, Value::none()); }
Ref Interpreter::make(bool value) { return Access::wrap(this, Value::boolean(value)); }
Ref Interpreter::make(int64_t value) { return Access::wrap(this, Value::integer(value)); }
Ref Interpreter::make(double value) { return Access::wrap(this, Value::real(value)); }
Ref Interpreter::make(std::string_view value) { return Access::wrap(this, make_str_lossy(*state_->in, value)); }

Ref Interpreter::make(const Tensor& value) {
  return guarded(*state_, [&] {
    state_->in->import("torch");
    return Access::wrap(this, wrap_tensor(*state_->in, value));
  });
}

Ref Interpreter::make_list(const std::vector<Ref>& items) {
  const Value list = lang::make_list(*state_->in, items.size());
  for (const Ref& item : items) list_append(*state_->in, as_list(list), Access::value(item));
  return Access::wrap(this, list);
}

void Interpreter::def_raw(const char* signature, const char* doc, Raw function, size_t parameters) {
  // The closure finds its interpreter and its function through the native function's data. The host's texts may go after
  // this call.
  struct Closure {
    Interpreter* owner;
    Raw function;
    std::string doc;
  };
  auto closure = std::make_unique<Closure>(Closure{this, std::move(function), doc});
  const NativeFn thunk = [](lang::Interpreter& in, const Args& args) -> Value {
    Closure& self = *static_cast<Closure*>(args.callee->data);
    std::vector<Ref> refs;
    for (uint32_t i = 0; i < args.count; ++i) refs.push_back(Access::wrap(self.owner, args[i]));
    return in_torch(in, args, [&] {
      try {
        return Access::value(self.function(refs));
      } catch (const ScriptError& raised) {
        const Access::State& state = Access::state(self.owner);
        if (Access::number(raised) != 0 && Access::number(raised) == state.last_number) throw Thrown(state.last);
        throw Error(ErrorKind::RuntimeError, raised.message());
      }
    });
  };
  guarded(*state_, [&] {
    state_->in->import("torch");
    const Value made = state_->in->new_function(signature, "", thunk, closure.get(),
                                                [](void* data) { delete static_cast<Closure*>(data); });
    closure.release();
    auto* const native = static_cast<NativeFunction*>(made.as_object());
    native->describe = [](const NativeFunction* self) { return static_cast<const Closure*>(self->data)->doc; };
    const lang::Signature* const read = signature_of(*state_->in, native);
    if (read == nullptr || read->parameters.size() != parameters)
      throw Error(ErrorKind::TypeError, std::string("the signature '") + signature + "' names " +
                                            std::to_string(read == nullptr ? 0 : read->parameters.size()) +
                                            " parameters, the function has " + std::to_string(parameters));
    native->text = nullptr;
    dict_set_str(*state_->in, state_->in->main_module()->dict, native->name, made);
  });
}

void Interpreter::cancel() { state_->in->interrupt.fetch_or(lang::kCancelled); }

}  // namespace tessera
