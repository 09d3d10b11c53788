// What `nustream inspect --json` prints.
#include <fmt/format.h>

#include "cli/inspected.h"
#include "publish/json_writer.h"
#include "publish/limits_json.h"
#include "publish/release_json.h"

namespace nustream::cli {
namespace {

/// Counts of users, which depend on data: the object says so itself.
void append_users(const users::UserTotals& counts, publish::JsonWriter& json) {
  const auto object = json.object("users");
  json.field("private", false);
  json.field("entries", counts.entries);
  json.field("at_limit", counts.at_limit);
  json.elements("by_count", counts.by_count);
}

/// The identity of the state, which is in its header in clear.
void append_identity(const Inspected& report, publish::JsonWriter& json) {
  json.field("stream", report.identity.stream);
  json.field("lane", report.identity.lane.value());
  json.field("epoch", report.identity.epoch.value());
  json.field("steps", report.identity.steps.value());
  json.field("position", report.position.value());
  json.field("private", report.identity.is_private);
  json.field("digest", report.identity.settings_digest);
}

/// One epoch as the ledger has it, by the names that its lines have.
void append_epoch(const journal::LedgerEntry& entry, publish::JsonWriter& json) {
  const auto object = json.object();
  json.field("lane", entry.lane.value());
  json.field("epoch", entry.epoch.value());
  json.field("from", entry.from.value());
  json.field("to", entry.to.value());
  json.field("steps", entry.steps.value());
  json.field("rho", entry.rho.value());
  json.field("rho_limit", entry.rho_limit.value());
  json.field("adjacency", privacy::name(entry.neighbours.adjacency));
  json.field("protects", journal::protected_by(entry.neighbours));
  if (entry.user) publish::append_limits(entry.user->limits, json);
  if (entry.trusts_framing) json.field("framing", "trusted");
  json.field("disjoint", journal::name_of(entry.overlap));
}

/// All epochs, what the last line reserves beyond what was taken, and the total.
void append_ledger(const Inspected& report, publish::JsonWriter& json) {
  {
    const auto ledger = json.array("ledger");
    for (const journal::LedgerEntry& entry : report.ledger.epochs) append_epoch(entry, json);
  }
  if (const auto& reserving = report.ledger.reserving) {
    const auto reserved = json.object("reserved");
    json.field("epoch", reserving->epoch.value());
    json.field("steps", reserving->steps.value());
    json.field("rho", reserving->rho.value());
  }
  json.field("total_rho", total_of(report.ledger).value());
}

/// What all epochs come to, at every δ of the last release; δ is not in the ledger.
void append_totals(const Inspected& report, const publish::ShownRelease& release, publish::JsonWriter& json) {
  const std::vector<publish::Epsilons> totals = total_epsilons(report, release);
  json.field("total_epsilon", totals.front().by.front());
  publish::append_epsilons("total_epsilons", totals, json);
  publish::append_groups(groups_of(report, Delta{release.delta}), json);
  json.field("delta", release.delta);
  json.field("conversion", "gaussian");
}

}  // namespace

std::string to_json(const Inspected& report) {
  std::string line = report.last_release;
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return publish::object_text([&](publish::JsonWriter& json) {
    append_identity(report, json);
    append_ledger(report, json);
    if (const auto release = publish::read_release(report.last_release)) append_totals(report, *release, json);
    if (!report.key_file.empty()) json.field("key", report.key_file);
    if (!report.witness_file.empty()) json.field("witness", report.witness_file);
    json.field("public_key", report.public_key);
    if (report.users) append_users(*report.users, json);
    // The line as it was published, and not written anew: its hash and signature are of these bytes.
    json.raw("last_release", line.empty() ? "null" : line);
  });
}

}  // namespace nustream::cli
