// A collector's running sums, durably: each report is counted once, whatever crashes, is read again or is sent again.
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

/// The position of the next record to read, by topic and partition.
using TopicPositions = std::map<std::pair<std::string, std::uint32_t>, std::uint64_t>;

/// What one state holds (docs/formats/local.md).
struct CollectorState {
  std::string stream;
  std::string mechanism;  ///< digest of the mechanism
  inference::LocalCollector sums;
  journal::Extent ids;  ///< extent of the file of ids: one for each report in the sums, in the order they came
  TopicPositions positions;
};
[[nodiscard]] std::string encode(const CollectorState& state);
/// Throws Failure(data) where `bytes` are not a state of this format, or are damaged. `path` is for messages.
[[nodiscard]] CollectorState decode_state(std::string_view bytes, const std::string& path);

/// The state in a folder, empty where there is none yet. With this function a run can look at the sums while another
/// run counts. Throws Failure(data) where the state is of another stream or mechanism.
[[nodiscard]] std::optional<CollectorState> read_state(journal::Disk& disk, const journal::Disk::Path& folder,
                                                       const Settings& settings, const ReportFormat& format);

/// The folder of a collector, for one run at a time. A report is counted once by its id: where it comes again,
/// because its sender repeats it, a file is read twice or a topic is read from its start, it is a duplicate. A folder
/// that threw a Failure is not used again.
class CollectorFolder {
 public:
  /// Opens the folder, which it makes where it is missing, and takes its lock. Ids that a crash left behind the last
  /// commit were not counted; they are written over. Throws Failure(data), Failure(locked) or Failure(io). `disk` has
  /// to outlive the folder.
  CollectorFolder(journal::Disk& disk, journal::Disk::Path folder, const Settings& settings,
                  const ReportFormat& format);

  /// Adds a report; returns false for one that was counted before.
  [[nodiscard]] bool add(const ReportId& id, std::span<const std::int64_t> numbers);
  /// Notes that every record of the topic's partition below `next` was used.
  void set_position(const std::string& topic, std::uint32_t partition, std::uint64_t next);
  /// The partition's position; empty where it was not read yet.
  [[nodiscard]] std::optional<std::uint64_t> position(const std::string& topic, std::uint32_t partition) const;
  /// Forgets the topic's positions, so that it is read anew. Reports that were counted are known by their ids.
  void forget_positions(const std::string& topic);

  /// Makes counts and positions durable, together or not at all.
  void commit();
  /// How many reports were added since the last commit.
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
  std::string added_;   // ids of reports since the last commit
  bool moved_ = false;  // the state has news, or may not be durable
};

}  // namespace nustream::local
