// Requests on one connection: the page's files, outputs that were too much to show, and the way to the WebSocket.
// compile: foreign-templates (Beast: 24 s in a sanitized build, 34 with all checks)
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/http/file_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <utility>

#include "repl/page/assets.h"
#include "repl/page/connections.h"

namespace tessera::repl::page {
namespace {

// Nothing of another host is asked for, nothing is run that does not come from here, and nobody shows the page inside of theirs.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

constexpr size_t kKeyLength = 24;  // of a WebSocket's, 16 bytes in base64

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

class Requests : public Connection, public std::enable_shared_from_this<Requests> {
 public:
  Requests(std::shared_ptr<Shared> shared, tcp::socket socket)
      : shared_(std::move(shared)), stream_(std::move(socket)), slot_(std::make_unique<Slot>(shared_, this)) {}

  void read();
  void cut() override { stream_.close(); }

 private:
  void answer();
  void answer_path(std::string_view path);
  void send_asset(const Asset& asset);
  void send_output(const std::string& path);
  void send_status(http::status status);
  template <class Response>
  void send(std::shared_ptr<Response> response);
  template <class Body>
  std::shared_ptr<http::response<Body>> response(http::status status, const char* caching);
  bool takes_gzip() const;

  std::shared_ptr<Shared> shared_;
  beast::tcp_stream stream_;
  std::unique_ptr<Slot> slot_;
  beast::flat_buffer buffer_{kMostHeader + 4096};
  std::optional<http::request_parser<http::empty_body>> parser_;
  Request request_;
  bool is_last_ = false;
};

void Requests::read() {
  parser_.emplace();
  parser_->header_limit(kMostHeader);
  parser_->body_limit(0);
  stream_.expires_after(is_known ? kIdleTime : kHeaderTime);
  http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](const Error& error, size_t) {
    if (error) return self->stream_.close();  // cut short, too long, or no HTTP at all
    self->answer();
  });
}

void Requests::answer() {
  // A body is not read, and what follows it is no request that we know.
  const bool has_length = parser_->content_length() && *parser_->content_length() > 0;
  request_ = parser_->release();
  const bool has_body = has_length || request_.count(http::field::transfer_encoding) > 0;
  is_last_ = has_body || !request_.keep_alive();
  const bool is_upgrade = beast::websocket::is_upgrade(request_);
  RequestHead head;
  head.method = view(request_.method_string());
  head.target = view(request_.target());
  head.host = view(request_[http::field::host]);
  head.several_hosts = request_.count(http::field::host) != 1;
  head.origin = view(request_[http::field::origin]);
  head.fetch_site = view(request_["Sec-Fetch-Site"]);
  head.is_upgrade = is_upgrade || request_.count(http::field::upgrade) > 0;
  std::string cookies;
  const auto range = request_.equal_range(http::field::cookie);
  for (auto at = range.first; at != range.second; ++at) cookies += std::string(view(at->value())) + ";";
  head.cookie = cookies;
  switch (shared_->guard->judge(head)) {
    case Guard::Verdict::kRefused: is_last_ = true; return send_status(http::status::forbidden);
    case Guard::Verdict::kEnter: {
      auto out = response<http::string_body>(http::status::see_other, "no-store");
      out->set(http::field::set_cookie, shared_->guard->cookie());
      out->set(http::field::location, "/");
      return send(std::move(out));
    }
    case Guard::Verdict::kEnterLate: {
      auto out = response<http::string_body>(http::status::ok, "no-store");
      out->set(http::field::set_cookie, shared_->guard->cookie());
      out->set(http::field::content_type, "text/html; charset=utf-8");
      out->body() = "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=/\"><title>Tessera</title>";
      return send(std::move(out));
    }
    case Guard::Verdict::kAllowed: break;
  }
  is_known = true;
  if (request_.method() != http::verb::get && request_.method() != http::verb::head)
    return send_status(http::status::method_not_allowed);
  if (has_body) return send_status(http::status::bad_request);
  const std::string_view path = head.target.substr(0, head.target.find('?'));
  if (path == "/session") {
    if (!is_upgrade || request_[http::field::sec_websocket_key].size() != kKeyLength)
      return send_status(http::status::upgrade_required);
    stream_.expires_never();
    return serve_tab(shared_, std::move(slot_), std::move(stream_), std::move(buffer_), std::move(request_));
  }
  answer_path(path);
}

