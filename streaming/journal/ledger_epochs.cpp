// The epochs of a verified ledger.
#include <algorithm>
#include <utility>

#include "journal/ledger_chain.h"

namespace nustream::journal {

void Ledger::keep(LedgerEntry entry) {
  if (entry.user && entry.user->moved) {
    std::erase_if(epochs, [&](const LedgerEntry& other) { return other.lane == entry.lane; });
  }
  const auto same_epoch = [&](const LedgerEntry& other) {
    return other.lane == entry.lane && other.epoch == entry.epoch;
  };
  const auto known = std::find_if(epochs.begin(), epochs.end(), same_epoch);
  if (known == epochs.end()) {
    epochs.push_back(std::move(entry));
  } else {
    *known = std::move(entry);
  }
}

bool holds_another(const Ledger& ledger, std::string_view stream, LaneId lane) {
  return std::ranges::any_of(ledger.epochs,
                             [&](const LedgerEntry& entry) { return entry.lane != lane || entry.stream != stream; });
}

bool began_with_counts(const Ledger& ledger, EpochId epoch) {
  return std::ranges::any_of(ledger.epochs, [&](const LedgerEntry& entry) {
    return entry.epoch == epoch && entry.user && entry.user->carries_over;
  });
}

}  // namespace nustream::journal
