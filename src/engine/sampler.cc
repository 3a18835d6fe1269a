#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/random.h"

namespace hw::engine {
namespace {

struct Candidate {
  Token token;
  float weight;  // first the score, then e^(score - best), not normalised
};

bool heavier(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

void apply_penalties(std::span<float> scores, const Sampling& sampling,
                     std::span<const Token> output) {
  if (sampling.presence_penalty == 0 && sampling.frequency_penalty == 0) return;
  std::unordered_map<Token, int> counts;
  for (const Token token : output) ++counts[token];
  for (const auto& [token, count] : counts) {
    scores[static_cast<size_t>(token)] -=
        sampling.presence_penalty + sampling.frequency_penalty * static_cast<float>(count);
  }
}

// Keskar et al., "CTRL: a conditional transformer language model", 2019, §4.1.
void penalise_repetition(std::span<float> scores, float penalty, std::span<const Token> prompt,
                         std::span<const Token> output) {
  if (penalty == 1.0f) return;
  std::unordered_set<Token> seen(prompt.begin(), prompt.end());
  seen.insert(output.begin(), output.end());
  for (const Token token : seen) {
    float& score = scores[static_cast<size_t>(token)];
    score = score > 0 ? score / penalty : score * penalty;
  }
}

void apply_bias(std::span<float> scores, const Sampling& sampling) {
  for (const auto& [token, bias] : sampling.bias) {
    if (static_cast<size_t>(token) < scores.size()) scores[static_cast<size_t>(token)] += bias;
  }
}

Token best_token(std::span<const float> scores) {
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[best] || std::isnan(scores[best])) best = i;
  }
  return static_cast<Token>(best);
}

// The tokens that can be drawn at all: at this distance from the best a token has less than a
// billionth of its chance, and 50,000 of them together less than the draw resolves.
std::vector<Candidate> candidates_of(std::span<const float> scores, float best, float temperature) {
  constexpr float kNegligible = 32.0f;
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < scores.size(); ++i) {
    const float distance = (best - scores[i]) / temperature;
    if (distance <= kNegligible) candidates.push_back({static_cast<Token>(i), -distance});
  }
  return candidates;
}

void keep_top_k(std::vector<Candidate>& candidates, int top_k) {
  if (top_k <= 0 || static_cast<size_t>(top_k) >= candidates.size()) return;
  std::nth_element(candidates.begin(), candidates.begin() + top_k, candidates.end(), heavier);
  candidates.resize(static_cast<size_t>(top_k));
}

// The weight of the best is 1.
void keep_min_p(std::vector<Candidate>& candidates, float min_p) {
  if (min_p <= 0) return;
  std::erase_if(candidates, [min_p](const Candidate& one) { return one.weight < min_p; });
}

double total_weight(const std::vector<Candidate>& candidates) {
  double sum = 0;
  for (const Candidate& candidate : candidates) sum += candidate.weight;
  return sum;
}

void keep_top_p(std::vector<Candidate>& candidates, float top_p) {
  if (top_p >= 1.0f) return;
  std::sort(candidates.begin(), candidates.end(), heavier);
  const double wanted = total_weight(candidates) * static_cast<double>(top_p);
  double sum = 0;
  size_t kept = 0;
  while (kept < candidates.size() && (kept == 0 || sum < wanted)) sum += candidates[kept++].weight;
  candidates.resize(kept);
}

}  // namespace

Token draw_token(std::span<float> scores, const Sampling& sampling, std::span<const Token> output,
                 std::span<const Token> prompt) {
  penalise_repetition(scores, sampling.repetition_penalty, prompt, output);
  apply_penalties(scores, sampling, output);
  apply_bias(scores, sampling);
  const Token best = best_token(scores);
  const float best_score = scores[static_cast<size_t>(best)];
  if (sampling.temperature <= 0 || !std::isfinite(best_score)) return best;

  std::vector<Candidate> candidates = candidates_of(scores, best_score, sampling.temperature);
  keep_top_k(candidates, sampling.top_k);
  for (Candidate& candidate : candidates) candidate.weight = std::exp(candidate.weight);
  keep_min_p(candidates, sampling.min_p);
  keep_top_p(candidates, sampling.top_p);

  // One generator for each token, seeded by its place in the answer.
  Random random(sampling.seed + 0x9e3779b97f4a7c15ull * (output.size() + 1));
  double left = random.unit() * total_weight(candidates);
  for (const Candidate& candidate : candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate.token;
  }
  return candidates.back().token;
}

}  // namespace hw::engine
