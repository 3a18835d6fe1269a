#include "setup/sdk.h"

#include "base/text.h"
#include "json/writer.h"

namespace hw::setup {

using namespace settings;
namespace {

Setting variable(const Surroundings& where, std::string_view name) {
  Setting out;
  out.name = name;
  out.value = where.variable(name);
  out.place.source = "environment";
  return out;
}

// The names that a family of SDKs looks at.
struct Names {
  std::string_view base_url, key, model;
  UrlForm form;
  std::string_view maker;
};
constexpr Names kOpenaiNames = {"OPENAI_BASE_URL", "OPENAI_API_KEY", "", UrlForm::kWithV1,
                                "api.openai.com"};
constexpr Names kAnthropicNames = {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "", UrlForm::kRoot,
                                   "api.anthropic.com"};
constexpr Names kHeadwayNames = {"HEADWAY_BASE_URL", "HEADWAY_API_KEY", "HEADWAY_MODEL",
                                 UrlForm::kRoot, "127.0.0.1:8080"};

// One family: fills the examination in, so that the last family's is what a probe asks with.
void examine_family(Examination& e, const Names& names, const Surroundings& where) {
  e.url_form = names.form;
  e.base_url = variable(where, names.base_url);
  e.key = variable(where, names.key);
  e.models.clear();
  if (!names.model.empty()) e.models.push_back(variable(where, names.model));
  if (e.base_url.empty()) {
    const std::string url = e.expected.root.empty()        ? std::string("http://127.0.0.1:8080")
                            : names.form == UrlForm::kRoot ? e.expected.root
                                                           : openai_base_url(e.expected.root);
    e.add(Code::kNotConfigured, e.base_url.place,
          {std::string(client_title(e.client)), std::string(names.maker)}, e.base_url.line(url));
    return;
  }
  // Anthropic's SDKs take either; the token goes before.
  const Setting token = variable(where, "ANTHROPIC_AUTH_TOKEN");
  if (names.base_url == kAnthropicNames.base_url && !token.empty()) {
    if (!e.key.empty()) {
      e.add(Code::kCredentialsBoth, e.key.place, {token.name, e.key.name}, e.key.removal());
    }
    e.key = token;
  }
  judge_triple(e);
  judge_proxy(e, where.environment);
}

void examine_old_name(Examination& e, const Surroundings& where) {
  const Setting old = variable(where, "OPENAI_API_BASE");
  if (old.empty()) return;
  e.add(Code::kOldVariable, old.place, {old.name, std::string(kOpenaiNames.base_url)},
        concat("export ", kOpenaiNames.base_url, "=", shell_quoted(old.value)));
}

// A request's path and body in a dialect.
struct Sample {
  std::string path, body;
};

Sample sample_of(const Order& order) {
  Sample out;
  json::Writer writer(out.body);
  writer.begin_object();
  writer.field("model", order.access.model);
  writer.field("stream", true);
  constexpr std::string_view kQuestion = "Say hello.";
  if (order.dialect == Dialect::kOpenaiResponses) {
    out.path = "/v1/responses";
    writer.field("max_output_tokens", 64);
    writer.field("input", kQuestion);
  } else {
    const bool messages = order.dialect == Dialect::kAnthropicMessages;
    out.path = messages ? "/v1/messages" : "/v1/chat/completions";
    writer.field("max_tokens", 64);
    writer.key("messages");
    writer.begin_array();
    writer.begin_object();
    writer.field("role", "user");
    writer.field("content", kQuestion);
    writer.end_object();
    writer.end_array();
  }
  writer.end_object();
  return out;
}

}  // namespace

std::vector<Variable> variables_of(Client client, const Order& order) {
  const Access& access = order.access;
  const std::string openai = openai_base_url(access.root);
  switch (client) {
    case Client::kCodex:
      return {{"HEADWAY_API_KEY", access.api_key}};
    case Client::kOpenai:
      return {{"OPENAI_BASE_URL", openai}, {"OPENAI_API_KEY", access.api_key}};
    case Client::kAnthropic:
      return {{"ANTHROPIC_BASE_URL", access.root}, {"ANTHROPIC_API_KEY", access.api_key}};
    case Client::kEnv:
      return {{"HEADWAY_BASE_URL", access.root},        {"HEADWAY_API_KEY", access.api_key},
              {"HEADWAY_MODEL", access.model},          {"OPENAI_BASE_URL", openai},
              {"OPENAI_API_KEY", access.api_key},       {"ANTHROPIC_BASE_URL", access.root},
              {"ANTHROPIC_AUTH_TOKEN", access.api_key}, {"ANTHROPIC_MODEL", access.model}};
    case Client::kClaudeCode:
    case Client::kCline:
    case Client::kCurl:
    case Client::kTriple:
      break;
  }
  return {};
}

std::string python_lines(Client client, const Order& order) {
  std::string model;
  json::append_quoted(model, order.access.model);
  if (client == Client::kOpenai) {
    return concat(
        "# from openai import OpenAI\n"
        "# answer = OpenAI().chat.completions.create(\n#     model=",
        model,
        ", messages=[{\"role\": \"user\", \"content\": \"Say hello.\"}])\n"
        "# print(answer.choices[0].message.content)\n");
  }
  if (client == Client::kAnthropic) {
    return concat(
        "# from anthropic import Anthropic\n"
        "# answer = Anthropic().messages.create(\n#     model=",
        model,
        ", max_tokens=64, messages=[{\"role\": \"user\", \"content\": \"Say hello.\"}])\n"
        "# print(answer.content[0].text)\n");
  }
  return {};
}

std::string curl_command(const Order& order) {
  const Sample sample = sample_of(order);
  const std::string version = order.dialect == Dialect::kAnthropicMessages
                                  ? "  -H 'anthropic-version: 2023-06-01' \\\n"
                                  : "";
  return concat("curl -N ", shell_quoted(order.access.root + sample.path), " \\\n  -H ",
                shell_quoted("Authorization: Bearer " + order.access.api_key), " \\\n",
                "  -H 'Content-Type: application/json' \\\n", version, "  -d ",
                shell_quoted(sample.body), "\n");
}

std::string triple_lines(const Order& order) {
  const Access& access = order.access;
  return concat("base_url = ", access.root, "\nopenai_base_url = ", openai_base_url(access.root),
                "\napi_key = ", access.api_key, "\nmodel_id = ", access.model, "\n");
}

void examine_variables(Examination& e, const Surroundings& where) {
  switch (e.client) {
    case Client::kOpenai:
      examine_old_name(e, where);
      return examine_family(e, kOpenaiNames, where);
    case Client::kAnthropic:
      return examine_family(e, kAnthropicNames, where);
    case Client::kEnv:
      examine_old_name(e, where);
      examine_family(e, kOpenaiNames, where);
      examine_family(e, kAnthropicNames, where);
      return examine_family(e, kHeadwayNames, where);
    case Client::kCurl:
    case Client::kTriple:
      return examine_family(e, kHeadwayNames, where);
    case Client::kClaudeCode:
    case Client::kCodex:
    case Client::kCline:
      break;
  }
}

}  // namespace hw::setup
