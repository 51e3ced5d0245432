// compile: small (runs after an error)
#include "runtime/device/error_word.h"

#include "runtime/context.h"
#include "runtime/device/backend.h"
#include "runtime/error.h"

namespace tessera::tensor {

namespace {

[[noreturn]] void raise_bare(const ErrorWord& word) {
  switch (word.kind) {
    case ErrorWord::Index:
      fail(TensorErrorKind::Index, "index ", word.value, " is out of bounds for dimension ", word.dim, " with size ",
           word.size);
    case ErrorWord::EmbeddingIndex: fail(TensorErrorKind::Index, "index out of range in self");
    case ErrorWord::ScatterIndex:
      fail(TensorErrorKind::Runtime, "index ", word.value, " is out of bounds for dimension ", word.dim, " with size ",
           word.size);
    case ErrorWord::CopyIndex:
      fail(TensorErrorKind::Index, "index_copy_(): index ", word.value, " is out of bounds for dimension ", word.dim,
           " with size ", word.size);
    case ErrorWord::TakeIndex:
      check(word.dim == 0, TensorErrorKind::Runtime,  // a dim of 1: masked_scatter takes them one by one
            "Number of elements of source < number of ones in mask");
      fail(TensorErrorKind::Index, "out of range: tried to access index ", word.value, " on a tensor of ", word.size,
           " elements.");
    case ErrorWord::Target: fail(TensorErrorKind::Index, "Target ", word.value, " is out of bounds.");
    case ErrorWord::DivisionByZero: fail(TensorErrorKind::Runtime, "ZeroDivisionError");
    case ErrorWord::Probability:
      check(word.dim != 2, TensorErrorKind::Runtime, "invalid Poisson rate, expected rate to be non-negative");
      check(word.dim != 3, TensorErrorKind::Runtime, "invalid multinomial distribution (sum of probabilities <= 0)");
      check(
          word.dim == 0, TensorErrorKind::Runtime,  // a dim of 1: of a coin, not a weight
          "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, "
          "please report an enhancement request to PyTorch.)");
      fail(TensorErrorKind::Runtime, "probability tensor contains either `inf`, `nan` or element < 0");
    default: fail(TensorErrorKind::Runtime, "a kernel reported an unknown fault (", word.kind, ")");
  }
}

}  // namespace

void raise(const ErrorWord& word) {
  try {
    raise_bare(word);
  } catch (TensorError& error) {
    const LaunchLog* log = Context::current().launches;
    const std::string place = log == nullptr || word.launch == 0 ? "" : log->describe(word.launch);
    if (!place.empty()) error.add_note("found by a kernel on the device, launched " + place);
    throw;
  }
}

void raise_reported(Device device) {
  if (device.is_cpu() || device.is_meta()) return;
  ErrorWord word;
  if (device_backend(device.type)->take_error(device, word)) raise(word);
}

}  // namespace tessera::tensor
