// Writes and reads a lane's state. The order of the fields is that of docs/formats/lane.md.
#include <string>
#include <utility>

#include "base/canonical.h"
#include "nustream/base/error.h"
#include "nustream/lane/lane.h"

namespace nustream::lane {
namespace {

constexpr std::string_view magic_and_version{"nu-lane\x01", 8};

/// 128 bits, the low 64 first.
void write_wide(descent::WideUnits units, CanonicalWriter& writer) {
  writer.integer(static_cast<std::uint64_t>(units));
  writer.integer(static_cast<std::uint64_t>(units >> 64));
}

descent::WideUnits read_wide(CanonicalReader& reader) {
  const std::uint64_t low = reader.integer();
  const auto high = static_cast<std::int64_t>(reader.integer());
  return static_cast<descent::WideUnits>(high) * (descent::WideUnits{1} << 64) + low;
}

void write_batches(const descent::BatchMeans& batches, CanonicalWriter& writer) {
  writer.integer(batches.length());
  writer.integer(batches.count());
  writer.reals(batches.means());
}

/// Reads the batches of a lane of `steps` steps.
void read_batches(CanonicalReader& reader, const Settings& settings, StepCount steps, descent::BatchMeans& batches) {
  const std::uint64_t length = reader.integer();
  const std::uint64_t count = reader.integer();
  // The count is compared first: a bounded one cannot overflow when it is multiplied by the dimension.
  if (count >= 2 * settings.batching->batches) reader.refuse("more batches than can be", "a whole state");
  batches.restore(length, reader.reals(count * settings.dimension));
  if (steps >= batches.next_boundary()) reader.refuse("batches behind the steps", "a whole state");
}

/// Reads the trail of a lane of `steps` steps, which a state may lack. Empties `trail` where iterates that it would
/// have by now are gone.
void read_trail(CanonicalReader& reader, std::size_t dimension, StepCount steps,
                std::optional<descent::Trail>& trail) {
  if (!trail) return;
  if (reader.is_at_end()) {
    // The trail has no iterate yet, or the state is of a version without trails.
    if (steps >= trail->next()) trail.reset();
    return;
  }
  const std::uint64_t distance = reader.integer();
  const std::uint64_t count = reader.integer();
  // Compared first, as above.
  if (count > descent::Trail::most_iterates) reader.refuse("more iterates of a trail than can be", "a whole state");
  trail->restore(distance, reader.reals(count * dimension), steps);
}

}  // namespace

std::string Lane::encode() const {
  NUSTREAM_REQUIRE(!is_half_taken_, "a lane whose rows ended by an exception has no state");
  CanonicalWriter writer;
  writer.text(magic_and_version);
  writer.integer(settings_.dimension);
  writer.integer(steps_);
  writer.integer(position_);
  writer.real(average_.weight());
  writer.reals(theta());
  writer.reals(average_.value());
  // Batches that a state may lack come after everything else, so that a state without them is the beginning of one
  // that has them.
  const bool are_last = batches_ && settings_.batching->may_lack;
  if (batches_ && !are_last) write_batches(*batches_, writer);
  if (moments_) {
    writer.reals(moments_->bread());
    writer.reals(moments_->meat());
  }
  writer.reals(std::visit([](const auto& loop) { return loop.velocity(); }, loop_));  // none without momentum
  if (clipped_count_) {
    write_wide(clipped_count_->before_mark(), writer);
    write_wide(clipped_count_->behind_mark(), writer);
  }
  if (are_last) write_batches(*batches_, writer);
  // A trail without an iterate is not written: up to there, the state is like that of a version without trails.
  if (trail_ && !trail_->iterates().empty()) {
    writer.integer(trail_->distance());
    writer.integer(trail_->iterates().size() / settings_.dimension);
    writer.reals(trail_->iterates());
  }
  return writer.take();
}

Lane Lane::decode(Settings settings, std::span<const noise::Grid> grids, std::string_view bytes) {
  CanonicalReader reader("lane_state", bytes);
  // The version is a part of the magic bytes.
  if (reader.text(magic_and_version.size()) != magic_and_version) {
    reader.refuse("bytes of something else, or of another version", "a lane's state, version 1");
  }
  const std::uint64_t dimension = reader.integer();
  // The dimension is compared before memory is taken for as many numbers.
  if (dimension != settings.dimension) reader.refuse("a state of another dimension", "the settings' dimension");
  // The lane is made of the settings as at its beginning. What follows replaces its state field by field, in the
  // order of encode().
  Lane lane(std::move(settings), grids, Position{0});
  lane.steps_ = reader.integer();
  lane.position_ = reader.integer();
  const double weight = reader.real();
  const std::vector<double> theta = reader.reals(dimension);
  std::visit([&](auto& loop) { loop.set_theta(theta); }, lane.loop_);
  // Without a weight there is no average, and none was written.
  lane.average_.restore(weight, reader.reals(weight > 0 ? dimension : 0), lane.steps());
  const bool are_last = lane.batches_ && lane.settings_.batching->may_lack;
  if (lane.batches_ && !are_last) read_batches(reader, lane.settings_, lane.steps(), *lane.batches_);
  if (lane.moments_) {
    const std::vector<double> bread = reader.reals(lane.moments_->bread().size());
    lane.moments_->restore(bread, reader.reals(lane.moments_->meat().size()));
  }
  if (lane.settings_.momentum > 0) {
    const std::vector<double> velocity = reader.reals(dimension);
    std::visit([&](auto& loop) { loop.set_velocity(velocity); }, lane.loop_);
  }
  if (lane.clipped_count_) {
    const descent::WideUnits before = read_wide(reader);
    lane.clipped_count_->restore(before, read_wide(reader));
  }
  if (are_last && reader.is_at_end()) {
    // A state of an earlier version ends here, and its lane goes on without batches (docs/formats/lane.md). It goes
    // on without a trail, too, which would stand where batches do.
    lane.batches_.reset();
    lane.trail_.reset();
  } else if (are_last) {
    read_batches(reader, lane.settings_, lane.steps(), *lane.batches_);
  }
  read_trail(reader, dimension, lane.steps(), lane.trail_);
  reader.end();
  return lane;
}

}  // namespace nustream::lane
