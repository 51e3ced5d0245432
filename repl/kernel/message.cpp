#include "repl/kernel/message.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "repl/notebook/json_depth.h"
#include "stdlib/python/native/digest.h"

namespace tessera::repl {
namespace {

constexpr const char* kMark = "<IDS|MSG>";
constexpr const char* kProtocol = "5.3";
constexpr int kDeepest = 500;

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char each : bytes) text.append({kDigits[each >> 4], kDigits[each & 15]});
  return text;
}

std::string random_name() {
  char bytes[16] = {};
  if (getrandom(bytes, sizeof bytes, 0) < 0) std::snprintf(bytes, sizeof bytes, "%d", getpid());
  return hex({bytes, sizeof bytes});
}

std::string user_name() {
  for (const char* variable : {"LOGNAME", "USER", "USERNAME"})
    if (const char* const name = std::getenv(variable); name != nullptr && *name != '\0') return as_utf8(name);
  return "user";
}

// In a time that does not tell where they differ.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differ = 0;
  for (size_t i = 0; i < a.size(); ++i) differ |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differ == 0;
}

// Half of a pair, "\ud83d" without its partner: a browser's JSON may have it, and the reader of JSON refuses it.
std::string without_half_pairs(std::string text) {
  const auto unit_at = [&](size_t at) -> unsigned {
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return 0;
    return static_cast<unsigned>(std::strtoul(text.substr(at + 2, 4).c_str(), nullptr, 16));
  };
  for (size_t at = 0; (at = text.find('\\', at)) != text.npos;) {
    const unsigned unit = unit_at(at);
    if (unit >= 0xd800 && unit < 0xdc00 && unit_at(at + 6) >= 0xdc00 && unit_at(at + 6) < 0xe000) {
      at += 12;
      continue;
    }
    if (unit >= 0xd800 && unit < 0xe000) text.replace(at + 2, 4, "fffd");
    at += 2;
  }
  return text;
}

const Json* field(const Json& content, const char* name) {
  if (!content.is_object()) return nullptr;
  const auto found = content.find(name);
  return found == content.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Json> json_of(const std::string& text) {
  if (nests_deeper(text, kDeepest)) return std::nullopt;
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) value = Json::parse(without_half_pairs(as_utf8(text)), nullptr, false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

std::string time_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char day[32];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  const std::string part = std::to_string(1'000'000 + now.tv_nsec / 1000);  // with its zeros, behind a 1
  return std::string(day) + "." + part.substr(1) + "Z";
}

std::string Message::text(const char* name) const {
  const Json* const found = field(content, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

bool Message::flag(const char* name, bool otherwise) const {
  const Json* const found = field(content, name);
  return found != nullptr && found->is_boolean() ? found->get<bool>() : otherwise;
}

int64_t Message::number(const char* name, int64_t otherwise) const {
  const Json* const found = field(content, name);
  return found != nullptr && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

Wire::Wire(const Connection& connection)
    : key_(connection.key), digest_(connection.digest), session_(random_name()), user_(user_name()) {}

// HMAC of header, parent header, metadata and content (RFC 2104).
std::string Wire::signature(const std::string* four_parts) const {
  if (key_.empty()) return "";
  const auto inner = stdlib::make_digest(digest_), outer = stdlib::make_digest(digest_);
  std::string key = key_;
  if (key.size() > inner->block_size) {
    const auto shortened = stdlib::make_digest(digest_);
    shortened->update(key);
    key = shortened->digest(shortened->digest_size);
  }
  key.resize(inner->block_size, '\0');
  std::string inner_key = key, outer_key = key;
  for (char& each : inner_key) each = static_cast<char>(each ^ 0x36);
  for (char& each : outer_key) each = static_cast<char>(each ^ 0x5c);
  inner->update(inner_key);
  for (int i = 0; i < 4; ++i) inner->update(four_parts[i]);
  outer->update(outer_key);
  outer->update(inner->digest(inner->digest_size));
  return hex(outer->digest(outer->digest_size));
}

std::optional<Message> Wire::read(Frames frames) const {
  const auto mark = std::find(frames.begin(), frames.end(), kMark);
  if (frames.end() - mark < 6) return std::nullopt;
  if (!key_.empty() && !same(mark[1], signature(&mark[2]))) return std::nullopt;
  Json parts[4];
  for (int i = 0; i < 4; ++i) {
    std::optional<Json> part = json_of(mark[2 + i]);
    if (!part || !(part->is_object() || (i == 1 && part->is_null()))) return std::nullopt;
    parts[i] = std::move(*part);
  }
  const Json* const type = field(parts[0], "msg_type");
  if (type == nullptr || !type->is_string()) return std::nullopt;
  return Message{Frames(frames.begin(), mark), std::move(parts[0]), std::move(parts[1]), std::move(parts[2]),
                 std::move(parts[3])};
}

Frames Wire::write(Frames to, const std::string& type, const Json& parent, const Json& content, const Json& metadata,
                   std::string* id) const {
  const std::string name = session_ + "_" + std::to_string(count_.fetch_add(1));
  if (id != nullptr) *id = name;
  const Json header{{"msg_id", name},    {"msg_type", type},   {"session", session_},
                    {"username", user_}, {"date", time_now()}, {"version", kProtocol}};
  const auto text = [](const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); };
  const std::string parts[4] = {text(header), text(parent), text(metadata), text(content)};
  to.push_back(kMark);
  to.push_back(signature(parts));
  to.insert(to.end(), std::begin(parts), std::end(parts));
  return to;
}

}  // namespace tessera::repl
