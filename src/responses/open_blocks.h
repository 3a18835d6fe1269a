// OpenBlocks: the blocks of a response's stream that have begun and not ended, by item and part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "json/scan.h"
#include "neutral/event.h"
#include "responses/output_reader.h"

namespace hw::translate {

// Begins and ends blocks as the events of a stream ask for it, also where they leave some out.
// Blocks follow each other; only calls of tools may be open together.
class OpenBlocks {
 public:
  struct Open {
    int64_t item = 0;
    int64_t part = 0;
    uint32_t block = 0;
    BlockKind kind = BlockKind::kText;
    bool said = false;       // a delta came
    bool raw_words = false;  // reasoning: the model's own words, not a summary of them
  };

  // `so_far` numbers the blocks and outlives this.
  explicit OpenBlocks(OutputSoFar& so_far) : so_far_(so_far) {}

  // The open block of that kind there; null where there is none. Only texts and refusals have
  // parts.
  Open* find(int64_t item, int64_t part, BlockKind kind);
  // The same, begun where there is none; null past the limit.
  Open* ensure(int64_t item, int64_t part, BlockKind kind, Events& out);
  // Begins a call of a tool, if `object` is one.
  void begin_call(int64_t item, json::Object object, Events& out);
  // More of a block; nothing for an empty text.
  void say(Open& open, const Text& text, Events& out);
  // Ends a text or a refusal.
  void end_part(int64_t item, int64_t part, Events& out);
  // Ends what is open of an item, of which `object` tells all. False, with all other blocks but
  // calls ended, where nothing was told of it yet: then all of it is still to be read.
  bool end_item(int64_t item, json::Object object, Events& out);
  void end_all(Events& out);

 private:
  template <class Ends>
  void end_where(Ends&& ends, Events& out);

  OutputSoFar& so_far_;
  std::vector<Open> open_;
  std::vector<int64_t> told_;  // items that are not done and of which something was told
};

}  // namespace hw::translate
