// Compiles every body of the pointwise table as text with NVRTC, in float and in double: what run-time fusion will do.
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
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
std::string kernel(const Body& body, const char* type) {
  const std::string lane = std::string("Lane<") + type + ">";
  return std::string("extern \"C\" __global__ void op_") + body.name + "(" + type + "* out, const " + type +
         "* in) {\n  " + lane + " x(in[0]), y(in[1]), z(in[2]), " + body.p0 + "(in[3]), " + body.p1 +
         "(in[4]);\n  (void)x, (void)y, (void)z;\n  " + lane + " r = (" + body.text + ");\n  out[0] = r.v;\n}\n";
}

// A header as the program sees it: its name in the sources and its text.
std::string text_of(const std::string& name) {
  std::ifstream file(TESSERA_SOURCE "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool compile(const Nvrtc& nvrtc, const std::string& source, std::string& ptx) {
  nvrtcProgram program;
  const char* names[] = {"backends/cuda/lane.cuh", "backends/shared_math.inc"};
  const std::string lane = text_of(names[0]), shared = text_of(names[1]);
  const char* headers[] = {lane.c_str(), shared.c_str()};
  nvrtc.create(&program, source.c_str(), "bodies.cu", 2, headers, names);
  const char* options[] = {"--std=c++17", "--gpu-architecture=compute_80"};
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
  for (const char* type : {"float", "double"}) {
    std::string source = "#include \"backends/cuda/lane.cuh\"\nusing namespace tessera::tensor::cuda;\n";
    int count = 0;
    for (const Body& body : kBodies) {
      if (std::string(body.op_class) == "Bits") continue;  // integers only
      source += kernel(body, type);
      ++count;
    }
    std::string ptx;
    const bool good = compile(nvrtc, source, ptx);
    (good ? passed : failed) += count;
    std::printf("%s: %d bodies %s, %zu bytes of PTX\n", type, count, good ? "compile" : "do NOT compile", ptx.size());
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
