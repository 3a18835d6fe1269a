// parse_call_json(), apart from the writer because it is the only part that needs a JSON tree.
#include <nlohmann/json.hpp>

#include "store/call_json.h"

namespace hw::store {
namespace {

using timeline::Call;
using Tree = nlohmann::json;

// The member of an object, or null where there is none.
const Tree& member(const Tree& tree, const char* name) {
  static const Tree nothing;
  if (!tree.is_object()) return nothing;
  const auto found = tree.find(name);
  return found == tree.end() ? nothing : *found;
}

std::string text(const Tree& tree, const char* name) {
  const Tree& value = member(tree, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int64_t number(const Tree& tree, const char* name, int64_t absent) {
  const Tree& value = member(tree, name);
  return value.is_number_integer() ? value.get<int64_t>() : absent;
}

uint64_t count(const Tree& tree, const char* name) {
  const Tree& value = member(tree, name);
  return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
}

bool truth(const Tree& tree, const char* name) {
  const Tree& value = member(tree, name);
  return value.is_boolean() && value.get<bool>();
}

timeline::CallError error_of(const Tree& tree) {
  const Tree& error = member(tree, "error");
  return {text(error, "code"), text(error, "message")};
}

template <class Stamp, class Set>
void read_stamps(const Tree& tree, int stamp_count, Set& out) {
  const Tree& stamps = member(tree, "stamps");
  for (int i = 0; i < stamp_count; ++i) {
    const auto stamp = static_cast<Stamp>(i);
    const int64_t at = number(stamps, std::string(timeline::stamp_name(stamp)).c_str(), -1);
    if (at >= 0) out.set_once(stamp, at);
  }
}

timeline::ConnectionInfo connection_of(const Tree& tree) {
  timeline::ConnectionInfo connection;
  connection.rtt_us = number(tree, "rtt_us", -1);
  connection.retransmits = number(tree, "retransmits", -1);
  connection.unacked = number(tree, "unacked", -1);
  connection.reused = truth(tree, "reused");
  return connection;
}

timeline::Attempt attempt_of(const Tree& tree) {
  timeline::Attempt attempt;
  read_stamps<timeline::AttemptStamp>(tree, timeline::kAttemptStampCount, attempt.stamps);
  attempt.channel = text(tree, "channel");
  attempt.instance = text(tree, "instance");
  parse_outcome(text(tree, "outcome"), attempt.outcome);
  attempt.status = static_cast<int>(number(tree, "status", 0));
  attempt.error = error_of(tree);
  attempt.upstream_request_id = text(tree, "upstream_request_id");
  attempt.connection = connection_of(member(tree, "connection"));
  attempt.bytes_sent = count(tree, "bytes_sent");
  attempt.bytes_received = count(tree, "bytes_received");
  return attempt;
}

timeline::EngineTimes engine_of(const Tree& tree) {
  timeline::EngineTimes engine;
  engine.source = text(tree, "source");
  engine.queue_ns = number(tree, "queue_ns", -1);
  engine.prefill_ns = number(tree, "prefill_ns", -1);
  engine.kv_transfer_ns = number(tree, "kv_transfer_ns", -1);
  engine.decode_ns = number(tree, "decode_ns", -1);
  engine.first_token_ns = number(tree, "first_token_ns", -1);
  engine.cached_tokens = number(tree, "cached_tokens", -1);
  return engine;
}

timeline::Tokens tokens_of(const Tree& tree) {
  timeline::Tokens tokens;
  tokens.input = number(tree, "input", 0);
  tokens.cached_input = number(tree, "cached_input", 0);
  tokens.cache_creation_input = number(tree, "cache_creation_input", 0);
  tokens.output = number(tree, "output", 0);
  tokens.reasoning = number(tree, "reasoning", 0);
  const std::string source = text(tree, "source");
  for (const auto candidate : {timeline::TokenSource::kEstimated, timeline::TokenSource::kUsage}) {
    if (source == timeline::token_source_name(candidate)) tokens.source = candidate;
  }
  return tokens;
}

timeline::GapSummary gaps_of(const Tree& tree) {
  timeline::GapSummary gaps;
  gaps.count = count(tree, "count");
  gaps.p50 = number(tree, "p50_ns", 0);
  gaps.p99 = number(tree, "p99_ns", 0);
  gaps.max = number(tree, "max_ns", 0);
  const auto cause_name = [](size_t i) {
    return std::string(timeline::gap_cause_name(static_cast<timeline::GapCause>(i)));
  };
  for (size_t i = 0; i < gaps.count_by_cause.size(); ++i) {
    const Tree& cause = member(member(tree, "causes"), cause_name(i).c_str());
    gaps.count_by_cause[i] = count(cause, "count");
    gaps.time_by_cause[i] = number(cause, "time_ns", 0);
  }
  const Tree& longest = member(tree, "longest");
  for (size_t g = 0; longest.is_array() && g < longest.size() && g < gaps.longest.size(); ++g) {
    timeline::Gap& gap = gaps.longest[g];
    gap.at = number(longest[g], "at_ns", 0);
    gap.length = number(longest[g], "length_ns", 0);
    for (size_t i = 0; i < gaps.count_by_cause.size(); ++i) {
      if (text(longest[g], "cause") == cause_name(i)) {
        gap.cause = static_cast<timeline::GapCause>(i);
      }
    }
  }
  return gaps;
}

void read_identity(const Tree& tree, Call& call) {
  TraceId::parse(text(tree, "trace_id"), call.trace);
  call.key = text(tree, "key");
  call.model = text(tree, "model");
  call.upstream_model = text(tree, "upstream_model");
  call.endpoint = text(tree, "endpoint");
  call.stream = truth(tree, "stream");
  call.status = static_cast<int>(number(tree, "status", 0));
  call.error = error_of(tree);
  call.finish_reason = text(tree, "finish_reason");
  call.client_request_id = text(tree, "client_request_id");
  call.credential_from = text(tree, "credential_from");
  const Tree& lossy = member(tree, "lossy");
  for (size_t i = 0; lossy.is_array() && i < lossy.size(); ++i) {
    if (lossy[i].is_string()) call.lossy.push_back(lossy[i].get<std::string>());
  }
}

void read_lists(const Tree& tree, Call& call) {
  const Tree& skipped = member(tree, "skipped");
  for (size_t i = 0; skipped.is_array() && i < skipped.size(); ++i) {
    timeline::Skipped entry;
    entry.channel = text(skipped[i], "channel");
    entry.reason = text(skipped[i], "reason");
    call.skipped.push_back(std::move(entry));
  }
  const Tree& attempts = member(tree, "attempts");
  for (size_t i = 0; attempts.is_array() && i < attempts.size(); ++i) {
    call.attempts.push_back(attempt_of(attempts[i]));
  }
}

void read_sides(const Tree& tree, Call& call) {
  const Tree& client = member(tree, "client");
  call.client_address = text(client, "address");
  call.client = connection_of(client);
  call.client_blocked_ns = number(client, "blocked_ns", 0);
  call.request_bytes = count(client, "request_bytes");
  call.response_bytes = count(client, "response_bytes");
  const Tree& gateway = member(tree, "gateway");
  call.overhead_ns = number(gateway, "overhead_ns", 0);
  call.loop_late_max_ns = number(gateway, "loop_late_max_ns", 0);
  call.heartbeats = static_cast<uint32_t>(count(gateway, "heartbeats"));
  call.stamps_clamped = static_cast<uint32_t>(count(gateway, "stamps_clamped"));
}

}  // namespace

Result<Call> parse_call_json(std::string_view json_text) {
  const Tree tree = Tree::parse(json_text, nullptr, /*allow_exceptions=*/false);
  Call call;
  const bool whole = tree.is_object() && RequestId::parse(text(tree, "id"), call.id) &&
                     parse_outcome(text(tree, "outcome"), call.outcome) &&
                     parse_dialect(text(tree, "dialect"), call.dialect);
  if (!whole) return fail(ErrorCode::kBadRequest, "This is not the JSON of a call.");
  read_identity(tree, call);
  call.arrived_wall = number(tree, "arrived_unix_ns", 0);
  read_stamps<timeline::ExchangeStamp>(tree, timeline::kExchangeStampCount, call.stamps);
  read_lists(tree, call);
  call.engine = engine_of(member(tree, "engine"));
  call.tokens = tokens_of(member(tree, "tokens"));
  call.gaps = gaps_of(member(tree, "gaps"));
  read_sides(tree, call);
  return call;
}

}  // namespace hw::store
