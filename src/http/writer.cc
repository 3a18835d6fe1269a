#include "http/writer.h"

#include "base/assert.h"
#include "base/text.h"
#include "http/head.h"

namespace hw::http {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 103:
      return "Early Hints";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 203:
      return "Non-Authoritative Information";
    case 204:
      return "No Content";
    case 205:
      return "Reset Content";
    case 206:
      return "Partial Content";
    case 300:
      return "Multiple Choices";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 423:
      return "Locked";
    case 424:
      return "Failed Dependency";
    case 425:
      return "Too Early";
    case 426:
      return "Upgrade Required";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 451:
      return "Unavailable For Legal Reasons";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    case 511:
      return "Network Authentication Required";
    case 529:
      return "Overloaded";
  }
  return "Unknown";
}

void append_request_line(std::string& out, std::string_view method, std::string_view target) {
  HW_ASSERT(is_token(method));
  HW_ASSERT(!target.empty());
  for (const char c : target) HW_ASSERT(c > 0x20 && c < 0x7f);
  out.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
}

void append_status_line(std::string& out, int status) {
  HW_ASSERT(status >= 100 && status <= 999);
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
  append_field(out, "content-length", body_bytes);
}

void append_head_end(std::string& out) {
  out.append("\r\n");
}

}  // namespace hw::http
