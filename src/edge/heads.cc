#include "edge/heads.h"

#include <time.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "http/head_writer.h"
#include "http/writer.h"

namespace hw::edge {
namespace {

using http::HeadWriter;

[[gnu::always_inline]] inline bool is(std::string_view name, std::string_view wanted) {
  return is_token_named(name, wanted);
}

// Fields of a client that are not sent on: the credentials it gave us, and what is ours to say. By
// length first, since most names differ there.
bool stays_behind(std::string_view name, const UpstreamRequest& request) {
  switch (name.size()) {
    case 4:
      return is(name, "host");
    case 6:
      return is(name, "cookie") || is(name, "expect");
    case 7:
      return is(name, "api-key");
    case 9:
      return is(name, "x-api-key");
    case 11:
      return is(name, "traceparent");
    case 12:
      return is(name, "x-request-id");
    case 13:
      return is(name, "authorization");
    case 14:
      return is(name, "content-length");
    case 15:
      return request.stream && is(name, "accept-encoding");
    case 16:
      return request.body_decoded && is(name, "content-encoding");
    case 17:
      return is(name, "x-litellm-api-key");
    default:
      return false;
  }
}

// Fields that mean something in the client's dialect alone, or describe the body that it sent.
bool is_of_dialect(std::string_view name) {
  constexpr std::array kPrefixes = {"anthropic-", "openai-", "x-stainless-"};
  for (const std::string_view prefix : kPrefixes) {
    if (name.size() > prefix.size() && equal_ignoring_case(name.substr(0, prefix.size()), prefix))
      return true;
  }
  return is(name, "content-type") || is(name, "content-encoding") || is(name, "accept");
}

constexpr std::string_view kBetaField = "anthropic-beta";

// Fields of an upstream's answer that the client gets from us instead.
bool is_ours(std::string_view name, const RelayedHead& answer) {
  switch (name.size()) {
    case 10:
      return is(name, "request-id");
    case 12:
      return is(name, "x-request-id");
    case 13:
      return answer.kind == AnswerKind::kEventStream && is(name, "cache-control");
    case 14:
      return is(name, "content-length");
    case 16:
      return answer.coding == AnswerCoding::kDecoded && is(name, "content-encoding");
    case 17:
      return answer.kind == AnswerKind::kEventStream && is(name, "x-accel-buffering");
    case 18:
      return is(name, "x-headway-trace-id") || is(name, "x-headway-channel");
    default:
      return false;
  }
}

void add_credential(HeadWriter& out, const route::ChannelOptions& channel) {
  if (channel.credential.empty()) return;
  switch (channel.family) {
    case Family::kOpenai:
      out.add("authorization: Bearer ").add(channel.credential).add("\r\n");
      return;
    case Family::kAnthropic:
      out.line("x-api-key", channel.credential);
      return;
  }
}

// Where the endpoint lies below the channel's base URL.
void add_target(HeadWriter& out, const UpstreamRequest& request) {
  const std::string_view path = route::endpoint_path(request.endpoint);
  std::string_view base = request.channel.options.base_url.path;
  if (request.endpoint == route::Endpoint::kTokenize) {  // beside /v1, not below it
    if (base.ends_with("/v1")) base.remove_suffix(3);
    out.add(base).add(path);
    return;
  }
  out.add(base);
  switch (request.channel.options.family) {
    case Family::kOpenai:
      out.add(path.substr(3));
      break;  // the base URL carries /v1
    case Family::kAnthropic:
      out.add(path);
      break;
  }
  out.add(request.query);
}

void add_framing(HeadWriter& out, const AnswerFraming& framing, bool keep_alive) {
  switch (framing.kind) {
    case AnswerFraming::Kind::kLength:
      out.add("content-length: ").add(framing.length).add("\r\n");
      break;
    case AnswerFraming::Kind::kChunked:
      out.add("transfer-encoding: chunked\r\n");
      break;
    case AnswerFraming::Kind::kUntilClose:
      break;
  }
  if (!keep_alive) out.add("connection: close\r\n");
}

void add_labels(HeadWriter& out, const AnswerLabels& labels) {
  if (!labels.request_id.empty()) {
    out.line("x-request-id", labels.request_id).line("request-id", labels.request_id);
  }
  if (!labels.trace_id.empty()) out.line("x-headway-trace-id", labels.trace_id);
  if (!labels.channel.empty()) out.line("x-headway-channel", labels.channel);
}

// Milliseconds with three decimals.
void add_ms(HeadWriter& out, Nanos ns) {
  const auto micros = static_cast<uint64_t>(std::max<Nanos>(ns, 0) / kMicrosecond);
  char decimals[] = {'.', '0', '0', '0'};
  uint64_t left = micros % 1000;
  for (size_t at = 3; at > 0; --at, left /= 10) decimals[at] = static_cast<char>('0' + left % 10);
  out.add(micros / 1000).add({decimals, sizeof decimals});
}

void add_server_timing(HeadWriter& out, const ServerTiming& timing) {
  if (timing.total < 0) return;
  add_ms(out.add("server-timing: total;dur="), timing.total);
  if (timing.upstream >= 0) add_ms(out.add(", upstream;dur="), timing.upstream);
  add_ms(out.add(", gateway;dur="), timing.gateway);
  out.add("\r\n");
}

void add_stream_fields(HeadWriter& out) {
  out.add("cache-control: no-cache\r\nx-accel-buffering: no\r\n");
}

}  // namespace

BetaFlags beta_flags(const http::Fields& fields, const route::ChannelOptions& channel) {
  BetaFlags out;
  for (const http::Field& field : fields) {
    if (!is(field.name, kBetaField)) continue;
    for (std::string_view rest = field.value; !rest.empty();) {
      const std::string_view flag = http::take_list_element(rest);
      if (flag.empty()) continue;
      if (!channel.takes_beta(flag)) {
        out.cut.emplace_back(flag);
      } else {
        if (!out.taken.empty()) out.taken += ',';
        out.taken += flag;
      }
    }
  }
  return out;
}

void append_upstream_head(std::string& to, const UpstreamRequest& request) {
  HeadWriter out(to);
  out.add("POST ");
  add_target(out, request);
  out.add(" HTTP/1.1\r\n").line("host", request.channel.host_header);
  add_credential(out, request.channel.options);
  const http::HopByHop hop(request.head.fields);
  out.lines(request.head.fields, [&](const http::Field& field) {
    return !stays_behind(field.name, request) && !hop.drops(field.name) &&
           !(request.translated && is_of_dialect(field.name)) &&
           !(request.betas != nullptr && is(field.name, kBetaField));
  });
  if (request.betas != nullptr && !request.betas->taken.empty())
    out.line(kBetaField, request.betas->taken);
  if (request.translated) out.add("content-type: application/json\r\n");
  if (request.channel.options.family == Family::kAnthropic &&
      (request.translated || request.head.fields.find("anthropic-version") == nullptr)) {
    out.add("anthropic-version: 2023-06-01\r\n");
  }
  if (request.stream) out.add("accept-encoding: identity\r\n");
  char trace[TraceParent::kSize];
  request.trace.write(trace);
  out.add("x-request-id: ").add(request.request_id).add("-");
  out.add(static_cast<uint64_t>(request.attempt)).add("\r\ntraceparent: ");
  out.add({trace, sizeof trace}).add("\r\ncontent-length: ").add(request.body_bytes);
  out.add("\r\n\r\n");
}

void append_relayed_head(std::string& to, const RelayedHead& answer) {
  http::append_status_line(to, answer.status);
  HeadWriter out(to);
  const http::HopByHop hop(answer.upstream.fields);
  out.lines(answer.upstream.fields, [&](const http::Field& field) {
    return !is_ours(field.name, answer) && !hop.drops(field.name);
  });
  if (answer.kind == AnswerKind::kEventStream) add_stream_fields(out);
  add_labels(out, answer.labels);
  add_server_timing(out, answer.server_timing);
  add_framing(out, answer.framing, answer.keep_alive);
  out.add("\r\n");
}

void append_own_head(std::string& to, const OwnHead& answer) {
  http::append_status_line(to, answer.status);
  HeadWriter out(to);
  out.line("content-type", answer.content_type);
  if (!answer.content_security_policy.empty())
    out.line("content-security-policy", answer.content_security_policy);
  if (answer.kind == AnswerKind::kEventStream) add_stream_fields(out);
  add_labels(out, answer.labels);
  add_server_timing(out, answer.server_timing);
  if (answer.retry_after_s > 0) {
    out.add("retry-after: ").add(static_cast<uint64_t>(answer.retry_after_s)).add("\r\n");
  }
  if (answer.should_retry >= 0) {
    out.line("x-should-retry", answer.should_retry == 1 ? "true" : "false");
  }
  if (!answer.allow.empty()) out.line("allow", answer.allow);
  add_framing(out, answer.framing, answer.keep_alive);
  out.add("\r\n");
}

Nanos retry_after_ns(const http::Fields& fields, Nanos wall) {
  int64_t number = 0;
  const std::string_view in_ms = fields.value("retry-after-ms");
  if (parse_number(in_ms, number) && number >= 0 && number < 86'400'000)
    return number * kMillisecond;
  const std::string_view value = fields.value("retry-after");
  if (value.empty()) return -1;
  if (parse_number(value, number)) return number >= 0 && number < 86'400 ? number * kSecond : -1;
  tm parts{};
  const std::string text(value);
  if (strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) == nullptr) return -1;
  const Nanos until = static_cast<Nanos>(timegm(&parts)) * kSecond;
  return until > wall ? until - wall : -1;
}

}  // namespace hw::edge
