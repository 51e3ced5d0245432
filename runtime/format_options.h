// What torch.set_printoptions sets. Every Context has its own.
#pragma once

#include <cstdint>

namespace tessera::tensor {

struct FormatOptions {
  enum class Scientific : uint8_t { Choose, Never, Always };

  int precision = 4;
  int64_t threshold = 1000;
  int64_t edgeitems = 3;
  int64_t linewidth = 80;
  Scientific sci_mode = Scientific::Choose;
};

}  // namespace tessera::tensor
