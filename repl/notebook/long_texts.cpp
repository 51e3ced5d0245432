#include "repl/notebook/long_texts.h"

#include <algorithm>
#include <utility>

#include "repl/notebook/kept_file.h"

namespace tessera::repl {
namespace {

const char* ending_of(const Form& form) {
  if (form.type == "text/html") return ".html";
  if (form.type == "image/svg+xml") return ".svg";
  return form.is_json ? ".json" : ".txt";
}

// A text is still one when its end is missing.
bool can_be_cut(const Form& form) { return form.type == "text/plain" || form.type == "text/markdown"; }

}  // namespace

void LongTexts::begin_cell(int number) {
  number_ = number;
  count_ = 0;
  kept_ = 0;
}

LongTexts::Cut LongTexts::keep(std::string_view text, uint64_t shown, const char* ending) {
  const std::string name = "shown-" + std::to_string(number_) + "-" + std::to_string(++count_) + ending;
  const uint64_t room = bounds_.kept - std::min(kept_, bounds_.kept);
  KeptFile file(folder_, name, room);
  file.write(text);
  file.flush();
  kept_ += std::min<uint64_t>(text.size(), room);
  return {file.path(), file.problem(), text.size() - shown, ""};
}

void LongTexts::cut_text(std::string& text, std::vector<Cut>& cuts) {
  if (text.size() <= bounds_.text) return;
  const size_t shown = whole_characters(text, bounds_.text);
  cuts.push_back(keep(text, shown, ".txt"));
  text.resize(shown);
  text += "\n... more than is shown here: all of it is in " + cuts.back().path;
}

std::vector<LongTexts::Cut> LongTexts::cut(Forms& forms) {
  std::vector<Cut> cuts;
  for (Form& form : forms) {
    if (can_be_cut(form)) {
      cut_text(form.data, cuts);
    } else if (!form.is_bytes && form.data.size() > bounds_.markup) {
      cuts.push_back(keep(form.data, 0, ending_of(form)));
      cuts.back().word = "... " + form.type + " that is longer than what is shown here is in " + cuts.back().path;
      form.data.clear();
    }
  }
  const auto is_left_out = [](const Form& form) { return form.data.empty() && !can_be_cut(form) && !form.is_bytes; };
  if (!cuts.empty() && std::ranges::all_of(forms, is_left_out))
    forms.insert(forms.begin(), {"text/plain", cuts.back().word});
  if (!cuts.empty()) std::erase_if(forms, is_left_out);
  return cuts;
}

std::vector<LongTexts::Cut> LongTexts::cut(ErrorReport& report) {
  std::vector<Cut> cuts;
  cut_text(report.text, cuts);
  // These are parts of the text, which is in the file.
  const auto shorten = [&](std::string& part) {
    if (part.size() > bounds_.text) part.resize(whole_characters(part, bounds_.text));
  };
  shorten(report.message);
  for (std::string& note : report.notes) shorten(note);
  return cuts;
}

}  // namespace tessera::repl
