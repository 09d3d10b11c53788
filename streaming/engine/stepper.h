// Turns rows into steps and encoded releases. Replay and attach share this part of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/estimator.h"
#include "engine/noise_feed.h"
#include "nustream/record/batch.h"
#include "publish/release_json.h"

namespace nustream::engine {

/// What the steps of one or more calls leave for the journal.
struct Output {
  std::string outbox;                   ///< encoded releases, in step order, one a line
  std::vector<record::Reject> rejects;  ///< the stepped records that could not be used, in order
};

/// How far one call came, and why it ended.
struct Progress {
  std::size_t records = 0;     ///< how many were stepped and dropped from the rows
  bool limit_reached = false;  ///< a whole minibatch is left that may not be stepped any more
  bool noise_pending = false;  ///< a whole minibatch is left whose noise is not ready
};

/// Steps one lane with one supply of noise. It keeps nothing of a batch between calls. Not thread-safe.
class Stepper {
 public:
  /// `minibatch` is the number of records of a step. `limit` is the number of steps that horizon and budget allow,
  /// and is never crossed. `released_at` is the number of steps at the last release, 0 for none. References outlive
  /// it.
  Stepper(Estimator& lane, NoiseSupply& noise, publish::ReleaseEncoder& encoder, std::uint64_t minibatch,
          std::optional<StepCount> limit, std::uint64_t released_at);

  /// Steps the whole minibatches among the first `rows_max` rows, and drops those rows. Releases and rejects are
  /// appended to `out`.
  [[nodiscard]] Progress step(record::RowBatch& rows, std::size_t rows_max, Output& out);
  /// Makes one more release, of the present state, unless it would repeat the last one.
  void release_now(std::string_view tag, Output& out);
  /// Steps of the last release so far; 0 for none.
  [[nodiscard]] std::uint64_t released_at() const noexcept { return released_at_; }

 private:
  [[nodiscard]] std::uint64_t steps_left() const;
  void encode(std::string_view tag, Output& out);

  Estimator& lane_;
  NoiseSupply& noise_;
  publish::ReleaseEncoder& encoder_;
  std::uint64_t minibatch_;
  std::optional<StepCount> limit_;
  std::uint64_t released_at_;
};

}  // namespace nustream::engine
