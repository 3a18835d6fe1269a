#include "verify/verdict.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "probe/flow.h"
#include "verify/rules.h"

namespace hw::verify {

using config::Language;
using probe::Exchange;
using probe::Flow;
using probe::FlowKind;
using probe::Progress;
using probe::ProxyChoice;
using probe::Record;
namespace {

// "0.2", "12", milliseconds for people.
std::string ms(Nanos ns) {
  if (ns >= 10 * kMillisecond) return whole_ms(ns);
  const Nanos tenths = (ns + 50 * kMicrosecond) / (100 * kMicrosecond);
  return concat(tenths / 10, ".", tenths % 10);
}

Sentence measured_proxy(const Record& record) {
  switch (record.proxy.kind) {
    case ProxyChoice::Kind::kNone:
      return sentence({"none in the environment", "环境变量中没有"});
    case ProxyChoice::Kind::kExcepted:
      return sentence(
          {"{0} is set, NO_PROXY excepts this host", "设置了 {0}，NO_PROXY 排除了此主机"},
          {record.proxy.variable});
    case ProxyChoice::Kind::kHttp:
    case ProxyChoice::Kind::kUnsupported:
    case ProxyChoice::Kind::kInvalid:
      break;
  }
  return sentence({"{0}={1}", "{0}={1}"}, {record.proxy.variable, record.proxy.shown});
}

Sentence measured_dns(const Exchange& exchange) {
  std::string addresses;
  for (const std::string& address : exchange.addresses) {
    if (addresses.size() > 60) break;
    addresses += concat(addresses.empty() ? "" : ", ", address);
  }
  return sentence({"{0} in {1} ms", "{0}，用时 {1} 毫秒"},
                  {addresses, ms(exchange.times.resolved)});
}

Sentence measured_flow(const Exchange& stream) {
  const Flow flow = flow_of(stream);
  const std::string tokens = std::to_string(flow.tokens);
  switch (flow.kind) {
    case FlowKind::kSteady:
      return sentence({"{0} token events over {1} ms, in {2} arrivals",
                       "{0} 个令牌事件历时 {1} 毫秒，分 {2} 次到达"},
                      {tokens, ms(flow.span_ns), std::to_string(flow.clumps)});
    case FlowKind::kTooLittle:
      return sentence({"{0} token events in {1} ms: too few or too quick to tell",
                       "{0} 个令牌事件，历时 {1} 毫秒：太少或太快，无法判断"},
                      {tokens, ms(flow.span_ns)});
    case FlowKind::kOneClump:
      return sentence(
          {"{0} token events at once, after {1} ms", "{0} 个令牌事件在 {1} 毫秒后一次到达"},
          {tokens, ms(flow.wait_ns)});
    case FlowKind::kClumps:
      return sentence({"{0} token events in {1} clumps", "{0} 个令牌事件分 {1} 批到达"},
                      {tokens, std::to_string(flow.clumps)});
  }
  return {};
}

// The steps of a record before findings have marked any: done or not reached.
class Walk {
 public:
  explicit Walk(const Record& record) : record_(record) {
    for (int i = 0; i < kStepCount; ++i) {
      steps_.push_back(StepResult{static_cast<Step>(i), Mark::kSkipped, {}});
    }
  }

  std::vector<StepResult> run() {
    if (record_.url.fault != probe::BaseUrl::Fault::kNone || record_.tries.empty()) return steps_;
    walk_connection(record_.plain());
    walk_answer(record_.plain());
    if (record_.stream.has_value() && record_.stream->is_stream) walk_stream(*record_.stream);
    return steps_;
  }

 private:
  void done(Step step, Sentence measured) {
    steps_[static_cast<size_t>(step)].mark = Mark::kFine;
    note(step, std::move(measured));
  }
  void note(Step step, Sentence measured) {
    steps_[static_cast<size_t>(step)].measured = std::move(measured);
  }

  void walk_connection(const Exchange& exchange) {
    const std::string& first = record_.tries.front().exchange.url;
    const std::string dialect(dialect_name(exchange.dialect));
    if (first == exchange.url) {
      done(Step::kUrl, sentence({"{0} ({1})", "{0}（{1}）"}, {exchange.url, dialect}));
    } else {
      done(Step::kUrl, sentence({"{2}; what follows is of {0} ({1})", "{2}；以下针对 {0}（{1}）"},
                                {exchange.url, dialect, first}));
    }
    if (exchange.through_proxy) {
      done(Step::kProxy, measured_proxy(record_));
    } else {
      note(Step::kProxy, measured_proxy(record_));
    }
    const probe::ExchangeTimes& times = exchange.times;
    if (times.resolved >= 0) done(Step::kDns, measured_dns(exchange));
    if (times.connected >= 0) {
      done(Step::kTcp, sentence({"{0} in {1} ms", "{0}，用时 {1} 毫秒"},
                                {exchange.peer, ms(times.connected - times.resolved)}));
    }
    if (times.secured >= 0) {
      done(Step::kTls, sentence({"certificate verified, {0} ms", "证书已验证，{0} 毫秒"},
                                {ms(times.secured - times.connected)}));
    } else if (exchange.url.starts_with("http://")) {
      note(Step::kTls, sentence({"not used", "未使用"}));
    }
  }

