// Appends the parts of HTTP/1.1 heads to a string; the caller keeps their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hw::http {

// "OK" for 200; "Unknown" where RFC 9110 and its kin name none.
std::string_view reason_phrase(int status);

// "POST /v1/messages HTTP/1.1\r\n". Precondition: a token and a target without blanks or controls.
void append_request_line(std::string& out, std::string_view method, std::string_view target);
// "HTTP/1.1 200 OK\r\n". Precondition: 100 <= status <= 999.
void append_status_line(std::string& out, int status);

// "name: value\r\n" for what is ours or was parsed by head.h: a name that is no token or a value
// with a control character is our bug and asserts.
void append_field(std::string& out, std::string_view name, std::string_view value);
// The same with a number.
void append_field(std::string& out, std::string_view name, uint64_t value);
// For what came from outside in another way (a configuration, a JSON body): false, and nothing
// appended, where it would not be a valid field.
[[nodiscard]] bool append_checked_field(std::string& out, std::string_view name,
                                        std::string_view value);
// "content-length: N\r\n".
void append_content_length(std::string& out, uint64_t body_bytes);
// The blank line.
void append_head_end(std::string& out);

}  // namespace hw::http
