#include "coupling.h"

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace nustream::tests {

std::vector<noise::GridNoise> silence(std::span<const std::size_t> entries,
                                      std::vector<std::vector<std::int64_t>>& units) {
  units.clear();
  for (const std::size_t count : entries) units.emplace_back(count);
  std::vector<noise::GridNoise> noise;
  for (const auto& of_stage : units) noise.push_back({StepIndex{0}, of_stage.size(), of_stage});
  return noise;
}

std::int64_t whole_units(double value) {
  if (std::fabs(value - std::round(value)) > 1e-3) throw std::runtime_error("a shift that is no grid integer");
  return std::llround(value);
}

// θ_0 − s·Σ of the descents, without what does not depend on the rows; −s·Σ of the second moments, where the step is
// the first of their means, so that the mean is the step's own; and −s·Σ of the count.
std::vector<double> less_its_sum(lane::Settings settings, std::span<const noise::Grid> grids,
                                 std::span<const double> theta, const record::RowBatch& rows, std::size_t begin,
                                 std::size_t end, users::Changes* users) {
  settings.minibatch = end - begin;
  const descent::Schedule one{descent::Constant{StepSize{static_cast<double>(settings.minibatch)}}};
  settings.release_every = 1;
  settings.schedule = one;
  settings.l2 = 0;
  settings.projection = {};
  settings.averaging = {};
  settings.start.assign(theta.begin(), theta.end());
  if (settings.first_stage) {
    settings.first_stage->schedule = one;
    settings.first_stage->l2 = 0;
  }
  settings.batching = {};
  if (settings.moments) settings.moments->from = 0;
  std::vector<std::size_t> entries;
  for (const lane::Stage& stage : lane::stages(settings)) entries.push_back(stage.dimension);
  std::vector<std::vector<std::int64_t>> units;
  const std::vector<noise::GridNoise> noise = silence(entries, units);
  lane::Lane lane(settings, grids, Position{0});
  lane::Releases releases;
  lane.advance(record::slice(rows, begin, end), noise, releases, users);
  std::vector<double> left(lane.theta().begin(), lane.theta().end());
  const lane::Release shown = releases[0];
  for (const std::span<const double> moments : {shown.bread, shown.meat}) {
    for (const double entry : moments) left.push_back(-entry);
  }
  if (shown.clipped) left.push_back(-shown.clipped->sum);
  return left;
}

std::span<const noise::GridNoise> ShiftedNoise::take(std::size_t steps_max) {
  const std::span<const noise::GridNoise> stages = noise_->take(steps_max);
  const std::uint64_t first = stages.front().first.value();
  const auto begin = shifts_.lower_bound(first);
  const auto end = shifts_.lower_bound(first + engine::steps_in(stages));
  if (begin == end) return stages;
  units_.clear();
  for (const noise::GridNoise& stage : stages) units_.emplace_back(stage.units.begin(), stage.units.end());
  for (auto each = begin; each != end; ++each) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      std::int64_t* const at = units_[i].data() + (each->first - first) * stages[i].dimension;
      for (std::size_t j = 0; j < stages[i].dimension; ++j) at[j] += each->second[i].at(j);
    }
  }
  slices_.clear();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    slices_.push_back({stages[i].first, stages[i].dimension, units_[i]});
  }
  return slices_;
}

std::vector<std::vector<std::int64_t>> gradient_difference(const lane::Settings& settings,
                                                           std::span<const noise::Grid> grids,
                                                           std::span<const double> theta,
                                                           const record::RowBatch& here,
                                                           const record::RowBatch& there, std::size_t row) {
  const std::vector<double> with_here = less_its_sum(settings, grids, theta, here, row, row + 1);
  const std::vector<double> with_there = less_its_sum(settings, grids, theta, there, row, row + 1);
  std::vector<std::vector<std::int64_t>> shift;
  std::size_t j = 0;
  const std::vector<lane::Stage> stages = lane::stages(settings);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    shift.emplace_back();
    for (std::size_t entry = 0; entry < stages[i].dimension; ++entry, ++j) {
      shift.back().push_back(whole_units((with_there[j] - with_here[j]) / grids[i].spacing()));
    }
  }
  // A first stage without noise must not move differently, because no noise could hide that.
  for (; j < with_here.size(); ++j) {
    if (with_here[j] != with_there[j]) throw std::runtime_error("a record that moves a part without noise");
  }
  return shift;
}

EncoderTwin::EncoderTwin(const noise::Correlation& correlation, std::size_t steps)
    : steps_(steps), factor_(steps * steps) {
  const std::vector<double> b = noise::dense_noise_matrix(correlation, steps);
  const std::size_t width = b.size() / steps;
  if (width == steps) {  // B itself is lower triangular
    factor_ = b;
    return;
  }
  for (std::size_t i = 0; i < steps; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < width; ++k) sum += b[i * width + k] * b[j * width + k];
      for (std::size_t k = 0; k < j; ++k) sum -= factor_[i * steps + k] * factor_[j * steps + k];
      factor_[i * steps + j] = i == j ? std::sqrt(sum) : sum / factor_[j * steps + j];
    }
  }
}

std::vector<double> EncoderTwin::squares(const Shifts& shifts, std::size_t stage) const {
  std::vector<double> squares(steps_ + 1);
  if (shifts.empty()) return squares;
  const std::size_t dimension = shifts.begin()->second.at(stage).size();
  std::vector<double> w(steps_);
  for (std::size_t j = 0; j < dimension; ++j) {
    for (std::size_t t = shifts.begin()->first; t < steps_; ++t) {
      const auto found = shifts.find(t);
      double rest = found == shifts.end() ? 0 : static_cast<double>(found->second[stage][j]);
      for (std::size_t s = shifts.begin()->first; s < t; ++s) rest -= factor_[t * steps_ + s] * w[s];
      w[t] = rest / factor_[t * steps_ + t];
      squares[t + 1] += w[t] * w[t];
    }
  }
  std::partial_sum(squares.begin(), squares.end(), squares.begin());
  return squares;
}

}  // namespace nustream::tests
