// A disk in memory that keeps, beside what programs see, what a power failure would leave; with a seed for everything
// that is left to chance.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "journal/disk.h"

namespace nustream::tests {

/// Thrown out of the call in which the machine, or the process, ends.
struct SimulatedCrash {};

/// One write or truncation that is not synced yet.
struct PendingChange {
  std::uint64_t offset;
  std::string bytes;                       ///< written there …
  std::optional<std::uint64_t> truncated;  ///< … or the file cut to this size
};

/// Content of a file: as every reader sees it, as the disk has it, and the changes between the two.
struct SimulatedFile {
  std::string seen;
  std::string durable;
  std::vector<PendingChange> pending;
};

/// What goes wrong, by the number of the call (from 1); 0 for never. Only calls that change something count.
struct Faults {
  std::uint64_t crash_at = 0;  ///< the call is not done, or half of it, and throws SimulatedCrash
  std::uint64_t fail_at = 0;   ///< the call throws Failure(io); a sync that fails may have lost anything
  std::uint64_t fails = 1;     ///< so many calls in a row, from that one on
  std::string broken{};        ///< the file of this name takes no bytes
};

class SimulatedDisk final : public journal::Disk {
 public:
  explicit SimulatedDisk(std::uint64_t seed) : random_(seed) {}

  void make_folder(const Path& folder) override;
  void require_trusted(const Path&) override {}  // nobody else is on this machine
  std::unique_ptr<journal::File> open(const Path& path, journal::Access access) override;
  std::unique_ptr<journal::File> create(const Path& path, journal::Audience audience) override;
  void rename(const Path& from, const Path& to) override;
  void sync_folder(const Path& folder) override;
  std::unique_ptr<journal::Lock> lock(const Path& path) override;

  /// Faults of the process that runs from now on; counts its calls from 1.
  void start_process(Faults faults);
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
  /// Calls of this process that threw Failure.
  [[nodiscard]] std::uint64_t failed_calls() const noexcept { return failed_calls_; }
  /// The process ends: what was written stays as every reader sees it.
  void kill_process() { faults_ = {}; }
  /// The machine ends: of what was not synced any part may be there, and what may not was never.
  void lose_power();

  /// A file as every reader sees it; empty where it is missing.
  [[nodiscard]] std::string seen(const Path& path) const;
  /// The file that would be there if nothing of what is pending survived.
  [[nodiscard]] std::string durable(const Path& path) const;
  /// Overwrites a file behind the program's back, durably.
  void tamper(const Path& path, const std::string& bytes);
  void remove(const Path& path);

  /// What happened to changes that were not synced, and to syncs.
  struct Losses {
    std::uint64_t lost = 0;
    std::uint64_t torn = 0;
    std::uint64_t reordered = 0;
    std::uint64_t failed_syncs = 0;
    std::uint64_t failed_calls = 0;  ///< syncs included
  };
  [[nodiscard]] const Losses& losses() const noexcept { return losses_; }

  /// Of changes to the same bytes the later one arrives later, as where a page cache hands on what it holds. Else any
  /// order is possible, which is more than file systems do.
  bool keeps_order = true;

  /// The file of this name is on a disk of its own: what is written to it is no call and takes no chance, so that the
  /// faults of all others do not depend on it. Its name is one of the folder's. It may be broken.
  std::string apart{};

  /// Called after every change of a file with its path.
  std::function<void(const Path&)> on_change;

 private:
  friend class SimulatedHandle;
  using Names = std::map<std::string, std::shared_ptr<SimulatedFile>>;

  [[nodiscard]] bool fails_now() const noexcept {
    return faults_.fail_at != 0 && calls_ >= faults_.fail_at && calls_ - faults_.fail_at < faults_.fails;
  }
  [[nodiscard]] bool is_apart(const Path& path) const { return !apart.empty() && path.filename() == apart; }
  void change_apart(SimulatedFile& file, const PendingChange& change);
  void refuse_if_broken(const Path& path);
  void count_call(const std::function<void()>& half_of_it);
  void sync_file(SimulatedFile& file);
  void reach_disk(std::size_t names);
  void change(SimulatedFile& file, PendingChange change);
  void apply_some(SimulatedFile& file);
  void take_part(const PendingChange& change, std::vector<PendingChange>& arrived);
  void shuffle(std::vector<PendingChange>& changes);
  [[nodiscard]] bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  void changed(const SimulatedFile& file) const;

  std::mt19937_64 random_;
  Names seen_names_;
  Names durable_names_;
  std::vector<std::pair<std::string, std::shared_ptr<SimulatedFile>>> pending_names_;  ///< nullptr: gone
  Faults faults_;
  Losses losses_;
  std::uint64_t calls_ = 0;
  std::uint64_t failed_calls_ = 0;
  bool ended_ = false;
};

}  // namespace nustream::tests
