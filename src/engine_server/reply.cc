#include "engine_server/reply.h"

#include "http/writer.h"
#include "wire/error_body.h"

namespace hw::engine_server {
namespace {

enum class Connection : uint8_t { kClose, kKeep, kKeepHttp10 };

Connection connection_of(const http::ServerConnection& client) {
  if (!client.keep_alive()) return Connection::kClose;
  return client.http_1_0() ? Connection::kKeepHttp10 : Connection::kKeep;
}

void append_connection(std::string& out, Connection connection) {
  if (connection == Connection::kClose) http::append_field(out, "connection", "close");
  if (connection == Connection::kKeepHttp10) http::append_field(out, "connection", "keep-alive");
}

void append_reply(std::string& out, const Reply& reply, Connection connection) {
  http::append_status_line(out, reply.status);
  http::append_field(out, "content-type", reply.content_type);
  http::append_content_length(out, reply.body.size());
  if (!reply.request_id.empty()) http::append_field(out, "x-request-id", reply.request_id);
  if (!reply.server_timing.empty()) http::append_field(out, "server-timing", reply.server_timing);
  if (reply.retry_after_s > 0) {
    http::append_field(out, "retry-after", static_cast<uint64_t>(reply.retry_after_s));
  }
  append_connection(out, connection);
  http::append_head_end(out);
  out += reply.body;
}

}  // namespace

Reply error_reply(const Error& error, std::string_view request_id) {
  Reply reply;
  reply.status = error.status();
  reply.retry_after_s = error_info(error.code).retry_after_s;
  reply.request_id = request_id;
  wire::append_error_body(reply.body, Dialect::kOpenaiChat, error, request_id);
  return reply;
}

void append_refusal(std::string& out, const Error& error) {
  append_reply(out, error_reply(error, {}), Connection::kClose);
}

net::Task<bool> send_reply(http::ServerConnection& client, const Reply& reply) {
  if (!client.body_complete()) client.end_connection();
  std::string out;
  append_reply(out, reply, connection_of(client));
  const bool written = co_await client.write(std::string_view(out));
  co_return written;
}

void append_stream_head(std::string& out, const http::ServerConnection& client,
                        std::string_view request_id) {
  http::append_status_line(out, 200);
  http::append_field(out, "content-type", "text/event-stream; charset=utf-8");
  http::append_field(out, "cache-control", "no-cache");
  http::append_field(out, "x-accel-buffering", "no");
  http::append_field(out, "x-request-id", request_id);
  if (!client.http_1_0()) http::append_field(out, "transfer-encoding", "chunked");
  append_connection(out, connection_of(client));
  http::append_head_end(out);
}

}  // namespace hw::engine_server
