#include "command/command_line.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "cli/commands.h"
#include "config/text_width.h"
#include "terminal/messages.h"

using namespace hw;
using namespace hw::cli;
using namespace hw::terminal;
using config::Language;

namespace {

using Words = std::vector<std::string>;

ParsedLine parse(const Words& words, const config::Environment& environment = {}) {
  return parse_line(commands(), words, environment);
}

std::string error_of(const Words& words) {
  const ParsedLine line = parse(words);
  CHECK(line.kind == ParsedLine::Kind::kError);
  return line.text;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("flags come in both forms, before and behind the operand") {
  for (const Words& words : {Words{"trace", "req_1", "--json", "--base-url", "http://h:1"},
                             Words{"trace", "--base-url=http://h:1", "--json", "req_1"}}) {
    const ParsedLine line = parse(words);
    REQUIRE(line.kind == ParsedLine::Kind::kRun);
    CHECK(line.command->name == "trace");
    CHECK(line.arguments.operand == "req_1");
    CHECK(line.arguments.has("json"));
    CHECK(line.arguments.value("base-url") == "http://h:1");
    CHECK(line.arguments.value("api-key") == "");
  }
  CHECK(parse({"trace", "--", "--odd-id"}).arguments.operand == "--odd-id");
  CHECK(parse({"trace", "-"}).arguments.operand == "-");
}

TEST_CASE("a command of two words is one command") {
  const ParsedLine line = parse({"key", "create", "--name", "app"});
  REQUIRE(line.kind == ParsedLine::Kind::kRun);
  CHECK(line.command->name == "key create");
  CHECK(line.arguments.value("name") == "app");
}

TEST_CASE("a variable stands for its flag, and the flag wins") {
  const config::Environment environment = {{"HEADWAY_BASE_URL", "http://env:1"},
                                           {"HEADWAY_API_KEY", ""}};
  CHECK(parse({"logs"}, environment).arguments.value("base-url") == "http://env:1");
  CHECK_FALSE(parse({"logs"}, environment).arguments.has("api-key"));
  CHECK(parse({"logs", "--base-url", "http://flag:1"}, environment).arguments.value("base-url") ==
        "http://flag:1");
}

TEST_CASE("the language comes from --lang, else from the locale") {
  CHECK(parse({"logs"}).arguments.language == Language::kEnglish);
  CHECK(parse({"logs"}, {{"LANG", "zh_CN.UTF-8"}}).arguments.language == Language::kChinese);
  CHECK(parse({"logs"}, {{"LANG", "zh_CN.UTF-8"}, {"LC_ALL", "C"}}).arguments.language ==
        Language::kEnglish);
  CHECK(parse({"--lang", "zh", "logs"}).arguments.language == Language::kChinese);
  CHECK(parse({"logs", "--lang=en"}, {{"LANG", "zh_CN"}}).arguments.language == Language::kEnglish);
  CHECK(has(error_of({"logs", "--lang", "fr"}), "en, zh"));
}

TEST_CASE("options of the configuration file are flags of those who read one") {
  const ParsedLine line =
      parse({"serve", "--gateway.threads", "2", "--config=f", "--store.path=x.db"});
  REQUIRE(line.kind == ParsedLine::Kind::kRun);
  REQUIRE(line.arguments.options.size() == 2);
  CHECK(line.arguments.options[0].name == "gateway.threads");
  CHECK(line.arguments.options[0].value == "2");
  CHECK(line.arguments.options[1].value == "x.db");
  CHECK(has(error_of({"logs", "--gateway.threads", "2"}), "--gateway.threads"));
}

TEST_CASE("a mistake names the word and what would have been right") {
  CHECK(has(error_of({"lgos"}), "\"logs\""));
  CHECK(has(error_of({"key", "crate"}), "\"key create\""));
  CHECK(has(error_of({"key"}), "key list"));
  CHECK(has(error_of({"nonsense-of-a-word"}), "completion"));
  CHECK(has(error_of({"logs", "--folow"}), "--follow"));
  CHECK(has(error_of({"logs", "--qqqqqq"}), "\"headway logs\""));
  CHECK(has(error_of({"logs", "-f"}), "-f"));
  CHECK(has(error_of({"logs", "extra"}), "extra"));
  CHECK(has(error_of({"logs", "--limit"}), "N"));
  CHECK(has(error_of({"logs", "--follow=yes"}), "takes no value"));
  CHECK(has(error_of({"logs", "--outcome", "fine"}), "client_gone"));
  CHECK(has(error_of({"up", "--engine", "vllm"}), "llama, gpu-model, none"));
  CHECK(has(error_of({"trace"}), "ID"));
  CHECK(has(error_of({"serve", "--gateway.listen"}), "VALUE"));
}

TEST_CASE("help is found at every place, in both languages, within 100 columns") {
  for (const Words& words :
       {Words{}, Words{"--help"}, Words{"-h"}, Words{"help"}, Words{"trace", "--help"},
        Words{"key", "--help"}, Words{"key", "create", "-h"}, Words{"logs", "--limit", "--help"}}) {
    CHECK(parse(words).kind == ParsedLine::Kind::kHelp);
  }
  CHECK(has(parse({"trace", "--help"}).text, "headway trace ID"));
  CHECK(has(parse({"key", "--help"}).text, "key disable"));
  for (const Command& command : commands()) {
    for (const Language language : {Language::kEnglish, Language::kChinese}) {
      const std::string help = command_help(command, language);
      CAPTURE(help);
      CHECK(has(help, say(language, Text::kExamples)));
      CHECK_FALSE(command.examples.empty());
      size_t begin = 0;
      while (begin < help.size()) {
        const size_t end = help.find('\n', begin);
        CHECK(config::display_width(help.substr(begin, end - begin)) <= 100);
        begin = end + 1;
      }
    }
  }
}

TEST_CASE("a list flag takes the words up to the next flag, and may come again") {
  const ParsedLine line = parse_line(
      commands(), {"compare", "--base", "a", "b", "--json", "--base=c", "--new", "d"}, {});
  REQUIRE(line.kind == ParsedLine::Kind::kRun);
  CHECK(line.arguments.value("base") == "a\nb\nc");
  CHECK(line.arguments.value("new") == "d");
  CHECK(parse_line(commands(), {"compare", "--base", "a", "--json", "b"}, {}).kind ==
        ParsedLine::Kind::kError);
}

TEST_CASE("every command that prints data can print JSON") {
  for (const Command& command : commands()) {
    if (command.name == "completion") continue;
    CAPTURE(command.name);
    CHECK(std::any_of(command.flags.begin(), command.flags.end(),
                      [](const Flag& flag) { return flag.name == "json"; }));
  }
}
