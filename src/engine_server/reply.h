// The heads of an instance's answers, and whole answers of one piece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "http/server.h"
#include "net/task.h"

namespace hw::engine_server {

// An answer that is complete.
struct Reply {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string body;
  std::string request_id;     // sent as x-request-id; empty: none
  std::string server_timing;  // empty: none
  int retry_after_s = 0;      // 0: none
};

// An error in OpenAI's shape, with its status and retry-after.
Reply error_reply(const Error& error, std::string_view request_id);
// The same as the complete bytes of an answer after which the connection ends.
void append_refusal(std::string& out, const Error& error);

// Writes it; false where the client is gone. A request whose body was not read ends its connection.
net::Task<bool> send_reply(http::ServerConnection& client, const Reply& reply);

// The head of a stream of events, in chunks but for HTTP/1.0 clients.
void append_stream_head(std::string& out, const http::ServerConnection& client,
                        std::string_view request_id);

}  // namespace hw::engine_server
