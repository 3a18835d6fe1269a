// RequestFacts: what a request body asks for, read in one pass, and the edits that a gateway makes
// to it (model name, usage) without touching any other byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/result.h"
#include "json/scan.h"
#include "json/splice.h"

namespace hw::wire {

// What `stream_options.include_usage` says (chat and completions); null counts as absent.
enum class IncludeUsage : uint8_t { kAbsent, kTrue, kFalse };

// The `stream_options` member as it stands in the body.
struct StreamOptions {
  IncludeUsage include_usage = IncludeUsage::kAbsent;
  json::Kind kind = json::Kind::kNull;  // of its value; null also where the field is absent
  bool empty = true;                    // an object without members
  json::Range value;                    // length 0: the field is absent
  json::Range include_usage_value;      // length 0: absent
};

// How often `model` may be repeated; with the winner and stream_options, what a Splice can hold.
inline constexpr size_t kShadowedModelsMax = 2;

// What the request asks for. Where a field occurs twice the last one wins, as in the JSON parsers
// of JavaScript and Python.
struct RequestFacts {
  std::string model;        // unescaped
  json::Range model_value;  // of the JSON string, quotes included
  // Values of `model` keys before the one that won. set_model() rewrites them too, so that an
  // upstream whose parser takes the first cannot be led to another model. More than
  // kShadowedModelsMax are a bad request.
  std::array<json::Range, kShadowedModelsMax> shadowed_models;
  size_t shadowed_count = 0;
  bool stream = false;      // absent and null are false
  int64_t max_tokens = -1;  // max_completion_tokens, max_tokens or max_output_tokens; -1 absent
  int64_t n = 1;            // answers asked for (chat, completions)
  // Messages, input items, prompts or texts to embed; a plain string counts as 1.
  size_t messages = 0;
  size_t tools = 0;
  // Bytes of text in the prompt as JSON writes it: contents, system, instructions, tool arguments
  // and results; a token id counts as 4. For estimates; tool definitions are in tool_bytes.
  size_t prompt_bytes = 0;
  size_t tool_bytes = 0;  // size of the tools array as JSON
  size_t images = 0;
  // What keeps a conversation together, for affinity: prompt_cache_key, metadata.user_id (Claude
  // Code puts its session there), conversation, user, safety_identifier; the
  // first of these that is a non-empty string of at most 1024 bytes. Empty: none.
  std::string session;

  StreamOptions stream_options;
  size_t object_begin = 0;  // offset of the body's first brace
};

// How many tokens the prompt may be, for who is told no usage: four bytes of text or tools a token,
// what chat templates put around a message and before the answer (OpenAI's cookbook, "How to count
// tokens": 3 or 4 and 3), and an image at what it costs at most. Whatever rests on it is marked as
// an estimate.
int64_t estimated_input(Dialect dialect, const RequestFacts& facts);

// Reads the facts out of `body`, in one pass. Values that nobody asks for are skipped, not
// validated: the upstream judges those. kBadRequest where the body is no JSON object, `model` is
// missing or no string of 1 to 512 bytes, or `stream` is neither a boolean nor null; the message
// names the field and what was expected. For count_tokens use kAnthropicMessages.
Status scan_request(Dialect dialect, std::string_view body, RequestFacts& out);

// The changes to a body before it is sent on. Built from its facts; all other bytes stay as they
// are. One per attempt, since channels map names differently.
class RequestEdits {
 public:
  explicit RequestEdits(const RequestFacts& facts) : facts_(facts) {}
  // The name to send, once. Nothing is edited where it is the name that is already there.
  void set_model(std::string_view name);
  // Makes a chat or completions stream report its usage, once. No edit where the request is no
  // stream, where the caller said so already or said an explicit false, or where stream_options is
  // no object. True where an edit was made: then the extra chunk must be hidden from the caller
  // (event_gate.h).
  bool ask_for_usage(Dialect dialect);
  // The edits, for writing: splice().segments(body).
  const json::Splice& splice() const { return splice_; }

 private:
  const RequestFacts& facts_;
  json::Splice splice_;
};

}  // namespace hw::wire
