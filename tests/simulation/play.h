// Histories: a few processes that come and go while what they stand on fails, and the invariants that must hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coupling.h"
#include "random_stream.h"
#include "simulated_broker.h"

namespace nustream::tests {

/// The violation of a history; empty where all invariants held.
struct HistoryResult {
  std::string violation;
  FaultCounts happened;
  FaultCounts stages{};  ///< of the lanes of `attach`: how often each arrow of their machine was taken
};

/// Whether the unit of a history is the user: of every fourth one of each kind. Their limits hold for ever or within
/// windows of time, their model is a descent or solved from running sums, and their topic may get more partitions.
[[nodiscard]] constexpr bool is_by_user(std::uint64_t seed) noexcept {
  return seed / 2 % 4 == 1;
}

/// Plays `attach` over a simulated broker. Everything in the history follows from `seed`, except for fresh keys, and
/// the key of a folder's users.
[[nodiscard]] HistoryResult play_attached(std::uint64_t seed);
/// Plays `replay` over a simulated disk, likewise.
[[nodiscard]] HistoryResult play_folder(std::uint64_t seed);

/// What replaces the draws of a history: a stream's settings, the records of one lane, and shifts of its noise.
struct Given {
  const RandomStream& stream;
  const std::vector<RandomRecord>& records;
  const Shifts& shifts;
};

/// What anybody sees of a history of given records under the insecure seed. It holds every release and ledger line
/// that was ever readable, with its time, those of aborted transactions too; and the public pages whenever they may
/// have changed.
struct PublicHistory {
  HistoryResult result;
  std::string log;
  std::string for_operators;  ///< dead letters or rejects, which only operators see
};
/// Plays `attach` with one lane or two, one of which has the given records, under the faults of `seed`.
[[nodiscard]] PublicHistory play_records(std::uint64_t seed, const Given& given);
/// Plays `replay` over `passes` of the records, likewise: shows its two growing files after every change, in order,
/// and what its processes print, the table at the end too.
[[nodiscard]] PublicHistory play_records_in_folder(std::uint64_t seed, const Given& given, std::uint64_t passes);

}  // namespace nustream::tests
