#include "neutral/fidelity.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/text.h"

namespace hw::translate {
namespace {

constexpr Dialect kChat = Dialect::kOpenaiChat;
constexpr Dialect kResponses = Dialect::kOpenaiResponses;
constexpr Dialect kMessages = Dialect::kAnthropicMessages;

std::string shown_name(std::string_view name) {
  return name.empty() ? "–" : concat("`", name, "`");
}

// A rule as its row in the document.
std::string row_of(const Rule& rule) {
  return concat("| ", shown_name(rule.chat), " | ", shown_name(rule.responses), " | ",
                shown_name(rule.messages), " | ", action_name(rule.to_chat), " | ",
                action_name(rule.to_responses), " | ", action_name(rule.to_messages), " |",
                rule.how.empty() ? "" : " ", rule.how, " |");
}

// The rows below the table's head.
std::vector<std::string> documented_rows() {
  std::ifstream in("docs/dialects.md");
  REQUIRE(in);
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| chat | responses | messages |")) {
      inside = true;
      std::getline(in, line);
    } else if (inside && line.empty()) {
      break;
    } else if (inside) {
      rows.push_back(line);
    }
  }
  return rows;
}

TEST_CASE("docs/dialects.md has a row for every rule, in their order and their words") {
  const std::vector<std::string> rows = documented_rows();
  CHECK(rows.size() == rules().size());
  for (size_t i = 0; i < rules().size(); ++i) {
    const std::string expected = row_of(rules()[i]);
    CHECK_MESSAGE((i < rows.size() ? rows[i] : "") == expected, "docs/dialects.md needs:\n",
                  expected);
  }
}

TEST_CASE("every rule names its field somewhere, and says why it refuses or how it converts") {
  for (const Rule& rule : rules()) {
    const bool named = !rule.chat.empty() || !rule.responses.empty() || !rule.messages.empty();
    CHECK((named || rule.feature == Feature::kOtherField));
    for (const Action action : {rule.to_chat, rule.to_responses, rule.to_messages}) {
      const bool explains = action == Action::kConvert;
      CHECK_MESSAGE((!explains || !rule.how.empty()), row_of(rule));
    }
  }
}

TEST_CASE("a field that is dropped is marked once, by the client's name for it") {
  Fidelity fidelity(kMessages, kChat);
  CHECK(fidelity.meet(Feature::kCacheControl) == Action::kDrop);
  CHECK(!fidelity.says(Feature::kCacheControl));
  CHECK(!fidelity.says(Feature::kServerTool, "web_search_20250305"));
  CHECK(fidelity.says(Feature::kMaxTokens));
  CHECK(fidelity.lossy() == std::vector<std::string>{"cache_control", "web_search_20250305"});
  CHECK(fidelity.status());
}

TEST_CASE("a field that the client's dialect has not is marked by the name that it has elsewhere") {
  Fidelity fidelity(kResponses, kMessages);
  fidelity.meet(Feature::kSeed);
  fidelity.lose(Feature::kStopSequences);
  CHECK(fidelity.lossy() == std::vector<std::string>{"seed", "stop"});
}

TEST_CASE("a value that cannot be said is marked though its field can") {
  Fidelity fidelity(kChat, kMessages);
  fidelity.lose(Feature::kThinking);
  CHECK(fidelity.take_lossy() == std::vector<std::string>{"reasoning_effort"});
  CHECK(rule_name(Feature::kThinking, kResponses) == "reasoning.effort");
}

TEST_CASE("the first refusal counts, names the field and the dialect, and is the client's fault") {
  Fidelity fidelity(kChat, kMessages);
  CHECK(fidelity.meet(Feature::kAudio) == Action::kRefuse);
  fidelity.meet(Feature::kChoices);
  REQUIRE(!fidelity.status());
  const Error& error = fidelity.status().error();
  CHECK(error.code == ErrorCode::kUnsupportedField);
  CHECK(error.detail == "messages[].content[].input_audio");
  CHECK(error.message.find("messages[].content[].input_audio") != std::string::npos);
  CHECK(error.message.find("anthropic-messages") != std::string::npos);
}

TEST_CASE("more marks than a record holds are counted as one") {
  Fidelity fidelity(kChat, kMessages);
  for (int i = 0; i < 100; ++i) fidelity.mark(concat("field", i));
  CHECK(fidelity.lossy().size() == Fidelity::kMarksMax + 1);
  CHECK(fidelity.lossy().back() == "...");
}

}  // namespace
}  // namespace hw::translate
