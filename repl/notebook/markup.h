// HTML and SVG for notebooks that show what they are given. It stands on light and dark alike (the page's own colours, colours
// that both bear), asks nothing of any other place, and shows all that it has to say without a script.
#pragma once

#include <string>
#include <string_view>

#include "repl/inspector/live_tensors.h"
#include "repl/notebook/look.h"
#include "runtime/tensor.h"

namespace tessera::repl {

std::string escaped(std::string_view text);  // for text and for attributes in double quotes
using stdlib::base64;

// Rows of live tensors; a click on a heading sorts by it.
std::string tensors_table(const LiveTensors& live);
// The elements of a tensor that on_host gave, shaded by their values: of the first matrix of several, its corners if it is large.
std::string elements_table(const tensor::Tensor& host);
// Histogram beside heat map, as SVG.
std::string look_picture(const TensorLook& look);

}  // namespace tessera::repl
