#include "comparison/wording.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace hw::comparison {
namespace {

using config::Language;
using config::Words;

std::string filled(Words words, Language language, std::initializer_list<std::string> arguments) {
  const std::vector<std::string> list(arguments);
  return config::fill(words.in(language), list);
}

Words words_of(Cause cause) {
  switch (cause) {
    case Cause::kMix:
      return {"traffic mix", "流量构成"};
    case Cause::kQueue:
      return {"queue in the engine", "引擎内排队"};
    case Cause::kPrefill:
      return {"model (prefill)", "模型（预填充）"};
    case Cause::kDecode:
      return {"model (decode)", "模型（解码）"};
    case Cause::kGateway:
      return {"gateway", "网关"};
    case Cause::kLink:
      return {"link", "链路"};
    case Cause::kUpstream:
      return {"model or link", "模型或链路"};
  }
  return {};
}

Words words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return {"FASTER: an improvement beyond the margin is shown.",
              "变快：改善超过容差，且有统计依据。"};
    case Verdict::kSlower:
      return {"SLOWER: a regression beyond the margin is shown.",
              "变慢：退化超过容差，且有统计依据。"};
    case Verdict::kEquivalent:
      return {"EQUIVALENT: any change is within the margin.", "等效：变化在容差之内。"};
    case Verdict::kInconclusive:
      return {"INCONCLUSIVE: neither a change nor its absence is shown.",
              "无法判定：既不能证明有变化，也不能证明没有变化。"};
    case Verdict::kSuspected:
      return {"SUSPECTED: looks slower, but these runs are too few to say so.",
              "疑似变慢：运行次数太少，尚不能断言。"};
  }
  return {};
}

Words words_of(Method method) {
  switch (method) {
    case Method::kDesigned:
      return {"Method A: {0} runs against {1}, Welch's t over runs.",
              "方法 A：{0} 次对 {1} 次运行，以运行为单位的 Welch t 检验。"};
    case Method::kArchive:
      return {"Method B: an archive of {0} runs against {1}, prediction interval.",
              "方法 B：{0} 次存档运行对 {1} 次运行，预测区间。"};
    case Method::kSingle:
      return {"Method C: {0} against {1} runs; five on each side would allow a verdict.",
              "方法 C：{0} 次对 {1} 次运行；双方各五次才能下结论。"};
  }
  return {};
}

Words words_of(Signature signature) {
  switch (signature) {
    case Signature::kBuffering:
      return {"something on the way buffers the stream: {0} -> {1} % of events share a read",
              "途中有缓冲：与其他事件同批到达的事件占 {0}% -> {1}%"};
    case Signature::kDelayedAck:
      return {"gaps of about 40 ms (Nagle and delayed acknowledgements): {0} -> {1} %",
              "约 40 毫秒的间隔（Nagle 与延迟确认）：{0}% -> {1}%"};
    case Signature::kRetransmission:
      return {"first tokens 200 ms and more above the median (lost packets): {0} -> {1} %",
              "首个 token 比中位数晚 200 毫秒以上（丢包）：{0}% -> {1}%"};
    case Signature::kReconnecting:
      return {"requests on a new connection: {0} -> {1} %", "使用新连接的请求：{0}% -> {1}%"};
    case Signature::kColdStart:
      return {"only the first tenth of the requests is slow (cold start): {0} -> {1} ms",
              "只有最初十分之一的请求变慢（冷启动）：{0} -> {1} 毫秒"};
    case Signature::kCacheLost:
      return {"prompt tokens from the prefix cache: {0} -> {1} %",
              "命中前缀缓存的输入 token：{0}% -> {1}%"};
    case Signature::kRoundTrip:
      return {"a round trip takes {0} -> {1} ms", "往返时延：{0} -> {1} 毫秒"};
    case Signature::kLoadChanged:
      return {"offered load: {0} -> {1} requests/s", "负载：每秒 {0} -> {1} 个请求"};
    case Signature::kLongerWait:
      return {"time before the prompt is computed: {0} -> {1} ms",
              "开始处理输入前的等待：{0} -> {1} 毫秒"};
    case Signature::kSlowerPrefill:
      return {"time for each prompt token: {0} -> {1} ms",
              "每个输入 token 的用时：{0} -> {1} 毫秒"};
  }
  return {};
}

