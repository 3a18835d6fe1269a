#include "verify/watch.h"

#include <doctest/doctest.h>

#include "config/text_width.h"

namespace hw::verify {
namespace {

using config::Language;

TEST_CASE("a round of a watch is one line, and nothing in it would be shown as unprintable") {
  const probe::Record record;
  const Verdict verdict;
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const std::string line = watch_line(record, verdict, 0, language);
    CHECK(!line.empty());
    CHECK(config::printable(line) == line);
  }
}

TEST_CASE("the heading of a gateway's record is one line that names the request") {
  probe::GatewayCall call;
  call.id = "req_1";
  call.refusal = "404";
  for (const std::string& json : {std::string(), std::string("{}")}) {
    call.json = json;
    for (const Language language : {Language::kEnglish, Language::kChinese}) {
      const std::string heading = call_heading(call, language);
      CHECK(heading.find("req_1") != std::string::npos);
      CHECK(config::printable(heading) == heading);
    }
  }
}

}  // namespace
}  // namespace hw::verify
