#include "repl/page/guard.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace tessera::repl::page;
using Verdict = Guard::Verdict;

namespace {

const std::string kToken(64, 'a');
const Guard kGuard(kToken, 8765);
const std::string kCookie = "tessera-8765=" + kToken;

RequestHead head(std::string_view target) {
  return {
      .method = "GET", .target = target, .host = "127.0.0.1:8765", .origin = {}, .cookie = kCookie, .fetch_site = {}};
}

}  // namespace

TEST_CASE("tokens are of 256 bits and none comes twice") {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string token = random_token();
    CHECK(token.size() == 64);
    CHECK(token.find_first_not_of("0123456789abcdef") == token.npos);
    CHECK(seen.insert(token).second);
  }
}

TEST_CASE("texts are compared whole") {
  CHECK(equal_in_constant_time("", ""));
  CHECK(equal_in_constant_time("abc", "abc"));
  for (const char* other : {"ab", "abcd", "abd", "bbc", "", "ABC"}) CHECK_FALSE(equal_in_constant_time("abc", other));
}

TEST_CASE("hosts and origins of this machine, with the port") {
  for (const char* host : {"127.0.0.1:8765", "localhost:8765", "LocalHost:8765", "[::1]:8765"}) {
    CHECK(kGuard.is_our_host(host));
    CHECK(kGuard.is_our_origin("http://" + std::string(host)));
    CHECK_FALSE(kGuard.is_our_origin("https://" + std::string(host)));
    CHECK_FALSE(kGuard.is_our_origin(host));
  }
  for (const char* host :
       {"", "127.0.0.1", "127.0.0.1:8766", "127.0.0.1:87650", "127.0.0.1:8765 ", "127.0.0.2:8765", "localhost.:8765",
        "x.localhost:8765", "evil:8765", "127.0.0.1:8765/", "127.0.0.1:8765.evil", "@127.0.0.1:8765", "::1:8765"}) {
    CHECK_FALSE(kGuard.is_our_host(host));
    CHECK_FALSE(kGuard.is_our_origin("http://" + std::string(host)));
  }
  CHECK(Guard(kToken, 80).is_our_host("localhost"));
}

TEST_CASE("the cookie, among others") {
  CHECK(kGuard.has_cookie(kCookie));
  CHECK(kGuard.has_cookie("a=b; " + kCookie + "; c"));
  CHECK(kGuard.has_cookie("tessera-8765=x;" + kCookie));
  CHECK_FALSE(kGuard.has_cookie(""));
  CHECK_FALSE(kGuard.has_cookie("tessera-8765="));
  CHECK_FALSE(kGuard.has_cookie("tessera-8765=" + kToken.substr(1)));
  CHECK_FALSE(kGuard.has_cookie("tessera-8766=" + kToken));
  CHECK_FALSE(kGuard.has_cookie("xtessera-8765=" + kToken));
  CHECK_FALSE(kGuard.has_cookie(";;;=;" + kToken));
}

TEST_CASE("a token in the address is right, wrong or not there") {
  CHECK(kGuard.is_token_right("/?token=" + kToken) == true);
  CHECK(kGuard.is_token_right("/?x=1&token=" + kToken + "&y") == true);
  CHECK(kGuard.is_token_right("/?token=") == false);
  CHECK(kGuard.is_token_right("/?token=b&token=" + kToken) == false);
  CHECK_FALSE(kGuard.is_token_right("/").has_value());
  CHECK_FALSE(kGuard.is_token_right("/?").has_value());
  CHECK_FALSE(kGuard.is_token_right("/token=" + kToken).has_value());
}

TEST_CASE("who may ask") {
  CHECK(kGuard.judge(head("/")) == Verdict::kAllowed);
  CHECK(kGuard.judge(head("/anything?x")) == Verdict::kAllowed);
  const auto without = [](auto change, std::string_view target = "/") {
    RequestHead changed = head(target);
    change(changed);
    return kGuard.judge(changed);
  };
  CHECK(without([](RequestHead& h) { h.cookie = {}; }) == Verdict::kRefused);
  CHECK(without([](RequestHead& h) { h.host = "evil:8765"; }) == Verdict::kRefused);
  CHECK(without([](RequestHead& h) { h.several_hosts = true; }) == Verdict::kRefused);
  CHECK(without([](RequestHead& h) { h.origin = "http://evil"; }) == Verdict::kRefused);
  CHECK(without([](RequestHead& h) { h.method = "POST"; }) == Verdict::kRefused);
  CHECK(without([](RequestHead& h) { h.is_upgrade = true; }) == Verdict::kRefused);
  CHECK(without([](RequestHead&) {}, "http://127.0.0.1:8765/") == Verdict::kRefused);
  for (const bool is_upgrade : {false, true})
    CHECK(without([&](RequestHead& h) { h.origin = "http://localhost:8765", h.is_upgrade = is_upgrade; }) ==
          Verdict::kAllowed);
  const std::string enter = "/?token=" + kToken;
  CHECK(without([](RequestHead& h) { h.cookie = {}; }, enter) == Verdict::kEnter);
  CHECK(without([](RequestHead& h) { h.fetch_site = "none"; }, enter) == Verdict::kEnter);
  CHECK(without([](RequestHead& h) { h.fetch_site = "cross-site"; }, enter) == Verdict::kEnterLate);
  CHECK(without([](RequestHead& h) { h.host = "evil:8765"; }, enter) == Verdict::kRefused);
  CHECK(without([](RequestHead& h) { h.method = "POST"; }, enter) == Verdict::kRefused);
  CHECK(without([](RequestHead&) {}, "/?token=wrong") == Verdict::kRefused);  // also with the cookie
}
