// Golden cases: each folder tests/wire/<dialect>.<case> holds what a client asked (request.json) or
// what an upstream of that dialect answered (stream.sse, answer.json), and beside it what becomes
// of it in each other dialect. A field report becomes a folder. TRANSLATE_GOLDEN_WRITE=1 writes the
// expectations anew; read the difference before keeping it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/text.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"
#include "translate/stream_translator.h"
#include "wire/stream_observer.h"

namespace hw::translate {
namespace {

namespace fs = std::filesystem;

constexpr std::array kDialects{Dialect::kOpenaiChat, Dialect::kOpenaiResponses,
                               Dialect::kAnthropicMessages};

struct Case {
  fs::path folder;
  Dialect dialect = Dialect::kOpenaiChat;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Case> cases_with(std::string_view file) {
  std::vector<Case> cases;
  for (const auto& entry : fs::directory_iterator("tests/wire")) {
    if (!fs::exists(entry.path() / file)) continue;
    const std::string name = entry.path().filename().string();
    Case one;
    one.folder = entry.path();
    REQUIRE_MESSAGE(parse_dialect(name.substr(0, name.find('.')), one.dialect), name);
    cases.push_back(one);
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.folder < b.folder; });
  return cases;
}

void check_golden(const fs::path& expectation, const std::string& actual) {
  if (std::getenv("TRANSLATE_GOLDEN_WRITE") != nullptr) {
    std::ofstream(expectation, std::ios::binary) << actual;
    return;
  }
  CHECK_MESSAGE(read_file(expectation) == actual, expectation.string(), "\n", actual);
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
  explicit Asked(const fs::path& folder) : body(read_file(folder / "asked.json")) {
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
  for (const Case& one : cases_with("request.json")) {
    const std::string body = read_file(one.folder / "request.json");
    for (const Dialect to : kDialects) {
      if (to == one.dialect) continue;
      CAPTURE(one.folder.string());
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
    }
  }
}

TEST_CASE("every golden stream becomes what is written beside it, however it is cut") {
  for (const Case& one : cases_with("stream.sse")) {
    const std::string stream = read_file(one.folder / "stream.sse");
    for (const Dialect to : kDialects) {
      if (to == one.dialect) continue;
      CAPTURE(one.folder.string());
      Fidelity fidelity(one.dialect, to);
      const std::string whole = translate(one, to, stream, stream.size(), fidelity);
      check_golden(one.folder / concat("stream.", dialect_name(to)),
                   concat(lossy_line(fidelity), whole));
      Fidelity again(one.dialect, to);
      CHECK(translate(one, to, stream, 1, again) == whole);
      CHECK(translate(one, to, with_crlf(stream), 1, again) == whole);
    }
  }
}

TEST_CASE("a golden stream cut in two at any byte is the same stream") {
  for (const Case& one : cases_with("stream.sse")) {
    const std::string stream = read_file(one.folder / "stream.sse");
    for (const Dialect to : kDialects) {
      if (to == one.dialect) continue;
      CAPTURE(one.folder.string());
      Fidelity fidelity(one.dialect, to);
      const std::string whole = translate(one, to, stream, stream.size(), fidelity);
      for (size_t piece = 2; piece < std::min<size_t>(stream.size(), 512); ++piece)
        REQUIRE(translate(one, to, stream, piece, fidelity) == whole);
    }
  }
}

TEST_CASE("every golden answer becomes what is written beside it") {
  for (const Case& one : cases_with("answer.json")) {
    const std::string body = read_file(one.folder / "answer.json");
    for (const Dialect to : kDialects) {
      if (to == one.dialect) continue;
      CAPTURE(one.folder.string());
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
    }
  }
}

}  // namespace
}  // namespace hw::translate
