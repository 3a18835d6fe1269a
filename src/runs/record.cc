#include "runs/record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "json/check.h"
#include "json/scan.h"
#include "json/writer.h"

namespace hw::runs {
namespace {

constexpr std::array<std::string_view, kRequestOutcomeCount> kOutcomes = {
    "ok",      "http_error",    "rate_limited",   "stream_error", "empty",
    "timeout", "connect_error", "protocol_error", "cancelled",    "dropped"};
constexpr std::array<std::string_view, 4> kChannels = {"content", "reasoning", "tool", "refusal"};
constexpr std::array<std::string_view, 4> kPhases = {"warmup", "ramp", "steady", "drain"};

template <class Enum, size_t n>
std::optional<Enum> parse_word(const std::array<std::string_view, n>& words,
                               std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

struct StampField {
  std::string_view name;
  std::optional<Nanos> Record::* member;
};
constexpr StampField kStampsBeforeTokens[] = {
    {"t_sched", &Record::t_sched}, {"t_disp", &Record::t_disp},  {"t_conn0", &Record::t_conn0},
    {"t_dns", &Record::t_dns},     {"t_tcp", &Record::t_tcp},    {"t_tls", &Record::t_tls},
    {"t_tx0", &Record::t_tx0},     {"t_tx1", &Record::t_tx1},    {"t_hdr", &Record::t_hdr},
    {"t_rx0", &Record::t_rx0},     {"t_frame", &Record::t_frame}};
constexpr StampField kStampsAfterTokens[] = {
    {"t_usage", &Record::t_usage}, {"t_done", &Record::t_done}, {"t_close", &Record::t_close}};

struct CountField {
  std::string_view name;
  std::optional<int64_t> Record::* member;
};
constexpr CountField kCounts[] = {{"n_in", &Record::n_in},
                                  {"n_out", &Record::n_out},
                                  {"n_first", &Record::n_first},
                                  {"cached_tokens", &Record::cached_tokens}};

struct TextField {
  std::string_view name;
  std::string Record::* member;
};
constexpr TextField kTexts[] = {{"id", &Record::id},
                                {"bucket", &Record::bucket},
                                {"error_class", &Record::error_class},
                                {"finish_reason", &Record::finish_reason},
                                {"n_source", &Record::n_source}};

template <class Fields>
void write_stamps(json::Writer& writer, const Record& record, const Fields& fields) {
  for (const StampField& field : fields) {
    if (record.*field.member) writer.field(field.name, *(record.*field.member));
  }
}

template <class Value>
void write_tokens(json::Writer& writer, std::string_view name, const Record& record,
                  const Value& value) {
  writer.key(name);
  writer.begin_array();
  for (const TokenEvent& token : record.tokens) writer.value(value(token));
  writer.end_array();
}

void write_token_arrays(json::Writer& writer, const Record& record) {
  if (record.tokens.empty()) return;
  write_tokens(writer, "t_tok", record, [](const TokenEvent& token) { return token.at; });
  write_tokens(writer, "chan", record,
               [](const TokenEvent& token) { return channel_name(token.channel); });
  write_tokens(writer, "bytes", record, [](const TokenEvent& token) { return token.bytes; });
  write_tokens(writer, "ev_in_recv", record,
               [](const TokenEvent& token) { return token.events_in_read; });
}

void write_text_or_null(json::Writer& writer, std::string_view name, const std::string& text) {
  if (text.empty()) {
    writer.field_null(name);
  } else {
    writer.field(name, text);
  }
}

void write_engine(json::Writer& writer, const EngineTimes& engine) {
  if (engine.empty()) return;
  writer.key("engine");
  writer.begin_object();
  if (engine.queue_ns) writer.field("queue_ns", *engine.queue_ns);
  if (engine.prefill_ns) writer.field("prefill_ns", *engine.prefill_ns);
  if (engine.decode_ns) writer.field("decode_ns", *engine.decode_ns);
  writer.end_object();
}

void write_end(json::Writer& writer, const Record& record) {
  writer.field("outcome", outcome_name(record.outcome));
  write_text_or_null(writer, "error_class", record.error_class);
  if (record.status) writer.field("status", *record.status);
  write_text_or_null(writer, "finish_reason", record.finish_reason);
  for (const CountField& field : kCounts) {
    if (record.*field.member) writer.field(field.name, *(record.*field.member));
  }
  if (!record.n_source.empty()) writer.field("n_source", record.n_source);
  writer.key("marks");
  writer.begin_array();
  for (const std::string& mark : record.marks) writer.value(mark);
  writer.end_array();
  writer.field("attempts", record.attempts);
  write_engine(writer, record.engine);
  if (json::is_json_object(record.gateway_call)) {
    writer.field_raw("gateway_call", record.gateway_call);
  } else {
    writer.field_null("gateway_call");
  }
}

// Reads one line; the first thing that is wrong is kept.
class LineReader {
 public:
  Result<Record> read(std::string_view line) {
    if (line.size() > kRecordBytesMax) return wrong("the line is too long");
    json::Document document(ErrorCode::kConfig);
    if (const Status opened = document.open(line); !opened) return fail(opened.error());
    document.root().each([&](std::string_view key, json::Value value) { take(key, value); });
    if (const Status finished = document.finish(); !finished) return fail(finished.error());
    if (!outcome_told_) record_.outcome = likely_outcome();
    if (!fault_.empty()) return wrong(fault_);
    if (properties_ > tokens_told_) return wrong("more properties than tokens in t_tok");
    record_.tokens.resize(tokens_told_);
    return std::move(record_);
  }

 private:
  static Result<Record> wrong(std::string_view what) {
    return fail(ErrorCode::kConfig, std::string(what));
  }
  void blame(std::string_view what, std::string_view word) {
    if (fault_.empty()) fault_ = concat(what, ": ", word.substr(0, kShownBytesMax));
  }

  void take(std::string_view key, json::Value value) {
    if (take_stamp(kStampsBeforeTokens, key, value)) return;
    if (take_stamp(kStampsAfterTokens, key, value)) return;
    for (const CountField& field : kCounts) {
      if (key == field.name) return take_count(record_.*field.member, value);
    }
    for (const TextField& field : kTexts) {
      if (key == field.name) {
        record_.*field.member = value.text_or("");
        return;
      }
    }
    take_array(key, value);
    take_rest(key, value);
  }

  template <class Fields>
  bool take_stamp(const Fields& fields, std::string_view key, json::Value value) {
    for (const StampField& field : fields) {
      if (key != field.name) continue;
      record_.*field.member = stamp(value);
      return true;
    }
    return false;
  }

  std::optional<Nanos> stamp(json::Value value) {
    const std::optional<int64_t> number = value.integer();
    if (!number) return std::nullopt;
    if (*number < -Record::kStampMax || *number > Record::kStampMax) {
      blame("a stamp out of range", value.raw());
      return std::nullopt;
    }
    return number;
  }

  // A count below 0 or beyond all sense is as good as none.
  static void take_count(std::optional<int64_t>& out, json::Value value) {
    const std::optional<int64_t> number = value.integer();
    out.reset();
    if (number && *number >= 0 && *number <= kCountMax) out = number;
  }

  void take_array(std::string_view key, json::Value value) {
    if (key == "t_tok") {
      tokens_told_ = 0;
      value.array().each([&](json::Value item) { take_token(stamp(item)); });
    } else if (key == "chan") {
      each_token(value, [&](TokenEvent& token, json::Value item) {
        const auto channel = parse_channel(item.text_or(""));
        if (!channel) return blame("an unknown channel", item.text_or(""));
        token.channel = *channel;
      });
    } else if (key == "bytes") {
      each_token(value, [](TokenEvent& token, json::Value item) { token.bytes = small(item, 0); });
    } else if (key == "ev_in_recv") {
      each_token(value, [](TokenEvent& token, json::Value item) {
        token.events_in_read = small(item, 1);
      });
    } else if (key == "marks") {
      record_.marks.clear();
      value.array().each([&](json::Value item) {
        if (record_.marks.size() < kMarksMax) record_.marks.emplace_back(item.text_or(""));
      });
    }
  }

  void take_token(std::optional<Nanos> at) {
    if (!at) return blame("a token without a time", "t_tok");
    if (tokens_told_ > 0 && *at < record_.tokens[tokens_told_ - 1].at) {
      blame("tokens go back in time", "t_tok");
    }
    token(tokens_told_++).at = *at;
  }

  TokenEvent& token(size_t index) {
    if (index >= record_.tokens.size()) record_.tokens.resize(index + 1);
    return record_.tokens[index];
  }

  // The arrays may come in any order.
  template <class Visit>
  void each_token(json::Value value, const Visit& visit) {
    size_t index = 0;
    value.array().each([&](json::Value item) { visit(token(index++), item); });
    properties_ = std::max(properties_, index);
  }

  static uint32_t small(json::Value value, uint32_t otherwise) {
    const int64_t number = value.integer().value_or(otherwise);
    return number < 0 || number > UINT32_MAX ? otherwise : static_cast<uint32_t>(number);
  }

  void take_rest(std::string_view key, json::Value value) {
    if (key == "outcome" && !value.is_null()) {
      const auto outcome = parse_outcome(value.text_or(""));
      if (!outcome) return blame("an unknown outcome", value.text_or(""));
      record_.outcome = *outcome, outcome_told_ = true;
    } else if (key == "phase" && !value.is_null()) {
      const auto phase = parse_phase(value.text_or(""));
      if (!phase) return blame("an unknown phase", value.text_or(""));
      record_.phase = *phase;
    } else if (key == "reused") {
      record_.reused = value.boolean();
    } else if (key == "status") {
      const int64_t status = value.integer().value_or(0);
      if (status > 0 && status < 1000) record_.status = static_cast<int>(status);
    } else if (key == "attempts") {
      record_.attempts = static_cast<int>(std::min<uint32_t>(small(value, 1), kAttemptsMax));
    } else if (key == "engine") {
      value.object().each([&](std::string_view name, json::Value item) {
        if (name == "queue_ns") record_.engine.queue_ns = stamp(item);
        if (name == "prefill_ns") record_.engine.prefill_ns = stamp(item);
        if (name == "decode_ns") record_.engine.decode_ns = stamp(item);
      });
    } else if (key == "gateway_call") {
      const std::string_view raw = value.raw();
      record_.gateway_call = json::is_json_object(raw) ? raw : std::string_view();
    }
  }

  RequestOutcome likely_outcome() const {
    const bool answered = tokens_told_ > 0 || record_.t_done.has_value();
    return answered && record_.status.value_or(200) < 400 ? RequestOutcome::kOk
                                                          : RequestOutcome::kEmpty;
  }

  static constexpr size_t kShownBytesMax = 40;
  static constexpr size_t kMarksMax = 64;
  static constexpr uint32_t kAttemptsMax = 1000;
  static constexpr int64_t kCountMax = int64_t{1} << 40;  // tokens; sums of them stay exact

  Record record_;
  size_t tokens_told_ = 0;
  size_t properties_ = 0;
  bool outcome_told_ = false;
  std::string fault_;
};

}  // namespace

std::string_view outcome_name(RequestOutcome outcome) {
  return kOutcomes[static_cast<size_t>(outcome)];
}
std::optional<RequestOutcome> parse_outcome(std::string_view name) {
  return parse_word<RequestOutcome>(kOutcomes, name);
}
bool is_failed(RequestOutcome outcome) {
  return outcome != RequestOutcome::kOk && outcome != RequestOutcome::kCancelled &&
         outcome != RequestOutcome::kDropped;
}
std::string_view channel_name(TokenChannel channel) {
  return kChannels[static_cast<size_t>(channel)];
}
std::optional<TokenChannel> parse_channel(std::string_view name) {
  return parse_word<TokenChannel>(kChannels, name);
}
std::string_view phase_name(Phase phase) {
  return kPhases[static_cast<size_t>(phase)];
}
std::optional<Phase> parse_phase(std::string_view name) {
  return parse_word<Phase>(kPhases, name);
}

bool Record::has_mark(std::string_view mark) const {
  return std::find(marks.begin(), marks.end(), mark) != marks.end();
}

void append_record(std::string& out, const Record& record) {
  json::Writer writer(out);
  writer.begin_object();
  writer.field("id", record.id);
  if (!record.bucket.empty()) writer.field("bucket", record.bucket);
  writer.field("phase", phase_name(record.phase));
  write_stamps(writer, record, kStampsBeforeTokens);
  if (record.reused) writer.field("reused", *record.reused);
  write_token_arrays(writer, record);
  write_stamps(writer, record, kStampsAfterTokens);
  write_end(writer, record);
  writer.end_object();
  out += '\n';
}

Result<Record> parse_record(std::string_view line) {
  return LineReader().read(line);
}

}  // namespace hw::runs
