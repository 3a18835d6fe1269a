#include "journal/call_codec.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.h"
#include "base/varint.h"

namespace hw::journal {
namespace {

using timeline::Attempt;
using timeline::AttemptStamp;
using timeline::Call;
using timeline::ExchangeStamp;

constexpr uint8_t kVersion = 1;
constexpr size_t kAttemptsMax = 128;
constexpr size_t kSkippedMax = 64;
constexpr size_t kLossyMax = 64;

enum Flag : uint16_t {
  kStream = 1 << 0,
  kClientId = 1 << 1,   // there is a client_request_id
  kOwnTrace = 1 << 2,   // the caller gave the trace; otherwise it is the id's bytes
  kSameModel = 1 << 3,  // upstream_model is model
  kHasError = 1 << 4,
  kHasEngine = 1 << 5,
  kHasGaps = 1 << 6,
  kHasTokens = 1 << 7,
  kHasLossy = 1 << 8,
  kHasSkipped = 1 << 9,
};

// Words that take one byte. Part of the format: only ever append.
using Words = std::span<const std::string_view>;
constexpr std::array<std::string_view, 3> kCredentials = {"authorization", "x-api-key",
                                                          "x-litellm-api-key"};
constexpr std::array<std::string_view, 6> kEndpoints = {
    "/v1/chat/completions", "/v1/messages",   "/v1/responses",
    "/v1/completions",      "/v1/embeddings", "/v1/messages/count_tokens"};
constexpr std::array<std::string_view, 10> kFinishReasons = {
    "stop",          "end_turn", "length",    "tool_calls", "max_tokens",
    "stop_sequence", "tool_use", "completed", "incomplete", "content_filter"};
constexpr std::array<std::string_view, 5> kEngines = {"headway", "vllm", "sglang", "llama.cpp",
                                                      "tgi"};

// How much of each text is kept.
struct Limits {
  size_t text;
  size_t token_times;
};
constexpr Limits kGenerous{4096, timeline::TokenTimes::kBytesMax};
constexpr Limits kTight{64, 0};

// Writes into a fixed buffer; once something did not fit, overflowed() stays true.
class Encoder {
 public:
  Encoder(std::span<char> out, Limits limits)
      : begin_(out.data()), at_(out.data()), end_(out.data() + out.size()), limits_(limits) {}

  bool overflowed() const { return overflowed_; }
  size_t size() const { return static_cast<size_t>(at_ - begin_); }
  const Limits& limits() const { return limits_; }

  void bytes(const void* data, size_t size) {
    if (!room(size)) return;
    std::memcpy(at_, data, size);
    at_ += size;
  }
  void byte(uint8_t value) { bytes(&value, 1); }
  void number(uint64_t value) {
    if (room(kVarintBytesMax)) at_ = write_varint(at_, value);
  }
  void signed_number(int64_t value) { number(zigzag(value)); }
  // A number >= -1, where -1 is the common "unknown".
  void maybe(int64_t value) {
    number(static_cast<uint64_t>(std::clamp<int64_t>(value, -1, INT64_MAX - 1) + 1));
  }
  void text(std::string_view value, size_t limit) {
    value = value.substr(0, limit);
    number(value.size());
    bytes(value.data(), value.size());
  }
  void text(std::string_view value) { text(value, limits_.text); }
  // 0: empty; 1 to n: a word of the list; above: a text and its length.
  void word(std::string_view value, Words words) {
    if (value.empty()) return number(0);
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == value) return number(i + 1);
    }
    value = value.substr(0, limits_.text);
    number(words.size() + value.size());
    bytes(value.data(), value.size());
  }

 private:
  bool room(size_t size) {
    if (static_cast<size_t>(end_ - at_) >= size) return true;
    overflowed_ = true;
    return false;
  }

  char* begin_;
  char* at_;
  char* end_;
  Limits limits_;
  bool overflowed_ = false;
};

// Reads off a record; once something was missing or out of range, failed() stays true and every
// value is 0 or empty.
class Decoder {
 public:
  explicit Decoder(std::string_view in) : in_(in) {}

  bool failed() const { return failed_; }
  bool at_end() const { return in_.empty(); }
  void fail() {
    failed_ = true;
    in_ = {};
  }

