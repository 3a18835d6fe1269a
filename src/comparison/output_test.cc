#include "comparison/output.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "comparison/simulated_run.h"
#include "comparison/wording.h"
#include "json/check.h"

namespace hw::comparison {
namespace {

Report slower_report() {
  Simulator simulator(2);
  Scene base;
  base.long_share = 0.5, base.requests = 300;
  Scene slow = base;
  slow.round_trip_ms += 40;
  const auto before = simulator.runs(base, 5);
  return make_report(before, simulator.runs(slow, 5));
}

TEST_CASE("JSON has verdict, metrics, attribution and preconditions, and is valid") {
  const std::string text = report_json(slower_report());
  CHECK(json::is_json_object(text));
  for (const char* part : {"\"verdict\":\"SLOWER\"", "\"metrics\":[{\"bucket\":\"long\"",
                           "\"cause\":\"link\"", "\"preconditions\":[{\"name\":\"manifest\""}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("JUnit counts what failed and escapes what it names") {
  Report report = slower_report();
  report.comparison.rows.front().bucket = "a<b>&\"c\"";
  const std::string text = report_junit(report);
  CHECK(text.find("a&lt;b&gt;&amp;&quot;c&quot;") != std::string::npos);
  CHECK(text.find("failures=\"0\"") == std::string::npos);
  CHECK(text.find("<failure message=\"SLOWER\">") != std::string::npos);
}

TEST_CASE("Markdown says the verdict first and keeps to its table") {
  Report report = slower_report();
  report.comparison.rows.front().bucket = "a|b\nc";
  const std::string text = report_markdown(report, config::Language::kEnglish);
  CHECK(text.starts_with("## headway compare: SLOWER\n"));
  CHECK(text.find("a\\|b c") != std::string::npos);
  CHECK(report_markdown(report, config::Language::kChinese).find("变慢") != std::string::npos);
}

TEST_CASE("the sentence names causes with shares and intervals, or says why it cannot") {
  const Report report = slower_report();
  const std::string text = attribution_sentence(report.attribution, config::Language::kEnglish);
  CHECK(text.find("TTFT P") == 0);
  CHECK(text.find("link ") != std::string::npos);
  CHECK(text.find(" % [") != std::string::npos);
  Attribution unknown = report.attribution;
  unknown.verdict.reset();
  CHECK(attribution_sentence(unknown, config::Language::kEnglish).find("Cannot separate") !=
        std::string::npos);
}

}  // namespace
}  // namespace hw::comparison
