// What stands below the message of a tensor error: which variables the operands are, where they were made, and a hint.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lang/objects/exception.h"
#include "stdlib/torch/state.h"

namespace tessera::stdlib {

// One note for each tensor among the operands, one for the layer that was running, and a hint where one is certain to help.
std::vector<std::string> notes_of(Interpreter& in, const std::string& message, std::span<const Value> operands);

// The same for an exception that a function of the library raises, about the tensors that it or its caller was given.
void note_refusal(Interpreter& in, const Value& exception);

// A hint for an exception that the language itself raises, where there is one (VirtualMachine::set_noter).
void note_language_error(Interpreter& in, const Value& exception, const lang::Frame& frame);

// How to make a tensor of an array or a list that stands where one is wanted; "" for anything else.
std::string hint_for_argument(Interpreter& in, const Value& v);

}  // namespace tessera::stdlib
