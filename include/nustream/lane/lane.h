// The state machine of one lane: (state, rows, noise) → (state, releases). It does no I/O, reads no clock and draws
// no random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/descent/averaging.h"
#include "nustream/descent/batch_means.h"
#include "nustream/descent/clipped_count.h"
#include "nustream/descent/loop.h"
#include "nustream/descent/matrix_loop.h"
#include "nustream/descent/projection.h"
#include "nustream/descent/schedule.h"
#include "nustream/descent/second_moments.h"
#include "nustream/descent/trail.h"
#include "nustream/descent/two_stage_loop.h"
#include "nustream/model/loss.h"
#include "nustream/noise/grid.h"
#include "nustream/record/batch.h"
#include "nustream/users/changes.h"
#include "nustream/users/limits.h"
#include "nustream/users/loop.h"

namespace nustream::lane {

/// The first stage of a two-stage model (instrumental variables). The other settings are those of its second stage.
struct FirstStage {
  descent::TwoStageShape shape;
  /// γ1. It is empty only where instruments, controls and regressors are public and the target alone is private. The
  /// first stage then takes plain steps: it neither clips nor adds noise, and costs nothing (IV paper, Algorithm 3).
  /// If the rows were private, such a stage would carry each record, without noise, into the gradients of all others.
  std::optional<ClipNorm> clip;
  descent::Schedule schedule;
  double l2 = 0;
};

/// Running private means of xxᵀ, with x the whole row, and of r²xxᵀ, beside a linear descent. Sandwich intervals need
/// both of them; the strength of a first stage needs the first alone.
struct SecondMoments {
  ClipNorm bread;                ///< bound of ‖xxᵀ‖ = ‖x‖²
  std::optional<ClipNorm> meat;  ///< bound of r²‖x‖²; empty for two-stage models
  std::uint64_t from = 0;        ///< steps before the means begin
};

/// The public settings that decide what an iterate becomes.
struct Settings {
  std::size_t dimension = 0;  ///< number of entries of the iterate, all stages together
  model::Loss loss;
  double l2 = 0;  ///< strength λ of r(θ) = λ/2 ‖θ‖², added after clipping (the mean adds its own ½‖θ‖²)
  ClipNorm clip;
  descent::Schedule schedule;
  descent::Projection projection;
  descent::Averaging averaging;
  std::uint64_t minibatch = 1;      ///< nominal size; the sum is divided by it, never by a count
  std::uint64_t release_every = 1;  ///< steps from one release to the next
  std::vector<double> start;        ///< θ_0, dimension entries
  std::optional<FirstStage> first_stage{};
  std::optional<descent::Batching> batching{};    ///< for intervals; needs the tail average from the same step
  std::optional<SecondMoments> moments{};         ///< linear loss only
  std::optional<descent::TrailSettings> trail{};  ///< for a status of the last iterate
  /// The limits of each user, where the unit of privacy is the user. It excludes a first stage and moments.
  std::optional<users::Limits> users{};
  double momentum = 0;          ///< μ of heavy ball, 0 ≤ μ < 1 (descent/loop.h); 0 with a first stage
  bool counts_clipped = false;  ///< a stage counts the clipped gradients; excludes a first stage
  bool overshoots = false;      ///< by public settings the steps are too long for any path to settle
};

/// How many numbers a row has.
[[nodiscard]] std::size_t row_entries(const Settings& settings);

/// One stage: what it clips and adds noise to on its own.
struct Stage {
  std::size_t dimension;
  ClipNorm clip;
  std::string_view name;  ///< as plans print it
  /// Whether a record adds between 0 and the clip norm, in dimension 1. Another record in its place then moves the
  /// sum by no more than the clip norm, instead of twice that.
  bool is_one_sided = false;
};
/// The stages in the order of their noise. First comes the descent's own stage (for a two-stage model, its second
/// one), then the first stage where that is private, then the bread and the meat where they are kept, and last the
/// count of clipped gradients.
[[nodiscard]] std::vector<Stage> stages(const Settings& settings);

/// Where another run ended, in working coordinates. A lane may go on from there.
struct Carried {
  std::vector<double> theta{};    ///< dimension entries
  std::vector<double> average{};  ///< empty: no average
  double average_weight = 0;      ///< W of the average (descent/averaging.h)
};

/// How many gradients were clipped after `since` steps, with noise.
struct ClippedStretch {
  StepCount since;
  double sum;  ///< Σ (c_t + z_t), in gradients (descent/clipped_count.h)
};

/// What one release shows, in the working coordinates of the rows.
struct Release {
  StepCount steps;    ///< steps taken so far
  Position position;  ///< position of the next record
  std::span<const double> theta;
  std::span<const double> average;        ///< empty before averaging begins
  double average_weight = 0;              ///< number of iterates in it; for an exponential average the sum of their
                                          ///< weights
  std::span<const double> batch_means{};  ///< complete batches, row-major · × d; empty where none are kept
  std::uint64_t batch_length = 0;         ///< length of a batch in steps
  StepCount batches_through{0};           ///< step count at which the last complete batch ends
  std::span<const double> trail{};        ///< pairs of iterates at equal distances, row-major · × 2 × d
  std::uint64_t trail_distance = 0;       ///< their distance in steps; 0 where none are kept (descent/trail.h)
  bool overshoots = false;                ///< Settings::overshoots
  std::span<const double> bread{};  ///< isometric triangles (descent/second_moments.h), like `meat`; empty where none
                                    ///< are kept
  std::span<const double> meat{};
  std::uint64_t moment_steps = 0;           ///< number of steps in them
  std::optional<ClippedStretch> clipped{};  ///< empty where they are not counted, and before the first step
};

/// The releases of a batch in step order, in two flat buffers that are reused.
class Releases {
 public:
  void clear() noexcept;
  /// Copies what the spans of `release` show.
  void append(const Release& release);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] Release operator[](std::size_t index) const;

