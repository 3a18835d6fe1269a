// UpPlan: what `headway up` is going to run: a gateway on a data folder, and one embedded instance
// as its only channel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/data_dir.h"
#include "app/gateway_file.h"
#include "app/instance_process.h"
#include "base/result.h"
#include "config/section_reader.h"

namespace hw::app {

// What computes behind `headway up`.
enum class EmbeddedEngine : uint8_t { kLlama, kGpuModel, kNone };

// What was asked for on the command line.
struct UpRequest {
  std::string program;  // path of this executable, for the child
  std::string data_dir = "data";
  std::string config_file;       // further settings, channels and keys; empty: none
  std::optional<uint16_t> port;  // absent: the option gateway.listen says
  EmbeddedEngine engine = EmbeddedEngine::kLlama;
  config::Environment environment;
  std::vector<config::OptionFlag> flags;  // of headway.toml's and engine.toml's sections
  config::Language language = config::Language::kEnglish;
};

struct UpPlan {
  DataDir dir;
  GatewayFile config;
  std::string api_key;
  std::string admin_token;  // made; one that is configured wins
  std::string model_id;     // empty without an engine
  std::optional<InstancePlan> instance;

  explicit UpPlan(DataDir d) : dir(std::move(d)) {}
};

// Makes the data folder and its secrets, picks a port for the instance and puts the configuration
// together. Errors: kConfig, the message says what to do; mistakes in variables and flags are
// appended to `problems`, and then the error's message is empty.
Result<UpPlan> plan_up(const UpRequest& request, std::vector<config::Problem>& problems);

// Reads the settings of `request` again, for a reload; secrets and instance stay those of `plan`.
ReadGatewayFile read_again(const UpRequest& request, const UpPlan& plan);

}  // namespace hw::app
