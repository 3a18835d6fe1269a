// SampleSettings: what `headway sample` was asked for, read from flags and environment.
#pragma once

#include <string>
#include <vector>

#include "command/command_line.h"
#include "sampler/link_probes.h"
#include "sampler/load.h"
#include "sampler/mixed_prompts.h"
#include "sampler/serving_figures.h"
#include "sampler/target.h"

namespace hw::cli {

// One run's settings before anything was sent.
struct SampleSettings {
  sampler::TargetSettings target;  // its model may be empty: the first that is listed
  sampler::LoadPlan plan;
  sampler::ClientLimits limits;
  sampler::ProbePlan probes;
  sampler::Objectives objectives;
  uint64_t seed = 0;
  std::vector<sampler::MixBucket> mix;
  std::string mix_words;  // what makes two runs' mixes the same
  int max_tokens = 256;
  bool has_preflight = true;
  std::string result_dir = "runs";
  std::string label;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string baseline;   // a name in the archive: the run is compared with it; empty: none
  std::string other_url;  // another endpoint, compared run by run; empty: none
  int runs_a_side = 5;    // of that comparison
  std::string command;    // as typed, without secrets
};

// All flags of the command.
std::vector<Flag> sample_flags();

// Reads them; says on standard error what is wrong and gives kUsage. Base URL and key come from
// their flags and variables, else from a running `headway up`.
Exit read_sample_settings(const Arguments& arguments, SampleSettings& out);

}  // namespace hw::cli
