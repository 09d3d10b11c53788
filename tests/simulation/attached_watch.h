// What anybody can see of an attached service while it lives, and what must never be seen.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attached_case.h"
#include "history.h"
#include "journal/release_chain.h"
#include "serve/public_surface.h"
#include "simulated_broker.h"
#include "verdict.h"

namespace nustream::tests {

/// One lane on both pages.
struct ShownLane {
  std::uint32_t lane = 0;
  std::uint64_t steps_committed = 0;
  std::uint64_t steps_total = 0;          ///< the number of steps as the metrics have it
  std::optional<std::uint64_t> released;  ///< the step of the estimate; empty where none is shown
  std::string estimate;                   ///< the estimate as JSON
};

[[nodiscard]] std::vector<ShownLane> shown_lanes(const serve::PublicSurface& shown);

/// The estimate where noise hides a direction of the instruments.
inline constexpr std::string_view no_estimate = "\"estimate\":null";

/// The estimate in a line of JSON, or in a part of one, with its name; empty where there is none.
[[nodiscard]] std::string_view estimate_in(std::string_view json);

/// Reads every record at the moment at which it becomes readable, uncommitted records too, and the public pages.
class AttachedWatch {
 public:
  AttachedWatch(SimulatedBroker& broker, Verdict& verdict, bool keeps_log)
      : broker_(broker), verdict_(verdict), keeps_log_(keeps_log) {}

  /// Sets how many lanes there are, and the last epoch that a lane may begin. Any other is a violation wherever it is
  /// seen.
  void expect(std::uint32_t lanes, EpochId last) {
    lanes_.resize(lanes);
    last_ = last;
  }
  /// A record has become readable.
  void appended(const Place& place, const SimulatedEntry& entry);
  /// The end of a transaction has become durable.
  void decided(const SimulatedTransaction& transaction);
  /// Checks the public pages of a process that runs this epoch of every lane: they must never be ahead of what is
  /// committed.
  void look_at(const serve::PublicSurface& shown, EpochId epoch);
  /// Writes the public pages into the log where they have changed.
  void log_pages(const std::string& process, const serve::PublicSurface& shown);

  /// Everything that was ever seen of releases, the ledger and pages; empty unless the log is kept.
  [[nodiscard]] std::string& log() noexcept { return log_; }

 private:
  struct SeenEpoch {
    std::uint64_t durable_steps = 0;
    std::map<std::uint64_t, std::string> released;  ///< committed releases by step
    bool has_state = false;
  };
  struct SeenLane {
    Watcher watcher;
    std::map<EpochId, SeenEpoch> epochs;
    /// The heads of committed releases, which a ledger line may name.
    std::set<journal::Hash> heads{journal::empty_release_head};
  };

  /// The lane of this number; null where there is none, which is reported as a violation.
  [[nodiscard]] SeenLane* seen_lane(std::uint32_t lane);
  void look_at_lane(const ShownLane& shown, EpochId epoch);
  void committed(const std::string& state, const SimulatedTransaction& transaction);
  void look_at_names(const SeenLane& lane, const SimulatedTransaction& transaction);
  void look_at_release(SeenLane& lane, const std::string& line);
  void log_record(const SimulatedEntry& entry);

  SimulatedBroker& broker_;
  Verdict& verdict_;
  bool keeps_log_;
  std::vector<SeenLane> lanes_;
  EpochId last_{0};
  std::map<const SimulatedTransaction*, std::string> pending_states_;
  std::map<const SimulatedTransaction*, std::vector<std::string>> pending_releases_;
  std::map<const SimulatedTransaction*, std::vector<journal::Hash>> pending_names_;  ///< releases in ledger lines
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::string log_;
  std::map<std::string, std::string> pages_;  ///< the pages that were logged last, by process
};

/// Compares each lane's releases, state, offset, ledger and dead letters with those of a run that nothing disturbs.
/// `before` is the case under the old number of lanes; null where that has not changed.
void check_attached_end(const AttachedCase& of, const AttachedCase* before, SimulatedBroker& broker,
                        Verdict& verdict);

}  // namespace nustream::tests
