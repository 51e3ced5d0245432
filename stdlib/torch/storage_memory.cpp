// The memory of tensors as bytes: what readers and writers of files move in one piece, without a look at the elements.
//
// A storage is handed to scripts as a flat uint8 tensor over all of it (`torch.storage` makes its classes of that).
// Everything that makes a tensor of numbers found in a file goes through `tensor_on`, which believes none of them.
// compile: small (seldom in an inner loop)
#include "stdlib/torch/storage_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "lang/core/object_cast.h"
#include "lang/objects/own_type.h"
#include "lang/types/bytes.h"
#include "runtime/autograd/engine.h"
#include "stdlib/python/native/support.h"
#include "stdlib/torch/convert.h"

namespace tessera::stdlib {
namespace {

// What a memoryview of a tensor's memory holds on to.
struct TensorMemory : Object {
  Tensor tensor;
};

constexpr char kMemoryLayout[] = "torch._C._Memory";
void destroy_memory(Interpreter& in, Object* self) { free_object(in, known_cast<TensorMemory>(self)); }

bool memory_buffer(Interpreter&, const Value& value, Buffer& out, BufferLayout*) {
  auto* memory = object_cast<TensorMemory>(value);
  out.size = memory->tensor.nbytes();
  // An empty tensor may have no address; a buffer of no bytes shall still have one.
  out.data = out.size == 0 ? reinterpret_cast<char*>(memory) : memory->tensor.impl()->exposed_address();
  out.readonly = false;
  return true;
}

const Tensor& host_bytes(Interpreter& in, const Value& value) {
  const Tensor& t = expect_tensor(in, value, "memory");
  if (!t.device().is_cpu() || !t.is_contiguous())
    throw Error(ErrorKind::RuntimeError, "the bytes of a tensor can be had on the CPU, of one that lies in one piece");
  return t;
}

// A view of the memory of a contiguous tensor on the CPU. Writing there is writing the tensor.
Value memory_of(Interpreter& in, const Args& args) {
  const Tensor& t = host_bytes(in, args[0]);
  const Value type = get_attr(in, Value(static_cast<Object*>(in.import("torch._C"))), intern(in, "_Memory"));
  auto* memory = make_object<TensorMemory>(in, own_type(type, kMemoryLayout, "torch._C._Memory"));
  const Value owner = Value::adopt(memory);
  memory->tensor = t.view_of(t.sizes(), t.strides());  // `t` itself may be given other memory: resize_, set_
  return make_memory_view(in, owner);
}

// The storage of a tensor, from its first byte to its last.
Value storage_of(Interpreter& in, const Args& args) {
  return in_torch(in, args, [&] {
    const Tensor alias = detached_alias(expect_tensor(in, args[0], "tensor"));
    Storage& storage = alias.storage();
    const int64_t bytes = static_cast<int64_t>(storage.bytes()), one = 1;
    return wrap_tensor(in, Tensor::adopt(TensorImpl::create_view(&storage, static_cast<char*>(storage.data()),
                                                                 {&bytes, 1}, {&one, 1}, kUInt8)));
  });
}

// A storage of its own over some bytes of another one, which stays alive as long.
Value part_of(Interpreter& in, const Args& args) {
  const Tensor& whole = host_bytes(in, args[0]);
  const int64_t start = int_argument(in, args[1]), size = int_argument(in, args[2]);
  const int64_t bytes = static_cast<int64_t>(whole.nbytes());
  if (start < 0 || size < 0 || start > bytes || size > bytes - start)
    throw Error(ErrorKind::ValueError, "the part lies outside of the storage");
  return in_torch(in, args, [&] {
    return wrap_tensor(
        in, Tensor::from_blob(static_cast<char*>(whole.data_ptr()) + start, {&size, 1}, kUInt8, [whole](void*) {}));
  });
}

// How many elements from the first one a layout reaches; -1: more than a number holds, or a step is negative.
int64_t reach(Ints sizes, Ints strides) {
  int64_t last = 0;
  for (const int64_t size : sizes)
    if (size == 0) return 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step = 0;
    if (strides[i] < 0 || __builtin_mul_overflow(sizes[i] - 1, strides[i], &step) ||
        __builtin_add_overflow(last, step, &last))
      return -1;
  }
  return last == INT64_MAX ? -1 : last + 1;
}

bool countable(Ints sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(count, size == 0 ? 1 : size, &count)) return false;
  int64_t bytes = 0;
  return !__builtin_mul_overflow(count, 16, &bytes);
}

// A bool is a byte of 0 or 1; others are written only where there are some, so that mapped pages stay as they are.
void make_bools(char* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (static_cast<unsigned char>(data[i]) > 1) data[i] = 1;
}

