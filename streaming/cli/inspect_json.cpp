// What `nustream inspect --json` prints.
#include <fmt/format.h>

#include "cli/inspected.h"
#include "publish/json_text.h"
#include "publish/limits_json.h"
#include "publish/release_json.h"

namespace nustream::cli {
namespace {

void append_users(const users::UserCounts& counts, std::string& out) {
  out += ",\"users\":{\"private\":false";
  publish::append_field("entries", counts.entries, out);
  publish::append_field("at_limit", counts.at_limit, out);
  out += ",\"by_count\":[";
  for (std::size_t i = 0; i < counts.by_count.size(); ++i) {
    if (i > 0) out += ',';
    publish::append_number(counts.by_count[i], out);
  }
  out += "]}";
}

}  // namespace

std::string to_json(const Inspected& report) {
  std::string out = "{\"stream\":";
  publish::append_string(report.identity.stream, out);
  out += fmt::format(
      ",\"lane\":{},\"epoch\":{},\"steps\":{},\"position\":{},\"private\":{},\"digest\":\"{}\",\"ledger\":[",
      report.identity.lane.value(), report.identity.epoch.value(), report.identity.steps.value(),
      report.position.value(), report.identity.is_private, report.identity.settings_digest);
  bool first = true;
  for (const journal::LedgerEntry& entry : report.ledger.epochs) {
    out += fmt::format("{}{{\"lane\":{},\"epoch\":{},\"from\":{},\"to\":{},\"steps\":{},\"rho\":", first ? "" : ",",
                       entry.lane.value(), entry.epoch.value(), entry.from.value(), entry.to.value(),
                       entry.steps.value());
    publish::append_number(entry.rho.value(), out);
    out += ",\"rho_limit\":";
    publish::append_number(entry.rho_limit.value(), out);
    out += fmt::format(",\"adjacency\":\"{}\",\"protects\":\"{}\"", privacy::name(entry.neighbours.adjacency),
                       journal::protected_by(entry.neighbours));
    if (entry.user) publish::append_limits(entry.user->limits, out);
    if (entry.trusts_framing) out += ",\"framing\":\"trusted\"";
    out += fmt::format(",\"disjoint\":\"{}\"}}", journal::name_of(entry.overlap));
    first = false;
  }
  out += ']';
  if (report.ledger.reserving) {
    out += fmt::format(",\"reserved\":{{\"epoch\":{},\"steps\":{},\"rho\":", report.ledger.reserving->epoch.value(),
                       report.ledger.reserving->steps.value());
    publish::append_number(report.ledger.reserving->rho.value(), out);
    out += '}';
  }
  out += ",\"total_rho\":";
  publish::append_number(total_of(report.ledger).value(), out);
  if (const auto release = publish::read_release(report.last_release)) {
    const std::vector<publish::Epsilons> totals = total_epsilons(report, *release);
    publish::append_field("total_epsilon", totals.front().by.front(), out);
    publish::append_epsilons("total_epsilons", totals, out);
    publish::append_groups(groups_of(report, Delta{release->delta}), out);
    publish::append_field("delta", release->delta, out);
    publish::append_field("conversion", "gaussian", out);
  }
  for (const auto& [name, path] : {std::pair("key", &report.key_file), std::pair("witness", &report.witness_file)}) {
    if (!path->empty()) publish::append_field(name, *path, out);
  }
  publish::append_field("public_key", report.public_key, out);
  if (report.users) append_users(*report.users, out);
  out += ",\"last_release\":";
  std::string line = report.last_release;
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return out + (line.empty() ? "null" : line) + "}";
}

}  // namespace nustream::cli
