// A shared library of the machine, opened with dlopen when first used: start-up stays small, and a machine without it still works.
#pragma once

#include <initializer_list>
#include <string>

namespace tessera::stdlib {

class MachineLibrary {
 public:
  // Opens the first of `names` that the machine has. It stays open until the process ends.
  explicit MachineLibrary(std::initializer_list<const char*> names);
  bool is_open() const { return handle_ != nullptr; }
  bool is_complete() const { return is_open() && missing_.empty(); }
  const std::string& missing() const { return missing_; }  // the name of a function that was looked up in vain

  // Sets a pointer to a function or an object of the library.
  template <class F>
  void find(const char* name, F& place) {
    place = reinterpret_cast<F>(symbol(name));
  }

 private:
  void* symbol(const char* name);

  void* handle_ = nullptr;
  std::string missing_;
};

}  // namespace tessera::stdlib
