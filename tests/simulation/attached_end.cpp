#include "attached_watch.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "lane_reference.h"
#include "stored_users.h"

namespace nustream::tests {
namespace {

/// Checks one lane at its end.
class LaneEndCheck {
 public:
  LaneEndCheck(const AttachedCase& of, const std::vector<OldLane>& old, SimulatedBroker& broker, Verdict& verdict,
               LaneId lane)
      : case_(of),
        old_(old),
        broker_(broker),
        verdict_(verdict),
        lane_(lane),
        partition_(static_cast<std::int32_t>(lane.value())),
        reference_(straight_through()) {}

  void check() {
    check_old();
    const std::string what = difference(released(reference_.epoch), reference_, !case_.fresh_keys);
    if (!what.empty()) return violate(fmt::format("releases differ: {}\n{}{}", what, case_.stream.toml, story()));
    const std::string fault =
        chain_fault(committed(attached_topics::releases), case_.settings.config.descent.release_every, case_.keys);
    if (!fault.empty()) return violate(fault + '\n' + story());
    check_state();
    check_ledger();
    const std::uint64_t rejected = reference_.rejected + (old_lane() != nullptr ? old_lane()->reference.rejected : 0);
    if (case_.with_letters && committed(attached_topics::letters).size() > rejected) {
      violate("a dead letter was committed twice");
    }
    broker_.happened["steps"] += reference_.steps;
    count_borders(reference_, broker_.happened);
    count_sums(case_.settings.config, reference_, broker_.happened);
  }

 private:
  void violate(const std::string& what) { verdict_.violate(fmt::format("lane {}: {}", lane_.value(), what)); }
  [[nodiscard]] std::vector<std::string> committed(const char* topic) {
    return broker_.committed_values({topic, partition_});
  }
  [[nodiscard]] std::optional<std::uint64_t> stop() const {
    const auto& stop = case_.settings.config.kafka.stop;
    if (!stop) return std::nullopt;
    return std::get<config::AtOffset>(*stop).offset;
  }

  /// What the lane is to end with: the run over all of its records or, behind a change of the number of lanes, over
  /// those that its old lane had not read.
  [[nodiscard]] Reference straight_through() {
    if (old_.empty()) return lane_reference(case_, broker_, lane_, {0, stop()});
    const std::uint64_t from = old_lane() != nullptr ? old_lane()->reference.position : 0;
    return lane_reference(case_, broker_, lane_, {from, {}}, behind_barrier(case_, old_, lane_));
  }
  /// What is left of this lane under the old number; null where there was no such lane.
  [[nodiscard]] const OldLane* old_lane() const {
    return lane_.value() < old_.size() ? &old_[lane_.value()] : nullptr;
  }

  /// The committed releases of an epoch.
  [[nodiscard]] std::vector<std::string> released(EpochId epoch) {
    std::vector<std::string> lines = committed(attached_topics::releases);
    std::erase_if(lines, [&](const auto& line) { return journal::parse_last_release(line).epoch != epoch; });
    return lines;
  }

  /// All that the lane did under the old number of lanes is what a run does that nothing disturbs up to its last
  /// commit.
  void check_old() {
    const OldLane* const old = old_lane();
    if (old == nullptr || !old->state) return;
    const std::string of_releases = difference(released(EpochId{0}), old->reference, !case_.fresh_keys);
    if (!of_releases.empty()) return violate("releases before the change differ: " + of_releases);
    const std::string of_state = difference(*old->state, old->reference);
    if (!of_state.empty()) return violate("the last state before the change differs: " + of_state);
    check_users(*old->state, old->reference);
  }

  /// What users have used up is that of the steps of the state.
  void check_users(const journal::State& state, const Reference& reference) {
    const config::Config& config = case_.settings.config;
    if (!config.users) return;
    Counts stored;
    try {
      stored = stored_counts(broker_, {attached_topics::users, partition_}, config.stream, *state.record.users);
    } catch (const Failure& failure) {
      return violate(std::string("the store does not hold the users of its state: ") + failure.what());
    }
    std::string what = clock_difference(*state.record.users, reference.users.back());
    // What users use up follows from the noise. That of fresh keys is known to nobody.
    if (what.empty() && !case_.fresh_keys) what = difference(stored, reference.users.back().counts);
    if (!what.empty())
      return violate(fmt::format("epoch {}: {}\n{}", reference.epoch.value(), what, case_.stream.toml));
    if (!case_.fresh_keys) count_users(config, stored, broker_.happened);
  }

  void check_state() {
    const std::vector<std::string> states = committed(attached_topics::state);
    if (states.empty()) return violate("no state");
    const journal::State state = journal::open_state(case_.keys, states.back());
    check_users(state, reference_);
    const std::string what = difference(state, reference_);
    if (!what.empty()) violate(what);
    if (!state.record.outbox.empty()) violate("an outbox was never published");
    const auto offset = broker_.committed_offset({attached_topics::input, partition_});
    if (offset != static_cast<std::int64_t>(reference_.position)) violate("the group's offset is not the state's");
  }

