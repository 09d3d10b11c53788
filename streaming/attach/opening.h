// The steps of opening one lane. This header is private to the sources that take them.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/lane_bounds.h"
#include "attach/open_lane.h"
#include "engine/epoch_decision.h"
#include "journal/completion.h"
#include "journal/state_record.h"
#include "kafka/lane_checks.h"

namespace nustream::attach {

/// The steps of opening one lane. It finds out what the topics hold (look_at_...), asks engine::decide() what follows
/// from that, and then refuses, goes on, or begins an epoch.
class Opening {
 public:
  explicit Opening(LaneOrder order)
      : order_(std::move(order)),
        setup_(*order.setup),
        kafka_(setup_.config.kafka),
        client_{kafka_.brokers, kafka_.properties, order_.cancelled.get()},
        place_{setup_.config.stream, order_.lane, kafka_.group, kafka_.topics} {}
  OpenedLane open();

 private:
  [[nodiscard]] kafka::KafkaJournal::Options journal_options() const;
  [[nodiscard]] engine::Asked asked() const;
  [[noreturn]] void refuse_other_settings() const;
  /// Opens the state and compares it with the topics. A state that does not open, or that is older than what the
  /// topics hold, does not tell what is public. It is set aside then, and where a new epoch may begin,
  /// look_at_remains() reads what is public from the topics themselves.
  void look_at_state(const std::string& sealed);
  /// Rebuilds the users of a state that may be gone on with. A lost store does not end the opening here: a new epoch
  /// of the same settings may begin, and is charged beside the epochs before it.
  void look_at_users();
  /// Sets the state aside. To be called within a handler: its exception is kept, and thrown again where the lane
  /// cannot do without the state.
  void unusable(engine::Found::State as);
  /// Finds out what the topics hold of the lane where no usable state does.
  void look_at_remains();
  [[noreturn]] void refuse(const engine::Refuse& refused) const;
  void say_accepted(Position start) const;
  /// The gap that is accepted, or would have to be, in words. Without a state a gap can only be a log that ends
  /// before the offsets that the lane's remains tell of.
  [[nodiscard]] std::string gap_text() const;
  [[nodiscard]] engine::EpochIdentity identity_of(EpochId epoch, Position start, journal::Overlap overlap,
                                                  const std::string& digest, bool carries_over) const;
  OpenedLane go_on(journal::Overlap overlap);
  /// Begins an epoch, once decided() has said so.
  OpenedLane begin();
  /// The decision by what is found so far.
  [[nodiscard]] engine::Decision decided() const {
    return engine::decide(found_, ledger_.epochs, asked(), engine::Keeping::topics);
  }
  /// Opens the users of an epoch that begins. To be called once it is sure that one begins, since that may close the
  /// lanes where they were before.
  [[nodiscard]] EpochUsers users_of_epoch();
  /// The decision once it is known what the users of the epoch have spent in other lanes. The epoch then owes a
  /// ledger line for that spend.
  [[nodiscard]] engine::Begin beginning(const EpochUsers& users);
  /// Returns the state's marks of the records that were read, so that a later change of the input is noticed. Returns
  /// none where no state opened, where the input is another log, or where the epoch reads the same records again.
  [[nodiscard]] std::vector<journal::SeenRecord> carried_marks();
  /// Whether a new epoch begins where the settings say, instead of at the last release.
  [[nodiscard]] bool is_from_start(EpochId epoch) const {
    return (order_.renewal.from_start || is_behind_measuring_) && epoch.value() > 0;
  }
  /// Lets a later epoch begin at its start, or at the last release, and says which.
  [[nodiscard]] std::string beginning_in_words(OpenedLane& opened, EpochId epoch);
  void say_begun(const engine::Begin& begins, const std::string& words) const;
  /// Lets the epoch go on from the last release. That is the last line of the old outbox, which the epoch's first
  /// transaction publishes, or the last line that a reader of committed records finds. It is never something that is
  /// in a state alone: the new epoch's start has to be public.
  [[nodiscard]] std::string go_on_from_last(OpenedLane& opened, EpochId epoch);
  /// The lane's last release: looked for where the state says that it is, and then in all of the topic. Empty where
  /// there is none.
  [[nodiscard]] std::string last_published();
  /// How many partitions the input had when the lane began. Where that is lost it is taken as 1: every other
  /// partition then counts as a later one and begins at its first record, so that no record is skipped.
  [[nodiscard]] std::uint32_t partitions_of_epoch() const;
  /// Where a lane without a past begins. A partition that was added later begins at its first record, whatever
  /// kafka.start says: all of its records came after the stream began.
  Position first_start() { return is_later_partition() ? position_of(checks_->input_log().low) : bounds().start(); }
  [[nodiscard]] UsersOpening users_opening() const { return {setup_, client_, place_, *order_.cancelled}; }
  static void use_users(LaneState& state);
  /// Lets the chain of releases go on from the last one. The state knows its hash. Where there is no state, or an
  /// earlier version sealed it without that hash, the last release is read from the topic.
  void use_chain(LaneState& state, const journal::Hash& head);
  [[nodiscard]] LaneBounds bounds() { return {setup_.config, place_, *checks_}; }
  /// Whether the lane's partition was added after the stream began. The state of lane 0 remembers how many there
  /// were.
  [[nodiscard]] bool is_later_partition() const;
  /// Commits a transaction without input: it publishes the releases that are owed, together with a state that no
  /// longer holds them.
  void commit_alone(OpenedLane& opened);
  /// Makes one transaction and waits for its end. Throws the exception that it ended with, or LaneInterrupted after
  /// an abort.
  static void wait_for(const std::function<void(journal::Completion)>& commit);

  LaneOrder order_;
  const Setup& setup_;
  const config::Kafka& kafka_;
  kafka::ClientSettings client_;
  kafka::LanePlace place_;
  std::unique_ptr<kafka::KafkaJournal> journal_;
  std::optional<kafka::LaneChecks> checks_;
  engine::Found found_;
  journal::Ledger ledger_;  // the lane's, from its state, or else from the ledger topic
  std::optional<journal::State> state_;
  std::optional<kafka::LaneChecks::Input> input_;
  std::exception_ptr why_unusable_;
  std::unique_ptr<TopicUsers> users_;  // rebuilt from a state that may be gone on with
  std::exception_ptr why_no_users_;
  bool is_behind_measuring_ = false;  // the state is of the epoch that measured: no epoch of steps has begun yet
};

}  // namespace nustream::attach
