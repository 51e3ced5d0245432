// Tensors in a notebook: data for a page that draws them itself, and HTML and pictures for who does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/interpreter.h"
#include "repl/inspector/live_tensors.h"
#include "repl/inspector/tensors_text.h"
#include "repl/session/client.h"

namespace tessera::repl {

inline constexpr const char* kTensorsForm = "application/vnd.tessera.tensors+json";
inline constexpr const char* kTensorForm = "application/vnd.tessera.tensor+json";
inline constexpr const char* kGraphForm = "application/vnd.tessera.graph+json";

// A tensor's repr as it is, and folded below it a table of its elements. Empty for anything else, and for numbers alone.
std::string value_html(lang::Interpreter& in, const lang::Value& value, std::string_view repr);

// `:tensors`: text, a table that sorts at a click on a heading, and the rows as data.
Display tensors_display(const LiveTensors& live, const TableChoice& choice, const Style& style);

// `:inspect` of a tensor: text, a picture of its histogram and heat map, and what they are drawn from. No `others`: it is no tensor.
Display inspection_display(lang::Interpreter& in, const lang::Value& value, std::string_view name, const Style& style);

// What a picture of one tensor is drawn from, as a JSON object (repl/page/protocol.md, "A tensor"); empty: it is no tensor.
// `at`: which of several matrices its heat map is of, by indices of the leading dimensions. Runs no script.
std::string tensor_json(lang::Interpreter& in, const lang::Value& value, std::string_view name,
                        const std::vector<int64_t>& at = {});

}  // namespace tessera::repl