bool is_share(Signature signature) {
  switch (signature) {
    case Signature::kBuffering:
    case Signature::kDelayedAck:
    case Signature::kRetransmission:
    case Signature::kReconnecting:
    case Signature::kCacheLost:
      return true;
    case Signature::kColdStart:
    case Signature::kRoundTrip:
    case Signature::kLoadChanged:
    case Signature::kLongerWait:
    case Signature::kSlowerPrefill:
      return false;
  }
  return false;
}

std::string shares_of(const Attribution& attribution, Language language) {
  constexpr double kShownMin = 0.02;  // smaller shares are noise to a reader
  std::string out;
  for (const Share& share : attribution.shares) {
    if (std::abs(share.share) < kShownMin) continue;
    out += concat(out.empty() ? "" : ", ", words_of(share.cause).in(language), " ",
                  fixed(share.share * 100, 0), " %");
    if (share.low) {
      out += concat(" [", fixed(*share.low * 100, 0), ", ", fixed(*share.high * 100, 0), "]");
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

}  // namespace

std::string percent(double share) {
  return concat(share >= 0 ? "+" : "", fixed(share * 100, 1), " %");
}

std::string verdict_sentence(const Comparison& comparison, Language language) {
  std::string out(words_of(comparison.verdict).in(language));
  const auto add = [&](Words words, std::initializer_list<std::string> arguments) {
    out += concat(" ", filled(words, language, arguments));
  };
  add(words_of(comparison.method),
      {std::to_string(comparison.base_runs), std::to_string(comparison.new_runs)});
  if (comparison.client_limited) {
    add({"A run was limited by its client; measure again.", "有运行受采样端限制，请重新测量。"},
        {});
  }
  if (comparison.needs_confirmation) {
    add({"A second new run would confirm it.", "再做一次新运行即可确认。"}, {});
  }
  if (comparison.verdict == Verdict::kInconclusive && comparison.runs_needed) {
    add({"About {0} runs on each side would decide.", "双方各约 {0} 次运行可以判定。"},
        {std::to_string(*comparison.runs_needed)});
  }
  if (comparison.method == Method::kSingle && comparison.spread_is_assumed) {
    add({"The spread from run to run is assumed ({0}).", "运行间的波动为假定值（{0}）。"},
        {percent(std::expm1(comparison.spread))});
  }
  return out;
}

std::string attribution_sentence(const Attribution& attribution, Language language) {
  const std::string metric =
      concat(upper(attribution.metric), " ", upper(quantile_name(attribution.quantile)));
  if (!attribution.is_changed) {
    return filled({"{0} over all requests changed by {1}: nothing to attribute.",
                   "全部请求的 {0} 变化 {1}：无需归因。"},
                  language, {metric, percent(attribution.change)});
  }
  std::string out = filled({"{0} {1}: {2}.", "{0} {1}：{2}。"}, language,
                           {metric, percent(attribution.change), shares_of(attribution, language)});
  if (!attribution.verdict) {
    out += language == Language::kChinese ? "" : " ";
    out += filled({"Cannot separate model from link: the records have no gateway stages and no "
                   "engine times.",
                   "无法区分模型与链路：记录中没有网关阶段与引擎用时。"},
                  language, {});
  }
  return out;
}

std::string evidence_sentence(const Evidence& evidence, Language language) {
  const double scale = is_share(evidence.signature) ? 100 : 1;
  const int decimals = evidence.signature == Signature::kSlowerPrefill ? 4 : 1;
  return filled(words_of(evidence.signature), language,
                {fixed(evidence.base * scale, decimals), fixed(evidence.next * scale, decimals)});
}

}  // namespace hw::comparison
