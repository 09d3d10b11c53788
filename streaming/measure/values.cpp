// From a fit to one value for each setting that is "private". All of them are functions of the fit's noisy results
// and of public counts, so they cost nothing beyond the fit.
#include "measure/fit.h"

#include <algorithm>

#include <fmt/format.h>

namespace nustream::measure {
namespace {

using LossKind = model::Loss::Kind;

/// Where a step takes one record, the step size is chosen so that the descent forgets its past about this many times
/// over the input.
constexpr double forgetting_times = 100;

bool is_asked(const config::Config& asked, const std::string& key) {
  return std::ranges::find(asked.measuring.keys, key) != asked.measuring.keys.end();
}

/// "features.0" for the first feature; the column behind the features is the target.
std::string column_key(const config::Config& asked, std::size_t column) {
  return column == asked.schema.features.size() ? "target" : fmt::format("features.{}", column);
}

bool is_linear(const config::Config& asked) {
  return asked.descent.loss.kind == LossKind::linear || asked.descent.loss.kind == LossKind::huber;
}

/// A number for each kind of setting. None of these functions reads a record.
class Values {
 public:
  Values(const config::Config& asked, config::Purpose purpose, const ranges::TableFit& fit, std::uint64_t records)
      : asked_(asked), purpose_(purpose), fit_(fit), records_(static_cast<double>(records)) {}

  [[nodiscard]] std::string of_column(std::size_t column, std::string_view setting) const;
  [[nodiscard]] double inputs() const { return fit_.pilot.inputs; }
  /// The bound of residuals. They are measured about the pilot where the run begins at it, and otherwise about 0.
  [[nodiscard]] double residuals() const {
    if (!is_linear(asked_)) return fit_.bounds.residuals;
    const bool begins_there = is_asked(asked_, "descent.start") || is_asked(asked_, "moments.start");
    return begins_there ? fit_.bounds.balanced : fit_.pilot.residuals;
  }
  [[nodiscard]] double step_size() const;
  [[nodiscard]] double nu() const;
  [[nodiscard]] std::string start() const;

 private:
  /// The curvature of the loss for each unit of xxᵀ.
  [[nodiscard]] double curvature() const {
    // K bounds w‖x‖² and R_x² bounds ‖x‖², so their quotient stands for w.
    return is_linear(asked_) ? 1 : fit_.bounds.curvature / (fit_.bounds.inputs * fit_.bounds.inputs);
  }
  [[nodiscard]] double records_of_a_step() const {
    const bool whole = purpose_ == config::Purpose::table && asked_.estimate.full_batch;
    return whole ? records_ : static_cast<double>(asked_.descent.minibatch);
  }

  const config::Config& asked_;
  config::Purpose purpose_;
  const ranges::TableFit& fit_;
  double records_;
};

std::string Values::of_column(std::size_t column, std::string_view setting) const {
  const bool is_target = column == asked_.schema.features.size();
  const record::Feature& as_read = is_target ? *asked_.schema.target : asked_.schema.features[column];
  const ranges::Placement& placement = fit_.placements[column];
  // The columns were measured as the settings read them, so that a scale which is not measured still applies.
  if (setting == "center") return fmt::format("{}", placement.centre * as_read.scale);
  if (setting == "scale") return fmt::format("{}", placement.scale);
  const ranges::Interval& seen = fit_.intervals[column];
  // Where only zeros were seen, a clamp needs some width, and 0 lies in the middle of it.
  const ranges::Interval wide = seen.is_zero() ? ranges::Interval{-1, 1} : seen;
  return fmt::format("[{}, {}]", wide.low * as_read.scale + as_read.center,
                     wide.high * as_read.scale + as_read.center);
}

/// Where a step takes many records, the step size is the inverse of the largest curvature. Where it takes few, it is
/// small enough for the longest row, and for an average over some hundred forgetting times. The smaller of the two is
/// taken. A row that weighs more is forgotten sooner.
double Values::step_size() const {
  const double of_many = 1 / (fit_.largest_second * curvature());
  const double forgetting = forgetting_times / (records_ * fit_.mean_weight);
  const double of_one = std::min(1 / (inputs() * inputs()), forgetting) / curvature();
  return std::min(of_many, records_of_a_step() * of_one);
}

/// ν for a last iterate is η times the smallest curvature. For an average it is 2 over the number of steps.
double Values::nu() const {
  const double steps = purpose_ == config::Purpose::table ? static_cast<double>(asked_.estimate.steps)
                                                          : records_ / records_of_a_step();
  const bool is_averaged = asked_.descent.averaging.kind != descent::Averaging::Kind::last;
  const double last = step_size() * curvature() * fit_.smallest_second;
  return std::clamp(is_averaged ? 2 / steps : last, 1e-6, 0.5);
}

/// The start in working coordinates, into which the placements of the columns turn the fit's answer.
std::string Values::start() const {
  // Only a linear model's predictions are in units of the target; those of other losses are logits or logarithms.
  const ranges::Placement target = is_linear(asked_) ? fit_.placements.back() : ranges::Placement{};
  double constant = fit_.theta[0] - target.centre;
  std::string slopes;
  for (std::size_t j = 1; j < fit_.theta.size(); ++j) {
    const ranges::Placement& feature = fit_.placements[j - 1];
    constant += fit_.theta[j] * feature.centre;
    slopes += fmt::format(", {}", fit_.theta[j] * feature.scale / target.scale);
  }
  return fmt::format("[{}{}]", constant / target.scale, slopes);
}

}  // namespace

std::vector<ranges::Kept> kept_of(const config::Config& asked) {
  std::vector<ranges::Kept> kept;
  for (std::size_t column = 0; column <= asked.schema.features.size(); ++column) {
    const std::string key = column_key(asked, column);
    kept.push_back({!is_asked(asked, key + ".center"), !is_asked(asked, key + ".scale")});
  }
  return kept;
}

std::vector<std::pair<std::string, std::string>> values_of(const config::Config& asked, config::Purpose purpose,
                                                           const ranges::TableFit& fit, std::uint64_t records) {
  const Values values(asked, purpose, fit, records);
  std::vector<std::pair<std::string, std::string>> found;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (is_asked(asked, key)) found.emplace_back(key, value);
  };
  for (std::size_t column = 0; column <= asked.schema.features.size(); ++column) {
    for (const char* setting : {"center", "scale", "clamp"}) {
      const std::string key = column_key(asked, column) + '.' + setting;
      if (is_asked(asked, key)) found.emplace_back(key, values.of_column(column, setting));
    }
  }
  add("descent.clip_norm", fmt::format("{}", values.inputs() * values.residuals()));
  add("descent.step_size", fmt::format("{}", values.step_size()));
  add("noise.nu", fmt::format("{}", values.nu()));
  add("moments.row_norm", fmt::format("{}", values.inputs()));
  add("moments.residual_bound", fmt::format("{}", values.residuals()));
  add("descent.start", values.start());
  add("moments.start", values.start());
  return found;
}

}  // namespace nustream::measure
