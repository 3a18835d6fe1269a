#include "http/head.h"

#include <cstring>

#include "base/text.h"
#include "http/characters.h"

namespace hw::http {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr const char* kBareLf = "a line ends in LF without CR";
constexpr const char* kControlCharacter = "a field value has a control character in it";

// What the fields say about framing and connection, gathered while they are read.
struct Control {
  int hosts = 0;
  int lengths = 0;
  int encodings = 0;
  std::string_view host;
  std::string_view length;
  std::string_view encoding;
  std::string_view expect;
  bool has_expect = false;
  bool has_upgrade = false;
  bool close = false;
  bool keep_alive = false;
  bool connection_upgrade = false;

  void take_connection(std::string_view list) {
    while (!list.empty()) {
      const std::string_view option = take_list_element(list);
      if (equal_ignoring_case(option, "close")) close = true;
      if (equal_ignoring_case(option, "keep-alive")) keep_alive = true;
      if (equal_ignoring_case(option, "upgrade")) connection_upgrade = true;
    }
  }

  // The length of the name decides alone in most cases.
  void take(const Field& field) {
    const auto is = [&](std::string_view name) { return is_token_named(field.name, name); };
    switch (field.name.size()) {
      case 4:
        if (is("host")) ++hosts, host = field.value;
        break;
      case 6:
        if (is("expect")) has_expect = true, expect = field.value;
        break;
      case 7:
        if (is("upgrade")) has_upgrade = true;
        break;
      case 10:
        if (is("connection")) take_connection(field.value);
        break;
      case 14:
        if (is("content-length")) ++lengths, length = field.value;
        break;
      case 17:
        if (is("transfer-encoding")) ++encodings, encoding = field.value;
        break;
    }
  }
};

// Reads one head whose end is known. Every function returns false after noting what is wrong.
class HeadParser {
 public:
  // The head is the first `size` bytes.
  HeadParser(std::string_view bytes, size_t size, const HeadLimits& limits)
      : at_(bytes.data()),
        blank_line_(bytes.data() + size - 2),
        readable_end_(bytes.data() + bytes.size()),
        limits_(limits) {}

  const char* fault() const { return fault_; }
  bool too_large() const { return too_large_; }

  void skip_empty_line() {
    if (*at_ == '\r') at_ += 2;
  }

  // method SP request-target SP HTTP-version CRLF
  bool request_line(RequestHead& out) {
    const char* begin = at_;
    while (is_token_char(*at_)) ++at_;
    out.method = {begin, at_};
    if (out.method.empty() || *at_ != ' ') return fail("the method is not a token");
    if (out.method.size() > kMethodBytesMax) return fail("the method is too long");
    begin = ++at_;
    while (static_cast<unsigned char>(*at_) > 0x20 && static_cast<unsigned char>(*at_) < 0x7f)
      ++at_;
    out.target = {begin, at_};
    if (out.target.empty() || *at_ != ' ') {
      return fail("the request target is empty or has a character that is not visible ASCII");
    }
    if (out.target.size() > limits_.target_bytes_max) {
      return fail_too_large("the request target is too long");
    }
    ++at_;
    return version(out.minor) && line_end("something follows the HTTP version");
  }

  // HTTP-version SP status-code [ SP reason-phrase ] CRLF
  bool status_line(ResponseHead& out) {
    if (!version(out.minor)) return false;
    if (at_[0] != ' ' || !is_digit(at_[1]) || !is_digit(at_[2]) || !is_digit(at_[3])) {
      return fail("the status is not three digits");
    }
    out.status = (at_[1] - '0') * 100 + (at_[2] - '0') * 10 + (at_[3] - '0');
    at_ += 4;
    if (out.status < 100) return fail("the status is below 100");
    const char* begin = *at_ == ' ' ? at_ + 1 : at_;
    if (begin == at_ && *at_ != '\r') return fail("the status is not three digits");
    at_ = find_control(begin, blank_line_);
    out.reason = {begin, at_};
    return line_end("the reason phrase has a control character in it");
  }

  // *( field-name ":" OWS field-value OWS CRLF )
  bool fields(Fields& out, Control& control) {
    out.clear();
    while (at_ < blank_line_) {
      Field field;
      if (!this->field(field)) return false;
      if (out.size() >= limits_.fields_max || !out.add(field)) {
        return fail_too_large("the head has too many fields");
      }
      control.take(field);
    }
    return true;
  }

 private:
  // What ends a name or a value is there at the blank line at the latest; looking for it may go
  // beyond, into bytes of the body, so that short ones at the end are looked at 16 at a time too.
  bool field(Field& out) {
    const char* const line = at_;
    const char* begin = at_;
    at_ = find_token_end(at_, readable_end_);
    out.name = {begin, at_};
    if (*at_ != ':' || out.name.empty()) return fail(name_fault(begin));
    do ++at_;
    while (is_blank(*at_));
    begin = at_;
    at_ = find_control(at_, readable_end_);
    const char* end = at_;
    while (end > begin && is_blank(end[-1])) --end;
    out.value = {begin, end};
    if (!line_end(kControlCharacter)) return false;
    out.line_bytes = static_cast<uint32_t>(at_ - line);
    return true;
  }

