#include "base/text.h"
#include "cli/commands.h"
#include "command/gateway_client.h"
#include "store/call_json.h"
#include "terminal/messages.h"
#include "terminal/output.h"
#include "terminal/waterfall.h"

namespace hw::cli {

using namespace terminal;
namespace {

Exit trace(const Arguments& arguments) {
  const GatewayClient gateway(arguments);
  const auto body = gateway.ask("GET", concat("/api/calls/", percent_encode(arguments.operand)));
  if (!body.has_value()) return body.error();
  if (arguments.has("json")) {
    print(*body);
    return Exit::kFine;
  }
  const Result<timeline::Call> call = store::parse_call_json(*body);
  if (!call.has_value()) return gateway.broken(call.error());
  print(render_waterfall(*call, arguments.language, colour_of_output(arguments.environment)));
  return Exit::kFine;
}

}  // namespace

Command trace_command() {
  Command out;
  out.name = "trace";
  out.operand = "ID";
  out.summary = {
      "Shows where the time of one call went: stages, attempts, gaps, tokens. ID is its "
      "x-request-id, its trace id, or the x-request-id that the caller sent.",
      "显示一次调用的时间去向：阶段、尝试、间隔、令牌。ID 为其 x-request-id、追踪标识，或调用"
      "方发送的 x-request-id。"};
  out.flags = with_client_flags({json_flag(), key_flag()});
  out.examples = {"headway trace req_01KE1QZX9G0000000000000000",
                  "headway trace 4bf92f3577b34da6a3ce929d0e0e4736 --json",
                  "headway trace \"$(headway logs --limit 1 --json | jq -r .id)\" --lang zh"};
  out.run = trace;
  return out;
}

}  // namespace hw::cli