 private:
  struct Entry {
    Release shown;  // its spans are empty
    std::size_t offset;
    std::size_t sizes[5];
    // Many releases in a row have one trail, which is copied once.
    std::size_t trail_offset;
    std::size_t trail_size;
  };
  [[nodiscard]] bool has_trail_of_last(std::span<const double> trail) const noexcept;

  std::vector<Entry> entries_;
  std::vector<double> values_;
};

/// One lane. It works a batch at a time, with no virtual call, no lock and (apart from the releases) no allocation
/// per record.
class Lane {
 public:
  /// A lane at step 0, at position `start` and θ_0. `grids` holds the grid of each stage's noise, one for each stage.
  /// Throws InvalidParameter where a setting is out of range, where sizes disagree, or where a grid clips beyond the
  /// clip norm of its stage.
  Lane(Settings settings, std::span<const noise::Grid> grids, Position start);
  /// The same for a lane of one stage.
  Lane(Settings settings, const noise::Grid& grid, Position start)
      : Lane(std::move(settings), std::span(&grid, 1), start) {}

  /// Goes on from where another run ended; called at step 0. θ_0 becomes that iterate, moved to the nearest point
  /// that the projection allows, and the average goes on with the weight that it had. An average that intervals are
  /// taken around (batching, moments) does not go on, because it must be one of this lane's own iterates. Throws
  /// InvalidParameter for values that are not finite or have another dimension.
  void go_on_from(const Carried& from);

  /// Takes rows.count / minibatch steps, and appends a release after every `release_every`-th step. rows.count must
  /// be a multiple of minibatch. The noise of each stage must hold at least that many steps, of which the first is
  /// this lane's next step. The process ends where these contracts are broken.
  ///
  /// An exception, such as of a table of users whose disk fails, leaves the lane between two states. It must then be
  /// dropped: a further advance(), release_now() or encode() ends the process, since it would show steps of which
  /// nothing is charged.
  ///
  /// Where the unit is the user, the rows say whose they are, and what users use up of their limits goes into
  /// `users`; otherwise `users` is not looked at. Where the limits hold within windows of time, the rows have times,
  /// and `clock` is the clock of the lane.
  void advance(const record::RowSlice& rows, std::span<const noise::GridNoise> noise, Releases& releases,
               users::Changes* users = nullptr, users::WindowClock* clock = nullptr);
  /// The same for a lane of one stage.
  void advance(const record::RowSlice& rows, const noise::GridNoise& noise, Releases& releases) {
    advance(rows, std::span(&noise, 1), releases);
  }

  /// Appends the release that shows the present state, for an extra one at the end or on shutdown.
  void release_now(Releases& releases) const;

  [[nodiscard]] StepCount steps() const noexcept;
  [[nodiscard]] Position position() const noexcept;
  [[nodiscard]] std::span<const double> theta() const noexcept;
  /// How many records had a gradient longer than the clip norm, since construction. Only the operator may see it.
  [[nodiscard]] std::uint64_t clipped() const noexcept;
  /// How many contributions users made to all steps since construction, of which clipped() counts some; 0 where the
  /// unit is not the user. Only the operator may see it.
  [[nodiscard]] std::uint64_t contributions() const noexcept;
  /// How many records, since construction, did not count because the limits of their users were used up; 0 where the
  /// unit is not the user. Only the operator may see it.
  [[nodiscard]] std::uint64_t beyond_limits() const noexcept;

  /// The canonical bytes of the state (docs/formats/lane.md). Equal states give equal bytes on every machine.
  [[nodiscard]] std::string encode() const;
  /// The lane whose encode() gave `bytes`. Throws InvalidParameter where they are not such bytes, or have another
  /// dimension.
  static Lane decode(Settings settings, std::span<const noise::Grid> grids, std::string_view bytes);
  /// The same for a lane of one stage.
  static Lane decode(Settings settings, const noise::Grid& grid, std::string_view bytes) {
    return decode(std::move(settings), std::span(&grid, 1), bytes);
  }

 private:
  using Loop = std::variant<descent::Loop, descent::MatrixLoop, descent::TwoStageLoop, users::Loop>;
  using Noise = std::span<const noise::GridNoise>;

  [[nodiscard]] static Loop make_loop(const Settings& settings, std::span<const noise::Grid> grids);
  [[nodiscard]] std::uint64_t steps_to_next_release() const noexcept;
  [[nodiscard]] std::uint64_t steps_to_next_mark() const noexcept;
  void take_steps(const record::RowSlice& rows, Noise noise, users::Changes* users, users::WindowClock* clock,
                  std::uint64_t begin, std::uint64_t count);
  void take_moments(const record::RowSlice& rows, Noise noise, std::uint64_t begin);
  [[nodiscard]] std::uint64_t counted() const noexcept;
  void pass_marks();
  void append_release(Releases& releases) const;

  Settings settings_;
  std::vector<Stage> stages_;
  std::size_t row_entries_;
  std::uint64_t steps_ = 0;
  std::uint64_t position_ = 0;
  bool is_half_taken_ = false;  // advance() has begun and has not come to its end
  Loop loop_;
  descent::Average average_;
  std::optional<descent::BatchMeans> batches_;
  std::optional<descent::Trail> trail_;
  std::optional<descent::SecondMoments> moments_;
  std::optional<descent::ClippedCount> clipped_count_;
};

}  // namespace nustream::lane
