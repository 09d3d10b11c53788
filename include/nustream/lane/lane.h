// The state machine of one lane: (state, rows, noise) → (state, releases). No I/O, no clock, no randomness.
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
#include "nustream/descent/loop.h"
#include "nustream/descent/matrix_loop.h"
#include "nustream/descent/projection.h"
#include "nustream/descent/schedule.h"
#include "nustream/descent/second_moments.h"
#include "nustream/descent/two_stage_loop.h"
#include "nustream/model/loss.h"
#include "nustream/noise/grid.h"
#include "nustream/record/batch.h"
#include "nustream/users/changes.h"
#include "nustream/users/limits.h"
#include "nustream/users/loop.h"

namespace nustream::lane {

/// The first stage of a two-stage model (instrumental variables): the other settings are its second stage's.
struct FirstStage {
  descent::TwoStageShape shape;
  /// γ1. Empty only where instruments, controls and regressors are public and the target alone is private: the first
  /// stage then takes plain steps, clips and noises nothing and costs nothing (IV paper, Algorithm 3). Where they are
  /// private it would carry each record, noiselessly, into the gradients of all others.
  std::optional<ClipNorm> clip;
  descent::Schedule schedule;
  double l2 = 0;
};

/// Running private means of xxᵀ, x the whole row, and of r²xxᵀ beside a linear descent: both for sandwich intervals,
/// the first alone for the strength of a first stage.
struct SecondMoments {
  ClipNorm bread;                ///< of ‖xxᵀ‖ = ‖x‖²
  std::optional<ClipNorm> meat;  ///< of r²‖x‖²; not of two-stage models
  std::uint64_t from = 0;        ///< steps before the means begin
};

/// Public settings that decide what an iterate becomes.
struct Settings {
  std::size_t dimension = 0;  ///< entries of the iterate, of all stages
  model::Loss loss;
  double l2 = 0;  ///< strength λ of r(θ) = λ/2 ‖θ‖², added after clipping (the mean adds its own ½‖θ‖²)
  ClipNorm clip;
  descent::Schedule schedule;
  descent::Projection projection;
  descent::Averaging averaging;
  std::uint64_t minibatch = 1;      ///< nominal size; the sum is divided by it, never by a count
  std::uint64_t release_every = 1;  ///< steps
  std::vector<double> start;        ///< θ_0, dimension entries
  std::optional<FirstStage> first_stage{};
  std::optional<descent::Batching> batching{};  ///< for intervals; needs the tail average from the same step
  std::optional<SecondMoments> moments{};       ///< linear loss only
  /// Where the unit of privacy is the user: what each may do. Neither with a first stage nor with moments.
  std::optional<users::Limits> users{};
  double momentum = 0;  ///< μ of heavy ball, 0 ≤ μ < 1 (descent/loop.h); 0 with a first stage
};

/// Numbers of a row.
[[nodiscard]] std::size_t row_entries(const Settings& settings);

/// What a stage clips and noises on its own.
struct Stage {
  std::size_t dimension;
  ClipNorm clip;
  std::string_view name;  ///< as plans print it
};
/// In the order of their noise: the descent's own (of a two-stage model its second), then the first stage's where
/// there is a private one, then bread and meat where they are kept.
[[nodiscard]] std::vector<Stage> stages(const Settings& settings);

/// Where another run ended, in working coordinates: what a lane may go on from.
struct Carried {
  std::vector<double> theta{};    ///< dimension entries
  std::vector<double> average{};  ///< empty: none
  double average_weight = 0;      ///< W of the average (descent/averaging.h)
};

/// What one release shows, in the working coordinates of the rows.
struct Release {
  StepCount steps;    ///< steps taken
  Position position;  ///< where the next record is
  std::span<const double> theta;
  std::span<const double> average;        ///< empty before averaging begins
  double average_weight = 0;              ///< iterates in it; of an exponential average their weights' sum
  std::span<const double> batch_means{};  ///< complete batches, row-major · × d; empty where none are kept
  std::uint64_t batch_length = 0;         ///< steps
  StepCount batches_through{0};           ///< where the last complete batch ends
  std::span<const double> bread{};  ///< isometric triangles (descent/second_moments.h); empty where none are kept
  std::span<const double> meat{};
  std::uint64_t moment_steps = 0;  ///< steps in them
};

/// Releases of a batch, in step order, in two flat buffers that are reused.
class Releases {
 public:
  void clear() noexcept;
  /// Copies what the spans show.
  void append(const Release& release);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] Release operator[](std::size_t index) const;

