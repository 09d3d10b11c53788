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
/// Added to it where every stage has scales.
constexpr std::uint64_t with_scales = 32;

/// One number that says what follows the moments: the spread's own number and the flags above. A sandwich with
/// scales, for example, is 2 + 32.
std::uint64_t kept_beside_moments(const Settings& settings) {
  const Design& design = settings.mechanism.design;
  const std::uint64_t eigenvalue = design.solution == Solution::adassp ? with_eigenvalue : 0;
  return static_cast<std::uint64_t>(design.spread) + eigenvalue + (settings.grows ? with_scales : 0);
}

constexpr std::string_view magic_and_version{"nu-sums\x01", 8};

/// Bytes may come from a damaged disk or another program. A NaN among the sums would spread to every later release.
std::vector<double> finite_reals(CanonicalReader& reader, std::size_t count) {
  std::vector<double> values = reader.reals(count);
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) {
    reader.refuse("a number that is not finite", "finite sums");
  }
  return values;
}

/// Reads the scales of a stage after `before`, which is null for the first one.
void read_scales(CanonicalReader& reader, std::size_t inputs, const StageSums* before, StageSums& stage) {
  stage.scales = reader.reals(inputs);
  for (std::size_t j = 0; j < inputs; ++j) {
    int exponent = 0;
    const double scale = stage.scales[j];
    const bool is_power = scale >= 1 && scale <= largest_scale && std::frexp(scale, &exponent) == 0.5;
    if (!is_power || scale < (before == nullptr ? 1 : before->scale(j)) || (before == nullptr && scale != 1)) {
      reader.refuse("a scale that is no power of two or shrinks", "scales that begin at 1 and grow");
    }
  }
  if (std::ranges::all_of(stage.scales, [](double scale) { return scale == 1; })) stage.scales.clear();
}

/// Refuses radii that a stage cannot have: those of the settings or, where units grow, the first ones alone.
void check_radii(CanonicalReader& reader, const Settings& settings, const StageSums& stage) {
  if (stage.radii == stage_from(settings, stage.first)) return;
  if (!settings.grows || stage.first == 0) reader.refuse("other radii", "the settings' radii");
  check(stage.radii);
}

/// Reads stage `number` of the settings: with its sums, or without them where they were forgotten.
StageSums read_stage(CanonicalReader& reader, const Settings& settings, std::size_t number, bool with_sums,
                     const StageSums* before) {
  const Design& design = settings.mechanism.design;
  StageSums stage;
  stage.first = reader.integer();
  // Where units grow, stages begin at some of the listed steps; otherwise at each of them.
  const bool is_listed = settings.grows ? stage_from(settings, stage.first) &&
                                              (before == nullptr ? stage.first == 0 : stage.first > before->first)
                                        : stage.first == stage_first(settings, number);
  if (!is_listed) reader.refuse("a stage of another step", "the settings' stages");
  stage.radii.inputs = reader.real();
  stage.radii.regressors = reader.real();
  stage.radii.target = reader.real();
  check_radii(reader, settings, stage);
  if (settings.grows) read_scales(reader, design.shape.inputs, before, stage);
  stage.centre = finite_reals(reader, design.shape.coefficients());
  // BatchSums::aim() ends the process over a centre further away, and bytes must not be able to do that.
  const auto is_in_range = [](double entry) { return std::fabs(entry) <= 0x1p100; };
  if (!std::ranges::all_of(stage.centre, is_in_range)) reader.refuse("a centre too far away", "one within 2^100");
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

/// The numbers of the oldest and the newest stage in a state of so many steps, which also holds their count.
std::pair<std::size_t, std::size_t> read_stage_numbers(CanonicalReader& reader, const Settings& settings,
                                                       std::uint64_t steps) {
  // A stage that begins with the next step is begun by that step's first row, so it is in no state yet.
  const std::size_t newest = stage_number(settings, steps == 0 ? 0 : steps - 1);
  const std::size_t oldest = oldest_kept(settings, newest);
  const std::uint64_t count = reader.integer();
  // Where units grow, stages begin at some of the listed steps alone.
  const bool is_possible = settings.grows
                               ? count >= 1 && count <= std::min<std::uint64_t>(newest + 1, grown_stages_max)
                               : count == newest - oldest + 1;
  if (!is_possible) reader.refuse("another number of stages", "those up to its last step");
  return {oldest, settings.grows ? static_cast<std::size_t>(count) - 1 : newest};
}

/// Reads the stages that a lane keeps after so many steps. Where sums are forgotten, only the newest stage has them.
std::vector<StageSums> read_stages(CanonicalReader& reader, const Settings& settings, std::uint64_t steps) {
  const auto [oldest, newest] = read_stage_numbers(reader, settings, steps);
  const bool forgets = memory_of(settings).forgets();
  std::vector<StageSums> stages;
  for (std::size_t number = oldest; number <= newest; ++number) {
    const StageSums* const before = stages.empty() ? nullptr : &stages.back();
    stages.push_back(read_stage(reader, settings, number, !forgets || number == newest, before));
  }
  if (stages.back().first > 0 && stages.back().first >= steps) {
    reader.refuse("a stage behind the last step", "stages with a step");
  }
  return stages;
}

}  // namespace

