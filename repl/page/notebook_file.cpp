#include "repl/page/notebook_file.h"

#include <algorithm>
#include <utility>

#include "repl/notebook/language_info.h"
#include "repl/page/guard.h"
#include "repl/page/json_spans.h"
#include "repl/page/json_text.h"
#include "repl/page/line_ends.h"
#include "repl/page/notebook_outputs.h"

namespace tessera::repl::page {
namespace {

struct Damaged {
  std::string what;
};

const Json& member(const Json& object, const char* name, const std::string& of) {
  const auto found = object.find(name);
  if (found == object.end()) throw Damaged{"is no notebook: " + of + " has no \"" + name + "\""};
  return *found;
}

// Version 3 had other names: they become those of version 4.
Json output_of_version_3(Json output) {
  if (!output.is_object()) return output;
  const std::string type = text_or(output, "output_type");
  if (type == "pyerr") output["output_type"] = "error";
  if (type != "pyout" && type != "display_data") return output;
  static constexpr std::pair<const char*, const char*> kForms[] = {
      {"text", "text/plain"},       {"html", "text/html"},
      {"svg", "image/svg+xml"},     {"png", "image/png"},
      {"jpeg", "image/jpeg"},       {"latex", "text/latex"},
      {"json", "application/json"}, {"javascript", "application/javascript"}};
  Json data = Json::object();
  for (const auto& [old, now] : kForms)
    if (output.contains(old)) data[now] = output[old];
  Json changed = {{"output_type", type == "pyout" ? "execute_result" : "display_data"}, {"data", data}};
  if (type == "pyout") changed["execution_count"] = output.value("prompt_number", Json());
  return changed;
}

Json cell_of_version_3(Json cell) {
  if (!cell.is_object()) return cell;
  const std::string type = text_or(cell, "cell_type");
  if (type == "heading") {
    const int64_t level = std::max<int64_t>(1, std::min<int64_t>(6, integer_or(cell, "level", 1)));
    cell["source"] = std::string(static_cast<size_t>(level), '#') + " " + notebook_text(cell.value("source", Json("")));
    cell["cell_type"] = "markdown";
    cell.erase("level");
  } else if (type == "html") {
    cell["cell_type"] = "markdown";
  } else if (type == "code") {
    if (cell.contains("input")) cell["source"] = cell["input"];
    cell["execution_count"] = cell.value("prompt_number", Json());
    for (const char* old : {"input", "prompt_number", "language", "collapsed"}) cell.erase(old);
    Json outputs = Json::array();
    const Json before = cell.value("outputs", Json::array());
    for (const Json& output : before) outputs.push_back(output_of_version_3(output));
    cell["outputs"] = std::move(outputs);
  }
  if (!cell.contains("metadata")) cell["metadata"] = Json::object();
  return cell;
}

Json cells_of_version_3(const Json& notebook) {
  Json cells = Json::array();
  const Json& sheets = member(notebook, "worksheets", "it");
  if (!sheets.is_array()) throw Damaged{"is damaged: \"worksheets\" is no list"};
  for (const Json& sheet : sheets) {
    if (!sheet.is_object()) throw Damaged{"is damaged: a worksheet is no object"};
    const Json& list = member(sheet, "cells", "a worksheet");
    if (!list.is_array()) throw Damaged{"is damaged: \"cells\" is no list"};
    for (const Json& cell : list) cells.push_back(cell_of_version_3(cell));
  }
  return cells;
}

NotebookCell read_cell(const Json& cell, size_t number) {
  const std::string where = "cell " + std::to_string(number);
  if (!cell.is_object()) throw Damaged{"is damaged: " + where + " is no object"};
  const std::string type = text_or(cell, "cell_type");
  NotebookCell out;
  if (type == "markdown") out.kind = CellKind::kMarkdown;
  else if (type == "raw") out.kind = CellKind::kRaw;
  else if (type != "code") throw Damaged{"is damaged: " + where + " is of the type \"" + type + "\""};
  const Json& source = member(cell, "source", where);
  if (!is_notebook_text(source)) throw Damaged{"is damaged: the source of " + where + " is no text"};
  out.source = notebook_text(source);
  out.number = static_cast<int>(integer_or(cell, "execution_count", 0));
  Json rest = cell;
  for (const char* known : {"cell_type", "source", "outputs", "execution_count"}) rest.erase(known);
  if (!rest.contains("metadata") || !rest["metadata"].is_object()) rest["metadata"] = Json::object();
  out.title = text_or(rest["metadata"], "title");
  out.rest = to_text(rest);
  const Json outputs = cell.value("outputs", Json::array());
  if (out.kind == CellKind::kCode && outputs.is_array())
    for (const Json& output : outputs)
      if (Message message = message_of_output(output)) out.outputs.push_back(std::move(message));
  return out;
}

Notebook read(const Json& json) {
  if (!json.is_object()) throw Damaged{"is no notebook: it is no JSON object"};
  const Json& version = member(json, "nbformat", "it");
  if (!version.is_number_integer()) throw Damaged{"is no notebook: its \"nbformat\" is no number"};
  const int64_t major = version.get<int64_t>();
  if (major < 3)
    throw Damaged{"is of version " + std::to_string(major) +
                  " of the format, which is too old: `jupyter nbconvert --to notebook` makes a new one of it"};
  if (major > 4)
    throw Damaged{"is of version " + std::to_string(major) +
                  " of the format, which is newer than what is known here (4)"};
  Notebook notebook;
  const Json cells = major == 3 ? cells_of_version_3(json) : member(json, "cells", "it");
  if (!cells.is_array()) throw Damaged{"is damaged: \"cells\" is no list"};
  notebook.minor =
      major == 3 ? 4
                 : static_cast<int>(std::max<int64_t>(0, std::min<int64_t>(99, integer_or(json, "nbformat_minor", 0))));
  Json rest = json;
  for (const char* known : {"cells", "worksheets", "nbformat", "nbformat_minor"}) rest.erase(known);
  if (!rest.contains("metadata") || !rest["metadata"].is_object()) rest["metadata"] = Json::object();
  if (major == 3) rest["metadata"].erase("name");  // was the file's
  notebook.rest = to_text(rest);
  for (const Json& cell : cells) notebook.cells.push_back(read_cell(cell, notebook.cells.size() + 1));
  return notebook;
}

// The text around the cells, and each cell's own.
void keep_original(std::string_view text, Notebook& notebook) {
  std::string_view list;
  for (const JsonMember& each : members_of(text))
    if (each.name == "cells") list = each.value;
  const std::vector<std::string_view> cells = elements_of(list);
  if (list.empty() || cells.size() != notebook.cells.size()) return;
  const auto part = [&](const char* begin, const char* end) {
    return std::string(begin, static_cast<size_t>(end - begin));
  };
  auto frame = std::make_shared<NotebookFrame>();
  const char* at = text.data();
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string gap = part(at, cells[i].data());
    if (i == 0) frame->before = std::move(gap);
    else frame->between.push_back(std::move(gap));
    at = cells[i].data() + cells[i].size();
    NotebookCell& cell = notebook.cells[i];
    cell.original = std::make_shared<OriginalCell>();
    cell.original->json = cells[i];
    cell.original->place = i;
    cell.original->has_carriage_returns = cell.source.find("\r\n") != cell.source.npos;
    cell.has_run = false;
  }
  if (cells.empty()) frame->before = part(at, list.data() + 1);
  frame->after = part(cells.empty() ? list.data() + 1 : at, text.data() + text.size());
  frame->cells = cells.size();
  notebook.frame = std::move(frame);
}

Json new_metadata() {
  return {{"kernelspec", Json::parse(kernelspec_of_notebooks())}, {"language_info", Json::parse(language_info())}};
}

const char* type_name(CellKind kind) {
  return kind == CellKind::kMarkdown ? "markdown" : kind == CellKind::kRaw ? "raw" : "code";
}

Json write_cell(const NotebookCell& cell, int minor) {
  Json json = parse_json(cell.rest).value_or(Json::object());
  if (!json.is_object()) json = Json::object();
  if (!json.contains("metadata")) json["metadata"] = Json::object();
  if (cell.title.empty()) json["metadata"].erase("title");
  else json["metadata"]["title"] = cell.title;
  if (minor >= 5 && !json.contains("id")) json["id"] = random_token().substr(0, 8);
  json["cell_type"] = type_name(cell.kind);
  json["source"] = notebook_lines(cell.source);
  if (cell.kind == CellKind::kCode) {
    json["outputs"] = outputs_of_messages(cell.outputs);
    json["execution_count"] = cell.number > 0 ? Json(cell.number) : Json();
  }
  return json;
}

// The original with what was touched.
std::string changed(const NotebookCell& cell) {
  const OriginalCell& original = *cell.original;
  std::string json = original.json;
  const auto put = [&](const char* name, const Json& value) { json = with_member(json, name, to_text(value, 1)); };
  if (cell.source != original.source)
    put("source", notebook_lines(original.has_carriage_returns ? with_carriage_returns(cell.source) : cell.source));
  if (cell.title != original.title) {
    std::string metadata = "{}";
    for (const JsonMember& each : members_of(json))
      if (each.name == "metadata" && each.value.starts_with('{')) metadata = each.value;
    if (cell.title.empty()) {
      Json rest = parse_json(metadata).value_or(Json::object());
      rest.erase("title");
      put("metadata", rest);
    } else {
      const std::string titled = with_member(metadata, "title", to_text(cell.title));
      bool is_known = false;
      for (const JsonMember& each : members_of(json))
        if (each.name == "metadata") {
          const size_t at = static_cast<size_t>(each.value.data() - json.data());
          json.replace(at, each.value.size(), titled);
          is_known = true;
          break;
        }
      if (!is_known) put("metadata", {{"title", cell.title}});
    }
  }
  if (cell.kind == CellKind::kCode && cell.has_run) {
    put("outputs", outputs_of_messages(cell.outputs));
    put("execution_count", cell.number > 0 ? Json(cell.number) : Json());
  }
  return json;
}

std::string write_into(const NotebookFrame& frame, const Notebook& notebook) {
  bool has_lines = false;
  const std::string found = indent_of(frame.before, has_lines);
  const std::string indent = frame.cells > 0 ? found : "  ";
  bool in_order = notebook.cells.size() == frame.cells;
  for (size_t i = 0; i < notebook.cells.size(); ++i)
    in_order = in_order && notebook.cells[i].original != nullptr && notebook.cells[i].original->place == i;
  const std::string separator = frame.between.empty() ? (has_lines ? ",\n" + indent : ", ") : frame.between[0];
  std::string out = frame.before;
  const bool opens = frame.cells == 0 && !notebook.cells.empty() && has_lines;
  if (opens) out += "\n" + indent;
  for (size_t i = 0; i < notebook.cells.size(); ++i) {
    const NotebookCell& cell = notebook.cells[i];
    if (i > 0) out += in_order ? frame.between[i - 1] : separator;
    if (cell.original != nullptr && cell.kind == cell.original->kind) out += changed(cell);
    else out += indented(to_text(write_cell(cell, notebook.minor), has_lines ? 1 : -1), indent);
  }
  if (opens) out += "\n ";
  return out + frame.after;
}

}  // namespace

