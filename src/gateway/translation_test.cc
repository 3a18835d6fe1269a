// Exchanges whose channel speaks another dialect than the client.
#include <doctest/doctest.h>

#include <algorithm>

#include "gateway/running_gateway.h"

namespace hw::gateway {
namespace {

using timeline::Call;

constexpr std::string_view kMessages =
    R"({"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"}]})";
constexpr std::string_view kMessagesStream =
    R"({"model":"m","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"hi"}]})";

// The body of the first request that the upstream got.
std::string body_of(Imposter& upstream) {
  const std::string sent = upstream.requests().at(0);
  return sent.substr(sent.find("\r\n\r\n") + 4);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a client of messages is answered by a channel of chat, whole") {
  Imposter upstream(Imposter::always(json_answer(kAnswer)));
  RunningGateway running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages?beta=true", kMessages,
                      "anthropic-version: 2023-06-01\r\nanthropic-beta: a-1\r\n"));
  const std::string got = client.read_until(is_whole_message);
  CHECK(got.find("HTTP/1.1 200") == 0);
  CHECK(has(got, R"("type":"message")"));
  CHECK(has(got, R"("text":"hello")"));
  CHECK(has(got, R"("stop_reason":"end_turn")"));
  CHECK(has(got, R"("model":"m")"));
  const std::string sent = upstream.requests().at(0);
  CHECK(sent.find("POST /v1/chat/completions HTTP/1.1\r\n") == 0);
  CHECK(!has(sent, "anthropic-"));
  CHECK(has(sent, "authorization: Bearer sk-upstream"));
  CHECK(has(body_of(upstream), R"("max_completion_tokens":50)"));
  const Call call = running.sink.wait(1).at(0);
  CHECK(call.outcome == Outcome::kOk);
  CHECK(call.dialect == Dialect::kAnthropicMessages);
  CHECK(call.tokens.input == 7);
  CHECK(is_conserved(call));
}

TEST_CASE("a client of messages is answered by a channel of chat, event by event") {
  const std::string usage =
      R"(data: {"id":"c","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}})"
      "\n\n";
  Imposter upstream(
      Imposter::always(concat(kSseHead, chunk(delta("a")), chunk(delta("b")), chunk(kStop),
                              chunk(usage), chunk(kDone), "0\r\n\r\n")));
  RunningGateway running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages", kMessagesStream));
  const std::string got = client.read_until(
      [](const std::string& s) { return s.find("\r\n0\r\n\r\n") != std::string::npos; });
  for (const std::string_view event :
       {"message_start", "content_block_start", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop"}) {
    CHECK(has(got, concat("event: ", event, "\n")));
  }
  CHECK(has(got, R"("output_tokens":2)"));
  CHECK(!has(got, "[DONE]"));
  CHECK(has(body_of(upstream), "include_usage"));
  const Call call = running.sink.wait(1).at(0);
  CHECK(call.outcome == Outcome::kOk);
  CHECK(call.tokens.input == 5);
  CHECK(timeline::ttft_ns(call) > 0);
  CHECK(is_conserved(call));
}

TEST_CASE("a stream of another dialect without its final event ends with the client's error") {
  Imposter upstream([](Imposter& self, TestSocket& client) {
    if (self.take_request(client).empty()) return;
    client.send(concat(kSseHead, chunk(delta("a")), "0\r\n\r\n"));
  });
  RunningGateway running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages", kMessagesStream));
  const std::string got = client.read_to_end();
  CHECK(has(got, "event: error\n"));
  CHECK(!has(got, "message_stop"));
  CHECK(!got.ends_with("0\r\n\r\n"));
  CHECK(running.sink.wait(1).at(0).outcome == Outcome::kUpstreamError);
}

