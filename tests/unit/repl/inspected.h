// An interpreter with something in it to look at.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>

#include "lang/core/error.h"
#include "lang/core/interpreter.h"
#include "lang/objects/exception.h"
#include "lang/objects/module.h"
#include "lang/syntax/source.h"
#include "lang/types/dict.h"
#include "repl/inspector/live_tensors.h"
#include "repl/session/client.h"
#include "stdlib/standard.h"
#include "stdlib/torch/state.h"

namespace inspected {

struct Program {
  std::unique_ptr<tessera::lang::Interpreter> in = tessera::stdlib::make_interpreter();

  explicit Program(const std::string& text) { run("import torch\nimport torch.nn as nn\n" + text); }
  tessera::lang::Value run(const std::string& text) {
    try {
      return in->run_interactive(*std::make_shared<tessera::lang::Source>("In [1]", text));
    } catch (const std::exception&) {
      FAIL(in->format_exception(tessera::lang::current_native_exception(*in)));
      return {};
    }
  }
  tessera::lang::Value operator[](std::string_view name) {
    const tessera::lang::Value* value = tessera::lang::dict_get_text(in->main_module()->dict, name);
    REQUIRE(value != nullptr);
    return *value;
  }
  tessera::repl::LiveTensors look() { return tessera::repl::live_tensors(*in); }
};

inline const tessera::repl::TensorRow& row(const tessera::repl::LiveTensors& live, std::string_view name) {
  for (const tessera::repl::TensorRow& each : live.rows)
    if (each.name == name) return each;
  FAIL("no row " << name);
  return live.rows.front();
}

inline std::string names(const tessera::repl::LiveTensors& live) {
  std::string all;
  for (const tessera::repl::TensorRow& each : live.rows) all += (all.empty() ? "" : " ") + each.name;
  return all;
}

inline tessera::repl::Style style(unsigned columns) {
  tessera::repl::Style style;
  style.columns = columns;
  return style;
}

}  // namespace inspected
