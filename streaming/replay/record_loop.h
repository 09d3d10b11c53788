// The loop of a replay: records become rows, rows become steps, and steps become batches, which are committed before
// their releases are public.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "console/operator_counts.h"
#include "decode/reader.h"
#include "engine/stepper.h"
#include "folder/session.h"
#include "nustream/lane/lane.h"
#include "replay/pacer.h"

namespace nustream::replay {

enum class Ending {
  input,        ///< the input has ended
  interrupted,  ///< SIGINT came: the run can be resumed, and there is no extra release
  drained,      ///< SIGTERM came: the run can be resumed, and what was stepped is released
  exhausted,    ///< the horizon or the budget is reached
};

/// When batches close, and whether rejects are listed. A run may change these without changing an iterate.
struct Cadence {
  std::uint64_t commit_records;
  std::chrono::duration<double> commit_seconds;
  bool rejects;
  bool limit_is_horizon = false;  ///< the limit is where the noise ends, not where a budget does
};

/// A look at the first rows, before any of them is stepped. `look` is called once, with `rows` rows (but at most as
/// many as a batch holds), or with all rows where there are fewer; with `rows` = 1 it gets as many as a read gave.
/// What it throws ends the run before a step is taken.
struct FirstLook {
  std::size_t rows = 1;
  std::function<void(const record::RowBatch& rows)> look{};
};

/// One pass over a reader with one lane. The caller commits the batches that it is given.
class RecordLoop {
 public:
  /// Called when a batch closes: seals and commits the lane's state with `result`. May block.
  using Commit = std::function<void(folder::BatchResult result)>;
  /// Called between reads with the number of records so far, for a progress bar.
  using Tick = std::function<void(std::uint64_t records)>;

  RecordLoop(engine::Stepper& stepper, decode::Reader& reader, const lane::Settings& settings, Cadence cadence,
             Pacer pacer, FirstLook first = {});

  /// Runs until the input, the limit or a signal ends it. `stop` is 0, SIGINT or SIGTERM. Throws what broke the
  /// input, after everything before that is committed.
  Ending run(const std::atomic<int>& stop, const Commit& commit, const Tick& tick);

  [[nodiscard]] const console::OperatorCounts& counts() const noexcept { return counts_; }

 private:
  [[nodiscard]] bool step_rows();
  [[nodiscard]] bool batch_full() const;
  [[nodiscard]] std::size_t rows_to_read() const;
  void close_batch(const Commit& commit, bool is_last = false);
  [[nodiscard]] bool read_more(std::exception_ptr& failure);
  [[nodiscard]] Ending step_until_end(const std::atomic<int>& stop, const Commit& commit, const Tick& tick,
                                      std::exception_ptr& failure);
  void look_at_first(bool is_all);
  [[nodiscard]] std::uint64_t first_rows() const;

  engine::Stepper& stepper_;
  decode::Reader& reader_;
  std::uint64_t minibatch_;
  Cadence cadence_;
  Pacer pacer_;
  FirstLook first_;
  bool looked_ = false;

  record::RowBatch rows_;
  engine::Output output_;
  std::string rejects_;  // the lines about this batch's rejects
  console::OperatorCounts counts_;
  std::uint64_t batch_records_ = 0;
  std::chrono::steady_clock::time_point batch_opened_;
};

}  // namespace nustream::replay
