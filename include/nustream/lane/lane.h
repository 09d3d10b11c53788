// The state machine of one lane: (state, rows, noise) → (state, releases). No I/O, no clock, no randomness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/descent/averaging.h"
#include "nustream/descent/loop.h"
#include "nustream/descent/projection.h"
#include "nustream/descent/schedule.h"
#include "nustream/model/loss.h"
#include "nustream/noise/grid.h"
#include "nustream/record/batch.h"

namespace nustream::lane {

/// Public settings that decide what an iterate becomes.
struct Settings {
  std::size_t dimension = 0;  ///< d
  model::Loss loss;
  double l2 = 0;  ///< strength λ of r(θ) = λ/2 ‖θ‖², added after clipping (the mean adds its own ½‖θ‖²)
  ClipNorm clip;
  descent::Schedule schedule;
  descent::Projection projection;
  descent::Averaging averaging;
  std::uint64_t minibatch = 1;      ///< nominal size; the sum is divided by it, never by a count
  std::uint64_t release_every = 1;  ///< steps
  std::vector<double> start;        ///< θ_0, dimension entries
};

/// What one release shows, in the working coordinates of the rows.
struct Release {
  StepCount steps;    ///< steps taken
  Position position;  ///< where the next record is
  std::span<const double> theta;
  std::span<const double> average;  ///< empty before averaging begins
};

/// Releases of a batch, in step order, in two flat buffers that are reused.
class Releases {
 public:
  void clear() noexcept;
  void append(StepCount steps, Position position, std::span<const double> theta, std::span<const double> average);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] Release operator[](std::size_t index) const;

 private:
  struct Entry {
    std::uint64_t steps, position;
    std::size_t offset, dimension;
    bool averaged;
  };
  std::vector<Entry> entries_;
  std::vector<double> values_;
};

/// One lane. Batch at a time: no virtual call, allocation (beyond the releases) or lock per record.
class Lane {
 public:
  /// A lane at step 0, position `start` and θ_0. `grid` is that of the noise it will be handed. Throws
  /// InvalidParameter where a setting is out of range, sizes disagree, or the grid clips beyond settings.clip.
  Lane(Settings settings, const noise::Grid& grid, Position start);

  /// Takes rows.count / minibatch steps; rows.count is a multiple of minibatch and noise holds at least that
  /// many steps, the first of them this lane's next step (contracts). Appends a release after every
  /// `release_every`-th step.
  void advance(const record::RowSlice& rows, const noise::GridNoise& noise, Releases& releases);

  /// The release that would show the present state: for an extra one at the end or on shutdown.
  void release_now(Releases& releases) const;

  [[nodiscard]] StepCount steps() const noexcept;
  [[nodiscard]] Position position() const noexcept;
  [[nodiscard]] std::span<const double> theta() const noexcept;
  /// Records whose gradient was longer than the clip norm, since construction. Operator side only.
  [[nodiscard]] std::uint64_t clipped() const noexcept;

  /// Canonical bytes of the state (docs/formats/lane.md): equal states give equal bytes, on every machine.
  [[nodiscard]] std::string encode() const;
  /// The lane whose encode() gave `bytes`. Throws InvalidParameter where they are not such bytes or have
  /// another dimension.
  static Lane decode(Settings settings, const noise::Grid& grid, std::string_view bytes);

 private:
  [[nodiscard]] std::uint64_t steps_to_next_release() const noexcept;
  void take_steps(const record::RowSlice& rows, const noise::GridNoise& noise, std::uint64_t begin,
                  std::uint64_t count);

  Settings settings_;
  std::uint64_t steps_ = 0;
  std::uint64_t position_ = 0;
  descent::Loop loop_;
  descent::Average average_;
};

}  // namespace nustream::lane
