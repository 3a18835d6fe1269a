#include "probe/stream_trace.h"

#include <doctest/doctest.h>

#include "probe/flow.h"

namespace hw::probe {
namespace {

constexpr std::string_view kStream =
    ": hello\n\n"
    "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xe4\xb8\x80\"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"}}]}\n\n"
    "data: oops\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

Exchange streamed_head() {
  Exchange out;
  out.streamed = true;
  out.status = 200;
  out.headers = {{"content-type", "text/event-stream"}};
  return out;
}

TEST_CASE("a stream is seen alike however its reads are cut") {
  for (size_t cut = 0; cut <= kStream.size(); ++cut) {
    CAPTURE(cut);
    Exchange exchange = streamed_head();
    StreamTrace trace(exchange);
    CHECK(trace.take(kStream.substr(0, cut), 10));
    CHECK(trace.take(kStream.substr(cut), 20));
    CHECK(trace.terminal_seen());
    trace.finish();
    CHECK(exchange.is_stream);
    CHECK(exchange.stream.events == 6);
    CHECK(exchange.stream.token_events == 2);
    CHECK(exchange.stream.broken_events == 1);
    CHECK(exchange.stream.broken_event == "oops");
    CHECK(exchange.stream.finished);
    CHECK(exchange.stream.finish_reason == "stop");
    CHECK(exchange.body == kStream);
    CHECK(exchange.times.terminal == (cut == kStream.size() ? 10 : 20));
  }
}

TEST_CASE("each read keeps what it brought") {
  Exchange exchange = streamed_head();
  StreamTrace trace(exchange);
  const size_t first = kStream.find("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b");
  trace.take(kStream.substr(0, first), 10);
  trace.take(kStream.substr(first), 30);
  REQUIRE(exchange.reads.size() == 2);
  CHECK(exchange.reads[0].events == 2);
  CHECK(exchange.reads[0].token_events == 1);
  CHECK(exchange.reads[1].token_events == 1);
  CHECK(exchange.times.first_token == 10);
  CHECK(exchange.times.last_token == 30);
}

TEST_CASE("JSON under a stream's label is read as JSON, and events under JSON's as events") {
  Exchange exchange = streamed_head();
  StreamTrace trace(exchange);
  trace.take(R"({"error": {"message": "no"}})", 1);
  trace.finish();
  CHECK(!exchange.is_stream);
  CHECK(exchange.reading.error_member);
  Exchange other = streamed_head();
  other.headers = {{"content-type", "application/json"}};
  StreamTrace seen(other);
  seen.take(kStream, 1);
  CHECK(other.is_stream);
}

TEST_CASE("an encoding that is unknown, or that is not what it says, is noted") {
  for (const std::string_view coding : {"x-own", "gzip"}) {
    CAPTURE(coding);
    Exchange exchange = streamed_head();
    exchange.headers.emplace_back("content-encoding", coding);
    StreamTrace trace(exchange);
    CHECK(trace.take("data: not gzip at all\n\n", 1));
    trace.finish();
    CHECK(!exchange.decoded);
    CHECK(exchange.coding == coding);
  }
}

TEST_CASE("an answer without end is given up") {
  Exchange exchange = streamed_head();
  StreamTrace trace(exchange);
  const std::string block(1u << 20, 'x');
  int taken = 0;
  while (trace.take(block, 1)) ++taken;
  CHECK(taken < 20);
  CHECK(exchange.body.size() <= kBodyBytesKept);
}

Exchange flowing(std::initializer_list<std::pair<int, unsigned>> reads_ms_tokens) {
  Exchange out;
  out.times.sent = 0;
  for (const auto& [ms, tokens] : reads_ms_tokens) {
    BodyRead read;
    read.at = ms * kMillisecond;
    read.token_events = tokens;
    out.reads.push_back(read);
    if (tokens == 0) continue;
    if (out.times.first_token < 0) out.times.first_token = read.at;
    out.times.last_token = read.at;
  }
  return out;
}

TEST_CASE("tokens one by one are steady, also where a few share a read") {
  CHECK(
      flow_of(
          flowing({{200, 1}, {220, 1}, {240, 1}, {260, 1}, {280, 1}, {300, 1}, {320, 1}, {340, 1}}))
          .kind == FlowKind::kSteady);
  CHECK(flow_of(flowing({{200, 2}, {240, 2}, {280, 3}, {320, 2}, {360, 2}})).kind ==
        FlowKind::kSteady);
}

TEST_CASE("one stall of a quick engine is no clump") {
  CHECK(flow_of(flowing({{200, 1},
                         {202, 1},
                         {204, 1},
                         {206, 1},
                         {208, 1},
                         {500, 1},
                         {502, 1},
                         {504, 1},
                         {506, 1}}))
            .kind == FlowKind::kSteady);
}

TEST_CASE("all tokens at once after a long wait are one clump; at once and soon say nothing") {
  CHECK(flow_of(flowing({{400, 24}})).kind == FlowKind::kOneClump);
  CHECK(flow_of(flowing({{400, 20}, {401, 4}})).kind == FlowKind::kOneClump);
  CHECK(flow_of(flowing({{20, 24}})).kind == FlowKind::kTooLittle);
  CHECK(flow_of(flowing({{400, 7}})).kind == FlowKind::kTooLittle);
  CHECK(flow_of(flowing({})).kind == FlowKind::kTooLittle);
}

TEST_CASE("several tokens at a time with long pauses are clumps") {
  const Flow flow = flow_of(flowing({{200, 5}, {400, 5}, {600, 5}, {800, 5}}));
  CHECK(flow.kind == FlowKind::kClumps);
  CHECK(flow.clumps == 4);
  CHECK(flow.pause_ns == 200 * kMillisecond);
}

}  // namespace
}  // namespace hw::probe
