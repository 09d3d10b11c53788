// The lane's state machine: checks of settings that stages share, the loop that the settings ask for, and advance(),
// which takes rows with their noise and appends releases. Encoding is in encoding.cpp.
#include "nustream/lane/lane.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::lane {

// A matrix parameter has a column for each predictor, and all columns are over the same row.
std::size_t row_entries(const Settings& settings) {
  if (settings.first_stage) return settings.first_stage->shape.row();
  return settings.dimension / model::predictors(settings.loss);
}

// The order of stages is that of their grids and their noise everywhere. The count of clipped gradients is the last
// one, and the moments come before it; bread_stage() relies on this.
//
// For example, a linear descent with sandwich intervals and a count has the stages 0 descent, 1 second moments, 2
// residual moments and 3 clipped gradients. Their costs add up.
std::vector<Stage> stages(const Settings& settings) {
  const auto& first = settings.first_stage;
  std::vector<Stage> all{{settings.dimension, settings.clip, "descent"}};
  if (first) all.front() = {first->shape.second_stage(), settings.clip, "second stage"};
  if (first && first->clip) all.push_back({first->shape.first_stage(), *first->clip, "first stage"});
  if (settings.moments) {
    const std::size_t triangle = descent::triangle_size(row_entries(settings));
    all.push_back({triangle, settings.moments->bread, "second moments"});
    if (settings.moments->meat) all.push_back({triangle, *settings.moments->meat, "residual moments"});
  }
  if (settings.counts_clipped) all.push_back({1, ClipNorm{1}, "clipped gradients", true});
  return all;
}

namespace {

// The number of steps whose sizes and gains are computed ahead of the loop that uses them.
constexpr std::uint64_t steps_ahead = 256;

constexpr const char* half_taken = "a lane whose rows ended by an exception is dropped";

void check_moments(const Settings& settings) {
  if (!settings.moments) return;
  // Bread and meat are those of least squares, whose residual is θᵀx − y.
  if (settings.loss.kind != model::Loss::Kind::linear) {
    throw InvalidParameter("moments", "beside another loss", "only the linear loss");
  }
  // A residual of the second stage alone would not show what the first stage adds to the variance.
  if (settings.first_stage && settings.moments->meat) {
    throw InvalidParameter("meat", "beside a first stage", "none");
  }
}

void check_momentum(const Settings& settings) {
  if (settings.momentum > 0 && settings.first_stage) {
    throw InvalidParameter("momentum", "beside a first stage", "0: two stages take plain steps");
  }
}

// Only users::Loop bounds what a user contributes. Two stages and second moments are summed record by record.
void check_users(const Settings& settings) {
  if (!settings.users) return;
  if (settings.first_stage) throw InvalidParameter("users", "beside a first stage", "one stage");
  if (settings.moments) throw InvalidParameter("users", "beside second moments", "none");
}

// A two-stage model clips two gradients of a record, but the count is charged for a record that adds at most 1.
void check_count(const Settings& settings) {
  if (settings.counts_clipped && settings.first_stage) {
    throw InvalidParameter("counts_clipped", "beside a first stage", "false");
  }
}

void check_batching(const Settings& settings) {
  if (!settings.batching) return;
  descent::check(*settings.batching);
  // A batch's mean is computed from the tail average at its end (descent/batch_means.h), so both begin at one step.
  if (settings.averaging.kind != descent::Averaging::Kind::tail ||
      settings.averaging.from != settings.batching->from) {
    throw InvalidParameter("batching", "without a tail average", "a tail average from the same step");
  }
}

/// The place of the bread among the stages.
std::size_t bread_stage(const Settings& settings, std::size_t stages) {
  return stages - (settings.counts_clipped ? 1 : 0) - (settings.moments->meat ? 2 : 1);
}

// The noise is scaled for the clip norms. A grid that clips at a larger norm would let a record weigh more than Δ.
void check_grids(const Settings& settings, std::span<const noise::Grid> grids) {
  const std::vector<Stage> all = stages(settings);
  if (grids.size() != all.size()) {
    throw InvalidParameter("grids", std::to_string(grids.size()), "one for each stage");
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!(grids[i].clip_radius() <= all[i].clip.value())) {
      throw InvalidParameter("grid", "a clip radius above the clip norm", "the grid of the same clip norm");
    }
  }
}

