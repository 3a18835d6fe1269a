// Any body as a request: facts or a message, and edits that leave it readable with the new name.
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "wire/request_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hw::wire;
  if (size < 1) return 0;
  const auto dialect = static_cast<hw::Dialect>(data[0] % hw::kDialectCount);
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  RequestFacts facts;
  const hw::Status status = scan_request(dialect, body, facts);
  if (!status) {
    HW_ASSERT(status.error().code == hw::ErrorCode::kBadRequest);
    HW_ASSERT(!status.error().message.empty());
    return 0;
  }
  RequestEdits edits(facts);
  edits.set_model("another \"name\"");
  const bool asked = edits.ask_for_usage(dialect);
  const std::string edited = edits.splice().apply(body);
  RequestFacts after;
  HW_ASSERT(scan_request(dialect, edited, after).has_value());
  HW_ASSERT(after.model == "another \"name\"");
  HW_ASSERT(after.stream == facts.stream);
  HW_ASSERT(after.messages == facts.messages);
  HW_ASSERT(after.prompt_bytes == facts.prompt_bytes);
  HW_ASSERT(after.session == facts.session);
  if (asked) HW_ASSERT(after.stream_options.include_usage == IncludeUsage::kTrue);
  return 0;
}