TEST_CASE("a refusal of another dialect keeps status, words and retry-after") {
  Imposter upstream(Imposter::always(
      json_answer(R"({"error":{"message":"slow down","type":"requests","code":"rate_limit"}})",
                  "429 Too Many Requests", "retry-after: 3\r\n")));
  RunningGateway running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages", kMessages));
  const std::string got = client.read_until(is_whole_message);
  CHECK(got.find("HTTP/1.1 429") == 0);
  CHECK(has(got, "retry-after: 3\r\n"));
  CHECK(has(got, R"("type":"rate_limit_error","message":"slow down")"));
}

TEST_CASE("what cannot be said to the channel is a 400 that names the field, and costs no call") {
  Imposter upstream(Imposter::always(json_answer(kAnswer)));
  RunningGateway running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages", R"({"model":"m","max_tokens":5,"thread":{"type":"create"},)"
                                      R"("messages":[{"role":"user","content":"hi"}]})"));
  const std::string got = client.read_until(is_whole_message);
  CHECK(got.find("HTTP/1.1 400") == 0);
  CHECK(has(got, R"("error_code":"thread_unsupported_request","unsupported":["thread"])"));
  CHECK(upstream.requests().empty());
  CHECK(running.sink.wait(1).at(0).outcome == Outcome::kRejected);
}

TEST_CASE("a channel of the client's dialect comes first among equals") {
  Imposter chat(Imposter::always(json_answer(kAnswer)));
  Imposter messages(Imposter::always(
      json_answer(R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],)"
                  R"("stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}})")));
  RunningGateway running({channel_to(chat.port(), "chat"),
                          channel_to(messages.port(), "messages", Family::kAnthropic)});
  for (int i = 0; i < 8; ++i) {
    const TestSocket client = TestSocket::connect(running.port());
    client.send(request("/v1/messages", kMessages));
    CHECK(has(client.read_until(is_whole_message), "msg_1"));
  }
  CHECK(chat.requests().empty());
}

TEST_CASE("tokens are estimated where no channel counts them, and the answer says so") {
  Imposter upstream(Imposter::always(json_answer(kAnswer)));
  RunningGateway running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages/count_tokens",
                      R"({"model":"m","system":"0123456789012345","tools":[{"name":"t",)"
                      R"("input_schema":{"type":"object"}}],"messages":[{"role":"user",)"
                      R"("content":"0123456789012345"}]})"));
  const std::string got = client.read_until(is_whole_message);
  CHECK(got.find("HTTP/1.1 200") == 0);
  // 32 bytes of text and 48 of tools; a message, and what begins the answer.
  CHECK(has(got, R"({"input_tokens":27,"estimated":true})"));
  CHECK(upstream.requests().empty());
  CHECK(running.sink.wait(1).at(0).outcome == Outcome::kOk);
}

TEST_CASE("flags and fields that a channel does not list stay behind, with a mark") {
  Imposter upstream(Imposter::always(json_answer(R"({"type":"message"})")));
  route::ChannelOptions channel = channel_to(upstream.port(), "up", Family::kAnthropic);
  channel.betas = {"thinking-*", "b-2"};
  channel.fields = {"system"};
  RunningGateway running({channel});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages",
                      R"({"model":"m","context_management":{"a":1},"system":"s",)"
                      R"("max_tokens":5,"messages":[{"role":"user","content":"hi"}]})",
                      "anthropic-beta: a-1, thinking-2025\r\nAnthropic-Beta: b-2,b-3\r\n"));
  client.read_until(is_whole_message);
  const std::string sent = upstream.requests().at(0);
  CHECK(has(sent, "\r\nanthropic-beta: thinking-2025,b-2\r\n"));
  CHECK(!has(sent, "a-1"));
  CHECK(!has(sent, "Anthropic-Beta"));
  CHECK(body_of(upstream) ==
        R"({"model":"m","system":"s","max_tokens":5,"messages":[{"role":"user","content":"hi"}]})");
  const Call call = running.sink.wait(1).at(0);
  CHECK(call.lossy == std::vector<std::string>{"anthropic-beta: a-1", "anthropic-beta: b-3",
                                               "context_management"});
}

