// The state machine of a lane, whichever way its model is estimated: by descent (nustream/lane) or solved from
// running sums (nustream/moments). The one place where a run chooses between the two; everything around it steps,
// seals and releases either.
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

/// One lane's estimator. A step takes config.descent.minibatch records of either kind, and only whole steps are
/// taken, so that there is a state behind every call. No I/O, no clock, no randomness; not thread-safe.
class Estimator {
 public:
  Estimator(lane::Lane lane) : lane_(std::move(lane)) {}     // NOLINT(google-explicit-constructor): it is one
  Estimator(moments::Lane lane) : lane_(std::move(lane)) {}  // NOLINT(google-explicit-constructor): it is one

  [[nodiscard]] StepCount steps() const;
  [[nodiscard]] Position position() const;
  /// Records whose gradient or residual was clipped, since construction. Operator side only.
  [[nodiscard]] std::uint64_t clipped() const;
  /// Where the unit is the user, users' contributions since construction; else 0. Operator side only.
  [[nodiscard]] std::uint64_t contributions() const;
  /// Canonical bytes of the state: docs/formats/lane.md or docs/formats/moments.md.
  [[nodiscard]] std::string encode() const;
  /// Of a descent its iterate, else nothing.
  [[nodiscard]] std::span<const double> theta() const;

  /// At step 0, before anything else: begins where another epoch's release was. Of running sums the released estimate
  /// is the centre of the first stage; of an average there is none. Throws as lane::Lane::go_on_from() and
  /// moments::Lane::begin_about().
  void go_on_from(const lane::Carried& from);
  /// As lane::Lane::advance() and moments::Lane::advance(); what is released waits for take_releases().
  void advance(const record::RowSlice& rows, std::span<const noise::GridNoise> noise);
  /// Where the unit is the user, before the first step: what users use up goes there; `clock` is the lane's where
  /// limits hold within windows of time, else null. Both outlive this.
  void use(users::Changes& users, users::WindowClock* clock = nullptr) noexcept {
    users_ = &users;
    clock_ = clock;
  }
  /// The release that shows the present state. Contract: there was a step.
  void release_now();
  /// Encodes the releases that wait, in step order, and forgets them. `released`: steps of the last one so far, which
  /// moves on; what is not behind it was released before and is left out.
  void take_releases(publish::ReleaseEncoder& encoder, std::string_view tag, std::uint64_t& released,
                     std::string& out);

 private:
  std::variant<lane::Lane, moments::Lane> lane_;
  users::Changes* users_ = nullptr;
  users::WindowClock* clock_ = nullptr;
  lane::Releases of_descent_;
  moments::Releases of_sums_;
};

/// At step 0, of the settings' kind. Throws as the lanes' constructors.
[[nodiscard]] Estimator first_estimator(const config::Config& config, const config::Mechanism& mechanism,
                                        Position start);
/// The one whose encode() gave `bytes`. Throws InvalidParameter where they are of another kind or other settings.
[[nodiscard]] Estimator decoded_estimator(const config::Config& config, const config::Mechanism& mechanism,
                                          std::string_view bytes);

}  // namespace nustream::engine
