#include "engine/request.h"

namespace hw::engine {

Record record_of(const scheduler::Sequence& sequence) {
  Record record;
  record.prompt_tokens = sequence.prompt_tokens;
  record.output_tokens = sequence.output_tokens();
  record.cached_tokens = sequence.cached_tokens;
  record.preemptions = sequence.preemptions;
  record.waits = sequence.waits;
  record.total_ns = *sequence.finished - sequence.arrived;
  if (sequence.admitted) record.queue_ns = *sequence.admitted - sequence.arrived;
  if (sequence.first_token) {
    record.prefill_ns = *sequence.first_token - *sequence.admitted;
    record.first_token_ns = *sequence.first_token - sequence.arrived;
    record.decode_ns = sequence.last_token - *sequence.first_token;
  }
  return record;
}

}  // namespace hw::engine
