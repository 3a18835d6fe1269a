#include "translate/trimmed_body.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "json/check.h"
#include "neutral/opaque.h"

namespace hw::translate {
namespace {

using Marks = std::vector<std::string>;

std::string sealed() {
  return seal({OpaqueKind::kEncrypted, "rs_1", "bytes"});
}

TEST_CASE("a body goes as it came where nothing is to be cut") {
  const std::string chat = R"({ "model" : "m" , "messages" : [ ] , "top_k" : 3 })";
  CHECK(!trim(Dialect::kOpenaiChat, chat, {}));
  const Marks all = {"top_k"};
  CHECK(!trim(Dialect::kOpenaiChat, chat, all));
  const std::string says_hw =
      R"({"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hw.e.."}]}]})";
  CHECK(!trim(Dialect::kAnthropicMessages, says_hw, {}));
}

TEST_CASE("fields that a channel does not list are cut and marked, wherever they stand") {
  const Marks fields = {"temperature"};
  const std::string bodies[] = {
      R"({"a":1,"model":"m","messages":[],"temperature":0.5})",
      R"({"model":"m", "a" : {"x":[1,2]} ,"messages":[],"temperature":0.5})",
      R"({"model":"m","messages":[],"temperature":0.5,"a":"z"})",
  };
  for (const std::string& body : bodies) {
    const auto trimmed = trim(Dialect::kOpenaiChat, body, fields);
    REQUIRE(trimmed);
    CHECK(trimmed->lossy == Marks{"a"});
    CHECK(trimmed->body == R"({"model":"m","messages":[],"temperature":0.5})");
  }
}

TEST_CASE("the model, the conversation and the stream need not be listed") {
  const Marks none = {"none"};
  const std::string body = R"({"model":"m","stream":true,"input":"hi","max_tokens":1,"tools":[]})";
  const auto trimmed = trim(Dialect::kOpenaiResponses, body, none);
  REQUIRE(trimmed);
  CHECK(trimmed->body == R"({"model":"m","stream":true,"input":"hi","max_tokens":1})");
  CHECK(trimmed->lossy == Marks{"tools"});
}

TEST_CASE("a thinking block sealed for another dialect is cut, a genuine one stays") {
  const std::string genuine = R"({"type":"thinking","thinking":"t","signature":"EqQBCg=="})";
  const std::string ours =
      concat(R"({"type":"thinking","thinking":"t","signature":")", sealed(), "\"}");
  const std::string text = R"({"type":"text","text":"a"})";
  const auto body = [](std::string_view blocks) {
    return concat(R"({"model":"m","messages":[{"role":"user","content":"q"},)"
                  R"({"role":"assistant","content":[)",
                  blocks, R"(]},{"role":"user","content":"r"}],"max_tokens":5})");
  };
  const auto trimmed =
      trim(Dialect::kAnthropicMessages, body(concat(ours, " , ", genuine, ",", text)), {});
  REQUIRE(trimmed);
  CHECK(trimmed->lossy == Marks{"thinking"});
  CHECK(trimmed->body == body(concat(genuine, ",", text)));
}

TEST_CASE("a turn that was nothing but sealed thinking goes whole") {
  const std::string body =
      concat(R"({"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant",)"
             R"("content":[{"type":"redacted_thinking","data":")",
             sealed(), R"("}]},{"role":"user","content":"r"}]})");
  const auto trimmed = trim(Dialect::kAnthropicMessages, body, {});
  REQUIRE(trimmed);
  CHECK(
      trimmed->body ==
      R"({"model":"m","messages":[{"role":"user","content":"q"},{"role":"user","content":"r"}]})");
}

TEST_CASE("a sealed reasoning item is cut from an input") {
  const std::string body =
      concat(R"({"model":"m","input":[{"type":"reasoning","id":"x","encrypted_content":")",
             sealed(), R"("},{"role":"user","content":"q"}]})");
  const auto trimmed = trim(Dialect::kOpenaiResponses, body, {});
  REQUIRE(trimmed);
  CHECK(trimmed->lossy == Marks{"reasoning"});
  CHECK(trimmed->body == R"({"model":"m","input":[{"role":"user","content":"q"}]})");
}

TEST_CASE("whatever is cut, what is left is JSON") {
  const std::string body =
      R"({ "a":[1,{"b":"}"}] ,"model":"m" , "c":"\"," ,"messages":[{}],"d":{}})";
  for (const Marks& fields : {Marks{"a"}, Marks{"c"}, Marks{"d"}, Marks{"none"}, Marks{"a", "d"}}) {
    const auto trimmed = trim(Dialect::kOpenaiChat, body, fields);
    REQUIRE(trimmed);
    CHECK(json::is_json_object(trimmed->body));
  }
}

}  // namespace
}  // namespace hw::translate
