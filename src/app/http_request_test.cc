#include "app/http_request.h"

#include <doctest/doctest.h>

#include "app/answering_server.h"

using namespace hw;
using namespace hw::app;

namespace {

Result<HttpAnswer> ask(uint16_t port, HttpRequest request = {}) {
  Url url;
  url.host = "127.0.0.1";
  url.port = port;
  if (request.target.empty()) request.target = "/x";
  return http_request(url, request);
}

}  // namespace

TEST_CASE("an answer arrives whole, however it is framed and however slowly it comes") {
  const std::string answers[] = {
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
  };
  for (const std::string& bytes : answers) {
    for (const auto pace : {AnsweringServer::Pace::kAtOnce, AnsweringServer::Pace::kDrip}) {
      CAPTURE(bytes);
      AnsweringServer server(bytes, pace);
      const Result<HttpAnswer> answer = ask(server.port());
      REQUIRE(answer.has_value());
      CHECK(answer->status == 200);
      CHECK(answer->body == "hello");
    }
  }
}

TEST_CASE("the request is what was asked for") {
  AnsweringServer server("HTTP/1.1 204 No Content\r\n\r\n");
  HttpRequest request;
  request.method = "POST";
  request.target = "/api/keys";
  request.headers = {{"Authorization", "Bearer t"}};
  request.body = "{}";
  const Result<HttpAnswer> answer = ask(server.port(), request);
  REQUIRE(answer.has_value());
  CHECK(answer->status == 204);
  const std::string got = server.received();
  CHECK(got.starts_with("POST /api/keys HTTP/1.1\r\nHost: 127.0.0.1:"));
  CHECK(got.find("\r\nAuthorization: Bearer t\r\n") != std::string::npos);
  CHECK(got.find("\r\nContent-Length: 2\r\n") != std::string::npos);
  CHECK(got.ends_with("\r\n\r\n{}"));
}

TEST_CASE("what is wrong with the other side is told by its code") {
  uint16_t closed = 0;
  {
    AnsweringServer server("x");
    closed = server.port();
  }
  CHECK(ask(closed).error().code == ErrorCode::kConnect);
  AnsweringServer broken("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
  CHECK(ask(broken.port()).error().code == ErrorCode::kUpstreamBroken);
  AnsweringServer nonsense("SSH-2.0-OpenSSH\r\n\r\n");
  CHECK(ask(nonsense.port()).error().code == ErrorCode::kUpstreamProtocol);
  AnsweringServer silent("");
  HttpRequest hurried;
  hurried.timeout_ns = 50 * kMillisecond;
  CHECK(ask(silent.port(), hurried).error().code == ErrorCode::kTimeoutTotal);
  HttpRequest forged;
  forged.headers = {{"Authorization", "Bearer a\r\nX-Evil: 1"}};
  CHECK(ask(silent.port(), forged).error().code == ErrorCode::kBadRequest);
}

TEST_CASE("URLs are taken apart, and what is none is refused") {
  const Url plain = *parse_url("http://h:81/a/b/?q#f");
  CHECK(plain.host == "h");
  CHECK(plain.port == 81);
  CHECK(plain.path == "/a/b");
  CHECK_FALSE(plain.tls);
  CHECK(parse_url("https://h")->port == 443);
  CHECK(parse_url("http://[::1]:8080/")->host == "::1");
  CHECK(parse_url("http://[::1]")->port == 80);
  for (const char* bad : {"", "h:1", "ftp://h", "http://", "http://:1", "http://h:0", "http://h:x",
                          "http://u@h", "http://a b", "http://[::1", "http://h:99999"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_url(bad).has_value());
  }
}
