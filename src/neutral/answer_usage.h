// AnswerUsage: what an answer says about tokens, and an estimate where it says nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neutral/stream_writer.h"
#include "wire/usage.h"

namespace hw::translate {

class AnswerUsage {
 public:
  // `reply` outlives it.
  explicit AnswerUsage(const Reply& reply) : reply_(reply) {}

  // What the upstream told; the last report counts.
  void take(const wire::Usage& usage) {
    if (usage.told) told_ = usage;
  }
  // Bytes of generated text, for the estimate.
  void count(size_t bytes) { output_bytes_ += bytes; }
  // As told, else estimated: input and output only, and not `told`.
  wire::Usage known() const {
    if (told_.told) return told_;
    wire::Usage estimate;
    estimate.input = reply_.input_estimate;
    estimate.output = wire::estimated_tokens(output_bytes_);
    return estimate;
  }

 private:
  const Reply& reply_;
  wire::Usage told_;
  uint64_t output_bytes_ = 0;
};

}  // namespace hw::translate
