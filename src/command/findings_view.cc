#include "command/findings_view.h"

#include "base/text.h"
#include "config/text_width.h"
#include "terminal/messages.h"

namespace hw::cli {

using namespace terminal;
namespace {

constexpr int kColumns = 100;
constexpr std::string_view kIndent = "    ";

Text label_of(setup::Severity severity) {
  switch (severity) {
    case setup::Severity::kWrong:
      return Text::kConfigWrong;
    case setup::Severity::kRisk:
      return Text::kConfigRisk;
    case setup::Severity::kNote:
      return Text::kConfigNote;
  }
  return Text::kConfigNote;
}

}  // namespace

std::string finding_lines(const setup::Finding& finding, config::Language language) {
  const setup::Place& place = finding.place;
  const std::string source =
      place.source == "environment" ? say(language, Text::kConfigEnvironment) : place.source;
  std::string out = concat(say(language, label_of(finding.severity)), "  ",
                           setup::code_name(finding.code), "  ", config::printable(source));
  if (place.line > 0) out += concat(":", place.line);
  out += "\n";
  // What comes from files and variables does not steer the terminal.
  const std::string said = config::printable(setup::describe(finding, language));
  for (const std::string& line : config::wrap(said, kColumns - static_cast<int>(kIndent.size()))) {
    out += concat(kIndent, line, "\n");
  }
  if (finding.change.empty()) return out;
  return out + concat(kIndent, say(language, Text::kConfigChange), " ",
                      config::printable(finding.change), "\n");
}

void write_findings(json::Writer& writer, const setup::Examination& examination,
                    config::Language language) {
  writer.key("findings");
  writer.begin_array();
  for (const setup::Finding& finding : examination.findings) {
    writer.begin_object();
    writer.field("code", setup::code_name(finding.code));
    writer.field("severity", setup::severity_name(finding.severity));
    writer.field("source", finding.place.source);
    if (finding.place.line > 0) {
      writer.field("line", finding.place.line);
    } else {
      writer.field_null("line");
    }
    writer.field("message", setup::describe(finding, language));
    writer.field("change", finding.change);
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace hw::cli
