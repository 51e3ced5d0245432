#include "repl/notebook/file_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

namespace tessera::repl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMostSettling{200};
constexpr std::chrono::microseconds kLook{200};

// The bytes up to the last whole character; what is no character at all counts as one.
size_t whole_characters(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

int waiting_bytes(int file) {
  int bytes = 0;
  return file >= 0 && ioctl(file, FIONREAD, &bytes) == 0 ? bytes : 0;
}

void close_file(int& file) {
  if (file >= 0) close(file);
  file = -1;
}

}  // namespace

FileOutput::FileOutput(std::function<void(bool is_error, std::string_view text)> take) : take_(std::move(take)) {
  if (pipe2(wake_, O_CLOEXEC) != 0) return;
  open(0);
  open(1);
  // Signals are for the thread that runs blocks.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { read_all(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

FileOutput::~FileOutput() {
  for (int i = 0; i < 2; ++i) {
    if (own_[i] == i + 1) continue;
    dup2(own_[i], i + 1);
    close(own_[i]);
  }
  close_file(wake_[1]);
  if (thread_.joinable()) thread_.join();
  close_file(wake_[0]);
  for (Stream& each : streams_) close_file(each.read_end);
}

void FileOutput::open(int index) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const int file = index + 1, own = fcntl(file, F_DUPFD_CLOEXEC, 3);
  if (own < 0 || dup2(ends[1], file) < 0) {
    close(ends[0]);
    if (own >= 0) close(own);
  } else {
    own_[index] = own;
    streams_[index].read_end = ends[0];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  close(ends[1]);
}

// False: nothing more will come.
bool FileOutput::read(int index) {
  const std::lock_guard lock(reading_);
  Stream& stream = streams_[index];
  char buffer[64 << 10];
  const ssize_t size = ::read(stream.read_end, buffer, sizeof buffer);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  stream.cut.append(buffer, static_cast<size_t>(size));
  stream.taken += static_cast<uint64_t>(size);
  const size_t whole = size == 0 ? stream.cut.size() : whole_characters(stream.cut);
  if (whole > 0) take_(index == 1, std::string_view(stream.cut).substr(0, whole));
  stream.cut.erase(0, whole);
  return size > 0;
}

void FileOutput::read_all() {
  pollfd wanted[3] = {{streams_[0].read_end, POLLIN, 0}, {streams_[1].read_end, POLLIN, 0}, {wake_[0], POLLIN, 0}};
  for (;;) {
    if (poll(wanted, 3, -1) < 0 && errno != EINTR) return;
    for (int i = 0; i < 2; ++i)
      if (wanted[i].revents != 0 && !read(i)) wanted[i].fd = -1;
    if (wanted[2].revents != 0) return;
  }
}

void FileOutput::settle() {
  uint64_t wanted[2] = {};
  const Clock::time_point end = Clock::now() + kMostSettling;
  for (bool first = true; Clock::now() < end; first = false) {
    bool is_there = true;
    {
      const std::lock_guard lock(reading_);
      for (int i = 0; i < 2; ++i) {
        if (first) wanted[i] = streams_[i].taken + static_cast<uint64_t>(waiting_bytes(streams_[i].read_end));
        is_there = is_there && streams_[i].taken >= wanted[i];
      }
    }
    if (is_there) return;
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace tessera::repl
