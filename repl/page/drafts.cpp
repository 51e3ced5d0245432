#include "repl/page/drafts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "repl/page/files.h"
#include "repl/page/guard.h"
#include "repl/page/json_text.h"

namespace tessera::repl::page {
namespace {

bool is_id(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// The lock of a draft that some server has at hand cannot be had.
bool is_held(const std::string& lock) {
  const Descriptor file(open(lock.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  return file && flock(file.get(), LOCK_EX | LOCK_NB) != 0;
}

}  // namespace

Drafts::Drafts(std::string folder, std::string state) : folder_(std::move(folder)), place_(std::move(state)) {}

Drafts::~Drafts() = default;

std::string Drafts::default_place() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/tessera/drafts";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return "";
  return std::string(home) + "/.local/state/tessera/drafts";
}

bool Drafts::begin(std::string& problem) {
  if (place_.empty()) {
    problem = "there is no home folder";
    return false;
  }
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(place_).parent_path(), error);
  if (mkdir(place_.c_str(), 0700) != 0 && errno != EEXIST) {
    problem = place_ + ": " + std::strerror(errno);
    return false;
  }
  const std::string id = random_token().substr(0, 16);
  Descriptor lock(open((place_ + "/" + id + ".lock").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    problem = place_ + ": " + std::strerror(errno);
    return false;
  }
  id_ = id;
  lock_ = std::move(lock);
  return true;
}

std::string Drafts::keep(const Draft& draft) {
  std::string problem;
  if (id_.empty() && !begin(problem)) return problem;
  const Json json = {{"folder", folder_},  {"name", draft.name},
                     {"path", draft.path}, {"format", draft.format},
                     {"text", draft.text}, {"time", static_cast<int64_t>(std::time(nullptr))}};
  const Descriptor place(open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Of use when the server is killed, not when the power goes: nobody waits for the disk at each word.
  const int failed = place ? write_whole(place.get(), id_ + ".json", to_text(json), 0600, true, false) : errno;
  return failed == 0 ? "" : place_ + ": " + std::strerror(failed);
}

void Drafts::forget() {
  if (!id_.empty()) remove(id_);
  leave();
}

void Drafts::leave() {
  id_.clear();
  lock_ = Descriptor();
}

void Drafts::remove(const std::string& id) {
  if (!is_id(id)) return;
  unlink((place_ + "/" + id + ".json").c_str());
  unlink((place_ + "/" + id + ".lock").c_str());
}

std::optional<Draft> Drafts::read(const std::string& id) const {
  if (!is_id(id)) return std::nullopt;
  std::ifstream file(place_ + "/" + id + ".json", std::ios::binary);
  if (!file) return std::nullopt;
  const std::optional<Json> json = parse_json(std::string(std::istreambuf_iterator<char>(file), {}));
  if (!json || !json->is_object() || text_or(*json, "folder") != folder_) return std::nullopt;
  return Draft{id,
               text_or(*json, "name"),
               text_or(*json, "path"),
               text_or(*json, "format"),
               text_or(*json, "text"),
               integer_or(*json, "time", 0)};
}

std::vector<Draft> Drafts::found() const {
  std::vector<Draft> drafts;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(place_.empty() ? nullptr : opendir(place_.c_str()), closedir);
  if (stream == nullptr) return drafts;
  while (const dirent* const each = readdir(stream.get())) {
    const std::string name = each->d_name;
    if (!name.ends_with(".json")) continue;
    const std::string id = name.substr(0, name.size() - 5);
    if (!is_id(id) || id == id_ || is_held(place_ + "/" + id + ".lock")) continue;
    std::optional<Draft> draft = read(id);
    if (!draft) continue;
    draft->text.clear();
    drafts.push_back(std::move(*draft));
  }
  std::sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) { return a.time > b.time; });
  return drafts;
}

}  // namespace tessera::repl::page
