// The epochs of a verified ledger.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error.h"
#include "journal/ledger_chain.h"
#include "journal/line_fields.h"
#include "secrets/hex.h"

namespace nustream::journal {

std::string_view name_of(Overlap overlap) noexcept {
  switch (overlap) {
    case Overlap::disjoint:
      return "disjoint";
    case Overlap::overlapping:
      return "overlapping";
    case Overlap::unknown:
      break;
  }
  return "unknown";
}

std::string_view protected_by(privacy::Neighbours neighbours) noexcept {
  return neighbours.of_user ? "user" : neighbours.target_only ? "target" : "record";
}

void Ledger::keep(LedgerEntry entry) {
  // Such a line contains what the lane's earlier lines said. To keep them beside it would count their spend twice.
  if (entry.user && entry.user->moved) {
    std::erase_if(epochs, [&](const LedgerEntry& other) { return other.lane == entry.lane; });
  }
  // A later line of an epoch supersedes the earlier one, since `rho` is the running spend of the whole epoch.
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

namespace {

/// Charges every user the line's ρ, however often that user contributed. How users spread their masses over this
/// epoch and the ones before it is not known then, so that this epoch adds to them.
void charge_all_alike(LedgerEntry& entry) {
  if (!entry.user) return;
  if (!entry.user->by_count.empty()) entry.user->by_count = {entry.rho};
  if (entry.user->of_mass) entry.user->of_mass = entry.rho;
  entry.user->carries_over = false;
}

Rho added(Rho one, Rho other) {
  return Rho{std::nextafter(one.value() + other.value(), std::numeric_limits<double>::infinity())};
}

/// What the dearer of two lines of an epoch charges, number for number. Where the lines tell users apart in different
/// ways, nobody knows any more who did how much: all are charged as the dearest.
std::vector<Rho> dearer(const std::vector<Rho>& one, const std::vector<Rho>& other) {
  if (one.empty() || other.empty()) return one.empty() ? other : one;
  if (one.size() != other.size()) return {std::max(std::ranges::max(one), std::ranges::max(other))};
  std::vector<Rho> by_count;
  for (std::size_t j = 0; j < one.size(); ++j) by_count.push_back(std::max(one[j], other[j]));
  return by_count;
}

/// Charges one epoch by the dearer of its two lines.
void charge_at_least(LedgerEntry& entry, const LedgerEntry& other) {
  entry.rho = std::max(entry.rho, other.rho);
  entry.rho_limit = std::max(entry.rho_limit, other.rho_limit);
  if (!entry.user || !other.user) return;
  entry.user->by_count = dearer(entry.user->by_count, other.user->by_count);
  entry.user->of_mass = std::max(entry.user->of_mass, other.user->of_mass);
  entry.user->carries_over = entry.user->carries_over && other.user->carries_over;
}

/// Charges two epochs by one line.
void charge_both(LedgerEntry& entry, const LedgerEntry& other) {
  if (entry.neighbours != other.neighbours) {
    throw Failure(Exit::data, "two copies of this folder ran an epoch " + std::to_string(entry.epoch.value()) +
                                  " each, with promises about different neighbours, whose spends do not add up; "
                                  "restore the newest copy");
  }
  entry.rho = added(entry.rho, other.rho);
  entry.rho_limit = added(entry.rho_limit, other.rho_limit);
  charge_all_alike(entry);
}

}  // namespace

void charge_limit(LedgerEntry& entry) {
  entry.rho = entry.rho_limit;
  charge_all_alike(entry);
  entry.overlap = Overlap::unknown;
}

void charge_beside(LedgerEntry& entry, const LedgerEntry& other) {
  const bool is_one_epoch = entry.settings_digest == other.settings_digest;
  is_one_epoch ? charge_at_least(entry, other) : charge_both(entry, other);
  entry.steps = std::max(entry.steps, other.steps);
  entry.from = std::min(entry.from, other.from);
  entry.to = std::max(entry.to, other.to);
}

// The ledger of a folder is one lane's. A line of another one charges other records, and must not be added up with
// these.
bool holds_another(const Ledger& ledger, std::string_view stream, LaneId lane) {
  return std::ranges::any_of(ledger.epochs,
                             [&](const LedgerEntry& entry) { return entry.lane != lane || entry.stream != stream; });
}

bool began_with_counts(const Ledger& ledger, EpochId epoch) {
  return std::ranges::any_of(ledger.epochs, [&](const LedgerEntry& entry) {
    return entry.epoch == epoch && entry.user && entry.user->carries_over;
  });
}

Hash head_before(std::string_view lines) try {
  simdjson::dom::parser parser;
  const Object object = parser.parse(simdjson::padded_string(lines.substr(0, lines.find('\n'))));
  Hash head{};
  if (!secrets::from_hex(text_in(object, "previous"), head)) not_genuine("has a line that is no line of a ledger");
  return head;
} catch (const simdjson::simdjson_error&) {
  not_genuine("has a line that is no line of a ledger");
}

std::vector<LedgerEntry> read_entries(std::string_view lines) {
  std::vector<LedgerEntry> entries;
  while (!lines.empty()) {
    // Every line ends with a newline. Where the last one lacks it, the text was cut, and read_entry() refuses what is
    // left.
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
  // The state is of an earlier version, whose ledger lines say what was taken.
  if (known.empty()) return;
  ledger.reserving.reset();
  if (!ledger.epochs.empty()) {
    const LedgerEntry& last = ledger.epochs.back();
    if (last.taken && last.epoch == known.back().epoch) ledger.reserving = last;
  }
  // What the state says counts, since lines may pay for steps that were never taken.
  ledger.epochs = std::move(known);
}

}  // namespace nustream::journal
