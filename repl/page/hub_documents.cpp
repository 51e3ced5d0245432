// The document: edits, files, drafts.
#include <algorithm>
#include <utility>

#include "repl/page/assets.h"
#include "repl/page/hub.h"
#include "repl/page/line_ends.h"
#include "repl/page/utf16.h"

namespace tessera::repl::page {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr auto kDraftPause = 300ms;
constexpr int kDraftShare = 10;  // a tenth of the time at most goes into drafts of a long text

std::string name_of_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool is_text(const std::string& bytes) { return bytes.find('\0') == bytes.npos && to_utf8(to_utf16(bytes)) == bytes; }

}  // namespace

Json Hub::document() const {
  Json outputs = Json::array();
  const std::vector<CellSpan> cells = split_cells(document_.text());
  const auto records = document_.records(cells);
  for (size_t i = 0; i < cells.size(); ++i) {
    if (records[i] == nullptr || !records[i]->is_from_file) continue;
    Json messages = Json::array();
    for (const Message& message : records[i]->outputs)
      if (std::optional<Json> json = parse_json(*message)) messages.push_back(std::move(*json));
    if (!messages.empty())
      outputs.push_back({{"cell", i}, {"number", records[i]->number}, {"messages", std::move(messages)}});
  }
  return {{"type", "document"},
          {"id", document_id_},
          {"name", document_.name},
          {"path", document_.path},
          {"format", document_.format},
          {"version", document_.version()},
          {"text", to_utf8(document_.text())},
          {"saved", document_.is_saved()},
          {"outputs", std::move(outputs)}};
}

void Hub::refuse(Tab& tab) const {
  send(tab, {{"type", "refused"}, {"version", document_.version()}, {"text", to_utf8(document_.text())}});
}

void Hub::edit(Tab& tab, const Json& message) {
  const auto given = message.find("changes");
  if (integer_or(message, "version", -1) != document_.version()) return refuse(tab);
  std::vector<Change> changes;
  bool is_good = given != message.end() && given->is_array();
  if (is_good) {
    for (const Json& each : *given) {
      const bool whole = each.is_object() && integer_or(each, "from", -1) >= 0 && integer_or(each, "to", -1) >= 0 &&
                         each.contains("text") && each["text"].is_string();
      if (!(is_good = whole)) break;
      changes.push_back({static_cast<size_t>(integer_or(each, "from", 0)),
                         static_cast<size_t>(integer_or(each, "to", 0)), to_utf16(each["text"].get<std::string>())});
    }
  }
  const std::string problem = is_good ? document_.apply(changes) : "The edit's changes cannot be read.";
  if (!problem.empty()) {
    say_problem(tab, problem, "edit", message);
    return refuse(tab);
  }
  send(tab, {{"type", "edited"}, {"version", document_.version()}, {"taken", true}});
  send_all(Json{{"type", "edited"}, {"version", document_.version()}, {"changes", *given}}, &tab);
  keep_draft_soon();
}

// At once after a pause, and then not at each key.
void Hub::keep_draft_soon() {
  if (draft_timer_) return;
  const auto took = std::chrono::ceil<std::chrono::milliseconds>(draft_took_);
  const auto pause = std::max<std::chrono::milliseconds>(kDraftPause, took * kDraftShare);
  if (std::chrono::steady_clock::now() - kept_draft_ > pause) return keep_draft();
  draft_timer_ = loop_.after(pause, [this] {
    draft_timer_.reset();
    keep_draft();
  });
}

void Hub::keep_draft() {
  const auto begin = std::chrono::steady_clock::now();
  if (document_.is_saved()) return;
  const std::string problem =
      drafts_.keep({"", document_.name, document_.path, document_.format, to_utf8(document_.text()), 0});
  if (!problem.empty() && draft_problem_.empty())
    send_all(Json{{"type", "problem"}, {"about", "draft"}, {"text", "What is not saved cannot be kept: " + problem}});
  draft_problem_ = problem;
  kept_draft_ = std::chrono::steady_clock::now();
  draft_took_ = kept_draft_ - begin;
}

