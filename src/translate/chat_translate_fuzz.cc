// Any bytes as chat: a request, a stream in any pieces and a whole answer, each said in both other
// dialects. What is written is JSON, and a stream's cuts change nothing.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "http/sse.h"
#include "json/check.h"
#include "translate/answer_reader.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"
#include "translate/stream_translator.h"

namespace {

using namespace hw;
using namespace hw::translate;

constexpr Dialect kOthers[] = {Dialect::kOpenaiResponses, Dialect::kAnthropicMessages};

Reply reply_of(const Request* request) {
  Reply reply;
  reply.model = "model";
  reply.request_id = "req_0123456789abcdef";
  reply.encrypted_reasoning = true;
  if (request != nullptr) reply.tools = ToolNames(*request);
  return reply;
}

void try_request(const std::string& body) {
  Request request;
  const Status read = read_request(Dialect::kOpenaiChat, body, request);
  if (!read) {
    HW_ASSERT(read.error().code == ErrorCode::kBadRequest && !read.error().message.empty());
    return;
  }
  for (const Dialect to : kOthers) {
    Fidelity fidelity(Dialect::kOpenaiChat, to);
    Target target;
    target.model = "up";
    std::string out;
    write_request(to, request, target, fidelity, out);
    if (fidelity.status()) HW_ASSERT(json::is_json_object(out));
  }
}

std::string translated(std::string_view stream, size_t piece, Dialect to) {
  const Reply reply = reply_of(nullptr);
  Fidelity fidelity(Dialect::kOpenaiChat, to);
  StreamTranslator translator(Dialect::kOpenaiChat, to, reply, fidelity);
  std::string out;
  for (size_t at = 0; at < stream.size(); at += piece) {
    if (!translator.feed(stream.substr(at, piece), out)) return out;
  }
  translator.end(out);
  return out;
}

void try_stream(std::string_view stream, size_t piece) {
  for (const Dialect to : kOthers) {
    const std::string whole = translated(stream, stream.size() + 1, to);
    HW_ASSERT(translated(stream, piece, to) == whole);
    http::SseScanner scanner;
    http::SseEvent event;
    std::string_view rest = whole;
    while (scanner.next(rest, event).value_or(false)) HW_ASSERT(json::is_json_object(event.data));
  }
}

void try_answer(const std::string& body) {
  Events events;
  if (!read_answer(Dialect::kOpenaiChat, body, events)) return;
  for (const Dialect to : kOthers) {
    const Reply reply = reply_of(nullptr);
    Fidelity fidelity(Dialect::kOpenaiChat, to);
    std::string out;
    write_answer(to, events, reply, fidelity, out);
    HW_ASSERT(json::is_json_object(out));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string body(reinterpret_cast<const char*>(data) + 2, size - 2);
  switch (data[0] % 3) {
    case 0:
      try_request(body);
      break;
    case 1:
      try_stream(body, 1 + data[1] % 64);
      break;
    case 2:
      try_answer(body);
      break;
  }
  return 0;
}
