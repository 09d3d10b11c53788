// The state machine of a lane, estimated in either way: by descent (nustream/lane) or solved from running sums
// (nustream/moments). A run chooses between the two in this class only; the code around it steps, seals and releases
// either of them in the same way.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "config/mechanism.h"
#include "nustream/base/units.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/lane.h"
#include "nustream/noise/grid.h"
#include "nustream/record/batch.h"
#include "publish/release_json.h"

namespace nustream::engine {

/// One lane's estimator. A step of either kind takes config.descent.minibatch records. Only whole steps are taken, so
/// after every call there is a state to seal. It does no I/O, reads no clock and draws no random bits. Not
/// thread-safe.
class Estimator {
 public:
  Estimator(lane::Lane lane) : lane_(std::move(lane)) {}     // NOLINT(google-explicit-constructor): a lane is one
  Estimator(moments::Lane lane) : lane_(std::move(lane)) {}  // NOLINT(google-explicit-constructor): a lane is one

  [[nodiscard]] StepCount steps() const;
  [[nodiscard]] Position position() const;
  /// How many records' gradients or residuals were clipped since construction. For the operator alone: it is not
  /// private.
  [[nodiscard]] std::uint64_t clipped() const;
  /// Where the unit is the user, how often users contributed since construction; else 0. For the operator alone.
  [[nodiscard]] std::uint64_t contributions() const;
  /// Where the unit is the user, how many records since construction did not count because the limits of their users
  /// were used up; else 0. For the operator alone.
  [[nodiscard]] std::uint64_t beyond_limits() const;
  /// The clock that was given to use(); null without windows.
  [[nodiscard]] const users::WindowClock* clock() const noexcept { return clock_; }
  /// Canonical bytes of the state: docs/formats/lane.md or docs/formats/moments.md.
  [[nodiscard]] std::string encode() const;
  /// The iterate of a descent; empty for running sums.
  [[nodiscard]] std::span<const double> theta() const;

  /// Begins where another epoch's release was. To be called at step 0, before anything else. A descent takes over the
  /// released iterate and average. Running sums take the released estimate as the centre of their first stage, and
  /// have no average. Throws as lane::Lane::go_on_from() and moments::Lane::begin_about().
  void go_on_from(const lane::Carried& from);
  /// Takes steps as lane::Lane::advance() and moments::Lane::advance() do. Releases wait for take_releases().
  void advance(const record::RowSlice& rows, std::span<const noise::GridNoise> noise);
  /// To be called before the first step where the unit is the user: `users` records what users use up. `clock` is the
  /// lane's clock where limits hold within windows of time, else null. Both outlive this object.
  void use(users::Changes& users, users::WindowClock* clock = nullptr) noexcept {
    users_ = &users;
    clock_ = clock;
  }
  /// Makes a release of the present state. Contract: at least one step was taken.
  void release_now();
  /// Encodes the releases that wait, in step order, appends them to `out` and forgets them. `released` is the number
  /// of steps at the last release so far, and is advanced. A release at or before `released` was released already,
  /// and is left out.
  void take_releases(publish::ReleaseEncoder& encoder, std::string_view tag, std::uint64_t& released,
                     std::string& out);

 private:
  std::variant<lane::Lane, moments::Lane> lane_;
  users::Changes* users_ = nullptr;
  users::WindowClock* clock_ = nullptr;
  lane::Releases of_descent_;
  moments::Releases of_sums_;
};

/// An estimator of the settings' kind, at step 0. Throws as the constructors of the lanes.
[[nodiscard]] Estimator first_estimator(const config::Config& config, const config::Mechanism& mechanism,
                                        Position start);
/// The estimator whose encode() gave `bytes`. Throws InvalidParameter where they are of another kind or other
/// settings.
[[nodiscard]] Estimator decoded_estimator(const config::Config& config, const config::Mechanism& mechanism,
                                          std::string_view bytes);

}  // namespace nustream::engine
