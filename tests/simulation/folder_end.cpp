#include "folder_watch.h"

#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/going_on.h"
#include "journal/ledger_chain.h"
#include "journal/outbox_folder.h"
#include "nustream/users/gate.h"
#include "publish/release_json.h"
#include "replay/stream_input.h"
#include "stored_users.h"
#include "users/identifiers.h"

namespace nustream::tests {
namespace {

/// What users of the state have used up, as an epoch behind it begins with it. Empty where everybody counts anew,
/// as in windows of time: the epoch reads its records again, in a later window than they came in.
std::optional<Counts> carried_counts(const FolderCase& of, SimulatedDisk& disk, const std::string& sealed) {
  if (sealed.empty()) return std::nullopt;
  const journal::State state = journal::open_state(of.keys, sealed);
  const auto& limits = of.settings.config.descent.users;
  if (!state.record.users || limits->windows()) return std::nullopt;
  try {
    Counts counts = stored_counts(disk, of.settings.config.stream, *state.record.users);
    for (auto& [user, standing] : counts) standing = users::carried_over(standing);
    return counts;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

void check_folder_ledger(const FolderCase& of, SimulatedDisk& disk, const Reference& reference, Verdict& verdict) {
  const journal::Ledger ledger = journal::read_ledger(disk, folder_paths::folder, of.keys);
  for (const std::string& line : lines_of_text(disk.seen(folder_paths::ledger))) {
    const journal::LedgerEntry entry = journal::read_entry(line);
    const Rho spent = of.settings.mechanism.spend.after(entry.steps);
    if (entry.rho != spent) verdict.violate("a ledger line's spend is not that of the steps that it pays for");
  }
  if (ledger.epochs.size() != reference.epoch.value() + 1 || ledger.epochs.back().steps.value() != reference.steps ||
      ledger.epochs.back().to.value() != of.window.touched(reference.position)) {
    verdict.violate("the ledger does not end with what was spent");
  }
}

/// Where no call failed, each reject is there at least once: a crash may leave it twice, or leave a torn line.
void check_rejects(SimulatedDisk& disk, const Reference& reference, Verdict& verdict) {
  constexpr std::string_view heading = "{\"position\":";
  std::set<std::string> positions;
  for (const std::string& line : lines_of_text(disk.seen(folder_paths::rejects))) {
    if (!line.starts_with(heading) || !line.ends_with("\"}")) continue;
    const std::string position = line.substr(heading.size(), line.find(',') - heading.size());
    // A torn line may have lost its middle and kept its ends.
    if (position.find_first_not_of("0123456789") == std::string::npos) positions.insert(position);
  }
  if (positions.size() == reference.rejected) return;
  verdict.violate(fmt::format("{} rejects are written down, of {}", positions.size(), reference.rejected));
}

}  // namespace

Reference folder_reference(const FolderCase& of, const std::optional<FirstEpoch>& first,
                           const noise::KeyBytes* users) {
  config::Config config = of.settings.config;
  users::Identifiers identifiers(config::partitioner_of(config));
  if (users != nullptr) {
    identifiers.use(users::UserKey(*users));
    config.schema.user->reader = &identifiers;
  }
  record::RowBatch rows;
  rows.dimension = config.schema.dimension();
  const auto reader = replay::open_window(config, of.window, 0);
  while (reader->read(rows, 4096)) {
  }
  return undisturbed(of.settings, of.keys, config.lane, std::move(rows), Position{0}, true,
                     first ? std::optional(first->next) : std::nullopt);
}

std::optional<FirstEpoch> first_epoch_of(const FolderCase& of, SimulatedDisk& disk) {
  const config::Config& config = of.settings.config;
  journal::Ledger ledger = journal::read_ledger(disk, folder_paths::folder, of.keys);
  const std::string sealed = disk.seen(folder_paths::state);
  if (!sealed.empty()) journal::settle(ledger, journal::open_state(of.keys, sealed).record);
  if (config.privacy.budget || ledger.epochs.empty()) return std::nullopt;
  FirstEpoch first{disk.seen(folder_paths::releases),
                   {EpochId{1}, std::move(ledger), {}, carried_counts(of, disk, sealed)}};
  if (first.releases.empty()) return first;
  try {
    const std::string last = lines_of_text(first.releases).back();
    first.next.carried = engine::carried_from(publish::read_release(last).value(), config, of.keys.is_private());
    return first;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

void check_folder_end(const FolderCase& of, SimulatedDisk& disk, const std::optional<FirstEpoch>& first,
                      Verdict& verdict, FaultCounts& happened) {
  const std::string sealed = disk.seen(folder_paths::state);
  std::optional<journal::State> state;
  if (!sealed.empty()) state = journal::open_state(of.keys, sealed);
  const bool by_user = of.settings.config.users.has_value();
  const noise::KeyBytes nobodys{};
  const noise::KeyBytes* const users = !by_user ? nullptr : state ? &state->record.users->key : &nobodys;
  const Reference reference = folder_reference(of, first, users);
  const std::string releases = disk.seen(folder_paths::releases);
  const std::string before = first ? first->releases : std::string();
  if (!releases.starts_with(before)) return verdict.violate("a new epoch changes what was released before it");
  const std::string what = difference(lines_of_text(releases.substr(before.size())), reference, !of.fresh_keys);
  if (!what.empty()) return verdict.violate("releases differ: " + what);
  const std::string fault = chain_fault(lines_of_text(releases), of.settings.config.descent.release_every, of.keys);
  if (!fault.empty()) return verdict.violate(fault);
  if (reference.steps == 0) {
    if (!first && !disk.seen(folder_paths::ledger).empty()) verdict.violate("a ledger line of no step");
    return;
  }
  if (!state) return verdict.violate("no state");
  const std::string of_state = difference(*state, reference);
  if (!of_state.empty()) return verdict.violate("the state differs: " + of_state);
  check_folder_ledger(of, disk, reference, verdict);
  happened["steps"] += reference.steps;
  count_borders(reference, happened);
  count_sums(of.settings.config, reference, happened);
  if (first) {
    ++happened["an epoch that goes on"];
    return;
  }
  if (of.settings.config.state.rejects && disk.losses().failed_calls == 0) {
    check_rejects(disk, reference, verdict);
    ++happened["every reject on record"];
  }
  if (of.window.passes > 1) ++happened["several passes"];
  ++happened[of.fresh_keys ? "under a fresh key" : "under an insecure seed"];
}

}  // namespace nustream::tests
