// EngineFile: all that engine.toml says, checked.
#pragma once

#include <vector>

#include "app/option.h"
#include "app/problem.h"
#include "app/section_reader.h"
#include "engine/options.h"

namespace hw::app {

// What reading gave: with problems the file must not be used.
struct ReadEngineFile {
  engine::Options config;
  std::vector<Problem> problems;
  std::vector<std::string> notes;  // for the log
};

// The rows of engine.toml.
const OptionTable& engine_options();

// Reads and checks everything; every mistake is in `problems`.
ReadEngineFile read_engine_file(const ConfigSources& sources);

}  // namespace hw::app
