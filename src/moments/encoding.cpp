// Writes and reads the state of a lane of running sums, in the order of docs/formats/moments.md.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/canonical.h"
#include "moments/schedule.h"
#include "nustream/base/error.h"
#include "nustream/moments/lane.h"

namespace nustream::moments {
namespace {

/// Added to the number of the spread where the sums hold a smallest eigenvalue.
constexpr std::uint64_t with_eigenvalue = 8;
/// Added to it where marks follow the stages.
constexpr std::uint64_t with_marks = 16;

std::uint64_t kept_beside_moments(const Design& design) {
  const std::uint64_t eigenvalue = design.solution == Solution::adassp ? with_eigenvalue : 0;
  return static_cast<std::uint64_t>(design.spread) + eigenvalue;
}

constexpr std::string_view magic_and_version{"nu-sums\x01", 8};

std::vector<double> finite_reals(CanonicalReader& reader, std::size_t count) {
  std::vector<double> values = reader.reals(count);
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) {
    reader.refuse("a number that is not finite", "finite sums");
  }
  return values;
}

/// Reads stage `number` of the settings: with its sums, or without them where they were forgotten.
StageSums read_stage(CanonicalReader& reader, const Settings& settings, std::size_t number, bool with_sums) {
  const Design& design = settings.mechanism.design;
  StageSums stage;
  stage.first = reader.integer();
  if (stage.first != stage_first(settings, number)) reader.refuse("a stage of another step", "the settings' stages");
  stage.radii.inputs = reader.real();
  stage.radii.regressors = reader.real();
  stage.radii.target = reader.real();
  if (stage.radii != stage_from(settings, stage.first)) reader.refuse("other radii", "the settings' radii");
  stage.centre = finite_reals(reader, design.shape.coefficients());
  if (!with_sums) return stage;
  stage.second = finite_reals(reader, entries(design, Block::second));
  stage.cross = finite_reals(reader, design.shape.coefficients());
  stage.spread = finite_reals(reader, entries(design, Block::spread));
  stage.eigenvalue = finite_reals(reader, entries(design, Block::eigenvalue));
  return stage;
}

/// The number of the oldest stage that is kept: the first one, unless the sums forget.
std::size_t oldest_kept(const Settings& settings, std::size_t newest) {
  const Memory memory = memory_of(settings);
  std::size_t oldest = 0;
  const std::uint64_t begun = stage_first(settings, newest);
  const auto is_stale = [&](std::size_t number) {
    return number + 1 < newest && begun - stage_first(settings, number + 1) > memory.reach;
  };
  while (memory.forgets() && is_stale(oldest)) ++oldest;
  return oldest;
}

}  // namespace

std::string Lane::encode() const {
  NUSTREAM_REQUIRE(!is_half_taken_, "a lane whose rows ended by an exception has no state");
  NUSTREAM_REQUIRE(batch_.records() == 0, "a state is written between steps");
  CanonicalWriter writer;
  writer.text(magic_and_version);
  writer.integer(frame_.design.shape.inputs);
  writer.integer(frame_.design.shape.endogenous);
  writer.integer(kept_beside_moments(frame_.design) + (marks_ ? with_marks : 0));
  writer.integer(steps_);
  writer.integer(position_);
  writer.integer(sums_.stages().size());
  for (const StageSums& stage : sums_.stages()) {
    writer.integer(stage.first);
    writer.real(stage.radii.inputs);
    writer.real(stage.radii.regressors);
    writer.real(stage.radii.target);
    for (const auto* values : {&stage.centre, &stage.second, &stage.cross, &stage.spread, &stage.eigenvalue}) {
      writer.reals(*values);
    }
  }
  if (marks_) {
    for (const Mark& mark : *marks_) {
      writer.reals(mark.second);
      writer.reals(mark.cross);
    }
  }
  return writer.take();
}

std::size_t encoded_bytes_max(const Settings& settings) {
  const std::size_t with_sums = Lane(settings, Position{0}).encode().size();  // with one stage
  const Memory memory = memory_of(settings);
  if (!memory.forgets()) {
    const std::size_t head = magic_and_version.size() + 6 * sizeof(std::uint64_t);
    const Design& design = settings.mechanism.design;
    const std::size_t mark = (entries(design, Block::second) + design.shape.coefficients()) * sizeof(double);
    return head + settings.stages.size() * (with_sums - head) + (settings.keeps_marks ? marks_max * mark : 0);
  }
  // Sums that forget are kept for the newest stage alone; of the stages before it only the starts, the radii and the
  // centres are.
  const std::uint64_t repeated = settings.repeat_every == 0 ? 0 : memory.reach / settings.repeat_every + 2;
  const std::size_t forgotten = settings.stages.size() + static_cast<std::size_t>(repeated);
  const std::size_t centre = settings.mechanism.design.shape.coefficients() * sizeof(double);
  return with_sums + forgotten * (sizeof(std::uint64_t) + 3 * sizeof(double) + centre);
}

Lane Lane::decode(Settings settings, std::string_view bytes) {
  CanonicalReader reader("lane_state", bytes);
  if (reader.text(magic_and_version.size()) != magic_and_version) {
    reader.refuse("bytes of something else, or of another version", "a state of running sums, version 1");
  }
  Lane lane(std::move(settings), Position{0});
  const Design& design = lane.frame_.design;
  const bool is_of_shape = reader.integer() == design.shape.inputs && reader.integer() == design.shape.endogenous;
  const std::uint64_t beside = reader.integer();
  const std::uint64_t marked = kept_beside_moments(design) + with_marks;
  // States of earlier versions have no marks. A lane that goes on from one keeps none.
  if (lane.marks_ && beside != marked) lane.marks_.reset();
  if (!is_of_shape || beside != (lane.marks_ ? marked : marked - with_marks))
    reader.refuse("a state of another shape", "the settings' inputs, responses, spread and solution");
  lane.steps_ = reader.integer();
  lane.position_ = reader.integer();
  // A release multiplies the steps by the records of each.
  if (lane.steps_ > std::numeric_limits<std::uint64_t>::max() / lane.frame_.every) {
    reader.refuse("more steps than records can be counted", "a whole state");
  }
  const std::size_t newest = stage_number(lane.settings_, lane.steps_ == 0 ? 0 : lane.steps_ - 1);
  const std::size_t oldest = oldest_kept(lane.settings_, newest);
  if (reader.integer() != newest - oldest + 1) reader.refuse("another number of stages", "those up to its last step");
  std::vector<StageSums> stages;
  for (std::size_t number = oldest; number <= newest; ++number) {
    const bool with_sums = !lane.sums_.memory().forgets() || number == newest;
    stages.push_back(read_stage(reader, lane.settings_, number, with_sums));
  }
  if (lane.marks_) {
    for (std::size_t i = mark_count(lane.steps_ - stages.back().first); i > 0; --i) {
      std::vector<double> second = finite_reals(reader, entries(design, Block::second));
      lane.marks_->push_back({std::move(second), finite_reals(reader, design.shape.coefficients())});
    }
  }
  reader.end();
  lane.batch_.aim(stages.back().radii, stages.back().centre);
  lane.sums_.restore(std::move(stages));
  return lane;
}

}  // namespace nustream::moments
