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

std::vector<LedgerEntry> read_entries(std::string_view lines) {
  std::vector<LedgerEntry> entries;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1);
    entries.push_back(read_entry(lines.substr(0, end)));
    lines.remove_prefix(end + 1);
  }
  return entries;
}

std::string enclosed_lines(const std::vector<LedgerEntry>& entries, const secrets::Keyring& keys) {
  std::string lines;
  for (const LedgerEntry& entry : entries) lines += enclosed_line(entry, keys);
  return lines;
}

void settle(Ledger& ledger, const StateRecord& record) {
  std::vector<LedgerEntry> known = read_entries(record.ledger_epochs);
  if (known.empty()) return;
  ledger.reserving.reset();
  if (!ledger.epochs.empty()) {
    const LedgerEntry& last = ledger.epochs.back();
    if (last.taken && last.epoch == known.back().epoch) ledger.reserving = last;
  }
  ledger.epochs = std::move(known);
}

}  // namespace nustream::journal
