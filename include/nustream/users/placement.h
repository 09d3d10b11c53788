// Which lane a user counts in, and what lanes do while their number changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/users/table.h"

namespace nustream::users {

/// How a user's lane follows from its identifier; public, and fixed with the number of lanes in the settings' digest.
enum class Partitioner {
  murmur2,   ///< of the Java client's default, and librdkafka's murmur2 and murmur2_random
  crc32,     ///< librdkafka's consistent and consistent_random
  user_hash  ///< H(user): where the user is no key of the topic
};

/// Murmur2 of a key's bytes as the Java client computes it: 32 bits, before the sign is cut off.
///
/// Source: Kafka, org.apache.kafka.common.utils.Utils.murmur2; Appleby's MurmurHash2 with the seed 0x9747b28c.
[[nodiscard]] std::uint32_t murmur2(std::span<const std::uint8_t> key) noexcept;

/// The number of a user whose lanes follow from its hash.
[[nodiscard]] inline std::uint32_t number_of(const UserHash& user) noexcept {
  return static_cast<std::uint32_t>(user.low);
}

/// The one lane of `lanes` ≥ 1 in which a user of that number counts: for murmur2 (number & 2^31 − 1) mod N, for the
/// others number mod N. Its records in other partitions take steps of zero gradients there, so that all lanes
/// together cost a user what one of them costs. An empty key has no partition of its own (librdkafka draws one): such
/// a record has no user.
[[nodiscard]] LaneId lane_of(Partitioner partitioner, std::uint32_t number, std::uint32_t lanes);

/// What a lane does.
enum class Turn {
  steps,  ///< reads records and takes steps
  waits,  ///< reads none yet
  ended   ///< takes no step any more
};

/// The change from one number of lanes to another, a new epoch: each old lane commits a closing mark, behind which it
/// takes no step; a new lane begins when it has read the marks and the entries of all old lanes, and keeps the
/// entries that are now its own. So no user counts in two lanes at once, and none loses its count. A pure decision:
/// each lane has one of its own, and tells it what it read.
class LaneChange {
 public:
  /// From `before` ≥ 1 lanes to `after` ≥ 1 of them. Throws InvalidParameter otherwise.
  LaneChange(std::uint32_t before, std::uint32_t after);

  /// The old lane's closing mark and all of its entries before it were read. Reading them again changes nothing.
  /// False where there was no such lane.
  bool closed(LaneId old_lane) noexcept;

  /// Of an old lane's epoch that goes on until its own closing mark is committed.
  [[nodiscard]] Turn of_old(LaneId lane) const noexcept;
  /// Of the new epoch in a partition: a lane of the new ones waits for all marks; a partition beyond them waits for
  /// ever.
  [[nodiscard]] Turn of_new(LaneId lane) const noexcept;
  /// Whether the new lane keeps a user of that number.
  [[nodiscard]] bool keeps(LaneId lane, Partitioner partitioner, std::uint32_t number) const;

 private:
  std::uint32_t after_;
  std::size_t open_;
  std::vector<bool> is_closed_;  // of old lanes
};

}  // namespace nustream::users
