// Compares what a state says with what its topics hold. Releases are read uncommitted: a release of an aborted
// transaction was readable by somebody, and counts as public. Ledger lines and the input are read committed. Where
// the two contradict each other, the state is too old (StateRolledBack), or something was lost (Failure(data)).
#include "kafka/lane_checks.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "kafka/interruption.h"
#include "kafka/seen_records.h"
#include "kafka/topic_bookmark.h"
#include "located.h"
#include "log/log.h"
#include "shell_word.h"

namespace nustream::kafka {
namespace {

constexpr std::chrono::milliseconds between_looks{200};

/// Whether the release is of a step behind the state. Such a release was made by a newer state, which is gone.
bool is_later(const journal::LastRelease& release, const secrets::StateIdentity& state) {
  if (release.epoch != state.epoch) return release.epoch > state.epoch;
  return release.steps > state.steps;
}

/// The record's value; empty for a record without one.
std::string_view text_of(const Message& message) {
  return message.record.value.value_or(std::string_view());
}

std::string place_of(const Message& message, const TopicPartition& partition) {
  return fmt::format("topic '{}', partition {}, offset {}", partition.topic, partition.partition.value(),
                     message.record.offset);
}

journal::LastRelease release_in(const Message& message, const TopicPartition& partition) {
  return located(place_of(message, partition), [&] { return journal::parse_last_release(text_of(message)); });
}

}  // namespace

std::string shorter_log(std::uint64_t end, std::uint64_t position) {
  return fmt::format(
      "the input ends at offset {}, but records up to {} were read: the topic was recreated or truncated", end,
      position);
}

LaneChecks::LaneChecks(const ClientSettings& client, LanePlace place, const secrets::Keyring& keys,
                       std::chrono::milliseconds time, const std::atomic<bool>& cancelled)
    : brokers_(client.brokers),
      place_(std::move(place)),
      keys_(keys),
      time_(time),
      cancelled_(cancelled),
      committed_(client, Isolation::read_committed, place_.group),
      uncommitted_(client, Isolation::read_uncommitted, place_.group) {}

void LaneChecks::contradiction(const std::string& what) const {
  throw Failure(Exit::data,
                fmt::format("lane {}: {}; nothing was published: restore what was lost", place_.name(), what));
}

// A new epoch would have to add its cost to that of lines that are gone.
void LaneChecks::ledger_lost(const std::string& what) const {
  throw Failure(Exit::data, fmt::format("lane {}: {}; nothing was published: {}", place_.name(), what,
                                        without_ledger("as nustream inspect CONFIG shows it of the state")));
}

void LaneChecks::rolled_back(const std::string& what) const {
  throw StateRolledBack(Exit::data,
                        fmt::format("lane {}: {}: the state was rolled back; nothing was published: "
                                    "restore the state topic, or begin a new noise epoch with --new-epoch",
                                    place_.name(), what));
}

void LaneChecks::check_outputs(const journal::State& state) {
  const TopicBookmark bookmark = decode_bookmark(state.record.bookmark);
  check_releases(state, bookmark.releases_from);
  check_ledger(state, bookmark.ledger_line);
}

void LaneChecks::check_releases(const journal::State& state, Offset from) {
  const TopicPartition partition = place_.in(place_.topics.releases);
  const Watermarks log = uncommitted_.watermarks(partition, deadline());
  if (log.high < from) contradiction("the release topic lost releases: it was recreated or truncated");
  uncommitted_.read_patiently(partition, std::max(from, log.low), log.high, time_, [&](const Message& message) {
    const journal::LastRelease release = release_in(message, partition);
    if (release.lane != place_.lane) return;
    if (is_later(release, state.identity)) {
      rolled_back(fmt::format("epoch {}, step {} is released, but the state is at epoch {}, step {}",
                              release.epoch.value(), release.steps.value(), state.identity.epoch.value(),
                              state.identity.steps.value()));
    }
    if (release.is_private != state.identity.is_private) {
      throw Failure(Exit::data,
                    fmt::format("lane {}: topic '{}' holds releases that are {}private, and this run is {}private; "
                                "nothing was published: name another kafka.release_topic",
                                place_.name(), place_.topics.releases, release.is_private ? "" : "not ",
                                release.is_private ? "not " : ""));
    }
  });
}

void LaneChecks::check_ledger(const journal::State& state, const std::optional<Offset>& line) {
  // Before its first line a lane has nothing to find.
  if (state.record.ledger_head == journal::empty_ledger_head) return;
  const TopicPartition partition = place_.in(place_.topics.ledger);
  const Watermarks log = committed_.watermarks(partition, deadline());
  // The bookmark's line is the state's own or one before it. From there on the state's own line has to come, and none
  // behind it.
  const Offset from = line.value_or(log.low);
  if (from < log.low || log.high < from) ledger_lost("the ledger topic lost lines that the state knows");
  bool found = false;
  bool further = false;
  committed_.read_patiently(partition, from, log.high, time_, [&](const Message& message) {
    further = found;
    if (found || journal::hash_of(std::string(text_of(message)) + '\n') != state.record.ledger_head) return;
    found = true;
    reserving_ = journal::read_unsealed(text_of(message)).entry;
  });
  if (!found) ledger_lost("the ledger topic does not hold this state's line");
  if (further) rolled_back("the ledger goes on beyond this state");
  const bool reserves = reserving_ && reserving_->taken && reserving_->epoch == state.identity.epoch;
  if (!reserves) reserving_.reset();
}

std::string without_ledger(const std::string& shown_by) {
  return fmt::format(
      "restore the ledger topic; or, where nobody has a copy, begin in new topics for state, releases and ledger, "
      "with another stream.name and kafka.group, and with a privacy.budget that is less by what was spent here, {} "
      "(docs/kafka.md, Trouble)",
      shown_by);
}

std::string command_to_set_back(const std::string& brokers, const LanePlace& place, std::uint64_t position) {
  const std::string partition = fmt::format("{}:{}", place.topics.input, place.lane.value());
  return fmt::format(
      "kafka-consumer-groups --bootstrap-server {} --group {} --topic {} --reset-offsets --to-offset {} --execute",
      in_shell(brokers), in_shell(place.group), in_shell(partition), position);
}

std::string other_offset(const std::string& lane, std::uint64_t committed, std::uint64_t position,
                         std::chrono::milliseconds wait) {
  const bool is_behind = committed < position;
  // An offset beyond the state may be all that is left of steps whose state is lost. What to do about it is told
  // where the lane ends, beside the ways to restore the state.
  const std::string then =
      is_behind ? fmt::format(
                      "goes on at offset {}. A reset of the group's offsets is not followed, since a step is "
                      "never taken back: to read records again, stop, and begin in other topics or under "
                      "another stream.name, where they are charged anew",
                      position)
                : "refuses its state, which is older than what was committed (exit code 65): the state was rolled "
                  "back, or somebody has reset the group's offsets, which is not followed";
  return fmt::format(
      "lane {}: the group's committed offset {} is {} the state's {}: the state counts. The lane waits up to {} s "
      "for an offset that may be on its way, and then {}",
      lane, committed, is_behind ? "behind" : "beyond", position, (wait.count() + 999) / 1000, then);
}

LaneChecks::Input LaneChecks::check_input(const journal::StateRecord& record, bool took_steps) {
  const TopicPartition partition = place_.in(place_.topics.input);
  const Offset position{static_cast<std::int64_t>(record.position.value())};
  // The length of the whole log, open transactions included: only a log that ends before the position is shorter than
  // what was read.
  const Watermarks whole = uncommitted_.watermarks(partition, deadline());
  Input input{committed_.watermarks(partition, deadline()), false, true, {}};
  input.gap = position < input.log.low;
  if (whole.high < position) {
    input.changed = shorter_log(static_cast<std::uint64_t>(whole.high.value()), record.position.value());
  } else {
    find_again(record, input);
  }
  // It is another log, of which nothing else matters.
  if (!input.changed.empty()) return input;
  // A committed offset proves the log, since deleting a topic deletes the group's offsets for it.
  const bool has_read_nothing = !took_steps && record.position == record.start;
  // An offset beyond the state is refused in here.
  if (check_committed_offset(record) || has_read_nothing) input.unproven = false;
  return input;
}

/// Looks for the records that the state has marks of, from the first of them that the log may still hold. Where none
/// is left the input stays unproven; where one is missing or another record is in its place, the input is changed.
void LaneChecks::find_again(const journal::StateRecord& record, Input& input) {
  // Records before `low` may simply have expired, which says nothing about the others.
  const auto kept = std::find_if(record.seen.begin(), record.seen.end(), [&](const journal::SeenRecord& seen) {
    return seen.position.value() >= static_cast<std::uint64_t>(input.log.low.value());
  });
  if (kept == record.seen.end()) return;
  input.unproven = false;
  auto next = kept;
  bool differs = false;
  committed_.read_patiently(
      place_.in(place_.topics.input), Offset{static_cast<std::int64_t>(kept->position.value())},
      Offset{static_cast<std::int64_t>(record.position.value())}, time_, [&](const Message& message) {
        // Marks are looked for in order. A record behind a mark that did not come shows that the marked one is
        // missing.
        if (next == record.seen.end() || message.record.offset < next->position.value()) return;
        if (message.record.offset != next->position.value() || mark_of(message.record, keys_) != next->mac) {
          differs = true;
        }
        ++next;
      });
  if (!differs && next == record.seen.end()) return;
  input.changed = fmt::format(
      "records at offsets {} to {} of the input are not those that were read: the topic was recreated, compacted or "
      "changed",
      kept->position.value(), record.position.value());
}

std::optional<Offset> LaneChecks::check_committed_offset(const journal::StateRecord& record) {
  const Offset position{static_cast<std::int64_t>(record.position.value())};
  const TopicPartition input = place_.in(place_.topics.input);
  const Deadline until = deadline();
  std::optional<Offset> committed = committed_.committed(input, until);
  if (committed && *committed != position) {
    const auto reset_to = static_cast<std::uint64_t>(committed->value());
    log::warning("offset_reset_seen", other_offset(place_.name(), reset_to, record.position.value(), time_),
                 {{"lane", std::uint64_t{place_.lane.value()}}, {"offset", reset_to}});
  }
  // Offsets of an older transaction may still be on their way. Each look has its own deadline: the last one begins
  // when the wait is nearly over, and with the wait's deadline it would be taken for a broker that does not answer.
  while (committed && *committed != position && std::chrono::steady_clock::now() < until) {
    if (cancelled_.load()) throw Cancelled();
    std::this_thread::sleep_for(between_looks);
    committed = committed_.committed(input, deadline());
  }
  if (committed && *committed > position) {
    throw StateRolledBack(
        Exit::data,
        fmt::format(
            "lane {}: the group has committed offset {}, but the state is at {}: the state was rolled back, or "
            "somebody has reset the group's offset; nothing was published: restore the state topic, or begin a new "
            "noise epoch with --new-epoch. Only if you know who reset the offset, and when, set it back (behind a "
            "state that was rolled back, what is released again would not be charged): {}",
            place_.name(), committed->value(), position.value(),
            command_to_set_back(brokers_, place_, record.position.value())));
  }
  return committed;
}

journal::Ledger LaneChecks::ledger() {
  // It checks each line's place in the chain and its MAC.
  journal::LedgerVerifier verifier(keys_);
  const TopicPartition ledger = place_.in(place_.topics.ledger);
  const Watermarks lines = committed_.watermarks(ledger, deadline());
  committed_.read_patiently(ledger, lines.low, lines.high, time_, [&](const Message& message) {
    located(place_of(message, ledger), [&] { verifier.add(text_of(message)); });
  });
  return std::move(verifier).finish();
}

LaneChecks::Remains LaneChecks::remains() {
  // All records are read, also aborted ones: a release that somebody may have read counts as public.
  Remains remains{ledger(), std::nullopt, committed_.committed(place_.in(place_.topics.input), deadline())};
  const TopicPartition releases = place_.in(place_.topics.releases);
  const Watermarks log = uncommitted_.watermarks(releases, deadline());
  uncommitted_.read_patiently(releases, log.low, log.high, time_, [&](const Message& message) {
    journal::LastRelease release = release_in(message, releases);
    if (release.lane != place_.lane) return;
    std::optional<journal::LastRelease>& last = remains.last_release;
    const bool later =
        !last || release.epoch > last->epoch || (release.epoch == last->epoch && release.steps >= last->steps);
    if (later) last = std::move(release);
  });
  return remains;
}

std::optional<LaneChecks::Published> LaneChecks::last_published(Offset from) {
  const TopicPartition partition = place_.in(place_.topics.releases);
  const Watermarks log = committed_.watermarks(partition, deadline());
  std::optional<Published> last;
  // A bookmark may lie outside of a log that was cut.
  committed_.read_patiently(partition, std::clamp(from, log.low, log.high), log.high, time_,
                            [&](const Message& message) {
                              // With the newline that a line has in a file.
                              last = Published{std::string(text_of(message)) + '\n', std::nullopt};
                              if (message.record.time_kind != decode::TimeKind::none) {
                                last->milliseconds = message.record.milliseconds;
                              }
                            });
  return last;
}

Watermarks LaneChecks::input_log() {
  return committed_.watermarks(place_.in(place_.topics.input), deadline());
}

Offset LaneChecks::input_end() {
  return uncommitted_.watermarks(place_.in(place_.topics.input), deadline()).high;
}

bool LaneChecks::input_has_records(Offset from, Offset to, std::uint64_t count) {
  constexpr std::int64_t window = 1'024;  // in a long backlog, the first records are enough for an answer
  const Watermarks log = input_log();
  const std::int64_t end = std::min(to, log.high).value();
  std::uint64_t found = 0;
  for (std::int64_t begin = std::max(from, log.low).value(); found < count && begin < end; begin += window) {
    committed_.read_patiently(place_.in(place_.topics.input), Offset{begin}, Offset{std::min(begin + window, end)},
                              time_, [&](const Message&) { ++found; });
  }
  return found >= count;
}

Offset LaneChecks::input_offset_at(std::int64_t milliseconds) {
  const TopicPartition partition = place_.in(place_.topics.input);
  // To a broker, negative times mean its first or last offset; no record is older than 1970.
  const auto found = committed_.offset_at(partition, std::max<std::int64_t>(milliseconds, 0), deadline());
  return found ? *found : committed_.watermarks(partition, deadline()).high;
}

}  // namespace nustream::kafka
