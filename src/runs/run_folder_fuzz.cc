// Lines of requests.jsonl and the manifest: any bytes, in any pieces. What is read as a record is
// written as a line that reads back as the same line.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "runs/run_folder.h"
#include "runs/summary.h"

namespace {

void check_record(const hw::runs::Record& record) {
  std::string once, twice;
  append_record(once, record);
  const auto again = hw::runs::parse_record(once);
  HW_ASSERT(again.has_value());
  append_record(twice, *again);
  HW_ASSERT(once == twice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hw::runs::SampleSet samples;
  hw::runs::LineSplitter splitter(4096, [&](std::string_view line) -> hw::Status {
    const auto record = hw::runs::parse_record(line);
    if (!record) return hw::fail(record.error());
    check_record(*record);
    samples.add(*record);
    return {};
  });
  const size_t half = size / 2;
  if (splitter.add(text.substr(0, half)) && splitter.add(text.substr(half)) && splitter.finish()) {
    samples.finish();
    std::string out;
    hw::json::Writer writer(out);
    write_metrics(writer, summarize(samples));
  }
  if (const auto manifest = hw::runs::parse_manifest(text)) {
    HW_ASSERT(hw::runs::parse_manifest(manifest_json(*manifest)).has_value());
  }
  return 0;
}
