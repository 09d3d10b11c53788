// The loop of a lane of running sums: rows enter the open step, a full step gets its noise, and a release follows.
// The checks of the settings come first, so that nothing behind the constructor checks them again. The bytes of a
// state are in encoding.cpp, and the steps at which stages begin in schedule.cpp.
#include "nustream/moments/lane.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/shown.h"
#include "moments/schedule.h"
#include "nustream/base/error.h"
#include "nustream/moments/interval.h"
#include "nustream/noise/correlation.h"
#include "nustream/users/border.h"

namespace nustream::moments {
namespace {

/// The largest coefficient that a centre may have. Products with sums then stay finite.
constexpr double furthest_centre = 0x1p100;

constexpr const char* half_taken = "a lane whose rows ended by an exception is dropped";

/// False for a NaN, too: a comparison with it is false.
bool is_centre(std::span<const double> theta) {
  return std::ranges::all_of(theta, [](double entry) { return std::fabs(entry) <= furthest_centre; });
}

/// A user's contribution to a step has second and target moments alone (BatchSums::contribution()), and all of it is
/// shortened together, so no other block and no public part may stand beside them.
void check_users(const Design& design) {
  if (design.shape.endogenous > 0) throw InvalidParameter("users", "beside endogenous regressors", "none");
  if (design.spread != Spread::none) throw InvalidParameter("users", "beside a spread of residuals", "none");
  if (design.neighbours.target_only) throw InvalidParameter("users", "with public inputs", "wholly private rows");
}

/// An adaptive ridge needs a correlation of one step: the smallest eigenvalue is released once, for all records
/// together.
void check_ridge(const Settings& settings) {
  if (settings.mechanism.correlation.horizon() != StepCount{1}) {
    throw InvalidParameter("solution", "adassp, of several steps", "floored, or a correlation that ends after one");
  }
}

/// What can be asked of an estimate from the sums.
void check_estimate(const Settings& settings) {
  const double level = settings.anderson_rubin;
  if (!(level > 0 && level < 1)) throw InvalidParameter("anderson_rubin", shown(level), "a number between 0 and 1");
  const std::size_t inputs = settings.mechanism.design.shape.inputs;
  if (settings.directions.size() % inputs != 0) {
    throw InvalidParameter("directions", std::to_string(settings.directions.size()) + " numbers",
                           "one for each input in every direction");
  }
  const auto& variance = settings.weighting.residual_variance;
  if (variance && !(std::isfinite(*variance) && *variance > 0)) {
    throw InvalidParameter("residual_variance", shown(*variance), "a finite number > 0");
  }
}

/// Marks serve sums_status(), which compares parts of a stage. It needs the spread for the sampling part, and sums in
/// which every step counts alike.
void check_marks(const Settings& settings) {
  const Design& design = settings.mechanism.design;
  const bool allowed = design.shape.endogenous == 0 && design.spread != Spread::none && !settings.memory;
  if (settings.keeps_marks && !allowed) {
    throw InvalidParameter("keeps_marks", "true", "false but for plain sums of a linear model with a spread");
  }
}

/// What units that grow need. Sums with scales of their own for each stage have no single level of noise, which
/// readers of released sums rely on.
void check_growth(const Settings& settings) {
  if (!settings.grows) return;
  const Design& design = settings.mechanism.design;
  const bool allowed = design.shape.endogenous == 0 && design.solution == Solution::floored && !settings.memory &&
                       settings.constant && !settings.release_sums;
  if (allowed) return;
  throw InvalidParameter("grows", "true",
                         "false but for plain sums of a linear model with a constant, which are not released");
}

/// Throws for the first setting that is out of range, and hands the others on: the constructor checks before it
/// builds anything.
const Settings& checked(const Settings& settings) {
  check(settings.mechanism.design);
  if (settings.mechanism.design.spread == Spread::tight_sandwich) {
    throw InvalidParameter("spread", "a tight sandwich", "another one: a lane's state does not hold its bound");
  }
  if (settings.mechanism.users) check_users(settings.mechanism.design);
  check(settings.mechanism.participation);
  check_schedule(settings);
  const Shape& shape = settings.mechanism.design.shape;
  if (settings.mechanism.design.solution == Solution::adassp) check_ridge(settings);
  if (settings.start.size() != shape.coefficients()) {
    throw InvalidParameter("start", std::to_string(settings.start.size()) + " entries",
                           std::to_string(shape.coefficients()) + " entries (inputs times responses)");
  }
  if (!is_centre(settings.start)) throw InvalidParameter("start", "too far away", "numbers up to 2^100");
  if (settings.constant && *settings.constant >= shape.inputs) {
    throw InvalidParameter("constant", std::to_string(*settings.constant), "the number of an input");
  }
  if (shape.endogenous > 0 && shape.inputs < settings.controls + shape.endogenous) {
    throw InvalidParameter("controls", std::to_string(settings.controls),
                           "as many instruments beside them as endogenous regressors");
  }
  check_estimate(settings);
  check_marks(settings);
  check_growth(settings);
  return settings;
}

/// What estimates need besides the sums. The number of the constant input becomes a combination of inputs, here a
/// unit vector, because in whitened coordinates the constant is no single input.
Frame frame_of(const Settings& settings) {
  const Design& design = settings.mechanism.design;
  std::vector<double> constant(settings.constant ? design.shape.inputs : 0);
  if (settings.constant) constant[*settings.constant] = 1;
  return {design, block_noise(design, settings.sigmas), settings.weighting, settings.mechanism.participation.batch,
          std::move(constant)};
}

/// The grid of each block: that of its noise, or a fine one where its sums are public.
Spacings spacings_of(const Settings& settings) {
  const Design& design = settings.mechanism.design;
  const std::vector<noise::Grid> noised = grids(settings);
  Spacings spacings;
  std::size_t next = 0;
  for (const Block block : blocks(design)) {
    spacings.push_back(is_noised(design, block) ? noised[next++].spacing() : exact_spacing);
  }
  return spacings;
}

/// The contributions of users. The check keeps the units of a step below 2^62, however many users it has.
std::optional<users::StepContributions> contributions_of(const Settings& settings, const Spacings& spacings) {
  const Mechanism& mechanism = settings.mechanism;
  if (!mechanism.users) return std::nullopt;
  std::vector<users::ContributionBlock> all;
  for (std::size_t i = 0; i < spacings.size(); ++i) {
    if (static_cast<double>(mechanism.participation.batch) > 0x1p62 * spacings[i]) {
      throw InvalidParameter("records of a step", std::to_string(mechanism.participation.batch),
                             "fewer of them, or more noise: their sums have 64 bits");
    }
    all.push_back({entries(mechanism.design, blocks(mechanism.design)[i]), 1, spacings[i]});
  }
  return users::StepContributions(std::move(all), *mechanism.users, users::Shortening::together);
}

}  // namespace

std::size_t row_entries(const Settings& settings) {
  return settings.mechanism.design.shape.row();
}

std::vector<noise::Grid> grids(const Settings& settings) {
  const Design& design = settings.mechanism.design;
  const std::vector<Block> noised = noised_blocks(design);
  if (settings.sigmas.size() != noised.size()) {
    throw InvalidParameter("sigmas", std::to_string(settings.sigmas.size()), "one for each noised block");
  }
  const double largest = noise::largest_stddev(settings.mechanism.correlation);
  // Blocks are divided by their radii, so a contribution has length 1 at most on every grid, whatever the radii of
  // the day are. The grids can then stay the same for all stages.
  std::vector<noise::Grid> all;
  for (std::size_t i = 0; i < noised.size(); ++i) {
    all.emplace_back(noise_stddev(settings.sigmas[i], displacement(design, noised[i])), largest, ClipNorm{1});
  }
  return all;
}

Lane::Lane(Settings settings, Position start)
    : settings_(checked(settings)),
      frame_(frame_of(settings_)),
      spacings_(spacings_of(settings_)),
      batch_(settings_.mechanism.design, spacings_),
      by_user_(contributions_of(settings_, spacings_)),
      sums_(settings_.mechanism.design, spacings_, memory_of(settings_), settings_.stages.front().radii,
            settings_.start),
      noise_(settings_.mechanism.correlation, memory_of(settings_).kept),
      noise_of_parts_(settings_.mechanism.correlation, memory_of(settings_).kept),
      position_(start.value()) {
  batch_.aim(settings_.stages.front().radii, settings_.start);
  if (settings_.keeps_marks) marks_.emplace();
  if (settings_.grows) looked_ = look(sums_, frame_, steps());
  if (!by_user_) return;
  // A row's contribution has a place for each entry of all blocks.
  for (const Block block : blocks(frame_.design)) row_.resize(row_.size() + entries(frame_.design, block));
  units_.resize(row_.size());
}

void Lane::begin_about(std::span<const double> centre) {
  NUSTREAM_REQUIRE(steps_ == 0 && batch_.records() == 0, "a lane begins about a centre before its first row");
  if (centre.size() != settings_.start.size() || !is_centre(centre)) {
    throw InvalidParameter("start", std::to_string(centre.size()) + " entries",
                           "as many numbers as there are coefficients, up to 2^100");
  }
  settings_.start.assign(centre.begin(), centre.end());
  const Radii& radii = settings_.stages.front().radii;
  // The sums are still empty, and their first stage holds the centre, so they are made anew.
  sums_ = RunningSums(settings_.mechanism.design, spacings_, memory_of(settings_), radii, centre);
  batch_.aim(radii, centre);
}

/// Requires noise for every step that `records` more rows close.
void Lane::require_noise(std::span<const noise::GridNoise> noise, std::size_t records) const {
  const std::vector<Block> noised = noised_blocks(frame_.design);
  const std::uint64_t closing = (batch_.records() + records) / frame_.every;
  NUSTREAM_REQUIRE(noise.size() == noised.size(), "every noised block has its own noise");
  for (std::size_t i = 0; i < noised.size(); ++i) {
    NUSTREAM_REQUIRE(noise[i].dimension == entries(frame_.design, noised[i]), "noise has its block's dimension");
    // Rows that close no step need no noise, so that of another step, or none, may then be passed.
    NUSTREAM_REQUIRE(closing == 0 || noise[i].first.value() == steps_, "noise begins at the lane's next step");
    NUSTREAM_REQUIRE(noise[i].units.size() / noise[i].dimension >= closing, "every step has its own noise");
  }
}

void Lane::advance(const record::RowSlice& rows, std::span<const noise::GridNoise> noise, Releases& releases,
                   users::Changes* users, users::WindowClock* clock) {
  NUSTREAM_REQUIRE(!by_user_ || (users != nullptr && (rows.users != nullptr || rows.count == 0)),
                   "where the unit is the user, rows say whose they are");
  const bool has_windows = by_user_ && settings_.mechanism.users->windows();
  NUSTREAM_REQUIRE(!has_windows || (clock != nullptr && (rows.times != nullptr || rows.count == 0)),
                   "where limits hold within windows, rows say when they came");
  NUSTREAM_REQUIRE(!is_half_taken_, half_taken);
  require_noise(noise, rows.count);
  is_half_taken_ = true;
  std::uint64_t closed = 0;
  for (std::size_t taken = 0; taken < rows.count;) {
    const bool begins = batch_.records() == 0;
    if (begins) begin_step();
    const std::size_t count = std::min<std::size_t>(rows.count - taken, frame_.every - batch_.records());
    std::size_t within = count;
    if (has_windows) within = users::take_times({rows.times + taken, count}, begins, *clock, *users);
    add(rows.part(taken, count), within, users);
    taken += count;
    if (batch_.records() < frame_.every) break;
    // Rows without positions of their own are numbered one by one.
    position_ = rows.next == nullptr ? position_ + frame_.every : rows.next[taken - 1];
    // The users' shortened sums come in before the noise: they are what the noise is calibrated to.
    if (by_user_) settle(*users);
    close_step(noise, closed++);
    append_release(releases);
  }
  is_half_taken_ = false;
}

/// Begins a step. Where a stage begins with it, the stage's centre is the estimate of the steps before.
void Lane::begin_step() {
  if (by_user_) by_user_->begin(StepIndex{steps_});
  const std::optional<Radii> radii = stage_from(settings_, steps_);
  if (!radii || steps_ == 0 || sums_.stages().back().first == steps_) return;
  // All sums up to the step before hold their noise, and no row of this step has been read: so a centre may follow
  // from them at no cost (CDP+ Theorem 1.1).
  settings_.grows ? grow() : begin_stage(*radii, {}, Centre::estimate);
}

/// Begins a stage where other units suit the stream. Otherwise the present stage goes on, and is looked at from here
/// on.
void Lane::grow() {
  const std::vector<std::uint64_t> window{looked_->step};
  // The window counts as the only stage here, so this is the variance of the noise in the sums over it.
  const double variance = noise_of_parts_.covariance(window, steps()).front();
  std::optional<StageUnits> units;
  if (sums_.stages().size() < grown_stages_max) units = grown_units(sums_, frame_, *looked_, variance, steps());
  // Residuals about a start that nobody measured are no estimate of their spread: the first look begins a stage.
  const bool begins = frame_.design.spread != Spread::none && sums_.stages().size() == 1;
  if (!units && begins) units = StageUnits{sums_.stages().back().radii, sums_.stages().back().scales, true};
  if (units)
    begin_stage(units->radii, std::move(units->scales),
                units->have_grown || begins ? Centre::shrunken : Centre::same);
  looked_ = look(sums_, frame_, steps());
}

/// Everything that aims the stage comes from sums with their noise, up to the step before.
void Lane::begin_stage(const Radii& radii, std::vector<double> scales, Centre about) {
  const std::vector<double> covariance = stage_covariance(sums_, noise_, steps());
  Estimate found = estimate(sums_, frame_, covariance);
  std::vector<double> centre = about == Centre::estimate   ? std::move(found.theta)
                               : about == Centre::shrunken ? shrunken_centre(sums_, frame_, covariance, found)
                                                           : sums_.stages().back().centre;
  // An estimate that has diverged would make products with sums overflow; the stage then keeps the centre before it.
  const StageSums& before = sums_.stages().back();
  if (!is_centre(centre)) centre = before.centre;
  if (!is_centre(in_units_of(scales, before, centre))) scales = before.scales;
  sums_.begin_stage(steps_, radii, centre, scales);
  if (marks_) marks_->clear();
  const StageSums& begun = sums_.stages().back();
  batch_.aim(begun.radii, begun.centre, begun.scales);
}

/// The gate comes before the row is read: whether a row counts must not depend on what it holds. Of the rows, the
/// first `within` lie in the window of their step.
void Lane::add(const record::RowSlice& rows, std::size_t within, const users::Changes* users) {
  if (!by_user_) return batch_.add(rows);
  for (std::size_t i = 0; i < within; ++i) {
    const record::RowUser& of = rows.users[i];
    const users::UserHash user{of.high, of.low};
    if (of.is_nobody() || !by_user_->takes_part(user, *users)) continue;
    if (batch_.contribution(rows.x + i * rows.dimension, rows.y[i], rows.weight(i), row_)) {
      static_cast<void>(by_user_->add(user, of.number, row_));
    }
  }
  batch_.count(rows.count);
}

void Lane::settle(users::Changes& users) {
  std::ranges::fill(units_, 0);
  static_cast<void>(by_user_->settle(users, units_));
  // The blocks lie one behind the other, as contributions_of() listed them.
  std::span<const std::int64_t> rest = units_;
  for (const Block block : blocks(frame_.design)) {
    const std::size_t count = entries(frame_.design, block);
    batch_.add_units(block, rest.first(count));
    rest = rest.subspan(count);
  }
}

void Lane::close_step(std::span<const noise::GridNoise> noise, std::uint64_t index) {
  std::array<std::span<const std::int64_t>, block_kinds> of_step;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    of_step[i] = noise[i].units.subspan(index * noise[i].dimension, noise[i].dimension);
  }
  sums_.step(batch_, std::span(of_step).first(noise.size()));
  batch_.clear();
  ++steps_;
  if (marks_) take_mark(sums_.stages().back(), steps_ - sums_.stages().back().first, *marks_);
}