TEST_CASE("without lists flags and fields pass as they came") {
  Imposter upstream(Imposter::always(json_answer(R"({"type":"message"})")));
  RunningGateway running({channel_to(upstream.port(), "up", Family::kAnthropic)});
  const TestSocket client = TestSocket::connect(running.port());
  const std::string body = R"({"model":"m", "x":1 ,"messages":[{"role":"user","content":"hi"}]})";
  client.send(request("/v1/messages", body, "anthropic-beta: a-1, b-2\r\n"));
  client.read_until(is_whole_message);
  CHECK(has(upstream.requests().at(0), "\r\nanthropic-beta: a-1, b-2\r\n"));
  CHECK(body_of(upstream) == body);
  CHECK(running.sink.wait(1).at(0).lossy.empty());
}

TEST_CASE("a field that a chat server refuses can be kept from it in translation too") {
  Imposter upstream(Imposter::always(json_answer(kAnswer)));
  route::ChannelOptions channel = channel_to(upstream.port());
  channel.fields = {"temperature"};
  RunningGateway running({channel});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages",
                      R"({"model":"m","max_tokens":5,"temperature":0.5,"top_p":0.9,)"
                      R"("messages":[{"role":"user","content":"hi"}]})"));
  client.read_until(is_whole_message);
  CHECK(has(body_of(upstream), R"("temperature":0.5)"));
  CHECK(!has(body_of(upstream), "top_p"));
  const Call call = running.sink.wait(1).at(0);
  CHECK(std::ranges::find(call.lossy, "top_p") != call.lossy.end());
}

constexpr std::string_view kCount =
    R"({"model":"m","system":"be brief","messages":[{"role":"user","content":"hi"}],)"
    R"("tools":[{"name":"t","input_schema":{"type":"object"}}]})";

TEST_CASE("tokens are counted by the instance's tokenizer where a channel offers it") {
  Imposter upstream(
      Imposter::always(json_answer(R"({"count":42,"max_model_len":9,"tokens":[1]})")));
  route::ChannelOptions channel = channel_to(upstream.port());
  channel.serves.add(route::Endpoint::kTokenize);
  RunningGateway running({channel});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages/count_tokens?beta=true", kCount));
  const std::string got = client.read_until(is_whole_message);
  CHECK(got.find("HTTP/1.1 200") == 0);
  CHECK(has(got, "\r\n\r\n{\"input_tokens\":42}"));
  CHECK(upstream.requests().at(0).find("POST /tokenize HTTP/1.1\r\n") == 0);
  CHECK(has(body_of(upstream), R"("role":"system")"));
  CHECK(has(body_of(upstream), R"("function":{"name":"t")"));
  const Call call = running.sink.wait(1).at(0);
  CHECK(call.tokens.input == 42);
  CHECK(call.tokens.source == timeline::TokenSource::kUsage);
  CHECK(is_conserved(call));
}

TEST_CASE("tokens are estimated where the instance's tokenizer fails") {
  for (const std::string& answer :
       {json_answer(R"({"detail":"Not Found"})", "404 Not Found"), json_answer(R"({"tokens":[]})"),
        json_answer(R"({"error":{"message":"x"}})", "500 Internal Server Error")}) {
    Imposter upstream(Imposter::always(answer));
    route::ChannelOptions channel = channel_to(upstream.port());
    channel.serves.add(route::Endpoint::kTokenize);
    RunningGateway running({channel});
    const TestSocket client = TestSocket::connect(running.port());
    client.send(request("/v1/messages/count_tokens", kCount));
    const std::string got = client.read_until(is_whole_message);
    CHECK(got.find("HTTP/1.1 200") == 0);
    CHECK(has(got, R"("estimated":true)"));
    const Call call = running.sink.wait(1).at(0);
    CHECK(call.outcome == Outcome::kOk);
    CHECK(call.attempts.size() == 1);
    CHECK(is_conserved(call));
  }
}

}  // namespace
}  // namespace hw::gateway
