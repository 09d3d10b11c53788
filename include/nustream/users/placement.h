// Says which lane a user counts in, and what lanes do while their number changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/users/table.h"

namespace nustream::users {

/// How a user's lane follows from its identifier. It is public, and fixed together with the number of lanes in the
/// digest of the settings.
enum class Partitioner {
  murmur2,   ///< as the Java client's default does, and librdkafka's murmur2 and murmur2_random
  crc32,     ///< as librdkafka's consistent and consistent_random do
  user_hash  ///< by H(user), for users that are not the key of the topic
};

/// Murmur2 of a key's bytes as the Java client computes it: 32 bits, before the sign is cut off.
///
/// Source: Kafka, org.apache.kafka.common.utils.Utils.murmur2; Appleby's MurmurHash2 with the seed 0x9747b28c.
[[nodiscard]] std::uint32_t murmur2(std::span<const std::uint8_t> key) noexcept;

/// The number of a user whose lane follows from its hash.
[[nodiscard]] inline std::uint32_t number_of(const UserHash& user) noexcept {
  return static_cast<std::uint32_t>(user.low);
}

/// The one lane of `lanes` in which a user with this number counts: (number & 2^31 − 1) mod N for murmur2, number mod
/// N for the others. The user's records in other partitions take steps with zero gradients there, so that all lanes
/// together cost a user what one of them costs. An empty key has no partition of its own (librdkafka draws one), so
/// such a record has no user. Throws InvalidParameter for 0 lanes.
[[nodiscard]] LaneId lane_of(Partitioner partitioner, std::uint32_t number, std::uint32_t lanes);

/// What a lane does.
enum class Turn {
  steps,  ///< reads records and takes steps
  waits,  ///< reads none yet
  ended   ///< takes no step any more
};

/// The change from one number of lanes to another, which begins a new epoch. Each old lane commits a closing mark,
/// after which it takes no step. A new lane begins when it has read the marks and the entries of all old lanes, and
/// keeps the entries that are now its own. So no user counts in two lanes at once, and none loses its count. This
/// class decides and does no I/O: each lane has an object of its own, and tells that object what the lane has read.
class LaneChange {
 public:
  /// The change from `before` to `after` lanes. Throws InvalidParameter where either is 0.
  LaneChange(std::uint32_t before, std::uint32_t after);

  /// Says that the closing mark of the old lane, and all of its entries before it, were read. Saying so again changes
  /// nothing. Returns false where there was no such lane.
  bool closed(LaneId old_lane) noexcept;

  /// What an old lane does: its epoch goes on until its own closing mark is committed.
  [[nodiscard]] Turn of_old(LaneId lane) const noexcept;
  /// What a partition does in the new epoch. A new lane waits for all marks; a partition beyond the new lanes waits
  /// for ever.
  [[nodiscard]] Turn of_new(LaneId lane) const noexcept;
  /// Whether the new lane keeps a user with this number.
  [[nodiscard]] bool keeps(LaneId lane, Partitioner partitioner, std::uint32_t number) const;

 private:
  std::uint32_t after_;
  std::size_t open_;
  std::vector<bool> is_closed_;  // for each old lane
};

}  // namespace nustream::users
