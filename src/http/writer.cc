#include "http/writer.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "base/text.h"
#include "http/fields.h"

namespace hw::http {

namespace {

struct Reason {
  int status;
  std::string_view phrase;
};

// RFC 9110 §15, RFC 6585, RFC 7725, and two that others use: nginx's 499 and Anthropic's 529.
// Sorted.
constexpr Reason kReasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
    {511, "Network Authentication Required"},
    {529, "Overloaded"},
};

}  // namespace

std::string_view reason_phrase(int status) {
  const auto* row = std::lower_bound(std::begin(kReasons), std::end(kReasons), status,
                                     [](const Reason& r, int s) { return r.status < s; });
  return row != std::end(kReasons) && row->status == status ? row->phrase : "Unknown";
}

void append_request_line(std::string& out, std::string_view method, std::string_view target) {
  HW_ASSERT(is_token(method));
  HW_ASSERT(!target.empty());
  for (const char c : target) HW_ASSERT(c > 0x20 && c < 0x7f);
  out.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
}

void append_status_line(std::string& out, int status) {
  HW_ASSERT(status >= 100 && status <= 999);
  if (status == 200) {
    out.append("HTTP/1.1 200 OK\r\n");
    return;
  }
  out.append("HTTP/1.1 ");
  append(out, status);
  out.append(" ").append(reason_phrase(status)).append("\r\n");
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  const bool fine = append_checked_field(out, name, value);
  HW_ASSERT(fine);
}

void append_field(std::string& out, std::string_view name, uint64_t value) {
  HW_ASSERT(is_token(name));
  out.append(name).append(": ");
  append(out, value);
  out.append("\r\n");
}

bool append_checked_field(std::string& out, std::string_view name, std::string_view value) {
  if (!is_token(name) || !is_field_value(value)) return false;
  out.append(name).append(": ").append(value).append("\r\n");
  return true;
}

void append_content_length(std::string& out, uint64_t body_bytes) {
  out.append("content-length: ");
  append(out, body_bytes);
  out.append("\r\n");
}

void append_head_end(std::string& out) {
  out.append("\r\n");
}

}  // namespace hw::http
