#include "wire/engine_times.h"

#include <charconv>
#include <optional>

#include "base/text.h"

namespace hw::wire {
namespace {

constexpr double kNanosPerMilli = 1e6;
constexpr double kNanosPerSecond = 1e9;
// About 31 years: a longer duration is a clock or nonsense.
constexpr double kDurationMax_ns = 1e18;
constexpr int64_t kTokensMax = 1'000'000'000'000;

// A duration in nanoseconds; -1 where it is none.
int64_t nanos(std::optional<double> value, double unit_ns) {
  if (!value) return -1;
  const double duration = *value * unit_ns;
  return duration >= 0 && duration <= kDurationMax_ns ? static_cast<int64_t>(duration + 0.5) : -1;
}

// Keeps what is there already where `duration` is none.
void set(int64_t& out, int64_t duration) {
  if (duration >= 0) out = duration;
}

void set_tokens(int64_t& out, const json::Value& value) {
  const auto count = value.integer();
  if (count && *count >= 0 && *count <= kTokensMax) out = *count;
}

bool known_anything(const EngineTimes& times) {
  return times.queue_ns >= 0 || times.prefill_ns >= 0 || times.kv_transfer_ns >= 0 ||
         times.decode_ns >= 0 || times.first_token_ns >= 0 || times.cached_tokens >= 0;
}

// Our own instance: every duration in milliseconds under its own name.
void read_headway(json::Object timings, EngineTimes& times) {
  timings.each([&](std::string_view key, const json::Value& value) {
    if (key == "queue_ms") {
      set(times.queue_ns, nanos(value.number(), kNanosPerMilli));
    } else if (key == "prefill_ms") {
      set(times.prefill_ns, nanos(value.number(), kNanosPerMilli));
    } else if (key == "kv_transfer_ms") {
      set(times.kv_transfer_ns, nanos(value.number(), kNanosPerMilli));
    } else if (key == "decode_ms") {
      set(times.decode_ns, nanos(value.number(), kNanosPerMilli));
    } else if (key == "first_token_ms") {
      set(times.first_token_ns, nanos(value.number(), kNanosPerMilli));
    } else if (key == "cached_tokens") {
      set_tokens(times.cached_tokens, value);
    }
  });
}

// llama-server: the clock starts when the slot starts, so there is no queue in it; the first token
// belongs to the prompt.
void read_llama_cpp(json::Object timings, EngineTimes& times) {
  timings.each([&](std::string_view key, const json::Value& value) {
    if (key == "prompt_ms") {
      set(times.prefill_ns, nanos(value.number(), kNanosPerMilli));
      times.first_token_ns = times.prefill_ns;
    } else if (key == "predicted_ms") {
      set(times.decode_ns, nanos(value.number(), kNanosPerMilli));
    } else if (key == "cache_n") {
      set_tokens(times.cached_tokens, value);
    }
  });
}

// vLLM with --enable-per-request-metrics: time_to_first_token counts from the scheduling.
void read_vllm(json::Object metrics, EngineTimes& times) {
  metrics.each([&](std::string_view key, const json::Value& value) {
    if (key == "queue_time_ms") {
      set(times.queue_ns, nanos(value.number(), kNanosPerMilli));
    } else if (key == "time_to_first_token_ms") {
      set(times.prefill_ns, nanos(value.number(), kNanosPerMilli));
    } else if (key == "generation_time_ms") {
      set(times.decode_ns, nanos(value.number(), kNanosPerMilli));
    }
  });
  if (times.queue_ns >= 0 && times.prefill_ns >= 0) {
    times.first_token_ns = times.queue_ns + times.prefill_ns;
  }
}

// The difference of two of SGLang's absolute times (seconds since 1970); -1 where one is missing.
int64_t between(std::optional<double> start, std::optional<double> end) {
  if (!start || !end) return -1;
  return nanos(*end - *start, kNanosPerSecond);
}

// SGLang: queue_time is a duration in seconds, the rest are absolute times of its own clock.
void read_sglang(json::Object info, EngineTimes& times) {
  std::optional<double> received, entered, prefilled, finished;
  info.each([&](std::string_view key, const json::Value& value) {
    if (key == "queue_time") {
      set(times.queue_ns, nanos(value.number(), kNanosPerSecond));
    } else if (key == "kv_transfer_latency_ms") {
      set(times.kv_transfer_ns, nanos(value.number(), kNanosPerMilli));
    } else if (key == "cached_tokens") {
      set_tokens(times.cached_tokens, value);
    } else if (key == "request_received_ts") {
      received = value.number();
    } else if (key == "forward_entry_time") {
      entered = value.number();
    } else if (key == "prefill_finished_time") {
      prefilled = value.number();
    } else if (key == "request_finished_ts") {
      finished = value.number();
    }
  });
  set(times.prefill_ns, between(entered, prefilled));
  set(times.first_token_ns, between(received, prefilled));
  set(times.decode_ns, between(prefilled, finished));
}

}  // namespace

bool read_engine_member(std::string_view key, const json::Value& value, EngineTimes& times) {
  const bool known = key == "timings" || key == "metrics" || key == "meta_info" || key == "sglext";
  if (!known || value.kind() != json::Kind::kObject) return false;
  std::string_view source;
  if (key == "timings") {
    const bool ours = value.object().find("source").text_or("") == "headway";
    source = ours ? "headway" : "llama.cpp";
    ours ? read_headway(value.object(), times) : read_llama_cpp(value.object(), times);
  } else if (key == "metrics") {
    source = "vllm";
    read_vllm(value.object(), times);
  } else {
    source = "sglang";
    read_sglang(value.object(), times);
  }
  if (times.source.empty() && known_anything(times)) times.source = source;
  return true;
}

bool read_engine_header(std::string_view name, std::string_view value, EngineTimes& times) {
  if (equal_ignoring_case(name, "x-inference-time")) {
    times.source = "tgi";  // x-queue-time alone could be anybody's
    return true;
  }
  if (!equal_ignoring_case(name, "x-queue-time")) return false;
  double milliseconds = 0;
  const auto text = trim(value);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return false;
  times.queue_ns = nanos(milliseconds, kNanosPerMilli);
  return true;
}

EngineTimes merge_engine_times(const EngineTimes& headers, const EngineTimes& body) {
  if (body.told()) return body;
  return headers.told() ? headers : EngineTimes{};
}

}  // namespace hw::wire
