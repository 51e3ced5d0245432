// ScriptError: the one exception type of <tessera/tessera.h>.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tessera/tessera_c.h"

namespace tessera {

// What a script raised and nobody in it caught, a limit that ended it, or a mistake of the host's.
class ScriptError : public std::exception {
 public:
  ScriptError() = default;
  // Takes the error over.
  explicit ScriptError(tsr_error* error)
      : error_(error, tsr_error_free),
        kind_(tsr_error_get_kind(error)),
        class_name_(tsr_error_class(error)),
        message_(tsr_error_message(error)),
        traceback_(tsr_error_traceback(error)) {}

  // For host functions: raises in the script that calls it. `class_name` is a builtin exception's, one's of the main module, or
  // "module.Class".
  ScriptError(std::string class_name, std::string message)
      : class_name_(std::move(class_name)), message_(std::move(message)), traceback_(class_name_ + ": " + message_) {}

  const std::string& class_name() const { return class_name_; }  // "ValueError"
  const std::string& message() const { return message_; }        // str(e)
  const std::string& traceback() const { return traceback_; }    // as the program `tsr` prints it
  const char* what() const noexcept override { return traceback_.c_str(); }

  // Is it of that class, or of one that is derived from it: is("LookupError").
  bool is(const char* class_name) const {
    return error_ != nullptr ? tsr_error_is(error_.get(), class_name) : class_name_ == class_name;
  }
  // What stands below the message: what the script added with add_note, and what the library says.
  std::vector<std::string> notes() const {
    std::vector<std::string> found;
    for (size_t i = 0; i < tsr_error_note_count(error_.get()); ++i) found.emplace_back(tsr_error_note(error_.get(), i));
    return found;
  }
  // The calls of the traceback, the innermost last.
  struct Line {
    std::string file, function;
    int64_t line;
  };
  std::vector<Line> lines() const {
    std::vector<Line> found;
    tsr_line line;
    for (size_t i = 0; tsr_error_line(error_.get(), i, &line); ++i)
      found.push_back({line.file, line.function, line.line});
    return found;
  }
  const tsr_error* handle() const { return error_.get(); }  // nullptr for one of a host function's

  tsr_error_kind kind() const { return kind_; }
  // A limit of steps, time, memory or output, or cancel().
  bool is_limit() const { return kind() == TSR_ERROR_LIMIT || kind() == TSR_ERROR_CANCELLED; }

 private:
  friend struct detail_raise;

  std::shared_ptr<tsr_error> error_;
  tsr_error_kind kind_ = TSR_ERROR_SCRIPT;
  std::string class_name_, message_, traceback_;
};

namespace detail {

// `check(tsr_...(..., error), error)`: throws where the call has failed.
class ErrorSlot {
 public:
  operator tsr_error**() { return &error_; }
  void check(bool done) {
    if (!done) throw ScriptError(error_);
  }

 private:
  tsr_error* error_ = nullptr;
};

// The pointer to an interpreter stays good while a call lasts that may end it, or destroy the object that the call was made on.
class Shell {
 public:
  explicit Shell(tsr_interpreter* in) : in_(tsr_share(in)) {}
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() { tsr_unshare(in_); }
  operator tsr_interpreter*() const { return in_; }

 private:
  tsr_interpreter* in_;
};

}  // namespace detail

namespace detail {

// What Interpreter::raise_as was told, the newest first.
struct Translators {
  inline static const char key = 0;
  struct One {
    bool (*matches)(std::string& message);  // looks at the exception that is being handled
    std::string class_name;
  };
  std::vector<One> list;

  static Translators* of(tsr_interpreter* in) { return static_cast<Translators*>(tsr_get_data(in, &key)); }
};

}  // namespace detail

// Hands an exception of a host function over to the script that called it; false, for the function to answer.
struct detail_raise {
  static bool current(tsr_interpreter* in) noexcept {
    try {
      throw;
    } catch (const ScriptError& error) {
      if (error.error_) tsr_raise_error(in, error.error_.get());
      else tsr_raise(in, error.class_name_.c_str(), error.message_.c_str());
    } catch (...) {
      if (!translated(in)) usual(in);
    }
    return false;
  }

 private:
  static bool translated(tsr_interpreter* in) {
    const detail::Translators* const known = detail::Translators::of(in);
    if (known == nullptr) return false;
    for (size_t i = known->list.size(); i-- > 0;) {
      std::string message;
      if (!known->list[i].matches(message)) continue;
      tsr_raise(in, known->list[i].class_name.c_str(), message.c_str());
      return true;
    }
    return false;
  }
  static void usual(tsr_interpreter* in) {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      tsr_raise(in, "MemoryError", "");
    } catch (const std::out_of_range& error) {
      tsr_raise(in, "IndexError", error.what());
    } catch (const std::invalid_argument& error) {
      tsr_raise(in, "ValueError", error.what());
    } catch (const std::exception& error) {
      tsr_raise(in, "RuntimeError", error.what());
    } catch (...) {
      tsr_raise(in, "RuntimeError", "a function of the host threw what is no std::exception");
    }
  }
};

}  // namespace tessera
