// EngineFile: all that engine.toml says, checked.
#pragma once

#include <vector>

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

// Reads and checks everything; every mistake is in `problems`.
ReadEngineFile read_engine_file(const config::ConfigSources& sources);

}  // namespace hw::app
