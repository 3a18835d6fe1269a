#include "setup/docs_page.h"

#include "base/text.h"
#include "config/language.h"
#include "setup/plan.h"
#include "setup/sdk.h"

namespace hw::setup {

using namespace settings;
namespace {

using config::Words;

constexpr std::string_view kHead = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Headway: client set-ups</title>
<style>
:root { --paper: #fbfaf7; --ink: #1d2430; --soft: #5b6472; --line: #dcd9d0; --well: #f2efe8;
  --mark: #0b6e6e; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181d; --ink: #e4e2dc; --soft: #9aa3ad; --line: #2c343d; --well: #1b2127;
    --mark: #5cc6c0; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, "Segoe UI", "PingFang SC", "Noto Sans SC", sans-serif; }
.page { max-width: 54rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; padding-top: .75rem;
  border-top: 1px solid var(--line); }
p { margin: .5rem 0; }
a { color: var(--mark); }
nav a { margin-right: 1rem; }
.soft { color: var(--soft); }
.choice { position: absolute; opacity: 0; }
.languages { float: right; font-size: .9rem; }
.languages label { cursor: pointer; padding: .1rem .5rem; border-radius: .3rem;
  color: var(--soft); }
#en:checked ~ .page label[for=en], #zh:checked ~ .page label[for=zh] {
  color: var(--ink); background: var(--well); }
#en:focus-visible ~ .page label[for=en], #zh:focus-visible ~ .page label[for=zh] {
  outline: 2px solid var(--mark); }
#en:checked ~ .page [lang=zh], #zh:checked ~ .page [lang=en] { display: none; }
table { border-collapse: collapse; margin: .75rem 0; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
  border-bottom: 1px solid var(--line); font-weight: normal; }
th { color: var(--soft); width: 14rem; }
code, pre { font: .875rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
td code { overflow-wrap: anywhere; }
.sample { position: relative; margin: .75rem 0; }
pre { background: var(--well); border: 1px solid var(--line); border-radius: .4rem;
  padding: .75rem 1rem; margin: 0; overflow-x: auto; }
.sample button { position: absolute; top: .4rem; right: .4rem; font: inherit; font-size: .8rem;
  color: var(--soft); background: var(--paper); border: 1px solid var(--line);
  border-radius: .3rem; padding: .05rem .5rem; cursor: pointer; }
.sample button:hover { color: var(--ink); }
</style>
</head>
<body>
<input class="choice" type="radio" name="language" id="en" checked>
<input class="choice" type="radio" name="language" id="zh">
<div class="page">
<div class="languages"><label for="en">English</label><label for="zh">中文</label></div>
)html";

constexpr std::string_view kTail = R"html(</div>
<script>
if (/^zh\b/i.test(navigator.language)) document.getElementById('zh').checked = true;
for (const sample of document.querySelectorAll('.sample')) {
  const button = document.createElement('button');
  const chinese = () => document.getElementById('zh').checked;
  const name = () => { button.textContent = chinese() ? '复制' : 'Copy'; };
  button.type = 'button';
  name();
  for (const one of document.getElementsByName('language')) one.addEventListener('change', name);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(sample.querySelector('pre').textContent);
    button.textContent = chinese() ? '已复制' : 'Copied';
    setTimeout(name, 1500);
  });
  if (navigator.clipboard) sample.append(button);
}
</script>
</body>
</html>
)html";

constexpr Words kTitle = {"Client set-ups", "客户端配置"};
constexpr Words kIntro = {
    "One address and one key in front of every model. Put your key in the place of YOUR_KEY.",
    "一个地址、一把密钥，访问所有模型。请用自己的密钥替换 YOUR_KEY。"};
constexpr Words kForOpenai = {"Base URL, OpenAI clients", "地址（OpenAI 类客户端）"};
constexpr Words kForAnthropic = {"Base URL, Anthropic clients", "地址（Anthropic 类客户端）"};
constexpr Words kKey = {"Key", "密钥"};
constexpr Words kKeyFrom = {
    "from whoever runs this gateway (headway key create); Authorization: Bearer or x-api-key",
    "由网关的管理者提供（headway key create）；用 Authorization: Bearer 或 x-api-key 发送"};
constexpr Words kModels = {"Models", "模型"};
constexpr Words kModelsFrom = {"GET /v1/models lists them", "GET /v1/models 会列出"};
constexpr Words kOrder = {
    "With the program on your machine, this one line does it, keeps everything else in your files, "
    "and leaves a backup:",
    "本机装有 headway 时，下面一行即可完成，并保留文件中的其他内容和一份备份："};
constexpr Words kBelongs = {"That belongs into", "以上内容属于"};
constexpr Words kCodexWire = {
    "Codex speaks the responses wire only: current versions refuse to start with wire_api = "
    "\"chat\". The key goes into ~/.codex/.env or the environment:",
    "Codex 只支持 responses：设置 wire_api = \"chat\" 的当前版本会拒绝启动。密钥写在 "
    "~/.codex/.env 或环境变量中："};
constexpr Words kClineEditor = {
    "In the editor's extension choose the provider \"OpenAI Compatible\" and enter base URL, key "
    "and model by hand; the file is the one of the command line.",
    "在编辑器扩展中请选择 \"OpenAI Compatible\" "
    "并手工填写地址、密钥与模型；该文件属于命令行版本。"};
