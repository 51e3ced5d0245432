// What a notebook says of the language and the kernel, whoever writes it: JSON texts.
#pragma once

#include <string>

namespace tessera::repl {

// As kernel_info_reply has it and Jupyter keeps it in a notebook.
std::string language_info();
// metadata.kernelspec, by which Jupyter finds the kernel again.
std::string kernelspec_of_notebooks();

inline constexpr const char* kKernelName = "tessera";
inline constexpr const char* kKernelTitle = "Tessera";
inline constexpr const char* kKernelLanguage = "python";  // of kernel.json

}  // namespace tessera::repl
