#include "store/call_json.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "journal/call_samples.h"
#include "timeline/stages.h"

namespace hw::store {
namespace {

using timeline::Call;
using Tree = nlohmann::json;

std::string json_of(const Call& call) {
  std::string out;
  append_call_json(out, call);
  return out;
}

// The sample's texts are any bytes; JSON holds UTF-8 only.
std::string printable(std::string text) {
  for (char& byte : text) byte = static_cast<char>('a' + (static_cast<unsigned char>(byte) % 26));
  return text;
}

Call printable_call(Random& random) {
  Call call = journal::sample_call(random);
  for (std::string* text :
       {&call.client_request_id, &call.key, &call.upstream_model, &call.endpoint,
        &call.error.message, &call.finish_reason, &call.engine.source, &call.credential_from}) {
    *text = printable(*text);
  }
  for (auto& attempt : call.attempts) {
    attempt.channel = printable(attempt.channel);
    attempt.error.message = printable(attempt.error.message);
    attempt.upstream_request_id = printable(attempt.upstream_request_id);
    if (attempt.status == 0) attempt.status = 200;
  }
  for (std::string& field : call.lossy) field = printable(field);
  for (auto& skipped : call.skipped) {
    skipped.channel = printable(skipped.channel);
    skipped.reason = printable(skipped.reason);
  }
  if (call.engine.source.empty()) call.engine = {};
  call.client.reused = false;  // a client's connection has no such field
  call.token_times.clear();    // not in the JSON
  return call;
}

TEST_CASE("what the docs promise of a call is in its JSON") {
  Random random(1);
  Call call = journal::typical_call(random, journal::kSampleWall, 5);
  call.engine.source = "headway";
  call.engine.queue_ns = 0;
  call.engine.prefill_ns = 1'000'000;
  call.engine.cached_tokens = 0;
  timeline::Skipped skipped;
  skipped.channel = "b";
  skipped.reason = "cooling down for 12 s after 429";
  call.skipped.push_back(skipped);
  const Tree tree = Tree::parse(json_of(call));
  for (const char* name : {"id",
                           "trace_id",
                           "key",
                           "model",
                           "upstream_model",
                           "dialect",
                           "stream",
                           "outcome",
                           "status",
                           "error",
                           "client_request_id",
                           "credential_from",
                           "lossy",
                           "enqueue_time",
                           "first_token_time",
                           "last_token_time",
                           "finish_time",
                           "total_ns",
                           "stages",
                           "skipped",
                           "attempts",
                           "engine",
                           "tokens",
                           "ttff_ns",
                           "ttft_ns",
                           "ttfo_ns",
                           "tpot_ns",
                           "gaps",
                           "client",
                           "gateway",
                           "first_token_reason"}) {
    CAPTURE(name);
    CHECK(tree.contains(name));
  }
  CHECK(tree["id"] == std::string(call.id.view()));
  CHECK(tree["outcome"] == "ok");
  CHECK(tree["dialect"] == "openai-chat");
  CHECK(tree["error"].is_null());
  CHECK(tree["client_request_id"].is_null());
  CHECK(tree["first_token_reason"].is_null());
  CHECK(tree["ttft_ns"] == timeline::ttft_ns(call));
  CHECK(tree["skipped"][0]["reason"] == "cooling down for 12 s after 429");
  const Tree& attempt = tree["attempts"][0];
  CHECK(attempt["channel"] == "local");
  CHECK(attempt["instance"] == "127.0.0.1:8000");
  CHECK(attempt["connection"]["reused"] == true);
  CHECK(attempt["connection"]["rtt_us"] == 30);
  CHECK(attempt["connection"]["retransmits"] == 0);
  CHECK(attempt["stamps"].contains("leased"));
  CHECK_FALSE(attempt["stamps"].contains("resolved"));
  CHECK(attempt["upstream_request_id"].is_null());
  CHECK(tree["engine"]["source"] == "headway");
  CHECK(tree["engine"]["queue_ns"] == 0);
  CHECK(tree["engine"]["kv_transfer_ns"].is_null());
  CHECK(tree["tokens"]["source"] == "usage");
  CHECK(tree["gaps"]["count"] == 4);
  CHECK(tree["gaps"]["longest"][0]["cause"] == "upstream");
  CHECK(tree["client"]["address"] == "127.0.0.1");
  CHECK(tree["gateway"]["overhead_ns"] == 40'000);
}

TEST_CASE("the stages in the JSON touch, begin at 0 and end at total_ns") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const Tree tree = Tree::parse(json_of(journal::sample_call(random)));
    int64_t at = 0;
    for (const Tree& stage : tree["stages"]) {
      CHECK(stage["start_ns"] == at);
      at = stage["end_ns"];
    }
    CHECK(tree["total_ns"] == at);
  }
}

TEST_CASE("what is absent is null, a call without a stream says why it has no first token") {
  Random random(2);
  Call call = journal::typical_call(random, journal::kSampleWall, 0);
  call.attempts[0].status = 0;
  Tree tree = Tree::parse(json_of(call));
  CHECK(tree["ttft_ns"].is_null());
  CHECK(tree["first_token_time"].is_null());
  CHECK(tree["first_token_reason"] == "not_streamed");
  CHECK(tree["engine"].is_null());
  CHECK(tree["gaps"]["p50_ns"].is_null());
  CHECK(tree["attempts"][0]["status"].is_null());
  Call refused;
  refused.id = call.id;
  refused.outcome = Outcome::kRejected;
  refused.status = 401;
  refused.error = {"invalid_api_key", "That is no key."};
  refused.arrived_wall = journal::kSampleWall;
  refused.stamps.set_once(timeline::ExchangeStamp::kHeadRead, 1'000'000);
  refused.stamps.set_once(timeline::ExchangeStamp::kFinished, 2'000'000);
  tree = Tree::parse(json_of(refused));
  CHECK(tree["key"].is_null());
  CHECK(tree["model"].is_null());
  CHECK(tree["attempts"].empty());
  CHECK(tree["error"]["code"] == "invalid_api_key");
  CHECK(tree["first_token_reason"] == "body_never_read");
  CHECK(tree["enqueue_time"] == "2026-01-01T00:00:00.001000Z");
  CHECK(tree["finish_time"] == "2026-01-01T00:00:00.002000Z");
}

TEST_CASE("a call comes back from its JSON, but for the token times") {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const Call call = printable_call(random);
    const Result<Call> back = parse_call_json(json_of(call));
    REQUIRE(back.has_value());
    const bool same = *back == call;
    CAPTURE(seed);
    if (!same) FAIL(json_of(call) << "\n" << json_of(*back));
  }
}

