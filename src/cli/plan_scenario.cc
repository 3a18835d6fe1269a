#include "cli/plan_scenario.h"

#include <fstream>

#include "app/gateway_file.h"
#include "base/text.h"
#include "command/number_flags.h"
#include "config/document.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {

using config::Words;
using namespace terminal;

namespace {

constexpr int kReplicasMax = 64;
constexpr int kClientsMax = 100'000;
constexpr int64_t kRequestsMax = 10'000'000;
constexpr double kRateMax = 100'000;
constexpr double kBurstinessLeast = 0.01, kBurstinessMost = 1000;
constexpr double kSpeedLeast = 0.001, kSpeedMost = 1000;

bool read_lengths(const Arguments& arguments, std::string_view flag, std::string& out) {
  if (!arguments.has(flag)) return true;
  const auto lengths = workload::Lengths::parse(arguments.value(flag));
  if (!lengths.has_value()) {
    complain(concat("--", flag, ": ", lengths.error().message));
    return false;
  }
  out = arguments.value(flag);
  return true;
}

bool read_trace_file(const Arguments& arguments, PlanLoad& out) {
  if (!arguments.has("trace")) return true;
  const std::string path = arguments.value("trace");
  const Result<std::string> text = config::read_small_file(path, workload::kTraceBytesMax);
  if (!text.has_value()) {
    complain(concat("--trace ", path, ": ", text.error().message));
    return false;
  }
  Result<std::vector<workload::TraceRow>> rows = workload::read_trace(*text);
  if (!rows.has_value()) {
    complain(concat("--trace ", path, ": ", rows.error().message));
    return false;
  }
  if (arguments.has("requests") && static_cast<size_t>(out.requests) < rows->size()) {
    rows->resize(static_cast<size_t>(out.requests));
  }
  out.trace = std::make_shared<const std::vector<workload::TraceRow>>(std::move(*rows));
  return true;
}

bool read_load(const Arguments& arguments, PlanLoad& out) {
  const NumberFlags numbers(arguments);
  int64_t seed = 1;
  const bool read = numbers.read("rate", 1e-6, kRateMax, out.per_second) &&
                    numbers.read("burstiness", kBurstinessLeast, kBurstinessMost, out.burstiness) &&
                    numbers.read("concurrency", 1, kClientsMax, out.clients) &&
                    numbers.read("requests", 1, kRequestsMax, out.requests) &&
                    numbers.read("trace-speed", kSpeedLeast, kSpeedMost, out.trace_speed) &&
                    numbers.read("seed", 0, INT64_MAX, seed) &&
                    read_lengths(arguments, "isl", out.prompt) &&
                    read_lengths(arguments, "osl", out.output);
  if (!read) return false;
  out.seed = static_cast<uint64_t>(seed);
  if (arguments.has("arrival")) {
    workload::parse_arrival_kind(arguments.value("arrival"), out.arrival);
  } else if (arguments.has("burstiness")) {
    out.arrival = workload::ArrivalKind::kGamma;
  }
  return read_trace_file(arguments, out);
}

Status change_count(std::string_view value, int64_t most, int& out) {
  int64_t number = 0;
  if (!parse_number(value, number) || number < 1 || number > most) {
    return fail(ErrorCode::kConfig, concat("expected 1..", most, ", not \"", value, "\""));
  }
  out = static_cast<int>(number);
  return {};
}

// "scheduler" for "max_num_batched_tokens"; empty: no section has it.
std::string_view section_of(std::string_view option) {
  for (const config::Section& section : app::engine_options().sections) {
    for (const config::Option& one : section.options) {
      if (one.name == option) return section.name;
    }
  }
  return {};
}

planner::JobLengths lengths_of(const PlanLoad& load) {
  return {*workload::Lengths::parse(load.prompt), *workload::Lengths::parse(load.output)};
}

std::unique_ptr<planner::Workload> make_workload(const PlanLoad& load) {
  if (load.trace) return std::make_unique<planner::TraceReplay>(*load.trace, load.trace_speed);
  if (!load.per_second) {
    return std::make_unique<planner::ClosedLoop>(load.clients, load.requests, lengths_of(load),
                                                 load.seed);
  }
  const workload::Arrivals arrivals(load.arrival, *load.per_second, load.burstiness, load.seed);
  return std::make_unique<planner::OpenLoop>(arrivals, load.requests, lengths_of(load),
                                             load.seed + 1);
}

}  // namespace