  /// A line says what the steps cost that it pays for. The one that stands for all epochs before a change of the
  /// number of lanes says what the most expensive old lane has cost.
  void check_line(const journal::LedgerEntry& entry) {
    if (!entry.user || !entry.user->moved) {
      const Rho spent = case_.settings.mechanism.spend.after(entry.steps);
      if (entry.rho != spent) violate("a ledger line's spend is not that of the steps that it pays for");
      return;
    }
    if (old_.empty()) return violate("a ledger line tells of users from other lanes");
    const journal::LedgerEntry spent = behind_barrier(case_, old_, lane_).ledger.epochs.front();
    if (entry.rho != spent.rho || entry.user->by_count != spent.user->by_count ||
        entry.user->of_mass != spent.user->of_mass || entry.user->moved->before != spent.user->moved->before ||
        entry.user->moved->change != spent.user->moved->change) {
      violate("the ledger line of users from other lanes is not what the most expensive of these spent");
    }
  }

  void check_ledger() {
    journal::LedgerVerifier verifier(case_.keys);
    std::map<journal::Hash, journal::LedgerEntry> lines;
    std::uint64_t last = 0;
    EpochId epoch{0};
    for (const std::string& line : committed(attached_topics::ledger)) {
      verifier.add(line);
      const journal::LedgerEntry entry = journal::read_entry(line);
      check_line(entry);
      if (std::exchange(epoch, entry.epoch) != entry.epoch) last = 0;
      const std::uint64_t taken = entry.taken.value_or(entry.steps).value();
      if (taken < last) violate("the ledger went back");
      last = taken;
      lines.emplace(verifier.head(), entry);
    }
    const journal::Ledger ledger = std::move(verifier).finish();
    const journal::LedgerEntry& own = ledger.epochs.back();
    if (ledger.epochs.size() != epochs() || own.epoch != reference_.epoch || own.steps.value() < reference_.steps ||
        (!own.taken && own.steps.value() != reference_.steps)) {
      violate(fmt::format("the ledger does not end with what was spent, {} steps: {}", reference_.steps,
                          committed(attached_topics::ledger).back()));
    }
    check_paid(lines);
    check_closed();
  }
  /// The number of epochs of which the ledger tells at the end.
  [[nodiscard]] std::size_t epochs() const { return old_.empty() ? 1 : 2; }

  /// Whoever was told to end says what was taken, and vouches for the last release by cadence.
  void check_closed() {
    const std::vector<std::string> lines = committed(attached_topics::ledger);
    if (lines.empty()) return violate("no ledger");
    const journal::UnsealedLine last = journal::read_unsealed(lines.back());
    journal::Hash head = journal::empty_release_head;
    for (const std::string& line : committed(attached_topics::releases)) head = journal::release_head(line + '\n');
    if (reference_.steps > 0 && last.entry->taken) violate("the ledger's last line reserves, and the lane has ended");
    if (last.released != head) violate("the ledger's last line does not name the last release");
  }

  /// Checks that each state has a line which pays for all of the state's steps, and that the state itself knows their
  /// number.
  void check_paid(const std::map<journal::Hash, journal::LedgerEntry>& lines) {
    for (const std::string& sealed : committed(attached_topics::state)) {
      const journal::State state = journal::open_state(case_.keys, sealed);
      const auto line = lines.find(state.record.ledger_head);
      if (line == lines.end() || line->second.steps < state.identity.steps) {
        return violate("a state took steps that no ledger line pays for");
      }
      const std::vector<journal::LedgerEntry> known = journal::read_entries(state.record.ledger_epochs);
      if (known.size() != (state.identity.epoch == EpochId{0} ? 1 : epochs()) ||
          known.back().steps != state.identity.steps || known.back().to != state.record.position) {
        return violate("a state does not know what was spent");
      }
    }
  }

  /// Everything that somebody who looks into a violation wants to see.
  [[nodiscard]] std::string story() {
    const Place input{attached_topics::input, partition_};
    std::string text =
        fmt::format("input ends at {}, group's offset {}, stop {}\n", broker_.end(input),
                    broker_.committed_offset(input).value_or(-1), stop() ? std::to_string(*stop()) : "none");
    for (const std::string& line : committed(attached_topics::releases)) text += line + '\n';
    return text;
  }

  const AttachedCase& case_;
  const std::vector<OldLane>& old_;
  SimulatedBroker& broker_;
  Verdict& verdict_;
  LaneId lane_;
  std::int32_t partition_;
  Reference reference_;
};

}  // namespace

void check_attached_end(const AttachedCase& of, const AttachedCase* before, SimulatedBroker& broker,
                        Verdict& verdict) {
  const std::vector<OldLane> old = before != nullptr ? old_lanes(*before, broker) : std::vector<OldLane>();
  for (std::uint32_t lane = 0; lane < of.partitions && verdict.holds(); ++lane) {
    LaneEndCheck(of, old, broker, verdict, LaneId{lane}).check();
  }
  if (verdict.holds() && !old.empty()) count_change(of, old, broker.happened);
}

}  // namespace nustream::tests