const Settings& checked(const Settings& settings, std::span<const noise::Grid> grids) {
  if (settings.dimension == 0) throw InvalidParameter("dimension", "0", "at least one coefficient");
  if (settings.start.size() != settings.dimension) {
    throw InvalidParameter("start", std::to_string(settings.start.size()) + " entries",
                           std::to_string(settings.dimension) + " entries (the number of coefficients)");
  }
  if (settings.release_every == 0) throw InvalidParameter("release_every", "0", "at least one step");
  if (settings.minibatch == 0) throw InvalidParameter("minibatch", "0", "at least one record");
  check_moments(settings);
  check_users(settings);
  check_momentum(settings);
  check_count(settings);
  check_batching(settings);
  check_grids(settings, grids);
  return settings;
}

/// A step with the noise of another step, or without noise, would break the promise. So these are contracts.
void check_noise(std::span<const Stage> stages, std::uint64_t steps_taken, std::uint64_t steps,
                 std::span<const noise::GridNoise> noise) {
  NUSTREAM_REQUIRE(noise.size() == stages.size(), "every stage has its own noise");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    NUSTREAM_REQUIRE(noise[i].dimension == stages[i].dimension, "noise has its stage's dimension");
    NUSTREAM_REQUIRE(noise[i].first.value() == steps_taken, "noise begins at the lane's next step");
    NUSTREAM_REQUIRE(noise[i].units.size() / noise[i].dimension >= steps, "every step of a batch has its own noise");
  }
}

}  // namespace

Lane::Loop Lane::make_loop(const Settings& settings, std::span<const noise::Grid> grids) {
  if (settings.first_stage) {
    const descent::TwoStageRule rule{settings.first_stage->shape, settings.l2, settings.first_stage->l2,
                                     settings.projection, settings.minibatch};
    const noise::Grid* const first = settings.first_stage->clip ? &grids[1] : nullptr;
    return descent::TwoStageLoop(rule, grids[0], first, settings.start);
  }
  descent::StepRule rule{settings.loss, settings.l2, settings.projection, settings.minibatch, settings.momentum};
  // Users come before the kind of loss: their loop handles losses of several predictors as well.
  if (settings.users) return users::Loop(rule, grids[0], settings.start, *settings.users);
  if (settings.loss.kind == model::Loss::Kind::multinomial)
    return descent::MatrixLoop(rule, grids[0], settings.start);
  return descent::Loop(rule, grids[0], settings.start);
}

Lane::Lane(Settings settings, std::span<const noise::Grid> grids, Position start)
    : settings_(std::move(settings)),
      stages_(stages(checked(settings_, grids))),
      row_entries_(row_entries(settings_)),
      position_(start.value()),
      loop_(make_loop(settings_, grids)),
      average_(settings_.averaging, settings_.dimension) {
  if (settings_.batching) batches_.emplace(*settings_.batching, settings_.dimension);
  if (settings_.trail) trail_.emplace(*settings_.trail, settings_.dimension);
  if (settings_.moments) {
    const std::size_t bread = bread_stage(settings_, grids.size());
    moments_.emplace(grids[bread], settings_.moments->meat ? &grids[bread + 1] : nullptr, row_entries_,
                     settings_.minibatch, settings_.moments->from);
  }
  if (settings_.counts_clipped) clipped_count_.emplace(grids.back(), settings_.release_every);
}

// An epoch that goes on from a release begins with what that release shows, so `from` is public.
void Lane::go_on_from(const Carried& from) {
  NUSTREAM_REQUIRE(steps_ == 0, "a lane goes on from another run at its first step");
  const bool is_finite = std::ranges::all_of(from.theta, [](double entry) { return std::isfinite(entry); });
  if (from.theta.size() != settings_.dimension || !is_finite) {
    throw InvalidParameter("start", std::to_string(from.theta.size()) + " entries",
                           "as many numbers as the iterate has entries");
  }
  // The other run may have had other bounds.
  std::vector<double> theta = from.theta;
  settings_.projection.apply(theta);
  std::visit([&](auto& loop) { loop.set_theta(theta); }, loop_);
  // Intervals are taken around an average of this run's own iterates, so such an average begins anew.
  const bool kept =
      settings_.averaging.kind != descent::Averaging::Kind::last && !settings_.batching && !settings_.moments;
  if (kept && !from.average.empty()) average_.go_on_from(from.average_weight, from.average);
}