// A tensor over a storage, from a byte on. ValueError where any element lies outside; None where the memory is not
// aligned for the elements: then the caller copies.
Value tensor_on(Interpreter& in, const Args& args) {
  const Tensor& base = expect_tensor(in, args[0], "storage");
  DType dtype = kUInt8;
  std::vector<int64_t> sizes, strides;
  if (!to_dtype(in, args[1], dtype) || !to_ints(in, args[3], sizes) || !to_ints(in, args[4], strides))
    throw Error(ErrorKind::TypeError, "a tensor needs a dtype, sizes and strides that are ints");
  const int64_t offset = int_argument(in, args[2]), width = static_cast<int64_t>(item_size(dtype));
  const int64_t bytes = static_cast<int64_t>(base.nbytes());
  if (sizes.size() != strides.size() || sizes.size() > 64 || !countable(sizes))
    throw Error(ErrorKind::ValueError, "the sizes and strides of a tensor do not fit together");
  const int64_t needed = reach(sizes, strides);
  if (offset < 0 || offset > bytes || needed < 0 || needed > (bytes - offset) / width)
    throw Error(ErrorKind::ValueError, "a tensor of " + shape_str(sizes) + " from byte " + std::to_string(offset) +
                                           " on lies outside of its storage of " + std::to_string(bytes) + " bytes");
  char* data = static_cast<char*>(base.data_ptr()) + offset;
  const int64_t alignment = is_complex(dtype) ? width / 2 : width;
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment) != 0) return Value::none();
  if (dtype == kBool && base.device().is_cpu()) make_bools(data, needed);
  return in_torch(in, args, [&] {
    return wrap_tensor(in, Tensor::adopt(TensorImpl::create_view(&base.storage(), data, sizes, strides, dtype)));
  });
}

// A flat uint8 tensor that shares the memory of a bytes-like object, which may not change its size meanwhile. What may
// not be written is copied: a tensor can always be written.
Value from_buffer(Interpreter& in, const Args& args) {
  auto pinned = std::make_shared<PinnedBuffer>(in, args[0], false);
  const Buffer& buffer = pinned->get();
  const int64_t size = static_cast<int64_t>(buffer.size);
  return in_torch(in, std::span<const Value>(), [&] {
    if (!buffer.readonly)
      return wrap_tensor(in, Tensor::from_blob(buffer.data, {&size, 1}, kUInt8, [pinned](void*) {}));
    Tensor copy = Tensor::empty({&size, 1}, kUInt8);
    if (size != 0) std::memcpy(copy.data_ptr(), buffer.data, buffer.size);
    return wrap_tensor(in, std::move(copy));
  });
}

class OpenFile {
 public:
  OpenFile(Interpreter& in, const std::string& path, int mode = O_RDONLY) : files_(files_of(in)), file_(files_.open(path, mode)) {
    if (file_ < 0) throw_os_error(in, errno, path);
  }
  ~OpenFile() { files_.close(file_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return file_; }
  Files& files() const { return files_; }

 private:
  Files& files_;
  int file_;
};

Tensor read_file(Interpreter& in, const OpenFile& file, int64_t size) {
  Tensor bytes = Tensor::empty({&size, 1}, kUInt8);
  char* const to = static_cast<char*>(bytes.data_ptr());
  constexpr int64_t kPiece = 1 << 20;
  for (int64_t done = 0; done < size;) {
    in.check_stop();
    const ssize_t got = file.files().read(file.get(), to + done, static_cast<size_t>(std::min(size - done, kPiece)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_os_error(in, errno);
    if (got == 0) std::memset(to + done, 0, static_cast<size_t>(size - done)), done = size;
    done += got;
  }
  return bytes;
}

// The bytes of a file as a flat uint8 tensor. Pages come when they are looked at; what is written stays in memory, or is in the file if
// `shared`. A mapped file that somebody shortens ends the process: who may not end it by other means gets a copy, which is on its account too,
// and nothing shared.
Value map_file(Interpreter& in, const Args& args) {
  const std::string path = path_argument(in, args[0]);
  const bool shared = truth(in, args[1]);
  if (shared && !in.limits.processes) throw_error(ErrorKind::PermissionError, "files are not mapped for writing here");
  const OpenFile file(in, path, shared ? O_RDWR : O_RDONLY);
  struct stat status {};
  if (file.files().status(file.get(), &status) != 0) throw_os_error(in, errno, path);
  if (!S_ISREG(status.st_mode)) throw_os_error(in, S_ISDIR(status.st_mode) ? EISDIR : ENODEV, path);
  const int64_t size = status.st_size;
  return in_torch(in, std::span<const Value>(), [&] {
    if (size == 0 || !in.limits.processes) return wrap_tensor(in, read_file(in, file, size));
    const size_t bytes = static_cast<size_t>(size);
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED) throw_os_error(in, errno, path);
    return wrap_tensor(in,
                       Tensor::from_blob(data, {&size, 1}, kUInt8, [bytes](void* mapped) { munmap(mapped, bytes); }));
  });
}

Type* make_memory_type(Interpreter& in) {
  Type* type =
      in.new_type({.name = "_Memory", .module = "torch._C", .size = sizeof(TensorMemory), .flags = kFinalType});
  type->slots.layout = kMemoryLayout;
  type->slots.destroy = destroy_memory;
  add_buffer_source(in, kMemoryLayout, memory_buffer);
  return type;
}

}  // namespace

void add_memory_functions(Interpreter& in, Module& module) {
  set_member(in, module, "_Memory", Value(make_memory_type(in)));
  const struct {
    const char* signature;
    NativeFn function;
  } rows[] = {
      {"_memory(tensor)", memory_of},
      {"_storage(tensor)", storage_of},
      {"_storage_part(storage, start, size)", part_of},
      {"_tensor_on(storage, dtype, offset, size, stride)", tensor_on},
      {"_from_buffer(buffer)", from_buffer},
      {"_map_file(path, shared=False)", map_file},
  };
  for (const auto& row : rows) in.def(module, row.signature, "", row.function);
  add_array_memory(in, module);
}

}  // namespace tessera::stdlib
