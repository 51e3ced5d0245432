// A text that a native makes out of parts that a script chose: booked against the limit of memory before it grows, and the program can be
// stopped while it does. Natives whose result may be larger than their arguments together write into one of these.
#pragma once

#include <string>
#include <string_view>

#include "lang/core/booking.h"
#include "lang/core/pieces.h"

namespace tessera::lang {

class BookedText {
 public:
  explicit BookedText(Interpreter& in) : in_(in), budget_(in) {}

  BookedText& operator+=(std::string_view part) {
    booked_.cover(in_.heap, text_.size() + part.size());
    budget_.take(1 + part.size() / 64);
    text_ += part;
    return *this;
  }

  const std::string& str() const { return text_; }

 private:
  Interpreter& in_;
  Booking booked_;
  StopBudget budget_;
  std::string text_;
};

}  // namespace tessera::lang
