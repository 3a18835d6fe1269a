#include "base/assert.h"
#include "workload/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace hw::workload;
  const auto rows = read_trace({reinterpret_cast<const char*>(data), size});
  if (!rows.has_value()) return 0;
  HW_ASSERT(!rows->empty() && rows->front().at == 0);
  for (size_t i = 1; i < rows->size(); ++i) HW_ASSERT((*rows)[i - 1].at <= (*rows)[i].at);
  for (const TraceRow& row : *rows) HW_ASSERT(row.input_tokens > 0 && row.output_tokens > 0);
  return 0;
}
