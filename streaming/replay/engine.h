// The loop of a replay: records → rows → steps → batches that are committed before their releases are out.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "decode/reader.h"
#include "nustream/lane/lane.h"
#include "publish/release_json.h"
#include "replay/noise_feed.h"
#include "replay/pacer.h"

namespace nustream::replay {

/// What a batch leaves behind when it closes.
struct BatchResult {
  std::string outbox;   ///< encoded releases, in step order
  std::string rejects;  ///< lines for rejects.jsonl, if asked for
};

enum class Ending {
  input,        ///< the input ended
  interrupted,  ///< SIGINT: resumable, no extra release
  drained,      ///< SIGTERM: everything read was stepped, with an extra release
  exhausted,    ///< horizon or budget reached
};

/// Figures for the operator: they depend on data and are not private.
struct OperatorCounts {
  std::uint64_t records = 0;
  std::uint64_t rejected = 0;
  std::uint64_t left_over = 0;  ///< records at the end, fewer than a minibatch, that took no step
};

/// What a run may change without changing an iterate.
struct Cadence {
  std::uint64_t commit_records;
  std::chrono::duration<double> commit_seconds;
  std::optional<StepCount> step_limit;  ///< horizon or budget: never crossed
  bool rejects;
};

/// One pass over a reader with one lane. The caller commits what it is handed.
class Engine {
 public:
  /// Called when a batch closes: seals and commits the lane's state with `result`. May block.
  using Commit = std::function<void(BatchResult result)>;
  /// Called between slices, for a progress bar.
  using Tick = std::function<void(std::uint64_t records)>;

  Engine(lane::Lane& lane, NoiseFeed& feed, publish::ReleaseEncoder& encoder, decode::Reader& reader,
         const lane::Settings& settings, Cadence cadence, Pacer pacer);

  /// Runs until the input, the limit or a signal (`stop`: 0, SIGINT or SIGTERM) ends it. `released_at` is the step
  /// count of the last release so far, so that the extra one at the end is never a repeat.
  Ending run(const std::atomic<int>& stop, std::uint64_t released_at, const Commit& commit, const Tick& tick);

  [[nodiscard]] const OperatorCounts& counts() const noexcept { return counts_; }
  /// Step count of the last release, for the next run.
  [[nodiscard]] std::uint64_t released_at() const noexcept { return released_at_; }

 private:
  [[nodiscard]] bool step_rows();
  void encode(std::string_view tag);
  void take_rejects();
  void drop_stepped(std::size_t rows);
  [[nodiscard]] bool batch_full() const;
  void close_batch(const Commit& commit);

  lane::Lane& lane_;
  NoiseFeed& feed_;
  publish::ReleaseEncoder& encoder_;
  decode::Reader& reader_;
  std::uint64_t minibatch_;
  Cadence cadence_;
  Pacer pacer_;

  record::RowBatch rows_;
  lane::Releases releases_;
  BatchResult result_;
  OperatorCounts counts_;
  std::uint64_t batch_records_ = 0;
  std::uint64_t released_at_ = 0;
  std::chrono::steady_clock::time_point batch_opened_;
};

}  // namespace nustream::replay
