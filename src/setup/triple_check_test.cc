#include "setup/triple_check.h"

#include <doctest/doctest.h>

using namespace hw;
using namespace hw::setup;

namespace {

// Codes with blanks between them, then what the URL should be.
std::string judged(std::string_view url, UrlForm form) {
  const UrlJudgement out = judge_base_url(url, form, "X");
  std::string text;
  for (const Mistake& mistake : out.mistakes) text += std::string(code_name(mistake.code)) + " ";
  return text + out.corrected;
}

std::string root_judged(std::string_view url) {
  return judged(url, UrlForm::kRoot);
}
std::string v1_judged(std::string_view url) {
  return judged(url, UrlForm::kWithV1);
}

std::string key_judged(std::string_view key, std::string_view expected = "hw-0123456789") {
  const auto mistake = judge_key(key, expected, "X");
  return mistake.has_value() ? std::string(code_name(mistake->code)) : "";
}

}  // namespace

TEST_CASE("a good base URL is nothing to speak of, also below a prefix and in capitals") {
  CHECK(root_judged("http://127.0.0.1:8080") == "http://127.0.0.1:8080");
  CHECK(root_judged("https://ai.example.com/llm/") == "https://ai.example.com/llm");
  CHECK(root_judged("HTTP://Host") == "http://Host");
  CHECK(v1_judged("http://[::1]:8080/v1") == "http://[::1]:8080/v1");
  CHECK(v1_judged("http://h/v1/") == "http://h/v1");
  CHECK(v1_judged("https://h/openai/v1") == "https://h/openai/v1");
}

TEST_CASE("a path too many and a path too few are told apart by what the client expects") {
  CHECK(root_judged("http://h/v1") == "base_url_v1_extra http://h");
  CHECK(v1_judged("http://h") == "base_url_v1_missing http://h/v1");
  CHECK(root_judged("http://h/v1/v1/") == "base_url_doubled http://h");
  CHECK(v1_judged("http://h/v1/v1") == "base_url_doubled http://h/v1");
  CHECK(v1_judged("http://h/v1/chat/completions") == "base_url_endpoint http://h/v1");
  CHECK(root_judged("http://h/v1/messages") == "base_url_endpoint base_url_v1_extra http://h");
}

TEST_CASE("tracking parameters, pages, dirt and what is no URL are named") {
  CHECK(root_judged("http://h/?utm_source=wiki&utm_medium=x") == "base_url_query http://h");
  CHECK(v1_judged("http://h/v1#key") == "base_url_query http://h/v1");
  CHECK(root_judged("https://h/console/token") == "base_url_page https://h");
  CHECK(v1_judged("https://h/docs") == "base_url_page https://h/v1");
  CHECK(v1_judged("https://h/index.html?x=1") == "base_url_query base_url_page https://h/v1");
  CHECK(root_judged(" http://h\n") == "base_url_blank http://h");
  CHECK(root_judged("\"http://h\"") == "base_url_blank http://h");
  CHECK(root_judged("h:8080") == "base_url_broken http://h:8080");
  CHECK(v1_judged("ftp://h") == "base_url_broken ");
  CHECK(v1_judged("") == "base_url_broken ");
  CHECK(v1_judged("http://") == "base_url_broken ");
}

TEST_CASE("where a base URL of either form leads is one place") {
  CHECK(root_of("http://h:1/v1") == "http://h:1");
  CHECK(root_of("http://h:1/v1/v1?utm=x") == "http://h:1");
  CHECK(root_of("nonsense://") == "");
  CHECK(host_of("http://user@h.example:1/v1") == "h.example");
  CHECK(host_of("http://[::1]:8080") == "::1");
  CHECK(host_of("no url") == "");
}

TEST_CASE("a key that was copied badly is seen without asking anybody") {
  CHECK(key_judged("hw-0123456789") == "");
  CHECK(key_judged("sk-another-key", "hw-0123456789") == "");
  CHECK(key_judged("") == "key_missing");
  CHECK(key_judged("hw-0123456789 ") == "key_blank");
  CHECK(key_judged("hw-01234\n56789") == "key_blank");
  CHECK(key_judged("\"hw-0123456789\"") == "key_quoted");
  CHECK(key_judged("Bearer hw-0123456789") == "key_bearer");
  CHECK(key_judged("YOUR_API_KEY") == "key_placeholder");
  CHECK(key_judged("<key>") == "key_placeholder");
  CHECK(key_judged("sk-xxxxxxxx") == "key_placeholder");
  CHECK(key_judged("\xe2\x80\x9chw-0123456789\xe2\x80\x9d") == "key_letters");
  CHECK(key_judged("hw-01234567") == "key_cut");
  CHECK(key_judged("0123456789") == "key_cut");
}

TEST_CASE("a proxy catches a gateway unless NO_PROXY names it") {
  const std::string url = "http://gw.corp.example:8080/v1";
  CHECK(proxy_variable(url, {}) == "");
  CHECK(proxy_variable(url, {{"HTTPS_PROXY", "http://p"}}) == "");
  CHECK(proxy_variable(url, {{"HTTP_PROXY", "http://p"}}) == "HTTP_PROXY");
  CHECK(proxy_variable(url, {{"all_proxy", "socks5://p"}}) == "all_proxy");
  CHECK(proxy_variable("https://h", {{"HTTPS_PROXY", "http://p"}}) == "HTTPS_PROXY");
  CHECK(proxy_variable("https://h", {{"HTTPS_PROXY", ""}}) == "");
  for (const char* list :
       {"*", "gw.corp.example", ".corp.example", "corp.example", "a, gw.corp.example",
        "a gw.corp.example", "*.corp.example", "gw.corp.example:8080"}) {
    CAPTURE(list);
    CHECK(proxy_variable(url, {{"HTTP_PROXY", "p"}, {"NO_PROXY", list}}) == "");
  }
  for (const char* list : {"", "example.org", "w.corp.example", "gw.corp.example:81", ",", "*."}) {
    CAPTURE(list);
    CHECK(proxy_variable(url, {{"HTTP_PROXY", "p"}, {"NO_PROXY", list}}) == "HTTP_PROXY");
  }
  const std::string local = "http://127.0.0.1:8080";
  CHECK(proxy_variable(local, {{"http_proxy", "p"}, {"no_proxy", "127.0.0.0/8"}}) == "");
  CHECK(proxy_variable(local, {{"http_proxy", "p"}, {"no_proxy", "10.0.0.0/8"}}) == "http_proxy");
  CHECK(no_proxy_line("h", {}) == "export NO_PROXY=h no_proxy=h");
  CHECK(no_proxy_line("h", {{"NO_PROXY", "a"}}) == "export NO_PROXY=a,h no_proxy=a,h");
}

TEST_CASE("the nearest names come first") {
  const std::vector<std::string> names = {"smollm2-135m", "gpt-4o", "gpt-4.1", "claude-sonnet-4-5"};
  CHECK(nearest_names("gpt4o", names) == "gpt-4o, gpt-4.1, smollm2-135m, claude-sonnet-4-5");
  CHECK(nearest_names("Claude-Sonnet-45", names).starts_with("claude-sonnet-4-5"));
  CHECK(nearest_names("x", {}) == "-");
  CHECK(nearest_names("a", {"a", "b", "c", "d", "e", "f"}) == "a, b, c, d, e, ...");
}