constexpr Words kVariables = {"Variables of the SDKs", "SDK 的环境变量"};
constexpr Words kPlain = {"One request with curl", "用 curl 发送一个请求"};
constexpr Words kTrouble = {"When it does not work", "无法使用时"};
constexpr Words kTroubleText = {
    "The first one sends one small request and says which step fails and whose fault it is; the "
    "second reads what your client is really set up with.",
    "第一行发送一个小请求并指出失败的步骤与责任方；第二行读取客户端的实际设置。"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A text in both languages; the page shows one of them.
std::string both(const Words& words) {
  return concat("<span lang=\"en\">", escaped(words.en), "</span><span lang=\"zh\">",
                escaped(words.zh), "</span>");
}

std::string paragraph(const Words& words) {
  return concat("<p>", both(words), "</p>\n");
}

std::string heading(std::string_view id, std::string_view content) {
  return concat("<h2 id=\"", id, "\">", content, "</h2>\n");
}

std::string sample(std::string_view text) {
  return concat("<div class=\"sample\"><pre>", escaped(text), "</pre></div>\n");
}

std::string row(const Words& name, std::string_view content) {
  return concat("<tr><th scope=\"row\">", both(name), "</th><td>", content, "</td></tr>\n");
}

std::string code(std::string_view text) {
  return concat("<code>", escaped(text), "</code>");
}

std::string model_cell(const std::vector<std::string>& models) {
  if (models.empty()) return both(kModelsFrom);
  std::string out;
  const size_t count = std::min(models.size(), static_cast<size_t>(kDocsModelsMax));
  for (size_t i = 0; i < count; ++i) out += concat(i == 0 ? "" : ", ", code(models[i]));
  return count < models.size() ? concat(out, ", ...") : out;
}

std::string triple(const DocsFacts& facts) {
  return concat("<table>\n", row(kForOpenai, code(openai_base_url(facts.root))),
                row(kForAnthropic, code(facts.root)), row(kKey, both(kKeyFrom)),
                row(kModels, model_cell(facts.models)), "</table>\n");
}

std::string navigation() {
  std::string out = "<nav>";
  for (const Client client : {Client::kClaudeCode, Client::kCodex, Client::kCline}) {
    out += concat("<a href=\"#", client_name(client), "\">", client_title(client), "</a>");
  }
  return concat(out, "<a href=\"#sdk\">SDK</a><a href=\"#curl\">curl</a><a href=\"#trouble\">",
                both(kTrouble), "</a></nav>\n");
}

// A program with a file of its own.
std::string program(Client client, const Order& order) {
  Surroundings where;
  where.environment["HOME"] = "~";
  const std::string path = settings_files(client, where).front().path;
  std::string out = heading(client_name(client), client_title(client));
  out += sample(printed(client, order, where));
  out += concat("<p>", both(kBelongs), " ", code(path), "</p>\n");
  if (client == Client::kCodex) {
    out += paragraph(kCodexWire) + sample(export_lines(variables_of(client, order)));
  }
  if (client == Client::kCline) out += paragraph(kClineEditor);
  const std::string command = concat("headway config ", client_name(client), " --write --base-url ",
                                     shell_quoted(order.access.root), " --api-key ", kUnknownKey);
  return out + paragraph(kOrder) + sample(command + "\n");
}

std::string requests(Order order) {
  std::string out = heading("curl", both(kPlain));
  for (const Dialect dialect :
       {Dialect::kOpenaiChat, Dialect::kOpenaiResponses, Dialect::kAnthropicMessages}) {
    order.dialect = dialect;
    out += concat("<p class=\"soft\">", dialect_name(dialect), "</p>\n");
    out += sample(curl_command(order));
  }
  return out;
}

std::string trouble(const Order& order) {
  return concat(
      heading("trouble", both(kTrouble)), paragraph(kTroubleText),
      sample(concat("headway verify --base-url ", shell_quoted(order.access.root), " --api-key ",
                    kUnknownKey, " --model ", shell_quoted(order.access.model),
                    "\nheadway config claude-code --check\n")));
}

}  // namespace

std::string render_docs_page(const DocsFacts& facts) {
  Order order;
  order.access.root = facts.root;
  order.access.api_key = kUnknownKey;
  order.access.model = facts.models.empty() ? std::string(kUnknownModel) : facts.models.front();
  order.time = "2026-01-01T00:00:00.000Z";  // a time that Cline would write anew
  std::string out(kHead);
  out += concat("<h1>Headway: ", both(kTitle), "</h1>\n", paragraph(kIntro), navigation(),
                triple(facts));
  for (const Client client : {Client::kClaudeCode, Client::kCodex, Client::kCline}) {
    out += program(client, order);
  }
  out += heading("sdk", both(kVariables));
  for (const Client client : {Client::kOpenai, Client::kAnthropic}) {
    out += concat("<p class=\"soft\">", client_title(client), "</p>\n");
    out += sample(printed(client, order, {}));
  }
  out += requests(order);
  out += trouble(order);
  return out += kTail;
}

}  // namespace hw::setup
