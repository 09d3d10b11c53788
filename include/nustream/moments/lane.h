// The state machine of one lane of running sums: (state, rows, noise) → (state, releases). It does no I/O, reads no
// clock and draws no random numbers. It is the counterpart of lane/lane.h for models that are solved instead of
// descended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/sandwich.h"
#include "nustream/moments/batch_sums.h"
#include "nustream/moments/budget.h"
#include "nustream/moments/estimate.h"
#include "nustream/moments/gap_noise.h"
#include "nustream/moments/growth.h"
#include "nustream/moments/instruments.h"
#include "nustream/moments/running_sums.h"
#include "nustream/moments/stage_noise.h"
#include "nustream/moments/steadiness.h"
#include "nustream/noise/grid.h"
#include "nustream/record/batch.h"
#include "nustream/users/changes.h"
#include "nustream/users/contribution.h"

namespace nustream::moments {

/// A stage that begins at step `first`, about the estimate of that time, with these radii. Where units grow
/// (Settings::grows), the units are looked at there, only the first stage's radii are used, and a stage begins only
/// if other units suit the stream.
struct StageStart {
  std::uint64_t first = 0;  ///< a step
  Radii radii;
};

/// The public settings that decide what a release becomes.
struct Settings {
  /// participation.batch is `every`, the records of a step. With users it must be a linear model without a spread,
  /// and no part of its rows may be public.
  Mechanism mechanism;
  std::vector<NoiseMultiplier> sigmas;  ///< multipliers of the noised blocks, in their order
  std::vector<StageStart> stages;       ///< rising; the first begins at step 0, about `start`
  /// Steps from one further stage to the next, after the last listed one and with its radii; 0: there are none. Only
  /// sums that forget may have further stages: plain ones keep every stage for ever, so their list must end.
  std::uint64_t repeat_every = 0;
  /// N, the number of records that the sums remember: each step keeps κ = 1 − every/N of what was. Empty: all of
  /// them.
  std::optional<std::uint64_t> memory{};
  std::vector<double> start;  ///< θ_c of the first stage: inputs × responses
  Weighting weighting{};
  std::optional<std::size_t> constant{};  ///< the input that is 1 in every usable row
  bool release_sums = false;              ///< shows H, gap and centre in every release
  /// What variances are about: rows a of aᵀθ, row-major · × inputs. Empty: the coefficients themselves.
  std::vector<double> directions{};
  std::size_t controls = 0;      ///< for instrumental variables: how many of the first inputs are no instruments
  double anderson_rubin = 0.95;  ///< level of the set of one endogenous regressor's effect
  /// Whether earlier sums of the newest stage are kept, from which its status is computed. It needs plain sums of a
  /// linear model with a spread. A lane that goes on from a state without them keeps none.
  bool keeps_marks = false;
  bool tells_status = true;  ///< where marks are kept, whether releases have a status, and withhold variances by it
  /// Whether the units of later stages follow from the noisy sums before them (growth.h), for settings that were
  /// found on a first part of a stream. It needs plain sums of a linear model with a constant, whose sums are not
  /// released. No more than grown_stages_max stages begin.
  bool grows = false;
};

/// How many numbers a row has.
[[nodiscard]] std::size_t row_entries(const Settings& settings);
/// The grids that the noise of the noised blocks is rounded to, in units of their radii. A lane is handed noise on
/// these grids. Throws InvalidParameter where a grid would be too fine or too coarse for 64-bit noise.
[[nodiscard]] std::vector<noise::Grid> grids(const Settings& settings);

/// What one release shows, in the working coordinates of the rows.
struct Release {
  StepCount steps{0};
  Position position{0};           ///< position of the next record
  std::uint64_t records = 0;      ///< number of records, usable or not
  std::vector<double> theta;      ///< inputs × responses, column by column
  std::size_t floored = 0;        ///< directions that noise hides: the answer is a guess there, and must be marked
  double floor = 0;               ///< λ, to which eigenvalues of H are raised
  std::optional<double> ridge{};  ///< what is added to H's diagonal, if the solution is AdaSSP's
  std::size_t stage = 0;          ///< stage of the last step, counted from 0
  std::optional<std::vector<GrownInput>> grown{};  ///< where units grow, the inputs whose scales have grown
  /// The variances of the settings' directions; empty where they are withheld (interval.h).
  std::vector<inference::EstimatedVariance> variances;
  std::optional<SumsStatus> status{};  ///< where marks are kept; variances are withheld unless it is `settled`
  std::optional<NormalEquations> sums{};
  std::optional<GapNoise> noise{};  ///< noise of `sums`, if they are those of a linear model
  /// For instrumental variables; empty where noise hides a direction of the instruments.
  std::optional<Structural> structural{};
  std::optional<AndersonRubinSet> set{};  ///< for one endogenous regressor, if the noise of its sums is known
};
using Releases = std::vector<Release>;

/// One lane of running sums. A step takes `every` records, and each step is followed by a release. Where a stage
/// begins, its centre is the estimate of that release.
///
/// Guarantee: everything in a release, in the centres and in the scales is a function of noisy sums, public settings
/// and public counts. Each record enters the sums of one step, and moves all blocks at once by at most their radii.
/// Under the mechanism's correlation and noise the sequence of all releases costs what moments::Spend says, or for
/// users what users::spend() says. Adaptive centres, radii and scales are included (CDP+ Theorem 1.1), because none
/// of a step reads the rows of that step or of a later one.
class Lane {
 public:
  /// A lane at step 0. Throws InvalidParameter where a setting is out of range or where sizes disagree.
  Lane(Settings settings, Position start);