std::optional<Notebook> read_notebook(std::string_view text, std::string& problem) {
  const std::string_view whole = text;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string where;
  const std::optional<Json> json = parse_json(text, &where);
  if (!json) {
    problem = text.find_first_not_of(" \t\r\n") == text.npos ? "is empty" : "is damaged " + where;
    return std::nullopt;
  }
  try {
    Notebook notebook = read(*json);
    if (integer_or(*json, "nbformat", 0) == 4) keep_original(text, notebook);
    if (notebook.frame != nullptr && text.size() < whole.size()) {
      auto frame = std::make_shared<NotebookFrame>(*notebook.frame);
      frame->before.insert(0, whole.substr(0, 3));
      notebook.frame = std::move(frame);
    }
    return notebook;
  } catch (const Damaged& damaged) {
    problem = damaged.what;
  } catch (const Json::exception& error) {
    problem = std::string("is damaged: ") + error.what();
  }
  return std::nullopt;
}

std::string write_notebook(const Notebook& notebook) {
  if (notebook.frame != nullptr) return write_into(*notebook.frame, notebook);
  std::optional<Json> json = notebook.rest.empty() ? std::nullopt : parse_json(notebook.rest);
  if (!json || !json->is_object()) json = Json{{"metadata", new_metadata()}};
  (*json)["nbformat"] = 4;
  (*json)["nbformat_minor"] = notebook.minor;
  Json cells = Json::array();
  for (const NotebookCell& cell : notebook.cells) cells.push_back(write_cell(cell, notebook.minor));
  (*json)["cells"] = std::move(cells);
  return to_text(*json, 1) + "\n";
}

}  // namespace tessera::repl::page
