#include "gateway/running_gateway.h"

#include <doctest/doctest.h>

namespace hw::gateway {
namespace {

using timeline::Call;
using Running = RunningGateway;

TEST_CASE("a whole answer passes unchanged, with our ids, and is recorded") {
  Imposter upstream(
      Imposter::always(json_answer(kAnswer, "200 OK", "X-Request-Id: theirs\r\nX-Odd: kept\r\n")));
  Running running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  for (int i = 0; i < 2; ++i) {
    client.send(request("/v1/chat/completions?a=b", kChat, "X-Unknown: survives\r\n"));
    const std::string answer = client.read_until(is_whole_message);
    CHECK(answer.find("HTTP/1.1 200 OK\r\n") == 0);
    CHECK(answer.substr(answer.find("\r\n\r\n") + 4) == kAnswer);
    CHECK(answer.find("X-Odd: kept") != std::string::npos);
    CHECK(answer.find("theirs") == std::string::npos);
    CHECK(answer.find("x-request-id: req_") != std::string::npos);
    CHECK(answer.find("server-timing: total;dur=") != std::string::npos);
  }
  const std::vector<Call> calls = running.sink.wait(2);
  REQUIRE(calls.size() == 2);
  for (const Call& call : calls) {
    CHECK(call.outcome == Outcome::kOk);
    CHECK(call.status == 200);
    CHECK(call.key == "dev");
    CHECK(call.tokens.input == 7);
    CHECK(call.tokens.output == 3);
    REQUIRE(call.attempts.size() == 1);
    CHECK(call.attempts[0].upstream_request_id == "theirs");
    CHECK(is_conserved(call));
  }
  CHECK(!calls[0].attempts[0].connection.reused);
  CHECK(calls[1].attempts[0].connection.reused);
  const std::string sent = upstream.requests().at(0);
  CHECK(sent.find("POST /v1/chat/completions?a=b HTTP/1.1\r\n") == 0);
  CHECK(sent.find("authorization: Bearer sk-upstream\r\n") != std::string::npos);
  CHECK(sent.find(kSecret) == std::string::npos);
  CHECK(sent.find("X-Unknown: survives") != std::string::npos);
  CHECK(sent.substr(sent.find("\r\n\r\n") + 4) == kChat);
}

TEST_CASE("an answer that comes in several reads keeps its head and its body") {
  const std::string body = concat(kAnswer.substr(0, kAnswer.size() - 1), R"(,"padding":")",
                                  std::string(300'000, 'x'), "\"}");
  const std::string answer = json_answer(body, "200 OK", "X-Odd: kept as it was\r\n");
  Imposter upstream([&answer](Imposter& self, TestSocket& client) {
    while (!self.take_request(client).empty()) {
      client.send(std::string_view(answer).substr(0, 300));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      client.send(std::string_view(answer).substr(300));
    }
  });
  Running running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  for (int i = 0; i < 2; ++i) {
    client.send(request("/v1/chat/completions", kChat));
    const std::string got = client.read_until(is_whole_message);
    CHECK(got.find("\r\nX-Odd: kept as it was\r\n") != std::string::npos);
    CHECK(got.find("\r\nContent-Type: application/json\r\n") != std::string::npos);
    CHECK(got.substr(got.find("\r\n\r\n") + 4) == body);
  }
}

TEST_CASE("a stream passes event by event, its usage chunk is asked for and hidden") {
  const std::string usage =
      "data: "
      "{\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n";
  const std::string answer = concat(kSseHead, chunk(delta("a")), chunk(delta("b")), chunk(kStop),
                                    chunk(usage), chunk(kDone), "0\r\n\r\n");
  Imposter upstream(Imposter::always(answer));
  Running running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kStream));
  const std::string got = client.read_until(
      [](const std::string& s) { return s.find("\r\n0\r\n\r\n") != std::string::npos; });
  CHECK(got.find(delta("a")) != std::string::npos);
  CHECK(got.find("[DONE]") != std::string::npos);
  CHECK(got.find("usage") == std::string::npos);
  CHECK(got.find("x-accel-buffering: no\r\n") != std::string::npos);
  const Call call = running.sink.wait(1).at(0);
  CHECK(call.outcome == Outcome::kOk);
  CHECK(call.tokens.input == 5);
  CHECK(call.tokens.output == 2);
  CHECK(call.gaps.count == 1);
  CHECK(timeline::ttft_ns(call) > 0);
  CHECK(is_conserved(call));
  CHECK(upstream.requests().at(0).find("include_usage") != std::string::npos);
}

TEST_CASE("a stream without its final event ends with an error event and without the last chunk") {
  for (std::string_view end : {"0\r\n\r\n", ""}) {
    CAPTURE(end);
    const std::string answer = concat(kSseHead, chunk(delta("a")), end);
    Imposter upstream([&answer](Imposter& self, TestSocket& client) {
      if (self.take_request(client).empty()) return;
      client.send(answer);
    });
    Running running({channel_to(upstream.port())});
    const TestSocket client = TestSocket::connect(running.port());
    client.send(request("/v1/chat/completions", kStream));
    const std::string got = client.read_to_end();
    CHECK(got.find(delta("a")) != std::string::npos);
    CHECK(got.find("data: {\"error\":") != std::string::npos);
    CHECK(got.find("[DONE]") == std::string::npos);
    CHECK(got.find("\r\n0\r\n\r\n") == std::string::npos);
    const Call call = running.sink.wait(1).at(0);
    CHECK(call.outcome == Outcome::kUpstreamError);
    CHECK(call.status == 200);
    CHECK(is_conserved(call));
  }
}

TEST_CASE("a failing channel is left for another before anything was relayed") {
  Imposter bad(
      Imposter::always(json_answer(R"({"error":{"message":"no"}})", "503 Service Unavailable")));
  Imposter good(Imposter::always(json_answer(kAnswer)));
  route::ChannelOptions first = channel_to(bad.port(), "first");
  first.priority = 1;
  Running running({first, channel_to(good.port(), "second")});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kChat));
  const std::string answer = client.read_until(is_whole_message);
  CHECK(answer.find("HTTP/1.1 200") == 0);
  CHECK(answer.find("x-headway-channel: second") != std::string::npos);
  const Call call = running.sink.wait(1).at(0);
  REQUIRE(call.attempts.size() == 2);
  CHECK(call.attempts[0].outcome == Outcome::kUpstreamError);
  CHECK(call.attempts[0].status == 503);
  CHECK(call.outcome == Outcome::kOk);
  CHECK(is_conserved(call));
}

