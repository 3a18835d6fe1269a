#include "gateway/model_listing.h"

#include <doctest/doctest.h>

#include "gateway/running_gateway.h"

namespace hw::gateway {
namespace {

using timeline::Call;

std::string get(std::string_view path, std::string_view fields, std::string_view method = "GET") {
  return concat(method, " ", path, " HTTP/1.1\r\nHost: gw\r\n", fields, "\r\n");
}

std::string our_key() {
  return concat("x-api-key: ", kSecret, "\r\n");
}

// The value of a header of `answer`; empty where there is none.
std::string header(const std::string& answer, std::string_view name) {
  const size_t at = answer.find(concat("\r\n", name, ": "));
  if (at == std::string::npos) return {};
  const size_t from = at + 2 + name.size() + 2;
  return answer.substr(from, answer.find('\r', from) - from);
}

TEST_CASE("a listing of models has our ids and a record, also where it is refused") {
  RunningGateway running({channel_to(1)});
  const TestSocket client = TestSocket::connect(running.port());
  struct Case {
    std::string bytes;
    int status;
    std::string_view model, error;
  };
  const std::string unknown_key = "x-api-key: hw-unknown\r\n";
  const Case cases[] = {
      {get("/v1/models", our_key()), 200, "", ""},
      {get("/v1/models/m", our_key() + "anthropic-version: 2023-06-01\r\n"), 200, "m", ""},
      {get("/v1/models/a%2Fb", our_key()), 404, "a/b", "model_not_found"},
      {get("/v1/models", unknown_key), 401, "", "invalid_api_key"},
      {get("/models", ""), 401, "", "invalid_api_key"},
  };
  size_t count = 0;
  for (const Case& each : cases) {
    CAPTURE(each.bytes);
    client.send(each.bytes);
    const std::string answer = client.read_until(is_whole_message);
    CHECK(answer.find(concat("HTTP/1.1 ", each.status, " ")) == 0);
    const std::vector<Call> calls = running.sink.wait(++count);
    REQUIRE(calls.size() == count);
    const Call& call = calls.back();
    CHECK(header(answer, "x-request-id") == call.id.view());
    CHECK(header(answer, "request-id") == call.id.view());
    CHECK(header(answer, "x-headway-trace-id").size() == 32);
    CHECK(!header(answer, "server-timing").empty());
    CHECK(call.status == each.status);
    CHECK(call.outcome == (each.status == 200 ? Outcome::kOk : Outcome::kRejected));
    CHECK(call.error.code == each.error);
    CHECK(call.endpoint == "/v1/models");
    CHECK(call.model == each.model);
    CHECK(call.key == (each.status == 401 ? "" : "dev"));
    CHECK(call.attempts.empty());
    CHECK(is_conserved(call));
  }
}

TEST_CASE("a caller's trace is kept, and HEAD gets no body") {
  RunningGateway running({channel_to(1)});
  const TestSocket client = TestSocket::connect(running.port());
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  client.send(get("/v1/models",
                  concat(our_key(), "traceparent: 00-", trace, "-b7ad6b7169203331-01\r\n"),
                  "HEAD"));
  const std::string head = client.read_until(
      [](const std::string& got) { return got.find("\r\n\r\n") != std::string::npos; });
  CHECK(header(head, "x-headway-trace-id") == trace);
  CHECK(head.substr(head.find("\r\n\r\n")) == "\r\n\r\n");
  // The connection is in step: the next answer begins where that one ended.
  client.send(get("/v1/models", our_key()));
  CHECK(client.read_until(is_whole_message).find("HTTP/1.1 200") == 0);
}

TEST_CASE("stray credentials in front of ours do not hide it, however many") {
  Imposter upstream(Imposter::always(json_answer(kAnswer)));
  RunningGateway running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  std::string stray = "Authorization: Bearer sk-somebody-else\r\n";
  for (int i = 0; i < 40; ++i) stray += concat("x-litellm-api-key: stray-", i, "\r\n");
  for (int i = 0; i < 40; ++i) stray += concat("x-api-key: stray-", i, "\r\n");
  client.send(get("/v1/models", stray + our_key()));
  CHECK(client.read_until(is_whole_message).find("HTTP/1.1 200") == 0);
  client.send(concat("POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\n", stray, our_key(),
                     "Content-Length: ", kChat.size(), "\r\n\r\n", kChat));
  CHECK(client.read_until(is_whole_message).find("HTTP/1.1 200") == 0);
  for (const Call& call : running.sink.wait(2)) CHECK(call.credential_from == "x-api-key");
}

}  // namespace
}  // namespace hw::gateway
