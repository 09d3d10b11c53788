// The state machine of one lane of running sums: (state, rows, noise) → (state, releases). No I/O, no clock, no
// randomness. The counterpart of lane/lane.h for models that are solved instead of descended.
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
#include "nustream/moments/instruments.h"
#include "nustream/moments/running_sums.h"
#include "nustream/moments/stage_noise.h"
#include "nustream/noise/grid.h"
#include "nustream/record/batch.h"
#include "nustream/users/changes.h"
#include "nustream/users/contribution.h"

namespace nustream::moments {

/// From step `first` on, about the estimate of that time, with these radii.
struct StageStart {
  std::uint64_t first = 0;  ///< step
  Radii radii;
};

/// Public settings that decide what a release becomes.
struct Settings {
  /// participation.batch is `every`: records of a step. With users a linear model without a spread, no part of whose
  /// rows is public.
  Mechanism mechanism;
  std::vector<NoiseMultiplier> sigmas;  ///< of the noised blocks, in their order
  std::vector<StageStart> stages;       ///< rising; the first at step 0, about `start`
  /// Steps between further stages behind the last listed one, with its radii; 0: none. For sums that forget alone:
  /// plain ones keep every stage for ever, so that their list has an end.
  std::uint64_t repeat_every = 0;
  /// N: records that the sums remember, each step keeping κ = 1 − every/N of what was; empty: all of them.
  std::optional<std::uint64_t> memory{};
  std::vector<double> start;  ///< θ_c of the first stage: inputs × responses
  Weighting weighting{};
  std::optional<std::size_t> constant{};  ///< the input that is 1 in every usable row
  bool release_sums = false;              ///< H, gap and centre in every release
  /// What variances are about: rows a of aᵀθ, row-major · × inputs; empty: the coefficients themselves.
  std::vector<double> directions{};
  std::size_t controls = 0;      ///< of instrumental variables: the first inputs, that are no instruments
  double anderson_rubin = 0.95;  ///< level of the set of one endogenous regressor's effect
};

/// Numbers of a row.
[[nodiscard]] std::size_t row_entries(const Settings& settings);
/// The grids of the noised blocks' noise, in units of their radii: what the noise that a lane is handed is rounded
/// on. Throws InvalidParameter where a grid would be too fine or too coarse for 64-bit noise.
[[nodiscard]] std::vector<noise::Grid> grids(const Settings& settings);

/// What one release shows, in the working coordinates of the rows.
struct Release {
  StepCount steps{0};
  Position position{0};           ///< where the next record is
  std::uint64_t records = 0;      ///< usable or not
  std::vector<double> theta;      ///< inputs × responses, column by column
  std::size_t floored = 0;        ///< directions that noise hides: the answer is a guess there, and is to be marked
  double floor = 0;               ///< λ, to which eigenvalues of H are raised
  std::optional<double> ridge{};  ///< what is added to H's diagonal, where the solution is AdaSSP's
  std::size_t stage = 0;          ///< of the last step, from 0
  /// Of the settings' directions; empty where they are withheld (interval.h).
  std::vector<inference::EstimatedVariance> variances;
  std::optional<NormalEquations> sums{};
  std::optional<GapNoise> noise{};  ///< of `sums`, where they are of a linear model
  /// Of instrumental variables: empty where noise hides a direction of the instruments.
  std::optional<Structural> structural{};
  std::optional<AndersonRubinSet> set{};  ///< of one endogenous regressor, where the noise of its sums is known
};
using Releases = std::vector<Release>;

/// One lane of running sums. A step takes `every` records; after each step there is a release, and where a stage
/// begins its centre is the estimate of that release.
///
/// Guarantee: everything in a release and in the centres is a function of noisy sums, public settings and public
/// counts; each record enters one step's sums, by at most its block's radius and all blocks at once. Under the
/// mechanism's correlation and noise the sequence of all releases costs what moments::Spend says, adaptive centres
/// included, and of users what users::spend() says (CDP+ Theorem 1.1): no centre of a step reads that step's rows or
/// a later one's.
class Lane {
 public:
  /// A lane at step 0. Throws InvalidParameter where a setting is out of range or sizes disagree.
  Lane(Settings settings, Position start);

  /// At step 0: the first stage is about `centre` in place of the settings' start. The guarantee stands where
  /// `centre` is a function of what is public before the first row is taken, such as another run's releases. Throws
  /// InvalidParameter where it has another size or lies too far away. Contract: no row was taken.
  void begin_about(std::span<const double> centre);

  /// Takes the rows, any number of them, and closes each step whose last record is among them: `noise` holds, for
  /// each noised block in their order, at least as many steps as close, the first of them the lane's next step
  /// (contract). Where the unit is the user, rows say whose they are, a step's sums are over users, each of whose own
  /// sums is shortened to a length of at most 1, and what users use up goes into `users`; else it is not looked at.
  /// Where their limits hold within windows of time, rows have times, and `clock` is the lane's.
  void advance(const record::RowSlice& rows, std::span<const noise::GridNoise> noise, Releases& releases,
               users::Changes* users = nullptr, users::WindowClock* clock = nullptr);

  /// The last step's release once more. Contract: there was a step.
  void release_now(Releases& releases) const;

  [[nodiscard]] StepCount steps() const noexcept { return StepCount{steps_}; }
  [[nodiscard]] Position position() const noexcept { return Position{position_}; }
  /// Records of the step that is not closed yet. They are in no state: one encodes a lane between steps.
  [[nodiscard]] std::uint64_t open_records() const noexcept { return batch_.records(); }
  [[nodiscard]] const RunningSums& sums() const noexcept { return sums_; }
  /// Rows, since construction, whose inputs were scaled down, and whose residual was clipped; of users, contributions
  /// that were shortened. Operator side only.
  [[nodiscard]] std::uint64_t scaled() const noexcept { return batch_.scaled(); }
  [[nodiscard]] std::uint64_t clipped() const noexcept { return by_user_ ? by_user_->clipped() : batch_.clipped(); }
  /// Where the unit is the user, users' contributions to all steps since construction; else 0. Operator side only.
  [[nodiscard]] std::uint64_t contributions() const noexcept { return by_user_ ? by_user_->settled() : 0; }

  /// Canonical bytes of the state (docs/formats/moments.md). Contract: no record is open.
  [[nodiscard]] std::string encode() const;
  /// The lane whose encode() gave `bytes`. Throws InvalidParameter where they are not such bytes, or belong to other
  /// settings.
  static Lane decode(Settings settings, std::string_view bytes);

 private:
  void add_structure(std::span<const double> covariance, const Estimate& found, Release& release) const;
  void begin_step();
  void require_noise(std::span<const noise::GridNoise> noise, std::size_t records) const;
  void add(const record::RowSlice& rows, std::size_t within, const users::Changes* users);
  void settle(users::Changes& users);
  void close_step(std::span<const noise::GridNoise> noise, std::uint64_t index);

  Settings settings_;
  Frame frame_;
  Spacings spacings_;
  BatchSums batch_;
  std::optional<users::StepContributions> by_user_;
  std::vector<double> row_;          // a row's contribution
  std::vector<std::int64_t> units_;  // of a step's users
  RunningSums sums_;
  StageNoise noise_;
  std::uint64_t steps_ = 0;
  std::uint64_t position_ = 0;
};

/// Bytes that no Lane::encode() of these settings exceeds, however long the stream: of all stages that are kept at
/// once. For whoever has to know what a state fits into. Throws as Lane's constructor.
[[nodiscard]] std::size_t encoded_bytes_max(const Settings& settings);

}  // namespace nustream::moments
