// What `plan --report` and `plan --chart` draw: spend and predicted error over steps, ν and ρ, of several
// correlations and estimators side by side. From settings and public guesses alone.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "chart/chart.h"
#include "chart/rows.h"
#include "cli/descent_prediction.h"
#include "config/mechanism.h"

namespace nustream::cli {

/// What is expected of one estimator.
struct ErrorOf {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::string name;
  double all;
  double start = unknown;  ///< its causes, where guesses tell them
  double sampling = unknown;
  double privacy = unknown;
  std::string settings{};  ///< that are best for it
};

struct PlanCurves {
  std::vector<double> rhos;           ///< rising; the one that is set in the middle
  std::string counted = "records";    ///< or "steps"
  std::vector<std::uint64_t> counts;  ///< of them, rising
  std::string what;                   ///< the errors are, in words and units
  std::string why_none;               ///< where there are none
  /// [ρ][count]: the same estimators in each.
  std::vector<std::vector<std::vector<ErrorOf>>> errors;
  std::vector<chart::Layer> spend;      ///< ρ of a record so many steps after it, each correlation under one ρ
  std::vector<chart::Layer> by_nu;      ///< predicted excess over ν
  std::vector<chart::RowGroup> excess;  ///< of each correlation, at one ρ
  std::string left_out;                 ///< correlations without a formula

  [[nodiscard]] std::size_t rho_as_set() const noexcept { return rhos.size() / 2; }
  [[nodiscard]] std::size_t count_as_set() const noexcept { return counts.size() / 2; }
};

/// One cell of the grid: what is expected at that ρ and count; empty where the settings cannot be had there.
using ErrorsAt = std::function<std::vector<ErrorOf>(double rho, std::uint64_t count)>;
/// Rising, about what is set: five each. Fills rhos, counts and errors, on all processors.
void add_grid(double rho, std::uint64_t count, double apart, const ErrorsAt& errors_at, PlanCurves& curves);
/// ρ as it is set, before any calibration takes a part of it off.
[[nodiscard]] double rho_set(config::Privacy privacy);

/// The prediction is empty where there is none, for the reason that is given. `records` of the stream; 0: a million.
/// Takes some seconds: 25 choices of estimators, on all processors.
[[nodiscard]] PlanCurves plan_curves(const config::Config& config, const config::Mechanism& mechanism,
                                     const std::optional<DescentPrediction>& prediction, const std::string& why_none,
                                     std::uint64_t records);

/// Error over records at the i-th ρ.
[[nodiscard]] chart::Chart error_chart(const PlanCurves& curves, std::size_t rho);
/// Of records, by their age, at the ρ that is set.
[[nodiscard]] chart::Chart spend_chart(const PlanCurves& curves);
[[nodiscard]] chart::Chart nu_chart(const PlanCurves& curves);
/// The one to show alone: error over records, or the spend where no error is predicted.
[[nodiscard]] chart::Chart plan_chart(const PlanCurves& curves, double width);
/// The same in letters, behind an empty line, on standard output.
void print_chart(const PlanCurves& curves);

}  // namespace nustream::cli
