#include "setup/sdk.h"

#include <doctest/doctest.h>

#include "settings/json_tree.h"
#include "setup/examined.h"

using namespace hw;
using namespace hw::settings;
using namespace hw::setup;

namespace {

Order order(std::optional<Dialect> dialect = {}) {
  Order out;
  out.access = {"http://127.0.0.1:8080", "hw-it's", "m"};
  out.dialect = dialect;
  return out;
}

}  // namespace

TEST_CASE("lines for a shell are quoted where they must be") {
  CHECK(printed(Client::kAnthropic, order(), {})
            .starts_with("export ANTHROPIC_BASE_URL=http://127.0.0.1:8080\n"
                         "export ANTHROPIC_API_KEY='hw-it'\\''s'\n# from anthropic"));
  CHECK(printed(Client::kTriple, order(), {}) ==
        "base_url = http://127.0.0.1:8080\nopenai_base_url = http://127.0.0.1:8080/v1\n"
        "api_key = hw-it's\nmodel_id = m\n");
}

TEST_CASE("curl asks in the dialect that is wanted, with a body that is JSON") {
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  const std::string chat = curl_command(order());
  CHECK(has(chat, "8080/v1/chat/completions "));
  CHECK(has(chat, "\"messages\""));
  CHECK(has(curl_command(order(Dialect::kOpenaiResponses)), "8080/v1/responses "));
  const std::string messages = curl_command(order(Dialect::kAnthropicMessages));
  CHECK(has(messages, "8080/v1/messages "));
  CHECK(has(messages, "anthropic-version"));
  const size_t body = messages.find("-d '") + 4;
  CHECK(parse_json(messages.substr(body, messages.rfind('\'') - body)).has_value());
}

TEST_CASE("variables of the OpenAI SDKs are judged") {
  CHECK(Machine(Client::kOpenai).found() ==
        "wrong not_configured environment:0 -> "
        "export OPENAI_BASE_URL=http://127.0.0.1:8080/v1\n");
  Machine good(Client::kOpenai);
  good.variable("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")
      .variable("OPENAI_API_KEY", "hw-0123456789");
  CHECK(good.found() == "");
  good.variable("OPENAI_API_BASE", "http://old/v1").variable("OPENAI_API_KEY", "hw-0123456789\n");
  CHECK(good.found() ==
        "note old_variable environment:0 -> export OPENAI_BASE_URL=http://old/v1\n"
        "wrong key_blank environment:0 -> export OPENAI_API_KEY=YOUR_KEY\n");
}

TEST_CASE("variables of the Anthropic SDKs are judged, token before key") {
  Machine both(Client::kAnthropic);
  both.variable("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080/v1")
      .variable("ANTHROPIC_API_KEY", "sk-other")
      .variable("ANTHROPIC_AUTH_TOKEN", "hw-0123456789");
  CHECK(both.found() ==
        "risk credentials_both environment:0 -> unset ANTHROPIC_API_KEY\n"
        "risk base_url_v1_extra environment:0 -> "
        "export ANTHROPIC_BASE_URL=http://127.0.0.1:8080\n");
  CHECK(both.examine().key.name == "ANTHROPIC_AUTH_TOKEN");
}

TEST_CASE("the gateway's answer tells a refused key, an unknown model, a closed port") {
  Machine good(Client::kTriple);
  good.variable("HEADWAY_BASE_URL", "http://127.0.0.1:8080")
      .variable("HEADWAY_API_KEY", "hw-0123456789")
      .variable("HEADWAY_MODEL", "smollm");
  const auto answered = [&](const ProbeAnswer& answer) {
    Examination examined = good.examine();
    judge_answer(examined, answer);
    return Machine::lines(examined);
  };
  CHECK(answered({200, "", {"smollm2-135m", "gpt-4o"}, {}}) == "");
  CHECK(answered({200, "", {"gpt-4o", "smollm2-135m"}, {"smollm"}}) ==
        "wrong model_not_served environment:0 -> export HEADWAY_MODEL=smollm2-135m\n");
  CHECK(answered({401, "", {}, {}}) ==
        "wrong key_refused environment:0 -> export HEADWAY_API_KEY=YOUR_KEY\n");
  CHECK(answered({0, "connection refused", {}, {}}) ==
        "wrong gateway_unreachable environment:0 -> headway verify\n");
  CHECK(answered({404, "", {}, {}}) == "risk unexpected_answer environment:0 -> headway verify\n");
}
