// A model's layers: what `:model` shows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/core/interpreter.h"
#include "repl/session/client.h"

namespace tessera::repl {

struct LayerRow {
  std::string name;    // "encoder.0"; empty: the model itself
  std::string type;    // "Linear"
  std::string shapes;  // of its own parameters and buffers: "weight [2, 3], bias [2]"
  int depth = 0;
  bool last = false;                      // of its parent's layers
  int64_t parameters = 0, trainable = 0;  // elements of its own, each tensor once in the whole model
  int64_t parameter_bytes = 0, buffer_bytes = 0;
  std::string shared;  // the layer or tensor whose this is, met before; empty: its own
};

struct ModelSummary {
  std::vector<LayerRow> rows;
  int64_t parameters = 0, trainable = 0, parameter_bytes = 0, buffer_bytes = 0;
  int64_t more = 0;  // layers without a row
};

// Of a layer; no rows for anything else. Runs no script.
ModelSummary summarize_model(lang::Interpreter& in, const lang::Value& model);
std::string model_text(lang::Interpreter& in, const lang::Value& model, std::string_view name, const Style& style);

}  // namespace tessera::repl
