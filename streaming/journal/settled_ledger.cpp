#include "journal/settled_ledger.h"

#include <algorithm>
#include <utility>

namespace nustream::journal {

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
