#include "cli/commands.h"

#include "command/gateway_client.h"

namespace hw::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      up_command(),
      serve_command(),
      engine_command(),
      verify_command(),
      trace_command(),
      logs_command(),
      key_create_command(),
      key_list_command(),
      key_enable_command(),
      key_disable_command(),
      key_delete_command(),
      channel_list_command(),
      config_command(),
      sample_command(),
      compare_command(),
      baseline_save_command(),
      baseline_list_command(),
      baseline_show_command(),
      baseline_accept_command(),
      kv_command(),
      plan_run_command(),
      plan_calibrate_command(),
      completion_command(),
      version_command(),
  };
  return all;
}

const Flag& json_flag() {
  static const Flag flag = {"json", "", {"JSON instead of text.", "以 JSON 输出。"}};
  return flag;
}

std::vector<Flag> with_client_flags(std::vector<Flag> flags) {
  for (const Flag& flag : client_flags()) flags.push_back(flag);
  return flags;
}

}  // namespace hw::cli
