#include "wire/stream_observer.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"

namespace hw::wire {
namespace {

// One chat chunk with this delta.
std::string chunk(std::string_view delta) {
  return "data: {\"choices\":[{\"index\":0,\"delta\":" + std::string(delta) + "}]}\n\n";
}

EventFacts only_event(Dialect dialect, std::string_view bytes) {
  StreamObserver observer(dialect);
  const auto events = observer.feed(bytes);
  REQUIRE(events.has_value());
  REQUIRE(events->size() == 1);
  return (*events)[0];
}

}  // namespace

TEST_CASE("frames without text are no tokens") {
  for (const std::string_view delta :
       {R"({"role":"assistant"})", R"({"role":"assistant","content":""})", R"({"content":null})",
        R"({})", R"({"reasoning_content":""})", R"({"tool_calls":[]})",
        R"({"tool_calls":[{"index":0,"id":"call_1","function":{"arguments":""}}]})",
        R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]})", "null"}) {
    CAPTURE(delta);
    CHECK_FALSE(only_event(Dialect::kOpenaiChat, chunk(delta)).token);
  }
}

TEST_CASE("the channel of a token is the most visible one in its event") {
  const auto channel = [](std::string_view delta) {
    const EventFacts event = only_event(Dialect::kOpenaiChat, chunk(delta));
    CHECK(event.token);
    return event.channel;
  };
  CHECK(channel(R"({"content":"a","reasoning":"b"})") == TokenChannel::kContent);
  CHECK(channel(R"({"refusal":"a","tool_calls":[{"function":{"name":"f"}}]})") ==
        TokenChannel::kRefusal);
  CHECK(channel(R"({"reasoning":"b","tool_calls":[{"function":{"arguments":"{"}}]})") ==
        TokenChannel::kTool);
  CHECK(channel(R"({"reasoning":"b"})") == TokenChannel::kReasoning);
}

TEST_CASE("the same reasoning under three names is counted once") {
  const EventFacts event = only_event(
      Dialect::kOpenaiChat,
      chunk(
          R"({"reasoning":"abc","reasoning_content":"abc","reasoning_details":[{"text":"abc"}]})"));
  CHECK(event.text_bytes == 3);
}

TEST_CASE("[DONE] ends chat and completions and is a frame elsewhere") {
  CHECK(only_event(Dialect::kOpenaiChat, "data: [DONE]\n\n").terminal);
  CHECK(only_event(Dialect::kOpenaiCompletions, "data:[DONE]\n\n").terminal);
  CHECK_FALSE(only_event(Dialect::kOpenaiResponses, "data: [DONE]\n\n").terminal);
  CHECK_FALSE(only_event(Dialect::kAnthropicMessages, "data: [DONE]\n\n").terminal);
}

TEST_CASE("chat is finished by [DONE] or by a finish_reason for each choice that was seen") {
  StreamObserver observer(Dialect::kOpenaiChat);
  CHECK_FALSE(observer.finished());
  const auto feed = [&](std::string_view choice) {
    REQUIRE(observer.feed("data: {\"choices\":[" + std::string(choice) + "]}\n\n").has_value());
  };
  feed(R"({"index":0,"delta":{"content":"a"},"finish_reason":null})");
  feed(R"({"index":1,"delta":{"content":"a"},"finish_reason":""})");
  CHECK_FALSE(observer.finished());
  feed(R"({"index":1,"delta":{},"finish_reason":"length"})");
  CHECK_FALSE(observer.finished());
  feed(R"({"index":0,"delta":{},"finish_reason":"stop"})");
  CHECK(observer.finished());
  CHECK_FALSE(observer.terminal_seen());
  CHECK(observer.finish_reason() == "length");
}

TEST_CASE("choices beyond any sensible number harm nobody") {
  StreamObserver observer(Dialect::kOpenaiChat);
  REQUIRE(
      observer
          .feed("data: {\"choices\":[{\"index\":9999999999999999999,\"delta\":{\"content\":\"a\"}},"
                "{\"index\":-3},{\"index\":64,\"finish_reason\":\"stop\"},7,null]}\n\n")
          .has_value());
  CHECK(observer.token_events() == 1);
}

TEST_CASE("an event over the scanner's limit fails and keeps failing") {
  StreamObserver observer(Dialect::kOpenaiChat);
  const std::string big(1 << 20, 'x');
  REQUIRE(observer.feed("data: ").has_value());
  bool failed = false;
  for (int i = 0; i < 64 && !failed; ++i) failed = !observer.feed(big).has_value();
  REQUIRE(failed);
  const auto again = observer.feed("data: [DONE]\n\n");
  REQUIRE_FALSE(again.has_value());
  CHECK(again.error().code == ErrorCode::kUpstreamProtocol);
  CHECK_FALSE(observer.finished());
}

TEST_CASE("an event known again by its shape means what it means when it is parsed") {
  const std::string_view before = R"(data: {"choices":[{"index":0,"delta":{"content":")";
  const std::string_view behind = "\"}}]}\n\n";
  StreamObserver observer(Dialect::kOpenaiChat);
  for (const std::string_view text :
       {"Hi", " there", "", "x", "a\\n", "\\u00e9", "\xc3\xa9", "\xff", "\x01", "\x7f",
        "\xed\xa0\x80", "a\"}},{\"index\":1,\"delta\":{\"refusal\":\"b", "\\\"", "z\\", "end"}) {
    const std::string event = concat(before, text, behind);
    CAPTURE(event);
    const EventFacts parsed = only_event(Dialect::kOpenaiChat, event);
    const auto seen = observer.feed(event);
    REQUIRE(seen.has_value());
    REQUIRE(seen->size() == 1);
    CHECK((*seen)[0] == parsed);
  }
}

TEST_CASE("a repeated shape is still told apart by its event type, its end and its error") {
  StreamObserver observer(Dialect::kOpenaiChat);
  const std::string token = chunk(R"({"content":"Hi"})");
  const auto feed = [&](const std::string& bytes) {
    const auto events = observer.feed(bytes);
    REQUIRE(events.has_value());
    REQUIRE(events->size() == 1);
    return (*events)[0];
  };
  CHECK(feed(token).token);
  CHECK(feed(token).token);
  CHECK(feed("event: error\n" + token).error);
  CHECK(feed("data: [DONE]\n\n").terminal);
  CHECK(observer.output_bytes() == 6);
}

TEST_CASE("reasoning under two names is never taken for a shape with one text") {
  StreamObserver observer(Dialect::kOpenaiChat);
  const auto bytes_of = [&](std::string_view a, std::string_view b) {
    const auto events = observer.feed(
        chunk(concat(R"({"reasoning":")", a, R"(","reasoning_content":")", b, "\"}")));
    REQUIRE(events.has_value());
    return (*events)[0].text_bytes;
  };
  CHECK(bytes_of("abc", "abc") == 3);
  CHECK(bytes_of("a", "abc") == 3);
  CHECK(bytes_of("abcd", "abc") == 4);
  CHECK(bytes_of("", "abc") == 3);
  CHECK(bytes_of("", "ab") == 2);
  CHECK(bytes_of("xyz", "ab") == 3);
}

TEST_CASE("an observer is small while no event is partly received") {
  CHECK(sizeof(StreamObserver) <= 512);
}

}  // namespace hw::wire
