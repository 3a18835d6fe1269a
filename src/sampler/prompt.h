// Prompt: what one request asks, and the source that gives them one after another.
#pragma once

#include <string>

namespace hw::sampler {

// One request's content.
struct Prompt {
  std::string bucket;  // a name of the mix; empty: counted in "all" only
  std::string text;
  int max_tokens = 0;  // of the answer; above 0
};

// Gives the prompts of a run in their order. Not thread-safe.
class PromptSource {
 public:
  virtual ~PromptSource() = default;
  // The next prompt; there is always one.
  virtual Prompt next() = 0;
  // What two runs must have in common to be compared: "short=0.5;long=0.5".
  virtual std::string mix() const = 0;
  // 64 hex digits over everything that decides the prompts, but not over what makes each unique.
  virtual std::string digest() const = 0;
};

}  // namespace hw::sampler
