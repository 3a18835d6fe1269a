#include "terminal/waterfall.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/text_width.h"
#include "terminal/messages.h"
#include "terminal/milliseconds.h"
#include "timeline/stages.h"

namespace hw::terminal {
namespace {

using config::cut_to;
using config::display_width;
using config::Language;
using config::pad_left;
using config::pad_right;
using config::printable;
using timeline::Attempt;
using timeline::AttemptStamp;
using timeline::Call;
using timeline::EngineBreakdown;
using timeline::Stage;
using timeline::StageKind;
using timeline::StageList;

constexpr int kColumns = 100;
constexpr int kLabelColumns = 20;
constexpr int kMsColumns = 12;
constexpr int kBarColumns = kColumns - 2 - kLabelColumns - 1 - kMsColumns - 3 - 2;

// A bar of `length` beginning at `start` on a line that stands for `total`, to an eighth of a
// column; what is too short to see is the thinnest mark.
std::string bar(Nanos start, Nanos length, Nanos total) {
  constexpr std::array<std::string_view, 9> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  if (total <= 0 || length <= 0) return {};
  const auto eighths = [&](Nanos at) {
    return static_cast<int>(static_cast<double>(at) / static_cast<double>(total) * kBarColumns * 8);
  };
  const int first = std::min(eighths(start), kBarColumns * 8 - 1);
  const int begin = first / 8;
  const int end = std::min(eighths(start + length), kBarColumns * 8);
  // Within one column the length is what counts, else that it ends where the next one begins.
  const int filled = std::max(end - (end - begin * 8 <= 8 ? first : begin * 8), 1);
  std::string out(static_cast<size_t>(begin), ' ');
  for (int i = 0; i < filled / 8; ++i) out += "█";
  out += kEighths[static_cast<size_t>(filled % 8)];
  return out;
}

class Waterfall {
 public:
  Waterfall(const Call& call, Language language, Colour colour)
      : call_(call), list_(timeline::stages(call)), language_(language), colour_(colour) {
    for (const Stage& stage : list_.stages) total_ = std::max(total_, stage.end);
  }

  std::string render() {
    head();
    out_ += '\n';
    stages();
    out_ += '\n';
    attempts();
    tokens();
    gaps();
    ends();
    out_ += '\n';
    for (const std::string& line : config::wrap(where_the_time_went(call_, language_), kColumns)) {
      add(paint("1", line));
    }
    return std::move(out_);
  }

 private:
  std::string text(Text what, std::initializer_list<std::string> arguments = {}) const {
    return say(language_, what, arguments);
  }

  // `shown` in an ANSI style, which takes no columns.
  std::string paint(std::string_view style, std::string_view shown) const {
    if (colour_ == Colour::kNone) return std::string(shown);
    return concat("\x1b[", style, "m", shown, "\x1b[0m");
  }

  void add(std::string_view line) { out_ += concat(line, "\n"); }
  // A line that may hold texts from outside: made printable and cut to the page.
  void add_cut(std::string_view line) { add(cut_to(printable(line), kColumns)); }

  void head() {
    const std::string status = call_.status == 0 ? std::string() : concat(" ", call_.status);
    add(concat(paint("1", call_.id.view()), "  ",
               paint(call_.outcome == Outcome::kOk ? "32" : "31",
                     concat(outcome_label(language_, call_.outcome), status)),
               "  ", dialect_name(call_.dialect), text(Text::kComma),
               text(call_.stream ? Text::kStreamed : Text::kNotStreamed)));
    std::string time;
    append_rfc3339(time, call_.arrived_wall);
    std::string line = concat(time, "  ", text(Text::kTrace), " ", call_.trace.hex());
    if (!call_.key.empty()) line += concat("  ", text(Text::kKey), " ", call_.key);
    add_cut(line);
    line.clear();
    if (!call_.model.empty()) line = concat(text(Text::kModel), " ", call_.model);
    if (!call_.upstream_model.empty() && call_.upstream_model != call_.model) {
      line += concat(" -> ", call_.upstream_model);
    }
    if (const Attempt* winner = call_.winner()) {
      line += concat(line.empty() ? "" : "  ", text(Text::kChannel), " ", winner->channel);
    }
    if (!line.empty()) add_cut(line);
    if (!call_.client_request_id.empty()) {
      add_cut(concat(text(Text::kClientId), " ", call_.client_request_id));
    }
    if (!call_.error.code.empty()) {
      const std::string error =
          printable(concat(text(Text::kError), " ", call_.error.code, ": ", call_.error.message));
      for (const std::string& one : config::wrap(error, kColumns)) add(cut_to(one, kColumns));
    }
  }

  void stage_line(std::string_view label, Nanos length, std::string_view drawn,
                  std::string_view style) {
    std::string line = concat("  ", pad_right(cut_to(label, kLabelColumns), kLabelColumns), " ",
                              pad_left(milliseconds(length), kMsColumns), " ms");
    if (!drawn.empty()) line += concat("  ", paint(style, drawn));
    add(line);
  }