 private:
  struct Entry {
    Release shown;  // its spans are empty
    std::size_t offset;
    std::size_t sizes[5];
  };
  std::vector<Entry> entries_;
  std::vector<double> values_;
};

/// One lane. Batch at a time: no virtual call, allocation (beyond the releases) or lock per record.
class Lane {
 public:
  /// A lane at step 0, position `start` and θ_0. `grids` are those of the noise it will be handed, one a stage.
  /// Throws InvalidParameter where a setting is out of range, sizes disagree, or a grid clips beyond its stage's clip
  /// norm.
  Lane(Settings settings, std::span<const noise::Grid> grids, Position start);
  /// With one stage.
  Lane(Settings settings, const noise::Grid& grid, Position start)
      : Lane(std::move(settings), std::span(&grid, 1), start) {}

  /// At step 0: θ_0 is where `from` ended, moved to the nearest point that the projection allows, and the average
  /// goes on with the weight that it had. An average that intervals are taken around (batching, moments) is of this
  /// lane's iterates alone, as they are: it does not go on. Throws InvalidParameter for values that are not finite,
  /// or of another dimension.
  void go_on_from(const Carried& from);

  /// Takes rows.count / minibatch steps; rows.count is a multiple of minibatch and the noise of each stage holds at
  /// least that many steps, the first of them this lane's next step (contracts). Appends a release after every
  /// `release_every`-th step. Where the unit is the user, rows say whose they are, and what users use up goes into
  /// `users`; else it is not looked at. Where its limits hold within windows of time, rows have times, and `clock` is
  /// the lane's.
  void advance(const record::RowSlice& rows, std::span<const noise::GridNoise> noise, Releases& releases,
               users::Changes* users = nullptr, users::WindowClock* clock = nullptr);
  /// With one stage.
  void advance(const record::RowSlice& rows, const noise::GridNoise& noise, Releases& releases) {
    advance(rows, std::span(&noise, 1), releases);
  }

  /// The release that would show the present state: for an extra one at the end or on shutdown.
  void release_now(Releases& releases) const;

  [[nodiscard]] StepCount steps() const noexcept;
  [[nodiscard]] Position position() const noexcept;
  [[nodiscard]] std::span<const double> theta() const noexcept;
  /// Records whose gradient was longer than the clip norm, since construction. Operator side only.
  [[nodiscard]] std::uint64_t clipped() const noexcept;
  /// Where the unit is the user, users' contributions to all steps since construction, of which clipped() counts;
  /// else 0. Operator side only.
  [[nodiscard]] std::uint64_t contributions() const noexcept;

  /// Canonical bytes of the state (docs/formats/lane.md): equal states give equal bytes, on every machine.
  [[nodiscard]] std::string encode() const;
  /// The lane whose encode() gave `bytes`. Throws InvalidParameter where they are not such bytes or have
  /// another dimension.
  static Lane decode(Settings settings, std::span<const noise::Grid> grids, std::string_view bytes);
  /// With one stage.
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
  void pass_marks();

  Settings settings_;
  std::vector<Stage> stages_;
  std::size_t row_entries_;
  std::uint64_t steps_ = 0;
  std::uint64_t position_ = 0;
  Loop loop_;
  descent::Average average_;
  std::optional<descent::BatchMeans> batches_;
  std::optional<descent::SecondMoments> moments_;
};

}  // namespace nustream::lane