  /// Puts the first stage about `centre` in place of the settings' start; called at step 0, before any row was taken.
  /// The guarantee holds if `centre` is a function of what is public before the first row is taken, such as another
  /// run's releases. Throws InvalidParameter where it has another size or lies too far away.
  void begin_about(std::span<const double> centre);

  /// Takes any number of rows, and closes each step whose last record is among them. For each noised block, in their
  /// order, `noise` must hold at least as many steps as are closed; the first of them is the lane's next step.
  ///
  /// Where the unit is the user, the rows say whose they are, and the sums of a step are over users, each of whose
  /// own sums is shortened to a length of at most 1. What users use up of their limits goes into `users`; otherwise
  /// `users` is not looked at. Where the limits hold within windows of time, the rows have times, and `clock` is the
  /// clock of the lane.
  ///
  /// An exception, such as of a table of users whose disk fails, leaves the lane between two states. It must then be
  /// dropped: a further advance(), release_now() or encode() ends the process, since it would show steps of which
  /// nothing is charged.
  void advance(const record::RowSlice& rows, std::span<const noise::GridNoise> noise, Releases& releases,
               users::Changes* users = nullptr, users::WindowClock* clock = nullptr);

  /// Appends the release of the last step once more. There must have been a step.
  void release_now(Releases& releases) const;

  [[nodiscard]] StepCount steps() const noexcept { return StepCount{steps_}; }
  [[nodiscard]] Position position() const noexcept { return Position{position_}; }
  /// How many records the open step has so far. They are in no state, since a lane is encoded between steps.
  [[nodiscard]] std::uint64_t open_records() const noexcept { return batch_.records(); }
  [[nodiscard]] const RunningSums& sums() const noexcept { return sums_; }
  /// How many rows, since construction, were scaled down, and for how many the residual was clipped; for users, how
  /// many contributions were shortened. Only the operator may see these numbers.
  [[nodiscard]] std::uint64_t scaled() const noexcept { return batch_.scaled(); }
  [[nodiscard]] std::uint64_t clipped() const noexcept { return by_user_ ? by_user_->clipped() : batch_.clipped(); }
  /// How many contributions users made to all steps since construction; 0 where the unit is not the user. Only the
  /// operator may see it.
  [[nodiscard]] std::uint64_t contributions() const noexcept { return by_user_ ? by_user_->settled() : 0; }
  /// How many records, since construction, did not count because the limits of their users were used up; 0 where the
  /// unit is not the user. Only the operator may see it.
  [[nodiscard]] std::uint64_t beyond_limits() const noexcept { return by_user_ ? by_user_->beyond_limits() : 0; }

  /// The canonical bytes of the state (docs/formats/moments.md). No record may be in an open step.
  [[nodiscard]] std::string encode() const;
  /// The lane whose encode() gave `bytes`. Throws InvalidParameter where they are not such bytes, or belong to other
  /// settings.
  static Lane decode(Settings settings, std::string_view bytes);

 private:
  void add_structure(std::span<const double> covariance, const Estimate& found, Release& release) const;
  void begin_step();
  void grow();
  /// About which centre a stage begins.
  enum class Centre { estimate, shrunken, same };
  void begin_stage(const Radii& radii, std::vector<double> scales, Centre about);
  void require_noise(std::span<const noise::GridNoise> noise, std::size_t records) const;
  void add(const record::RowSlice& rows, std::size_t within, const users::Changes* users);
  void settle(users::Changes& users);
  void close_step(std::span<const noise::GridNoise> noise, std::uint64_t index);
  void append_release(Releases& releases) const;
  void add_spread(std::span<const double> covariance, const Estimate& found, Release& release) const;

  Settings settings_;
  Frame frame_;
  Spacings spacings_;
  BatchSums batch_;
  std::optional<users::StepContributions> by_user_;
  std::vector<double> row_;          // contribution of one row
  std::vector<std::int64_t> units_;  // units of a step's users
  RunningSums sums_;
  StageNoise noise_;
  StageNoise noise_of_parts_;               // for parts of the newest stage
  std::optional<std::vector<Mark>> marks_;  // of the newest stage
  std::optional<Looked> looked_;            // where units grow
  std::uint64_t steps_ = 0;
  std::uint64_t position_ = 0;
  bool is_half_taken_ = false;  // advance() has begun and has not come to its end
};

/// An upper bound on the bytes of any Lane::encode() under these settings, however long the stream is: it counts all
/// stages that are kept at once. It is for callers that must know how much room a state needs. Throws as Lane's
/// constructor does.
[[nodiscard]] std::size_t encoded_bytes_max(const Settings& settings);

}  // namespace nustream::moments