TEST_CASE("with one channel its refusal passes as it is, with retry-after, by one upstream call") {
  const std::string body = R"({"error":{"message":"slow down","type":"rate_limit_error"}})";
  Imposter upstream(
      Imposter::always(json_answer(body, "429 Too Many Requests", "Retry-After: 7\r\n")));
  Running running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kChat));
  const std::string answer = client.read_until(is_whole_message);
  CHECK(answer.find("HTTP/1.1 429") == 0);
  CHECK(answer.find("Retry-After: 7\r\n") != std::string::npos);
  CHECK(answer.substr(answer.find("\r\n\r\n") + 4) == body);
  CHECK(upstream.requests().size() == 1);
  CHECK(running.sink.wait(1).at(0).outcome == Outcome::kUpstreamError);
}

TEST_CASE("a pooled connection that the upstream has closed is replaced by a fresh one") {
  std::atomic<int> served{0};
  Imposter upstream([&served](Imposter& self, TestSocket& client) {
    // Answers one request, reads the next and hangs up on it.
    const bool first_connection = served++ == 0;
    if (self.take_request(client).empty()) return;
    client.send(json_answer(kAnswer));
    if (first_connection) {
      self.take_request(client);
      return;
    }
    self.take_request(client);
  });
  Running running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  for (int i = 0; i < 2; ++i) {
    client.send(request("/v1/chat/completions", kChat));
    CHECK(client.read_until(is_whole_message).find("HTTP/1.1 200") == 0);
  }
  const std::vector<Call> calls = running.sink.wait(2);
  REQUIRE(calls.size() == 2);
  CHECK(calls[1].attempts.size() == 1);
  CHECK(calls[1].outcome == Outcome::kOk);
  CHECK(is_conserved(calls[1]));
}