void Lane::release_now(Releases& releases) const {
  NUSTREAM_REQUIRE(!is_half_taken_, half_taken);
  append_release(releases);
}

void Lane::append_release(Releases& releases) const {
  NUSTREAM_REQUIRE(steps_ > 0, "a release has a step behind it");
  const std::vector<double> covariance = stage_covariance(sums_, noise_, steps());
  Estimate found = estimate(sums_, frame_, covariance);
  Release release;
  release.steps = steps();
  release.position = position();
  release.records = steps_ * frame_.every;
  release.floored = found.floored;
  release.floor = found.floor;
  release.ridge = found.ridge;
  // Where units grow, stages begin at some of the listed steps alone, so those that there are get counted.
  release.stage = settings_.grows ? sums_.stages().size() - 1 : stage_number(settings_, sums_.stages().back().first);
  if (settings_.grows) release.grown = grown_inputs(sums_.stages());
  add_spread(covariance, found, release);
  add_structure(covariance, found, release);
  if (settings_.release_sums) {
    release.sums = combined(frame_.design, sums_.stages(), found.weights);
    if (frame_.design.shape.endogenous == 0) release.noise = gap_noise(sums_, frame_, covariance, found);
  }
  // This comes last, because everything above reads θ̂ in the newest stage's units.
  release.theta = in_working_units(std::move(found.theta), sums_.stages().back());
  releases.push_back(std::move(release));
}

