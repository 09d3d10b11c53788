// The journal of an attached lane, whose batches are transactions over the lane's topics.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "journal/journal.h"
#include "kafka/client_settings.h"
#include "kafka/partition.h"
#include "kafka/producer.h"
#include "kafka/topic_bookmark.h"
#include "kafka/transaction.h"

namespace nustream::kafka {

/// A Journal over topics (docs/formats/kafka.md). Transaction k holds state k, the offset behind batch k, its ledger
/// line and dead letters, and the releases of batch k − 1 as they are in the committed state k − 1.
///
/// load() and recover() wait, so that they need a thread that may wait. commit(), flush(), publish_model() and
/// write_users() return at once. The threads of `post` work on such a call in slices, and call its completion. Only
/// one call may be under way.
///
/// A completion is given nullptr; TransactionAborted, after which the same batch may be committed again;
/// LaneInterrupted, after which another journal has to be made and loaded; Cancelled; or a Failure, after which this
/// process cannot go on with the lane. The journal has to be destroyed after the completion, on a thread that may
/// wait.
class KafkaJournal final : public journal::Journal {
 public:
  using MakeProducer = std::function<std::unique_ptr<Producer>()>;
  /// Runs work on a thread that may wait for a slice.
  using Post = std::function<void(std::function<void()>)>;

  struct Options {
    ClientSettings client;
    LanePlace place;
    std::chrono::milliseconds transaction;  ///< deadline of a transaction
    MakeProducer make_producer;
    Post post;
    const std::atomic<bool>* cancelled;    ///< once true, load() throws Cancelled; outlives the journal
    const std::atomic<bool>* out_of_time;  ///< once true, a transaction under way ends with Cancelled; outlives it
  };
  explicit KafkaJournal(Options options);
  ~KafkaJournal() override;
  KafkaJournal(const KafkaJournal&) = delete;
  KafkaJournal& operator=(const KafkaJournal&) = delete;

  /// Fences the lane's other producers, ends the transactions that they left, and then reads the lane's last
  /// committed state. Throws Cancelled, LaneInterrupted, KafkaFailure.
  std::optional<std::string> load() override;
  /// Takes over the outbox of the state; the next commit publishes it. The caller has checked before that the topics
  /// agree with the state (lane_checks.h).
  void recover(const journal::Recovery& recovery) override;
  [[nodiscard]] std::string bookmark() const override;
  /// The member of the group in whose name the next commits commit offsets.
  void use_member(std::shared_ptr<const GroupMetadata> member) { member_ = std::move(member); }
  void commit(journal::Batch batch, journal::Completion done) override;
  /// As above, for a batch that the caller may want to send again after an abort: until the completion is called, the
  /// batch belongs to the journal, which finishes it (journal::Batch::finish).
  void commit(std::shared_ptr<journal::Batch> batch, journal::Completion done);
  /// As commit(), for a batch whose records were not read as a member of the group: the group's offset stays as it
  /// is.
  void commit_spend(journal::Batch batch, journal::Completion done);
  /// Calls the completion. Contract: no outbox is left, since only a commit can publish one, with a state that no
  /// longer holds it.
  void flush(journal::Completion done) override;
  /// Writes a record of the combined model in a transaction of its own, between two commits.
  void publish_model(std::string model, journal::Completion done);

  /// Writes a record of the store of users in a transaction of its own, between two commits.
  void write_users(journal::KeyedRecord record, journal::Completion done);

  /// True while releases wait for the next commit.
  [[nodiscard]] bool owes_releases() const noexcept { return !outbox_.empty(); }
  /// One past the offset of the last record of the store of users that was committed here; nothing before the first.
  [[nodiscard]] std::optional<std::uint64_t> users_end() const;
  /// The outbox that the next commit publishes.
  [[nodiscard]] const std::string& outbox() const noexcept { return outbox_; }

 private:
  struct Work;
  void start(std::shared_ptr<Work> work);
  void prepare(Work& work);
  void go_on(const std::shared_ptr<Work>& work);
  void committed(const Work& work);
  void add_records(Work& work) const;
  void add_lane_records(Work& work) const;
  void add_users(Work& work) const;
  void wait_for(const char* attempt, const std::function<Progress()>& call);

  Options options_;
  std::unique_ptr<Producer> producer_;
  std::shared_ptr<const GroupMetadata> member_;
  std::string outbox_;  // committed, not yet published
  TopicBookmark bookmark_;
  bool loaded_ = false;
};

/// The last committed state of a lane, where its partition is read up to `end`; nothing where there is none. Throws
/// KafkaFailure and Cancelled.
[[nodiscard]] std::optional<std::string> read_state(const ClientSettings& client, const LanePlace& place, Offset end,
                                                    Deadline deadline);
/// As read_state(), up to the end that readers of committed records see now. It is for callers that do not take the
/// lane over.
[[nodiscard]] std::optional<std::string> committed_state(const ClientSettings& client, const LanePlace& place,
                                                         std::chrono::milliseconds time);

}  // namespace nustream::kafka
