// Events: what an answer says, piece by piece, in no dialect. A stream's reader makes them of
// server-sent events, the reader of a whole answer makes the same ones of a body, and the writers
// make either of them; so a streamed answer and a whole one cannot differ in what they mean.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "neutral/request.h"
#include "neutral/text.h"
#include "wire/upstream_error.h"
#include "wire/usage.h"

namespace hw::translate {

// The answer begins. First of all events but pings and errors, and once.
struct Started {
  Text id;            // the upstream's; absent: it has none
  Text model;         // as the upstream names it
  wire::Usage usage;  // of the input, where it is known by now
};

// What a block of an answer is.
enum class BlockKind : uint8_t {
  kText,
  kReasoning,
  kToolCall,
  kRefusal,
  kForeign,  // of the upstream's dialect alone: server-side tools, generated images
};

// A block begins. Blocks are numbered from 0 in the order in which they begin, without holes. They
// follow each other, but calls of tools may overlap where an upstream mixes their fragments.
struct BlockBegun {
  uint32_t block = 0;
  BlockKind kind = BlockKind::kText;
  ToolKind tool_kind = ToolKind::kFunction;
  Text call_id;  // kToolCall: as the upstream said it
  Text name;     // kToolCall: never empty
  Text item_id;  // responses: the item's own id
  Raw raw;       // kForeign: the block as far as it is known
  std::string_view type;
};

// More of a block.
struct Delta {
  enum class Kind : uint8_t {
    kText,        // text, refusal, reasoning, or arguments: a fragment of their JSON text
    kSignature,   // reasoning: `text` is (more of) its signature, an envelope of opaque.h
    kAnnotation,  // text: `raw` is one citation in the upstream's shape
    kLogprobs,    // text: `raw` is an array of OpenAI's {token, logprob, bytes, top_logprobs}
  };
  uint32_t block = 0;
  Kind kind = Kind::kText;
  Text text;
  Raw raw;
  // Reasoning: a new section of a summary begins with this delta (responses).
  bool new_section = false;
};

// A block is complete.
struct BlockEnded {
  uint32_t block = 0;
};

// Why the answer ends.
enum class StopReason : uint8_t {
  kEnd,      // the model was done
  kLength,   // max_tokens, or the context is full
  kStop,     // a stop sequence: `stop_sequence`, where it is told
  kToolUse,  // tools are to be called
  kRefusal,  // the provider or the model refuses: content filter
  kPause,    // messages: pause_turn, the turn may be continued
};

// The answer is over but for its usage. All blocks have ended.
struct Finished {
  StopReason reason = StopReason::kEnd;
  Text stop_sequence;
};

// Tokens so far; what is reported later counts, field by field.
struct Used {
  wire::Usage usage;
};

// The upstream says that it is alive.
struct Ping {};

// The upstream reports a failure. Nothing follows.
struct Failed {
  wire::ErrorWords words;
  Family family = Family::kOpenai;  // of the upstream, in whose words it is
};

// One thing that an answer says.
using Event = std::variant<Started, BlockBegun, Delta, BlockEnded, Finished, Used, Ping, Failed>;

// Events in their order. Their views live until the next call of the reader that made them, those
// of a whole answer as long as its body; what a reader makes itself (envelopes) lives in `kept`, as
// long as the Events.
struct Events : std::vector<Event> {
  // Keeps `text` until the next clear().
  std::string_view keep(std::string text) { return kept.emplace_back(std::move(text)); }
  void clear() {
    std::vector<Event>::clear();
    kept.clear();
  }
  std::deque<std::string> kept;
};

}  // namespace hw::translate
