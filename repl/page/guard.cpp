#include "repl/page/guard.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace tessera::repl::page {
namespace {

// By which this machine is called when only its own programs are meant.
constexpr std::string_view kNames[] = {"127.0.0.1", "localhost", "[::1]"};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Names of machines have no case.
bool is_same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] + 32) : a[i];
    if (c != b[i]) return false;
  }
  return true;
}

}  // namespace

std::string random_token() {
  unsigned char bytes[32];
  for (size_t got = 0; got < sizeof bytes;) {
    const ssize_t more = getrandom(bytes + got, sizeof bytes - got, 0);
    if (more < 0 && errno != EINTR) throw std::runtime_error(std::string("no random numbers: ") + std::strerror(errno));
    if (more > 0) got += static_cast<size_t>(more);
  }
  std::string out;
  for (const unsigned char byte : bytes) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;  // how long a token is is no secret
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const unsigned here = static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    difference |= here;
    asm volatile("" : "+r"(difference));  // else a compiler may leave the loop early
  }
  return difference == 0;
}

bool Guard::is_our_host(std::string_view host) const {
  const std::string port = ":" + std::to_string(port_);
  for (const std::string_view name : kNames) {
    if (is_same_name(host, std::string(name) + port)) return true;
    if (port_ == 80 && is_same_name(host, name)) return true;
  }
  return false;
}

bool Guard::is_our_origin(std::string_view origin) const {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && is_our_host(origin.substr(kScheme.size()));
}

bool Guard::has_cookie(std::string_view header) const {
  const std::string name = cookie_name();
  bool found = false;
  while (!header.empty()) {
    const size_t end = header.find(';');
    const std::string_view pair = trimmed(header.substr(0, end));
    header.remove_prefix(end == header.npos ? header.size() : end + 1);
    const size_t equals = pair.find('=');
    if (equals == pair.npos || trimmed(pair.substr(0, equals)) != name) continue;
    found |= equal_in_constant_time(trimmed(pair.substr(equals + 1)), token_);
  }
  return found;
}

std::optional<bool> Guard::is_token_right(std::string_view target) const {
  constexpr std::string_view kKey = "token=";
  const size_t question = target.find('?');
  if (question == target.npos) return std::nullopt;
  for (std::string_view rest = target.substr(question + 1); !rest.empty();) {
    const size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    if (pair.starts_with(kKey)) return equal_in_constant_time(pair.substr(kKey.size()), token_);
  }
  return std::nullopt;
}

Guard::Verdict Guard::judge(const RequestHead& head) const {
  if (head.several_hosts || !is_our_host(head.host)) return Verdict::kRefused;
  if (!head.target.starts_with("/")) return Verdict::kRefused;
  const bool reads = !head.is_upgrade && (head.method == "GET" || head.method == "HEAD");
  // A browser says it with all that changes something; where it says it at all it has to be ours.
  if (!is_our_origin(head.origin) && (!reads || !head.origin.empty())) return Verdict::kRefused;
  if (reads && (head.target.starts_with("/?") || head.target == "/")) {
    if (const std::optional<bool> right = is_token_right(head.target)) {
      if (!*right) return Verdict::kRefused;
      const bool late = !head.fetch_site.empty() && head.fetch_site != "none" && head.fetch_site != "same-origin";
      return late ? Verdict::kEnterLate : Verdict::kEnter;
    }
  }
  return has_cookie(head.cookie) ? Verdict::kAllowed : Verdict::kRefused;
}

std::string Guard::url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/?token=" + token_; }

std::string Guard::cookie() const { return cookie_name() + "=" + token_ + "; Path=/; HttpOnly; SameSite=Strict"; }

}  // namespace tessera::repl::page
