#include "base/ids.h"

#include <cstring>

#include "base/text.h"

namespace hw {
namespace {

constexpr char kBase32[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr char kHex[] = "0123456789abcdef";

// The value of each base 32 digit, -1 for other characters.
constexpr std::array<int8_t, 256> kBase32Values = [] {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (int i = 0; i < 32; ++i) values[static_cast<uint8_t>(kBase32[i])] = static_cast<int8_t>(i);
  return values;
}();

int base32_value(char c) {
  return kBase32Values[static_cast<uint8_t>(c)];
}

// The next `count` hex digits as a number; false where one is none (upper case is none, by the
// recommendation).
bool read_hex(std::string_view text, uint64_t& out) {
  out = 0;
  for (char c : text) {
    const char* at = std::strchr(kHex, c);
    if (c == 0 || at == nullptr) return false;
    out = out << 4 | static_cast<uint64_t>(at - kHex);
  }
  return true;
}

// Both digits of each byte.
constexpr std::array<std::array<char, 2>, 256> kHexPairs = [] {
  std::array<std::array<char, 2>, 256> pairs{};
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kHex[i >> 4], kHex[i & 15]};
  return pairs;
}();

void write_hex64(char* digits, uint64_t value) {
  for (int i = 14; i >= 0; i -= 2, value >>= 8) std::memcpy(digits + i, &kHexPairs[value & 255], 2);
}

}  // namespace

RequestId RequestId::make(Nanos wall, Random& random) {
  constexpr int kRandomHigh = 16;  // of the 80 random bits, those in the upper half
  RequestId id;
  const auto ms = static_cast<uint64_t>(wall / kMillisecond);
  id.high_ = ms << kRandomHigh | (random.next() & ((1 << kRandomHigh) - 1));
  id.low_ = random.next();
  id.write_text();
  return id;
}

bool RequestId::parse(std::string_view text, RequestId& out) {
  if (text.size() != kSize || text.substr(0, 4) != "req_") return false;
  for (char c : text.substr(4)) {
    if (base32_value(c) < 0) return false;
  }
  std::memcpy(out.text_.data(), text.data(), kSize);
  out.read_text();
  return true;
}

Nanos RequestId::wall() const {
  return static_cast<Nanos>(high_ >> 16) * kMillisecond;
}

// 26 digits of five bits are two more than 128; the two on top are 0 until the year 10889.
void RequestId::write_text() {
  std::memcpy(text_.data(), "req_", 4);
  char* const digits = text_.data() + 4;
  uint64_t rest = low_;
  for (int i = 25; i > 13; --i, rest >>= 5) digits[i] = kBase32[rest & 31];
  rest |= high_ << 4;  // four bits are left of the lower half
  digits[13] = kBase32[rest & 31];
  rest = high_ >> 1;
  for (int i = 12; i >= 0; --i, rest >>= 5) digits[i] = kBase32[rest & 31];
}

void RequestId::read_text() {
  const auto digit = [this](size_t i) {
    return static_cast<uint64_t>(base32_value(text_[i]) & 31);
  };
  high_ = low_ = 0;
  for (size_t i = 4; i < 17; ++i) high_ = high_ << 5 | digit(i);
  for (size_t i = 18; i < kSize; ++i) low_ = low_ << 5 | digit(i);
  high_ = high_ << 1 | digit(17) >> 4;
  low_ |= digit(17) << 60;
}

std::array<uint8_t, 16> RequestId::bytes() const {
  std::array<uint8_t, 16> out;
  for (size_t i = 0; i < 8; ++i) {
    out[i] = static_cast<uint8_t>(high_ >> (56 - 8 * i));
    out[8 + i] = static_cast<uint8_t>(low_ >> (56 - 8 * i));
  }
  return out;
}

RequestId RequestId::from_bytes(const std::array<uint8_t, 16>& bytes) {
  RequestId id;
  for (size_t i = 0; i < 8; ++i) {
    id.high_ = id.high_ << 8 | bytes[i];
    id.low_ = id.low_ << 8 | bytes[8 + i];
  }
  id.write_text();
  return id;
}

TraceId TraceId::of(const RequestId& id) {
  const auto [high, low] = id.halves();
  return {high, low};
}

bool TraceId::parse(std::string_view hex, TraceId& out) {
  if (hex.size() != 32) return false;
  std::string folded(hex);
  for (char& c : folded) c = lower(c);
  TraceId parsed;
  const std::string_view digits = folded;
  if (!read_hex(digits.substr(0, 16), parsed.high)) return false;
  if (!read_hex(digits.substr(16), parsed.low)) return false;
  out = parsed;
  return true;
}

void TraceId::write_hex(char* digits) const {
  write_hex64(digits, high);
  write_hex64(digits + 16, low);
}

void TraceId::append_hex(std::string& out) const {
  char digits[kHexSize];
  write_hex(digits);
  out.append(digits, kHexSize);
}

std::string TraceId::hex() const {
  std::string out;
  append_hex(out);
  return out;
}

TraceParent TraceParent::parse(std::string_view header) {
  TraceParent parsed;
  if (header.size() < 55 || header[2] != '-' || header[35] != '-' || header[52] != '-') return {};
  uint64_t version, flags;
  if (!read_hex(header.substr(0, 2), version) || version == 0xff) return {};
  // Version 00 has exactly these fields; a later one may add some behind another dash.
  if (version == 0 ? header.size() != 55 : header.size() > 55 && header[55] != '-') return {};
  if (!read_hex(header.substr(3, 16), parsed.trace.high)) return {};
  if (!read_hex(header.substr(19, 16), parsed.trace.low)) return {};
  if (!read_hex(header.substr(36, 16), parsed.parent)) return {};
  if (!read_hex(header.substr(53, 2), flags)) return {};
  parsed.flags = static_cast<uint8_t>(flags);
  return parsed;
}

void TraceParent::write(char* text) const {
  std::memcpy(text, "00-", 3);
  trace.write_hex(text + 3);
  text[35] = '-';
  write_hex64(text + 36, parent);
  text[52] = '-';
  std::memcpy(text + 53, &kHexPairs[flags], 2);
}

void TraceParent::append(std::string& out) const {
  char text[kSize];
  write(text);
  out.append(text, kSize);
}

void append_hex(std::string& out, const void* bytes, size_t size) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < size; ++i) {
    out += kHex[at[i] >> 4];
    out += kHex[at[i] & 15];
  }
}

}  // namespace hw