  std::string_view bytes(size_t size) {
    if (in_.size() < size) {
      fail();
      return {};
    }
    const std::string_view taken = in_.substr(0, size);
    in_.remove_prefix(size);
    return taken;
  }
  uint8_t byte() {
    const std::string_view taken = bytes(1);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }
  uint64_t number() {
    uint64_t value = 0;
    if (!read_varint(in_, value)) fail();
    return value;
  }
  // A number of [0, max].
  uint64_t number_to(uint64_t max) {
    const uint64_t value = number();
    if (value <= max) return value;
    fail();
    return 0;
  }
  int64_t signed_number() { return unzigzag(number()); }
  int64_t maybe() { return static_cast<int64_t>(number_to(static_cast<uint64_t>(INT64_MAX)) - 1); }
  std::string_view text() { return bytes(static_cast<size_t>(number_to(in_.size()))); }
  std::string_view word(Words words) {
    const uint64_t code = number_to(words.size() + in_.size());
    if (code == 0) return {};
    if (code <= words.size()) return words[static_cast<size_t>(code) - 1];
    return bytes(static_cast<size_t>(code) - words.size());
  }
  template <class Enum>
  Enum enumerator(int count) {
    return static_cast<Enum>(number_to(static_cast<uint64_t>(count) - 1));
  }

 private:
  std::string_view in_;
  bool failed_ = false;
};

// A set of stamps: a bit for each that is there, then each as its difference to the one before.
// `base` is the latest stamp of the set before.
template <class Stamp, class Set>
void put_stamps(Encoder& out, const Set& set, int count, Nanos& base) {
  uint64_t present = 0;
  for (int i = 0; i < count; ++i) {
    present |= static_cast<uint64_t>(set.has(static_cast<Stamp>(i))) << i;
  }
  out.number(present);
  for (int i = 0; i < count; ++i) {
    const auto stamp = static_cast<Stamp>(i);
    if (!set.has(stamp)) continue;
    out.signed_number(set.get(stamp) - base);
    base = set.get(stamp);
  }
}

template <class Stamp, class Set>
void get_stamps(Decoder& in, Set& set, int count, Nanos& base) {
  const uint64_t present = in.number_to((uint64_t{1} << count) - 1);
  for (int i = 0; i < count; ++i) {
    if ((present >> i & 1) == 0) continue;
    Nanos at = 0;
    if (__builtin_add_overflow(base, in.signed_number(), &at) || at < 0) return in.fail();
    set.set_once(static_cast<Stamp>(i), at);
    base = at;
  }
}

void put_error(Encoder& out, const timeline::CallError& error) {
  out.text(error.code);
  out.text(error.message);
}

timeline::CallError get_error(Decoder& in) {
  timeline::CallError error;
  error.code = in.text();
  error.message = in.text();
  return error;
}

void put_connection(Encoder& out, const timeline::ConnectionInfo& connection) {
  out.byte(connection.reused);
  out.maybe(connection.rtt_us);
  out.maybe(connection.retransmits);
  out.maybe(connection.unacked);
}

timeline::ConnectionInfo get_connection(Decoder& in) {
  timeline::ConnectionInfo connection;
  connection.reused = in.number_to(1) != 0;
  connection.rtt_us = in.maybe();
  connection.retransmits = in.maybe();
  connection.unacked = in.maybe();
  return connection;
}

void put_attempt(Encoder& out, const Attempt& attempt, Nanos& base) {
  put_stamps<AttemptStamp>(out, attempt.stamps, timeline::kAttemptStampCount, base);
  out.text(attempt.channel);
  out.text(attempt.instance);
  out.number(static_cast<uint64_t>(attempt.outcome));
  out.signed_number(attempt.status);
  put_error(out, attempt.error);
  out.text(attempt.upstream_request_id);
  put_connection(out, attempt.connection);
  out.number(attempt.bytes_sent);
  out.number(attempt.bytes_received);
}

int get_status(Decoder& in) {
  const int64_t status = in.signed_number();
  if (status < INT32_MIN || status > INT32_MAX) in.fail();
  return static_cast<int>(status);
}

