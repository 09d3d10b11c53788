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
};

/// In a handler: of a history that ended with an exception.
[[nodiscard]] HistoryResult unexpected();

/// `attach` over a simulated broker. Everything in it follows from `seed`, but for fresh keys.
[[nodiscard]] HistoryResult play_attached(std::uint64_t seed);
/// The same of `replay` over a simulated disk.
[[nodiscard]] HistoryResult play_folder(std::uint64_t seed);

/// What anybody sees of a history of given records under the insecure seed, and when: every release and ledger line
/// that was ever readable, those of aborted transactions too, and the public pages at the end.
struct PublicHistory {
  HistoryResult result;
  std::string log;
  std::string pages;
};
/// One lane over `records`, its noise shifted; with the faults of `seed`.
[[nodiscard]] PublicHistory play_records(std::uint64_t seed, const RandomStream& stream,
                                         const std::vector<std::string>& records, const Shifts& shifts);

}  // namespace nustream::tests