std::string Lane::encode() const {
  NUSTREAM_REQUIRE(!is_half_taken_, "a lane whose rows ended by an exception has no state");
  NUSTREAM_REQUIRE(batch_.records() == 0, "a state is written between steps");
  CanonicalWriter writer;
  writer.text(magic_and_version);
  writer.integer(frame_.design.shape.inputs);
  writer.integer(frame_.design.shape.endogenous);
  writer.integer(kept_beside_moments(settings_) + (marks_ ? with_marks : 0));
  writer.integer(steps_);
  writer.integer(position_);
  writer.integer(sums_.stages().size());
  for (const StageSums& stage : sums_.stages()) {
    writer.integer(stage.first);
    writer.real(stage.radii.inputs);
    writer.real(stage.radii.regressors);
    writer.real(stage.radii.target);
    for (std::size_t j = 0; settings_.grows && j < frame_.design.shape.inputs; ++j) writer.real(stage.scale(j));
    for (const auto* values : {&stage.centre, &stage.second, &stage.cross, &stage.spread, &stage.eigenvalue}) {
      writer.reals(*values);
    }
  }
  // The order is that of docs/formats/moments.md: stages, then the last look, then marks.
  if (looked_) {
    writer.integer(looked_->step);
    writer.reals(looked_->diagonal);
    writer.real(looked_->squares);
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
    // The head is there once; all the rest of a state with one stage is counted again for each stage.
    const std::size_t head = magic_and_version.size() + 6 * sizeof(std::uint64_t);
    const Design& design = settings.mechanism.design;
    const std::size_t mark = (entries(design, Block::second) + design.shape.coefficients()) * sizeof(double);
    const std::size_t stages =
        settings.grows ? std::min(settings.stages.size(), grown_stages_max) : settings.stages.size();
    return head + stages * (with_sums - head) + (settings.keeps_marks ? marks_max * mark : 0);
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
  const std::uint64_t marked = kept_beside_moments(lane.settings_) + with_marks;
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
  std::vector<StageSums> stages = read_stages(reader, lane.settings_, lane.steps_);
  if (lane.looked_) {
    lane.looked_->step = reader.integer();
    const std::uint64_t last = std::max<std::uint64_t>(lane.steps_, 1) - 1;
    const bool is_within = lane.looked_->step >= stages.back().first && lane.looked_->step <= last;
    if (!is_within) reader.refuse("a look outside the newest stage", "one at its first step or behind it");
    lane.looked_->diagonal = finite_reals(reader, design.shape.inputs);
    lane.looked_->squares = finite_reals(reader, 1).front();
  }
  if (lane.marks_) {
    // How many marks there are follows from the steps of the newest stage, so no count is stored.
    for (std::size_t i = mark_count(lane.steps_ - stages.back().first); i > 0; --i) {
      std::vector<double> second = finite_reals(reader, entries(design, Block::second));
      lane.marks_->push_back({std::move(second), finite_reals(reader, design.shape.coefficients())});
    }
  }
  reader.end();
  lane.batch_.aim(stages.back().radii, stages.back().centre, stages.back().scales);
  lane.sums_.restore(std::move(stages));
  return lane;
}

}  // namespace nustream::moments
