// The settings under which games are played, and the inverse of what a release's text shows. Each change makes the
// adversary see more or the game smaller; no claim depends on them.
#include "audit/played.h"

#include <Eigen/Dense>

#include <algorithm>

#include "decode/message_columns.h"
#include "publish/original_units.h"

namespace nustream::audit {
namespace {

using Vector = Eigen::VectorXd;

}  // namespace

WorkingUnits::WorkingUnits(const config::Config& config) {
  const publish::OriginalUnits units(config.schema, config.descent);
  const std::vector<double> zero(config.descent.dimension, 0.0);
  std::vector<double> origin;
  // Original coefficients are an affine map of θ: its value at 0, and its linear part below.
  units.convert(zero, origin);
  origin_ = Eigen::Map<const Vector>(origin.data(), static_cast<Eigen::Index>(origin.size()));
  const std::vector<double> linear = units.linear_part();
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> map(
      linear.data(), origin_.size(), static_cast<Eigen::Index>(linear.size()) / origin_.size());
  // A release may show another number of coefficients than θ has entries, so the map need not be square.
  inverse_ = map.completeOrthogonalDecomposition().pseudoInverse();
}

Vector WorkingUnits::theta(const std::vector<std::pair<std::string, double>>& shown) const {
  Vector values(origin_.size());
  for (Eigen::Index j = 0; j < values.size(); ++j) values(j) = shown[static_cast<std::size_t>(j)].second;
  return inverse_ * (values - origin_);
}

config::Config as_played(config::Config config) {
  config.input.time_column.clear();
  const record::RowBuilder builder(config.schema);
  const auto beside_values = [](const record::Field& field) { return decode::is_message_column(field.column); };
  if (std::ranges::any_of(builder.fields(), beside_values)) {
    config.input.format = decode::Format::csv;
    config.input.header = true;
    config.input.columns.clear();
  }
  config.input.append_times_only = false;
  config.descent.release_every = 1;
  // A projection could only hide a part of the noisy gradients from the adversary.
  config.descent.projection = {};
  // noisy_sums() takes the means of second moments to run from step 0.
  if (config.descent.moments) config.descent.moments->from = 0;
  return config;
}

config::Config with_steps_of(config::Config config, std::uint64_t records) {
  config::Moments& moments = *config.moments;
  moments.release_sums = true;
  moments.residual_variance.reset();
  moments.grows =
      false;  // games read the sums in working units; a scale is a public map of rows before they are scaled
  const std::uint64_t every = config.descent.minibatch;
  // A table that is one step.
  if (every == 0) return config;
  config.descent.minibatch = records;
  const auto in_as_many_steps = [&](std::uint64_t& count) { count = count / every * records; };
  for (config::Moments::Stage& stage : moments.stages) in_as_many_steps(stage.from);
  in_as_many_steps(moments.restage_every);
  if (moments.memory) in_as_many_steps(*moments.memory);
  return config;
}

}  // namespace nustream::audit