  std::string label_of(const Stage& stage) const {
    std::string out(stage_label(language_, stage.kind));
    const bool several = call_.attempts.size() > 1;
    if (several && stage.attempt >= 0) out += concat(" #", stage.attempt + 1);
    return out;
  }

  static std::string_view style_of(StageKind kind) {
    switch (kind) {
      case StageKind::kFailed:
      case StageKind::kBackoff:
      case StageKind::kUnexplained:
        return "31";
      case StageKind::kWait:
      case StageKind::kFirstToken:
        return "33";
      case StageKind::kDecode:
        return "32";
      case StageKind::kUpload:
      case StageKind::kAuthorize:
      case StageKind::kQueue:
      case StageKind::kRoute:
      case StageKind::kPool:
      case StageKind::kDns:
      case StageKind::kConnect:
      case StageKind::kTls:
      case StageKind::kSend:
      case StageKind::kTail:
      case StageKind::kDeliver:
        return "36";
    }
    return "36";
  }

  // The engine's part stands behind the last stage that it explains.
  size_t engine_place() const {
    const auto explained = [&](StageKind kind) {
      return kind == StageKind::kWait || kind == StageKind::kFirstToken ||
             (!call_.stream && kind == StageKind::kTail);
    };
    size_t place = list_.stages.size();
    for (size_t i = 0; i < list_.stages.size(); ++i) {
      if (explained(list_.stages[i].kind)) place = i;
    }
    return place;
  }

  void stages() {
    const EngineBreakdown engine = timeline::engine_breakdown(call_);
    const size_t place = engine_place();
    for (size_t i = 0; i < list_.stages.size(); ++i) {
      const Stage& stage = list_.stages[i];
      stage_line(label_of(stage), stage.length(), bar(stage.start, stage.length(), total_),
                 style_of(stage.kind));
      if (engine.present && i == place) engine_lines(engine);
    }
    stage_line(text(Text::kTotal), total_, "", "");
  }

  void engine_lines(const EngineBreakdown& engine) {
    add(concat("    ",
               cut_to(text(engine.inconsistent ? Text::kEngineInconsistent : Text::kEngineSays,
                           {printable(call_.engine.source)}),
                      kColumns - 4)));
    Nanos at = call_.winner()->stamps.get(AttemptStamp::kSent);
    const auto line = [&](Text label, Nanos length, bool told) {
      if (!told) return;
      stage_line(concat("    ", text(label)), length, bar(at, length, total_), "35");
      at += length;
    };
    line(Text::kEngineQueue, engine.queue, call_.engine.queue_ns >= 0);
    line(Text::kPrefill, engine.prefill, engine.prefill > 0 || call_.engine.prefill_ns >= 0);
    line(Text::kKvTransfer, engine.kv_transfer, call_.engine.kv_transfer_ns >= 0);
    line(Text::kEngineDecode, engine.decode, !call_.stream && call_.engine.decode_ns >= 0);
    line(Text::kNetworkAndApi, engine.network_and_api, !engine.inconsistent);
  }

  void attempts() {
    if (!call_.attempts.empty()) add(paint("1", text(Text::kAttempts)));
    int number = 0;
    for (const Attempt& attempt : call_.attempts) {
      const std::string status = attempt.status == 0 ? std::string() : concat(" ", attempt.status);
      std::string line =
          concat("  ", ++number, "  ", attempt.channel, "  ", attempt.instance, "  ",
                 outcome_label(language_, attempt.outcome), status, "  ",
                 text(attempt.connection.reused ? Text::kReused : Text::kNewConnection));
      line += connection(attempt.connection);
      if (!attempt.upstream_request_id.empty()) line += concat("  ", attempt.upstream_request_id);
      add_cut(line);
      if (!attempt.error.code.empty()) {
        add_cut(concat("     ", attempt.error.code, ": ", attempt.error.message));
      }
    }
    if (!call_.skipped.empty()) add(paint("1", text(Text::kSkipped)));
    for (const timeline::Skipped& one : call_.skipped) {
      add_cut(concat("     ", one.channel, ": ", one.reason));
    }
  }

  // "  rtt 0.030 ms, 2 retransmits" as far as it is known.
  std::string connection(const timeline::ConnectionInfo& info) const {
    std::string out;
    if (info.rtt_us >= 0) {
      out += concat("  ", text(Text::kRtt, {about_ms(info.rtt_us * kMicrosecond)}));
    }
    if (info.retransmits > 0) {
      out += concat("  ", text(Text::kRetransmits, {std::to_string(info.retransmits)}));
    }
    return out;
  }

  void row(Text label, std::string_view content) {
    add(concat(paint("1", text(label)), "  ",
               cut_to(printable(content), kColumns - 2 - display_width(text(label)))));
  }

