// PlanScenario: what `headway plan run` simulates: a machine, a load, and how it is changed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/engine_file.h"
#include "command/command_line.h"
#include "planner/figures.h"
#include "virtual_gpu/instance.h"
#include "workload/trace.h"

namespace hw::cli {

// How requests come.
struct PlanLoad {
  std::optional<double> per_second;  // an open loop; absent: a closed one
  workload::ArrivalKind arrival = workload::ArrivalKind::kPoisson;
  double burstiness = 1;
  int clients = 16;  // of the closed loop
  int64_t requests = 1000;
  std::string prompt = "1024";  // as workload::Lengths::parse()
  std::string output = "256";
  std::shared_ptr<const std::vector<workload::TraceRow>> trace;  // instead of all above
  double trace_speed = 1;
  uint64_t seed = 1;
};

// All of it. A copy with one thing changed is another case.
struct PlanScenario {
  config::ConfigSources engine;  // file, variables and flags of engine.toml
  PlanLoad load;
  int replicas = 1;

  // Reads what the command line says. Says on standard error what is wrong; then nothing comes.
  static std::optional<PlanScenario> read(const Arguments& arguments);
  // Changes one thing: an option of engine.toml with or without its section, or replicas, rate,
  // concurrency, isl, osl. kConfig with what there is.
  Status change(std::string_view key, std::string_view value);
  // What is simulated, in one line.
  std::string description(config::Language language) const;
};

// One case, simulated.
struct PlanResult {
  virtual_gpu::Machine machine;
  planner::Figures figures;
};
// Runs it. `progress` as planner::RunOptions has it. kConfig as virtual_gpu::plan_machine().
Result<PlanResult> simulate(const PlanScenario& scenario, const planner::Goals& goals,
                            const std::function<void(int64_t, int64_t)>& progress);

}  // namespace hw::cli
