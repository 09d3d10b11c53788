// Reads a sample of a lane's old releases for a picture. Nothing depends on it, and so it gives up early.
#include "attach/lane_past.h"

#include <algorithm>
#include <cstdint>
#include <exception>

#include "kafka/partition_reader.h"

namespace nustream::attach {
namespace {

/// Up to this number of offsets all are read in order, which takes less time than 512 seeks.
constexpr std::int64_t all_offsets = 8'192;
constexpr std::int64_t pieces = 512;
/// How many offsets are searched for a piece's first release: markers of transactions and aborted records may come
/// before.
constexpr std::int64_t offsets_to_a_release = 64;
constexpr std::chrono::milliseconds slice{100};

class Reading {
 public:
  Reading(const kafka::ClientSettings& client, const kafka::LanePlace& place, kafka::Deadline deadline,
          const std::atomic<bool>& ended)
      : reader_(client, kafka::Isolation::read_committed, place.group),
        partition_(place.in(place.topics.releases)),
        deadline_(deadline),
        ended_(ended) {}

  [[nodiscard]] std::string read() {
    const kafka::Watermarks log = reader_.watermarks(partition_, deadline_);
    const std::int64_t low = log.low.value();
    const std::int64_t high = log.high.value();
    if (high - low <= all_offsets) {
      read(low, high, false);
      return std::move(lines_);
    }
    for (std::int64_t piece = 0; piece < pieces && !is_over(); ++piece) {
      // Pieces begin at even distances, and only the first release of each is taken.
      const std::int64_t from = low + (high - low) / pieces * piece;
      read(from, std::min(from + offsets_to_a_release, high), true);
    }
    return std::move(lines_);
  }

 private:
  [[nodiscard]] bool is_over() const { return ended_.load() || std::chrono::steady_clock::now() >= deadline_; }

  /// Adds the releases between the two offsets to the lines; with `first_alone`, only the first of them.
  void read(std::int64_t from, std::int64_t end, bool first_alone) {
    if (from >= end) return;
    bool found = false;
    reader_.start(partition_, kafka::Offset{from}, kafka::Offset{end});
    const auto take = [&](const kafka::Message& message) {
      if ((first_alone && found) || !message.record.value) return;
      found = true;
      lines_ += *message.record.value;
      lines_ += '\n';
    };
    // Reading goes in slices, so that a lane that ends is not held up.
    while (!is_over() && !(first_alone && found)) {
      if (!reader_.read(take, slice).is_again()) return;
    }
  }

  kafka::PartitionReader reader_;
  kafka::TopicPartition partition_;
  kafka::Deadline deadline_;
  const std::atomic<bool>& ended_;
  std::string lines_;
};

}  // namespace

std::string read_past(const kafka::ClientSettings& client, const kafka::LanePlace& place,
                      std::chrono::milliseconds time, const std::atomic<bool>& ended) {
  try {
    return Reading(client, place, kafka::in(time), ended).read();
  } catch (const std::exception&) {  // the lane itself meets the same trouble, and reports it
    return {};
  }
}

}  // namespace nustream::attach
