#include "edge/event_gate.h"

#include <doctest/doctest.h>

#include <vector>

namespace hw::edge {
namespace {

constexpr std::string_view kUsage =
    "data: "
    "{\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n";
constexpr std::string_view kToken =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";

// Feeds pieces through an observer and a gate; records what was relayed after each.
struct Relay {
  explicit Relay(Hide hide) : gate(hide) {}
  std::string feed(std::string_view bytes) {
    const auto events = observer.feed(bytes);
    REQUIRE(events.has_value());
    const std::string given(gate.feed(bytes, *events, scratch));
    all += given;
    return given;
  }
  wire::StreamObserver observer{Dialect::kOpenaiChat};
  EventGate gate;
  std::string scratch, all;
};

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out += part;
  return out;
}

}  // namespace

TEST_CASE("the usage chunk is hidden at every split and nothing else is") {
  const std::string body =
      joined({": hello\n\n", kToken, ": one\n\n", kUsage, ": two\n\n", "data: [DONE]\n\n"});
  const std::string expected =
      joined({": hello\n\n", kToken, ": one\n\n", ": two\n\n", "data: [DONE]\n\n"});
  for (size_t a = 0; a <= body.size(); ++a) {
    for (size_t b = a; b <= body.size(); b += 3) {
      Relay relay(Hide::kUsageChunks);
      const std::string_view view = body;
      relay.feed(view.substr(0, a));
      relay.feed(view.substr(a, b - a));
      relay.feed(view.substr(b));
      CAPTURE(a);
      CAPTURE(b);
      REQUIRE(relay.all == expected);
      CHECK(relay.gate.held().empty());
      CHECK(relay.gate.hidden() == 1);
    }
  }
}

TEST_CASE("comments inside the hidden event's own block stay, and end with a blank line") {
  Relay relay(Hide::kUsageChunks);
  relay.feed(joined({"id: 7\n\n", ": before\n", kUsage.substr(0, kUsage.size() - 1), ": behind\n",
                     "\n", "data: [DONE]\n\n"}));
  CHECK(relay.all == "id: 7\n\n: before\n: behind\n\ndata: [DONE]\n\n");
}

TEST_CASE("a usage chunk with CRLF line ends leaves no part of it") {
  std::string body = joined({kToken, kUsage, "data: [DONE]\n\n"});
  for (size_t at = 0; (at = body.find('\n', at)) != body.npos; at += 2) body.replace(at, 1, "\r\n");
  for (size_t at = 0; at <= body.size(); ++at) {
    Relay relay(Hide::kUsageChunks);
    relay.feed(std::string_view(body).substr(0, at));
    relay.feed(std::string_view(body).substr(at));
    CAPTURE(at);
    CHECK(relay.all.find("usage") == relay.all.npos);
    CHECK(relay.all.find("[DONE]\r\n\r\n") != relay.all.npos);
    wire::StreamObserver client(Dialect::kOpenaiChat);
    REQUIRE(client.feed(relay.all).has_value());
    CHECK(client.events() == 2);
  }
}

TEST_CASE("whole events pass as a view of the read, without a copy") {
  Relay relay(Hide::kUsageChunks);
  const std::string read = joined({kToken, kToken});
  const auto events = relay.observer.feed(read);
  REQUIRE(events.has_value());
  const std::string_view given = relay.gate.feed(read, *events, relay.scratch);
  CHECK(given.data() == read.data());
  CHECK(given.size() == read.size());
}

TEST_CASE("comments pass at once, also in part, and are no boundary while they are open") {
  Relay relay(Hide::kUsageChunks);
  CHECK(relay.feed(": pi") == ": pi");
  CHECK_FALSE(relay.gate.at_boundary());
  CHECK(relay.feed("ng\n") == "ng\n");
  CHECK(relay.gate.at_boundary());
  CHECK(relay.feed("\n") == "\n");
  CHECK(relay.feed("data: {\"choi") == "");
  CHECK(relay.gate.at_boundary());
  CHECK(relay.gate.held() == "data: {\"choi");
}

TEST_CASE("a stream that breaks inside an event has relayed whole events only") {
  Relay relay(Hide::kNothing);
  relay.feed(joined({kToken, kToken.substr(0, 20)}));
  CHECK(relay.all == kToken);
  CHECK(relay.gate.at_boundary());
}

TEST_CASE("an event longer than the limit passes as it comes") {
  Relay relay(Hide::kUsageChunks);
  const std::string big(EventGate::kHeldBytesMax, 'x');
  relay.feed("data: {\"choices\":[],\"usage\":{},\"pad\":\"");
  CHECK(relay.all.empty());
  relay.feed(big);
  CHECK(relay.all.size() > big.size());
  CHECK_FALSE(relay.gate.at_boundary());
  CHECK(relay.feed("yy") == "yy");
  CHECK(relay.feed("\"}\n\n") == "\"}\n\n");
  CHECK(relay.gate.at_boundary());
  CHECK(relay.gate.hidden() == 0);
  relay.feed(kUsage);
  CHECK(relay.gate.hidden() == 1);
}

TEST_CASE("an event longer than the limit in one read passes whole") {
  Relay relay(Hide::kUsageChunks);
  const std::string read = joined({kToken, "data: \"", std::string(EventGate::kHeldBytesMax, 'x')});
  CHECK(relay.feed(read) == read);
  CHECK_FALSE(relay.gate.at_boundary());
}

}  // namespace hw::edge
