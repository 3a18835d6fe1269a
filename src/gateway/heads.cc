#include "gateway/heads.h"

#include <time.h>

#include "base/text.h"
#include "http/writer.h"

namespace hw::gateway {
namespace {

bool is(std::string_view name, std::string_view wanted) {
  return equal_ignoring_case(name, wanted);
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

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_credential(std::string& out, const route::ChannelOptions& channel) {
  if (channel.credential.empty()) return;
  switch (channel.family) {
    case Family::kOpenai:
      out.append("authorization: Bearer ").append(channel.credential).append("\r\n");
      return;
    case Family::kAnthropic:
      append_line(out, "x-api-key", channel.credential);
      return;
  }
}

// Where the endpoint lies below the channel's base URL.
void append_target(std::string& out, const UpstreamRequest& request) {
  const std::string_view path = route::endpoint_path(request.endpoint);
  out += request.channel.options.base_url.path;
  switch (request.channel.options.family) {
    case Family::kOpenai:
      out += path.substr(3);
      break;  // the base URL carries /v1
    case Family::kAnthropic:
      out += path;
      break;
  }
  out += request.query;
}

void append_framing(std::string& out, const AnswerFraming& framing, bool keep_alive) {
  switch (framing.kind) {
    case AnswerFraming::Kind::kLength:
      http::append_content_length(out, framing.length);
      break;
    case AnswerFraming::Kind::kChunked:
      out += "transfer-encoding: chunked\r\n";
      break;
    case AnswerFraming::Kind::kUntilClose:
      break;
  }
  if (!keep_alive) out += "connection: close\r\n";
}

void append_labels(std::string& out, const AnswerLabels& labels) {
  if (!labels.request_id.empty()) {
    append_line(out, "x-request-id", labels.request_id);
    append_line(out, "request-id", labels.request_id);
  }
  if (!labels.trace_id.empty()) append_line(out, "x-headway-trace-id", labels.trace_id);
  if (!labels.channel.empty()) append_line(out, "x-headway-channel", labels.channel);
}

void append_stream_fields(std::string& out) {
  out += "cache-control: no-cache\r\nx-accel-buffering: no\r\n";
}

}  // namespace

void append_upstream_head(std::string& out, const UpstreamRequest& request) {
  out += "POST ";
  append_target(out, request);
  out += " HTTP/1.1\r\n";
  append_line(out, "host", request.channel.host_header);
  append_credential(out, request.channel.options);
  const http::HopByHop hop(request.head.fields);
  bool has_version = false;
  for (const http::Field& field : request.head.fields) {
    if (stays_behind(field.name, request) || hop.drops(field.name)) continue;
    has_version = has_version || is(field.name, "anthropic-version");
    append_line(out, field.name, field.value);
  }
  if (request.channel.options.family == Family::kAnthropic && !has_version) {
    out += "anthropic-version: 2023-06-01\r\n";
  }
  if (request.stream) out += "accept-encoding: identity\r\n";
  out += "x-request-id: ";
  out += request.request_id;
  out += '-';
  append(out, request.attempt);
  out += "\r\ntraceparent: ";
  request.trace.append(out);
  out += "\r\n";
  http::append_content_length(out, request.body_bytes);
  out += "\r\n";
}

void append_relayed_head(std::string& out, const RelayedHead& answer) {
  http::append_status_line(out, answer.status);
  const http::HopByHop hop(answer.upstream.fields);
  for (const http::Field& field : answer.upstream.fields) {
    if (is_ours(field.name, answer) || hop.drops(field.name)) continue;
    append_line(out, field.name, field.value);
  }
  if (answer.kind == AnswerKind::kEventStream) append_stream_fields(out);
  append_labels(out, answer.labels);
  if (!answer.server_timing.empty()) append_line(out, "server-timing", answer.server_timing);
  append_framing(out, answer.framing, answer.keep_alive);
  out += "\r\n";
}

void append_own_head(std::string& out, const OwnHead& answer) {
  http::append_status_line(out, answer.status);
  append_line(out, "content-type", answer.content_type);
  if (answer.kind == AnswerKind::kEventStream) append_stream_fields(out);
  append_labels(out, answer.labels);
  if (!answer.server_timing.empty()) append_line(out, "server-timing", answer.server_timing);
  if (answer.retry_after_s > 0)
    http::append_field(out, "retry-after", static_cast<uint64_t>(answer.retry_after_s));
  if (answer.should_retry >= 0)
    append_line(out, "x-should-retry", answer.should_retry == 1 ? "true" : "false");
  if (!answer.allow.empty()) append_line(out, "allow", answer.allow);
  append_framing(out, answer.framing, answer.keep_alive);
  out += "\r\n";
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

}  // namespace hw::gateway
