#include "nustream/lane/lane.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::lane {
namespace {

// Steps whose sizes and gains are worked out ahead of the loop that uses them.
constexpr std::uint64_t steps_ahead = 256;

const Settings& checked(const Settings& settings, const noise::Grid& grid) {
  if (settings.dimension == 0) throw InvalidParameter("dimension", "0", "at least one coefficient");
  if (settings.start.size() != settings.dimension) {
    throw InvalidParameter("start", std::to_string(settings.start.size()) + " entries",
                           std::to_string(settings.dimension) + " entries (the number of coefficients)");
  }
  if (settings.release_every == 0) throw InvalidParameter("release_every", "0", "at least one step");
  // The noise is scaled for settings.clip: a grid that clips later would let a record weigh more than Δ.
  if (!(grid.clip_radius() <= settings.clip.value())) {
    throw InvalidParameter("grid", "a clip radius above the clip norm", "the grid of the same clip norm");
  }
  return settings;
}

descent::StepRule step_rule(const Settings& settings) {
  return {settings.loss, settings.l2, settings.projection, settings.minibatch};
}

void check_batch(const Settings& settings, std::uint64_t steps_taken, const record::RowSlice& rows,
                 const noise::GridNoise& noise) {
  NUSTREAM_REQUIRE(rows.dimension == settings.dimension, "rows have the lane's dimension");
  NUSTREAM_REQUIRE(noise.dimension == settings.dimension, "noise has the lane's dimension");
  NUSTREAM_REQUIRE(rows.count % settings.minibatch == 0, "a batch ends where a minibatch ends");
  NUSTREAM_REQUIRE(noise.first.value() == steps_taken, "noise begins at the lane's next step");
  NUSTREAM_REQUIRE(noise.units.size() / noise.dimension >= rows.count / settings.minibatch,
                   "every step of a batch has its own noise");
}

}  // namespace

Lane::Lane(Settings settings, const noise::Grid& grid, Position start)
    : settings_(std::move(settings)),
      position_(start.value()),
      loop_(step_rule(checked(settings_, grid)), grid, settings_.start),
      average_(settings_.averaging, settings_.dimension) {}

void Lane::advance(const record::RowSlice& rows, const noise::GridNoise& noise, Releases& releases) {
  check_batch(settings_, steps_, rows, noise);
  const std::uint64_t steps = rows.count / settings_.minibatch;
  for (std::uint64_t taken = 0; taken < steps;) {
    const std::uint64_t to_release = steps_to_next_release();
    const std::uint64_t count = std::min({steps - taken, to_release, steps_ahead});
    take_steps(rows, noise, taken, count);
    taken += count;
    position_ = rows.next[taken * settings_.minibatch - 1];
    if (count == to_release) release_now(releases);
  }
}

std::uint64_t Lane::steps_to_next_release() const noexcept {
  return settings_.release_every - steps_ % settings_.release_every;
}

void Lane::take_steps(const record::RowSlice& rows, const noise::GridNoise& noise, std::uint64_t begin,
                      std::uint64_t count) {
  std::array<double, steps_ahead> sizes;
  std::array<double, steps_ahead> gains;
  for (std::uint64_t i = 0; i < count; ++i) {
    sizes[i] = settings_.schedule.at(StepIndex{steps_ + i});
    gains[i] = average_.weigh(StepCount{steps_ + i + 1});
  }
  const std::size_t d = settings_.dimension;
  const std::size_t first_row = begin * settings_.minibatch;
  const std::size_t row_count = count * settings_.minibatch;
  loop_.run({.x = {rows.x + first_row * d, row_count * d},
             .y = {rows.y + first_row, row_count},
             .noise = noise.units.subspan(begin * d, count * d),
             .step_sizes = std::span(sizes).first(count),
             .average_gains = std::span(gains).first(count)},
            average_.memory());
  steps_ += count;
}

void Lane::release_now(Releases& releases) const {
  releases.append(steps(), position(), theta(), average_.value());
}

StepCount Lane::steps() const noexcept {
  return StepCount{steps_};
}
Position Lane::position() const noexcept {
  return Position{position_};
}
std::span<const double> Lane::theta() const noexcept {
  return loop_.theta();
}
std::uint64_t Lane::clipped() const noexcept {
  return loop_.clipped();
}

}  // namespace nustream::lane
