// The steps that compressing and decompressing objects share.
// compile: small (the library takes longer)
#include "stdlib/python/native/coders.h"

#include <algorithm>
#include <cstring>

#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/types/bytes.h"

namespace tessera::stdlib {
namespace {

constexpr size_t kHeader = alignof(std::max_align_t);  // before each block of a library: its size
constexpr size_t kInputStep = 1 << 15;                 // between two safe points

Coder* self_of(const Args& args) {
  Coder* c = coder_of(args[0]);
  if (c->coding == nullptr) throw Error(ErrorKind::ValueError, "the object was not initialized");
  return c;
}

// Runs the stream over `input`, of which what is left stays there, until `most` bytes have come out.
Value run(Interpreter& in, Coder* c, std::string_view& input, bool finish, size_t most) {
  const Value made = make_byte_array(in, {});
  ByteArray* const out = as_byte_array(made);
  size_t chunk = 16 << 10, left = 0;
  c->needs_input = false;  // and stays so after a fault
  do {
    in.poll(16);
    const size_t old = out->size, room = std::min(chunk, most - old), given = std::min(input.size(), kInputStep);
    byte_array_resize(in, out, old + room);
    std::string_view part = input.substr(0, given);
    char* to = out->data + old;
    left = room;
    c->ended = c->coding->step(in, part, to, left, finish && given == input.size());
    input.remove_prefix(given - part.size());
    byte_array_resize(in, out, old + room - left);
    chunk = std::min<size_t>(chunk * 2, 1 << 20);
  } while (!c->ended && out->size < most && (finish || !input.empty() || left == 0));
  c->needs_input = !c->ended && input.empty() && (left != 0 || most == SIZE_MAX);
  return make_bytes(in, bytes_of(made));
}

Value make_coder(Interpreter& in, Type* type, const Args& args) {
  Value made = Value::adopt(make_object<Coder>(in, type));
  coder_of(made)->unused = make_bytes(in, {});
  run_native_init(in, made, args);
  return made;
}

}  // namespace

void* library_allocate(void* interpreter, size_t count, size_t size) noexcept {
  if (size != 0 && count > (SIZE_MAX / 2 - kHeader) / size) return nullptr;
  const size_t whole = kHeader + count * size;
  try {
    char* block = static_cast<char*>(static_cast<Interpreter*>(interpreter)->allocate(whole));
    std::memcpy(block, &whole, sizeof whole);
    return block + kHeader;
  } catch (const Error&) {
    return nullptr;  // the library has frames without unwinding between here and what will say MemoryError
  }
}

void library_free(void* interpreter, void* memory) noexcept {
  if (memory == nullptr) return;
  char* const block = static_cast<char*>(memory) - kHeader;
  size_t whole;
  std::memcpy(&whole, block, sizeof whole);
  static_cast<Interpreter*>(interpreter)->deallocate(block, whole);
}

void start_coder(Interpreter& in, Coder* c, std::unique_ptr<Coding> coding) {
  c->coding = std::move(coding);
  c->held.clear();
  c->unused = make_bytes(in, {});
  c->ended = false;
  c->needs_input = true;
}

Value encode_part(Interpreter& in, const Args& args) {
  Coder* c = self_of(args);
  if (c->ended) throw Error(ErrorKind::ValueError, "Compressor has been flushed");
  const BytesLike data(in, args[1]);
  std::string_view input = data.view();
  return run(in, c, input, false, SIZE_MAX);
}

Value encode_end(Interpreter& in, const Args& args) {
  Coder* c = self_of(args);
  if (c->ended) throw Error(ErrorKind::ValueError, "Repeated call to flush()");
  std::string_view nothing;
  return run(in, c, nothing, true, SIZE_MAX);
}

Value decode_part(Interpreter& in, const Args& args, const char* ended) {
  Coder* c = self_of(args);
  const int64_t most = int_argument(in, args[2]);
  const BytesLike data(in, args[1]);
  if (c->ended) throw Error(ErrorKind::EOFError, ended);
  // Taken out of the object: another thread may call meanwhile.
  std::string before = std::exchange(c->held, std::string());
  std::string_view input = data.view();
  if (!before.empty()) {
    c->booked.cover(in.heap, before.size() + input.size());
    input = before.append(input);
  }
  Value out = run(in, c, input, false, most < 0 ? SIZE_MAX : static_cast<size_t>(most));
  if (c->ended) {
    c->unused = make_bytes(in, input);
    input = {};
  }
  c->booked.set(in.heap, input.size());
  c->held = input;
  return out;
}

Type* make_coder_type(Interpreter& in, Module& module, std::string_view name, const NativeDef* rows, size_t count, bool decodes) {
  NativeTypeSpec spec;
  spec.name = name;
  spec.module = module.name->view();
  spec.size = sizeof(Coder);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->make = make_coder;
  type->slots.destroy = [](Interpreter& in2, Object* self) { free_object(in2, known_cast<Coder>(self)); };
  in.add_methods(type, rows, count);
  set_member(in, module, name, Value(type));
  if (!decodes) return type;
  in.add_property(type, "eof", [](Interpreter&, const Args& a) { return Value::boolean(coder_of(a[0])->ended); });
  in.add_property(type, "needs_input", [](Interpreter&, const Args& a) { return Value::boolean(coder_of(a[0])->needs_input); });
  in.add_property(type, "unused_data", [](Interpreter&, const Args& a) { return coder_of(a[0])->unused; });
  return type;
}

}  // namespace tessera::stdlib
