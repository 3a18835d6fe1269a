// Golden cases: each folder testdata/<dialect>.<case> holds inputs and, beside each, what wire
// makes of it. A field report becomes a folder. WIRE_GOLDEN_WRITE=1 writes the expectations anew;
// read the difference before keeping it.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "wire/answer_facts.h"
#include "wire/golden_cases.h"
#include "wire/request_facts.h"
#include "wire/stream_observer.h"
#include "wire/upstream_error.h"

namespace hw::wire {
namespace {

using Case = GoldenCase;

std::vector<Case> cases_with(std::string_view file) {
  return golden_cases("src/wire/testdata", file);
}

void check_golden(const std::filesystem::path& expectation, const std::string& actual) {
  wire::check_golden("WIRE_GOLDEN_WRITE", expectation, actual);
}

std::string_view yes(bool flag) {
  return flag ? "yes" : "no";
}

std::string show(const Usage& usage) {
  return concat("usage ", usage.told ? "told" : "none", ": input ", usage.input, " (cached ",
                usage.cached_input, ", written ", usage.cache_creation_input, "), output ",
                usage.output, " (reasoning ", usage.reasoning, ")\n");
}

std::string show(const EngineTimes& engine) {
  if (!engine.told()) return "engine none\n";
  return concat("engine ", engine.source, ": queue ", engine.queue_ns, ", prefill ",
                engine.prefill_ns, ", kv_transfer ", engine.kv_transfer_ns, ", decode ",
                engine.decode_ns, ", first_token ", engine.first_token_ns, ", cached ",
                engine.cached_tokens, "\n");
}

std::string show(const ErrorWords& words) {
  return concat("error type '", words.type, "', code '", words.code, "', message '", words.message,
                "'\n");
}

std::string show(const EventFacts& event, size_t number, size_t offset) {
  std::string out = concat(number, " ends ", offset + event.end, ":");
  if (event.token) {
    append(out, concat(" token ", token_channel_name(event.channel), " ", event.text_bytes));
  } else {
    append(out, " frame");
  }
  if (event.usage_only) append(out, " usage-only");
  if (event.terminal) append(out, " terminal");
  if (event.error) append(out, " error");
  return out + "\n";
}

std::string show(const StreamObserver& observer) {
  return concat("events ", observer.events(), ", tokens ", observer.token_events(), ", text ",
                observer.output_bytes(), " bytes\nfinished ", yes(observer.finished()),
                ", terminal ", yes(observer.terminal_seen()), ", error ",
                yes(observer.error_seen()), ", boundary ", yes(observer.at_boundary()),
                "\nfinish_reason '", observer.finish_reason(), "', id '", observer.id(), "'\n",
                show(observer.error_words()), show(observer.usage()), show(observer.engine()),
                "sequence ", observer.sequence_number(), ", response '", observer.response_object(),
                "'\n");
}

// What the observer says of the body when it comes in these pieces.
std::string observe(Dialect dialect, const std::vector<std::string_view>& pieces) {
  StreamObserver observer(dialect);
  std::string out;
  size_t offset = 0, number = 0;
  for (const std::string_view piece : pieces) {
    const auto events = observer.feed(piece);
    REQUIRE(events.has_value());
    for (const EventFacts& event : *events) append(out, show(event, ++number, offset));
    offset += piece.size();
  }
  return out + show(observer);
}

std::vector<std::string_view> bytes_of(std::string_view body) {
  std::vector<std::string_view> pieces;
  for (size_t i = 0; i < body.size(); ++i) pieces.push_back(body.substr(i, 1));
  return pieces;
}

// A stride so that at most about 250 of the split points are tried; below that all of them.
size_t stride(size_t size) {
  constexpr size_t kSplitsMax = 250;
  return size / kSplitsMax + 1;
}

}  // namespace

TEST_CASE("a stream's facts are those of its golden file, however it is split") {
  for (const Case& one : cases_with("stream.sse")) {
    CAPTURE(one.folder);
    const std::string body = read_file(one.folder / "stream.sse");
    const std::string whole = observe(one.dialect, {body});
    check_golden(one.folder / "stream.expected", whole);
    // A CRLF may be split: the event then ends one byte earlier, with its CR.
    const bool movable_ends = body.find("\r\n") != body.npos;
    const auto comparable = [&](std::string text) {
      if (!movable_ends) return text;
      std::string kept;
      for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at) + 1;
        const std::string line = text.substr(at, end - at);
        const size_t colon = line.find(':');
        kept += line.find(" ends ") != line.npos ? line.substr(colon) : line;
        at = end;
      }
      return kept;
    };
    CHECK(comparable(observe(one.dialect, bytes_of(body))) == comparable(whole));
    const std::string_view view = body;
    for (size_t at = 0; at < body.size(); at += stride(body.size())) {
      CAPTURE(at);
      CHECK(comparable(observe(one.dialect, {view.substr(0, at), view.substr(at)})) ==
            comparable(whole));
    }
  }
}

TEST_CASE("an answer's facts are those of its golden file") {
  for (const Case& one : cases_with("answer.json")) {
    CAPTURE(one.folder);
    const auto facts = scan_answer(one.dialect, read_file(one.folder / "answer.json"));
    std::string actual;
    if (facts) {
      actual = concat("answer ", yes(facts->has_answer), ", error ", yes(facts->error), ", text ",
                      facts->output_bytes, " bytes\nfinish_reason '", facts->finish_reason,
                      "', id '", facts->id, "'\n", show(facts->error_words), show(facts->usage),
                      show(facts->engine), "counted ", facts->counted_tokens, "\n");
    } else {
      actual = concat(facts.error().name(), ": ", facts.error().message, "\n");
    }
    check_golden(one.folder / "answer.expected", actual);
  }
}

TEST_CASE("an error body's words are those of its golden file") {
  constexpr std::string_view kShapes[] = {"none", "foreign", "family"};
  for (const Case& one : cases_with("error.body")) {
    CAPTURE(one.folder);
    const std::string body = read_file(one.folder / "error.body");
    const UpstreamErrorBody error = read_error_body(family_of(one.dialect), body);
    check_golden(one.folder / "error.expected",
                 concat("shape ", kShapes[static_cast<size_t>(error.shape)], "\n",
                        show(error.words), "excerpt '", excerpt(body), "'\n"));
  }
}

TEST_CASE("a request's facts are those of its golden file") {
  for (const Case& one : cases_with("request.json")) {
    CAPTURE(one.folder);
    const std::string body = read_file(one.folder / "request.json");
    RequestFacts facts;
    const Status status = scan_request(one.dialect, body, facts);
    REQUIRE_MESSAGE(status.has_value(), one.folder.string());
    RequestEdits edits(facts);
    edits.set_model("another");
    const bool asked = edits.ask_for_usage(one.dialect);
    check_golden(one.folder / "request.expected",
                 concat("model '", facts.model, "' at ", facts.model_value.offset, " size ",
                        facts.model_value.length, ", stream ", yes(facts.stream), ", max_tokens ",
                        facts.max_tokens, ", n ", facts.n, "\nmessages ", facts.messages,
                        ", tools ", facts.tools, ", prompt ", facts.prompt_bytes, " bytes, tools ",
                        facts.tool_bytes, " bytes, images ", yes(facts.images > 0), "\nsession '",
                        facts.session, "'\nasked for usage ", yes(asked),
                        "; after the edits: ", edits.splice().apply(body).substr(0, 120), "\n"));
  }
}

}  // namespace hw::wire
