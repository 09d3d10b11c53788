// What anybody can see of a run's folder while the run lives, and what must never be seen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "folder_case.h"
#include "history.h"
#include "simulated_disk.h"
#include "verdict.h"

namespace nustream::tests {

/// Somebody who copies a growing file at every moment: what stood at a place stays what it is. Only a power failure
/// may take it away, so that there are NUL bytes or nothing.
class ByteWatcher {
 public:
  /// False where a byte that was readable has another value now.
  [[nodiscard]] bool look(const std::string& content);

 private:
  std::string seen_;
};

/// Reads both growing files after every change, and what is printed.
class FolderWatch {
 public:
  FolderWatch(const SimulatedDisk& disk, Verdict& verdict, bool keeps_log)
      : disk_(disk), verdict_(verdict), keeps_log_(keeps_log) {}

  /// The file may have changed.
  void changed(const std::string& path);
  /// A release was printed. The journal is at rest whenever something is printed, so nothing is in flight.
  void printed(std::string_view text);
  /// Everything that was ever seen; empty unless the log is kept.
  [[nodiscard]] std::string& log() noexcept { return log_; }

 private:
  [[nodiscard]] std::uint64_t durable_steps() const;
  void look_at_releases(const std::string& content);
  void look_at_release(const std::string& line, std::uint64_t durable);

  const SimulatedDisk& disk_;
  Verdict& verdict_;
  bool keeps_log_;
  ByteWatcher releases_bytes_;
  ByteWatcher ledger_bytes_;
  Watcher watcher_;
  std::size_t looked_to_ = 0;
  std::map<std::string, std::string> readable_;  ///< releases by position, as text
  std::string log_;
};

/// What the folder showed at the moment when an epoch was asked for that reads the folder's records again.
struct FirstEpoch {
  std::string releases;
  LaterEpoch next;  ///< the epoch that was asked for
};

/// The folder as it is, with the epoch that would continue from it. Empty where no epoch can read its records again
/// without a limit of its own: no step was taken, a budget is set, or the iterate has diverged. Users go on counting
/// where their store is whole; where it is lost they count anew.
[[nodiscard]] std::optional<FirstEpoch> first_epoch_of(const FolderCase& of, SimulatedDisk& disk);

/// The run that nothing disturbs: that of the folder's first epoch, or that of the epoch behind `first`. `users` is
/// the key that tells users apart; null where the unit is the record.
[[nodiscard]] Reference folder_reference(const FolderCase& of, const std::optional<FirstEpoch>& first,
                                         const noise::KeyBytes* users);

/// Compares releases, state and ledger with that run. Counts the steps, and of what kind the run was.
void check_folder_end(const FolderCase& of, SimulatedDisk& disk, const std::optional<FirstEpoch>& first,
                      Verdict& verdict, FaultCounts& happened);

}  // namespace nustream::tests
