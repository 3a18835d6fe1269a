#include "planner/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/text.h"

namespace hw::planner {
namespace {

using gpu_model::kScalarBounds;
using gpu_model::Scalars;

constexpr double kTtftWeight = 1.0;
constexpr double kFirstFactor = 1.25;

double error_of(double predicted, double measured) {
  return std::abs(predicted / measured - 1) * 100;
}

class Sum {
 public:
  void add(const Measurement& row, const Prediction& prediction) {
    ++sum_.rows;
    sum_.ttft_mape += error_of(prediction.ttft_ms, row.ttft_ms);
    sum_.tpot_mape += error_of(prediction.tpot_ms, row.tpot_ms);
  }
  Errors mean() const {
    Errors out = sum_;
    if (out.rows > 0) out.ttft_mape /= out.rows, out.tpot_mape /= out.rows;
    return out;
  }

 private:
  Errors sum_;
};

// The rows, with what they were predicted last.
class Fitting {
 public:
  Fitting(const std::vector<Measurement>& rows, const FitOptions& options)
      : rows_(rows), options_(options) {}

  Result<double> loss(const Scalars& scalars) const {
    double sum = 0;
    for (const Measurement& row : rows_) {
      const Result<Prediction> prediction = predict(row, scalars, options_.replay);
      if (!prediction.has_value()) return fail(prediction.error());
      sum += kTtftWeight * error_of(prediction->ttft_ms, row.ttft_ms) +
             error_of(prediction->tpot_ms, row.tpot_ms);
    }
    return sum / static_cast<double>(rows_.size());
  }

  // Walks along one scalar as long as that helps.
  Status improve(const gpu_model::ScalarBound& bound, double factor, Scalars& best,
                 double& best_loss) const {
    constexpr int kStepsMax = 8;
    bool improved = false;
    for (const double by : {factor, 1 / factor}) {
      if (improved) break;
      for (int step = 0; step < kStepsMax; ++step) {
        Scalars trial = best;
        trial.*bound.member = std::clamp(best.*bound.member * by, bound.least, bound.most);
        if (trial.*bound.member == best.*bound.member) break;
        const Result<double> loss = this->loss(trial);
        if (!loss.has_value()) return fail(loss.error());
        if (*loss >= best_loss - 1e-9) break;
        best = trial;
        best_loss = *loss;
        improved = true;
      }
    }
    return {};
  }

 private:
  const std::vector<Measurement>& rows_;
  const FitOptions& options_;
};

}  // namespace

Residuals residuals(const std::vector<Measurement>& rows,
                    const std::vector<Prediction>& predictions) {
  Sum sums[4];
  for (size_t i = 0; i < rows.size(); ++i) {
    sums[static_cast<size_t>(predictions[i].kind)].add(rows[i], predictions[i]);
  }
  return {sums[0].mean(), sums[1].mean(), sums[2].mean(), sums[3].mean()};
}

Result<std::vector<Prediction>> predict_all(const std::vector<Measurement>& rows,
                                            const Scalars& scalars, const Replay& replay) {
  std::vector<Prediction> out;
  for (const Measurement& row : rows) {
    Result<Prediction> prediction = predict(row, scalars, replay);
    if (!prediction.has_value()) return fail(prediction.error());
    out.push_back(*prediction);
  }
  return out;
}

Result<Scalars> fit(const std::vector<Measurement>& rows, const Scalars& start,
                    const FitOptions& options) {
  const Result<std::vector<Prediction>> first = predict_all(rows, start, options.replay);
  if (!first.has_value()) return fail(first.error());
  std::vector<Measurement> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowKind kind = (*first)[i].kind;
    if (kind == RowKind::kDense || kind == RowKind::kExperts) kept.push_back(rows[i]);
  }
  if (kept.empty())
    return fail(ErrorCode::kConfig, "no row to fit to: all were held up by a queue");
  const Fitting fitting(kept, options);
  Scalars best = start;
  Result<double> loss = fitting.loss(best);
  if (!loss.has_value()) return fail(loss.error());
  double factor = kFirstFactor;
  for (int pass = 0; pass < options.passes; ++pass) {
    for (const gpu_model::ScalarBound& bound : kScalarBounds) {
      if (Status done = fitting.improve(bound, factor, best, *loss); !done) {
        return fail(done.error());
      }
    }
    factor = std::sqrt(factor);
    if (options.on_pass) options.on_pass(pass + 1, *loss);
  }
  return best;
}

Result<std::vector<Prediction>> predict_out_of_fold(const std::vector<Measurement>& rows,
                                                    const Scalars& start,
                                                    const FitOptions& options) {
  std::map<std::string, std::vector<size_t>> folds;
  for (size_t i = 0; i < rows.size(); ++i) {
    folds[concat(rows[i].model, " TP", rows[i].tensor_parallel)].push_back(i);
  }
  std::vector<Prediction> out(rows.size());
  for (const auto& [name, fold] : folds) {
    if (options.on_fold) options.on_fold(name);
    std::vector<Measurement> others;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (std::find(fold.begin(), fold.end(), i) == fold.end()) others.push_back(rows[i]);
    }
    if (others.empty()) return fail(ErrorCode::kConfig, "folds need more than one model or TP");
    const Result<Scalars> scalars = fit(others, start, options);
    if (!scalars.has_value()) return fail(scalars.error());
    for (const size_t i : fold) {
      Result<Prediction> prediction = predict(rows[i], *scalars, options.replay);
      if (!prediction.has_value()) return fail(prediction.error());
      out[i] = *prediction;
    }
  }
  return out;
}

}  // namespace hw::planner
