// Every function against scipy's values (testdata/reference.py says how each was had).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "statistics/dependence.h"
#include "statistics/distribution.h"
#include "statistics/mean_difference.h"
#include "statistics/multiplicity.h"
#include "statistics/permutation.h"
#include "statistics/proportion.h"
#include "statistics/quantile.h"
#include "statistics/rank_effect.h"

namespace hw::statistics {
namespace {

using Values = std::vector<double>;

// One line: the function, the names of samples, the numbers behind them.
struct Line {
  std::string function, text;
  std::vector<std::string> names;
  Values numbers;
};

std::vector<Line> read_lines() {
  std::ifstream file("src/statistics/testdata/reference.txt");
  std::vector<Line> out;
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with('#')) continue;
    Line line;
    line.text = text;
    std::istringstream words(text);
    words >> line.function;
    for (std::string word; words >> word;) {
      const bool is_number = word.find_first_not_of("0123456789+-.e") == std::string::npos;
      if (is_number) {
        line.numbers.push_back(std::stod(word));
      } else {
        line.names.push_back(word);
      }
    }
    out.push_back(line);
  }
  return out;
}

// What ours says where scipy's line has its results: as many numbers, compared one by one.
class Answers {
 public:
  explicit Answers(const std::map<std::string, Values>& samples) : samples_(samples) {}

  Values of(const Line& line) {
    const Values& n = line.numbers;
    if (line.function == "normal_cdf") return {normal_cdf(n[0])};
    if (line.function == "normal_quantile") return {normal_quantile(n[0])};
    if (line.function == "t_cdf") return {t_cdf(n[0], n[1])};
    if (line.function == "t_quantile") return {t_quantile(n[0], n[1])};
    if (line.function == "binomial_cdf") {
      return {binomial_cdf(static_cast<int64_t>(n[0]), static_cast<int64_t>(n[1]), n[2])};
    }
    if (line.function == "ranks") return ranks(n);
    if (line.function == "holm") return holm(Values(n.begin(), n.begin() + 5));
    if (line.function == "bh") return benjamini_hochberg(Values(n.begin(), n.begin() + 5));
    if (line.function == "fisher" || line.function == "newcombe") return shares(line);
    return line.names.size() == 1 ? one_sample(line) : two_samples(line);
  }

 private:
  static Values ranks(const Values& n) {
    const RankInterval found = quantile_ranks(static_cast<size_t>(n[0]), n[1], 0.95);
    return {static_cast<double>(found.low.value_or(0)),
            static_cast<double>(found.high.value_or(0))};
  }

  static Values shares(const Line& line) {
    const auto count = [&](size_t at) {
      return Count{static_cast<uint64_t>(line.numbers[at]),
                   static_cast<uint64_t>(line.numbers[at + 1])};
    };
    if (line.function == "fisher") return {fisher_p_above(count(0), count(2))};
    const ShareDifference difference = newcombe(count(0), count(2), 0.95);
    return {difference.low, difference.high};
  }

  Values one_sample(const Line& line) const {
    const Values& values = samples_.at(line.names[0]);
    if (line.function == "spearman") return {rank_correlation_with_order(values)};
    if (line.function == "lag1") return {lag1_autocorrelation(values)};
    if (line.function == "n_eff") {
      return {effective_size(values.size(), lag1_autocorrelation(values))};
    }
    REQUIRE(line.function == "prediction");
    const double centre = mean(values);
    const MeanDifference bounds = against_archive(values, centre);
    return {centre + bounds.lower(0.05), centre + bounds.upper(0.05)};
  }

  Values two_samples(const Line& line) {
    Values a = samples_.at(line.names[0]), b = samples_.at(line.names[1]);
    if (line.function == "permutation") return {permutation_p_above(a, b, random_)};
    if (line.function == "paired") {
      const MeanDifference pairs = paired(a, b);
      return {pairs.lower(0.05), pairs.upper(0.05)};
    }
    const MeanDifference difference = welch(a, b);
    if (line.function == "welch_p_above") return {difference.p_above(line.numbers[0])};
    if (line.function == "tost") {
      const double margin = line.numbers[0];
      return {std::max(difference.p_above(-margin), difference.p_below(margin))};
    }
    if (line.function == "welch") {
      return {difference.degrees, difference.lower(0.05), difference.upper(0.05)};
    }
    REQUIRE(line.function == "mann_whitney_u");
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return {mann_whitney_u(a, b)};
  }

  const std::map<std::string, Values>& samples_;
  Random random_{1};
};

TEST_CASE("distributions, intervals and tests agree with scipy to nine digits") {
  std::map<std::string, Values> samples;
  Answers answers(samples);
  size_t compared = 0;
  for (const Line& line : read_lines()) {
    if (line.function == "sample") {
      samples[line.names.at(0)] = line.numbers;
      continue;
    }
    const Values ours = answers.of(line);
    for (size_t i = 0; i < ours.size(); ++i) {
      const double theirs = line.numbers[line.numbers.size() - ours.size() + i];
      CAPTURE(line.text);
      CHECK(ours[i] == doctest::Approx(theirs).epsilon(1e-9));
      ++compared;
    }
  }
  CHECK(compared > 200);
}

}  // namespace
}  // namespace hw::statistics
