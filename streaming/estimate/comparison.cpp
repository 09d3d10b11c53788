// Answers without privacy, for whoever holds the table: least squares, two-stage least squares and descent, and
// AdaSSP under bounds that the user gave. They are computed from the rows as the run sees them.
#include "estimate/comparison.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "nustream/inference/adassp.h"
#include "nustream/inference/least_squares.h"
#include "nustream/inference/two_stage_descent.h"
#include "nustream/noise/source.h"
#include "publish/original_units.h"
#include "secrets/random.h"

namespace nustream::estimate {
namespace {

/// The rows in the form that least squares needs: where they have weights, each row times the square root of its
/// weight.
class WeighedRows {
 public:
  explicit WeighedRows(const Table& table) : view_(table.view()) {
    const std::span<const double> weights = table.weights.values();
    // Rows without weights are not copied.
    if (weights.empty()) return;
    x_.assign(view_.x.begin(), view_.x.end());
    y_.assign(view_.y.begin(), view_.y.end());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double root = std::sqrt(weights[i]);
      for (std::size_t j = 0; j < view_.dimension; ++j) x_[i * view_.dimension + j] *= root;
      y_[i] *= root;
    }
    view_ = {view_.dimension, x_, y_};
  }
  [[nodiscard]] const inference::TableView& view() const noexcept { return view_; }

 private:
  std::vector<double> x_, y_;
  inference::TableView view_;
};

/// Least squares of the rows, or two-stage least squares where there are instruments. Where features are public, a
/// record without a usable target keeps its features in the table and its target is NaN; such a record is left out
/// here.
inference::LeastSquares least_squares(const config::Config& config, const inference::TableView& rows) {
  const auto& first = config.descent.first_stage;
  if (!first) return inference::ordinary_least_squares(rows);
  return inference::two_stage_least_squares(rows, first->shape.instruments, first->shape.controls);
}

/// Where the private descent would end without clips and noise, in full batches.
std::vector<double> two_stage_descent(const config::Config& config, const inference::TableView& rows,
                                      StepCount steps) {
  const lane::FirstStage& first = *config.descent.first_stage;
  return inference::two_stage_descent(
      rows, {first.shape, first.schedule, config.descent.schedule, first.l2, config.descent.l2,
             config.descent.projection, config.descent.start, steps});
}

/// A comparator's coefficients by name, in original units; for a two-stage model those of the second stage alone.
Compared compared(const config::Config& config, std::string name, std::optional<Rho> rho, std::vector<double> theta) {
  // The conversion wants all of θ; a first stage, which comes behind, does not enter what is shown.
  theta.resize(config.descent.dimension, 0.0);
  const publish::OriginalUnits units(config.schema, config.descent);
  std::vector<double> values;
  units.convert(theta, values);
  Compared result{std::move(name), rho, {}};
  for (std::size_t j = 0; j < units.names_of_first_equation(); ++j) {
    result.coefficients.emplace_back(units.names()[j], values[j]);
  }
  return result;
}

/// Standard normal numbers, from a key that is drawn for them and not kept.
std::vector<double> fresh_normals(std::size_t count) {
  noise::KeyBytes key = secrets::random_key();
  noise::NoiseSource source(noise::Correlation{noise::Independent{}}, noise::GeneratorKind::automatic, count,
                            noise::first_checkpoint(key, {LaneId{0}, EpochId{0}, 0}), StepIndex{0});
  noise::wipe(key);
  const noise::CorrelatedBlock block = source.next();
  return {block.z.begin(), block.z.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

bool is_comparable(const config::Config& config) {
  const model::Loss::Kind kind = config.descent.loss.kind;
  return kind == model::Loss::Kind::linear || kind == model::Loss::Kind::huber;
}

std::vector<Compared> compare(const config::Config& config, const Table& table, StepCount steps, Rho rho,
                              const std::optional<std::pair<double, double>>& bounds) {
  std::vector<Compared> all;
  const WeighedRows rows(table);
  const bool two_stage = config.descent.first_stage.has_value();
  all.push_back(compared(config, two_stage ? "2SLS" : "OLS", std::nullopt, least_squares(config, rows.view()).theta));
  if (two_stage && config.moments) return all;  // the model is solved, so there is no descent to compare with
  if (two_stage) {
    all.push_back(compared(config, "2S-GD", std::nullopt, two_stage_descent(config, rows.view(), steps)));
  } else if (bounds) {
    all.push_back(
        compared(config, "AdaSSP", rho,
                 inference::adassp(rows.view(), {bounds->first, bounds->second}, rho, config.privacy.adjacency,
                                   fresh_normals(inference::adassp_normals(table.dimension)))));
  }
  return all;
}

std::string degeneracy(const config::Config& config, const Table& table) {
  const WeighedRows rows(table);
  const std::size_t rank = inference::ordinary_least_squares(rows.view()).rank;
  if (rank < table.dimension) {
    return "the columns of the table are collinear (rank " + std::to_string(rank) + " of " +
           std::to_string(table.dimension) +
           "; a constant column beside the intercept, or fewer records than columns, does it too): the estimate is "
           "one of many";
  }
  if (config.descent.first_stage) {
    const auto& shape = config.descent.first_stage->shape;
    if (least_squares(config, rows.view()).rank < shape.second_stage()) {
      return "the instruments do not tell the endogenous regressors apart: the estimate is one of many";
    }
  }
  return {};
}

}  // namespace nustream::estimate
