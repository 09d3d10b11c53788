#include "folder_end.h"

#include <set>
#include <string>

#include <fmt/format.h>

#include "journal/ledger_chain.h"
#include "journal/outbox_folder.h"
#include "replay/stream_input.h"

namespace nustream::tests {
namespace {

Reference folder_reference(const FolderCase& of) {
  record::RowBatch rows;
  rows.dimension = lane::row_entries(of.settings.config.descent);
  const auto reader = replay::open_window(of.settings.config, of.window, 0);
  while (reader->read(rows, 4096)) {
  }
  return undisturbed(of.settings, of.keys, of.settings.config.lane, std::move(rows), Position{0}, true);
}

void check_folder_ledger(const FolderCase& of, SimulatedDisk& disk, const Reference& reference, Verdict& verdict) {
  const journal::Ledger ledger = journal::read_ledger(disk, folder_paths::folder, of.keys);
  for (const std::string& line : lines_of_text(disk.seen(folder_paths::ledger))) {
    const journal::LedgerEntry entry = journal::read_entry(line);
    const Rho spent = of.settings.mechanism.spend.after(entry.steps);
    if (entry.rho != spent) verdict.violate("a ledger line's spend is not exact");
  }
  if (ledger.epochs.size() != 1 || ledger.epochs.front().steps.value() != reference.steps ||
      ledger.epochs.front().to.value() != of.window.touched(reference.position)) {
    verdict.violate("the ledger does not end with what was spent");
  }
}

/// Where no call failed each reject is there, once at least: a crash may leave it twice, or a torn line.
void check_rejects(SimulatedDisk& disk, const Reference& reference, Verdict& verdict) {
  std::set<std::string> positions;
  for (const std::string& line : lines_of_text(disk.seen(folder_paths::rejects))) {
    if (line.starts_with("{\"position\":") && line.ends_with("\"}")) positions.insert(line.substr(0, line.find(',')));
  }
  if (positions.size() == reference.rejected) return;
  verdict.violate(fmt::format("{} rejects are written down, of {}", positions.size(), reference.rejected));
}

}  // namespace

void check_folder_end(const FolderCase& of, SimulatedDisk& disk, Verdict& verdict, FaultCounts& happened) {
  const Reference reference = folder_reference(of);
  const std::string what = difference(lines_of_text(disk.seen(folder_paths::releases)), reference, !of.fresh_keys);
  if (!what.empty()) return verdict.violate("releases differ: " + what);
  if (reference.steps == 0) {
    if (!disk.seen(folder_paths::ledger).empty()) verdict.violate("a ledger line of no step");
    return;
  }
  const std::string of_state = difference(journal::open_state(of.keys, disk.seen(folder_paths::state)), reference);
  if (!of_state.empty()) return verdict.violate("the state differs: " + of_state);
  check_folder_ledger(of, disk, reference, verdict);
  if (of.settings.config.state.rejects && disk.losses().failed_calls == 0) {
    check_rejects(disk, reference, verdict);
    ++happened["every reject on record"];
  }
  happened["steps"] += reference.steps;
  if (of.window.passes > 1) ++happened["several passes"];
  ++happened[of.fresh_keys ? "under a fresh key" : "under an insecure seed"];
}

}  // namespace nustream::tests