// Another document comes: what was not saved of this one stays as a draft.
void Hub::put_away() {
  if (document_.is_saved()) {
    drafts_.forget();
  } else {
    keep_draft();
    drafts_.leave();
  }
  draft_timer_.reset();
  stamp_.reset();
  has_carriage_returns_ = has_byte_order_mark_ = false;
  document_.path.clear();
  document_.format = "tsr";
  ++document_id_;
}

void Hub::make_new() {
  put_away();
  document_.name = "untitled.tsr";
  document_.replace(std::u16string());
  document_.set_saved();
  tell_document();
}

// Replaces the document by that text; a sentence says why not, and nothing has changed then.
std::string Hub::open_text(const std::string& name, std::string text) {
  std::optional<Notebook> notebook;
  bool returns = false, mark = false;
  if (name.ends_with(".ipynb")) {
    std::string problem;
    notebook = read_notebook(text, problem);
    if (!notebook) return in_quotes(name) + " " + problem + ".";
  } else {
    if (!is_text(text)) return in_quotes(name) + " is no text in UTF-8.";
    mark = text.starts_with(kByteOrderMark);
    if (mark) text.erase(0, kByteOrderMark.size());
    // CodeMirror and every place of an error count lines by "\n".
    returns = drop_carriage_returns(text);
    if (text.size() > Document::kMostUnits)
      return in_quotes(name) + " is too long for a document: more than 16 million characters.";
  }
  put_away();
  document_.name = name;
  document_.format = notebook ? "ipynb" : "tsr";
  has_carriage_returns_ = returns;
  has_byte_order_mark_ = mark;
  if (notebook) document_.replace(*notebook);
  else document_.replace(to_utf16(text));
  document_.set_saved();
  return "";
}

std::string Hub::open_file(const std::string& path) {
  std::string problem;
  std::optional<FileText> file = folder_.read(path, problem);
  if (!file) return problem;
  problem = open_text(name_of_path(path), std::move(file->text));
  if (!problem.empty()) return problem;
  document_.path = path;
  stamp_ = file->stamp;
  return "";
}

void Hub::open(Tab& tab, const Json& message) {
  std::string problem;
  if (message.contains("example")) {
    const std::string name = text_or(message, "example");
    const Asset* const asset = find_asset(std::string(kExamples) + name);
    problem = asset == nullptr ? "There is no example “" + name.substr(0, 100) + "”."
                               : open_text(name_of_path(name), text_of(*asset));
  } else {
    problem = open_file(text_or(message, "path"));
  }
  if (!problem.empty()) return say_problem(tab, problem, "open", message);
  tell_document();
}

std::string Hub::open_draft(const Draft& draft) {
  put_away();
  document_.name = draft.name;
  document_.path = draft.path;
  document_.format = draft.format == "ipynb" ? "ipynb" : "tsr";
  document_.replace(std::u16string());
  if (document_.format == "tsr" && !document_.path.empty()) {
    std::string problem;
    if (const auto file = folder_.read(document_.path, problem)) {
      has_carriage_returns_ = file->text.find('\r') != file->text.npos;
      has_byte_order_mark_ = file->text.starts_with(kByteOrderMark);
    }
  }
  // Of a notebook the text is the draft's, and what its cells had besides is the file's.
  if (document_.format == "ipynb" && !document_.path.empty()) {
    std::string problem;
    const auto file = folder_.read(document_.path, problem);
    if (const auto notebook = file ? read_notebook(file->text, problem) : std::nullopt) document_.replace(*notebook);
  }
  document_.apply({{.from = 0, .to = document_.text().size(), .text = to_utf16(draft.text)}});
  document_.set_unsaved();
  keep_draft();
  return draft_problem_;
}

