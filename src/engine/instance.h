// All that one instance computes with: what a kind of backend opens and an engine is made of.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/backend.h"
#include "engine/limits.h"
#include "engine/tokenizer.h"

namespace hw::engine {

// `backend` is moved into an Engine; the tokenizer outlives that.
struct Instance {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Backend> backend;
  Limits limits;
  std::string description;         // of the model, for the log
  std::vector<std::string> notes;  // what was cut or is not in effect, for the log
};

}  // namespace hw::engine
