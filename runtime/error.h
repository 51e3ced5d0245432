// The one exception type of the tensor library. `kind` names the Python exception class that the
// binding layer raises; `message` is PyTorch's own first line; notes are what we add below it.
//
//     throw TensorError(TensorErrorKind::Index, text("Dimension out of range, got ", dim));
//     check(a.dim() == 2, TensorErrorKind::Runtime, "expected a matrix, got ", a.dim(), " dimensions");
#pragma once

#include <exception>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace tessera::tensor {

enum class TensorErrorKind : unsigned char {
  Runtime,         // RuntimeError
  Type,            // TypeError
  Value,           // ValueError
  Index,           // IndexError
  Key,             // KeyError
  Attribute,       // AttributeError
  NotImplemented,  // NotImplementedError
  Memory,          // MemoryError: the account's limit, or the machine's
  OutOfMemory,     // torch.cuda.OutOfMemoryError, a RuntimeError: device memory
  Overflow,        // OverflowError
  ZeroDivision,    // ZeroDivisionError
  Assertion,       // AssertionError
  Cancelled,       // the cancel flag was seen: a limit or Ctrl-C, the host knows which
};

/// The Python class name of a kind ("RuntimeError"); "KeyboardInterrupt" for Cancelled.
const char* python_name(TensorErrorKind kind);

class TensorError : public std::exception {
 public:
  TensorError(TensorErrorKind kind, std::string message, std::vector<std::string> notes = {})
      : kind_(kind), message_(std::move(message)), notes_(std::move(notes)) {}

  TensorErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const char* what() const noexcept override { return message_.c_str(); }

  TensorError& add_note(std::string note) {
    notes_.push_back(std::move(note));
    return *this;
  }

 private:
  TensorErrorKind kind_;
  std::string message_;
  std::vector<std::string> notes_;
};

/// One part of a message: an object, and the function that writes it. Messages of all parts share the code that joins them, since
/// hundreds of ops have texts of their own.
class TextPart {
 public:
  TextPart(const char* characters) : object_(characters), write_(write_characters) {}
  template <class T>
  TextPart(const T& object) : object_(std::addressof(object)), write_(write_object<T>) {}

  void write(std::ostream& out) const { write_(out, object_); }

 private:
  static void write_characters(std::ostream& out, const void* characters);
  template <class T>
  static void write_object(std::ostream& out, const void* object) {
    out << *static_cast<const T*>(object);
  }

  const void* object_;
  void (*write_)(std::ostream& out, const void* object);
};

std::string joined_text(std::initializer_list<TextPart> parts);
[[noreturn, gnu::cold]] void fail_with(TensorErrorKind kind, std::initializer_list<TextPart> parts);

/// Joins the parts as text, through operator<<.
template <class... Parts>
std::string text(const Parts&... parts) {
  return joined_text({TextPart(parts)...});
}

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(TensorErrorKind kind, const Parts&... parts) {
  fail_with(kind, {TextPart(parts)...});
}

/// Throws unless the condition holds. The parts are joined only when it does not.
template <class... Parts>
inline void check(bool condition, TensorErrorKind kind, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(kind, parts...);
}

}  // namespace tessera::tensor
