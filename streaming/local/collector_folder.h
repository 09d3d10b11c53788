// The running sums of a collector, durable: each report counted once, over crashes, replays and senders that repeat.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "journal/disk.h"
#include "journal/running_hash.h"
#include "local/id_set.h"
#include "local/report.h"
#include "nustream/inference/local_collector.h"

namespace nustream::local {

/// Where in a topic the next record to read is, by topic and partition.
using TopicPositions = std::map<std::pair<std::string, std::uint32_t>, std::uint64_t>;

/// What one state says (docs/formats/local.md).
struct CollectorState {
  std::string stream;
  std::string mechanism;  ///< digest
  inference::LocalCollector sums;
  journal::Extent ids;  ///< of the file of ids: those of the reports in the sums, in the order they came
  TopicPositions positions;
};
[[nodiscard]] std::string encode(const CollectorState& state);
/// Failure(data) where `bytes` are no state of this format, or damaged. `path` for messages.
[[nodiscard]] CollectorState decode_state(std::string_view bytes, const std::string& path);

/// The state in a folder, nothing where there is none yet: to look at it while another run counts. Failure(data)
/// where it is of another stream or mechanism.
[[nodiscard]] std::optional<CollectorState> read_state(journal::Disk& disk, const journal::Disk::Path& folder,
                                                       const Settings& settings, const ReportFormat& format);

/// A folder of one run at a time. A report is counted once by its id: one that comes again, from the sender, a file
/// that is read twice or a topic read from its start, is a duplicate. After any Failure it is not used again.
class CollectorFolder {
 public:
  /// Opens the folder, made where it is missing, and takes its lock. Ids that a crash left behind
  /// the last commit were not counted, and are written over. Failure(data), Failure(locked), Failure(io). `disk`
  /// outlives it.
  CollectorFolder(journal::Disk& disk, journal::Disk::Path folder, const Settings& settings,
                  const ReportFormat& format);

  /// Adds a report; false for one that was counted before.
  [[nodiscard]] bool add(const ReportId& id, std::span<const std::int64_t> numbers);
  /// Every record of the topic's partition below `next` was used.
  void set_position(const std::string& topic, std::uint32_t partition, std::uint64_t next);
  /// Nothing where the partition was not read yet.
  [[nodiscard]] std::optional<std::uint64_t> position(const std::string& topic, std::uint32_t partition) const;
  /// Forgets the topic's positions: it is read anew, and what was counted is known by its ids.
  void forget_positions(const std::string& topic);

  /// Makes it all durable: counts and positions together, or neither.
  void commit();
  /// Reports added since the last commit.
  [[nodiscard]] std::uint64_t uncommitted() const noexcept { return added_.size() / sizeof(ReportId); }
  [[nodiscard]] const inference::LocalCollector& sums() const noexcept { return state_.sums; }

 private:
  [[nodiscard]] journal::Disk::Path path(const char* name) const { return folder_ / name; }
  void load_ids();
  void write_state();

  journal::Disk& disk_;
  journal::Disk::Path folder_;
  std::unique_ptr<journal::Lock> lock_;
  CollectorState state_;
  IdSet ids_;
  std::unique_ptr<journal::File> ids_file_;
  journal::RunningHash ids_hash_;
  std::string added_;   // ids behind the last commit
  bool moved_ = false;  // the state has news, or may not be durable
};

}  // namespace nustream::local
