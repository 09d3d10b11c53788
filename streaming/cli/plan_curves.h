// The curves of `plan --report` and `plan --chart`: spend and predicted error over steps, ν and ρ, of several
// correlations and estimators side by side. They are computed from settings and public guesses alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "chart/chart.h"
#include "chart/rows.h"
#include "cli/commands.h"
#include "cli/descent_prediction.h"
#include "cli/users_plan.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "nustream/privacy/plan.h"

namespace nustream::cli {

/// The error that is expected of one estimator.
struct ErrorOf {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::string name;
  double all;
  double start = unknown;  ///< the error's causes, where guesses tell them
  double sampling = unknown;
  double privacy = unknown;
  std::string settings{};  ///< settings that are best for it
};

struct PlanCurves {
  std::vector<double> rhos;           ///< rising; the ρ of the settings is in the middle
  std::string counted = "records";    ///< what `counts` count: "records" or "steps"
  std::vector<std::uint64_t> counts;  ///< rising; that of the settings is among them
  std::uint64_t count = 1;            ///< that of the settings
  std::string what;                   ///< what the errors are, in words and units
  std::string why_none;               ///< why there are no errors
  /// By ρ and count; every cell has the same estimators.
  std::vector<std::vector<std::vector<ErrorOf>>> errors;
  /// Each correlation at one total ρ: ρ of a record by its age in steps, or of a user by the steps of the stream.
  std::vector<chart::Layer> spend;
  std::optional<UsersPlan> users{};     ///< limits side by side, where the unit is the user
  std::vector<chart::Layer> by_nu;      ///< predicted excess over ν
  std::vector<chart::RowGroup> excess;  ///< predicted excess of each correlation, at one ρ
  std::string left_out;                 ///< names of correlations without a formula

  [[nodiscard]] std::size_t rho_as_set() const noexcept { return rhos.size() / 2; }
  [[nodiscard]] std::size_t count_as_set() const noexcept {
    return static_cast<std::size_t>(std::ranges::lower_bound(counts, count) - counts.begin());
  }
};

/// Computes one cell of the grid: what is expected at that ρ and count. Empty where the settings are refused there.
using ErrorsAt = std::function<std::vector<ErrorOf>(double rho, std::uint64_t count)>;
/// Fills rhos, counts and errors: five values of each around those of the settings, `apart` times as large from one
/// to the next. Counts below 1 are left out. Uses all processors.
void add_grid(double rho, std::uint64_t count, double apart, const ErrorsAt& errors_at, PlanCurves& curves);
/// ρ of the settings, before any calibration takes a part of it away.
[[nodiscard]] double rho_set(config::Privacy privacy);

/// Computes all curves. Where there is no `prediction`, `why_none` says why. `records` are those of the stream; 0
/// stands for a million. Takes some seconds: 25 choices of estimators, on all processors.
[[nodiscard]] PlanCurves plan_curves(const config::Config& config, const config::Mechanism& mechanism,
                                     const std::optional<DescentPrediction>& prediction, const std::string& why_none,
                                     std::uint64_t records);

/// A chart of the error over records, at the i-th ρ.
[[nodiscard]] chart::Chart error_chart(const PlanCurves& curves, std::size_t rho);
/// A chart of what records have spent by their age, or users over the steps, at the ρ of the settings.
[[nodiscard]] chart::Chart spend_chart(const PlanCurves& curves);
[[nodiscard]] chart::Chart nu_chart(const PlanCurves& curves);
/// The chart to show alone: error over records, or the spend where no error is predicted.
[[nodiscard]] chart::Chart plan_chart(const PlanCurves& curves, double width);
/// Prints that chart in letters on standard output, after an empty line.
void print_chart(const PlanCurves& curves);

/// The command that was typed, without the options that name further files or the form of the output.
[[nodiscard]] std::string plan_command(const config::Config& config, const PlanArguments& arguments);

/// One HTML file that refers to no other, about settings that never spend more than `limit`. Its script moves two
/// sliders over figures that stand in the file.
[[nodiscard]] std::string plan_page(const config::Config& config, const config::Mechanism& mechanism, Rho limit,
                                    const std::vector<privacy::SpendRow>& spend, const PlanCurves& curves,
                                    const std::string& command);

}  // namespace nustream::cli
