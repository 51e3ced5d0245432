// compile: small (runs after an error)
#include "stdlib/torch/launch_log.h"

#include <atomic>

#include "lang/vm/frame.h"
#include "lang/vm/provenance.h"
#include "lang/vm/vm.h"

namespace tessera::stdlib {
namespace {

using lang::Frame;
using lang::Source;
using lang::Span;

// A ring: what nobody asked about in the last 4,096 launches is forgotten. A number says in its upper byte whose ring it is,
// for interpreters share devices.
class Log final : public LaunchLog {
 public:
  explicit Log(Interpreter& in) : in_(in) {
    static std::atomic<uint32_t> made{0};
    mine_ = (++made & 0xff) << 24;
  }

  uint32_t note(const char* slot) override {
    if (ring_.empty()) ring_.resize(kLaunches);
    if (++last_ >= 1u << 24) last_ = 1;
    Entry& entry = ring_[last_ % kLaunches];
    entry = {mine_ | last_, kNowhere, {}, slot};
    const Frame* frame = in_.vm().top();
    if (frame != nullptr) frame = lang::program_frame(frame);
    if (frame != nullptr) {
      entry.source = number_of(frame->code->source);
      entry.span = lang::current_span(*frame);
    }
    return entry.launch;
  }

  bool empty() const { return ring_.empty(); }

  std::string describe(uint32_t launch) const override {
    if (ring_.empty() || (launch & 0xff000000u) != mine_) return "";
    const Entry& entry = ring_[(launch & 0xffffffu) % kLaunches];
    if (entry.launch != launch || entry.source == kNowhere) return "";
    const Source& source = *sources_[entry.source];
    return "at " + std::string(source.name()) + ":" + std::to_string(source.line_number(entry.span.begin)) + " (" +
           entry.slot + ")";
  }

 private:
  static constexpr uint32_t kLaunches = 4096, kNowhere = UINT32_MAX;
  struct Entry {
    uint32_t launch = 0, source = kNowhere;
    Span span;
    const char* slot = nullptr;
  };

  // Few sources launch anything, and mostly the same as just before.
  uint32_t number_of(const std::shared_ptr<const Source>& source) {
    if (recent_ < sources_.size() && sources_[recent_] == source) return recent_;
    for (recent_ = 0; recent_ < sources_.size(); recent_++)
      if (sources_[recent_] == source) return recent_;
    sources_.push_back(source);
    return recent_;
  }

  Interpreter& in_;
  std::vector<Entry> ring_;
  std::vector<std::shared_ptr<const Source>> sources_;
  uint32_t mine_, last_ = 0, recent_ = 0;
};

}  // namespace

void note_launches(Interpreter& in) { torch_state(in).context.launches = in.keep(new Log(in)); }

bool has_launched(Interpreter& in) {
  if (in.extension == nullptr) return false;  // torch was not imported
  const auto* log = static_cast<const Log*>(torch_state(in).context.launches);
  return log != nullptr && !log->empty();
}

}  // namespace tessera::stdlib
