#include "workload/trace.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <tuple>

#include "base/text.h"
#include "json/scan.h"
#include "workload/lengths.h"

namespace hw::workload {
namespace {

constexpr size_t kCellsMax = 64;
constexpr double kSecondsMax = 1e10;  // some three hundred years
constexpr size_t kBlocksMax = 1 << 16;

tl::unexpected<Error> wrong(int64_t line, std::string_view what) {
  return fail(ErrorCode::kConfig, concat("line ", line, ": ", what));
}

// Takes the next line off `text`, without its end.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool parse_tokens(std::string_view text, int& out) {
  double value = 0;  // some tables write 12.0
  if (!parse_real(trim(text), value) || !(value >= 0 && value <= kLengthMax)) return false;
  out = static_cast<int>(value);
  return true;
}

Nanos nanos_of(double seconds) {
  return static_cast<Nanos>(std::llround(seconds * 1e9));
}

// Seconds, or "2023-11-16 18:15:46.6805900", with or without "+00:00".
bool parse_time(std::string_view text, Nanos& out) {
  text = trim(text);
  double seconds = 0;
  if (parse_real(text, seconds)) {
    if (!(seconds >= 0 && seconds <= kSecondsMax)) return false;
    out = nanos_of(seconds);
    return true;
  }
  if (text.size() < 19 || text[4] != '-' || text[13] != ':') return false;
  std::tm date{};
  const auto field = [&](size_t at, size_t size, int& value) {
    return parse_number(text.substr(at, size), value);
  };
  if (!field(0, 4, date.tm_year) || !field(5, 2, date.tm_mon) || !field(8, 2, date.tm_mday) ||
      !field(11, 2, date.tm_hour) || !field(14, 2, date.tm_min) || !field(17, 2, date.tm_sec)) {
    return false;
  }
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  std::string_view rest = text.substr(19);
  double fraction = 0;
  if (rest.starts_with('.')) {
    const size_t digits = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (digits > 1 && !parse_real(concat("0", rest.substr(0, digits)), fraction)) return false;
    rest.remove_prefix(digits);
  }
  if (!rest.empty() && rest != "Z" && rest != "+00:00") return false;
  out = static_cast<Nanos>(::timegm(&date)) * kSecond + nanos_of(fraction);
  return true;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (out.size() < kCellsMax) {
    const size_t comma = line.find(',');
    out.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  return out;
}

// Which columns of a CSV are of interest.
struct Columns {
  size_t time = 0, input = 0, output = 0;
};

bool find_columns(std::string_view head, Columns& out) {
  const std::vector<std::string_view> names = cells_of(head);
  const auto find = [&](std::initializer_list<std::string_view> wanted, size_t& at) {
    for (size_t i = 0; i < names.size(); ++i) {
      for (const std::string_view name : wanted) {
        if (trim(names[i]) != name) continue;
        at = i;
        return true;
      }
    }
    return false;
  };
  return find({"TIMESTAMP", "Timestamp"}, out.time) &&
         find({"ContextTokens", "Request tokens"}, out.input) &&
         find({"GeneratedTokens", "Response tokens"}, out.output);
}

// Whether the row is to be kept.
Result<bool> read_csv_row(std::string_view line, int64_t number, const Columns& columns,
                          TraceRow& row) {
  const std::vector<std::string_view> cells = cells_of(line);
  if (std::max({columns.time, columns.input, columns.output}) >= cells.size()) {
    return wrong(number, "too few cells");
  }
  if (!parse_time(cells[columns.time], row.at)) return wrong(number, "the time cannot be read");
  if (!parse_tokens(cells[columns.input], row.input_tokens) ||
      !parse_tokens(cells[columns.output], row.output_tokens)) {
    return wrong(number, "expected numbers of tokens");
  }
  return row.input_tokens > 0 && row.output_tokens > 0;
}

Result<bool> read_json_row(std::string_view line, int64_t number, TraceRow& row) {
  json::Document document(ErrorCode::kConfig);
  if (const Status opened = document.open(line); !opened) {
    return wrong(number, opened.error().message);
  }
  const json::Object object = document.root();
  const auto time = object.find("timestamp").number();
  const auto input = object.find("input_length").integer();
  const auto output = object.find("output_length").integer();
  bool bounded = true;
  object.find("hash_ids").array().each([&](const json::Value& value) {
    const auto id = value.integer();
    bounded = bounded && id.has_value() && row.blocks.size() < kBlocksMax;
    if (bounded) row.blocks.push_back(static_cast<uint64_t>(*id));
  });
  if (const Status ended = document.finish(); !ended) return wrong(number, ended.error().message);
  const auto is_length = [](const std::optional<int64_t>& n) {
    return n.has_value() && *n >= 0 && *n <= kLengthMax;
  };
  if (!time || !(*time >= 0 && *time <= kSecondsMax * 1e3) || !is_length(input) ||
      !is_length(output) || !bounded) {
    return wrong(number, "expected timestamp (ms), input_length, output_length and hash_ids");
  }
  row.at = nanos_of(*time / 1e3);
  row.input_tokens = static_cast<int>(*input);
  row.output_tokens = static_cast<int>(*output);
  return row.input_tokens > 0 && row.output_tokens > 0;
}

}  // namespace

Result<std::vector<TraceRow>> read_trace(std::string_view text) {
  if (text.size() > kTraceBytesMax) return fail(ErrorCode::kConfig, "the trace is above 1 GiB");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const bool csv = !trim(text.substr(0, text.find('\n'))).starts_with('{');
  Columns columns;
  int64_t number = 0;
  if (csv) {
    ++number;
    if (!find_columns(take_line(text), columns)) {
      return wrong(number,
                   "this is none of the traces that are known: Mooncake (lines of JSON with "
                   "timestamp, input_length, output_length), Azure (TIMESTAMP, ContextTokens, "
                   "GeneratedTokens), BurstGPT (Timestamp, Request tokens, Response tokens)");
    }
  }
  std::vector<TraceRow> out;
  while (!text.empty()) {
    ++number;
    const std::string_view line = take_line(text);
    if (trim(line).empty()) continue;
    TraceRow row;
    const Result<bool> kept =
        csv ? read_csv_row(line, number, columns, row) : read_json_row(line, number, row);
    if (!kept.has_value()) return fail(kept.error());
    if (!*kept) continue;
    if (out.size() == kTraceRowsMax) return wrong(number, "more than 8,000,000 requests");
    out.push_back(std::move(row));
  }
  if (out.empty()) return fail(ErrorCode::kConfig, "the trace has no request with an answer");
  std::sort(out.begin(), out.end(), [](const TraceRow& a, const TraceRow& b) {
    return std::tie(a.at, a.input_tokens, a.output_tokens) <
           std::tie(b.at, b.input_tokens, b.output_tokens);
  });
  const Nanos first = out.front().at;
  for (TraceRow& row : out) row.at -= first;
  return out;
}

}  // namespace hw::workload
