#include "app/option_reference.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "app/engine_file.h"
#include "app/gateway_file.h"

using namespace hw::app;
using namespace hw::config;

TEST_CASE("docs/configuration.md is what the table of options says") {
  std::ifstream file("docs/configuration.md");
  std::stringstream text;
  text << file.rdbuf();
  const bool same = text.str() == reference_page();
  CHECK_MESSAGE(same, "run `headway serve --print-reference > docs/configuration.md`");
}

TEST_CASE("every option has a meaning in both languages, a reason, and a default or an example") {
  for (const OptionTable* table : {&gateway_options(), &engine_options()}) {
    for (const Section& section : table->sections) {
      const std::vector<std::string> defaults = section.defaults();
      REQUIRE(defaults.size() == section.options.size());
      for (const Option& option : section.options) {
        CAPTURE(option.name);
        CHECK_FALSE(option.meaning.en.empty());
        CHECK_FALSE(option.meaning.zh.empty());
        CHECK(option.meaning.en != option.meaning.zh);
        CHECK_FALSE(option.reason.empty());
        CHECK(section.find(option.name) == &option);
      }
    }
  }
}

TEST_CASE("the sample files are valid as they stand and change nothing") {
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    ConfigSources sources;
    sources.text = sample_file(gateway_options(), language);
    const ReadGatewayFile gateway = read_gateway_file(sources);
    for (const Problem& problem : gateway.problems) CHECK(describe(problem, language) == "");
    CHECK(restart_needed(gateway.config, GatewayFile()).empty());
    CHECK(gateway.config.channels.size() == 1);
    sources.text = sample_file(engine_options(), language);
    const ReadEngineFile engine = read_engine_file(sources);
    for (const Problem& problem : engine.problems) CHECK(describe(problem, language) == "");
  }
}

TEST_CASE("the help of options names each variable") {
  const std::string help = options_help(gateway_options(), Language::kEnglish);
  CHECK(help.find("HEADWAY_GATEWAY_TLS_CERTIFICATE") != std::string::npos);
  CHECK(help.find("HEADWAY_CHANNELS") == std::string::npos);
  CHECK(help.find("after a restart") != std::string::npos);
}
