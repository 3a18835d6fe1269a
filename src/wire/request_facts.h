// RequestFacts: what a request body asks for, read in one pass, and the edits that a gateway makes
// to it (model name, usage) without touching any other byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.h"
#include "base/result.h"

namespace hw::wire {

// A piece of a body: `offset` bytes from its start, `size` bytes long.
struct ByteRange {
  size_t offset = 0;
  size_t size = 0;
  bool empty() const { return size == 0; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// What `stream_options.include_usage` says (chat and completions).
enum class IncludeUsage : uint8_t { kAbsent, kTrue, kFalse };

// What the request asks for. Where a field occurs twice the last one wins, as in the JSON parsers
// of JavaScript and Python.
struct RequestFacts {
  std::string model;      // unescaped
  ByteRange model_value;  // of the JSON string, quotes included
  // Values of `model` keys before the one that won; set_model() replaces them too, so that an
  // upstream whose parser takes the first cannot be led to another model. At most 8.
  std::vector<ByteRange> shadowed_models;
  bool stream = false;  // absent and null are false
  IncludeUsage include_usage = IncludeUsage::kAbsent;
  int64_t max_tokens = -1;  // max_completion_tokens, max_tokens or max_output_tokens; -1 absent
  int64_t n = 1;            // answers asked for (chat, completions)
  // Messages, input items, prompts or texts to embed; a plain string counts as 1.
  size_t messages = 0;
  size_t tools = 0;
  // Bytes of text in the prompt, escapes decoded: contents, system, instructions, tool arguments
  // and results; a token id counts as 4. For estimates: tool definitions are in tool_bytes.
  size_t prompt_bytes = 0;
  size_t tool_bytes = 0;  // size of the tools array as JSON
  bool has_images = false;
  // What keeps a conversation together, for affinity: prompt_cache_key, metadata.user_id (Claude
  // Code puts its session there), conversation, previous_response_id, user, safety_identifier; the
  // first of these that is a non-empty string of at most 1024 bytes. Empty: none.
  std::string session;

  ByteRange stream_options;  // the value, empty where the field is absent
  ByteRange include_usage_value;
  bool stream_options_is_object = false;
  bool stream_options_has_members = false;
};

// Reads the facts out of the body `data[0, size)`, of which `capacity` bytes may be read (a body
// buffer has SIMD padding; without it the body is copied once). One pass; values that nobody asks
// for are skipped, not validated: the upstream judges those. kBadRequest where the body is no JSON
// object, `model` is missing or no string, or `stream` is neither a boolean nor null; the message
// names the field and what was expected. For count_tokens use kAnthropicMessages.
Status scan_request(Dialect dialect, const char* data, size_t size, size_t capacity,
                    RequestFacts& out);

// One replacement of bytes in a body. `size` 0 inserts.
struct Edit {
  size_t offset = 0;
  size_t size = 0;
  std::string text;
  friend bool operator==(const Edit&, const Edit&) = default;
};

// The changes to a body before it is sent on. Built from its facts; all other bytes stay as they
// are. One per attempt, since channels map names differently.
class RequestEdits {
 public:
  explicit RequestEdits(const RequestFacts& facts) : facts_(facts) {}
  // The name to send. Nothing is edited where it is the name that is already there.
  void set_model(std::string_view name);
  // Makes a chat or completions stream report its usage. No edit where the caller said so already,
  // or said an explicit false, or stream_options is no object. True where an edit was made: then
  // the extra chunk must be hidden from the caller (usage_filter.h).
  bool ask_for_usage();
  bool empty() const { return edits_.empty(); }
  // In the order of their offsets, not overlapping.
  const std::vector<Edit>& edits() const { return edits_; }
  // Size of the body after the edits.
  size_t size_after(size_t body_size) const;
  // The edited body, appended to `out`.
  void apply(std::string_view body, std::string& out) const;

 private:
  void add(Edit edit);
  const RequestFacts& facts_;
  std::vector<Edit> edits_;
};

}  // namespace hw::wire
