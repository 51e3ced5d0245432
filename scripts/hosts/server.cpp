// A server that runs strangers' scripts. A request is a line, `NAME SCRIPT`, its answer one as well: `NAME ok PRINTED VALUE` or
// `NAME error CLASS: MESSAGE`; `\n` and `\\` stand for line breaks and backslashes in both. Several threads work, each script has
// an interpreter of its own, so no stranger finds what another left behind, and limits end whatever does not end by itself.
//
//   server -                 requests on standard input
//   server /tmp/socket       on a Unix socket, for any number of clients
//   server                   checks itself
#include <tessera/tessera.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  return line;
}
std::string unescaped(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool escape = line[i] == '\\' && i + 1 < line.size();
    text += !escape ? line[i] : line[++i] == 'n' ? '\n' : line[i];
  }
  return text;
}

// What one script gets. Nothing is granted: no files, clock, environment, processes.
std::string run(const std::string& script) {
  std::string printed;
  tessera::Options options;
  options.time_limit = 0.5;
  options.step_limit = 200'000'000;
  options.memory_limit = 64 << 20;
  options.output_limit = 4096;
  options.call_depth = 200;
  options.print = [&](std::string_view text) { printed += text; };
  tessera::Interpreter tsr(std::move(options));
  try {
    const tessera::Ref value = tsr.run(script, "<request>");
    return "ok " + escaped(printed + (value.is_none() ? "" : value.repr()));
  } catch (const tessera::ScriptError& error) {
    return "error " + escaped(error.class_name() + ": " + error.message());
  }
}

// Threads that take one request after the other; `answer` is called by whichever has done it.
class Workers {
 public:
  using Answer = std::function<void(const std::string& line)>;

  explicit Workers(size_t count) {
    for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void add(std::string line, Answer answer) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({std::move(line), std::move(answer)});
    }
    wake_.notify_one();
  }

 private:
  struct Request {
    std::string line;
    Answer answer;
  };

  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const Request request = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      const size_t space = std::min(request.line.find(' '), request.line.size());
      request.answer(request.line.substr(0, space) + " " +
                     run(unescaped(std::string_view(request.line).substr(std::min(space + 1, request.line.size())))));
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Request> waiting_;
  std::vector<std::thread> threads_;
  bool closed_ = false;
};

// Requests from `in`, answers to `out` in the order in which they are done.
void serve(std::istream& in, std::ostream& out) {
  std::mutex writing;
  Workers workers(4);
  for (std::string line; std::getline(in, line);)
    workers.add(line, [&](const std::string& answer) {
      const std::lock_guard lock(writing);
      out << answer << std::endl;
    });
}

// A client of the socket, until it hangs up.
void serve_client(int socket, Workers& workers) {
  const auto shared = std::shared_ptr<const int>(new int(socket), [](const int* open) {
    close(*open);
    delete open;
  });
  std::string received;
  char block[4096];
  for (ssize_t size; (size = read(socket, block, sizeof block)) > 0;) {
    received.append(block, static_cast<size_t>(size));
    if (received.size() > 1 << 20) return;  // no line is that long
    for (size_t end; (end = received.find('\n')) != std::string::npos; received.erase(0, end + 1))
      workers.add(received.substr(0, end), [shared](const std::string& answer) {
        const std::string line = answer + "\n";
        [[maybe_unused]] const ssize_t sent = send(*shared, line.data(), line.size(), MSG_NOSIGNAL);
      });
  }
}

int listen_at(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  unlink(path);
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(listening, 16) != 0) {
    std::perror(path);
    return 1;
  }
  Workers workers(4);
  while (true) {
    const int client = accept(listening, nullptr, nullptr);
    if (client >= 0) std::thread(serve_client, client, std::ref(workers)).detach();
  }
}

// --- what it is tested with: well-meant and hostile requests, and how each answer begins
const std::vector<std::pair<std::string, std::string>> kRequests = {
    {"1 + 1", "ok 2"},
    {"print('hello'); 6 * 7", "ok hello\\n42"},
    {R"(import torch\nx = torch.ones(3, requires_grad=True)\n(x * x).sum().backward()\nx.grad)",
     "ok tensor([2., 2., 2.])"},
    {"undefined", "error NameError: name 'undefined' is not defined"},
    {"secret = 42", "ok "},
    {"secret", "error NameError"},  // the one before has gone with its interpreter
    {"import builtins; builtins.len = None; import math; math.pi = 3", "ok "},
    {"import math; len([math.pi])", "ok 1"},
    {"while True: pass", "error TimeoutError: time limit exceeded"},
    {R"(while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass)",
     "error TimeoutError"},
    {R"(class A:\n    def __del__(self):\n        while True: pass\nA(); None)", "error TimeoutError"},
    {"sum(range(10 ** 12))", "error "},  // steps or time, whichever comes first
    {"[0] * 10 ** 12", "error MemoryError"},
    {R"(l = []\nwhile True: l.append([0] * 1000))", "error MemoryError"},
    {"import torch; torch.ones(100000, 100000)", "error "},
    {R"(import torch\nx = torch.ones(1500, 1500)\nwhile True: x = x @ x * 0)", "error TimeoutError"},
    {"while True: print('spam')", "error "},
    {"'%1000000000d' % 1", "error MemoryError"},
    {R"(def f(): return f()\nf())", "error RecursionError"},
    {R"(import re; re.match(r'(.*)*b\\1c', 'a' * 80 + 'c'))", "error "},
    {"open('/etc/passwd').read()", "error PermissionError"},
    {"import os; os.environ['HOME']", "error "},
    {"import subprocess; subprocess.run(['id'])", "error PermissionError"},
    {"import time; time.sleep(60)", "error TimeoutError"},
    {"1 + 2", "ok 3"},  // and all goes on
};

int check() {
  std::string requests;
  for (size_t i = 0; i < kRequests.size(); ++i) requests += std::to_string(i) + " " + kRequests[i].first + "\n";
  std::istringstream in(requests);
  std::ostringstream out;
  serve(in, out);

  std::map<size_t, std::string> answers;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) answers[std::stoul(line)] = line.substr(line.find(' ') + 1);
  int wrong = 0;
  for (size_t i = 0; i < kRequests.size(); ++i) {
    if (answers[i].starts_with(kRequests[i].second)) continue;
    std::printf("%s\n  wanted: %s\n  answer: %s\n", kRequests[i].first.c_str(), kRequests[i].second.c_str(),
                answers[i].c_str());
    ++wrong;
  }
  std::printf("%zu requests, %d wrong answers\n", kRequests.size(), wrong);
  return wrong == 0 && answers.size() == kRequests.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return check();
  if (std::string_view(argv[1]) != "-") return listen_at(argv[1]);
  serve(std::cin, std::cout);
  return 0;
}
