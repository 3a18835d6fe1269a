#include "probe/base_url.h"

#include <doctest/doctest.h>

namespace hw::probe {
namespace {

std::vector<std::string> guessed(std::string_view url, Dialect dialect) {
  std::vector<std::string> out;
  for (const UrlGuess& guess : guess_base_urls(inspect_base_url(url), dialect)) {
    out.push_back(guess.base_url);
  }
  return out;
}

TEST_CASE("a base URL is taken apart") {
  const BaseUrl url = inspect_base_url("HTTPS://API.Example.com:8443/v1/?utm_source=a#b");
  CHECK(url.fault == BaseUrl::Fault::kNone);
  CHECK(url.tls);
  CHECK(url.host == "api.example.com");
  CHECK(url.port == 8443);
  CHECK(url.path == "/v1");
  CHECK(url.query == "utm_source=a");
  CHECK(url.fragment == "b");
  CHECK(address_of(url) == "https://api.example.com:8443/v1");
}

TEST_CASE("a scheme's own port is left out, and an IPv6 address keeps its brackets") {
  CHECK(origin_of(inspect_base_url("http://a:80")) == "http://a");
  CHECK(origin_of(inspect_base_url("https://a:443/x")) == "https://a");
  CHECK(origin_of(inspect_base_url("https://a:80")) == "https://a:80");
  CHECK(origin_of(inspect_base_url("http://[::1]:8080/v1")) == "http://[::1]:8080");
}

TEST_CASE("what is no base URL says why") {
  using Fault = BaseUrl::Fault;
  const std::pair<std::string_view, Fault> cases[] = {
      {"", Fault::kEmpty},
      {"127.0.0.1:8080/v1", Fault::kNoScheme},
      {"ftp://a/v1", Fault::kNoScheme},
      {"http://a b/v1", Fault::kBlank},
      {"http://a/v1\n", Fault::kBlank},
      {"http:///v1", Fault::kNoHost},
      {"http://[::1/v1", Fault::kNoHost},
      {"http://a:0/v1", Fault::kBadPort},
      {"http://a:65536/v1", Fault::kBadPort},
      {"http://a:/v1", Fault::kBadPort},
      {"http://me:pw@a/v1", Fault::kUserInIt},
  };
  for (const auto& [text, fault] : cases) {
    CAPTURE(text);
    CHECK(inspect_base_url(text).fault == fault);
  }
}

TEST_CASE("a password in a URL is in nothing that is kept") {
  CHECK(inspect_base_url("http://me:secret@a/v1").given == "http://***@a/v1");
}

TEST_CASE("the target is what SDKs make of a base URL, byte for byte") {
  const auto target = [](std::string_view url, Dialect dialect) {
    return literal_target(inspect_base_url(url), dialect);
  };
  CHECK(target("http://a/v1", Dialect::kOpenaiChat) == "/v1/chat/completions");
  CHECK(target("http://a/v1/", Dialect::kOpenaiResponses) == "/v1/responses");
  CHECK(target("http://a", Dialect::kAnthropicMessages) == "/v1/messages");
  CHECK(target("http://a/v1?x=1", Dialect::kOpenaiChat) == "/v1?x=1/chat/completions");
  CHECK(target("http://a?x=1", Dialect::kOpenaiChat) == "/?x=1/chat/completions");
  CHECK(target("http://a/v1#k", Dialect::kOpenaiChat) == "/v1");
}

TEST_CASE("other base URLs are guessed, the likeliest first, none twice") {
  using Strings = std::vector<std::string>;
  CHECK(guessed("http://a", Dialect::kOpenaiChat) == Strings{"http://a/v1", "http://a/api/v1"});
  CHECK(guessed("http://a/v1/v1", Dialect::kOpenaiChat) ==
        Strings{"http://a/v1", "http://a", "http://a/api/v1"});
  CHECK(guessed("http://a/v1?utm=1", Dialect::kOpenaiChat).front() == "http://a/v1");
  CHECK(guessed("http://a/v1/chat/completions", Dialect::kOpenaiChat).front() == "http://a/v1");
  CHECK(guessed("http://a/v1", Dialect::kAnthropicMessages) == Strings{"http://a"});
  CHECK(guessed("http://a/v1/messages", Dialect::kAnthropicMessages).front() == "http://a");
}

TEST_CASE("the dialect is guessed from URL, model and key") {
  const auto guess = [](std::string_view url, std::string_view model, std::string_view key) {
    return guess_dialect(inspect_base_url(url), model, key);
  };
  CHECK(guess("http://a/v1", "gpt-4o", "sk-1") == Dialect::kOpenaiChat);
  CHECK(guess("http://a/v1", "claude-x", "sk-1") == Dialect::kOpenaiChat);
  CHECK(guess("http://a", "claude-x", "sk-1") == Dialect::kAnthropicMessages);
  CHECK(guess("https://api.anthropic.com", "x", "") == Dialect::kAnthropicMessages);
  CHECK(guess("https://a/anthropic/v1", "x", "") == Dialect::kAnthropicMessages);
  CHECK(guess("http://a", "x", "sk-ant-api03-1") == Dialect::kAnthropicMessages);
  CHECK(guess("http://a/v1/responses", "x", "") == Dialect::kOpenaiResponses);
}

TEST_CASE("near hosts are known as such") {
  for (const std::string_view host :
       {"localhost", "127.0.0.1", "127.8.8.8", "::1", "a.localhost"}) {
    CAPTURE(host);
    CHECK(is_loopback(host));
    CHECK(is_private(host));
  }
  for (const std::string_view host : {"10.1.2.3", "192.168.0.1", "172.16.0.1", "172.31.255.1",
                                      "169.254.1.1", "nas", "a.local", "fd00::1"}) {
    CAPTURE(host);
    CHECK(!is_loopback(host));
    CHECK(is_private(host));
  }
  for (const std::string_view host :
       {"172.32.0.1", "8.8.8.8", "api.openai.com", "127.0.0.1.evil.com", "2001:db8::1"}) {
    CAPTURE(host);
    CHECK(!is_private(host));
  }
}

}  // namespace
}  // namespace hw::probe
