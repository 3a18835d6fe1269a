// Fuzzing of one dialect: any bytes as a request, as a stream in any pieces and as a whole answer,
// each said in both other dialects. What is written is JSON, and a stream's cuts change nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "http/sse.h"
#include "json/check.h"
#include "json/scan.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"
#include "translate/stream_translator.h"
#include "translate/trimmed_body.h"

namespace hw::translate {

// The input's first byte says what the rest is, the second how large a stream's pieces are.
class DialectFuzzing {
 public:
  explicit DialectFuzzing(Dialect from) : from_(from) {}

  void run(const uint8_t* data, size_t size) const {
    if (size < 2) return;
    const std::string body(reinterpret_cast<const char*>(data) + 2, size - 2);
    if (data[0] % 3 == 0) try_trim(body);
    for (const Dialect to :
         {Dialect::kOpenaiChat, Dialect::kOpenaiResponses, Dialect::kAnthropicMessages}) {
      if (to == from_) continue;
      switch (data[0] % 3) {
        case 0:
          try_request(body, to);
          break;
        case 1:
          try_stream(body, 1 + data[1] % 64, to);
          break;
        case 2:
          try_answer(body, to);
          break;
      }
    }
  }

 private:
  // Tools of every sort, so that answers are turned back.
  struct Asked {
    Request request;
    Asked() {
      Tool& custom = request.tools.emplace_back();
      custom.kind = Tool::Kind::kCustom;
      custom.name = Text::plain("patch");
      Tool& inner = request.tools.emplace_back();
      inner.name = Text::plain("close");
      inner.name_space = Text::plain("agents");
    }
  };

  static Reply reply() {
    Reply reply;
    reply.model = "model";
    reply.request_id = "req_0123456789abcdef";
    reply.include_usage = true;
    reply.encrypted_reasoning = true;
    reply.tools = ToolNames(Asked().request);
    return reply;
  }

  // What is cut out of a body leaves a body that says the rest, and nothing more is to be cut.
  void try_trim(const std::string& body) const {
    const bool valid = json::is_json_object(body);
    const std::vector<std::string> some = {"tools", "system"};
    for (const std::vector<std::string>& fields : {std::vector<std::string>(), some}) {
      const std::optional<TrimmedBody> left = trim(from_, body, fields);
      if (!left || !valid) continue;
      HW_ASSERT(json::is_json_object(left->body) && !left->lossy.empty());
      HW_ASSERT(!trim(from_, left->body, fields));
    }
  }

  void try_request(const std::string& body, Dialect to) const {
    Request request;
    const Status read = read_request(from_, body, request);
    if (!read) {
      HW_ASSERT(read.error().code == ErrorCode::kBadRequest && !read.error().message.empty());
      return;
    }
    Fidelity fidelity(from_, to);
    Target target;
    target.model = "up";
    std::string out;
    write_request(to, request, target, fidelity, out);
    HW_ASSERT(!fidelity.status() || json::is_json_object(out));
    for (const std::string& mark : fidelity.lossy()) HW_ASSERT(!mark.empty());
  }

  std::string translated(std::string_view stream, size_t piece, Dialect to) const {
    const Reply told = reply();
    Fidelity fidelity(from_, to);
    StreamTranslator translator(from_, to, told, fidelity);
    std::string out;
    for (size_t at = 0; at < stream.size(); at += piece) {
      if (!translator.feed(stream.substr(at, piece), out)) return out;
    }
    translator.end(out);
    return out;
  }

  void try_stream(std::string_view stream, size_t piece, Dialect to) const {
    const std::string whole = translated(stream, stream.size() + 1, to);
    HW_ASSERT(translated(stream, piece, to) == whole);
    http::SseScanner scanner;
    http::SseEvent event;
    std::string_view rest = whole;
    int64_t open = -1, next = 0;
    while (scanner.next(rest, event).value_or(false)) {
      HW_ASSERT(event.data == "[DONE]" || json::is_json_object(event.data));
      if (to == Dialect::kAnthropicMessages) check_block(event, open, next);
    }
  }

  // Blocks of messages follow each other, numbered without holes.
  static void check_block(const http::SseEvent& event, int64_t& open, int64_t& next) {
    if (!event.type.starts_with("content_block_")) return;
    json::Document document;
    HW_ASSERT(document.open(event.data));
    const auto index = document.root().find("index").integer();
    if (event.type == "content_block_start") {
      HW_ASSERT(open == -1 && index == next);
      open = next++;
    } else {
      HW_ASSERT(open != -1 && index == open);
      if (event.type == "content_block_stop") open = -1;
    }
  }

  void try_answer(const std::string& body, Dialect to) const {
    Events events;
    if (!read_answer(from_, body, events)) return;
    const Reply told = reply();
    Fidelity fidelity(from_, to);
    std::string out;
    write_answer(to, events, told, fidelity, out);
    HW_ASSERT(json::is_json_object(out));
  }

  Dialect from_;
};

}  // namespace hw::translate
