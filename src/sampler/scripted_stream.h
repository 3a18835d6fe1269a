// ScriptedStream: what a server would say in each dialect, for tests: the pieces of a stream by
// what they mean, so that one scenario serves all four.
#pragma once

#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/text.h"

namespace hw::sampler {

// The events of one dialect, each as the text of one server-sent event.
class ScriptedStream {
 public:
  explicit ScriptedStream(Dialect dialect) : dialect_(dialect) {}

  // What comes before any token: a role, an announcement.
  std::string opening() const {
    switch (dialect_) {
      case Dialect::kOpenaiChat:
        return event(
            "", R"({"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})");
      case Dialect::kOpenaiResponses:
        return event("response.created",
                     R"({"type":"response.created","sequence_number":0,"response":{"id":"r1"}})");
      case Dialect::kAnthropicMessages:
        return event(
                   "message_start",
                   R"({"type":"message_start","message":{"id":"m","role":"assistant","content":[],)"
                   R"("usage":{"input_tokens":7,"output_tokens":1}}})") +
               event("content_block_start", R"({"type":"content_block_start","index":0,)"
                                            R"("content_block":{"type":"text","text":""}})");
      case Dialect::kOpenaiCompletions:
      case Dialect::kOpenaiEmbeddings:
        return event("", R"({"id":"t1","choices":[{"index":0,"text":""}]})");
    }
    return "";
  }
  // A piece of the visible answer; `text` needs no escapes.
  std::string text(std::string_view text) const {
    switch (dialect_) {
      case Dialect::kOpenaiChat:
        return event("",
                     concat(R"({"choices":[{"index":0,"delta":{"content":")", text, R"("}}]})"));
      case Dialect::kOpenaiResponses:
        return event("response.output_text.delta",
                     concat(R"({"type":"response.output_text.delta","delta":")", text, R"("})"));
      case Dialect::kAnthropicMessages:
        return event("content_block_delta",
                     concat(R"({"type":"content_block_delta","index":0,)",
                            R"("delta":{"type":"text_delta","text":")", text, R"("}})"));
      case Dialect::kOpenaiCompletions:
      case Dialect::kOpenaiEmbeddings:
        return event("", concat(R"({"choices":[{"index":0,"text":")", text, R"("}]})"));
    }
    return "";
  }
  // The end in good order with `output` tokens of usage, without the very last event of chat and
  // completions.
  std::string finish(int output) const {
    switch (dialect_) {
      case Dialect::kOpenaiChat:
        return event("", R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})") +
               openai_usage(output);
      case Dialect::kOpenaiResponses:
        return event("response.completed",
                     concat(R"({"type":"response.completed","response":{"id":"r1",)",
                            R"("status":"completed","usage":{"input_tokens":7,"output_tokens":)",
                            output, "}}}"));
      case Dialect::kAnthropicMessages:
        return event("content_block_stop", R"({"type":"content_block_stop","index":0})") +
               event("message_delta",
                     concat(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},)",
                            R"("usage":{"output_tokens":)", output, "}}")) +
               event("message_stop", R"({"type":"message_stop"})");
      case Dialect::kOpenaiCompletions:
      case Dialect::kOpenaiEmbeddings:
        return event("", R"({"choices":[{"index":0,"text":"","finish_reason":"stop"}]})") +
               openai_usage(output);
    }
    return "";
  }
  // "[DONE]" where the dialect has it.
  std::string done() const { return has_done() ? event("", "[DONE]") : ""; }
  bool has_done() const {
    return dialect_ == Dialect::kOpenaiChat || dialect_ == Dialect::kOpenaiCompletions;
  }
  // A failure inside the stream, of type "overloaded_error".
  std::string failure() const {
    switch (dialect_) {
      case Dialect::kOpenaiChat:
      case Dialect::kOpenaiCompletions:
      case Dialect::kOpenaiEmbeddings:
        return event("", R"({"error":{"type":"overloaded_error","message":"no room"}})");
      case Dialect::kOpenaiResponses:
        return event("error",
                     R"({"type":"error","error":{"type":"overloaded_error","message":"no room"}})");
      case Dialect::kAnthropicMessages:
        return event("error",
                     R"({"type":"error","error":{"type":"overloaded_error","message":"no room"}})");
    }
    return "";
  }
  // A whole answer in one piece with `output` tokens of usage.
  std::string whole(int output) const {
    switch (dialect_) {
      case Dialect::kOpenaiChat:
        return concat(R"({"choices":[{"index":0,"finish_reason":"stop","message":)",
                      R"({"role":"assistant","content":"hello"}}],"usage":{"prompt_tokens":7,)",
                      R"("completion_tokens":)", output, "}}");
      case Dialect::kOpenaiResponses:
        return concat(R"({"status":"completed","output":[{"type":"message","content":)",
                      R"([{"type":"output_text","text":"hello"}]}],)",
                      R"("usage":{"input_tokens":7,"output_tokens":)", output, "}}");
      case Dialect::kAnthropicMessages:
        return concat(R"({"type":"message","content":[{"type":"text","text":"hello"}],)",
                      R"("stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":)",
                      output, "}}");
      case Dialect::kOpenaiCompletions:
      case Dialect::kOpenaiEmbeddings:
        return concat(R"({"choices":[{"index":0,"text":"hello","finish_reason":"stop"}],)",
                      R"("usage":{"prompt_tokens":7,"completion_tokens":)", output, "}}");
    }
    return "";
  }

 private:
  static std::string event(std::string_view type, std::string_view json) {
    return type.empty() ? concat("data: ", json, "\n\n")
                        : concat("event: ", type, "\ndata: ", json, "\n\n");
  }
  static std::string openai_usage(int output) {
    return event("", concat(R"({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":)",
                            output, "}}"));
  }

  const Dialect dialect_;
};

// All dialects that have tokens.
inline constexpr Dialect kTimedDialects[] = {Dialect::kOpenaiChat, Dialect::kOpenaiCompletions,
                                             Dialect::kOpenaiResponses,
                                             Dialect::kAnthropicMessages};

}  // namespace hw::sampler
