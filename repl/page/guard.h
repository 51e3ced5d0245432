// Who may talk to the server: whoever knows the token, from a page that the server itself has served.
//
// The server runs what it is sent, with all that the person may do. So a request needs
// - the token, first in the address and then in a cookie: other users of this machine can reach its ports too;
// - a Host that is a name of this machine: a foreign name that was made to lead here (DNS rebinding) is refused;
// - for all but plain reading an Origin that is ours: other pages in the same browser can send requests here.
// What fails is answered alike, whatever was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::repl::page {

// 256 bits from the system, as 64 hexadecimal digits.
std::string random_token();

// Takes as long for a text that differs at its first character as for one that differs at its last.
bool equal_in_constant_time(std::string_view a, std::string_view b);

struct RequestHead {
  std::string_view method, target;
  std::string_view host, origin, cookie, fetch_site;  // headers; empty: there is none
  bool several_hosts = false;
  bool is_upgrade = false;
};

class Guard {
 public:
  Guard(std::string token, uint16_t port) : token_(std::move(token)), port_(port) {}

  enum class Verdict {
    kRefused,    // 403, and nothing else is said
    kEnter,      // the token is in the address: it becomes a cookie, and the page's own address follows
    kEnterLate,  // the same where the browser would not send a strict cookie along a redirect: another page led here
    kAllowed,
  };
  Verdict judge(const RequestHead& head) const;

  // The page's address with the token.
  std::string url() const;
  std::string cookie() const;  // of a Set-Cookie header

  bool is_our_host(std::string_view host) const;
  bool is_our_origin(std::string_view origin) const;
  bool has_cookie(std::string_view header) const;
  // Nothing: the address has no token.
  std::optional<bool> is_token_right(std::string_view target) const;

 private:
  std::string cookie_name() const { return "tessera-" + std::to_string(port_); }

  std::string token_;
  uint16_t port_;
};

}  // namespace tessera::repl::page
