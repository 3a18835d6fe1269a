// Golden cases: each folder tests/wire/<dialect>.<case> holds what a client asked (request.json) or
// what an upstream of that dialect answered (stream.sse, answer.json), and beside it what becomes
// of it in each other dialect. A field report becomes a folder. TRANSLATE_GOLDEN_WRITE=1 writes the
// expectations anew; read the difference before keeping it.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"
#include "translate/stream_translator.h"
#include "wire/golden_cases.h"
#include "wire/stream_observer.h"

namespace hw::translate {
namespace {

using Case = wire::GoldenCase;
using wire::read_file;

constexpr std::array kDialects{Dialect::kOpenaiChat, Dialect::kOpenaiResponses,
                               Dialect::kAnthropicMessages};

void check_golden(const std::filesystem::path& expectation, const std::string& actual) {
  wire::check_golden("TRANSLATE_GOLDEN_WRITE", expectation, actual);
}

// Visits every case that has `file`, with what is in it, for every dialect but its own.
template <class Visit>
void each_translation(std::string_view file, Visit&& visit) {
  for (const Case& one : wire::golden_cases("tests/wire", file)) {
    CAPTURE(one.folder.string());
    const std::string input = read_file(one.folder / file);
    for (const Dialect to : kDialects) {
      if (to != one.dialect) visit(one, input, to);
    }
  }
}

// For people: indented, members in their order.
std::string pretty(const std::string& body) {
  const auto parsed = nlohmann::ordered_json::parse(body, nullptr, false);
  REQUIRE_MESSAGE(!parsed.is_discarded(), body);
  return parsed.dump(2) + "\n";
}

std::string lossy_line(const Fidelity& fidelity) {
  std::string out;
  for (const std::string& name : fidelity.lossy()) out += concat(out.empty() ? "" : ", ", name);
  return out.empty() ? out : concat("lossy: ", out, "\n");
}

// What every golden answer is told beside its events.
Reply reply_for(const Request* request) {
  Reply reply;
  reply.model = "asked-for";
  reply.request_id = "req_0123456789abcdef";
  reply.created_s = 1767225600;
  reply.include_usage = true;
  reply.encrypted_reasoning = true;
  reply.input_estimate = 7;
  if (request != nullptr) reply.tools = ToolNames(*request);
  return reply;
}

// The request whose answer the case is, where its tools matter: asked.json, in responses' dialect.
struct Asked {
  std::string body;
  Request request;
  bool there = false;
  explicit Asked(const std::filesystem::path& folder) : body(read_file(folder / "asked.json")) {
    there = !body.empty() && read_request(Dialect::kOpenaiResponses, body, request);
  }
  const Request* get() const { return there ? &request : nullptr; }
};

// The stream in pieces of `piece` bytes.
std::string translate(const Case& one, Dialect to, const std::string& stream, size_t piece,
                      Fidelity& fidelity) {
  const Asked asked(one.folder);
  const Reply reply = reply_for(asked.get());
  StreamTranslator translator(one.dialect, to, reply, fidelity);
  wire::StreamObserver observer(one.dialect);
  std::string out;
  for (size_t at = 0; at < stream.size(); at += piece) {
    const std::string_view part = std::string_view(stream).substr(at, piece);
    REQUIRE(observer.feed(part));
    REQUIRE(translator.feed(part, out));
  }
  if (observer.finished() || observer.error_seen()) {
    translator.end(out);
  } else {
    translator.fail(Error(ErrorCode::kUpstreamUnfinished, "the stream is unfinished"), out);
  }
  return out;
}

std::string with_crlf(const std::string& stream) {
  std::string out;
  for (const char c : stream) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

TEST_CASE("every golden request becomes what is written beside it, or is refused as written") {
  each_translation("request.json", [](const Case& one, const std::string& body, Dialect to) {
    Request request;
    const Status read = read_request(one.dialect, body, request);
    std::string shown;
    if (!read) {
      shown = concat("refused: ", read.error().message, "\n");
    } else {
      Fidelity fidelity(one.dialect, to);
      Target target;
      target.model = "upstream-model";
      std::string out;
      write_request(to, request, target, fidelity, out);
      shown = fidelity.status() ? concat(lossy_line(fidelity), pretty(out))
                                : concat("refused: ", fidelity.status().error().message, "\n");
    }
    check_golden(one.folder / concat("request.", dialect_name(to)), shown);
  });
}

TEST_CASE("every golden stream becomes what is written beside it, however it is cut") {
  each_translation("stream.sse", [](const Case& one, const std::string& stream, Dialect to) {
    Fidelity fidelity(one.dialect, to);
    const std::string whole = translate(one, to, stream, stream.size(), fidelity);
    check_golden(one.folder / concat("stream.", dialect_name(to)),
                 concat(lossy_line(fidelity), whole));
    Fidelity again(one.dialect, to);
    CHECK(translate(one, to, stream, 1, again) == whole);
    CHECK(translate(one, to, with_crlf(stream), 1, again) == whole);
  });
}

TEST_CASE("a golden stream cut in two at any byte is the same stream") {
  each_translation("stream.sse", [](const Case& one, const std::string& stream, Dialect to) {
    Fidelity fidelity(one.dialect, to);
    const std::string whole = translate(one, to, stream, stream.size(), fidelity);
    for (size_t piece = 2; piece < std::min<size_t>(stream.size(), 512); ++piece)
      REQUIRE(translate(one, to, stream, piece, fidelity) == whole);
  });
}

TEST_CASE("every golden answer becomes what is written beside it") {
  each_translation("answer.json", [](const Case& one, const std::string& body, Dialect to) {
    const Asked asked(one.folder);
    const Reply reply = reply_for(asked.get());
    Fidelity fidelity(one.dialect, to);
    Events events;
    const Status read = read_answer(one.dialect, body, events);
    std::string out, shown;
    if (read) write_answer(to, events, reply, fidelity, out);
    shown = read ? concat(lossy_line(fidelity), pretty(out))
                 : concat("no answer: ", read.error().message, "\n");
    check_golden(one.folder / concat("answer.", dialect_name(to)), shown);
  });
}

}  // namespace
}  // namespace hw::translate