  const char* name_fault(const char* begin) const {
    if (is_blank(*begin)) return "a field is folded over two lines";
    if (at_ > begin && is_blank(*at_)) return "a blank stands between a field name and its colon";
    if (*at_ == '\r') return "a line in the head has no colon";
    return "a field name has a character in it that may not be there";
  }

  bool version(int& minor) {
    if (std::memcmp(at_, "HTTP/", std::min<size_t>(5, left())) != 0 || left() < 8 ||
        !is_digit(at_[5]) || at_[6] != '.' || !is_digit(at_[7])) {
      return fail("the HTTP version is malformed");
    }
    if (at_[5] != '1') return fail("the HTTP version is not 1.x");
    minor = at_[7] == '0' ? 0 : 1;
    at_ += 8;
    return true;
  }

  bool line_end(const char* otherwise) {
    if (at_[0] != '\r' || at_[1] != '\n') return fail(otherwise);
    at_ += 2;
    return true;
  }

  size_t left() const { return static_cast<size_t>(blank_line_ - at_); }

  bool fail(const char* what) {
    fault_ = what;
    return false;
  }
  bool fail_too_large(const char* what) {
    too_large_ = true;
    return fail(what);
  }

  const char* at_;
  const char* blank_line_;  // behind it CR and LF can still be read, which end every loop
  const char* readable_end_;
  const HeadLimits& limits_;
  const char* fault_ = nullptr;
  bool too_large_ = false;
};

// The framing that Content-Length and Transfer-Encoding give; null, or what is wrong with them.
const char* read_framing(const Control& control, int minor, BodyFraming& framing,
                         uint64_t& length) {
  framing = BodyFraming::kNone;
  length = 0;
  if (control.encodings > 0) {
    if (control.lengths > 0) return "the head has both Content-Length and Transfer-Encoding";
    if (minor == 0) return "Transfer-Encoding is not for HTTP/1.0";
    if (control.encodings > 1 || !equal_ignoring_case(control.encoding, "chunked")) {
      return "the only Transfer-Encoding understood is one `chunked`";
    }
    framing = BodyFraming::kChunked;
    return nullptr;
  }
  if (control.lengths == 0) return nullptr;
  if (control.lengths > 1) return "the head has more than one Content-Length";
  for (const char c : control.length) {
    if (!is_digit(c)) return "Content-Length is not a number";
  }
  if (!parse_number(control.length, length)) return "Content-Length is not a number of 64 bits";
  framing = BodyFraming::kLength;
  return nullptr;
}

bool keeps_alive(const Control& control, int minor) {
  return !control.close && (minor > 0 || control.keep_alive);
}

// uri-host [ ":" port ] without user information (RFC 9110 §4.2.4, §7.2); may be empty.
bool is_authority(std::string_view text) {
  size_t at = 0;
  if (!text.empty() && text.front() == '[') {
    at = text.find(']');
    if (at == text.npos) return false;
    for (const char c : text.substr(1, at - 1)) {
      if (!is_digit(c) && !(lower(c) >= 'a' && lower(c) <= 'z') && c != ':' && c != '.')
        return false;
    }
    ++at;
  } else {
    constexpr std::string_view kOther = "-._~%!$&'()*+;=";
    while (at < text.size() && text[at] != ':') {
      const char c = lower(text[at++]);
      if (!is_digit(c) && !(c >= 'a' && c <= 'z') && kOther.find(c) == kOther.npos) return false;
    }
  }
  if (at == text.size()) return true;
  if (text[at] != ':') return false;
  for (const char c : text.substr(at + 1)) {
    if (!is_digit(c)) return false;
  }
  return true;
}

// Finds path and authority in an absolute-form target (RFC 9112 §3.2.2).
const char* read_absolute_target(RequestHead& out) {
  const size_t colon = out.target.find("://");
  const std::string_view scheme = out.target.substr(0, colon);
  if (colon == out.target.npos ||
      (!equal_ignoring_case(scheme, "http") && !equal_ignoring_case(scheme, "https"))) {
    return "the request target is neither a path nor an http URL";
  }
  const std::string_view rest = out.target.substr(colon + 3);
  const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  out.host = rest.substr(0, end);
  if (out.host.empty() || !is_authority(out.host)) return "the request target has no valid host";
  out.path = end == rest.size() ? std::string_view("/") : rest.substr(end);
  if (out.path.front() != '/') return "the request target has no path";
  return nullptr;
}

const char* read_target(const Control& control, RequestHead& out) {
  if (control.hosts > 1) return "the head has more than one Host";
  if (control.hosts == 0 && out.minor > 0) return "the head has no Host";
  if (!is_authority(control.host)) return "Host is not a host";
  out.host = control.host;
  out.path = out.target;
  if (out.target.front() == '/') return nullptr;
  if (out.target == "*") return out.method == "OPTIONS" ? nullptr : "the target * is for OPTIONS";
  return read_absolute_target(out);
}

// What can be said of a request before its head is complete: that it does not begin like one.
const char* check_first_bytes(std::string_view bytes) {
  if (bytes.empty() || is_token_char(bytes.front())) return nullptr;
  if (bytes.front() == '\n') return kBareLf;
  if (bytes.front() == '\x16') return "this looks like TLS, but the port speaks plain HTTP";
  if (bytes.front() != '\r') return "the method is not a token";
  if (bytes.size() == 1) return nullptr;
  if (bytes[1] != '\n') return "a CR stands alone";
  if (bytes.size() == 2 || is_token_char(bytes[2])) return nullptr;
  return "the method is not a token";
}

const char* interpret(const Control& control, RequestHead& out) {
  if (const char* fault = read_target(control, out)) return fault;
  if (const char* fault = read_framing(control, out.minor, out.framing, out.content_length)) {
    return fault;
  }
  out.keep_alive = keeps_alive(control, out.minor);
  out.upgrade = control.has_upgrade && control.connection_upgrade;
  out.expect_continue = false;
  if (control.has_expect && out.minor > 0) {
    if (!equal_ignoring_case(control.expect, "100-continue")) {
      return "Expect asks for something other than 100-continue";
    }
    out.expect_continue = true;
  }
  return nullptr;
}

const char* interpret(const Control& control, std::string_view request_method, ResponseHead& out) {
  if (const char* fault = read_framing(control, out.minor, out.framing, out.content_length)) {
    return fault;
  }
  if (out.status == 101) return "it switches protocols, which nobody asked for";
  out.keep_alive = keeps_alive(control, out.minor);
  const bool bodyless =
      out.status < 200 || out.status == 204 || out.status == 304 || request_method == "HEAD";
  if (bodyless) {
    out.framing = BodyFraming::kNone;
  } else if (out.framing == BodyFraming::kNone) {
    out.framing = BodyFraming::kUntilClose;
    out.keep_alive = false;
  }
  return nullptr;
}

tl::unexpected<Error> fail_response(std::string_view what) {
  return fail(ErrorCode::kUpstreamProtocol, concat("the answer is not HTTP/1.1: ", what));
}

}  // namespace

