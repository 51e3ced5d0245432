// Compiles every body of the pointwise table as text with NVRTC, in every type of arithmetic: what run-time fusion will do.
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Body {
  const char* name;
  const char* op_class;
  const char* text;
  const char* p0;
  const char* p1;
};

#define TS_TEXT2(...) #__VA_ARGS__
#define TS_TEXT(...) TS_TEXT2(__VA_ARGS__)
const Body kBodies[] = {
#define UNARY(NAME, CLASS, WHERE, DOC, BODY, ...) {#NAME, #CLASS, TS_TEXT(BODY), "p0", "p1"},
#define UNARY1(NAME, CLASS, WHERE, P, D, DOC, BODY, ...) {#NAME, #CLASS, TS_TEXT(BODY), #P, "p1"},
#define UNARY2(NAME, CLASS, WHERE, P, D, Q, E, DOC, BODY, ...) {#NAME, #CLASS, TS_TEXT(BODY), #P, #Q},
#define BINARY(NAME, CLASS, WHERE, DOC, BODY, ...) {#NAME, #CLASS, TS_TEXT(BODY), "p0", "p1"},
#define TERNARY(NAME, CLASS, WHERE, SCHEMA, DOC, BODY, ...) {#NAME, #CLASS, TS_TEXT(BODY), "p0", "p1"},
#define TERNARY1(NAME, CLASS, WHERE, SCHEMA, P, D, DOC, BODY, ...) {#NAME, #CLASS, TS_TEXT(BODY), #P, "p1"},
#include "runtime/ops/pointwise.def"
};

struct Nvrtc {
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetProgramLogSize) log_size;
  decltype(&nvrtcGetProgramLog) log;
  decltype(&nvrtcGetPTXSize) ptx_size;
  decltype(&nvrtcGetPTX) ptx;
  decltype(&nvrtcDestroyProgram) destroy;
};

template <class F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
}

bool open(Nvrtc& n) {
  void* library = nullptr;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"})
    if (library == nullptr) library = dlopen(name, RTLD_NOW);
  if (library == nullptr) return false;
  find(library, "nvrtcCreateProgram", n.create);
  find(library, "nvrtcCompileProgram", n.compile);
  find(library, "nvrtcGetProgramLogSize", n.log_size);
  find(library, "nvrtcGetProgramLog", n.log);
  find(library, "nvrtcGetPTXSize", n.ptx_size);
  find(library, "nvrtcGetPTX", n.ptx);
  find(library, "nvrtcDestroyProgram", n.destroy);
  return n.create && n.compile && n.log_size && n.log && n.ptx_size && n.ptx && n.destroy;
}

// One kernel a body, so that the compiler's message names the op.
std::string kernel(const Body& body, const std::string& lane) {
  return std::string("extern \"C\" __global__ void op_") + body.name + "(" + lane + "* out, const " + lane +
         "* in) {\n  " + lane + " x = in[0], y = in[1], z = in[2], " + body.p0 + " = in[3], " + body.p1 +
         " = in[4];\n  (void)x, (void)y, (void)z, (void)" + body.p0 + ", (void)" + body.p1 + ";\n  out[0] = " + lane +
         "(" + body.text + ");\n}\n";
}

/// A type that bodies are written in, and which classes of rows have it.
struct Arithmetic {
  const char* lane;
  const char* functions;
  bool real, whole;
};
bool computes(const Arithmetic& type, std::string_view row_class) {
  if (type.whole) return row_class != "Float" && row_class != "Analytic";
  if (type.real) return row_class != "Bits";
  return row_class == "Analytic" || row_class == "Field" || row_class == "Property" || row_class == "Equality" ||
         row_class == "Select";
}

// A header as the program sees it: its name in the sources and its text.
std::string text_of(const std::string& name) {
  std::ifstream file(TESSERA_SOURCE "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool compile(const Nvrtc& nvrtc, const std::string& source, std::string& ptx) {
  nvrtcProgram program;
  const std::vector<const char*> names = {"backends/number.h", "backends/number_words.h", "backends/shared_math.inc",
                                          "backends/complex_number.h", "backends/complex_functions.h"};
  std::vector<std::string> texts;
  for (const char* name : names) texts.push_back(text_of(name));
  std::vector<const char*> headers;
  for (const std::string& text : texts) headers.push_back(text.c_str());
  nvrtc.create(&program, source.c_str(), "bodies.cu", int(names.size()), headers.data(), names.data());
  const char* options[] = {"--std=c++20", "--gpu-architecture=compute_80"};
  const bool good = nvrtc.compile(program, 2, options) == NVRTC_SUCCESS;
  size_t size = 0;
  if (!good) {
    nvrtc.log_size(program, &size);
    std::string log(size, ' ');
    nvrtc.log(program, log.data());
    std::printf("%s\n", log.c_str());
  } else {
    nvrtc.ptx_size(program, &size);
    ptx.assign(size, ' ');
    nvrtc.ptx(program, ptx.data());
  }
  nvrtc.destroy(&program);
  return good;
}

}  // namespace

int main() {
  Nvrtc nvrtc;
  if (!open(nvrtc)) {
    std::puts("NVRTC is not installed\n0 passed, 0 failed, 1 skipped");
    return 0;
  }
  int passed = 0, failed = 0;
  constexpr Arithmetic kTypes[] = {
      {"Num<float>", "number_math", true, false},  {"Num<double>", "number_math", true, false},
      {"Num<int>", "number_math", true, true},     {"Num<long long>", "number_math", true, true},
      {"Cx<float>", "complex_math", false, false}, {"Cx<double>", "complex_math", false, false}};
  for (const Arithmetic& type : kTypes) {
    std::string source =
        "#include \"backends/complex_number.h\"\nusing namespace tessera::tensor;\n"
        "namespace m = tessera::tensor::";
    source += std::string(type.functions) + ";\n";
    int count = 0;
    for (const Body& body : kBodies) {
      if (!computes(type, body.op_class)) continue;
      source += kernel(body, type.lane);
      ++count;
    }
    std::string ptx;
    const bool good = compile(nvrtc, source, ptx);
    (good ? passed : failed) += count;
    std::printf("%s: %d bodies %s, %zu bytes of PTX\n", type.lane, count, good ? "compile" : "do NOT compile",
                ptx.size());
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
