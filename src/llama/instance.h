// Opens an instance that computes real weights with llama.cpp.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/instance.h"
#include "engine/limits.h"
#include "engine/options.h"

namespace hw::llama {

// Loads the model that the options name; takes as long as reading the file. kConfig where library
// or file is missing or the settings contradict the model; the message says what to do.
Result<engine::Instance> open_instance(const engine::Options& options,
                                       const engine::HostFacts& host);

// Where scripts/get-model.sh puts the small model, which an empty [model] path stands for.
std::string default_model_path();

}  // namespace hw::llama
