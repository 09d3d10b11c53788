#include "simulated_broker.h"

#include <algorithm>

namespace nustream::tests {

using State = SimulatedTransaction::State;

SimulatedBroker*& SimulatedBroker::current() {
  static SimulatedBroker* broker = nullptr;
  return broker;
}

void SimulatedBroker::append(const Place& place, SimulatedEntry entry) {
  if (entry.transaction && !entry.is_control) entry.transaction->unmarked.insert(place);
  auto& log = logs_[place];
  log.push_back(std::move(entry));
  for (const auto& [name, value] : log.back().headers) log.back().views.push_back({name, value});
  if (on_append) on_append(place, log.back());
}

std::int64_t SimulatedBroker::last_stable(const Place& place) {
  const auto& log = logs_[place];
  const auto unstable = std::find_if(log.begin(), log.end(), [&](const SimulatedEntry& entry) {
    return entry.transaction && !entry.is_control && entry.transaction->unmarked.count(place) > 0;
  });
  return unstable - log.begin();
}

std::vector<std::string> SimulatedBroker::committed_values(const Place& place) {
  std::vector<std::string> values;
  for (const SimulatedEntry& entry : logs_[place]) {
    if (entry.is_control || (entry.transaction && entry.transaction->state != State::committed)) continue;
    values.push_back(entry.value.value_or(""));
  }
  return values;
}

std::optional<std::uint64_t> SimulatedBroker::init(const std::string& id) {
  Coordinator& coordinator = coordinators_[id];
  if (coordinator.last && coordinator.last->state == State::open) {
    ++coordinator.epoch;
    count("an open transaction ended by the next producer");
    end_transaction(coordinator.last, false);
  }
  if (!may_begin(id)) return std::nullopt;
  return ++coordinator.epoch;
}

bool SimulatedBroker::may_begin(const std::string& id) {
  const auto& last = coordinators_[id].last;
  return !last || last->state == State::committed || last->state == State::aborted;
}

std::shared_ptr<SimulatedTransaction> SimulatedBroker::transaction(const std::string& id, std::uint64_t epoch) {
  Coordinator& coordinator = coordinators_[id];
  if (!coordinator.last || coordinator.last->is_decided()) {
    coordinator.last = std::make_shared<SimulatedTransaction>();
    coordinator.last->id = id;
    coordinator.last->epoch = epoch;
  }
  return coordinator.last;
}

void SimulatedBroker::end_transaction(const std::shared_ptr<SimulatedTransaction>& transaction, bool commit) {
  if (transaction->is_decided()) return;
  transaction->state = commit ? State::committing : State::aborting;
  if (on_decided) on_decided(*transaction);
  marking_.push_back(transaction);
  if (!chance(faults.slow_marks)) {
    while (!transaction->unmarked.empty()) mark(*transaction, *transaction->unmarked.begin());
    go_on();
  } else {
    count("markers that came late");
  }
}

void SimulatedBroker::mark(SimulatedTransaction& transaction, const Place& place) {
  const Place where = place;
  transaction.unmarked.erase(where);
  SimulatedEntry marker;
  marker.is_control = true;
  append(where, std::move(marker));
}

void SimulatedBroker::time_out_one() {
  if (is_away()) return;
  for (auto& [id, coordinator] : coordinators_) {
    if (!coordinator.last || coordinator.last->is_decided() || !chance(0.5)) continue;
    ++coordinator.epoch;
    end_transaction(coordinator.last, false);
    count("a transaction that the coordinator gave up");
    return;
  }
}

void SimulatedBroker::restart() {
  if (is_away()) return;
  away_for_ = 1 + draw(60);
  away_wait_max_ = chance(0.2) ? std::chrono::minutes(2) : std::chrono::milliseconds(300);
  count("a restart of the brokers");
}

// When the brokers come back, a transaction that was open goes on, or has run out of time; so does a member's
// session.
void SimulatedBroker::come_back() {
  const std::map<std::string, Member> as_they_were = members;
  for (const auto& [name, member] : as_they_were) {
    if (chance(0.3)) lose(name);
  }
  if (chance(0.5)) time_out_one();
}

void SimulatedBroker::go_on() {
  if (is_away()) return;
  for (auto each = marking_.begin(); each != marking_.end();) {
    SimulatedTransaction& transaction = **each;
    if (!transaction.unmarked.empty() && chance(0.5)) {
      auto place = transaction.unmarked.begin();
      std::advance(place, draw(transaction.unmarked.size()));
      mark(transaction, *place);
    }
    if (!transaction.unmarked.empty()) {
      ++each;
      continue;
    }
    const bool commit = transaction.state == State::committing;
    if (commit && transaction.offset) offsets_[transaction.offset->first] = transaction.offset->second;
    transaction.state = commit ? State::committed : State::aborted;
    each = marking_.erase(each);
  }
  if (!late_.empty() && chance(0.3)) {
    const std::shared_ptr<SimulatedTransaction> transaction = late_.back();
    late_.pop_back();
    // Requests of an older epoch are refused.
    if (is_fenced(transaction->id, transaction->epoch) || transaction->is_decided()) return;
    count("a commit that arrived late");
    end_transaction(transaction, true);
  }
}

void SimulatedBroker::settle() {
  faults = {};
  away_for_ = 0;
  while (!marking_.empty() || !late_.empty()) go_on();
}

std::optional<std::int64_t> SimulatedBroker::committed_offset(const Place& place) {
  const auto found = offsets_.find(place);
  return found == offsets_.end() ? std::nullopt : std::optional(found->second);
}

bool SimulatedBroker::offset_is_stable(const Place& place) {
  return std::none_of(coordinators_.begin(), coordinators_.end(), [&](const auto& each) {
    const auto& last = each.second.last;
    return last && last->offset && last->offset->first == place && last->state != State::committed &&
           last->state != State::aborted;
  });
}

// ---- the group

void SimulatedBroker::join(const std::string& member) {
  members[member].generation = ++generation;
}

void SimulatedBroker::lose(const std::string& member) {
  Member& lost = members[member];
  if (lost.assigned.empty() || is_away()) return;
  ++generation;
  for (const std::int32_t partition : lost.assigned) lost.news.emplace_back('l', partition);
  lost.assigned.clear();
  lost.is_behind = true;
  count("a member that was counted out");
}

void SimulatedBroker::share_out(std::int32_t partitions) {
  if (members.empty() || is_away()) return;
  for (std::int32_t partition = 0; partition < partitions; ++partition) {
    const bool is_taken = std::any_of(members.begin(), members.end(), [&](const auto& each) {
      const auto& news = each.second.news;
      return each.second.assigned.count(partition) > 0 ||
             std::count(news.begin(), news.end(), std::pair('r', partition)) > 0;
    });
    if (is_taken) continue;
    auto member = members.begin();
    std::advance(member, draw(members.size()));
    if (member->second.is_behind) continue;
    ++generation;
    member->second.assigned.insert(partition);
    member->second.news.emplace_back('a', partition);
  }
}

void SimulatedBroker::move_one() {
  if (is_away()) return;
  for (auto& [name, member] : members) {
    if (member.assigned.empty() || !member.news.empty() || !chance(0.5)) continue;
    member.news.emplace_back('r', *member.assigned.begin());
    count("a partition that moved");
    return;
  }
}

// ---- processes

void SimulatedBroker::enter_call() {
  pass_time(std::chrono::microseconds(draw(3000)));
  if (is_away()) pass_time(away_wait_max_ * draw(100) / 100);
  if (is_away() && --away_for_ == 0) come_back();
  go_on();
  if (process == nullptr) return;
  if (process->ended) throw SimulatedCrash{};
  if (process->calls_left > 0 && --process->calls_left == 0) {
    if (chance(0.5)) {
      process->calls_left = 1;
      return;  // the call takes effect before the process ends
    }
    process->ended = true;
    count("a crash before a call");
    throw SimulatedCrash{};
  }
}

void SimulatedBroker::leave_call() {
  if (process == nullptr || process->ended || process->calls_left != 1) return;
  process->ended = true;
  count("a crash after a call");
  throw SimulatedCrash{};
}

}  // namespace nustream::tests