void get_attempt(Decoder& in, Attempt& attempt, Nanos& base) {
  get_stamps<AttemptStamp>(in, attempt.stamps, timeline::kAttemptStampCount, base);
  attempt.channel = in.text();
  attempt.instance = in.text();
  attempt.outcome = in.enumerator<Outcome>(kOutcomeCount);
  attempt.status = get_status(in);
  attempt.error = get_error(in);
  attempt.upstream_request_id = in.text();
  attempt.connection = get_connection(in);
  attempt.bytes_sent = in.number();
  attempt.bytes_received = in.number();
}

void put_engine(Encoder& out, const timeline::EngineTimes& engine) {
  out.word(engine.source, kEngines);
  out.maybe(engine.queue_ns);
  out.maybe(engine.prefill_ns);
  out.maybe(engine.kv_transfer_ns);
  out.maybe(engine.decode_ns);
  out.maybe(engine.first_token_ns);
  out.maybe(engine.cached_tokens);
}

timeline::EngineTimes get_engine(Decoder& in) {
  timeline::EngineTimes engine;
  engine.source = in.word(kEngines);
  engine.queue_ns = in.maybe();
  engine.prefill_ns = in.maybe();
  engine.kv_transfer_ns = in.maybe();
  engine.decode_ns = in.maybe();
  engine.first_token_ns = in.maybe();
  engine.cached_tokens = in.maybe();
  return engine;
}

void put_tokens(Encoder& out, const timeline::Tokens& tokens) {
  out.byte(static_cast<uint8_t>(tokens.source));
  out.signed_number(tokens.input);
  out.signed_number(tokens.cached_input);
  out.signed_number(tokens.cache_creation_input);
  out.signed_number(tokens.output);
  out.signed_number(tokens.reasoning);
}

timeline::Tokens get_tokens(Decoder& in) {
  timeline::Tokens tokens;
  tokens.source = in.enumerator<timeline::TokenSource>(3);
  tokens.input = in.signed_number();
  tokens.cached_input = in.signed_number();
  tokens.cache_creation_input = in.signed_number();
  tokens.output = in.signed_number();
  tokens.reasoning = in.signed_number();
  return tokens;
}

void put_gaps(Encoder& out, const timeline::GapSummary& gaps) {
  out.number(gaps.count);
  for (const Nanos value : {gaps.p50, gaps.p99, gaps.max}) out.signed_number(value);
  for (const uint64_t count : gaps.count_by_cause) out.number(count);
  for (const Nanos time : gaps.time_by_cause) out.signed_number(time);
  for (const timeline::Gap& gap : gaps.longest) {
    out.signed_number(gap.length);
    if (gap.length == 0) break;  // longest first: the others are unused too
    out.signed_number(gap.at);
    out.byte(static_cast<uint8_t>(gap.cause));
  }
}

timeline::GapSummary get_gaps(Decoder& in) {
  timeline::GapSummary gaps;
  gaps.count = in.number();
  for (Nanos* value : {&gaps.p50, &gaps.p99, &gaps.max}) *value = in.signed_number();
  for (uint64_t& count : gaps.count_by_cause) count = in.number();
  for (Nanos& time : gaps.time_by_cause) time = in.signed_number();
  for (timeline::Gap& gap : gaps.longest) {
    gap.length = in.signed_number();
    if (gap.length == 0) break;
    gap.at = in.signed_number();
    gap.cause = in.enumerator<timeline::GapCause>(3);
  }
  return gaps;
}

using IdBytes = std::array<uint8_t, 16>;

// TraceId::of() without the way back to the text.
TraceId trace_of(const IdBytes& id) {
  TraceId trace;
  for (size_t i = 0; i < 8; ++i) {
    trace.high = trace.high << 8 | id[i];
    trace.low = trace.low << 8 | id[8 + i];
  }
  return trace;
}

uint16_t flags_of(const Call& call, const IdBytes& id, const Limits& limits) {
  uint16_t flags = 0;
  const auto set = [&flags](bool condition, Flag flag) {
    if (condition) flags = static_cast<uint16_t>(flags | flag);
  };
  set(call.stream, kStream);
  set(!call.client_request_id.empty(), kClientId);
  set(call.trace != trace_of(id), kOwnTrace);
  set(call.upstream_model == call.model, kSameModel);
  set(call.error != timeline::CallError{}, kHasError);
  set(call.engine != timeline::EngineTimes{}, kHasEngine);
  set(call.gaps != timeline::GapSummary{}, kHasGaps);
  set(!call.token_times.empty() && limits.token_times > 0, kHasTokens);
  set(!call.lossy.empty(), kHasLossy);
  set(!call.skipped.empty(), kHasSkipped);
  return flags;
}