  void walk_answer(const Exchange& exchange) {
    if (exchange.status == 0) return;
    done(
        Step::kHttp,
        sentence({"status {0}, {1} ms after the request", "状态 {0}，请求后 {1} 毫秒"},
                 {std::to_string(exchange.status), ms(exchange.times.head - exchange.times.sent)}));
    if (exchange.reading.kind == probe::BodyKind::kJson) done(Step::kJson, {});
    const Progress progress = progress_of(exchange, record_.model);
    if (progress < Progress::kAccepted) return;
    if (record_.key.given) {
      const bool cleaned = std::any_of(
          record_.tries.begin(), record_.tries.end(),
          [](const probe::Try& each) { return each.helped && each.change == probe::Change::kKey; });
      done(Step::kCredential,
           sentence(cleaned ? config::Words{"taken without what damages it ({0})",
                                            "去掉损坏部分后已接受（{0}）"}
                            : config::Words{"taken ({0})", "已接受（{0}）"},
                    {std::string(key_header_name(exchange.key_header))}));
    } else {
      note(Step::kCredential, sentence({"none given, none asked for", "没有给出，也不要求"}));
    }
    if (progress < Progress::kAnswer) return;
    done(Step::kModel,
         sentence(record_.model_picked
                      ? config::Words{"{0}, the first that is listed; answered by {1}",
                                      "{0}，列表中的第一个；由 {1} 应答"}
                      : config::Words{"{0}, answered by {1}", "{0}，由 {1} 应答"},
                  {record_.model,
                   exchange.reading.model.empty() ? std::string("?") : exchange.reading.model}));
    done(
        Step::kAnswer,
        sentence({"tokens: {0}, bytes of text: {1}, in all {2} ms",
                  "{0} 个令牌，{1} 字节文本，共 {2} 毫秒"},
                 {exchange.reading.usage.told ? std::to_string(exchange.reading.usage.output) : "?",
                  std::to_string(exchange.reading.output_bytes), ms(exchange.times.ended)}));
  }

  void walk_stream(const Exchange& stream) {
    const probe::ExchangeTimes& times = stream.times;
    done(Step::kStream,
         sentence({"{0} events in {1} reads", "{0} 个事件，{1} 次读取"},
                  {std::to_string(stream.stream.events), std::to_string(stream.reads.size())}));
    if (times.first_token >= 0) {
      done(Step::kFirstToken,
           sentence({"{0} ms after the request (first event {1} ms)",
                     "请求后 {0} 毫秒（首个事件 {1} 毫秒）"},
                    {ms(times.first_token - times.sent), ms(times.first_event - times.sent)}));
      done(Step::kFlow, measured_flow(stream));
    }
    if (stream.stream.finished) {
      done(Step::kEnd,
           sentence({"final event ({0}), {1} ms in all", "最终事件（{0}），共 {1} 毫秒"},
                    {stream.stream.finish_reason.empty() ? "-" : stream.stream.finish_reason,
                     ms(times.ended)}));
    }
  }

  const Record& record_;
  std::vector<StepResult> steps_;
};

Conclusion conclusion_of(const Record& record, const Findings& findings) {
  if (record.url.fault != probe::BaseUrl::Fault::kNone) return Conclusion::kUnusable;
  const bool failed = std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
    return each.severity == Severity::kFailure;
  });
  if (failed) {
    const bool reached =
        !record.tries.empty() && progress_of(record.plain(), record.model) >= Progress::kSecured;
    // A key that no client can send failed before anything could be reached.
    const bool tried =
        !record.tries.empty() && record.plain().failure != probe::Failure::kUnsendable;
    return reached || !tried ? Conclusion::kFailed : Conclusion::kUnreachable;
  }
  return findings.empty() ? Conclusion::kFine : Conclusion::kRemarks;
}

config::Words words_of(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::kFine:
      return {
          "Fine: requests are answered, streamed and not, and nothing on the way disturbs them.",
          "正常：流式与非流式请求都得到应答，途中没有干扰。"};
    case Conclusion::kRemarks:
      return {"It works; something is worth a look.", "可以使用；有值得留意之处。"};
    case Conclusion::kFailed:
      return {"It does not work as it should.", "不能正常使用。"};
    case Conclusion::kUnreachable:
      return {"The endpoint was not reached.", "没有到达端点。"};
    case Conclusion::kUnusable:
      return {"Nothing was sent.", "没有发送任何内容。"};
  }
  return {};
}

}  // namespace

std::string_view mark_name(Mark mark) {
  switch (mark) {
    case Mark::kFine:
      return "ok";
    case Mark::kRemark:
      return "remark";
    case Mark::kFailed:
      return "failed";
    case Mark::kSkipped:
      return "skipped";
  }
  return {};
}

std::string_view conclusion_name(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::kFine:
      return "fine";
    case Conclusion::kRemarks:
      return "remarks";
    case Conclusion::kFailed:
      return "failed";
    case Conclusion::kUnreachable:
      return "unreachable";
    case Conclusion::kUnusable:
      return "unusable";
  }
  return {};
}

std::string_view conclusion_words(Language language, Conclusion conclusion) {
  return words_of(conclusion).in(language);
}

Verdict conclude(const Record& record) {
  Verdict out;
  out.findings = judge(record);
  std::sort(out.findings.begin(), out.findings.end(), [](const Finding& a, const Finding& b) {
    const auto place = [](const Finding& each) {
      return std::tuple(each.severity, each.info().step, each.code);
    };
    return place(a) < place(b);
  });
  out.steps = Walk(record).run();
  for (const Finding& finding : out.findings) {
    Mark& mark = out.steps[static_cast<size_t>(finding.info().step)].mark;
    if (finding.severity == Severity::kFailure) {
      mark = Mark::kFailed;
    } else if (mark != Mark::kFailed) {
      mark = Mark::kRemark;
    }
  }
  out.conclusion = conclusion_of(record, out.findings);
  return out;
}

}  // namespace hw::verify
