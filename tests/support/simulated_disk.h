// A disk in memory that keeps, beside what programs see, what a power failure would leave. A seed decides everything
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

/// A write or a truncation that is not synced yet.
struct PendingChange {
  std::uint64_t offset;
  std::string bytes;                       ///< what is written there …
  std::optional<std::uint64_t> truncated;  ///< … or the size to which the file is cut
};

/// The content of a file: as every reader sees it, as the disk has it, and the changes between the two.
struct SimulatedFile {
  std::string seen;
  std::string durable;
  std::vector<PendingChange> pending;
};

/// What goes wrong, by the number of the call (from 1); 0 means never. Only calls that change something count.
struct Faults {
  std::uint64_t crash_at = 0;  ///< the call is not done, or half of it is, and it throws SimulatedCrash
  std::uint64_t fail_at = 0;   ///< the call throws Failure(io); a sync that fails may have lost anything
  std::uint64_t fails = 1;     ///< how many calls in a row fail, from that one on
  std::string broken{};        ///< the name of a file that takes no bytes
};

class SimulatedDisk final : public journal::Disk {
 public:
  explicit SimulatedDisk(std::uint64_t seed) : random_(seed) {}

  void make_folder(const Path& folder) override;
  void require_trusted(const Path&) override {}  // no other user is on this machine
  std::unique_ptr<journal::File> open(const Path& path, journal::Access access) override;
  std::unique_ptr<journal::File> create(const Path& path, journal::Audience audience) override;
  void rename(const Path& from, const Path& to) override;
  void sync_folder(const Path& folder) override;
  std::unique_ptr<journal::Lock> lock(const Path& path) override;

  /// Begins a process with these faults; its calls are counted from 1.
  void start_process(Faults faults);
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
  /// How many calls of this process threw Failure.
  [[nodiscard]] std::uint64_t failed_calls() const noexcept { return failed_calls_; }
  /// Ends the process. What it wrote stays as every reader sees it.
  void kill_process() { faults_ = {}; }
  /// Ends the machine. Any part of what was not synced may be there, and the rest never was.
  void lose_power();

  /// A file as every reader sees it; empty where it is missing.
  [[nodiscard]] std::string seen(const Path& path) const;
  /// The file as it would be if nothing that is pending survived.
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

  /// Of two changes to the same bytes the later one arrives later, as where a page cache hands on what it holds.
  /// Without this any order is possible, which is more than file systems do.
  bool keeps_order = true;

  /// The name of a file in the folder that is on a disk of its own. A write to it is no call and takes no chance, so
  /// that the faults of all other files do not depend on it. It may be broken.
  std::string apart{};

  /// Called with a file's path after every change of the file.
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
  std::vector<std::pair<std::string, std::shared_ptr<SimulatedFile>>> pending_names_;  ///< null: the name is removed
  Faults faults_;
  Losses losses_;
  std::uint64_t calls_ = 0;
  std::uint64_t failed_calls_ = 0;
  bool ended_ = false;
};

/// The disk that journal::posix_disk() gives from now on, in a program that links simulated_posix_disk.cpp.
[[nodiscard]] SimulatedDisk*& present_disk();

}  // namespace nustream::tests