// What peek_call() reads, in its order.
void put_key(Encoder& out, const Call& call, const IdBytes& id, uint16_t flags) {
  out.byte(kVersion);
  out.byte(static_cast<uint8_t>(flags & 0xff));
  out.byte(static_cast<uint8_t>(flags >> 8));
  out.bytes(id.data(), id.size());
  out.signed_number(call.arrived_wall);
  out.maybe(call.stamps.get(ExchangeStamp::kFinished));
  if (flags & kOwnTrace) {
    out.bytes(&call.trace.high, 8);
    out.bytes(&call.trace.low, 8);
  }
  if (flags & kClientId) out.text(call.client_request_id);
}

CallKey get_key(Decoder& in, uint16_t& flags) {
  CallKey key;
  if (in.byte() != kVersion) in.fail();
  flags = in.byte();
  flags = static_cast<uint16_t>(flags | in.byte() << 8);
  const std::string_view id = in.bytes(key.id_bytes.size());
  if (!in.failed()) std::memcpy(key.id_bytes.data(), id.data(), id.size());
  key.arrived_wall = in.signed_number();
  key.finished = in.maybe();
  key.own_trace = (flags & kOwnTrace) != 0;
  if (key.own_trace) {
    const std::string_view trace = in.bytes(16);
    if (!in.failed()) {
      std::memcpy(&key.trace.high, trace.data(), 8);
      std::memcpy(&key.trace.low, trace.data() + 8, 8);
    }
  }
  if (flags & kClientId) key.client_request_id = in.text();
  return key;
}

void put_lists(Encoder& out, const Call& call, uint16_t flags) {
  if (flags & kHasLossy) {
    const size_t count = std::min(call.lossy.size(), kLossyMax);
    out.number(count);
    for (size_t i = 0; i < count; ++i) out.text(call.lossy[i]);
  }
  if (flags & kHasSkipped) {
    const size_t count = std::min(call.skipped.size(), kSkippedMax);
    out.number(count);
    for (size_t i = 0; i < count; ++i) {
      out.text(call.skipped[i].channel);
      out.text(call.skipped[i].reason);
    }
  }
}

void get_lists(Decoder& in, Call& call, uint16_t flags) {
  if (flags & kHasLossy) {
    const uint64_t count = in.number_to(kLossyMax);
    for (uint64_t i = 0; i < count && !in.failed(); ++i) call.lossy.emplace_back(in.text());
  }
  if (flags & kHasSkipped) {
    const uint64_t count = in.number_to(kSkippedMax);
    for (uint64_t i = 0; i < count && !in.failed(); ++i) {
      timeline::Skipped skipped;
      skipped.channel = in.text();
      skipped.reason = in.text();
      call.skipped.push_back(std::move(skipped));
    }
  }
}

// Of too many attempts the first ones and the last, which won, are kept.
void put_attempts(Encoder& out, const Call& call, Nanos& base) {
  const size_t count = std::min(call.attempts.size(), kAttemptsMax);
  out.number(count);
  for (size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    put_attempt(out, last ? call.attempts.back() : call.attempts[i], base);
  }
}

void put_call(Encoder& out, const Call& call) {
  const IdBytes id = call.id.bytes();
  const uint16_t flags = flags_of(call, id, out.limits());
  put_key(out, call, id, flags);
  out.text(call.key);
  out.word(call.credential_from, kCredentials);
  out.text(call.model);
  if (!(flags & kSameModel)) out.text(call.upstream_model);
  out.word(call.endpoint, kEndpoints);
  out.byte(static_cast<uint8_t>(call.dialect));
  out.byte(static_cast<uint8_t>(call.outcome));
  out.signed_number(call.status);
  if (flags & kHasError) put_error(out, call.error);
  out.word(call.finish_reason, kFinishReasons);
  put_lists(out, call, flags);
  Nanos base = 0;
  put_stamps<ExchangeStamp>(out, call.stamps, timeline::kExchangeStampCount - 1, base);
  put_attempts(out, call, base);
  if (flags & kHasEngine) put_engine(out, call.engine);
  put_tokens(out, call.tokens);
  if (flags & kHasGaps) put_gaps(out, call.gaps);
  if (flags & kHasTokens) out.text(call.token_times, out.limits().token_times);
  out.text(call.client_address);
  put_connection(out, call.client);
  for (const Nanos value : {call.client_blocked_ns, call.overhead_ns, call.loop_late_max_ns}) {
    out.signed_number(value);
  }
  out.number(call.request_bytes);
  out.number(call.response_bytes);
  out.number(call.heartbeats);
  out.number(call.stamps_clamped);
}

