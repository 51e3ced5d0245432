// The host touched a device's memory: told with the calls that led there, as far as the program has their names. Without this
// it is a death by SIGSEGV like any other.
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "executor.h"

namespace tessera_executor {
namespace {

struct sigaction before;

// The name of a call, by addr2line, which also reads the names that are not exported; else the file and the place in it.
void print_call(void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return;
  const auto* header = static_cast<const Elf64_Ehdr*>(info.dli_fbase);
  const auto base = header->e_type == ET_EXEC ? 0 : reinterpret_cast<uintptr_t>(info.dli_fbase);
  char command[1024], name[512] = "?";
  const char* file = info.dli_fname;
  char self[512];
  if (header->e_type == ET_EXEC) {
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) self[length] = 0, file = self;
  }
  const unsigned long at = reinterpret_cast<uintptr_t>(address) - base - 1;  // in the call, not behind it
  std::snprintf(command, sizeof command, "addr2line -Cfse '%s' %lx 2>/dev/null", file, at);
  if (FILE* out = popen(command, "r")) {
    if (std::fgets(name, sizeof name, out) == nullptr) name[0] = '?';
    pclose(out);
  }
  const std::string text(name);
  std::fprintf(stderr, "    %s (%s+0x%lx)\n", text.substr(0, text.find('\n')).c_str(), file, at);
}

void on_fault(int signal, siginfo_t* info, void*) {
  if (signal != SIGSEGV || !is_device_address(info->si_addr)) {  // none of ours: it comes again, to who was here before
    sigaction(SIGSEGV, &before, nullptr);
    return;
  }
  std::fflush(stdout);
  std::fprintf(stderr, "\nCUDA executor: the host touched device memory: %s\n", describe(info->si_addr).c_str());
  void* calls[48];
  const int count = backtrace(calls, 48);
  for (int k = 2; k < count && k < 9; k++) print_call(calls[k]);  // after the handler and the kernel's return
  std::fflush(stderr);
  _exit(86);
}

const bool installed = [] {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  void* first[1];
  backtrace(first, 1);  // loads what it needs now, not in the handler
  return sigaction(SIGSEGV, &action, &before) == 0;
}();

}  // namespace
}  // namespace tessera_executor
