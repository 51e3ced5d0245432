// A service: customers' scoring functions, each customer with an interpreter of its own and a queue that one worker serves at a
// time. Requests and answers are the host's types; a customer's mistake, endless loop or hunger for memory is that one's alone.
#include <tessera/tessera.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Request {
  std::string user;
  std::vector<double> features;
  std::optional<double> threshold;
};

struct Answer {
  bool good = false;
  double score = 0;
  std::string text;
};

}  // namespace

// A Request is a dict for scripts.
template <>
struct tessera::Convert<Request> {
  static constexpr const char* script_type = "dict";
  static tsr_value to(tsr_interpreter* in, const Request& request) {
    const tsr_value made = Convert<std::map<std::string, Ref>>::to(in, {});
    const Ref dict(in, tsr_retain(made));
    dict.set_item("user", request.user);
    dict.set_item("features", request.features);
    dict.set_item("threshold", request.threshold);
    return made;
  }
};

namespace {

class Customer {
 public:
  explicit Customer(const char* code) : tsr_(limits()) {
    tsr_.def("log(*what)", "For the service's own record.", [this](const std::vector<tessera::Ref>& what) {
      for (const tessera::Ref& one : what) record_ += one.str() + " ";
    });
    tsr_.run(code, "<customer>");
    score_ = tsr_.get("score");
  }

  // From any thread: one request after the other.
  Answer serve(const Request& request) {
    const std::lock_guard<std::mutex> turn(turn_);
    try {
      const auto [score, text] = score_(request).as<std::pair<double, std::string>>();
      return {true, score, text};
    } catch (const tessera::ScriptError& error) {
      if (error.is("MemoryError")) tsr_.run("kept = []");  // what the script had made so far
      return {false, 0, error.is_limit() ? error.class_name() : error.class_name() + ": " + error.message()};
    }
  }
  const std::string& record() const { return record_; }

 private:
  static tessera::Options limits() {
    tessera::Options options;
    options.memory_limit = 64 << 20;
    options.step_limit = 2'000'000;
    return options;
  }

  std::string record_;
  tessera::Interpreter tsr_;
  tessera::Ref score_;
  std::mutex turn_;
};

constexpr const char* kLinear = R"(
import torch
weights = torch.tensor([0.5, -1., 2.])
def score(request):
    value = (torch.tensor(request['features']) * weights).sum().item()
    limit = request['threshold'] if request['threshold'] is not None else 1.
    log(request['user'], value)
    return value, 'yes' if value > limit else 'no'
)";
constexpr const char* kEndless = "def score(request):\n    while True: pass\n";
constexpr const char* kHungry = "kept = []\ndef score(request):\n    while True: kept.append([0] * 1000)\n";
constexpr const char* kWrong = "def score(request): return request['age'] * 2, ''\n";

}  // namespace

int main() {
  try {
    std::map<std::string, std::unique_ptr<Customer>> customers;
    for (const auto& [name, code] : std::map<std::string, const char*>{
             {"linear", kLinear}, {"endless", kEndless}, {"hungry", kHungry}, {"wrong", kWrong}})
      customers.emplace(name, std::make_unique<Customer>(code));

    std::atomic<int> wrong{0};
    const auto expect = [&](const Answer& answer, bool good, const std::string& text) {
      if (answer.good == good && answer.text == text) return;
      std::printf("%d '%s', not '%s'\n", answer.good, answer.text.c_str(), text.c_str());
      ++wrong;
    };
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 4; ++worker) {
      workers.emplace_back([&, worker] {
        for (int i = 0; i < 5; ++i) {
          const Request request{std::string(1, static_cast<char>('a' + worker)),
                                {1, 2, double(i)},
                                i == 4 ? std::optional(9.0) : std::nullopt};
          expect(customers.at("linear")->serve(request), true, i == 2 || i == 3 ? "yes" : "no");
          expect(customers.at("endless")->serve(request), false, "RuntimeError");
          expect(customers.at("hungry")->serve(request), false, "MemoryError");
          expect(customers.at("wrong")->serve(request), false, "KeyError: 'age'");
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    const std::string& record = customers.at("linear")->record();
    const bool recorded = record.find("d ") != std::string::npos;
    std::printf("%d of 80 answers wrong, %zu bytes of record\n", wrong.load(), record.size());
    return wrong == 0 && recorded ? 0 : 1;
  } catch (const tessera::ScriptError& error) {
    std::fprintf(stderr, "%s", error.what());
    return 1;
  }
}
