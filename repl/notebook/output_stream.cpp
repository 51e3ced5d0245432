#include "repl/notebook/output_stream.h"

#include <algorithm>
#include <utility>

namespace tessera::repl {
namespace {

using Clock = std::chrono::steady_clock;

size_t characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void keep_what_shows(std::string& out, std::string_view line) {
  size_t at = line.find('\r');
  out += line.substr(0, at);
  while (at != line.npos) {
    const size_t next = line.find('\r', at + 1);
    const std::string_view piece = line.substr(at, next == line.npos ? next : next - at);
    const std::string_view following = next == line.npos ? "" : line.substr(next, line.find('\r', next + 1) - next);
    if (following.size() <= 1 || characters(following) < characters(piece)) out += piece;
    at = next;
  }
}

}  // namespace

void drop_written_over(std::string& text) {
  if (text.find('\r') == text.npos) return;
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    keep_what_shows(out, std::string_view(text).substr(begin, end == text.npos ? end : end - begin));
    if (end == text.npos) break;
    out += '\n';
    begin = end + 1;
  }
  text = std::move(out);
}

OutputStream::OutputStream(Frontend& frontend, std::string folder, Bounds bounds)
    : frontend_(frontend), folder_(std::move(folder)), bounds_(bounds) {}

OutputStream::~OutputStream() {
  {
    const auto lock = hold();
    ending_ = true;
  }
  changed_.notify_all();
  if (clock_.joinable()) clock_.join();
}

void OutputStream::begin_cell(int number) {
  const auto lock = hold();
  number_ = number;
  shown_.clear();
  beyond_ = 0;
  file_.reset();
}

void OutputStream::write(bool is_error, std::string_view text) {
  if (text.empty()) return;
  const auto lock = hold();
  if (is_error != pending_is_error_) hand_over();
  pending_is_error_ = is_error;
  const bool was_empty = pending_.empty();
  pending_ += text;
  const Clock::time_point now = Clock::now();
  // The first whole line after a pause is seen at once. A piece of a line waits: more of it may come, or an input().
  const bool is_whole = pending_.back() == '\n' || pending_.find('\r') != pending_.npos;
  if (pending_.size() >= bounds_.gathered || (is_whole && now - last_ >= bounds_.gather)) return hand_over();
  if (!was_empty) return;
  due_ = now + bounds_.gather;
  if (!clock_.joinable()) clock_ = std::thread([this] { keep_time(); });
  changed_.notify_all();
}

void OutputStream::flush() {
  const auto lock = hold();
  hand_over();
}

std::string OutputStream::take_open_line() {
  const auto lock = hold();
  if (pending_is_error_) return "";
  const size_t begin = pending_.find_last_of('\n') + 1;  // npos + 1 is 0
  std::string line = pending_.substr(begin);
  pending_.resize(begin);
  hand_over();
  return line;
}

void OutputStream::keep_time() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (pending_.empty()) changed_.wait(lock);
    else if (changed_.wait_until(lock, due_) == std::cv_status::timeout && Clock::now() >= due_) hand_over();
  }
}

void OutputStream::hand_over() {
  if (pending_.empty()) return;
  std::string text = std::exchange(pending_, {});
  drop_written_over(text);
  last_ = Clock::now();
  due_ = last_ + bounds_.gather;
  show(text);
}

void OutputStream::show(std::string_view text) {
  const size_t room = file_ != nullptr ? 0 : static_cast<size_t>(bounds_.shown - shown_.size());
  const size_t size = whole_characters(text, room);
  if (size > 0) {
    shown_ += text.substr(0, size);
    frontend_.stream(pending_is_error_, text.substr(0, size));
  }
  if (size < text.size()) keep(text.substr(size));
}

void OutputStream::keep(std::string_view text) {
  if (file_ == nullptr) {
    file_ = std::make_unique<KeptFile>(folder_, "output-" + std::to_string(number_) + ".txt", bounds_.kept);
    file_->write(shown_);
    frontend_.stream(true, "\n... more than is shown here: what follows goes to " + file_->path() + "\n");
  }
  beyond_ += text.size();
  file_->write(text);
}

void OutputStream::end_cell() {
  const auto lock = hold();
  hand_over();
  if (file_ == nullptr) return;
  file_->flush();
  if (!file_->problem().empty())
    frontend_.stream(true, "... and a part of it is lost: " + file_->path() + ": " + file_->problem() + "\n");
  frontend_.overflow(file_->path(), beyond_);
  file_.reset();
}

}  // namespace tessera::repl
