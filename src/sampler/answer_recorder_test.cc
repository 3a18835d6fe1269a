#include "sampler/answer_recorder.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace hw::sampler {
namespace {

using runs::Record;
using runs::RequestOutcome;

// One read: bytes, and when it returned.
struct Read {
  Nanos at;
  std::string bytes;
};

std::string head(int status, std::string_view type, std::string_view more = "") {
  return concat("HTTP/1.1 ", status, " X\r\ncontent-type: ", type, "\r\n", more, "\r\n");
}
const std::string kStream = head(200, "text/event-stream", "connection: close\r\n");

std::string event(std::string_view json) {
  return concat("data: ", json, "\n\n");
}
std::string content(std::string_view text) {
  return event(concat(R"({"choices":[{"index":0,"delta":{"content":")", text, R"("}}]})"));
}

Record record_of(Dialect dialect, Delivery delivery, const std::vector<Read>& reads,
                 AnswerEnd end = AnswerEnd::kClosed) {
  Record record;
  http::ResponseHead scratch;
  AnswerRecorder recorder(dialect, delivery, record, scratch);
  Nanos last = 0;
  bool going = true;
  for (const Read& read : reads) {
    last = read.at;
    if (going) going = recorder.take(read.bytes, read.at);
  }
  recorder.finish(going ? end : AnswerEnd::kComplete, "total", last + 1);
  return record;
}
Record chat(const std::vector<Read>& reads, AnswerEnd end = AnswerEnd::kClosed) {
  return record_of(Dialect::kOpenaiChat, Delivery::kStreamed, reads, end);
}

TEST_CASE("stamps are those of the reads that completed the events") {
  const std::string first = content("a");
  const Record record = chat({{10, kStream},
                              {20, event(R"({"choices":[{"delta":{"role":"assistant"}}]})")},
                              {30, first.substr(0, 20)},
                              {40, first.substr(20)},
                              {50, content("b")},
                              {60, event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})")},
                              {70, event(R"({"choices":[],"usage":{"prompt_tokens":7,)"
                                         R"("completion_tokens":2}})")},
                              {80, event("[DONE]")}});
  CHECK(record.outcome == RequestOutcome::kOk);
  CHECK(record.t_hdr == 10);
  CHECK(record.t_rx0 == 20);
  CHECK(record.t_frame == 20);
  REQUIRE(record.tokens.size() == 2);
  CHECK(record.tokens[0].at == 40);
  CHECK(record.tokens[1].at == 50);
  CHECK(record.t_usage == 70);
  CHECK(record.t_done == 80);
  CHECK(record.t_close == 81);
  CHECK(record.n_in == 7);
  CHECK(record.n_out == 2);
  CHECK(record.n_source == "usage");
  CHECK(record.finish_reason == "stop");
}

TEST_CASE("the record does not depend on how bytes were cut, but for its stamps") {
  const std::string all = kStream + content("a") + content("b") + event("[DONE]");
  for (size_t cut = 1; cut < all.size(); ++cut) {
    CAPTURE(cut);
    const Record record = chat({{1, all.substr(0, cut)}, {2, all.substr(cut)}});
    CHECK(record.outcome == RequestOutcome::kOk);
    CHECK(record.tokens.size() == 2);
  }
}

TEST_CASE("an answer that was cut is never ok") {
  const std::string all = kStream + content("a") + content("b");
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    CAPTURE(cut);
    const Record record = chat({{1, all.substr(0, cut)}});
    CHECK(runs::is_failed(record.outcome));
    CHECK_FALSE(record.error_class.empty());
  }
}

}  // namespace
}  // namespace hw::sampler