void Lane::advance(const record::RowSlice& rows, Noise noise, Releases& releases, users::Changes* users,
                   users::WindowClock* clock) {
  NUSTREAM_REQUIRE(!settings_.users || (users != nullptr && (rows.users != nullptr || rows.count == 0)),
                   "where the unit is the user, rows say whose they are");
  NUSTREAM_REQUIRE(!settings_.users || !settings_.users->windows() ||
                       (clock != nullptr && (rows.times != nullptr || rows.count == 0)),
                   "where limits hold within windows, rows say when they came");
  NUSTREAM_REQUIRE(rows.dimension == row_entries_, "rows have the lane's dimension");
  NUSTREAM_REQUIRE(rows.count % settings_.minibatch == 0, "a batch ends where a minibatch ends");
  NUSTREAM_REQUIRE(!is_half_taken_, half_taken);
  const std::uint64_t steps = rows.count / settings_.minibatch;
  check_noise(stages_, steps_, steps, noise);
  // If anything below throws, steps_ and the iterate may no longer belong together, and no state may be made of them.
  is_half_taken_ = true;
  // A stretch ends where a release, a batch of iterates or the prepared step sizes end, so that each is exactly at
  // its step.
  for (std::uint64_t taken = 0; taken < steps;) {
    const std::uint64_t to_release = steps_to_next_release();
    const std::uint64_t count = std::min({steps - taken, to_release, steps_to_next_mark(), steps_ahead});
    take_steps(rows, noise, users, clock, taken, count);
    taken += count;
    // Positions may have gaps, as offsets of a topic do. Rows that know what comes behind them say so.
    position_ =
        rows.next == nullptr ? position_ + count * settings_.minibatch : rows.next[taken * settings_.minibatch - 1];
    // A batch closes before the release of the same step, which may show it.
    pass_marks();
    if (count != to_release) continue;
    // The release comes before the mark is passed: it still shows the stretch that the mark would shorten.
    append_release(releases);
    if (clipped_count_) clipped_count_->pass(this->steps());
  }
  is_half_taken_ = false;
}

std::uint64_t Lane::steps_to_next_release() const noexcept {
  return settings_.release_every - steps_ % settings_.release_every;
}

/// The number of steps up to the one at which a batch of iterates closes or the trail takes an iterate, or 1 where
/// second moments need every iterate.
std::uint64_t Lane::steps_to_next_mark() const noexcept {
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();
  if (batches_) steps = std::min(steps, batches_->next_boundary().value() - steps_);
  if (trail_) steps = std::min(steps, trail_->next().value() - steps_);
  if (moments_) steps = 1;
  return steps;
}

void Lane::pass_marks() {
  if (batches_ && batches_->next_boundary() == this->steps()) batches_->close(average_.value());
  if (trail_ && trail_->next() == this->steps()) trail_->pass(theta());
}

// Takes `count` steps, beginning with step `begin` of the rows.
void Lane::take_steps(const record::RowSlice& rows, Noise noise, users::Changes* users, users::WindowClock* clock,
                      std::uint64_t begin, std::uint64_t count) {
  std::array<double, steps_ahead> sizes;
  std::array<double, steps_ahead> first_sizes;
  std::array<double, steps_ahead> gains;
  // Sizes and gains follow from step numbers alone, so they can be prepared before a row is looked at.
  settings_.schedule.sizes(StepIndex{steps_}, std::span(sizes).first(count));
  if (settings_.first_stage) {
    settings_.first_stage->schedule.sizes(StepIndex{steps_}, std::span(first_sizes).first(count));
  }
  average_.weigh(this->steps(), std::span(gains).first(count));
  const std::size_t first_row = begin * settings_.minibatch;
  const std::size_t row_count = count * settings_.minibatch;
  const std::span<const double> x{rows.x + first_row * row_entries_, row_count * row_entries_};
  const std::span<const double> y{rows.y + first_row, row_count};
  const std::span<const double> weights = rows.weights_of(first_row, row_count);
  const auto of_stage = [&](std::size_t stage) {
    return noise[stage].units.subspan(begin * noise[stage].dimension, count * noise[stage].dimension);
  };
  // What is clipped from here on enters the count below, together with the noise of these very steps.
  const std::uint64_t counted_before = counted();
  // The moments come first: their residuals are those of the iterate before the step.
  if (moments_) take_moments(rows, noise, begin);
  const std::span<const double> step_sizes = std::span(sizes).first(count);
  const std::span<const double> average_gains = std::span(gains).first(count);
  if (auto* two_stage = std::get_if<descent::TwoStageLoop>(&loop_)) {
    const auto first_noise = settings_.first_stage->clip ? of_stage(1) : std::span<const std::int64_t>{};
    two_stage->run(
        {x, y, of_stage(0), first_noise, step_sizes, std::span(first_sizes).first(count), average_gains, weights},
        average_.memory());
  } else if (auto* matrix = std::get_if<descent::MatrixLoop>(&loop_)) {
    matrix->run({x, y, of_stage(0), step_sizes, average_gains, weights}, average_.memory());
  } else if (auto* of_users = std::get_if<users::Loop>(&loop_)) {
    // Limits that hold for ever need no clock, whoever passes one.
    if (!settings_.users->windows()) clock = nullptr;
    const std::span<const double> times =
        clock == nullptr ? std::span<const double>() : std::span(rows.times + first_row, row_count);
    of_users->run({x, y, of_stage(0), step_sizes, average_gains, weights}, {rows.users + first_row, row_count},
                  *users, StepIndex{steps_}, average_.memory(), times, clock);
  } else {
    std::get<descent::Loop>(loop_).run({x, y, of_stage(0), step_sizes, average_gains, weights}, average_.memory());
  }
  if (clipped_count_) clipped_count_->add(counted() - counted_before, of_stage(noise.size() - 1));
  steps_ += count;
}

