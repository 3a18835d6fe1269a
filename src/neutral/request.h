// Request: what a client asks of a model, in no dialect: what the readers of the three dialects
// make of a body, and what their writers make a body of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.h"
#include "neutral/fidelity.h"
#include "neutral/text.h"

namespace hw::translate {

// Who speaks. Results of tools are parts of a user turn, whatever the dialect calls their message.
enum class Role : uint8_t { kSystem, kDeveloper, kUser, kAssistant };

// Where the bytes of an image, a document or a sound are.
struct Media {
  enum class Kind : uint8_t {
    kNone,
    kUrl,     // `data` is a URL (never a data: URL; readers take those apart)
    kBase64,  // `data` is base64
    kText,    // `data` is the document's text
    kFile,    // `data` is an id of a file kept by the provider
  };
  Kind kind = Kind::kNone;
  Text media_type;  // "image/png"; a sound's format is made one ("audio/wav")
  Text data;
};

// What calls a tool: its arguments are a JSON object (function), or text in a language of its own
// (custom).
enum class ToolKind : uint8_t { kFunction, kCustom };

// One piece of a turn.
struct Part {
  enum class Kind : uint8_t {
    kText,
    kRefusal,     // text: the assistant's words of refusal
    kImage,       // media, detail
    kDocument,    // media, name (file name or title), context
    kAudio,       // media
    kReasoning,   // text (may be absent: hidden), signature
    kToolCall,    // call_id, name, name_space, tool_kind, text: the arguments
    kToolResult,  // call_id, tool_kind, content, is_error
    kForeign,     // something of the reader's dialect alone: type, raw
  };
  Kind kind = Kind::kText;
  Text text;  // of a function's call: JSON text of an object; empty stands for {}
  Media media;
  Text detail;   // image: "low", "high", "auto"
  Text name;     // of the tool, of the file
  Text context;  // of a document (messages)
  Text name_space;
  ToolKind tool_kind = ToolKind::kFunction;
  Text call_id;    // as the client says it
  Text item_id;    // responses: the item's own id
  Text signature;  // reasoning: what proves it to its maker, see opaque.h; absent: there is none
  bool is_error = false;
  std::vector<Part> content;  // of a tool's result: text, images, documents, foreign parts
  Raw cache_control;          // messages
  Raw citations;              // messages: of a text; or whether a document may be cited
  Raw annotations;            // responses, chat: of a text
  Raw raw;                    // kForeign: the whole piece
  std::string_view type;      // kForeign: its type's name; lives as long as the Request
};

// Neighbours of one role are one turn's business of the writer: readers keep messages as they came.
struct Turn {
  Role role = Role::kUser;
  std::vector<Part> parts;
  Text name;  // chat: the participant's name
};

// A tool that the model may call.
struct Tool {
  enum class Kind : uint8_t {
    kFunction,
    kCustom,  // free text, perhaps bound by a grammar: `format`
    kServer,  // run by the provider (web search and the like): type, raw
  };
  Kind kind = Kind::kFunction;
  Text name;
  Text name_space;  // responses: of the namespace that it came in; flat_name() joins both
  Text description;
  Raw schema;  // JSON schema of the arguments; empty: none given
  bool strict = false;
  bool deferred = false;  // messages: defer_loading
  Raw format;             // custom: type, syntax, definition
  Raw cache_control;
  Raw raw;
  std::string_view type;
  // Members that the model has no place for, by name ("eager_input_streaming").
  std::vector<std::string_view> others;
};

// Which tools the model may or must call.
struct ToolChoice {
  // What is asked of it.
  enum class Kind : uint8_t {
    kAbsent,
    kAuto,
    kNone,
    kRequired,  // any tool, at least one
    kNamed,     // `name`
  };
  Kind kind = Kind::kAbsent;
  Text name;
  Text name_space;
  ToolKind tool_kind = ToolKind::kFunction;
  std::optional<bool> parallel;  // more than one call at once
  // OpenAI's allowed_tools: only these may be called; empty: all.
  std::vector<Text> allowed;
};

// How much to think before answering.
struct Thinking {
  enum class Kind : uint8_t { kAbsent, kOff, kOn, kAdaptive };
  Kind kind = Kind::kAbsent;
  Text effort;                    // "minimal", "low", "medium", "high", "xhigh", "max"
  std::optional<int64_t> budget;  // tokens (messages)
  Text summary;                   // responses: "auto", "concise", "detailed"
  Text display;                   // messages: "omitted", "summarized", ...
};

// What the answer must look like.
struct Format {
  enum class Kind : uint8_t { kAbsent, kText, kJsonObject, kJsonSchema };
  Kind kind = Kind::kAbsent;
  Text name;
  Text description;
  Raw schema;
  std::optional<bool> strict;
};

// A field of the reader's dialect for which the model has no place.
struct OtherField {
  std::string_view name;  // a path as in fidelity.h, "top_a" or "messages[].content[].foo"
  Raw value;
  // The rule that it falls under: previous_response_id is kStoredState, background kBackground.
  Feature feature = Feature::kOtherField;
};

// What a reader takes at most; a body with more is a 400. They bound the memory of a Request, whose
// parts are larger than the shortest JSON that makes one.
inline constexpr size_t kPartsMax = 100'000;  // of all turns together; and turns
inline constexpr size_t kListedMax = 10'000;  // tools, stop sequences, other fields

// Views go into the body that was read, which must outlive the Request, or into `kept`. Not copied
// and not moved once read.
struct Request {
  Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Dialect dialect = Dialect::kOpenaiChat;  // of the body that was read
  Text model;                              // as asked for
  bool stream = false;
  std::vector<Turn> turns;  // in order, system and developer turns where they stood
  std::vector<Tool> tools;
  ToolChoice tool_choice;
  Thinking thinking;
  Format format;
  Text verbosity;

  std::optional<int64_t> max_tokens;
  std::vector<Text> stop;
  // Numbers as they were written; empty: absent.
  Raw temperature, top_p, top_k, seed, frequency_penalty, presence_penalty, top_logprobs;
  bool logprobs = false;
  Raw logit_bias;
  int64_t n = 1;

  Text user;               // chat, responses: user; messages: metadata.user_id
  Text safety_identifier;  // chat, responses
  Raw metadata;            // chat, responses: a map of strings
  Text prompt_cache_key;   // chat, responses
  Text service_tier;
  std::optional<bool> store;  // chat, responses
  // What the client said about usage in its stream (chat); absent: nothing.
  std::optional<bool> include_usage;
  // responses: reasoning is to come back with its encrypted content.
  bool include_encrypted_reasoning = false;
  std::vector<OtherField> others;

  // Keeps `text` as long as the request.
  std::string_view keep(std::string text) { return kept.emplace_back(std::move(text)); }
  std::deque<std::string> kept;
};

// The name under which an upstream is told of a tool: "space__name" of one in a namespace, and
// never more than kToolNameBytesMax (tool_names.h): a longer one is cut and made unique by a
// digest.
std::string flat_name(const Text& name_space, const Text& name);

}  // namespace hw::translate
