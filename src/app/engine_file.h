// EngineFile: all that engine.toml says, checked.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/language.h"
#include "config/option.h"
#include "config/problem.h"
#include "config/section_reader.h"
#include "engine/options.h"

namespace hw::app {

// What reading gave: with problems the file must not be used.
struct ReadEngineFile {
  engine::Options config;
  std::vector<config::Problem> problems;
  std::vector<std::string> notes;  // for the log
};

// The rows of engine.toml.
const config::OptionTable& engine_options();

// Another program's flag for one of these options, for those who have its command line already.
struct FlagAlias {
  std::string_view flag;    // "max-num-seqs"
  std::string_view option;  // "model.max_num_seqs"
  std::string_view value;   // what the flag alone means; empty: it takes a value
  config::Words meaning;
};

// vLLM's and SGLang's.
std::span<const FlagAlias> engine_flag_aliases();

// Reads and checks everything; every mistake is in `problems`.
ReadEngineFile read_engine_file(const config::ConfigSources& sources);

}  // namespace hw::app
