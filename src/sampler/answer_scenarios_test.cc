// Scenarios of what servers do, in all dialects: framings, failures, statuses, foreign bodies. Each
// row is checked for its outcome and its stamps.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "sampler/answer_recorder.h"
#include "sampler/scripted_stream.h"

namespace hw::sampler {
namespace {

using runs::Record;
using runs::RequestOutcome;
using Pieces = std::vector<std::string>;

// What is expected of a scenario. Times are the numbers of the reads, from 1 (the head).
struct Expected {
  RequestOutcome outcome = RequestOutcome::kOk;
  std::string error_class = {};
  size_t tokens = 3;
  Nanos first_token = 3;  // 0: not looked at
  std::string mark = {};
};

struct Scenario {
  std::string name;
  Pieces reads;  // the first one has the head
  AnswerEnd end = AnswerEnd::kClosed;
  Expected expected = {};
  Delivery delivery = Delivery::kStreamed;
};

std::string head(int status, std::string_view type, std::string_view more = "") {
  return concat("HTTP/1.1 ", status, " Word\r\ncontent-type: ", type, "\r\n", more, "\r\n");
}
std::string stream_head(std::string_view more = "connection: close\r\n") {
  return head(200, "text/event-stream", more);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}
std::string chunk(std::string_view payload) {
  std::string out;
  http::append_chunk(out, payload);
  return out;
}

// The usual stream, in reads: head, opening, three tokens, end.
Pieces usual(const ScriptedStream& say) {
  return {stream_head(), say.opening(), say.text("a"),
          say.text("b"), say.text("c"), say.finish(3) + say.done()};
}
Pieces mapped(Pieces reads, const std::function<std::string(const std::string&)>& change) {
  for (size_t i = 1; i < reads.size(); ++i) reads[i] = change(reads[i]);
  return reads;
}
Pieces cut_after(Pieces reads, size_t count) {
  reads.resize(count);
  return reads;
}
Pieces with(Pieces reads, size_t at, std::string_view bytes) {
  reads.insert(reads.begin() + static_cast<std::ptrdiff_t>(at), std::string(bytes));
  return reads;
}
std::string joined(const Pieces& reads) {
  std::string out;
  for (const std::string& read : reads) out += read;
  return out;
}
Pieces single_bytes(const Pieces& reads) {
  Pieces out;
  for (const char c : joined(reads)) out.emplace_back(1, c);
  return out;
}

std::vector<Scenario> framings(const ScriptedStream& say) {
  const Pieces reads = usual(say);
  const auto ok = [](Nanos first, size_t tokens = 3) {
    return Expected{RequestOutcome::kOk, "", tokens, first};
  };
  Pieces chunked = mapped(reads, chunk);
  chunked[0] = stream_head("transfer-encoding: chunked\r\n");
  chunked.back() += http::kLastChunk;
  const std::string body = joined(Pieces(reads.begin() + 1, reads.end()));
  Pieces sized = reads;
  sized[0] = stream_head(concat("content-length: ", body.size(), "\r\n"));
  return {
      {"lines end in LF", reads, AnswerEnd::kClosed, ok(3)},
      {"lines end in CRLF",
       mapped(reads, [](const std::string& s) { return replaced(s, "\n", "\r\n"); }),
       AnswerEnd::kClosed, ok(3)},
      {"lines end in CR",
       mapped(reads, [](const std::string& s) { return replaced(s, "\n", "\r"); }),
       AnswerEnd::kClosed, ok(3)},
      {"no blank behind the colon",
       mapped(reads, [](const std::string& s) { return replaced(s, "data: ", "data:"); }),
       AnswerEnd::kClosed, ok(3)},
      {"a byte order mark", with(reads, 1, "\xEF\xBB\xBF"), AnswerEnd::kClosed, ok(4)},
      {"comments between events",
       mapped(reads, [](const std::string& s) { return ": keep-alive\n\n" + s; }),
       AnswerEnd::kClosed, ok(3)},
      {"ids and retry times",
       mapped(reads, [](const std::string& s) { return "id: 5\nretry: 10\n" + s; }),
       AnswerEnd::kClosed, ok(3)},
      {"data on two lines",
       mapped(reads,
              [](const std::string& s) {
                return replaced(s, R"("choices":)", "\ndata: \"choices\":");
              }),
       AnswerEnd::kClosed, ok(3)},
      {"every byte a read", single_bytes(reads), AnswerEnd::kClosed, ok(0)},
      {"all in one read", {joined(reads)}, AnswerEnd::kClosed, ok(1)},
      {"chunked, a chunk each event", chunked, AnswerEnd::kComplete, ok(3)},
      {"chunked, every byte a read", single_bytes(chunked), AnswerEnd::kComplete, ok(0)},
      {"chunked, all in one read", {joined(chunked)}, AnswerEnd::kComplete, ok(1)},
      {"with a length", sized, AnswerEnd::kComplete, ok(3)},
      {"an informational head first",
       [&] {
         Pieces early = reads;
         early[0] = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + early[0];
         return early;
       }(),
       AnswerEnd::kClosed, ok(3)},
      {"a pause of pings before the first token",
       with(with(reads, 2, ": ping\n\n"), 2, "event: ping\ndata: {\"type\": \"ping\"}\n\n"),
       AnswerEnd::kClosed, ok(5)},
      {"an empty piece is no token", with(reads, 2, say.text("")), AnswerEnd::kClosed, ok(4)},
      {"a blank is a token", with(reads, 2, say.text(" ")), AnswerEnd::kClosed, ok(3, 4)},
      {"an escaped line end is a token", with(reads, 2, say.text("\\n")), AnswerEnd::kClosed,
       ok(3, 4)},
  };
}

std::vector<Scenario> failures(const ScriptedStream& say) {
  const Pieces reads = usual(say);
  const auto failed = [](RequestOutcome outcome, std::string word, size_t tokens) {
    return Expected{outcome, std::move(word), tokens, tokens > 0 ? 3 : 0};
  };
  using enum RequestOutcome;
  Pieces torn = mapped(reads, chunk);
  torn[0] = stream_head("transfer-encoding: chunked\r\n");
  Pieces bad_chunk = cut_after(torn, 4);
  bad_chunk.emplace_back("zz\r\nx\r\n");
  Pieces gzip = reads;
  gzip[0] = stream_head("content-encoding: gzip\r\nconnection: close\r\n");
  return {
      {"a failure after tokens", with(cut_after(reads, 5), 5, say.failure()), AnswerEnd::kClosed,
       failed(kStreamError, "overloaded_error", 3)},
      {"a failure before any token", with(cut_after(reads, 2), 2, say.failure()),
       AnswerEnd::kClosed, failed(kStreamError, "overloaded_error", 0)},
      {"a failure, then an end in good order", with(reads, 5, say.failure()), AnswerEnd::kClosed,
       failed(kStreamError, "overloaded_error", 3)},
      {"a failure in an event without its blank line",
       with(cut_after(reads, 5), 5, say.failure().substr(0, say.failure().size() - 1)),
       AnswerEnd::kClosed, failed(kStreamError, "overloaded_error", 3)},
      {"closed after tokens", cut_after(reads, 5), AnswerEnd::kClosed,
       failed(kStreamError, "truncated", 3)},
      {"closed inside an event", with(cut_after(reads, 4), 4, say.text("c").substr(0, 12)),
       AnswerEnd::kClosed, failed(kStreamError, "truncated", 2)},
      {"closed before any token", cut_after(reads, 2), AnswerEnd::kClosed,
       failed(kStreamError, "truncated", 0)},
      {"closed after comments only",
       {stream_head(), ": ping\n\n"},
       AnswerEnd::kClosed,
       failed(kStreamError, "truncated", 0)},
      {"reset after tokens", cut_after(reads, 5), AnswerEnd::kReset,
       Expected{kStreamError, "truncated", 3, 3, "reset"}},
      {"the last chunk is missing after tokens", cut_after(torn, 5), AnswerEnd::kClosed,
       failed(kStreamError, "truncated", 3)},
      {"a chunk size that is none", bad_chunk, AnswerEnd::kClosed,
       failed(kProtocolError, "framing", 2)},
      {"no token at all",
       {stream_head(), say.opening(), say.finish(0) + say.done()},
       AnswerEnd::kClosed,
       failed(kEmpty, "no_token", 0)},
      {"no body",
       {stream_head("content-length: 0\r\n")},
       AnswerEnd::kComplete,
       failed(kEmpty, "no_body", 0)},
      {"time is up before the first token", cut_after(reads, 2), AnswerEnd::kTimeout,
       failed(kTimeout, "total", 0)},
      {"time is up between tokens", cut_after(reads, 4), AnswerEnd::kTimeout,
       failed(kTimeout, "total", 2)},
      {"time is up before the head", {}, AnswerEnd::kTimeout, failed(kTimeout, "total", 0)},
      {"cancelled between tokens", cut_after(reads, 4), AnswerEnd::kCancelled,
       failed(kCancelled, "", 2)},
      {"closed before the head", {}, AnswerEnd::kClosed, failed(kConnectError, "closed", 0)},
      {"reset before the head", {}, AnswerEnd::kReset, failed(kConnectError, "reset", 0)},
      {"closed inside the head",
       {"HTTP/1.1 200 OK\r\nconte"},
       AnswerEnd::kClosed,
       failed(kProtocolError, "not_http", 0)},
      {"no HTTP",
       {"SSH-2.0-OpenSSH_9.2\r\n\r\n"},
       AnswerEnd::kClosed,
       failed(kProtocolError, "not_http", 0)},
      {"encoded though nobody asked", gzip, AnswerEnd::kClosed,
       failed(kProtocolError, "encoded", 0)},
      {"a page in HTML",
       {head(200, "text/html", "connection: close\r\n"), "<html>login</html>"},
       AnswerEnd::kClosed,
       failed(kProtocolError, "not_json", 0)},
      {"text that is no stream",
       {head(200, "text/plain", "connection: close\r\n"), "hello there"},
       AnswerEnd::kClosed,
       failed(kProtocolError, "not_a_stream", 0)},
      {"a whole answer where a stream was asked for",
       {head(200, "application/json", "connection: close\r\n"), say.whole(3)},
       AnswerEnd::kClosed,
       failed(kProtocolError, "not_a_stream", 0)},
      {"an error as JSON with status 200",
       {head(200, "application/json", "connection: close\r\n"),
        R"({"type":"error","error":{"type":"overloaded_error","message":"no room"}})"},
       AnswerEnd::kClosed,
       failed(kStreamError, "overloaded_error", 0)},
  };
}

std::vector<Scenario> endings(const ScriptedStream& say) {
  const Pieces reads = usual(say);
  const Expected ok = {RequestOutcome::kOk, "", 3, 3};
  const Expected unclean = {RequestOutcome::kOk, "", 3, 3, "unclean_end"};
  Pieces open = mapped(reads, chunk);
  open[0] = stream_head("transfer-encoding: chunked\r\n");
  std::vector<Scenario> out = {
      {"the connection stays open behind the last event", open, AnswerEnd::kTimeout, unclean},
      {"reset behind the last event", open, AnswerEnd::kReset, unclean},
      {"the last chunk is missing behind the last event", open, AnswerEnd::kClosed, unclean},
  };
  if (!say.has_done()) return out;
  Pieces quiet = reads;
  quiet.back() = say.finish(3);
  out.push_back({"no [DONE], but a reason for the end", quiet, AnswerEnd::kClosed,
                 Expected{RequestOutcome::kOk, "", 3, 3, "no_done"}});
  Pieces bare = reads;
  bare.back() = say.done();
  out.push_back({"[DONE] without usage", bare, AnswerEnd::kClosed, ok});
  return out;
}

std::vector<Scenario> statuses(const ScriptedStream& say) {
  std::vector<Scenario> out;
  for (const int status : {302, 400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 529}) {
    const bool limited = status == 429;
    out.push_back({concat("status ", status),
                   {head(status, "application/json", "connection: close\r\n"),
                    R"({"error":{"type":"t","message":"m"}})"},
                   AnswerEnd::kClosed,
                   Expected{limited ? RequestOutcome::kRateLimited : RequestOutcome::kHttpError,
                            concat("http_", status), 0, 0}});
  }
  out.push_back({"a status with events in its body",
                 {head(500, "text/event-stream", "connection: close\r\n"), say.text("a")},
                 AnswerEnd::kClosed,
                 Expected{RequestOutcome::kHttpError, "http_500", 0, 0}});
  return out;
}

std::vector<Scenario> whole_answers(const ScriptedStream& say) {
  const auto whole = [&](std::string name, std::string type, std::string body, AnswerEnd end,
                         Expected expected) {
    return Scenario{std::move(name),
                    {head(200, type, concat("content-length: ", body.size(), "\r\n")), body},
                    end,
                    std::move(expected),
                    Delivery::kWhole};
  };
  using enum RequestOutcome;
  std::vector<Scenario> out = {
      whole("an answer in one piece", "application/json", say.whole(3), AnswerEnd::kComplete,
            {kOk, "", 0, 0}),
      whole("no answer in the JSON", "application/json", R"({"ok":true})", AnswerEnd::kComplete,
            {kProtocolError, "not_an_answer", 0, 0}),
      whole("broken JSON", "application/json", say.whole(3).substr(0, 30), AnswerEnd::kComplete,
            {kProtocolError, "not_json", 0, 0}),
      whole("an error in the JSON", "application/json", R"({"error":{"type":"bad","message":"m"}})",
            AnswerEnd::kComplete, {kStreamError, "bad", 0, 0}),
      whole("nothing", "application/json", "", AnswerEnd::kComplete, {kEmpty, "no_body", 0, 0}),
  };
  Scenario cut = out.front();
  cut.name = "a piece that is missing its end";
  cut.reads[1].resize(10);
  cut.expected = {kStreamError, "truncated", 0, 0};
  cut.end = AnswerEnd::kClosed;
  out.push_back(cut);
  return out;
}

void check_order(const Record& record) {
  Nanos last = 0;
  for (const runs::TokenEvent& token : record.tokens) {
    CHECK(token.at >= last);
    last = token.at;
  }
  if (record.t_done) CHECK(*record.t_done >= last);
  if (record.t_frame && !record.tokens.empty()) CHECK(*record.t_frame <= record.tokens[0].at);
  CHECK(record.t_close.value_or(0) >= last);
}

void check(Dialect dialect, const Scenario& scenario) {
  CAPTURE(dialect_name(dialect));
  CAPTURE(scenario.name);
  Record record;
  http::ResponseHead scratch;
  AnswerRecorder recorder(dialect, scenario.delivery, record, scratch);
  Nanos at = 0;
  bool going = true;
  for (const std::string& read : scenario.reads) {
    ++at;
    if (going) going = recorder.take(read, at);
  }
  recorder.finish(going ? scenario.end : AnswerEnd::kComplete, "total", at + 1);
  const Expected& expected = scenario.expected;
  CHECK(runs::outcome_name(record.outcome) == runs::outcome_name(expected.outcome));
  CHECK(record.error_class == expected.error_class);
  CHECK(record.tokens.size() == expected.tokens);
  if (expected.first_token > 0 && !record.tokens.empty()) {
    CHECK(record.tokens.front().at == expected.first_token);
  }
  if (!expected.mark.empty()) CHECK(record.has_mark(expected.mark));
  const bool counted = record.outcome == RequestOutcome::kOk;
  CHECK(record.n_out.has_value() >= counted);
  check_order(record);
}

TEST_CASE("every scenario has its outcome, its class and its stamps in every dialect") {
  size_t scenarios = 0;
  for (const Dialect dialect : kTimedDialects) {
    const ScriptedStream say(dialect);
    for (const auto& make : {framings, failures, endings, statuses, whole_answers}) {
      for (const Scenario& scenario : make(say)) {
        check(dialect, scenario);
        ++scenarios;
      }
    }
  }
  CHECK(scenarios >= 90);
}

}  // namespace
}  // namespace hw::sampler