// The newest text of a server that ended before it was saved.
Json Hub::draft() const {
  const std::vector<Draft> found = drafts_.found();
  const std::optional<Draft> draft = found.empty() ? std::nullopt : drafts_.read(found.front().id);
  if (!draft) return nullptr;
  return {
      {"id", draft->id}, {"name", draft->name}, {"path", draft->path}, {"text", draft->text}, {"changed", draft->time}};
}

void Hub::answer_draft(Tab& tab, const Json& message) {
  const std::string id = text_or(message, "id");
  const std::vector<Draft> found = drafts_.found();
  const bool is_there = std::any_of(found.begin(), found.end(), [&](const Draft& each) { return each.id == id; });
  const std::optional<Draft> draft = is_there ? drafts_.read(id) : std::nullopt;
  if (!draft) return say_problem(tab, "There is no such draft any more.", "draft", message);
  const bool takes = is_true(message, "take");
  // Nothing is given up before it stands somewhere else.
  if (!takes || open_draft(*draft).empty()) drafts_.remove(id);
  if (takes) tell_document();
}

void Hub::save(Tab& tab, const Json& message) {
  if (message.contains("path") && !message["path"].is_string())
    return say_problem(tab, "The path to save the document by is no text.", "save", message);
  std::string path = text_or(message, "path", document_.path);
  const std::string format = text_or(message, "format", document_.format) == "ipynb" ? "ipynb" : "tsr";
  if (path.empty()) path = document_.name;
  std::string problem = path == document_.path ? "" : problem_of_name(path);
  if (!problem.empty()) return say_problem(tab, problem, "save", message);
  const bool is_program = path.ends_with(".tsr") || path.ends_with(".py");
  if (format == "ipynb" ? !path.ends_with(".ipynb") : !is_program) path += "." + format;
  std::string text = format == "ipynb" ? write_notebook(document_.notebook()) : to_utf8(document_.text());
  if (format == "tsr" && has_carriage_returns_) text = with_carriage_returns(text);
  if (format == "tsr" && has_byte_order_mark_) text.insert(0, kByteOrderMark);
  FileStamp stamp;
  const auto known = path == document_.path ? stamp_ : std::nullopt;
  switch (folder_.write(path, text, known, is_true(message, "overwrite"), stamp, problem)) {
    case Folder::Written::kFailed: return say_problem(tab, problem, "save", message);
    case Folder::Written::kExists:
    case Folder::Written::kChanged:
      return send(tab, {{"type", "exists"}, {"path", path}, {"format", format}, {"changed", path == document_.path}});
    case Folder::Written::kDone: break;
  }
  document_.path = path;
  document_.name = name_of_path(path);
  document_.format = format;
  document_.set_saved();
  stamp_ = stamp;
  draft_timer_.reset();
  drafts_.forget();
  send_all(Json{{"type", "saved"},
                {"path", path},
                {"name", document_.name},
                {"format", format},
                {"version", document_.version()}});
}

void Hub::list_files(Tab& tab, const Json& message) {
  std::string folder = text_or(message, "folder");
  while (folder.ends_with('/')) folder.pop_back();
  const size_t slash = folder.rfind('/');
  const Json parent = folder.empty() ? Json() : Json(slash == folder.npos ? "" : folder.substr(0, slash));
  Json answer = {{"type", "files"}, {"ask", message.value("ask", Json())}, {"folder", folder}, {"parent", parent}};
  std::string problem;
  if (const auto entries = folder_.list(folder, problem)) {
    Json list = Json::array();
    for (const FileEntry& each : *entries)
      list.push_back({{"name", each.name},
                      {"path", (folder.empty() ? "" : folder + "/") + each.name},
                      {"kind", each.is_folder ? "folder" : "file"},
                      {"bytes", each.bytes},
                      {"changed", each.changed}});
    answer["entries"] = std::move(list);
  } else {
    answer["problem"] = problem;
  }
  send(tab, answer);
}

}  // namespace tessera::repl::page