Result<size_t> HeadScanner::scan(std::string_view bytes, size_t head_bytes_max) {
  const std::string_view head = bytes.substr(0, head_bytes_max);
  const char* const end = head.data() + head.size();
  for (;;) {
    const auto lf = static_cast<size_t>(find_line_feed(head.data() + scanned_, end) - head.data());
    if (lf == head.size()) break;
    if (lf == line_begin_ || head[lf - 1] != '\r') return fail(ErrorCode::kBadRequest, kBareLf);
    const bool is_blank_line = lf == line_begin_ + 1 && line_begin_ > 0;  // not a leading CRLF
    scanned_ = line_begin_ = lf + 1;
    if (is_blank_line) return lf + 1;
  }
  scanned_ = head.size();
  if (bytes.size() < head_bytes_max) return size_t{0};
  return fail(ErrorCode::kHeadTooLarge,
              concat("the head has more than ", head_bytes_max, " bytes (head_bytes_max)"));
}

Result<size_t> parse_request_head(std::string_view bytes, const HeadLimits& limits,
                                  HeadScanner& scanner, RequestHead& out) {
  if (const char* fault = check_first_bytes(bytes)) return fail(ErrorCode::kBadRequest, fault);
  const Result<size_t> size = scanner.scan(bytes, limits.head_bytes_max);
  if (!size || *size == 0) return size;
  HeadParser parser(bytes, *size, limits);
  parser.skip_empty_line();
  Control control;
  if (!parser.request_line(out) || !parser.fields(out.fields, control)) {
    return fail(parser.too_large() ? ErrorCode::kHeadTooLarge : ErrorCode::kBadRequest,
                parser.fault());
  }
  if (const char* fault = interpret(control, out)) return fail(ErrorCode::kBadRequest, fault);
  out.size = *size;
  return size;
}

Result<size_t> parse_request_head(std::string_view bytes, const HeadLimits& limits,
                                  RequestHead& out) {
  HeadScanner scanner;
  return parse_request_head(bytes, limits, scanner, out);
}

Result<size_t> parse_response_head(std::string_view bytes, const HeadLimits& limits,
                                   std::string_view request_method, HeadScanner& scanner,
                                   ResponseHead& out) {
  const std::string_view begin = bytes.substr(0, 5);
  if (begin != std::string_view("HTTP/").substr(0, begin.size())) {
    return fail_response("it does not begin with HTTP/");
  }
  const Result<size_t> size = scanner.scan(bytes, limits.head_bytes_max);
  if (!size) return fail_response(size.error().message);
  if (*size == 0) return size;
  HeadParser parser(bytes, *size, limits);
  Control control;
  if (!parser.status_line(out) || !parser.fields(out.fields, control)) {
    return fail_response(parser.fault());
  }
  if (const char* fault = interpret(control, request_method, out)) return fail_response(fault);
  out.size = *size;
  return size;
}

Result<size_t> parse_response_head(std::string_view bytes, const HeadLimits& limits,
                                   std::string_view request_method, ResponseHead& out) {
  HeadScanner scanner;
  return parse_response_head(bytes, limits, request_method, scanner, out);
}

}  // namespace hw::http
