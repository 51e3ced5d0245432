#include "repl/kernel/kernelspec.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "repl/kernel/logo.h"

namespace tessera::repl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// As Jupyter checks it.
void check_name(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), fits))
    throw std::runtime_error("a kernel's name has letters, digits, '.', '_' and '-', and \"" + name + "\" is none");
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

std::string own_path() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? "tsr-kernel" : self.string();
}

// Is it one that this program has installed? Empty: it is, or there is none; else what it is.
std::string foreign_kernel(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return "";
  std::ifstream file(folder / "kernel.json", std::ios::binary);
  const Json spec = Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
  const Json argv = spec.is_object() ? spec.value("argv", Json()) : Json();
  if (argv.is_array() && !argv.empty() && argv[0].is_string() &&
      fs::path(argv[0].get<std::string>()).filename() == "tsr-kernel")
    return "";
  return folder.string() + " is another kernel's: give a --name";
}

}  // namespace

std::string user_kernels(std::string& problem) {
  if (const std::string folder = variable("JUPYTER_DATA_DIR"); !folder.empty()) return folder + "/kernels";
  if (const std::string folder = variable("XDG_DATA_HOME"); !folder.empty()) return folder + "/jupyter/kernels";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.local/share/jupyter/kernels";
  problem = "there is no home folder ($HOME): give --prefix DIR";
  return "";
}

std::string environment_kernels(std::string& problem) {
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = variable(name); !prefix.empty()) return prefix_kernels(prefix);
  problem = "no environment of Python is active ($VIRTUAL_ENV, $CONDA_PREFIX): give --user or --prefix DIR";
  return "";
}

std::string prefix_kernels(const std::string& prefix) {
  std::error_code error;
  const fs::path whole = fs::absolute(prefix, error);
  return (error ? fs::path(prefix) : whole).string() + "/share/jupyter/kernels";
}

std::string kernel_json(const KernelPlace& place) {
  Json argv = {own_path(), "--connection", "{connection_file}"};
  for (const std::string& option : place.options) argv.push_back(option);
  const nlohmann::ordered_json spec{{"argv", argv},
                                    {"display_name", place.display_name},
                                    {"language", kKernelLanguage},
                                    {"interrupt_mode", "signal"},
                                    {"metadata", {{"debugger", false}}}};
  return spec.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// kernel.json comes last: a folder without it is no kernel yet.
std::string install_kernel(const KernelPlace& place) {
  check_name(place.name);
  const fs::path folder = fs::path(place.folder) / place.name;
  if (const std::string problem = foreign_kernel(folder); !problem.empty()) throw std::runtime_error(problem);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw std::runtime_error("cannot make the folder " + folder.string() + ": " + error.message());
  write_file(folder / "logo-svg.svg", logo_svg());
  write_file(folder / "logo-64x64.png", logo_png(64));
  write_file(folder / "logo-32x32.png", logo_png(32));
  write_file(folder / "kernel.json", kernel_json(place));
  return "installed " + place.display_name + " in " + folder.string();
}

std::string remove_kernel(const KernelPlace& place) {
  check_name(place.name);
  const fs::path folder = fs::path(place.folder) / place.name;
  std::error_code error;
  if (!fs::exists(folder, error)) throw std::runtime_error("there is no " + folder.string());
  if (const std::string problem = foreign_kernel(folder); !problem.empty()) throw std::runtime_error(problem);
  fs::remove_all(folder, error);
  if (error) throw std::runtime_error("cannot remove " + folder.string() + ": " + error.message());
  return "removed " + folder.string();
}

}  // namespace tessera::repl
