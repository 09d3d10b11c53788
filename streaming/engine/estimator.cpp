// Passes each call on to the lane of the settings' kind. A descent gives iterates and running sums give estimates, so
// that the two have releases of different types: each kind has its own list, of which only one is ever filled.
#include "engine/estimator.h"

#include "config/moments.h"

namespace nustream::engine {

StepCount Estimator::steps() const {
  return std::visit([](const auto& lane) { return lane.steps(); }, lane_);
}

Position Estimator::position() const {
  return std::visit([](const auto& lane) { return lane.position(); }, lane_);
}

std::uint64_t Estimator::clipped() const {
  return std::visit([](const auto& lane) { return lane.clipped(); }, lane_);
}

std::uint64_t Estimator::contributions() const {
  return std::visit([](const auto& lane) { return lane.contributions(); }, lane_);
}

std::uint64_t Estimator::beyond_limits() const {
  return std::visit([](const auto& lane) { return lane.beyond_limits(); }, lane_);
}

std::string Estimator::encode() const {
  return std::visit([](const auto& lane) { return lane.encode(); }, lane_);
}

std::span<const double> Estimator::theta() const {
  // Running sums have no iterate: an estimate is solved from them when a release needs one.
  const auto* descent = std::get_if<lane::Lane>(&lane_);
  return descent == nullptr ? std::span<const double>() : descent->theta();
}

void Estimator::go_on_from(const lane::Carried& from) {
  if (auto* descent = std::get_if<lane::Lane>(&lane_)) {
    descent->go_on_from(from);
  } else {
    // Running sums have no average to go on from: the released estimate only moves the point about which they are
    // centred.
    std::get<moments::Lane>(lane_).begin_about(from.theta);
  }
}

void Estimator::advance(const record::RowSlice& rows, std::span<const noise::GridNoise> noise) {
  if (auto* descent = std::get_if<lane::Lane>(&lane_)) {
    descent->advance(rows, noise, of_descent_, users_, clock_);
  } else {
    std::get<moments::Lane>(lane_).advance(rows, noise, of_sums_, users_, clock_);
  }
}

void Estimator::release_now() {
  if (const auto* descent = std::get_if<lane::Lane>(&lane_)) {
    descent->release_now(of_descent_);
  } else {
    std::get<moments::Lane>(lane_).release_now(of_sums_);
  }
}

void Estimator::take_releases(publish::ReleaseEncoder& encoder, std::string_view tag, std::uint64_t& released,
                              std::string& out) {
  const auto append = [&](const auto& release) {
    // A resumed lane takes no release a second time: `released` comes from its state, and counts steps.
    if (release.steps.value() <= released) return;
    encoder.append(release, tag, out);
    released = release.steps.value();
  };
  // Only the list of the lane's own kind ever holds releases.
  for (std::size_t i = 0; i < of_descent_.size(); ++i) append(of_descent_[i]);
  for (const moments::Release& release : of_sums_) append(release);
  of_descent_.clear();
  of_sums_.clear();
}

Estimator first_estimator(const config::Config& config, const config::Mechanism& mechanism, Position start) {
  // A full mechanism is part of the settings of running sums, since their answer depends on the size of the noise. A
  // descent only needs the grids on which gradients and noise are added.
  if (config.moments) return moments::Lane(config::moments_settings(config, mechanism), start);
  return lane::Lane(config.descent, mechanism.grids, start);
}

Estimator decoded_estimator(const config::Config& config, const config::Mechanism& mechanism,
                            std::string_view bytes) {
  if (config.moments) return moments::Lane::decode(config::moments_settings(config, mechanism), bytes);
  return lane::Lane::decode(config.descent, mechanism.grids, bytes);
}

}  // namespace nustream::engine
