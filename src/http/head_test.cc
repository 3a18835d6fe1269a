#include "http/head.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "http/chunked.h"

namespace hw::http {
namespace {

const HeadLimits kLimits;

Result<size_t> parse(std::string_view bytes, RequestHead& out) {
  return parse_request_head(bytes, kLimits, out);
}

// The message of the error, or "" where there is none.
std::string fault_of(std::string_view bytes) {
  RequestHead head;
  const Result<size_t> size = parse(bytes, head);
  return size ? "" : size.error().message;
}

std::string request(std::string_view fields) {
  return "POST /v1/x HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

ErrorCode code_of(std::string_view bytes) {
  RequestHead head;
  const Result<size_t> size = parse(bytes, head);
  REQUIRE_FALSE(size);
  return size.error().code;
}

TEST_CASE("a request head is read with all it says") {
  const std::string bytes =
      "POST /v1/messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-Empty:\r\n"
      "Content-Length: \t 17 \r\nConnection: Keep-Alive, Upgrade\r\nUpgrade: websocket\r\n"
      "Expect: 100-Continue\r\nX-Text: caf\xe9 \t x\t\r\n\r\nbody";
  RequestHead head;
  REQUIRE(parse(bytes, head) == bytes.size() - 4);
  CHECK(head.method == "POST");
  CHECK(head.target == "/v1/messages?beta=true");
  CHECK(head.path == head.target);
  CHECK(head.host == "127.0.0.1:8080");
  CHECK(head.minor == 1);
  CHECK(head.framing == BodyFraming::kLength);
  CHECK(head.content_length == 17);
  CHECK(head.keep_alive);
  CHECK(head.upgrade);
  CHECK(head.expect_continue);
  CHECK(head.fields.size() == 7);
  CHECK(head.fields.value("x-TEXT") == "caf\xe9 \t x");
  CHECK(head.fields.find("x-empty")->value.empty());
  CHECK(head.fields.find("absent") == nullptr);
  CHECK(head.fields.count("connection") == 1);
  CHECK(head.size == bytes.size() - 4);
}

TEST_CASE("a head is found whatever it is cut into, also when it is reused") {
  const std::string bytes = "\r\nGET / HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\nGET /2";
  const size_t size = bytes.size() - 6;
  RequestHead head;
  for (size_t cut = 0; cut < size; ++cut) {
    HeadScanner scanner;
    REQUIRE(parse_request_head(std::string_view(bytes).substr(0, cut), kLimits, scanner, head) ==
            size_t{0});
    REQUIRE(parse_request_head(bytes, kLimits, scanner, head) == size);
    CHECK(head.method == "GET");
  }
  HeadScanner scanner;
  for (size_t cut = 0; cut < size; ++cut) {
    REQUIRE(parse_request_head(std::string_view(bytes).substr(0, cut), kLimits, scanner, head) ==
            size_t{0});
  }
  REQUIRE(parse_request_head(bytes, kLimits, scanner, head) == size);
  CHECK(head.fields.size() == 2);
  CHECK(head.framing == BodyFraming::kNone);
}

TEST_CASE("what is wrong is said") {
  CHECK(fault_of("GET / HTTP/1.1\r\n\r\n") == "the head has no Host");
  CHECK(fault_of("\x16\x03\x01") == "this looks like TLS, but the port speaks plain HTTP");
  CHECK(fault_of("G@T / HTTP/1.1\r\nHost: h\r\n\r\n") == "the method is not a token");
  CHECK(fault_of("\r\rGET") == "a CR stands alone");
  CHECK(fault_of("\nGET") == "a line ends in LF without CR");
  CHECK(fault_of("GET / HTTP/1.1\nHost") == "a line ends in LF without CR");
  CHECK(fault_of("GET / HTTP/2.0\r\nHost: h\r\n\r\n") == "the HTTP version is not 1.x");
  CHECK(fault_of("GET /\r\nHost: h\r\n\r\n") ==
        "the request target is empty or has a character that is not visible ASCII");
  CHECK(fault_of("GET / HTTP/1.1 \r\nHost: h\r\n\r\n") == "something follows the HTTP version");
  CHECK(fault_of("GET / HTTP/1\r\nHost: h\r\n\r\n") == "the HTTP version is malformed");
  CHECK(fault_of("GET / H\r\n\r\n") == "the HTTP version is malformed");
  CHECK(fault_of(request("A : b\r\n")) == "a blank stands between a field name and its colon");
  CHECK(fault_of(request("A: b\r\n c\r\n")) == "a field is folded over two lines");
  CHECK(fault_of(request("A\r\n")) == "a line in the head has no colon");
  CHECK(fault_of(request(": b\r\n")) == "a field name has a character in it that may not be there");
  CHECK(fault_of(request("A(b: c\r\n")) ==
        "a field name has a character in it that may not be there");
  CHECK(fault_of(request("A: b\x01\r\n")) == "a field value has a control character in it");
  CHECK(fault_of(request("A: 0123456789abcdef0123456789\x7f\r\n")) ==
        "a field value has a control character in it");
  CHECK(fault_of(request("A: b\rc\r\n")) == "a field value has a control character in it");
  CHECK(fault_of(request("Host: i\r\n")) == "the head has more than one Host");
  CHECK(fault_of("GET / HTTP/1.1\r\nHost: a b\r\n\r\n") == "Host is not a host");
  CHECK(fault_of(request("Content-Length: 1\r\nContent-Length: 1\r\n")) ==
        "the head has more than one Content-Length");
  CHECK(fault_of(request("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")) ==
        "the head has both Content-Length and Transfer-Encoding");
  CHECK(fault_of(request("Content-Length: 18446744073709551616\r\n")) ==
        "Content-Length is not a number of 64 bits");
  CHECK(fault_of(request("Transfer-Encoding: gzip, chunked\r\n")) ==
        "the only Transfer-Encoding understood is one `chunked`");
  CHECK(fault_of("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") ==
        "Transfer-Encoding is not for HTTP/1.0");
  CHECK(fault_of(request("Expect: cake\r\n")) ==
        "Expect asks for something other than 100-continue");
}

TEST_CASE("a NUL in a value is refused at every place of a vector's width") {
  for (size_t length = 1; length < 40; ++length) {
    for (size_t at = 0; at < length; ++at) {
      std::string value(length, 'v');
      CHECK(fault_of(request("A: " + value + "\r\n")) == "");
      value[at] = '\0';
      CHECK(fault_of(request("A: " + value + "\r\n")) != "");
    }
  }
}

TEST_CASE("targets give path and host") {
  RequestHead head;
  const auto read = [&](std::string_view method, std::string_view target) {
    static std::string bytes;
    bytes = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: field\r\n\r\n";
    return parse(bytes, head).has_value();
  };
  REQUIRE(read("GET", "/a?b"));
  CHECK(head.host == "field");
  REQUIRE(read("GET", "HTTP://Other:80/a?b"));
  CHECK(head.path == "/a?b");
  CHECK(head.host == "Other:80");
  CHECK(head.target == "HTTP://Other:80/a?b");
  REQUIRE(read("GET", "https://[::1]"));
  CHECK(head.path == "/");
  CHECK(head.host == "[::1]");
  REQUIRE(read("OPTIONS", "*"));
  CHECK(head.path == "*");
  for (const std::string_view bad : {"*", "a", "ftp://h/", "http://", "http:///x", "http://u@h/",
                                     "http://h:x/", "http://h?q", "h:443", "http://[::1/"}) {
    CHECK_MESSAGE(!read("GET", bad), bad);
  }
}

TEST_CASE("HTTP/1.0 closes unless asked, 1.1 keeps unless told") {
  const auto keeps = [](std::string_view version, std::string_view connection) {
    RequestHead head;
    const std::string bytes = "GET / " + std::string(version) +
                              "\r\nHost: h\r\nConnection: " + std::string(connection) + "\r\n\r\n";
    REQUIRE(parse(bytes, head).value() > 0);
    return head.keep_alive;
  };
  CHECK_FALSE(keeps("HTTP/1.0", ""));
  CHECK(keeps("HTTP/1.0", "keep-alive"));
  CHECK(keeps("HTTP/1.1", ""));
  CHECK(keeps("HTTP/1.1", "x, y"));
  CHECK_FALSE(keeps("HTTP/1.1", "x ,CLOSE"));
  CHECK_FALSE(keeps("HTTP/1.1", "keep-alive, close"));
  CHECK(keeps("HTTP/1.9", ""));
}

TEST_CASE("limits hold at their edges") {
  HeadLimits limits;
  RequestHead head;
  const std::string bytes = request("A: b\r\n");
  limits.head_bytes_max = bytes.size();
  CHECK(parse_request_head(bytes, limits, head) == bytes.size());
  limits.head_bytes_max = bytes.size() - 1;
  CHECK(parse_request_head(bytes, limits, head).error().code == ErrorCode::kHeadTooLarge);
  // Known before the end is there, and only then.
  CHECK(parse_request_head(bytes.substr(0, bytes.size() - 1), limits, head).error().code ==
        ErrorCode::kHeadTooLarge);
  CHECK(parse_request_head(bytes.substr(0, bytes.size() - 2), limits, head) == size_t{0});
  limits = {};
  limits.fields_max = 2;
  CHECK(parse_request_head(bytes, limits, head).has_value());
  limits.fields_max = 1;
  CHECK(parse_request_head(bytes, limits, head).error().code == ErrorCode::kHeadTooLarge);
  limits = {};
  limits.target_bytes_max = 5;
  CHECK(parse_request_head(bytes, limits, head).has_value());
  limits.target_bytes_max = 4;
  CHECK(parse_request_head(bytes, limits, head).error().code == ErrorCode::kHeadTooLarge);
  std::string many;
  for (size_t i = 0; i < kFieldsMax - 1; ++i) many += "A: b\r\n";
  CHECK(fault_of(request(many)) == "");
  CHECK(code_of(request(many + "A: b\r\n")) == ErrorCode::kHeadTooLarge);
  CHECK(fault_of(std::string(kMethodBytesMax, 'M') + " / HTTP/1.1\r\nHost: h\r\n\r\n") == "");
  CHECK(fault_of(std::string(kMethodBytesMax + 1, 'M') + " / HTTP/1.1\r\nHost: h\r\n\r\n") != "");
}

TEST_CASE("a response's framing follows its status and the request's method") {
  const auto read = [](std::string_view status, std::string_view fields, std::string_view method) {
    static std::string bytes;
    bytes = "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(fields) + "\r\n";
    ResponseHead head;
    REQUIRE(parse_response_head(bytes, kLimits, method, head).value() == bytes.size());
    return head;
  };
  ResponseHead head = read("200 OK", "Content-Length: 5\r\n", "POST");
  CHECK(head.status == 200);
  CHECK(head.reason == "OK");
  CHECK(head.framing == BodyFraming::kLength);
  CHECK(head.content_length == 5);
  CHECK(head.keep_alive);
  CHECK(read("200 OK", "Transfer-Encoding: Chunked\r\n", "POST").framing == BodyFraming::kChunked);
  head = read("200 OK", "", "POST");
  CHECK(head.framing == BodyFraming::kUntilClose);
  CHECK_FALSE(head.keep_alive);
  CHECK(read("200 OK", "Content-Length: 5\r\n", "HEAD").framing == BodyFraming::kNone);
  CHECK(read("204 No Content", "Content-Length: 5\r\n", "POST").framing == BodyFraming::kNone);
  CHECK(read("304 Not Modified", "", "GET").framing == BodyFraming::kNone);
  CHECK(read("100 Continue", "", "POST").framing == BodyFraming::kNone);
  CHECK(read("103 Early Hints", "", "POST").keep_alive);
  CHECK_FALSE(read("200 OK", "Content-Length: 0\r\nConnection: close\r\n", "POST").keep_alive);
  CHECK(read("529 \xc3\x9c"
             "berlastet",
             "", "POST")
            .reason ==
        "\xc3\x9c"
        "berlastet");
  CHECK(read("200", "", "POST").reason.empty());
  CHECK(read("200 ", "", "POST").reason.empty());
}

TEST_CASE("answers that break the rules are refused as the upstream's fault") {
  for (const std::string_view bytes :
       {"<html>", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 X\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 O\x01K\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "\r\nHTTP/1.1",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"}) {
    ResponseHead head;
    const Result<size_t> size = parse_response_head(bytes, kLimits, "POST", head);
    REQUIRE_MESSAGE(!size, bytes);
    CHECK(size.error().code == ErrorCode::kUpstreamProtocol);
  }
}

TEST_CASE("a response head is found whatever it is cut into") {
  const std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
  for (size_t cut = 0; cut < bytes.size() - 2; ++cut) {
    ResponseHead head;
    HeadScanner scanner;
    REQUIRE(parse_response_head(bytes.substr(0, cut), kLimits, "POST", scanner, head) == size_t{0});
    REQUIRE(parse_response_head(bytes, kLimits, "POST", scanner, head) == bytes.size() - 2);
  }
}

// --- The corpus that the end-to-end suite sends over sockets. --------------------------------

struct Case {
  std::string name;
  std::string codec;
  std::string bytes;
};

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'r':
        out += '\r';
        break;
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case '0':
        out += '\0';
        break;
      case 'x':
        out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

// `> bytes` or `>N bytes`, the same N times.
void append_line(Case& to, const std::string& line) {
  const size_t blank = line.find(' ');
  const int times = blank > 1 ? std::stoi(line.substr(1, blank - 1)) : 1;
  for (int i = 0; i < times; ++i) to.bytes += unescaped(line.substr(blank + 1));
}

std::vector<Case> read_corpus() {
  std::ifstream file("tests/corpus/http_requests.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("[")) cases.push_back({line.substr(1, line.size() - 2), "", ""});
    if (line.starts_with("codec = ")) cases.back().codec = line.substr(8);
    if (line.starts_with(">")) append_line(cases.back(), line);
  }
  return cases;
}

// Reads messages as a server's connection does. True unless something is refused.
bool accepts(std::string_view rest, size_t step) {
  RequestHead head;
  while (!rest.empty()) {
    HeadScanner scanner;
    size_t seen = 0;
    Result<size_t> size = size_t{0};
    while (size && *size == 0 && seen < rest.size()) {
      seen = std::min(seen + step, rest.size());
      size = parse_request_head(rest.substr(0, seen), kLimits, scanner, head);
    }
    if (!size) return false;
    if (*size == 0) return true;  // cut short
    rest.remove_prefix(*size);
    if (head.framing == BodyFraming::kLength) {
      rest.remove_prefix(std::min<uint64_t>(head.content_length, rest.size()));
    }
    ChunkDecoder decoder(ErrorCode::kBadRequest);
    while (head.framing == BodyFraming::kChunked && !decoder.done() && !rest.empty()) {
      const Result<ChunkStep> piece = decoder.step(rest.substr(0, step));
      if (!piece) return false;
      rest.remove_prefix(piece->consumed);
    }
    if (!head.keep_alive) return true;
  }
  return true;
}

TEST_CASE("the smuggling corpus is refused and accepted as RFC 9112 says, at any read size") {
  const std::vector<Case> cases = read_corpus();
  REQUIRE(cases.size() >= 60);
  for (const Case& entry : cases) {
    for (const size_t step : {size_t{1}, size_t{2}, size_t{7}, size_t{1500}, entry.bytes.size()}) {
      const bool accepted = accepts(entry.bytes, step);
      if (entry.codec == "refuses") CHECK_MESSAGE(!accepted, entry.name << ", reads of " << step);
      if (entry.codec == "accepts") CHECK_MESSAGE(accepted, entry.name << ", reads of " << step);
    }
  }
}

}  // namespace
}  // namespace hw::http
