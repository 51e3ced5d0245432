// A schema made ready for calls: which value goes to which argument, with defaults converted once and for all.
//
// A function object (torch.add, Tensor.add_) has one Binder an overload, made when it is first called. A call tries them in
// order; each says yes or no by count and kind alone, without a heap block and without a text. Only when all have said no
// does call_refusal.cpp go through them again to find PyTorch's words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stdlib/torch/call_forms.h"
#include "stdlib/torch/convert.h"

namespace tessera::stdlib {

struct OpFunction;

// What a call becomes when a schema accepts it. The arguments borrow from the call's values and from `scratch`.
struct BoundCall {
  static constexpr size_t kMost = 24;

  BoundCall() = default;
  BoundCall(const BoundCall&) = delete;
  Arg* args() { return reinterpret_cast<Arg*>(room_); }
  // For another try, after a binder has refused.
  void reset() {
    out.clear();
    out_value = Value();
    requires_grad = pin_memory = inplace = false;
  }

  Scratch scratch;
  TensorList out;
  Value out_value;                                 // what out= was given, to hand back
  bool requires_grad = false, pin_memory = false;  // keywords that every function that makes a tensor has
  bool inplace = false;

 private:
  alignas(Arg) unsigned char room_[kMost * sizeof(Arg)];
};

class Binder {
 public:
  // `reflected`: for calls with a number in self's place, `remainder(7, t)`.
  Binder(Interpreter& in, const OpFunction& function, const OpEntry& entry, const CallForms& forms, bool reflected);
  Binder(Binder&&) = default;  // what the defaults borrow stays where it is

  const OpEntry& entry() const { return *entry_; }
  size_t size() const { return size_; }  // of the schema's arguments
  // False: the schema does not accept the call.
  bool bind(Interpreter& in, const TorchState& state, const Args& args, BoundCall& call) const;

 private:
  // Keywords that are no argument of the schema.
  enum Special : int { kOutKeyword = -1, kRequiresGradKeyword = -2, kIgnored = -3, kPinMemoryKeyword = -4 };
  struct Keyword {
    const Str* name;  // interned
    int at;
  };

  void add_keyword(Interpreter& in, std::string_view name, int at);
  void add_keywords(Interpreter& in, const OpFunction& function);
  void add_listed_keywords(Interpreter& in, const CallForms& forms);
  // The places of a call's keywords. False: one is unknown.
  bool find_keywords(Interpreter& in, const Tuple& names, int* places) const;
  bool bind_spread(Interpreter& in, const TorchState& state, const Args& args, uint32_t given, BoundCall& call) const;
  bool bind_keywords(Interpreter& in, const TorchState& state, const Args& args, const int* places, uint32_t& seen,
                     BoundCall& call) const;
  bool take_out(const TorchState& state, const Value& v, BoundCall& call) const;

  const OpEntry* entry_;
  std::vector<ArgumentForm> forms_;  // of the schema's arguments, then perhaps `inplace`
  std::vector<OpArg> owned_defaults_;
  std::vector<Arg> defaults_;  // ready to be copied into a call
  std::vector<Keyword> keywords_;
  size_t size_ = 0;
  uint32_t positional_ = 0;  // how many may be given by position
  uint32_t required_ = 0;    // a bit for each argument without a default
  int spread_ = -1;          // the argument that may be given as several: view(2, 3), broadcast_tensors(a, b)
};

// Behind a function object such as torch.add or Tensor.add_: which entries it calls and how.
struct OpFunction {
  std::string name;  // as messages say it: "add_", "special_expit"
  std::vector<const OpEntry*> entries = {};
  bool is_method = false;
  bool is_inplace = false;
  bool is_functional = false;  // of torch.nn.functional: what can work in place takes `inplace`
  FastPaths fast = {};         // for calls with plain operands, where no overload disagrees
  enum class Numbers : uint8_t { Unknown, Refused, Taken } numbers = Numbers::Unknown;  // for a tensor behind self
  uint8_t autocast[2] = {};          // what torch.autocast does with it on a CPU and on CUDA: autocast.cpp
  std::vector<Binder> binders = {};  // empty until the first call
};

// Whether a number may stand for the second tensor of a plain call.
bool takes_numbers(OpFunction& function);
// How a schema's argument is taken when a number may stand for it, by what PyTorch's forms say.
ArgumentForm argument_form(const OpFunction& function, const OpEntry& entry, const CallForms& forms, size_t at);

// The argument that may be given as several integers or tensors, or -1.
int spread_argument(const OpFunction& function, const OpEntry& entry);
// True for the schemas of functions that make tensors, which take requires_grad and more.
bool makes_tensors(const OpSchema& schema);

// The binders of a function, made at its first call.
const std::vector<Binder>& binders_of(Interpreter& in, OpFunction& function);

}  // namespace tessera::stdlib