void Requests::answer_path(std::string_view path) {
  constexpr std::string_view kOutput = "/output/";
  if (path == "/") path = "/index.html";
  if (path.starts_with(kOutput)) {
    const std::string file = shared_->hub.output_path(std::string(path.substr(kOutput.size())));
    return file.empty() ? send_status(http::status::not_found) : send_output(file);
  }
  const Asset* const asset = find_asset(path.substr(1));
  if (asset == nullptr || asset->name.starts_with(kExamples)) return send_status(http::status::not_found);
  send_asset(*asset);
}

bool Requests::takes_gzip() const {
  return view(request_[http::field::accept_encoding]).find("gzip") != std::string_view::npos;
}

void Requests::send_asset(const Asset& asset) {
  const std::string tag = '"' + std::string(asset.tag) + '"';
  const bool is_known_there = view(request_[http::field::if_none_match]).find(tag) != std::string_view::npos;
  auto out = response<http::string_body>(is_known_there ? http::status::not_modified : http::status::ok, "no-cache");
  out->set(http::field::etag, tag);
  out->set(http::field::vary, "Accept-Encoding");
  if (!is_known_there) {
    const std::string_view type = content_type(asset.name);
    out->set(http::field::content_type, beast::string_view(type.data(), type.size()));
    if (takes_gzip()) {
      out->set(http::field::content_encoding, "gzip");
      out->body() = std::string(asset.packed);
    } else {
      out->body() = text_of(asset);
    }
  }
  send(std::move(out));
}

void Requests::send_output(const std::string& path) {
  Error error;
  auto out = response<http::file_body>(http::status::ok, "no-store");
  out->body().open(path.c_str(), beast::file_mode::scan, error);
  if (error) return send_status(http::status::not_found);
  out->set(http::field::content_type, "text/plain; charset=utf-8");
  send(std::move(out));
}

void Requests::send_status(http::status status) {
  auto out = response<http::string_body>(status, "no-store");
  if (status == http::status::method_not_allowed) out->set(http::field::allow, "GET, HEAD");
  send(std::move(out));
}

template <class Body>
std::shared_ptr<http::response<Body>> Requests::response(http::status status, const char* caching) {
  auto out = std::make_shared<http::response<Body>>(status, request_.version());
  out->set("Content-Security-Policy", kPolicy);
  out->set("X-Content-Type-Options", "nosniff");
  out->set("X-Frame-Options", "DENY");
  out->set("Referrer-Policy", "no-referrer");
  out->set("Cross-Origin-Opener-Policy", "same-origin");
  out->set("Cross-Origin-Resource-Policy", "same-origin");
  out->set(http::field::cache_control, caching);
  return out;
}

template <class Response>
void Requests::send(std::shared_ptr<Response> response) {
  response->keep_alive(!is_last_);
  response->prepare_payload();
  const bool head_only = request_.method() == http::verb::head;
  stream_.expires_after(kSendTime);
  const auto done = [self = shared_from_this(), response](const Error& error, size_t) {
    if (error || self->is_last_) {
      Error ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
      return self->stream_.close();
    }
    self->read();
  };
  if (!head_only) return http::async_write(stream_, *response, done);
  using Serializer = http::response_serializer<typename Response::body_type>;
  auto serializer = std::make_shared<Serializer>(*response);
  http::async_write_header(stream_, *serializer,
                           [serializer, done](const Error& error, size_t size) { done(error, size); });
}

}  // namespace

void serve_requests(std::shared_ptr<Shared> shared, tcp::socket socket) {
  std::make_shared<Requests>(std::move(shared), std::move(socket))->read();
}

}  // namespace tessera::repl::page
