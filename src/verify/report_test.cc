#include "verify/report.h"

#include <doctest/doctest.h>

#include "config/text_width.h"
#include "json/check.h"
#include "verify/record_samples.h"
#include "verify/watch.h"

namespace hw::verify {
namespace {

using config::Language;
using probe::Record;

Record refused() {
  Record record = sound_record();
  answer_with(record, answered(401, R"({"error":{"message":"bad \u001b[31m key"}})"));
  return record;
}

TEST_CASE("the text is at most 100 columns wide and steers no terminal") {
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const std::string text = verdict_text(conclude(refused()), language, terminal::Colour::kNone);
    CAPTURE(text);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find("key_refused: ") != std::string::npos);
    size_t at = 0;
    while (at < text.size()) {
      const size_t end = text.find('\n', at);
      REQUIRE(end != std::string::npos);
      CHECK(config::display_width(text.substr(at, end - at)) <= 100);
      at = end + 1;
    }
  }
}

TEST_CASE("colours change nothing but colours") {
  const Verdict verdict = conclude(refused());
  std::string coloured = verdict_text(verdict, Language::kEnglish, terminal::Colour::kAnsi);
  for (size_t at; (at = coloured.find('\x1b')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  CHECK(coloured == verdict_text(verdict, Language::kEnglish, terminal::Colour::kNone));
}

TEST_CASE("the JSON is one object with stable names, whatever the language") {
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    const Record record = refused();
    write_verdict(writer, record, conclude(record), language);
    writer.end_object();
    CHECK(json::is_json_object(out));
    for (const std::string_view piece :
         {R"("conclusion":"failed")", R"("code":"key_refused")", R"("fault":"key")",
          R"("step":"credential","mark":"failed")", R"("dialect":"openai-chat")"}) {
      CAPTURE(piece);
      CHECK(out.find(piece) != std::string::npos);
    }
  }
}

TEST_CASE("a round of a watch is one line") {
  const Record sound = sound_record();
  const std::string line =
      watch_line(sound, conclude(sound), 1'767'225'600 * kSecond, Language::kEnglish);
  CHECK(line == "2026-01-01T00:00:00Z  fine  first token 295 ms  total 481 ms");
  const Record bad = refused();
  CHECK(watch_line(bad, conclude(bad), 0, Language::kEnglish).ends_with("failed  key_refused"));
}

}  // namespace
}  // namespace hw::verify
