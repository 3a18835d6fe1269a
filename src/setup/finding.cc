#include "setup/finding.h"

#include <span>

namespace hw::setup {
namespace {

using config::Words;

struct Row {
  Code code;
  std::string_view name;
  Severity severity;
  Words words;
};

// In the order of the enum, which the static_assert below holds.
constexpr Row kTable[] = {
    {Code::kNotConfigured,
     "not_configured",
     Severity::kWrong,
     {"nothing tells {0} about a gateway: its requests go to {1}.",
      "没有任何设置让 {0} 使用网关：它的请求会发往 {1}。"}},
    {Code::kFileBroken,
     "file_broken",
     Severity::kWrong,
     {"the file cannot be read by its client: {0}.", "客户端无法读取该文件：{0}。"}},
    {Code::kFileOpen,
     "file_open",
     Severity::kRisk,
     {"the file holds a key and may be read by others (mode {0}).",
      "该文件含有密钥，而其他用户可以读取它（权限 {0}）。"}},
    {Code::kEntryBroken,
     "entry_broken",
     Severity::kWrong,
     {"the entry \"{0}\" lacks {1}; the client then ignores the whole file.",
      "条目 \"{0}\" 缺少 {1}；客户端会因此忽略整个文件。"}},
    {Code::kOtherGateway,
     "other_gateway",
     Severity::kNote,
     {"requests go to {0}, not to {1}.", "请求会发往 {0}，而不是 {1}。"}},
    {Code::kBaseUrlBroken,
     "base_url_broken",
     Severity::kWrong,
     {"\"{0}\" is no base URL: one begins with http:// or https:// and names a host.",
      "\"{0}\" 不是有效的地址：应以 http:// 或 https:// 开头并含有主机名。"}},
    {Code::kBaseUrlBlank,
     "base_url_blank",
     Severity::kWrong,
     {"the value of {0} holds a space, a line break or quotation marks.",
      "{0} 的值中含有空格、换行或引号。"}},
    {Code::kBaseUrlQuery,
     "base_url_query",
     Severity::kWrong,
     {"the base URL has \"{0}\" behind it, as links copied from pages have; the client puts its "
      "path behind that.",
      "地址后面带有 \"{0}\"，常见于从网页复制的链接；客户端会把路径接在它的后面。"}},
    {Code::kBaseUrlEndpoint,
     "base_url_endpoint",
     Severity::kWrong,
     {"the base URL names the endpoint {0}, which the client puts behind it once more.",
      "地址中已经含有端点 {0}，而客户端会再加一次。"}},
    {Code::kBaseUrlDoubled,
     "base_url_doubled",
     Severity::kRisk,
     {"{0} has /v1 twice: Headway understands it, others answer 404.",
      "{0} 中 /v1 出现了两次：Headway 能理解，其他服务会回答 404。"}},
    {Code::kBaseUrlV1Extra,
     "base_url_v1_extra",
     Severity::kRisk,
     {"{0} has a path too many: the client puts /v1/messages behind it. Headway understands "
      "/v1/v1/messages, others answer 404.",
      "{0} 的路径多了一段：客户端会在后面加上 /v1/messages。Headway 能理解 "
      "/v1/v1/messages，其他服务会回答 404。"}},
    {Code::kBaseUrlV1Missing,
     "base_url_v1_missing",
     Severity::kRisk,
     {"{0} has a path too few: this client expects /v1 in it. Headway understands it without, "
      "others answer 404.",
      "{0} 的路径少了一段：该客户端要求地址带 /v1。Headway 能理解不带的写法，其他服务会回答 "
      "404。"}},
    {Code::kBaseUrlPage,
     "base_url_page",
     Severity::kWrong,
     {"the base URL leads to {0}, a page for people, not to the API.",
      "地址指向 {0}，那是给人看的网页，而不是接口。"}},
    {Code::kKeyMissing,
     "key_missing",
     Severity::kWrong,
     {"{0} is not set: no key is sent.", "没有设置 {0}：不会发送密钥。"}},
    {Code::kKeyBlank,
     "key_blank",
     Severity::kWrong,
     {"the key in {0} holds a space or a line break.", "{0} 中的密钥含有空格或换行。"}},
    {Code::kKeyQuoted,
     "key_quoted",
     Severity::kWrong,
     {"the key in {0} has quotation marks that belong to its value.",
      "{0} 中的密钥把引号也当成了值的一部分。"}},
    {Code::kKeyBearer,
     "key_bearer",
     Severity::kWrong,
     {"the key in {0} begins with \"Bearer\", which the client adds by itself.",
      "{0} 中的密钥以 \"Bearer\" 开头，而客户端会自己加上它。"}},
    {Code::kKeyPlaceholder,
     "key_placeholder",
     Severity::kWrong,
     {"{0} holds an example in place of a key.", "{0} 中是示例文字，而不是密钥。"}},
    {Code::kKeyLetters,
     "key_letters",
     Severity::kWrong,
     {"the key in {0} holds letters that no key has, such as full-width ones or typographic "
      "quotes.",
      "{0} 中的密钥含有密钥里不会出现的字符，例如全角字符或弯引号。"}},
    {Code::kKeyCut,
     "key_cut",
     Severity::kWrong,
     {"the key in {0} is incomplete: {1} of {2} characters.",
      "{0} 中的密钥不完整：{2} 个字符中只有 {1} 个。"}},
    {Code::kKeyRefused,
     "key_refused",
     Severity::kWrong,
     {"the gateway refuses the key in {0} (status {1}).", "网关拒绝了 {0} 中的密钥（状态 {1}）。"}},
    {Code::kCredentialsBoth,
     "credentials_both",
     Severity::kRisk,
     {"{0} and {1} are both set and both sent, in different headers; at Headway {0} wins, others "
      "may look at {1}.",
      "{0} 与 {1} 同时设置，会在不同的头中一起发送；在 Headway 以 {0} 为准，其他服务可能看 {1}。"}},
    {Code::kLoginAndKey,
     "login_and_key",
     Severity::kNote,
     {"there is an OAuth login beside the key; {0} wins, the login is not used.",
      "除密钥外还有一个 OAuth 登录；以 {0} 为准，登录不会被使用。"}},
    {Code::kLoginSent,
     "login_sent",
     Severity::kWrong,
     {"no key is set, but there is an OAuth login: its token is sent to {0}, which does not know "
      "it.",
      "没有设置密钥，但存在 OAuth 登录：其令牌会被发往 {0}，而对方并不认识它。"}},
    {Code::kHeaderCredential,
     "header_credential",
     Severity::kRisk,
     {"{0} sends a header {1} of its own beside the key.", "{0} 在密钥之外另外发送了头 {1}。"}},
    {Code::kOtherProvider,
     "other_provider",
     Severity::kWrong,
     {"{0} is set: the client goes there and ignores the base URL.",
      "设置了 {0}：客户端会使用它并忽略地址。"}},
    {Code::kProviderUnknown,
     "provider_unknown",
     Severity::kWrong,
     {"the provider \"{0}\" is chosen, but there is no such entry.",
      "选用了提供方 \"{0}\"，但没有这个条目。"}},
    {Code::kProviderNotSelected,
     "provider_not_selected",
     Severity::kWrong,
     {"the provider in use is \"{0}\"; the one that leads to the gateway, \"{1}\", is not chosen.",
      "正在使用的提供方是 \"{0}\"；通往网关的 \"{1}\" 没有被选用。"}},
    {Code::kProviderFixed,
     "provider_fixed",
     Severity::kWrong,
     {"the provider \"{0}\" goes to its maker's address, whatever base URL is set.",
      "提供方 \"{0}\" 总是访问其厂商的地址，设置的地址不起作用。"}},
    {Code::kWireChat,
     "wire_chat",
     Severity::kWrong,
     {"wire_api is \"{0}\": Codex speaks \"responses\" only by now and does not start with "
      "anything "
      "else.",
      "wire_api 为 \"{0}\"：Codex 现在只支持 \"responses\"，其他值会使它无法启动。"}},
    {Code::kProfileRefused,
     "profile_refused",
     Severity::kWrong,
     {"\"profile\" is set: Codex does not start with it any more; --profile {0} with "
      "{0}.config.toml took its place.",
      "设置了 \"profile\"：Codex 已不再接受它；请改用 --profile {0} 与 {0}.config.toml。"}},
    {Code::kOverridden,
     "overridden",
     Severity::kRisk,
     {"{0} does not count here: {1} says something else and wins.",
      "这里的 {0} 不起作用：{1} 中有不同的值并且优先。"}},
    {Code::kOldVariable,
     "old_variable",
     Severity::kNote,
     {"{0} is the old name; current SDKs look at {1} only.",
      "{0} 是旧名称；现在的 SDK 只看 {1}。"}},
    {Code::kProxyCatches,
     "proxy_catches_gateway",
     Severity::kRisk,
     {"{0} sends requests for {1} to a proxy.", "{0} 会把发往 {1} 的请求交给代理。"}},
    {Code::kTimeoutShort,
     "timeout_short",
     Severity::kRisk,
     {"{0} is {1} ms: long answers are cut off by the client, and what is slow looks broken; 60 s "
      "or more lets it be seen.",
      "{0} 为 {1} 毫秒：较长的回答会被客户端中断，慢会被看成坏；设为 60 秒或更长才能看清。"}},
    {Code::kRetriesHide,
     "retries_hide_failures",
     Severity::kNote,
     {"a request that fails is sent up to {1} times ({0}): failures show as slowness.",
      "失败的请求最多会发送 {1} 次（{0}）：失败会表现为缓慢。"}},
    {Code::kModelMissing,
     "model_missing",
     Severity::kRisk,
     {"{0} is not set: the client asks for a model of its maker, which the gateway may not serve.",
      "没有设置 {0}：客户端会请求其厂商的模型，网关未必提供。"}},
    {Code::kModelRefused,
     "model_not_served",
     Severity::kWrong,
     {"the model \"{0}\" is not served to this key. There are: {1}.",
      "该密钥不能使用模型 \"{0}\"。可用的有：{1}。"}},
    {Code::kGatewayUnreachable,
     "gateway_unreachable",
     Severity::kWrong,
     {"{0} cannot be reached: {1}.", "无法连接 {0}：{1}。"}},
    {Code::kUnexpectedAnswer,
     "unexpected_answer",
     Severity::kRisk,
     {"{0} answered {1} when asked for its models: is it a gateway?",
      "{0} 在被询问模型列表时回答 {1}：它是网关吗？"}},
};

constexpr bool in_order() {
  if (std::size(kTable) != kCodeCount) return false;
  for (size_t i = 0; i < std::size(kTable); ++i) {
    if (static_cast<size_t>(kTable[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kTable must follow the order of Code");

const Row& row_of(Code code) {
  return kTable[static_cast<size_t>(code)];
}

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kWrong:
      return "wrong";
    case Severity::kRisk:
      return "risk";
    case Severity::kNote:
      return "note";
  }
  return {};
}

std::string_view code_name(Code code) {
  return row_of(code).name;
}

Words code_words(Code code) {
  return row_of(code).words;
}

Severity usual_severity(Code code) {
  return row_of(code).severity;
}

Finding make_finding(Code code, Place place, std::vector<std::string> arguments,
                     std::string change) {
  return {code, usual_severity(code), std::move(place), std::move(arguments), std::move(change)};
}

std::string describe(const Finding& finding, config::Language language) {
  return config::fill(code_words(finding.code).in(language), std::span(finding.arguments));
}

}  // namespace hw::setup
