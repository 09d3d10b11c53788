#include "attached_watch.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "decode/message_decoder.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "stored_users.h"
#include "users/identifiers.h"

namespace nustream::tests {
namespace {

/// Checks one lane at its end.
class LaneEndCheck {
 public:
  LaneEndCheck(const AttachedCase& of, SimulatedBroker& broker, Verdict& verdict, LaneId lane)
      : case_(of),
        broker_(broker),
        verdict_(verdict),
        lane_(lane),
        partition_(static_cast<std::int32_t>(lane.value())),
        reference_(straight_through()) {}

  void check() {
    const std::string what = difference(committed(attached_topics::releases), reference_, !case_.fresh_keys);
    if (!what.empty()) return violate(fmt::format("releases differ: {}\n{}{}", what, case_.stream.toml, story()));
    const std::string fault =
        chain_fault(committed(attached_topics::releases), case_.settings.config.descent.release_every, case_.keys);
    if (!fault.empty()) return violate(fault + '\n' + story());
    check_state();
    check_ledger();
    if (case_.with_letters && committed(attached_topics::letters).size() > reference_.rejected) {
      violate("a dead letter was committed twice");
    }
    broker_.happened["steps"] += reference_.steps;
    count_borders(reference_, broker_.happened);
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

  [[nodiscard]] Reference straight_through() {
    const config::Config& config = case_.settings.config;
    record::RowBatch rows;
    record::Schema schema = config.schema;
    users::Identifiers identifiers(config::partitioner_of(config), {lane_, case_.partitions});
    if (config.users) {
      identifiers.use(users::UserKey(users_key()));
      schema.user->reader = &identifiers;
    }
    decode::MessageDecoder decoder(config.input, schema);
    rows.dimension = decoder.dimension();
    decode::MessageBatch batch;
    const auto time_kind = broker_.gives_times ? decode::TimeKind::broker : decode::TimeKind::producer;
    const std::deque<SimulatedEntry>& log = broker_.log({attached_topics::input, partition_});
    const std::uint64_t end = stop().value_or(log.size());
    for (std::uint64_t offset = 0; offset < std::min<std::uint64_t>(end, log.size()); ++offset) {
      const SimulatedEntry& entry = log[offset];
      if (entry.is_control) continue;
      decode::Message message{offset, entry.milliseconds, time_kind};
      if (entry.key) message.key = *entry.key;
      message.headers = entry.views;
      if (entry.value) message.value = *entry.value;
      batch.add(message);
    }
    decoder.decode(batch.messages(), rows);
    return undisturbed(case_.settings, case_.keys, lane_, std::move(rows), Position{0},
                       stop().has_value() && end <= log.size());
  }

  /// The key of the stream's users, which every lane's state holds.
  [[nodiscard]] noise::KeyBytes users_key() {
    const std::vector<std::string> states = committed(attached_topics::state);
    if (states.empty()) return {};
    return journal::open_state(case_.keys, states.back()).record.users->key;
  }

  /// What users have used up is that of the steps of the last state.
  void check_users(const journal::State& state) {
    const config::Config& config = case_.settings.config;
    if (!config.users) return;
    Counts stored;
    try {
      stored = stored_counts(broker_, {attached_topics::users, partition_}, config.stream, *state.record.users);
    } catch (const Failure& failure) {
      return violate(std::string("the store does not hold the users of its state: ") + failure.what());
    }
    std::string what = clock_difference(*state.record.users, reference_.users.back());
    // What users use up follows from the noise. That of fresh keys is known to nobody.
    if (what.empty() && !case_.fresh_keys) what = difference(stored, reference_.users.back().counts);
    if (!what.empty()) return violate(fmt::format("{}\n{}", what, case_.stream.toml));
    if (!case_.fresh_keys) count_users(config, stored, broker_.happened);
  }

  void check_state() {
    const std::vector<std::string> states = committed(attached_topics::state);
    if (states.empty()) return violate("no state");
    const journal::State state = journal::open_state(case_.keys, states.back());
    check_users(state);
    const std::string what = difference(state, reference_);
    if (!what.empty()) violate(what);
    if (!state.record.outbox.empty()) violate("an outbox was never published");
    const auto offset = broker_.committed_offset({attached_topics::input, partition_});
    if (offset != static_cast<std::int64_t>(reference_.position)) violate("the group's offset is not the state's");
  }

  void check_ledger() {
    journal::LedgerVerifier verifier(case_.keys);
    std::map<journal::Hash, journal::LedgerEntry> lines;
    std::uint64_t last = 0;
    for (const std::string& line : committed(attached_topics::ledger)) {
      verifier.add(line);
      const journal::LedgerEntry entry = journal::read_entry(line);
      const Rho spent = case_.settings.mechanism.spend.after(entry.steps);
      if (entry.rho != spent) violate("a ledger line's spend is not that of the steps that it pays for");
      const std::uint64_t taken = entry.taken.value_or(entry.steps).value();
      if (taken < last) violate("the ledger went back");
      last = taken;
      lines.emplace(verifier.head(), entry);
    }
    const journal::Ledger ledger = std::move(verifier).finish();
    if (ledger.epochs.size() != 1 || ledger.epochs.front().steps.value() < reference_.steps ||
        (!ledger.epochs.front().taken && ledger.epochs.front().steps.value() != reference_.steps)) {
      violate(fmt::format("the ledger does not end with what was spent, {} steps: {}", reference_.steps,
                          committed(attached_topics::ledger).back()));
    }
    check_paid(lines);
    check_closed();
  }

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
      if (known.size() != 1 || known.front().steps != state.identity.steps ||
          known.front().to != state.record.position) {
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
  SimulatedBroker& broker_;
  Verdict& verdict_;
  LaneId lane_;
  std::int32_t partition_;
  Reference reference_;
};

}  // namespace

void check_attached_end(const AttachedCase& of, SimulatedBroker& broker, Verdict& verdict) {
  for (std::uint32_t lane = 0; lane < of.partitions && verdict.holds(); ++lane) {
    LaneEndCheck(of, broker, verdict, LaneId{lane}).check();
  }
}

}  // namespace nustream::tests
