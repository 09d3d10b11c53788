#include "attached_watch.h"

#include <algorithm>

#include <fmt/format.h>

#include "attached_case.h"
#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "secrets/seal.h"
#include "serve/routes.h"

namespace nustream::tests {
namespace {

/// All answers that the public listener would give at this moment: for each path its status and page.
std::string answers_of(const serve::PublicSurface& shown) {
  const serve::Routes answer = serve::public_routes(shown);
  std::string answers;
  for (const char* path : {"/metrics", "/api/v1/state", "/readyz", "/healthz", "/livez", "/version", "/anything"}) {
    const serve::Response response = answer(path);
    answers += fmt::format("{} {} {}\n{}", path, response.status, response.content_type, response.body);
  }
  return answers;
}

}  // namespace

AttachedWatch::SeenLane* AttachedWatch::seen_lane(std::uint32_t lane) {
  if (lane < lanes_.size()) return &lanes_[lane];
  verdict_.violate(fmt::format("lane {} is shown, which there is not", lane));
  return nullptr;
}

void AttachedWatch::appended(const Place& place, const SimulatedEntry& entry) {
  if (entry.is_control || !entry.value) return;
  const bool is_release = place.first == attached_topics::releases;
  if (keeps_log_ && (is_release || place.first == attached_topics::ledger)) log_record(entry);
  if (place.first == attached_topics::state) pending_states_[entry.transaction.get()] = *entry.value;
  if (place.first == attached_topics::ledger) {
    const auto named = journal::read_unsealed(*entry.value).released;
    if (named) pending_names_[entry.transaction.get()].push_back(*named);
  }
  if (!is_release) return;
  pending_releases_[entry.transaction.get()].push_back(*entry.value);
  if (SeenLane* lane = seen_lane(static_cast<std::uint32_t>(place.second))) look_at_release(*lane, *entry.value);
}

void AttachedWatch::look_at_release(SeenLane& lane, const std::string& line) {
  if (!lane.watcher.look(line)) verdict_.violate("a step is readable with two values: " + line);
  const SeenEpoch& epoch = lane.epochs[journal::parse_last_release(line).epoch];
  if (!epoch.has_state || lane.watcher.furthest() > epoch.durable_steps) {
    verdict_.violate(fmt::format("step {} is readable before its state is durable (step {})", lane.watcher.furthest(),
                                 epoch.durable_steps));
  }
}

void AttachedWatch::log_record(const SimulatedEntry& entry) {
  log_ += fmt::format("{} {} {}", (std::chrono::steady_clock::now() - began_).count(), entry.key.value_or("no key"),
                      *entry.value);
  for (const auto& [name, value] : entry.headers) log_ += fmt::format(" {}={}", name, value.value_or("null"));
  log_ += '\n';
}

void AttachedWatch::decided(const SimulatedTransaction& transaction) {
  const auto found = pending_states_.find(&transaction);
  if (found == pending_states_.end()) return;
  if (transaction.will_commit()) committed(found->second, transaction);
  pending_states_.erase(found);
  pending_names_.erase(&transaction);
  pending_releases_.erase(&transaction);
}

/// A ledger line tells of no release before it is readable, or becomes so with that very transaction: whoever reads
/// what is aborted would have the hash of what is not durable.
void AttachedWatch::look_at_names(const SeenLane& lane, const SimulatedTransaction& transaction) {
  for (const journal::Hash& named : pending_names_[&transaction]) {
    if (!lane.heads.contains(named)) verdict_.violate("a ledger line names a release that is not public");
    broker_.count("a ledger line");
  }
}

void AttachedWatch::committed(const std::string& state, const SimulatedTransaction& transaction) {
  const secrets::StateIdentity identity = secrets::read_identity(state);
  SeenLane* const lane = seen_lane(identity.lane.value());
  if (lane == nullptr) return;
  const bool went_back = !lane->epochs.empty() && identity.epoch < lane->epochs.rbegin()->first;
  SeenEpoch& epoch = lane->epochs[identity.epoch];
  if (went_back || identity.steps.value() < epoch.durable_steps) verdict_.violate("a committed state went back");
  if (identity.epoch > last_) verdict_.violate("a new epoch that nobody asked for");
  if (identity.epoch < last_) broker_.count("a commit under the old number of lanes while that changes");
  epoch.durable_steps = identity.steps.value();
  epoch.has_state = true;
  for (const std::string& line : pending_releases_[&transaction]) {
    const journal::LastRelease release = journal::parse_last_release(line);
    lane->epochs[release.epoch].released.emplace(release.steps.value(), line);
    lane->heads.insert(journal::hash_of(line + '\n'));
  }
  look_at_names(*lane, transaction);
  broker_.count("a committed transaction");
}

void AttachedWatch::look_at(const serve::PublicSurface& shown, EpochId epoch) {
  for (const ShownLane& lane : shown_lanes(shown)) look_at_lane(lane, epoch);
}

void AttachedWatch::look_at_lane(const ShownLane& shown, EpochId epoch) {
  SeenLane* const seen = seen_lane(shown.lane);
  if (seen == nullptr) return;
  static const SeenEpoch nothing;
  const auto known = seen->epochs.find(epoch);
  const SeenEpoch& lane = known == seen->epochs.end() ? nothing : known->second;
  if (std::max(shown.steps_committed, shown.steps_total) > lane.durable_steps) {
    verdict_.violate(fmt::format("a page shows {} and {} steps, of which {} are durable", shown.steps_committed,
                                 shown.steps_total, lane.durable_steps));
  }
  if (!shown.released) return;
  const auto found = lane.released.find(*shown.released);
  if (found == lane.released.end()) {
    verdict_.violate(fmt::format("a page shows the release of step {}, which is not committed", *shown.released));
  } else if (shown.estimate.empty() || estimate_in(found->second) != shown.estimate) {
    verdict_.violate("a page shows another estimate than the release: " + shown.estimate + "\n" + found->second);
  }
  broker_.count("a page with a release");
  if (shown.estimate == no_estimate) broker_.count("a page with a release whose estimate noise hides");
}

void AttachedWatch::log_pages(const std::string& process, const serve::PublicSurface& shown) {
  if (!keeps_log_) return;
  std::string pages = answers_of(shown);
  std::string& last = pages_[process];
  if (pages == last) return;
  log_ += process + '\n' + pages;
  last = std::move(pages);
}

}  // namespace nustream::tests
