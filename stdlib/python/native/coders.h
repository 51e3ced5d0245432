// Compression streams as objects of a script, over any library: _bz2 and _lzma.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lang/core/booking.h"
#include "lang/core/object_cast.h"
#include "lang/objects/module.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {

// One stream of a library's. Holds no Value and runs no script.
class Coding {
 public:
  virtual ~Coding() = default;
  // Works until `input` or `room` is used up or the stream has ended, and makes both what is left of them. `finish`: nothing
  // follows the input, so that an encoder writes its end. Answers whether the stream has ended; throws for data that it refuses.
  virtual bool step(Interpreter& in, std::string_view& input, char*& room, size_t& size, bool finish) = 0;
};

// A type's object: a Coding, which __init__ makes, and what there is between two calls.
struct Coder : Object {
  std::unique_ptr<Coding> coding;
  std::string held;  // input that max_length kept from being read
  Booking booked;    // of `held`
  Value unused;      // bytes behind the stream's end
  bool ended = false, needs_input = true;
};

inline Coder* coder_of(const Value& v) { return known_cast<Coder>(v); }

// The allocators of C libraries, over the interpreter's heap: null where the script's limit is reached.
void* library_allocate(void* interpreter, size_t count, size_t size) noexcept;
void library_free(void* interpreter, void* memory) noexcept;

void start_coder(Interpreter& in, Coder* coder, std::unique_ptr<Coding> coding);
// The four methods that coders have.
Value encode_part(Interpreter& in, const Args& args);   // compress(self, data, /)
Value encode_end(Interpreter& in, const Args& args);    // flush(self)
// decompress(self, data, max_length=-1); `ended`: the words of the EOFError behind the end
Value decode_part(Interpreter& in, const Args& args, const char* ended);
// A type of coders; `rows` are its methods, among which __init__ calls start_coder.
Type* make_coder_type(Interpreter& in, Module& module, std::string_view name, const NativeDef* rows, size_t count, bool decodes);

}  // namespace tessera::stdlib
