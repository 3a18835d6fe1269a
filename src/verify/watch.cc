#include "verify/watch.h"

#include "base/text.h"
#include "verify/rules.h"

namespace hw::verify {

using config::Language;
using config::Words;

std::string codes_of(const Verdict& verdict) {
  std::string out;
  for (const Finding& finding : verdict.findings) {
    out += concat(out.empty() ? "" : ",", finding.info().name);
  }
  return out;
}

std::string watch_line(const probe::Record& record, const Verdict& verdict, Nanos wall,
                       Language language) {
  static constexpr Words kFirst = {"first token {0} ms", "首令牌 {0} 毫秒"};
  static constexpr Words kTotal = {"total {0} ms", "总计 {0} 毫秒"};
  std::string time;
  append_rfc3339(time, wall);
  constexpr size_t kWithoutFraction = 19;
  std::string out =
      concat(time.substr(0, kWithoutFraction), "Z  ", conclusion_name(verdict.conclusion));
  if (record.stream.has_value() && record.stream->times.first_token >= 0) {
    const probe::ExchangeTimes& times = record.stream->times;
    const std::string first[] = {whole_ms(times.first_token - times.sent)};
    const std::string total[] = {whole_ms(times.ended)};
    out += concat("  ", config::fill(kFirst.in(language), first), "  ",
                  config::fill(kTotal.in(language), total));
  }
  const std::string codes = codes_of(verdict);
  if (!codes.empty()) out += concat("  ", codes);
  return out;
}

std::string call_heading(const probe::GatewayCall& call, Language language) {
  static constexpr Words kRecord = {"The gateway's own record of the {1} request {0}:",
                                    "网关对{1}请求 {0} 的记录："};
  static constexpr Words kNone = {
      "The gateway is a Headway, but gives no record of the request {0}: {1}",
      "网关是 Headway，但没有给出请求 {0} 的记录：{1}"};
  static constexpr Words kStreamed = {"streamed", "流式"};
  static constexpr Words kWhole = {"unstreamed", "非流式"};
  const std::string arguments[] = {
      call.id, call.json.empty() ? call.refusal
                                 : std::string((call.streamed ? kStreamed : kWhole).in(language))};
  return config::fill((call.json.empty() ? kNone : kRecord).in(language), arguments);
}

std::string nothing_to_check(Language language) {
  static constexpr Words kWords = {
      "nothing names an endpoint: give --base-url (HEADWAY_BASE_URL), or start `headway up`, which "
      "is found in --data",
      "没有指定端点：请给出 --base-url（HEADWAY_BASE_URL），或启动 `headway up`（在 --data "
      "中寻找）"};
  return std::string(kWords.in(language));
}

}  // namespace hw::verify
