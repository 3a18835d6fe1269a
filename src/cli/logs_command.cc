#include <chrono>
#include <deque>
#include <thread>
#include <unordered_set>

#include "base/text.h"
#include "cli/commands.h"
#include "command/gateway_client.h"
#include "command/number_flags.h"
#include "console/query.h"
#include "json/scan.h"
#include "store/call_json.h"
#include "terminal/call_table.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {

using namespace terminal;
namespace {

constexpr int kLimitDefault = 50;
constexpr int kLimitMax = 1000;

// One call as it came, and read.
struct ListedCall {
  std::string json;
  timeline::Call call;
};

struct ListedPage {
  std::vector<ListedCall> calls;  // newest first
  std::string next;
};

Result<ListedPage> read_page(const std::string& body) {
  json::Document document(ErrorCode::kUpstreamDialect);
  if (const Status opened = document.open(body); !opened) return fail(opened.error());
  ListedPage out;
  Status status;
  out.next = std::string(document.root().find("next").text_or(""));
  document.root().find("calls").array().each([&](json::Value value) {
    ListedCall one;
    one.json = std::string(value.raw());
    Result<timeline::Call> call = store::parse_call_json(one.json);
    if (!call.has_value() && status.has_value()) status = fail(call.error());
    if (call.has_value()) one.call = std::move(*call);
    out.calls.push_back(std::move(one));
  });
  if (const Status ended = document.finish(); !ended) return fail(ended.error());
  if (!status.has_value()) return fail(status.error());
  return out;
}

// Prints the calls of the log and remembers which it has printed.
class LogView {
 public:
  explicit LogView(const Arguments& arguments)
      : arguments_(arguments),
        gateway_(arguments),
        colour_(colour_of_output(arguments.environment)),
        json_(arguments.has("json")) {
    const int columns = columns_of_output();
    width_ = columns == 0 || columns >= kWideColumns ? TableWidth::kWide : TableWidth::kNarrow;
  }

  Exit run() {
    if (const Exit read = read_flags(); read != Exit::kFine) return read;
    const auto first = show_new(limit_, 1);
    if (first != Exit::kFine) return first;
    if (!arguments_.has("follow")) {
      if (shown_.empty() && !json_) note(say(arguments_.language, Text::kNoCalls));
      return Exit::kFine;
    }
    for (;;) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      constexpr int kPagesMax = 20;
      // A gateway that restarts is waited for.
      const Exit more = show_new(kLimitMax, kPagesMax);
      if (more == Exit::kUsage) return more;
    }
  }

 private:
  Exit bad(std::string_view flag, std::string_view expected) const {
    NumberFlags(arguments_).refuse(flag, expected);
    return Exit::kUsage;
  }

  Exit read_flags() {
    if (!NumberFlags(arguments_).read("limit", 1, kLimitMax, limit_)) return Exit::kUsage;
    Outcome outcome;
    if (arguments_.has("outcome") && !parse_outcome(arguments_.value("outcome"), outcome)) {
      return bad("outcome",
                 "ok, rejected, client_error, upstream_error, timeout, client_gone, "
                 "gateway_error, interrupted");
    }
    for (const std::string_view name : {"outcome", "model", "key", "channel"}) {
      if (arguments_.has(name)) {
        filter_ += concat("&", name, "=", percent_encode(arguments_.value(name)));
      }
    }
    if (arguments_.has("since")) {
      if (!console::parse_time(arguments_.value("since"), wall_ns()).has_value()) {
        return bad("since", "15m, 2h, 7d, 2026-01-01T00:00:00Z");
      }
      filter_ += concat("&since=", percent_encode(arguments_.value("since")));
    }
    if (arguments_.has("slow")) {
      const std::optional<Nanos> slow = console::parse_duration(arguments_.value("slow"));
      if (!slow.has_value()) return bad("slow", "250ms, 1s, 1.5m");
      filter_ += concat("&slow_ms=", *slow / kMillisecond);
    }
    return Exit::kFine;
  }

  // Prints what was not printed yet, oldest first; looks back until it meets a call that was.
  Exit show_new(int limit, int pages_max) {
    std::vector<ListedCall> fresh;
    std::string before;
    for (int page = 0; page < pages_max; ++page) {
      std::string target = concat("/api/calls?limit=", limit, filter_);
      if (!before.empty()) target += concat("&before=", percent_encode(before));
      const auto body = gateway_.ask("GET", target);
      if (!body.has_value()) return body.error();
      Result<ListedPage> listed = read_page(*body);
      if (!listed.has_value()) return gateway_.broken(listed.error());
      bool met = false;
      for (ListedCall& one : listed->calls) {
        met = met || seen_.contains(std::string(one.call.id.view()));
        if (!met) fresh.push_back(std::move(one));
      }
      before = listed->next;
      if (met || before.empty() || shown_.empty()) break;
    }
    for (auto one = fresh.rbegin(); one != fresh.rend(); ++one) show(*one);
    return Exit::kFine;
  }

  void show(const ListedCall& one) {
    if (json_) {
      print(one.json + "\n");
    } else {
      if (shown_.empty()) print(call_table_head(arguments_.language, width_, colour_));
      print(call_table_line(one.call, arguments_.language, width_, colour_));
    }
    constexpr size_t kRemembered = 20'000;
    shown_.emplace_back(one.call.id.view());
    seen_.insert(shown_.back());
    if (shown_.size() > kRemembered) {
      seen_.erase(shown_.front());
      shown_.pop_front();
    }
  }

  const Arguments& arguments_;
  const GatewayClient gateway_;
  const Colour colour_;
  const bool json_;
  TableWidth width_ = TableWidth::kNarrow;
  int limit_ = kLimitDefault;
  std::string filter_;
  std::deque<std::string> shown_;  // ids, oldest first
  std::unordered_set<std::string> seen_;
};

}  // namespace

Command logs_command() {
  Command out;
  out.name = "logs";
  out.summary = {"Shows the call log, newest at the end.", "显示调用日志，最新的在最后。"};
  out.flags = with_client_flags({
      {"follow", "", {"Go on with calls as they end.", "持续显示新结束的调用。"}},
      {"limit", "N", {"How many calls at most (50).", "最多显示多少个调用（50）。"}},
      {"slow",
       "DURATION",
       {"Only calls that took at least this long: 1s, 250ms.",
        "只显示至少耗时这么久的调用：1s、250ms。"}},
      {"outcome",
       "OUTCOME",
       {"Only calls that ended so.", "只显示这种结果的调用。"},
       "",
       "ok|rejected|client_error|upstream_error|timeout|client_gone|gateway_error|interrupted"},
      {"model", "NAME", {"Only calls that asked for this model.", "只显示请求此模型的调用。"}},
      {"key", "NAME", {"Only calls of this key.", "只显示此密钥的调用。"}},
      {"channel", "NAME", {"Only calls that tried this channel.", "只显示尝试过此通道的调用。"}},
      {"since",
       "TIME",
       {"Only calls that ended since: 15m, 2h, 2026-01-01T00:00:00Z.",
        "只显示此后结束的调用：15m、2h、2026-01-01T00:00:00Z。"}},
      {"json", "", {"One JSON object a line.", "每行一个 JSON 对象。"}},
  });
  out.examples = {"headway logs", "headway logs --follow --slow 1s",
                  "headway logs --outcome upstream_error --since 1h",
                  "headway logs --json | jq -r '[.id, .total_ns] | @tsv'"};
  out.run = [](const Arguments& arguments) { return LogView(arguments).run(); };
  return out;
}

}  // namespace hw::cli