/// Adds the status, and the variances unless it says that something moves.
void Lane::add_spread(std::span<const double> covariance, const Estimate& found, Release& release) const {
  if (frame_.design.spread == Spread::none) return;
  if (marks_ && settings_.tells_status) {
    release.status = sums_status(sums_, frame_, noise_of_parts_, *marks_, covariance, found, steps());
    if (release.status->verdict != inference::Verdict::settled) return;
  }
  const StageSums& newest = sums_.stages().back();
  const std::vector<double> directions =
      directions_in_units_of(newest, settings_.directions, frame_.design.shape.inputs);
  auto known = target_variances(sums_, frame_, covariance, found, steps(), directions);
  if (known) release.variances = *std::move(known);
}

/// Adds the solution of two-stage least squares with the strength of its instruments and, for one endogenous
/// regressor, the Anderson–Rubin set.
void Lane::add_structure(std::span<const double> covariance, const Estimate& found, Release& release) const {
  const std::size_t endogenous = frame_.design.shape.endogenous;
  if (endogenous == 0) return;
  release.structural = structural(sums_, frame_, covariance, found, settings_.controls, steps());
  if (endogenous > 1) return;
  release.set =
      anderson_rubin(sums_, frame_, covariance, found, settings_.controls, steps(), settings_.anderson_rubin);
}

}  // namespace nustream::moments
