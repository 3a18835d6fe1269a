// ChatBlocks: makes blocks of what chat says in one message: members beside each other, in a stream
// in pieces that mix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/progress.h"
#include "json/scan.h"
#include "neutral/event.h"
#include "neutral/reasoning_details.h"

namespace hw::translate {

// Of one answer. Text, thinking and refusal follow each other; a call of a tool ends when something
// else begins and its arguments are complete, so that calls overlap only where their pieces mix.
class ChatBlocks {
 public:
  // More calls than this in one answer are left out.
  static constexpr size_t kCallsMax = 1024;
  // About how much of a call's arguments is held until its name comes; the rest is left out.
  static constexpr size_t kHeldBytesMax = size_t{64} * 1024;

  // The answer's id, of which ids of calls are made that have none.
  void set_id(const Text& id) { id_ = id.str(); }
  // A `message` or a `delta`.
  void read_message(json::Object message, Events& out);
  // `logprobs` of a choice.
  void read_logprobs(json::Object logprobs, Events& out);
  // Whether `block` is the text, thinking or refusal that the next piece may continue.
  bool flows(uint32_t block) const { return flowing_ && flow_block_ == block; }
  // Whether the last message was read for its texts alone: it had no details and no calls.
  bool said_only_text() const { return only_text_; }
  // Ends all blocks, and the answer by `finish_reason`; `stop` is what vLLM and SGLang tell beside
  // it, a stop sequence or something else.
  void finish(std::string_view finish_reason, const json::Value& stop, Events& out);

 private:
  // A call that has begun, or is to begin once its name is known.
  struct Call {
    int64_t index = 0;
    ToolKind tool_kind = ToolKind::kFunction;
    std::string id, held;  // held: arguments that came before the name
    uint32_t block = 0;
    bool begun = false;
    bool ended = false;
    json::Progress progress;
  };
  struct CallPiece;

  void read_content(const json::Value& content, Events& out);
  void read_details(const json::Value& details, bool with_text, Events& out);
  void read_annotations(json::Array annotations, Events& out);
  void read_calls(json::Array calls, Events& out);
  void read_function_call(json::Object function, Events& out);
  void say(BlockKind kind, const Text& text, Events& out);
  void open(BlockKind kind, Events& out);
  void close(Events& out);
  Call* call_of(const CallPiece& piece);
  void take_piece(Call& call, const CallPiece& piece, Events& out);
  void begin_call(Call& call, const Text& name, Events& out);
  void say_arguments(Call& call, const Text& text, Events& out);
  void end_calls(bool also_incomplete, Events& out);

  std::string id_;
  uint32_t next_block_ = 0;
  bool only_text_ = false;
  bool flowing_ = false;  // a block of text, thinking or refusal is open: flow_block_
  BlockKind flow_ = BlockKind::kText;
  uint32_t flow_block_ = 0;
  ReasoningDetails details_;
  std::vector<Call> calls_;
};

}  // namespace hw::translate