/// Adds one step to the moments, before it is taken, so that the residuals are those of its own gradients.
void Lane::take_moments(const record::RowSlice& rows, Noise noise, std::uint64_t begin) {
  const std::size_t triangle = descent::triangle_size(row_entries_);
  const bool with_meat = settings_.moments->meat.has_value();
  const std::size_t bread = bread_stage(settings_, noise.size());
  const auto of_step = [&](const noise::GridNoise& stage) { return stage.units.subspan(begin * triangle, triangle); };
  const std::size_t row = begin * settings_.minibatch;
  moments_->step({rows.x + row * row_entries_, settings_.minibatch * row_entries_},
                 {rows.y + row, settings_.minibatch}, theta(), rows.weights_of(row, settings_.minibatch),
                 of_step(noise[bread]), with_meat ? of_step(noise[bread + 1]) : std::span<const std::int64_t>{},
                 steps());
}

// A release outside the cadence. It passes no mark: marks stand at releases by cadence.
void Lane::release_now(Releases& releases) const {
  NUSTREAM_REQUIRE(!is_half_taken_, half_taken);
  append_release(releases);
}

void Lane::append_release(Releases& releases) const {
  Release release{.steps = steps(),
                  .position = position(),
                  .theta = theta(),
                  .average = average_.value(),
                  .average_weight = average_.weight(),
                  .overshoots = settings_.overshoots};
  if (batches_ && settings_.batching->shown) {
    release.batch_means = batches_->means();
    release.batch_length = batches_->length();
    release.batches_through = batches_->through();
  }
  if (trail_ && settings_.trail->shown) {
    release.trail = trail_->whole_pairs();
    release.trail_distance = trail_->distance();
  }
  if (moments_) {
    release.bread = moments_->bread();
    release.meat = moments_->meat();
    release.moment_steps = moments_->count(steps());
  }
  // Before the first step there is no noise in the count, so nothing of it is shown.
  if (clipped_count_ && steps_ > 0) {
    release.clipped = ClippedStretch{descent::clipped_since(steps(), settings_.release_every), clipped_count_->sum()};
  }
  releases.append(release);
}

StepCount Lane::steps() const noexcept {
  return StepCount{steps_};
}
Position Lane::position() const noexcept {
  return Position{position_};
}
std::span<const double> Lane::theta() const noexcept {
  return std::visit([](const auto& loop) { return loop.theta(); }, loop_);
}
std::uint64_t Lane::contributions() const noexcept {
  const auto* of_users = std::get_if<users::Loop>(&loop_);
  return of_users == nullptr ? 0 : of_users->contributions();
}
std::uint64_t Lane::beyond_limits() const noexcept {
  const auto* of_users = std::get_if<users::Loop>(&loop_);
  return of_users == nullptr ? 0 : of_users->beyond_limits();
}
std::uint64_t Lane::clipped() const noexcept {
  return std::visit([](const auto& loop) { return loop.clipped(); }, loop_);
}
/// How many gradients enter the count. For users it is the contributions that were charged in full, so that a user
/// adds no more than it is charged.
std::uint64_t Lane::counted() const noexcept {
  const auto* of_users = std::get_if<users::Loop>(&loop_);
  return of_users == nullptr ? clipped() : of_users->clipped_in_full();
}

}  // namespace nustream::lane
