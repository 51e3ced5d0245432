// `tsr kernel install`: the files by which Jupyter finds the kernel.
#pragma once

#include <string>
#include <vector>

#include "repl/notebook/language_info.h"

namespace tessera::repl {

// Where Jupyter looks: <place>/kernels/<name>/kernel.json.
struct KernelPlace {
  std::string name = kKernelName, display_name = kKernelTitle;
  std::string folder;                // of all kernels
  std::vector<std::string> options;  // what kernel.json gives the kernel besides the connection file
};

// The folders for --user, --sys-prefix and --prefix. Empty, with a sentence in `problem`: there is none.
std::string user_kernels(std::string& problem);
std::string environment_kernels(std::string& problem);
std::string prefix_kernels(const std::string& prefix);

std::string kernel_json(const KernelPlace& place);

// A sentence on what was done; they throw std::runtime_error with one on what could not be.
std::string install_kernel(const KernelPlace& place);
std::string remove_kernel(const KernelPlace& place);

}  // namespace tessera::repl
