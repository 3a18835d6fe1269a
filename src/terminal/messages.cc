#include "terminal/messages.h"

#include <array>

namespace hw::terminal {
namespace {

using config::Language;
using config::Words;
using timeline::StageKind;

struct Row {
  Text text;
  Words words;
};

// In the order of the enum, which the static_assert below holds.
constexpr Row kTable[] = {
    {Text::kProgram,
     {"headway: an LLM gateway that tells where the time went.",
      "headway：能说清时间花在哪里的大模型网关。"}},
    {Text::kUsage, {"Usage:", "用法："}},
    {Text::kCommandWord, {"COMMAND", "命令"}},
    {Text::kFlagsWord, {"FLAGS", "选项"}},
    {Text::kExamples, {"Examples:", "示例："}},
    {Text::kOptionFlags,
     {"Any option of the configuration file, for example --gateway.listen 0.0.0.0:80; "
      "--help-options lists them.",
      "配置文件中的任何选项，例如 --gateway.listen 0.0.0.0:80；--help-options 列出全部。"}},
    {Text::kUnexpectedWord,
     {"\"{0}\" is one word too many for \"headway {1}\"", "\"headway {1}\" 不需要 \"{0}\""}},
    {Text::kMissingOperand, {"\"headway {0}\" takes {1}", "\"headway {0}\" 需要 {1}"}},
    {Text::kMissingValue, {"{0} takes a value: {1}", "{0} 需要一个值：{1}"}},
    {Text::kUnexpectedValue, {"{0} takes no value", "{0} 不需要值"}},
    {Text::kNotAChoice,
     {"{0} takes one of: {1}; not \"{2}\"", "{0} 应为其中之一：{1}；而不是 \"{2}\""}},
    {Text::kUnknownFlag, {"\"headway {1}\" knows no {0}", "\"headway {1}\" 没有 {0}"}},
    {Text::kUnknownFlagClose, {"there is no {0}; did you mean {1}?", "没有 {0}；是否想写 {1}？"}},
    {Text::kUnknownCommand,
     {"there is no command \"{0}\"; there are: {1}", "没有命令 \"{0}\"；现有：{1}"}},
    {Text::kIncompleteCommand, {"\"headway {0}\" what? {1}", "\"headway {0}\" 之后需要：{1}"}},
    {Text::kUnknownCommandClose,
     {"there is no command \"{0}\"; did you mean \"{1}\"?",
      "没有命令 \"{0}\"；是否想写 \"{1}\"？"}},
    {Text::kBadFlagValue, {"{0} takes {1}, not \"{2}\"", "{0} 应为 {1}，而不是 \"{2}\""}},
    {Text::kMissingFlag, {"\"headway {0}\" needs {1}", "\"headway {0}\" 需要 {1}"}},
    {Text::kSeeHelp, {"see: headway {0} --help", "参见：headway {0} --help"}},

    {Text::kUnreachable,
     {"cannot reach a gateway at {0}: {1}. Is one running (headway up)? Another address: "
      "--base-url "
      "or HEADWAY_BASE_URL.",
      "无法连接位于 {0} 的网关：{1}。它在运行吗（headway up）？其他地址请用 --base-url 或 "
      "HEADWAY_BASE_URL。"}},
    {Text::kBadBaseUrl, {"--base-url {0}", "--base-url {0}"}},
    {Text::kRefused, {"the gateway at {0} answered {1}: {2}", "位于 {0} 的网关回答 {1}：{2}"}},
    {Text::kRefusedHint,
     {"the token that was sent came from {0}; give the admin token with --admin-token or "
      "HEADWAY_ADMIN_TOKEN, or the folder of \"headway up\" with --data or HEADWAY_DATA",
      "所发送的令牌来自 {0}；请用 --admin-token 或 HEADWAY_ADMIN_TOKEN 给出管理令牌，或用 --data "
      "或 "
      "HEADWAY_DATA 给出 \"headway up\" 的目录"}},
    {Text::kNoTokenHint,
     {"no token was found to send: give the admin token with --admin-token or "
      "HEADWAY_ADMIN_TOKEN, or the folder of \"headway up\" with --data or HEADWAY_DATA",
      "没有找到可发送的令牌：请用 --admin-token 或 HEADWAY_ADMIN_TOKEN 给出管理令牌，或用 --data "
      "或 "
      "HEADWAY_DATA 给出 \"headway up\" 的目录"}},
    {Text::kUnknownThere, {"the gateway at {0} knows no {1}", "位于 {0} 的网关没有 {1}"}},
    {Text::kKeyVariableUnset,
     {"--api-key env:{0}: the variable {0} is not set in this shell; export it, or give the key "
      "itself",
      "--api-key env:{0}：当前 shell 没有设置变量 {0}；请 export 它，或直接给出密钥"}},
    {Text::kKeyFileUnreadable,
     {"--api-key file:{0}: the file cannot be read: {1}", "--api-key file:{0}：无法读取文件：{1}"}},
    {Text::kAlreadyRunning,
     {"a Headway is already running on {0}, at {1} (process {2}). Use it, or end it, or start "
      "another beside it: headway up --data OTHER_FOLDER --port 0",
      "{0} 上已有 Headway 在运行：{1}（进程 {2}）。请直接使用它，或结束它，或在旁边再启动一个："
      "headway up --data 其他目录 --port 0"}},
    {Text::kStoreTaken,
     {"another Headway (process {1}) has the database {0} open. End it, or give this one a "
      "database of its own: {2}",
      "另一个 Headway（进程 {1}）已打开数据库 {0}。请结束它，或为本进程指定另一个数据库：{2}"}},
    {Text::kPortTaken,
     {"something else listens on {0} already. Choose another port: {1}",
      "{0} 已被其他程序占用。请换一个端口：{1}"}},
    {Text::kBrokenAnswer, {"the answer of {0} cannot be read: {1}", "无法读懂 {0} 的回答：{1}"}},

    {Text::kComma, {", ", "，"}},
    {Text::kStreamed, {"streamed", "流式"}},
    {Text::kNotStreamed, {"not streamed", "非流式"}},
    {Text::kKey, {"key", "密钥"}},
    {Text::kTrace, {"trace", "追踪"}},
    {Text::kModel, {"model", "模型"}},
    {Text::kChannel, {"channel", "通道"}},
    {Text::kClientId, {"the caller's own id:", "调用方自己的标识："}},
    {Text::kError, {"error", "错误"}},
    {Text::kTotal, {"total", "总计"}},
    {Text::kEngineSays, {"of that, says the engine ({0}):", "其中，据引擎（{0}）："}},
    {Text::kEngineInconsistent,
     {"the engine ({0}) tells more time than there was:", "引擎（{0}）报告的时间超过了实际："}},
    {Text::kNetworkAndApi, {"network and API", "网络与接口"}},
    {Text::kEngineQueue, {"engine queue", "引擎排队"}},
    {Text::kPrefill, {"prefill", "预填充"}},
    {Text::kKvTransfer, {"KV transfer", "KV 传输"}},
    {Text::kEngineDecode, {"decode", "解码"}},
    {Text::kAttempts, {"attempts", "尝试"}},
    {Text::kSkipped, {"passed over", "跳过的通道"}},
    {Text::kReused, {"kept connection", "复用连接"}},
    {Text::kNewConnection, {"new connection", "新连接"}},
    {Text::kRtt, {"rtt {0}", "往返 {0}"}},
    {Text::kRetransmits, {"{0} retransmits", "重传 {0} 次"}},
    {Text::kTokens, {"tokens", "令牌"}},
    {Text::kTokenCounts,
     {"input {0} (of which cached {1}), output {2} (of which reasoning {3})",
      "输入 {0}（其中缓存 {1}），输出 {2}（其中推理 {3}）"}},
    {Text::kTokensNone, {"not told by the upstream", "上游没有报告"}},
    {Text::kTokensEstimated, {", estimated", "，为估算"}},
    {Text::kPace,
     {"first frame {0}, first token {1}, first visible {2}",
      "首帧 {0}，首个令牌 {1}，首个可见令牌 {2}"}},
    {Text::kPaceTpot, {", then {0} a token", "，之后每个令牌 {0}"}},
    {Text::kPaceNotStreamed,
     {"not streamed: no token can be timed from outside", "非流式：外部无法测得令牌的时间"}},
    {Text::kEngineFirstToken, {"; the engine's first came after {0}", "；引擎的首个令牌在 {0} 后"}},
    {Text::kNoTokenSeen, {"no token was seen", "没有出现令牌"}},
    {Text::kBodyNeverRead, {"the request was never read whole", "请求从未被完整读取"}},
    {Text::kGaps, {"gaps between tokens", "令牌间隔"}},
    {Text::kGapSummary,
     {"{0}; half are below {1}, 99 % below {2}, the longest {3}",
      "{0} 个；半数低于 {1}，99% 低于 {2}，最长 {3}"}},
    {Text::kGapCauses, {"{0} {1} ({2})", "{0} {1} 次（{2}）"}},
    {Text::kGapLongest, {"at {0}, made by the {1}", "位于 {0}，由{1}造成"}},
    {Text::kGateway, {"gateway", "网关"}},
    {Text::kGatewayShare,
     {"{0} of its own; loop late by {1} at most; client not reading for {2}",
      "自身耗时 {0}；循环最多迟到 {1}；客户端 {2} 未读取"}},
    {Text::kClient, {"client", "客户端"}},
    {Text::kClamped,
     {"{0} stamps were out of order and had to be moved: a bug of Headway, please report it",
      "有 {0} 个时间戳次序有误并被移动：这是 Headway 的缺陷，请报告"}},
    {Text::kMostOf,
     {"Most of the time, {1} of {2} ({3} %), is \"{0}\": {4}",
      "时间主要花在“{0}”：{2} 中的 {1}（{3}%），{4}"}},
    {Text::kMostOfPrefill,
     {" The engine spent {0} of it on prefill, reading the prompt.",
      "其中引擎用 {0} 预填充，即读取提示。"}},
    {Text::kMostOfQueue,
     {" The request waited {0} of it in the engine's queue.", "其中请求在引擎队列中等待了 {0}。"}},
    {Text::kMostOfDecode,
     {" The engine spent {0} of it on generating tokens.", "其中引擎用 {0} 生成令牌。"}},
    {Text::kNothingHappened,
     {"The record holds no times: nothing can be said of where they went.",
      "记录中没有时间：无法说明时间花在哪里。"}},

    {Text::kLogsTime, {"ended (UTC)", "结束于 (UTC)"}},
    {Text::kLogsOutcome, {"outcome", "结果"}},
    {Text::kLogsKey, {"key", "密钥"}},
    {Text::kLogsModel, {"model", "模型"}},
    {Text::kLogsChannel, {"channel", "通道"}},
    {Text::kLogsTtft, {"ttft ms", "首令牌 ms"}},
    {Text::kLogsTotal, {"total ms", "总计 ms"}},
    {Text::kLogsTokens, {"out", "输出"}},
    {Text::kNoCalls, {"no call matches", "没有符合条件的调用"}},

    {Text::kKeyCreated, {"The key \"{0}\" ({1}) is made:", "已创建密钥 \"{0}\"（{1}）："}},
    {Text::kKeyShownOnce,
     {"It is shown this once and kept as a hash only. Store it now.",
      "它只显示这一次，系统只保存其哈希。请立即妥善保存。"}},
    {Text::kNoModelNamed,
     {"--models names no model: name one at least, or leave the flag out for all",
      "--models 没有指定任何模型：请至少指定一个；若不限制则不加此参数"}},
    {Text::kKeyChanged, {"The key \"{0}\" is {1}.", "密钥 \"{0}\" 现在{1}。"}},
    {Text::kKeyDeleted, {"The key \"{0}\" is deleted.", "密钥 \"{0}\" 已删除。"}},
    {Text::kNoKeys,
     {"no key yet; make one with: headway key create --name NAME",
      "还没有密钥；用 headway key create --name 名称 创建"}},
    {Text::kNoChannels, {"no channel is configured", "没有配置通道"}},
    {Text::kName, {"name", "名称"}},
    {Text::kState, {"state", "状态"}},
    {Text::kOrigin, {"from", "来源"}},
    {Text::kPrefix, {"begins with", "开头"}},
    {Text::kCreated, {"made", "创建时间"}},
    {Text::kModels, {"models", "模型"}},
    {Text::kDialect, {"dialect", "方言"}},
    {Text::kBaseUrl, {"base URL", "地址"}},
    {Text::kPriority, {"prio", "优先级"}},
    {Text::kHealth, {"health", "健康"}},
    {Text::kReady, {"ready", "就绪"}},
    {Text::kCoolingDown, {"cooling down", "冷却中"}},
    {Text::kCredentialRefused, {"credential refused", "凭据被拒"}},
    {Text::kActive, {"active", "有效"}},
    {Text::kDisabled, {"disabled", "停用"}},
    {Text::kDeclared, {"file", "文件"}},
    {Text::kStored, {"made", "创建"}},

    {Text::kConfigNoFile,
     {"{0} has no file to write; without --write its lines are printed",
      "{0} 没有可写的文件；不带 --write 会打印其内容"}},
    {Text::kConfigBadUrl,
     {"--base-url takes http(s)://HOST[:PORT], not \"{0}\"",
      "--base-url 应为 http(s)://主机[:端口]，而不是 \"{0}\""}},
    {Text::kConfigWhere,
     {"That belongs into {0}; --write merges it in.",
      "以上内容属于 {0}；--write 会把它合并进去。"}},
    {Text::kConfigCodexKey,
     {"The key comes from the variable {0}, exported or as a line in {1}:",
      "密钥来自变量 {0}，可以导出，也可以写在 {1} 中："}},
    {Text::kConfigNoKey,
     {"No key is known: put yours in the place of {0}, or give --api-key or HEADWAY_API_KEY.",
      "不知道密钥：请用自己的密钥替换 {0}，或给出 --api-key 或 HEADWAY_API_KEY。"}},
    {Text::kConfigNoModel,
     {"No model is known: put its name in the place of {0}, or give --model or HEADWAY_MODEL.",
      "不知道模型：请用模型名替换 {0}，或给出 --model 或 HEADWAY_MODEL。"}},
    {Text::kConfigNeedsKey,
     {"--write needs a key: give --api-key or HEADWAY_API_KEY, or the folder of \"headway up\" "
      "with --data",
      "--write 需要密钥：请给出 --api-key 或 HEADWAY_API_KEY，或用 --data 给出 \"headway up\" "
      "的目录"}},
    {Text::kConfigNeedsModel,
     {"--write needs a model and the gateway could not be asked: give --model or HEADWAY_MODEL",
      "--write 需要模型，而网关没有应答：请给出 --model 或 HEADWAY_MODEL"}},
    {Text::kConfigCodexChat,
     {"Codex speaks responses only: current versions refuse to start with wire_api = \"chat\". The "
      "set-up says \"responses\".",
      "Codex 现在只支持 responses：设置 wire_api = \"chat\" 的当前版本会拒绝启动。配置中写的是 "
      "\"responses\"。"}},
    {Text::kConfigOneDialect,
     {"{0} speaks {1} only; --dialect {2} is not used.",
      "{0} 只支持 {1}；--dialect {2} 不起作用。"}},
    {Text::kConfigCannotMerge,
     {"nothing is written: {0} cannot be merged into: {1}", "没有写入：无法合并到 {0}：{1}"}},
    {Text::kConfigUnchanged, {"{0} says all that already", "{0} 已经是这样"}},
    {Text::kConfigMade, {"{0} is made", "已创建 {0}"}},
    {Text::kConfigChanged, {"{0} is changed; before: {1}", "已修改 {0}；修改前：{1}"}},
    {Text::kConfigFine, {"{0} will reach {1}.", "{0} 可以到达 {1}。"}},
    {Text::kConfigWrong, {"wrong", "错误"}},
    {Text::kConfigRisk, {"risk ", "风险"}},
    {Text::kConfigNote, {"note ", "提示"}},
    {Text::kConfigEnvironment, {"environment", "环境变量"}},
    {Text::kConfigChange, {"change:", "更改："}},

    {Text::kConfigBad, {"mistakes: {0}; nothing is started", "错误：{0} 处；没有启动"}},
    {Text::kConfigGood, {"{0} is fine", "{0} 没有问题"}},
    {Text::kNoConfig,
     {"no configuration: give one with --config FILE; headway serve --print-sample prints one, and "
      "headway up needs none",
      "没有配置：请用 --config 文件 给出；headway serve --print-sample 会打印一份，而 headway up "
      "不需要配置"}},
    {Text::kServing, {"serving on {0}", "正在 {0} 提供服务"}},
    {Text::kInstanceServing, {"the model {0} answers on {1}", "模型 {0} 在 {1} 应答"}},
    {Text::kUpLoading, {"loading the model {0} ...", "正在加载模型 {0} ..."}},
    {Text::kUpWaiting, {"... {0} s", "... {0} 秒"}},
    {Text::kUpReady, {"Ready: {0}", "就绪：{0}"}},
    {Text::kUpKey, {"  key       {0}", "  密钥      {0}"}},
    {Text::kUpModel, {"  model     {0}", "  模型      {0}"}},
    {Text::kUpInstance, {"  instance  {0}", "  实例      {0}"}},
    {Text::kUpTryIt, {"Try it in another terminal:", "在另一个终端试试："}},
    {Text::kUpTrace,
     {"and see where the time went: headway logs, then headway trace ID",
      "然后看看时间花在哪里：headway logs，再 headway trace ID"}},
    {Text::kUpDocs,
     {"Set-ups for SDKs and coding agents: {0}/docs", "SDK 与编程助手的接入方法：{0}/docs"}},
    {Text::kUpPath,
     {"So that the shell finds headway: export PATH=\"{0}:$PATH\"",
      "让 shell 找到 headway：export PATH=\"{0}:$PATH\""}},
    {Text::kUpStop,
     {"Ctrl-C ends it when running requests are through; a second one at once.",
      "按 Ctrl-C，等正在处理的请求完成后结束；再按一次立即结束。"}},
    {Text::kUpNoEngine,
     {"No instance is running and no model is served; channels come with --config FILE.",
      "没有运行实例，也不提供模型；通道请用 --config 文件 配置。"}},
};

constexpr bool in_order() {
  if (std::size(kTable) != kTextCount) return false;
  for (size_t i = 0; i < std::size(kTable); ++i) {
    if (static_cast<size_t>(kTable[i].text) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kTable must follow the order of Text");

// A stage's name, and what goes on in it.
struct StageWords {
  Words label, explained;
};

StageWords words_of_stage(StageKind kind) {
  switch (kind) {
    case StageKind::kUpload:
      return {{"upload", "上传"},
              {"the caller was still sending its request.", "调用方仍在发送请求。"}};
    case StageKind::kAuthorize:
      return {{"authorize", "鉴权"},
              {"the gateway checked the key and read the request.", "网关在检查密钥并解析请求。"}};
    case StageKind::kQueue:
      return {{"queue", "排队"},
              {"the request waited to be admitted by the gateway.", "请求在等待网关放行。"}};
    case StageKind::kRoute:
      return {{"route", "路由"}, {"the gateway was choosing a channel.", "网关在选择通道。"}};
    case StageKind::kPool:
      return {{"pool", "连接池"},
              {"the request waited for a free connection to the channel.",
               "请求在等待通道的空闲连接。"}};
    case StageKind::kDns:
      return {{"dns", "域名解析"},
              {"the channel's name was being looked up.", "在解析通道的域名。"}};
    case StageKind::kConnect:
      return {{"connect", "建连"},
              {"a connection to the channel was being made.", "在与通道建立连接。"}};
    case StageKind::kTls:
      return {{"tls", "TLS 握手"},
              {"TLS with the channel was being negotiated.", "在与通道进行 TLS 握手。"}};
    case StageKind::kSend:
      return {{"send", "发送"},
              {"the request was being sent to the channel.", "在向通道发送请求。"}};
    case StageKind::kWait:
      return {{"wait", "等待"},
              {"the channel had the request and had not begun to answer.",
               "通道已收到请求，尚未开始应答。"}};
    case StageKind::kFirstToken:
      return {{"first_token", "首个令牌"},
              {"the channel had begun to answer and had sent no token yet.",
               "通道已开始应答，尚未发出令牌。"}};
    case StageKind::kDecode:
      return {{"decode", "解码"},
              {"the model was generating, from the first token to the last.",
               "模型在生成，从第一个令牌到最后一个。"}};
    case StageKind::kTail:
      return {{"tail", "收尾"}, {"the channel was completing its answer.", "通道在完成其应答。"}};
    case StageKind::kDeliver:
      return {{"deliver", "交付"},
              {"the answer was being handed to the client.", "在把应答交给客户端。"}};
    case StageKind::kFailed:
      return {
          {"failed", "失败"},
          {"attempts that failed before another one served.", "在另一次尝试成功之前失败的尝试。"}};
    case StageKind::kBackoff:
      return {{"backoff", "退避"},
              {"the gateway waited for a channel to cool down.", "网关在等待通道冷却。"}};
    case StageKind::kUnexplained:
      return {{"unexplained", "未解释"},
              {"no stamp explains it; please report this.", "没有时间戳能解释；请报告此问题。"}};
  }
  return {};
}

Words words_of_outcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return {"ok", "成功"};
    case Outcome::kRejected:
      return {"rejected", "被拒绝"};
    case Outcome::kClientError:
      return {"client_error", "请求有误"};
    case Outcome::kUpstreamError:
      return {"upstream_error", "上游出错"};
    case Outcome::kTimeout:
      return {"timeout", "超时"};
    case Outcome::kClientGone:
      return {"client_gone", "客户端离开"};
    case Outcome::kGatewayError:
      return {"gateway_error", "网关出错"};
    case Outcome::kInterrupted:
      return {"interrupted", "被中断"};
  }
  return {};
}

Words words_of_cause(timeline::GapCause cause) {
  switch (cause) {
    case timeline::GapCause::kUpstream:
      return {"upstream", "上游"};
    case timeline::GapCause::kGateway:
      return {"gateway", "网关"};
    case timeline::GapCause::kClient:
      return {"client", "客户端"};
  }
  return {};
}

}  // namespace

Words words_of(Text text) {
  return kTable[static_cast<size_t>(text)].words;
}

std::string say(Language language, Text text, std::span<const std::string> arguments) {
  return config::fill(words_of(text).in(language), arguments);
}

std::string_view stage_label(Language language, StageKind kind) {
  return words_of_stage(kind).label.in(language);
}
std::string_view stage_explained(Language language, StageKind kind) {
  return words_of_stage(kind).explained.in(language);
}
std::string_view outcome_label(Language language, Outcome outcome) {
  return words_of_outcome(outcome).in(language);
}
std::string_view gap_cause_label(Language language, timeline::GapCause cause) {
  return words_of_cause(cause).in(language);
}

}  // namespace hw::terminal