TEST_CASE("any bytes in a call give valid JSON") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const std::string text = json_of(journal::sample_call(random));
    CHECK(Tree::accept(text));
    CHECK(text.find('\n') == std::string::npos);
  }
}

TEST_CASE("what is no call is refused") {
  for (const char* text :
       {"", "null", "[]", "{}", "{\"id\":\"x\"}", "{\"id\":5}", "{", "\xff",
        "{\"id\":\"req_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"outcome\":\"fine\",\"dialect\":\"x\"}"}) {
    CAPTURE(text);
    const Result<Call> call = parse_call_json(text);
    REQUIRE_FALSE(call.has_value());
    CHECK(call.error().code == ErrorCode::kBadRequest);
  }
}

TEST_CASE("members of the wrong type are taken as absent") {
  const Result<Call> call = parse_call_json(
      "{\"id\":\"req_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"outcome\":\"ok\",\"dialect\":\"openai-chat\","
      "\"key\":7,\"status\":\"x\",\"attempts\":{},\"stamps\":[1],\"lossy\":[1,\"a\"],"
      "\"gaps\":{\"longest\":[3]},\"engine\":true,\"client\":[]}");
  REQUIRE(call.has_value());
  CHECK(call->key.empty());
  CHECK(call->status == 0);
  CHECK(call->attempts.empty());
  CHECK(call->lossy == std::vector<std::string>{"a"});
}

TEST_CASE("a line of the access log has the four time stamps and ends its line") {
  Random random(3);
  Call call = journal::typical_call(random, journal::kSampleWall, 5);
  std::string line;
  append_access_log(line, call);
  REQUIRE(line.back() == '\n');
  CHECK(line.find('\n') == line.size() - 1);
  const Tree tree = Tree::parse(line);
  for (const char* name : {"enqueue_time", "first_token_time", "last_token_time", "finish_time"}) {
    CHECK(tree[name].get<std::string>().size() == 27);
  }
  CHECK(tree["id"] == std::string(call.id.view()));
  CHECK(tree["channel"] == "local");
  CHECK(tree["error"].is_null());
  CHECK(tree["total_ms"].get<double>() ==
        doctest::Approx(static_cast<double>(call.total_ns()) / 1e6).epsilon(0.001));
  CHECK(tree["tokens_output"] == 5);
  call.stream = false;
  call.attempts.clear();
  call.error = {"timeout_total", "line\nbreak"};
  line.clear();
  append_access_log(line, call);
  CHECK(Tree::parse(line)["ttft_ms"].is_null());
  CHECK(Tree::parse(line)["channel"].is_null());
  CHECK(Tree::parse(line)["error"] == "timeout_total");
  CHECK(line.find('\n') == line.size() - 1);
}

}  // namespace
}  // namespace hw::store
