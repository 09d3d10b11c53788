// Histories: a few processes that come and go over what fails under them, and what must hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coupling.h"
#include "random_stream.h"
#include "simulated_broker.h"

namespace nustream::tests {

/// Empty where all invariants held.
struct HistoryResult {
  std::string violation;
  FaultCounts happened;
  FaultCounts stages{};  ///< of the lanes of `attach`: how often each arrow of their machine was taken
};

/// `attach` over a simulated broker. Everything in it follows from `seed`, but for fresh keys.
[[nodiscard]] HistoryResult play_attached(std::uint64_t seed);
/// The same of `replay` over a simulated disk.
[[nodiscard]] HistoryResult play_folder(std::uint64_t seed);

/// In the place of what a history draws: a stream's settings, the records of one lane, and shifts of its noise.
struct Given {
  const RandomStream& stream;
  const std::vector<RandomRecord>& records;
  const Shifts& shifts;
};

/// What anybody sees of a history of given records under the insecure seed: every release and ledger line that was
/// ever readable, those of aborted transactions too, with its time, and the public pages whenever they may have
/// changed.
struct PublicHistory {
  HistoryResult result;
  std::string log;
  std::string for_operators;  ///< dead letters or rejects, which are nobody else's
};
/// `attach` with one lane or two, of which one has the given records, with the faults of `seed`.
[[nodiscard]] PublicHistory play_records(std::uint64_t seed, const Given& given);
/// The same of `replay` over `passes` of the records: its two growing files after every change, in order, and what
/// its processes print, the table at the end too.
[[nodiscard]] PublicHistory play_records_in_folder(std::uint64_t seed, const Given& given, std::uint64_t passes);

}  // namespace nustream::tests
