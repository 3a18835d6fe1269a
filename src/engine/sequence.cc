#include "engine/sequence.h"

namespace hw::engine {

Record record_of(const Sequence& sequence, Nanos now) {
  Record record;
  record.prompt_tokens = sequence.prompt_tokens;
  record.output_tokens = sequence.output_tokens();
  record.preemptions = sequence.preemptions;
  record.total_ns = now - sequence.arrived;
  if (sequence.scheduled) record.queue_ns = *sequence.scheduled - sequence.arrived;
  if (sequence.first_token) {
    record.prefill_ns = *sequence.first_token - *sequence.scheduled;
    record.first_token_ns = *sequence.first_token - sequence.arrived;
    record.decode_ns = *sequence.last_token - *sequence.first_token;
  }
  return record;
}

}  // namespace hw::engine