TEST_CASE("a client that leaves ends the upstream connection at once, whatever is waited for") {
  for (std::string_view sent : {std::string_view(), kSseHead}) {
    CAPTURE(sent);
    std::atomic<bool> asked{false}, closed{false};
    Imposter upstream([&](Imposter& self, TestSocket& client) {
      if (self.take_request(client).empty()) return;
      client.send(sent);
      if (!sent.empty()) client.send(chunk(delta("a")));
      asked = true;
      closed = client.peer_closed(3000);
    });
    Running running({channel_to(upstream.port())});
    {
      const TestSocket client = TestSocket::connect(running.port());
      client.send(request("/v1/chat/completions", kStream));
      if (!sent.empty())
        client.read_until(
            [](const std::string& s) { return s.find("data:") != std::string::npos; });
      while (!asked) std::this_thread::yield();
    }
    const Call call = running.sink.wait(1).at(0);
    CHECK(call.outcome == Outcome::kClientGone);
    CHECK(call.status == (sent.empty() ? 499 : 200));
    CHECK(is_conserved(call));
    for (int i = 0; i < 1000 && !closed; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(closed);
  }
}

TEST_CASE(
    "each clock of a silent upstream fires and names itself, before and after the first byte") {
  struct Case {
    std::string_view sent;
    void (*set)(Timeouts&);
    std::string_view code;
    int status;
  };
  const Case cases[] = {
      {"", [](Timeouts& t) { t.first_token_ms = 60; }, "timeout_first_token", 504},
      {"", [](Timeouts& t) { t.total_ms = 60; }, "timeout_total", 504},
      {kSseHead, [](Timeouts& t) { t.silence_ms = 60; }, "timeout_silence", 504},
      {"token", [](Timeouts& t) { t.between_tokens_ms = 60; }, "timeout_between_tokens", 200},
      {"token", [](Timeouts& t) { t.silence_ms = 60; }, "timeout_silence", 200},
      {"token", [](Timeouts& t) { t.total_ms = 120; }, "timeout_total", 200},
  };
  for (const Case& each : cases) {
    CAPTURE(each.code);
    CAPTURE(each.sent);
    Imposter upstream([&](Imposter& self, TestSocket& client) {
      if (self.take_request(client).empty()) return;
      client.send(each.sent == "token" ? concat(kSseHead, chunk(delta("a")))
                                       : std::string(each.sent));
      client.peer_closed(3000);
    });
    Options options;
    each.set(options.timeouts);
    Running running({channel_to(upstream.port())}, options);
    const TestSocket client = TestSocket::connect(running.port());
    client.send(request("/v1/chat/completions", kStream));
    const std::string got =
        each.status == 504 ? client.read_until(is_whole_message) : client.read_to_end();
    CHECK(got.find(concat("HTTP/1.1 ", each.status)) == 0);
    CHECK(got.find(each.code) != std::string::npos);
    const Call call = running.sink.wait(1).at(0);
    CHECK(call.outcome == Outcome::kTimeout);
    CHECK(call.error.code == each.code);
    CHECK(is_conserved(call));
  }
}

TEST_CASE("heartbeats keep a waiting stream alive and do not end failover") {
  std::atomic<bool> go{false};
  Imposter slow([&](Imposter& self, TestSocket& client) {
    if (self.take_request(client).empty()) return;
    while (!go && !self.ending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    client.send(json_answer("<html>", "500 Internal Server Error"));
  });
  Imposter good(Imposter::always(
      concat(kSseHead, chunk(delta("a")), chunk(kStop), chunk(kDone), "0\r\n\r\n")));
  route::ChannelOptions first = channel_to(slow.port(), "slow");
  first.priority = 1;
  Options options;
  options.keepalive_ms = 20;
  Running running({first, channel_to(good.port(), "good")}, options);
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kStream));
  const std::string start = client.read_until(
      [](const std::string& s) { return s.find(": keep-alive") != std::string::npos; });
  CHECK(start.find("HTTP/1.1 200") == 0);
  go = true;
  const std::string rest = client.read_until(
      [](const std::string& s) { return s.find("\r\n0\r\n\r\n") != std::string::npos; });
  CHECK(rest.find("[DONE]") != std::string::npos);
  const Call call = running.sink.wait(1).at(0);
  CHECK(call.outcome == Outcome::kOk);
  CHECK(call.heartbeats >= 1);
  CHECK(call.attempts.size() == 2);
  CHECK(is_conserved(call));
}

