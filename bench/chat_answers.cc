#include "chat_answers.h"

#include <charconv>

namespace hw::bench {
namespace {

constexpr std::string_view kChunkBegin =
    R"(data: {"id":"chatcmpl-9xYzBench","object":"chat.completion.chunk","created":1767225600,)"
    R"("model":"bench-1","system_fingerprint":"fp_1","choices":)";

void append_number(std::string& out, int64_t value, int base = 10) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, value, base).ptr;
  out.append(digits, end);
}

void append_chunked(std::string& out, std::string_view payload) {
  append_number(out, static_cast<int64_t>(payload.size()), 16);
  out.append("\r\n").append(payload).append("\r\n");
}

std::string with_head(std::string_view content_type, std::string_view body) {
  std::string answer = "HTTP/1.1 200 OK\r\nContent-Type: ";
  answer.append(content_type);
  answer +=
      "\r\nx-request-id: req_0123456789abcdef\r\nopenai-processing-ms: 12\r\nContent-Length: ";
  append_number(answer, static_cast<int64_t>(body.size()));
  return answer.append("\r\n\r\n").append(body);
}

std::string make_completion() {
  constexpr size_t kTextUntil = 880;  // makes a body of about 1,000 bytes
  std::string body =
      R"({"id":"chatcmpl-9xYzBench","object":"chat.completion","created":1767225600,)"
      R"("model":"bench-1","choices":[{"index":0,"message":{"role":"assistant","content":")";
  while (body.size() < kTextUntil) body += "the quick brown fox ";
  body += R"("},"logprobs":null,"finish_reason":"stop"}],)";
  body += R"("usage":{"prompt_tokens":320,"completion_tokens":160,"total_tokens":480}})";
  return with_head("application/json", body);
}

}  // namespace

std::string_view completion_answer() {
  static const std::string answer = make_completion();
  return answer;
}

std::string_view models_answer() {
  static const std::string answer =
      with_head("application/json", R"({"object":"list","data":[{"id":"bench","object":"model",)"
                                    R"("created":1767225600,"owned_by":"bench"}]})");
  return answer;
}

std::string_view stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
         "x-request-id: req_0123456789abcdef\r\nopenai-processing-ms: 12\r\n"
         "Transfer-Encoding: chunked\r\n\r\n";
}

void append_first_token(std::string& out, int64_t sent_ns, int64_t received_ns) {
  std::string event(kChunkBegin);
  event += R"([{"index":0,"delta":{"role":"assistant","content":" T)";
  append_number(event, sent_ns);
  event += 'R';
  append_number(event, received_ns);
  event += "\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
  append_chunked(out, event);
}

void append_token(std::string& out, int64_t sent_ns) {
  thread_local std::string event;
  event = kChunkBegin;
  event += R"([{"index":0,"delta":{"content":" T)";
  append_number(event, sent_ns);
  event += "\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
  append_chunked(out, event);
}

void append_stream_end(std::string& out, UsageChunk usage, int64_t tokens) {
  std::string event(kChunkBegin);
  event += "[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n";
  append_chunked(out, event);
  if (usage == UsageChunk::kAppended) {
    event = kChunkBegin;
    event += R"([],"usage":{"prompt_tokens":320,"completion_tokens":)";
    append_number(event, tokens);
    event += ",\"total_tokens\":";
    append_number(event, 320 + tokens);
    event += "}}\n\n";
    append_chunked(out, event);
  }
  append_chunked(out, "data: [DONE]\n\n");
  out += "0\r\n\r\n";
}

}  // namespace hw::bench
