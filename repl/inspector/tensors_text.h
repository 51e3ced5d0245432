// The table of live tensors, for a terminal's width.
#pragma once

#include <string>
#include <string_view>

#include "repl/inspector/live_tensors.h"
#include "repl/session/client.h"

namespace tessera::repl {

struct TableChoice {
  enum class Sort { kName, kSize };
  Sort sort = Sort::kName;
  std::string pattern;  // of names, with * and ?; empty: all of them
  size_t most_rows = 1000;
};

// "size", "name*", "name* size": what stands behind `:tensors`.
TableChoice table_choice(std::string_view arguments);

// Those rows alone, in that order.
LiveTensors chosen_tensors(const LiveTensors& live, const TableChoice& choice);

std::string tensors_text(const LiveTensors& live, const Style& style, const TableChoice& choice = {});

// `:watch`: the table with marks before the rows: + new, * other values or another layout, - gone.
std::string changes_text(const LiveTensors& before, const LiveTensors& now, const Style& style,
                         const TableChoice& choice = {});

// Names in the order in which a person counts: w2 before w10.
bool name_before(std::string_view a, std::string_view b);

// For a page: {"tensors": [{"name": ..., "shape": [2, 3], ...}], "totals": [...], "more": 0}.
std::string to_json(const LiveTensors& live);

}  // namespace tessera::repl
