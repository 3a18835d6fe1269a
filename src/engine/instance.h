// All that one instance computes with: model, tokenizer, backend, and the limits that follow.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/backend.h"
#include "engine/limits.h"
#include "engine/options.h"
#include "engine/tokenizer.h"

namespace hw::engine {

// What backend and tokenizer stand on.
class Weights {
 public:
  virtual ~Weights() = default;
};

// Members in the order in which they depend on each other: `backend` may be moved into an Engine,
// which must end before the rest.
struct Instance {
  std::unique_ptr<Weights> weights;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Backend> backend;
  Limits limits;
  std::string description;         // of the model, for the log
  std::vector<std::string> notes;  // what was cut or is not in effect, for the log
};

// Loads what the options name; takes as long as reading the file. kConfig where something is
// missing or contradicts; the message says what to do.
Result<Instance> open_instance(const Options& options, const HostFacts& host);

// Where scripts/get-model.sh puts the small model, which an empty [model] path stands for.
std::string default_model_path();

}  // namespace hw::engine
