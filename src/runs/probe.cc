#include "runs/probe.h"

#include "json/scan.h"
#include "json/writer.h"
#include "runs/record.h"

namespace hw::runs {

void append_probe(std::string& out, const Probe& probe) {
  json::Writer writer(out);
  writer.begin_object();
  writer.field("t", probe.at);
  writer.field("kind", probe.kind == ProbeKind::kRtt ? "rtt" : "canary");
  writer.field("ns", probe.duration);
  writer.end_object();
  out += '\n';
}

Result<Probe> parse_probe(std::string_view line) {
  json::Document document(ErrorCode::kConfig);
  if (const Status opened = document.open(line); !opened) return fail(opened.error());
  const json::Object root = document.root();
  const auto at = root.find("t").integer();
  const auto duration = root.find("ns").integer();
  const std::string kind(root.find("kind").text_or(""));
  if (const Status finished = document.finish(); !finished) return fail(finished.error());
  if (!at || !duration || *duration < 0 || *duration > Record::kStampMax) {
    return fail(ErrorCode::kConfig, "a probe without time or duration");
  }
  if (kind != "rtt" && kind != "canary") return fail(ErrorCode::kConfig, "an unknown probe");
  return Probe{*at, kind == "rtt" ? ProbeKind::kRtt : ProbeKind::kCanary, *duration};
}

}  // namespace hw::runs