TEST_CASE("an upstream's refusal behind a heartbeat keeps its words") {
  std::atomic<bool> go{false};
  Imposter upstream([&](Imposter& self, TestSocket& client) {
    if (self.take_request(client).empty()) return;
    while (!go && !self.ending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    client.send(json_answer(
        R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
        "529 Overloaded"));
  });
  Options options;
  options.keepalive_ms = 20;
  Running running({channel_to(upstream.port(), "ant", Family::kAnthropic)}, options);
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/messages", kStream));
  client.read_until([](const std::string& s) { return s.find("ping") != std::string::npos; });
  go = true;
  const std::string rest = client.read_to_end();
  CHECK(rest.find("\"type\":\"overloaded_error\"") != std::string::npos);
  CHECK(rest.find("\"message\":\"Overloaded\"") != std::string::npos);
}

TEST_CASE("what is no error of the dialect gets a type that fits its status") {
  Imposter upstream(
      Imposter::always(json_answer("<html>", "429 Too Many Requests", "Retry-After: 7\r\n")));
  Running running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kChat));
  const std::string got = client.read_until(is_whole_message);
  CHECK(got.find("HTTP/1.1 429") == 0);
  CHECK(got.find("\r\nretry-after: 7\r\n") != std::string::npos);
  CHECK(got.find("\"type\":\"rate_limit_error\"") != std::string::npos);
}

TEST_CASE("a request coded twice in two lines, once in an unknown way, is refused with 415") {
  Imposter upstream(Imposter::always(json_answer(kAnswer)));
  Running running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kChat,
                      "Content-Encoding: identity\r\nContent-Encoding: lz4\r\n"));
  CHECK(client.read_until(is_whole_message).find("HTTP/1.1 415") == 0);
}

TEST_CASE("refusals are in the dialect of the route and say whose fault it is") {
  Imposter upstream(Imposter::always(json_answer(kAnswer)));
  route::ChannelOptions other = channel_to(upstream.port(), "other", Family::kAnthropic);
  other.models = {"only-messages"};
  Running running({channel_to(upstream.port()), other});
  struct Case {
    std::string bytes;
    std::string_view status, text;
  };
  const std::string no_key =
      concat("POST /v1/messages HTTP/1.1\r\nHost: gw\r\nContent-Length: ", kChat.size(), "\r\n\r\n",
             kChat);
  const Case cases[] = {
      {no_key, "401", "\"type\":\"authentication_error\""},
      {request("/v1/chat/completions", R"({"model":"nope","messages":[]})"), "404",
       "model_not_found"},
      {request("/v1/chat/completions", "{"), "400", "invalid_request_error"},
      {request("/v1/embeddings", R"({"model":"only-messages","input":"a"})"), "400",
       "/v1/chat/completions"},
      {request("/v1/nothing", kChat), "404", "/v1/chat/completions"},
      {"GET /v1/responses HTTP/1.1\r\nHost: gw\r\nConnection: upgrade\r\nUpgrade: "
       "websocket\r\n\r\n",
       "426", "POST"},
      {"GET /v1/chat/completions HTTP/1.1\r\nHost: gw\r\n\r\n", "405", "POST"},
      {"GARBAGE\r\n\r\n", "400", "error"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.bytes);
    const TestSocket client = TestSocket::connect(running.port());
    client.send(each.bytes);
    const std::string answer = client.read_until(is_whole_message);
    CHECK(answer.find(concat("HTTP/1.1 ", each.status)) == 0);
    CHECK(answer.find(each.text) != std::string::npos);
  }
  CHECK(upstream.requests().empty());
}

TEST_CASE("models are listed in the shape that the client speaks") {
  Imposter upstream(Imposter::always(""));
  Running running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  const std::string head = concat("Host: gw\r\nx-api-key: ", kSecret, "\r\n");
  client.send(concat("GET /v1/models HTTP/1.1\r\n", head, "\r\n"));
  CHECK(client.read_until(is_whole_message).find("\"object\":\"list\"") != std::string::npos);
  client.send(concat("GET /v1/models?limit=1000 HTTP/1.1\r\nanthropic-version: 2023-06-01\r\n",
                     head, "\r\n"));
  CHECK(client.read_until(is_whole_message).find("\"has_more\":false") != std::string::npos);
  client.send(concat("GET /v1/models/m HTTP/1.1\r\n", head, "\r\n"));
  CHECK(client.read_until(is_whole_message).find("\"id\":\"m\"") != std::string::npos);
}

}  // namespace
}  // namespace hw::gateway
