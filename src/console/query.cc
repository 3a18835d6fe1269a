#include "console/query.h"

#include <chrono>

#include "base/text.h"

namespace hw::console {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char folded = lower(c);
  return folded >= 'a' && folded <= 'f' ? folded - 'a' + 10 : -1;
}

// `count` digits at `at`; -1 where one of them is none.
int digits(std::string_view text, size_t at, size_t count) {
  int out = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return -1;
    out = out * 10 + (text[i] - '0');
  }
  return out;
}

// ".123456" and so on in nanoseconds; takes it off `text`. Digits beyond the ninth do not count.
Nanos take_fraction(std::string_view& text) {
  if (!text.starts_with('.')) return 0;
  text.remove_prefix(1);
  Nanos out = 0;
  Nanos unit = kSecond;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    unit /= 10;
    out += unit * (text.front() - '0');
    text.remove_prefix(1);
  }
  return out;
}

// "Z" or "+08:00" in seconds east of UTC.
std::optional<int> parse_offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || text[3] != ':' || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int hours = digits(text, 1, 2);
  const int minutes = digits(text, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

// RFC 3339 §5.6.
std::optional<Nanos> parse_rfc3339(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || lower(text[10]) != 't' ||
      text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  namespace chrono = std::chrono;
  const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (year < 0 || month < 0 || day < 0 || hour < 0 || minute < 0 || second < 0) {
    return std::nullopt;
  }
  const chrono::year_month_day date(chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day)));
  if (!date.ok() || year < 1970 || year > 2200 || hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  std::string_view rest = text.substr(19);
  const Nanos fraction = take_fraction(rest);
  const std::optional<int> offset = parse_offset(rest);
  if (!offset.has_value()) return std::nullopt;
  const int64_t days = chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = days * 86'400 + hour * 3600 + minute * 60 + second - *offset;
  return seconds * kSecond + fraction;
}

}  // namespace

std::string percent_decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    std::string pair(query.substr(0, end));
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    for (char& c : pair) c = c == '+' ? ' ' : c;
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view view = pair;
    out.emplace_back(percent_decode(view.substr(0, equals)),
                     percent_decode(view.substr(std::min(equals + 1, view.size()))));
  }
  return out;
}

std::optional<Nanos> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    Nanos length;
  };
  constexpr Unit kUnits[] = {{"ms", kMillisecond},
                             {"s", kSecond},
                             {"m", 60 * kSecond},
                             {"h", 3600 * kSecond},
                             {"d", 86'400 * kSecond}};
  constexpr Nanos kLongest = 3650 * 86'400 * kSecond;
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const std::string_view number = text.substr(0, text.size() - unit.name.size());
    double value = 0;
    const auto end = std::from_chars(number.data(), number.data() + number.size(), value);
    if (number.empty() || end.ec != std::errc() || end.ptr != number.data() + number.size()) {
      continue;
    }
    const double length = value * static_cast<double>(unit.length);
    if (!(length >= 0) || length > static_cast<double>(kLongest)) return std::nullopt;
    return static_cast<Nanos>(length);
  }
  return std::nullopt;
}

std::optional<Nanos> parse_time(std::string_view text, Nanos now) {
  if (const std::optional<Nanos> back = parse_duration(text); back.has_value()) return now - *back;
  return parse_rfc3339(text);
}

}  // namespace hw::console
