// In which lane a user counts, by the partitioners of Kafka's clients, and the barrier between two numbers of lanes.
// A user that counted in two lanes would be charged for one.
#include "nustream/users/placement.h"

#include <string>

#include "nustream/base/error.h"

namespace nustream::users {
namespace {

/// The constants of MurmurHash2 as Kafka's Java client uses it.
constexpr std::uint32_t seed = 0x9747b28c;
constexpr std::uint32_t multiplier = 0x5bd1e995;

/// One word of the key, mixed as MurmurHash2 does it.
std::uint32_t mixed(std::uint32_t word) {
  word *= multiplier;
  word ^= word >> 24;
  return word * multiplier;
}

/// Up to four bytes as one word, the first byte lowest.
std::uint32_t word_of(std::span<const std::uint8_t> bytes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::uint32_t{bytes[i]} << (8 * i);
  return word;
}

void check_lanes(const char* name, std::uint32_t lanes) {
  if (lanes == 0) throw InvalidParameter(name, "0", "at least 1");
}

}  // namespace

// Four bytes at a time, and what is left, at most three bytes, as one word.
std::uint32_t murmur2(std::span<const std::uint8_t> key) noexcept {
  std::uint32_t hash = seed ^ static_cast<std::uint32_t>(key.size());
  while (key.size() >= 4) {
    hash = (hash * multiplier) ^ mixed(word_of(key.first(4)));
    key = key.subspan(4);
  }
  if (!key.empty()) hash = (hash ^ word_of(key)) * multiplier;
  hash = (hash ^ (hash >> 13)) * multiplier;
  return hash ^ (hash >> 15);
}

LaneId lane_of(Partitioner partitioner, std::uint32_t number, std::uint32_t lanes) {
  check_lanes("lanes", lanes);
  // Kafka's Java client cuts the sign off murmur2. The other partitioners' numbers are unsigned.
  const std::uint32_t unsigned_part = partitioner == Partitioner::murmur2 ? number & 0x7fffffff : number;
  return LaneId{unsigned_part % lanes};
}

LaneChange::LaneChange(std::uint32_t before, std::uint32_t after)
    : after_(after), open_(before), is_closed_(before, false) {
  check_lanes("lanes before", before);
  check_lanes("lanes after", after);
}

// A mark that is read again changes nothing, so that open_ counts lanes and not marks.
bool LaneChange::closed(LaneId old_lane) noexcept {
  if (old_lane.value() >= is_closed_.size()) return false;
  if (!is_closed_[old_lane.value()]) --open_;
  is_closed_[old_lane.value()] = true;
  return true;
}

Turn LaneChange::of_old(LaneId lane) const noexcept {
  if (lane.value() >= is_closed_.size()) return Turn::waits;
  return is_closed_[lane.value()] ? Turn::ended : Turn::steps;
}

// A new lane that began earlier could miss a count that an old lane still makes.
Turn LaneChange::of_new(LaneId lane) const noexcept {
  return lane.value() < after_ && open_ == 0 ? Turn::steps : Turn::waits;
}

bool LaneChange::keeps(LaneId lane, Partitioner partitioner, std::uint32_t number) const {
  return lane_of(partitioner, number, after_) == lane;
}

}  // namespace nustream::users
