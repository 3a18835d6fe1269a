#include "terminal/waterfall.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "config/text_width.h"
#include "terminal/sample_calls.h"

using namespace hw;
using namespace hw::terminal;
using config::Language;

namespace {

struct Sample {
  std::string name;
  timeline::Call call;
};

std::vector<Sample> samples() {
  return {{"streamed", streamed_call()},         {"retried", retried_call()},
          {"rejected", rejected_call()},         {"client_gone", client_gone_call()},
          {"not_streamed", not_streamed_call()}, {"inconsistent", inconsistent_call()},
          {"long_names", long_names_call()}};
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("each kind of call has its picture, in English and Chinese") {
  // HEADWAY_WRITE_EXPECTED=1 writes the pictures anew, for a reviewer to read.
  const bool write = std::getenv("HEADWAY_WRITE_EXPECTED") != nullptr;
  for (const Sample& sample : samples()) {
    for (const auto& [language, suffix] :
         {std::pair(Language::kEnglish, ".en.txt"), std::pair(Language::kChinese, ".zh.txt")}) {
      const std::string path = "src/terminal/testdata/waterfall/" + sample.name + suffix;
      CAPTURE(path);
      const std::string got = render_waterfall(sample.call, language, Colour::kNone);
      if (write) std::ofstream(path) << got;
      CHECK(got == content_of(path));
    }
  }
}

TEST_CASE("no line is wider than 100 columns, and none steers the terminal") {
  for (const Sample& sample : samples()) {
    for (const Language language : {Language::kEnglish, Language::kChinese}) {
      std::istringstream lines(render_waterfall(sample.call, language, Colour::kNone));
      for (std::string line; std::getline(lines, line);) {
        CAPTURE(sample.name);
        CAPTURE(line);
        CHECK(config::display_width(line) <= 100);
        CHECK(config::printable(line) == line);
      }
    }
  }
}

TEST_CASE("colours change nothing but colours") {
  for (const Sample& sample : samples()) {
    const std::string coloured = render_waterfall(sample.call, Language::kEnglish, Colour::kAnsi);
    std::string plain;
    for (size_t i = 0; i < coloured.size(); ++i) {
      if (coloured[i] == '\x1b') {
        i = coloured.find('m', i);
      } else {
        plain += coloured[i];
      }
    }
    CHECK(coloured != plain);
    CHECK(plain == render_waterfall(sample.call, Language::kEnglish, Colour::kNone));
  }
}

TEST_CASE("any call at all can be shown") {
  Random random(7);
  for (int round = 0; round < 500; ++round) {
    timeline::Call call = round % 2 == 0 ? streamed_call() : retried_call();
    for (int i = 0; i < timeline::kExchangeStampCount; ++i) {
      call.stamps.move_to(static_cast<timeline::ExchangeStamp>(i),
                          static_cast<Nanos>(random.below(5 * kSecond)) - 1);
    }
    for (timeline::Attempt& attempt : call.attempts) {
      for (int i = 0; i < timeline::kAttemptStampCount; ++i) {
        attempt.stamps.move_to(static_cast<timeline::AttemptStamp>(i),
                               static_cast<Nanos>(random.below(5 * kSecond)) - 1);
      }
    }
    call.stream = random.below(2) == 0;
    call.outcome = static_cast<Outcome>(random.below(kOutcomeCount));
    CHECK(render_waterfall(call, Language::kEnglish, Colour::kNone).ends_with(".\n"));
  }
  CHECK(render_waterfall(timeline::Call(), Language::kEnglish, Colour::kNone).find("no times") !=
        std::string::npos);
}
