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

void charge_limit(LedgerEntry& entry) {
  entry.rho = entry.rho_limit;
  if (entry.user) {
    // A spend of k alone is charged to every user, however often that user contributed. With limits of both kinds the
    // limit is the lesser of what each kind costs. How a user spread its mass over this epoch and the ones before it
    // is not known then, so that this epoch adds to them.
    if (!entry.user->by_count.empty()) entry.user->by_count = {entry.rho_limit};
    if (entry.user->of_mass) entry.user->of_mass = entry.rho_limit;
    entry.user->carries_over = false;
  }
  entry.overlap = Overlap::unknown;
}

namespace {

using OfTwo = Rho (*)(Rho, Rho);

Rho dearer(Rho one, Rho other) {
  return std::max(one, other);
}

Rho added(Rho one, Rho other) {
  return Rho{std::nextafter(one.value() + other.value(), std::numeric_limits<double>::infinity())};
}

/// What users are charged by two lines of an epoch, number for number. Where the lines tell users apart in different
/// ways, nobody knows any more who did how much: all are charged as the dearest.
std::vector<Rho> of_two_lines(const std::vector<Rho>& one, const std::vector<Rho>& other, OfTwo charge) {
  if (one.empty() || other.empty()) return one.empty() ? other : one;
  if (one.size() != other.size()) return {charge(std::ranges::max(one), std::ranges::max(other))};
  std::vector<Rho> by_count;
  for (std::size_t j = 0; j < one.size(); ++j) by_count.push_back(charge(one[j], other[j]));
  return by_count;
}

void charge(LedgerEntry& entry, const LedgerEntry& other, OfTwo charge) {
  entry.rho = charge(entry.rho, other.rho);
  entry.rho_limit = charge(entry.rho_limit, other.rho_limit);
  entry.steps = std::max(entry.steps, other.steps);
  entry.from = std::min(entry.from, other.from);
  entry.to = std::max(entry.to, other.to);
  if (!entry.user) entry.user = other.user;
  if (!other.user) return;
  UserSpend& user = *entry.user;
  user.by_count = of_two_lines(user.by_count, other.user->by_count, charge);
  if (user.of_mass && other.user->of_mass) {
    user.of_mass = charge(*user.of_mass, *other.user->of_mass);
  } else if (!user.of_mass) {
    user.of_mass = other.user->of_mass;
  }
  user.carries_over = user.carries_over && other.user->carries_over;
}

}  // namespace

void charge_at_least(LedgerEntry& entry, const LedgerEntry& other) {
  charge(entry, other, dearer);
}

void charge_both(LedgerEntry& entry, const LedgerEntry& other) {
  if (entry.neighbours != other.neighbours || entry.user.has_value() != other.user.has_value()) {
    throw Failure(Exit::data, "two copies of this folder ran an epoch " + std::to_string(entry.epoch.value()) +
                                  " each, with promises about different neighbours, whose spends do not add up; "
                                  "restore the newest copy");
  }
  charge(entry, other, added);
  if (entry.user) entry.user->carries_over = false;
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
