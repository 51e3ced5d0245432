// A native that waits lets other threads run: for the length of a block it has given the baton away.
//
//   int got;
//   {
//     AllowOthers others(in);
//     got = ::poll(&wanted, 1, 10);   // numbers and memory of one's own only
//   }
//   in.poll();                         // Ctrl-C, limits
//
// Rules inside the block:
//  1. No object is touched: no Value is made, copied, dropped or read, no count changes, nothing of the interpreter is called.
//     Memory that the wait works on belongs to the native (a std::string, a vector), or to an object that cannot change and is
//     held by an argument: bytes and str, not a bytearray.
//  2. Nothing throws an exception of the language.
//  3. It lasts about ten milliseconds at most, then the native polls and begins another: limits and Ctrl-C are heard between.
//  4. After it, whatever was read from objects before has to be read again: a list may be shorter, a file closed.
// errno survives the end of the block. With one thread it costs a test.
#pragma once

#include <cerrno>

#include "lang/core/interpreter.h"
#include "lang/vm/threads.h"

namespace tessera::lang {

class AllowOthers {
 public:
  explicit AllowOthers(Interpreter& in) : threads_(in.threads()), thread_(threads_.alone() ? nullptr : threads_.leave()) {}
  ~AllowOthers() {
    if (thread_ == nullptr) return;
    const int error = errno;
    threads_.enter(thread_);
    errno = error;
  }
  AllowOthers(const AllowOthers&) = delete;
  AllowOthers& operator=(const AllowOthers&) = delete;

 private:
  Threads& threads_;
  Thread* const thread_;
};

}  // namespace tessera::lang