  void tokens() {
    const timeline::Tokens& counts = call_.tokens;
    if (counts.source == timeline::TokenSource::kNone) {
      if (!call_.attempts.empty()) row(Text::kTokens, text(Text::kTokensNone));
    } else {
      std::string line = text(Text::kTokenCounts,
                              {std::to_string(counts.input), std::to_string(counts.cached_input),
                               std::to_string(counts.output), std::to_string(counts.reasoning)});
      if (counts.source == timeline::TokenSource::kEstimated) line += text(Text::kTokensEstimated);
      row(Text::kTokens, line);
    }
    const std::string_view reason = timeline::first_token_reason(call_);
    if (reason.empty()) {
      std::string line =
          text(Text::kPace, {about_ms(timeline::ttff_ns(call_)), about_ms(timeline::ttft_ns(call_)),
                             about_ms(timeline::ttfo_ns(call_))});
      const Nanos tpot = timeline::tpot_ns(call_);
      if (tpot >= 0) line += text(Text::kPaceTpot, {about_ms(tpot)});
      add(concat("  ", line));
    } else if (!call_.attempts.empty()) {
      std::string line = text(reason == "not_streamed"      ? Text::kPaceNotStreamed
                              : reason == "body_never_read" ? Text::kBodyNeverRead
                                                            : Text::kNoTokenSeen);
      if (reason == "not_streamed" && call_.engine.first_token_ns >= 0) {
        line += text(Text::kEngineFirstToken, {about_ms(call_.engine.first_token_ns)});
      }
      add(concat("  ", line));
    }
  }

  void gaps() {
    const timeline::GapSummary& summary = call_.gaps;
    if (summary.count == 0) return;
    row(Text::kGaps, text(Text::kGapSummary, {std::to_string(summary.count), about_ms(summary.p50),
                                              about_ms(summary.p99), about_ms(summary.max)}));
    std::string causes;
    for (size_t i = 0; i < summary.count_by_cause.size(); ++i) {
      if (summary.count_by_cause[i] == 0) continue;
      causes += concat(
          causes.empty() ? std::string() : text(Text::kComma),
          text(Text::kGapCauses,
               {std::string(gap_cause_label(language_, static_cast<timeline::GapCause>(i))),
                std::to_string(summary.count_by_cause[i]), about_ms(summary.time_by_cause[i])}));
    }
    add(concat("  ", causes));
    for (const timeline::Gap& gap : summary.longest) {
      if (gap.length == 0) break;
      add(concat("  ", pad_left(milliseconds(gap.length), kMsColumns), " ms  ",
                 text(Text::kGapLongest,
                      {about_ms(gap.at), std::string(gap_cause_label(language_, gap.cause))})));
    }
  }

  void ends() {
    row(Text::kGateway,
        text(Text::kGatewayShare, {about_ms(call_.overhead_ns), about_ms(call_.loop_late_max_ns),
                                   about_ms(call_.client_blocked_ns)}));
    row(Text::kClient, concat(call_.client_address, connection(call_.client)));
    if (call_.stamps_clamped > 0 || list_.clamped > 0) {
      add(paint("31", text(Text::kClamped,
                           {std::to_string(std::max(call_.stamps_clamped, list_.clamped))})));
    }
  }

  const Call& call_;
  const StageList list_;
  const Language language_;
  const Colour colour_;
  Nanos total_ = 0;
  std::string out_;
};

std::string percent(Nanos part, Nanos whole) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return std::to_string(static_cast<int>(share));
}

}  // namespace

std::string render_waterfall(const Call& call, Language language, Colour colour) {
  return Waterfall(call, language, colour).render();
}

std::string where_the_time_went(const Call& call, Language language) {
  std::array<Nanos, timeline::kStageKindCount> by_kind{};
  Nanos total = 0;
  for (const Stage& stage : timeline::stages(call).stages) {
    by_kind[static_cast<size_t>(stage.kind)] += stage.length();
    total += stage.length();
  }
  if (total == 0) return say(language, Text::kNothingHappened);
  const auto most = std::max_element(by_kind.begin(), by_kind.end());
  const auto kind = static_cast<StageKind>(most - by_kind.begin());
  std::string out = say(language, Text::kMostOf,
                        {std::string(stage_label(language, kind)), about_ms(*most), about_ms(total),
                         percent(*most, total), std::string(stage_explained(language, kind))});
  const EngineBreakdown engine = timeline::engine_breakdown(call);
  const bool explained = kind == StageKind::kWait || kind == StageKind::kFirstToken ||
                         (!call.stream && kind == StageKind::kTail);
  if (!engine.present || engine.inconsistent || !explained) return out;
  if (engine.prefill >= engine.interval / 2) {
    out += say(language, Text::kMostOfPrefill, {about_ms(engine.prefill)});
  } else if (engine.queue >= engine.interval / 2) {
    out += say(language, Text::kMostOfQueue, {about_ms(engine.queue)});
  } else if (engine.decode >= engine.interval / 2) {
    out += say(language, Text::kMostOfDecode, {about_ms(engine.decode)});
  }
  return out;
}

}  // namespace hw::terminal