void get_call(Decoder& in, Call& call) {
  uint16_t flags = 0;
  const CallKey key = get_key(in, flags);
  call.id = key.id();
  call.trace = key.own_trace ? key.trace : TraceId::of(call.id);
  call.arrived_wall = key.arrived_wall;
  call.client_request_id = key.client_request_id;
  call.stream = (flags & kStream) != 0;
  call.key = in.text();
  call.credential_from = in.word(kCredentials);
  call.model = in.text();
  call.upstream_model = flags & kSameModel ? call.model : std::string(in.text());
  call.endpoint = in.word(kEndpoints);
  call.dialect = in.enumerator<Dialect>(kDialectCount);
  call.outcome = in.enumerator<Outcome>(kOutcomeCount);
  call.status = get_status(in);
  if (flags & kHasError) call.error = get_error(in);
  call.finish_reason = in.word(kFinishReasons);
  get_lists(in, call, flags);
  Nanos base = 0;
  get_stamps<ExchangeStamp>(in, call.stamps, timeline::kExchangeStampCount - 1, base);
  if (key.finished >= 0) call.stamps.set_once(ExchangeStamp::kFinished, key.finished);
  const uint64_t attempts = in.number_to(kAttemptsMax);
  for (uint64_t i = 0; i < attempts && !in.failed(); ++i) {
    call.attempts.emplace_back();
    get_attempt(in, call.attempts.back(), base);
  }
  if (flags & kHasEngine) call.engine = get_engine(in);
  call.tokens = get_tokens(in);
  if (flags & kHasGaps) call.gaps = get_gaps(in);
  if (flags & kHasTokens) call.token_times = in.text();
  call.client_address = in.text();
  call.client = get_connection(in);
  for (Nanos* value : {&call.client_blocked_ns, &call.overhead_ns, &call.loop_late_max_ns}) {
    *value = in.signed_number();
  }
  call.request_bytes = in.number();
  call.response_bytes = in.number();
  call.heartbeats = static_cast<uint32_t>(in.number_to(UINT32_MAX));
  call.stamps_clamped = static_cast<uint32_t>(in.number_to(UINT32_MAX));
}

}  // namespace

std::string_view encode_call(const Call& call, std::span<char> out) {
  HW_ASSERT(out.size() >= kCallBytesMax);
  Encoder generous(out.first(kCallBytesMax), kGenerous);
  put_call(generous, call);
  if (!generous.overflowed()) return {out.data(), generous.size()};
  Encoder tight(out.first(kCallBytesMax), kTight);
  put_call(tight, call);
  HW_ASSERT(!tight.overflowed());
  return {out.data(), tight.size()};
}

Result<Call> decode_call(std::string_view record) {
  Decoder in(record);
  Call call;
  get_call(in, call);
  if (in.failed() || !in.at_end()) {
    const bool newer = !record.empty() && static_cast<uint8_t>(record[0]) > kVersion;
    return fail(ErrorCode::kStore, newer ? "This call was written by a newer version of Headway."
                                         : "The record of this call is damaged.");
  }
  return call;
}

bool peek_call(std::string_view record, CallKey& out) {
  Decoder in(record);
  uint16_t flags = 0;
  out = get_key(in, flags);
  return !in.failed();
}

int64_t CallKey::id_ms() const {
  int64_t ms = 0;
  for (int i = 0; i < 6; ++i) ms = ms << 8 | id_bytes[static_cast<size_t>(i)];
  return ms;
}

uint64_t id_hash(const std::array<uint8_t, 16>& id_bytes) {
  uint64_t hash;
  std::memcpy(&hash, id_bytes.data() + 8, 8);
  return hash;
}

}  // namespace hw::journal
