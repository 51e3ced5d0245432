// Stand-ins for the toolkit's libraries: plain definitions of the operations that the plugin calls, which look at their
// arguments first. The plugin opens them as it opens the libraries, by file and by name of the function.
#pragma once

#include <initializer_list>
#include <vector>

#include "executor.h"

namespace tessera_executor {

/// A stand-in's functions; one static object in its file.
class StandIn {
 public:
  struct Function {
    const char* name;
    void* address;
  };
  StandIn(const char* file, std::initializer_list<Function> functions);

 private:
  friend void* find_library(const char* path);
  friend void* find_function(void* library, const char* name);
  const char* file_;
  std::vector<Function> functions_;
  StandIn* next_;
};
#define TS_STAND_IN(NAME) \
  { #NAME, reinterpret_cast < void*>(&NAME) }

/// Ends the process unless all of the range may be touched on that device. Within work of a stream.
void check_block(const char* library, const char* operand, const void* begin, size_t bytes, int device);

/// Whether NVIDIA's libraries may use TF32 where the program lets them: NVIDIA_TF32_OVERRIDE=0 forbids it.
bool allows_tf32();
/// As the tensor cores read float32: 10 bits behind the point, the nearest one.
float as_tf32(float x);

/// Work with parameters of a class, which are copied.
template <class Work>
void queue_work(const char* name, cudaStream_t stream, const Work& work) {
  static_assert(std::is_trivially_copyable_v<Work>);
  queue_host_work(
      name, stream, [](const void* params) { static_cast<const Work*>(params)->run(); }, &work, sizeof work);
}

}  // namespace tessera_executor
