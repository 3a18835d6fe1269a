#include "engine/engine_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/log.h"
#include "base/text.h"

namespace hw::engine {
namespace {

Result<int> open_file(const std::string& path) {
  if (path.empty()) return -1;
  if (path == "-") return STDERR_FILENO;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (file < 0) {
    return fail(ErrorCode::kConfig, concat("cannot write ", path, ": ", std::strerror(errno)));
  }
  return file;
}

void close_file(int file) {
  if (file >= 0 && file != STDERR_FILENO) ::close(file);
}

void field_time(std::string& out, std::string_view name, const std::optional<Nanos>& at,
                Nanos wall_offset) {
  out += concat(",\"", name, "\":");
  if (!at.has_value()) {
    out += "null";
    return;
  }
  out += '"';
  append_rfc3339(out, *at + wall_offset);
  out += '"';
}

// Milliseconds to the microsecond.
std::string ms(Nanos ns) {
  return fixed(static_cast<double>(ns) / 1e6, 3);
}

// What a caller named may hold anything.
void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  out += '"';
}

std::string_view outcome_name(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::kDone:
      return "done";
    case StepOutcome::kInterrupted:
      return "interrupted";
    case StepOutcome::kFailed:
      return "failed";
  }
  return "failed";
}

}  // namespace

EngineLog::~EngineLog() {
  close_file(requests_);
  close_file(steps_);
}

Status EngineLog::open(const std::string& requests, const std::string& steps) {
  const Result<int> first = open_file(requests);
  if (!first.has_value()) return fail(first.error());
  requests_ = *first;
  const Result<int> second = open_file(steps);
  if (!second.has_value()) return fail(second.error());
  steps_ = *second;
  return {};
}

void EngineLog::request(const std::string& id, const scheduler::Sequence& sequence,
                        Nanos wall_offset) {
  if (!has_requests()) return;
  const bool answered = sequence.output_tokens() > 0;
  std::string line = "{\"event\":\"request\",\"id\":";
  append_text(line, id);
  field_time(line, "enqueue_time", sequence.arrived, wall_offset);
  field_time(line, "first_step_time", sequence.admitted, wall_offset);
  field_time(line, "first_token_time", sequence.first_token, wall_offset);
  field_time(line, "last_token_time", answered ? std::optional(sequence.last_token) : std::nullopt,
             wall_offset);
  field_time(line, "finish_time", sequence.finished, wall_offset);
  line += concat(",\"finish_reason\":\"", scheduler::finish_reason_name(sequence.finish_reason),
                 "\",\"prompt_tokens\":", sequence.prompt_tokens,
                 ",\"output_tokens\":", sequence.output_tokens(),
                 ",\"cached_tokens\":", sequence.cached_tokens,
                 ",\"preemptions\":", sequence.preemptions, ",\"waits\":[");
  bool first = true;
  for (int i = 0; i < scheduler::kHoldCount; ++i) {
    const auto hold = static_cast<size_t>(i);
    if (sequence.waits.ns[hold] == 0 && sequence.waits.steps[hold] == 0) continue;
    line += concat(
        first ? "" : ",", "{\"held_by\":\"", scheduler::hold_name(static_cast<scheduler::Hold>(i)),
        "\",\"ms\":", ms(sequence.waits.ns[hold]), ",\"steps\":", sequence.waits.steps[hold], "}");
    first = false;
  }
  line += "]}\n";
  put(requests_, line);
}

void EngineLog::step(int64_t number, const StepShape& shape, Nanos began, Nanos took,
                     Nanos predicted, StepOutcome outcome, Nanos wall_offset) {
  if (!has_steps()) return;
  std::string line = concat("{\"event\":\"step\",\"step\":", number);
  field_time(line, "time", began, wall_offset);
  line += concat(",\"sequences\":", shape.sequences, ",\"tokens\":", shape.tokens,
                 ",\"prefill_tokens\":", shape.prefill_tokens,
                 ",\"decode_tokens\":", shape.decode_tokens, ",\"longest\":", shape.longest,
                 ",\"mean_length\":", fixed(shape.mean_length(), 1),
                 ",\"predicted_ms\":", predicted > 0 ? ms(predicted) : std::string("null"),
                 ",\"real_ms\":", ms(took), ",\"outcome\":\"", outcome_name(outcome), "\"}\n");
  put(steps_, line);
}

void EngineLog::put(int file, std::string& line) {
  if (::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  if (!std::exchange(lost_, true)) {
    log_warning("engine", concat("a line of the engine's log is lost: ", std::strerror(errno)));
  }
}

}  // namespace hw::engine
