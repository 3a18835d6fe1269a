// Calibration: moves the cost model's scalars, within their bounds, to where its predictions of
// measured rows err least.
#pragma once

#include <functional>
#include <vector>

#include "planner/measurement.h"

namespace hw::planner {

// Mean absolute errors in percent.
struct Errors {
  int rows = 0;
  double ttft_mape = 0;
  double tpot_mape = 0;
};

// By kind of row.
struct Residuals {
  Errors dense;
  Errors experts;
  Errors queued;
  Errors too_fast;
};

// Errors of `predictions` of `rows`, in the same order.
Residuals residuals(const std::vector<Measurement>& rows,
                    const std::vector<Prediction>& predictions);

// Predicts all rows. kConfig for the first that cannot be.
Result<std::vector<Prediction>> predict_all(const std::vector<Measurement>& rows,
                                            const gpu_model::Scalars& scalars,
                                            const Replay& replay = {});

// What fitting is told.
struct FitOptions {
  int passes = 3;  // over all scalars
  Replay replay;
  // Called after each pass with how many are done and the loss; may be empty.
  std::function<void(int, double)> on_pass;
  // Called when a fold begins, with its name; may be empty.
  std::function<void(const std::string&)> on_fold;
};

// Coordinate descent on the mean of TTFT's error / 2 and TPOT's error over dense rows and rows
// with experts, from `start`, in steps that are factors and shrink with each pass. Scalars on which
// no row depends stay as they are. kConfig where a row cannot be predicted.
Result<gpu_model::Scalars> fit(const std::vector<Measurement>& rows,
                               const gpu_model::Scalars& start, const FitOptions& options);

// Predictions of each fold (rows of one model and parallelism) by scalars fitted to the
// other folds, so that no row is predicted by what it has taught. In the order of `rows`.
Result<std::vector<Prediction>> predict_out_of_fold(const std::vector<Measurement>& rows,
                                                    const gpu_model::Scalars& start,
                                                    const FitOptions& options);

}  // namespace hw::planner