std::optional<PlanScenario> PlanScenario::read(const Arguments& arguments) {
  PlanScenario out;
  out.engine.file = arguments.value("config");
  out.engine.environment = arguments.environment;
  out.engine.flags = arguments.options;
  out.engine.language = arguments.language;
  const auto set = [&](std::string_view flag, std::string_view option) {
    if (arguments.has(flag))
      out.engine.flags.push_back({std::string(option), arguments.value(flag)});
  };
  set("gpu", "model.gpu");
  set("model", "model.shape");
  set("tensor-parallel", "model.tensor_parallel");
  if (!out.engine.file.empty()) {
    if (const auto problems = app::read_text_of(out.engine); !problems.empty()) {
      for (const config::Problem& one : problems) complain(describe(one, arguments.language));
      return std::nullopt;
    }
  }
  const NumberFlags numbers(arguments);
  if (!read_load(arguments, out.load)) return std::nullopt;
  if (!numbers.read("replicas", 1, kReplicasMax, out.replicas)) return std::nullopt;
  return out;
}

Status PlanScenario::change(std::string_view key, std::string_view value) {
  if (key == "replicas") return change_count(value, kReplicasMax, replicas);
  if (key == "concurrency") {
    load.per_second.reset();
    return change_count(value, kClientsMax, load.clients);
  }
  if (key == "rate") {
    double rate = 0;
    if (!parse_real(value, rate) || rate <= 0 || rate > kRateMax) {
      return fail(ErrorCode::kConfig, concat("expected requests a second, not \"", value, "\""));
    }
    load.per_second = rate;
    return {};
  }
  if (key == "isl" || key == "osl") {
    const auto lengths = workload::Lengths::parse(value);
    if (!lengths.has_value()) return fail(ErrorCode::kConfig, lengths.error().message);
    (key == "isl" ? load.prompt : load.output) = std::string(value);
    return {};
  }
  std::string name(key);
  if (key.find('.') == std::string_view::npos) {
    const std::string_view section = section_of(key);
    if (section.empty()) {
      return fail(ErrorCode::kConfig,
                  concat("there is no \"", key,
                         "\": expected replicas, rate, concurrency, isl, osl or an option of "
                         "engine.toml (headway engine --help-options)"));
    }
    name = concat(section, ".", key);
  }
  engine.flags.push_back({name, std::string(value)});
  return {};
}

std::string PlanScenario::description(config::Language language) const {
  const auto in = [&](const Words& words) { return words.in(language); };
  std::string out;
  if (load.trace) {
    out = concat(load.trace->size(), in({" requests of the trace", " 个 trace 请求"}));
    if (load.trace_speed != 1) out += concat(" x", fixed(load.trace_speed, 2));
  } else {
    out = concat(load.requests, in({" requests", " 个请求"}), in({", prompts ", "，提示 "}),
                 load.prompt, in({", answers ", "，回答 "}), load.output,
                 in({" tokens, ", " 个令牌，"}));
    out += load.per_second
               ? concat(fixed(*load.per_second, 2), in({" a second", " 个/秒"}))
               : concat(load.clients, in({" clients that wait", " 个等待回答的客户端"}));
  }
  if (replicas > 1) out += concat(", ", replicas, in({" instances", " 个实例"}));
  return out;
}

Result<PlanResult> simulate(const PlanScenario& scenario, const planner::Goals& goals,
                            const std::function<void(int64_t, int64_t)>& progress) {
  const app::ReadEngineFile read = app::read_engine_file(scenario.engine);
  if (!read.problems.empty()) {
    return fail(ErrorCode::kConfig, describe(read.problems.front(), scenario.engine.language));
  }
  Result<virtual_gpu::Machine> machine = virtual_gpu::plan_machine(read.config);
  if (!machine.has_value()) return fail(machine.error());
  scheduler::Options options = machine->limits.scheduling;
  options.token_events = false;
  options.request_timeout_ns = 0;
  gpu_model::StepCost cost = machine->cost();
  planner::RunOptions run;
  run.instances = scenario.replicas;
  run.on_progress = progress;
  const std::unique_ptr<planner::Workload> load = make_workload(scenario.load);
  const planner::Outcome outcome = planner::simulate(options, cost, *load, run);
  PlanResult out;
  out.figures = planner::figures_of(outcome, options, scenario.replicas, goals);
  out.machine = std::move(*machine);
  return out;
}

}  // namespace hw::cli
