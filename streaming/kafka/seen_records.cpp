// Marks let a later start tell whether the log is still the one that was read (docs/formats/state.md). They are
// keyed, because an unkeyed hash of a record could be compared with hashes of guesses.
#include "kafka/seen_records.h"

#include <algorithm>

#include "decode/message.h"

namespace nustream::kafka {

journal::Hash mark_of(const decode::Message& message, const secrets::Keyring& keys) {
  return journal::record_mark(Position{message.offset}, decode::bytes_of(message), keys.ledger_key());
}

void SeenRecords::add(std::span<const decode::Message> messages, const secrets::Keyring& keys) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    // A lane's batch may end anywhere among these records, so that there are marks all along. Not every record is
    // marked, since that would cost as much as its step.
    if (i % between_marks != 0 && i + kept < messages.size()) continue;
    seen_.push_back({Position{messages[i].offset}, mark_of(messages[i], keys)});
  }
}

std::vector<journal::SeenRecord> SeenRecords::below(Position position) {
  const auto end = std::find_if(seen_.begin(), seen_.end(),
                                [&](const journal::SeenRecord& seen) { return seen.position >= position; });
  // Marks of records beyond the batch stay for the next one; those before the last few are not needed any more.
  const auto count = std::min<std::ptrdiff_t>(end - seen_.begin(), static_cast<std::ptrdiff_t>(kept));
  seen_.erase(seen_.begin(), end - count);
  return {seen_.begin(), seen_.begin() + count};
}

}  // namespace nustream::kafka
