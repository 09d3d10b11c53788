// Builds the transaction of a batch (docs/formats/kafka.md) and works on it in slices. The outbox of the last
// committed state is kept here until the next transaction publishes it: a release is written only when the state that
// holds it is committed.
#include "kafka/kafka_journal.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "journal/failpoint.h"
#include "kafka/dead_letter.h"
#include "kafka/partition_reader.h"
#include "nustream/base/error.h"

namespace nustream::kafka {
namespace {

/// Calls `take` with each of the whole lines, without its newline.
template <class Take>
void for_each_line(std::string_view lines, Take take) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    NUSTREAM_REQUIRE(end != std::string_view::npos, "whole lines");
    take(lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
}

}  // namespace

/// One transaction, with everything that its records point into.
struct KafkaJournal::Work {
  std::shared_ptr<journal::Batch> batch;
  std::string releases;  // the outbox of the batch before
  std::string model;
  std::string state_key;
  std::shared_ptr<const GroupMetadata> member;
  std::deque<DeadLetterHeaders> letters;
  TransactionContent content;
  std::optional<Transaction> transaction;
  journal::Completion done;
  bool is_alone = false;        // true for a record in a transaction of its own, without a batch
  bool commits_offset = false;  // true where the batch's records were read as a member of the group
};

KafkaJournal::KafkaJournal(Options options) : options_(std::move(options)) {}

KafkaJournal::~KafkaJournal() = default;

/// Makes `call` again and again until it is done. A client that the brokers do not let in fails at once, since it
/// will not be let in later either.
void KafkaJournal::wait_for(const char* attempt, const std::function<Progress()>& call) {
  const std::string what = std::string(attempt) + " lane " + options_.place.name();
  while (true) {
    if (options_.cancelled->load()) {
      // Nobody waits for the call any more, and it is left to its thread.
      producer_->abandon();
      throw Cancelled();
    }
    const Progress progress = call();
    if (progress.is_done()) return;
    if (progress.error() != nullptr) {
      // Somebody has to mend this first. After any other error another attempt may succeed.
      if (progress.error()->remedy == Remedy::none) throw KafkaFailure(what, *progress.error());
      throw LaneInterrupted(*progress.error());
    }
    const std::optional<Error> complaint = producer_->complaint();
    if (complaint && complaint->cause == Cause::authentication) throw KafkaFailure(what, *complaint);
  }
}

std::optional<std::string> KafkaJournal::load() {
  const LanePlace& place = options_.place;
  producer_ = options_.make_producer();
  // One deadline for all of it, from the takeover to the end of the looks.
  const Deadline deadline = in(options_.transaction);
  wait_for("take over", [&] { return producer_->init(deadline); });
  NUSTREAM_FAILPOINT("after-init-transactions");
  // The ends are read only after init(), which has committed or aborted what an older producer had still open.
  PartitionReader uncommitted(options_.client, Isolation::read_uncommitted, place.group);
  const Offset end = uncommitted.watermarks(place.in(place.topics.state), deadline).high;
  bookmark_.releases_from = uncommitted.watermarks(place.in(place.topics.releases), deadline).high;
  if (options_.cancelled->load()) throw Cancelled();
  loaded_ = true;
  std::optional<std::string> state = read_state(options_.client, place, end, deadline);
  NUSTREAM_FAILPOINT("after-read-state");
  return state;
}

void KafkaJournal::recover(const journal::Recovery& recovery) {
  NUSTREAM_REQUIRE(loaded_, "recover() follows a load() that gave a state");
  // The caller has compared it with the topics. The next commit publishes it.
  outbox_ = recovery.outbox;
  bookmark_ = decode_bookmark(recovery.bookmark);
}

std::string KafkaJournal::bookmark() const {
  return encode_bookmark(bookmark_);
}

void KafkaJournal::commit(journal::Batch batch, journal::Completion done) {
  commit(std::make_shared<journal::Batch>(std::move(batch)), std::move(done));
}

void KafkaJournal::commit(std::shared_ptr<journal::Batch> batch, journal::Completion done) {
  auto work = std::make_shared<Work>();
  work->batch = std::move(batch);
  work->releases = outbox_;
  work->member = member_;
  work->commits_offset = true;
  work->done = std::move(done);
  start(std::move(work));
}

void KafkaJournal::commit_spend(journal::Batch batch, journal::Completion done) {
  auto work = std::make_shared<Work>();
  work->batch = std::make_shared<journal::Batch>(std::move(batch));
  work->done = std::move(done);
  start(std::move(work));
}

void KafkaJournal::publish_model(std::string model, journal::Completion done) {
  auto work = std::make_shared<Work>();
  work->is_alone = true;
  work->model = std::move(model);
  work->done = std::move(done);
  start(std::move(work));
}

void KafkaJournal::write_users(journal::KeyedRecord record, journal::Completion done) {
  auto work = std::make_shared<Work>();
  work->is_alone = true;
  work->batch =
      std::make_shared<journal::Batch>(journal::Batch{{}, Position{0}, {}, {}, {}, {}, {std::move(record)}});
  work->done = std::move(done);
  start(std::move(work));
}

void KafkaJournal::flush(journal::Completion done) {
  NUSTREAM_REQUIRE(outbox_.empty(), "an outbox is published by a commit, with the state that no longer holds it");
  // Nothing is left to do: records of topics are durable with their commit.
  options_.post([done = std::move(done)] { done(nullptr); });
}

/// Adds the records of the transaction. They refer to the work.
void KafkaJournal::add_records(Work& work) const {
  if (!work.is_alone) return add_lane_records(work);
  if (work.batch) return add_users(work);
  // The combined model is one for the stream, and so its record's key is the stream's name.
  work.state_key = options_.place.stream;
  work.content.records.push_back(
      {options_.place.topics.model, PartitionIndex{0}, work.state_key, std::string_view(work.model)});
}

void KafkaJournal::add_lane_records(Work& work) const {
  const LanePlace& place = options_.place;
  std::vector<OutgoingRecord>& records = work.content.records;
  for (const journal::DeadLetter& letter : work.batch->dead_letters) {
    work.letters.emplace_back(letter, place);
    // Views into the batch, which the work keeps until the transaction is over.
    const std::optional<std::string_view> key = letter.key;
    const std::optional<std::string_view> value = letter.value;
    records.push_back({place.topics.dead_letters, place.partition(), key, value, work.letters.back().headers()});
  }
  // Dead letters go ahead of the other records: where they cannot be written, nothing else of the transaction has
  // been, and no reader of all records sees an aborted release.
  work.content.ahead = records.size();
  work.state_key = place.state_key();
  records.push_back(
      {place.topics.state, place.partition(), work.state_key, std::string_view(work.batch->sealed_state)});
  add_users(work);
  for_each_line(work.batch->ledger_entry, [&](std::string_view line) {
    records.push_back({place.topics.ledger, place.partition(), std::nullopt, line});
  });
  for_each_line(work.releases, [&](std::string_view line) {
    records.push_back({place.topics.releases, place.partition(), std::nullopt, line});
  });
  if (!work.commits_offset) return;
  work.content.offset = {place.partition(), Offset{static_cast<std::int64_t>(work.batch->position.value())}};
}

void KafkaJournal::add_users(Work& work) const {
  const LanePlace& place = options_.place;
  for (const journal::KeyedRecord& record : work.batch->user_records) {
    work.content.records.push_back({place.topics.users, place.partition(), record.key, record.value});
  }
}

void KafkaJournal::start(std::shared_ptr<Work> work) {
  NUSTREAM_REQUIRE(loaded_ && producer_, "a lane is loaded before it commits");
  NUSTREAM_FAILPOINT("before-transaction");
  options_.post([this, work = std::move(work)] {
    try {
      prepare(*work);
    } catch (...) {
      // Nothing was written. The lane cannot go on without the seals of its batch.
      return work->done(std::current_exception());
    }
    go_on(work);
  });
}

/// Makes the transaction of a work. On a thread of `post`, since sealing what users bring may take long.
void KafkaJournal::prepare(Work& work) {
  if (work.batch && work.batch->finish) std::exchange(work.batch->finish, nullptr)(*work.batch);
  add_records(work);
  // The transaction refers to the work, which the posted call keeps alive until it is over.
  work.transaction.emplace(*producer_, options_.place, work.content, work.member.get(), options_.transaction);
}

/// Works on the transaction for a slice, then posts itself again, so that other lanes have their turn.
void KafkaJournal::go_on(const std::shared_ptr<Work>& work) {
  const Progress progress = work->transaction->advance();
  if (progress.is_again() && options_.out_of_time->load()) {
    producer_->abandon();  // the next owner of the lane ends the transaction
    work->done(std::make_exception_ptr(Cancelled()));
    return;
  }
  if (progress.is_again()) {
    options_.post([this, work] { go_on(work); });
    return;
  }
  const Error* error = progress.error();
  // `done` comes last in each branch: after it the caller may destroy the journal.
  if (error == nullptr) {
    committed(*work);
    if (!work->releases.empty()) NUSTREAM_FAILPOINT("after-publish-outbox");
    work->done(nullptr);
  } else if (error->remedy == Remedy::abort_transaction) {
    work->done(std::make_exception_ptr(TransactionAborted(*error)));
  } else if (error->remedy == Remedy::none) {
    work->done(std::make_exception_ptr(KafkaFailure("commit lane " + options_.place.name(), *error)));
  } else {
    work->done(std::make_exception_ptr(LaneInterrupted(*error)));
  }
}

std::optional<std::uint64_t> KafkaJournal::users_end() const {
  if (options_.place.topics.users.empty()) return std::nullopt;
  const auto last = producer_->last_offset(options_.place.topics.users);
  if (!last) return std::nullopt;
  return static_cast<std::uint64_t>(last->value()) + 1;
}

void KafkaJournal::committed(const Work& work) {
  // All that was sent is committed. So the next transaction publishes this batch's outbox, and the next state's
  // bookmark stands behind what this transaction has published.
  // A record of the model or of users changes neither the outbox nor the bookmark.
  if (work.is_alone) return;
  const config::Topics& topics = options_.place.topics;
  outbox_ = work.batch->outbox;
  if (!work.releases.empty()) {
    if (const auto last = producer_->last_offset(topics.releases)) {
      bookmark_.releases_from = Offset{last->value() + 1};
    }
  }
  if (!work.batch->ledger_entry.empty()) bookmark_.ledger_line = producer_->last_offset(topics.ledger);
}

std::optional<std::string> read_state(const ClientSettings& client, const LanePlace& place, Offset end,
                                      Deadline deadline) {
  PartitionReader reader(client, Isolation::read_committed, place.group);
  const TopicPartition partition = place.in(place.topics.state);
  const std::string key = place.state_key();
  const Offset low = reader.watermarks(partition, deadline).low;
  // A lane writes a state in each of its transactions, so that its last state is mostly near the end of the
  // partition. Larger windows are only read where it is not.
  // Each window is read whole, so that the last state in it is the one that counts; a later record without a value
  // takes it back.
  for (const std::int64_t window : {std::int64_t{64}, std::int64_t{8192}, end.value()}) {
    const Offset from{std::max(low.value(), end.value() - window)};
    std::optional<std::string> state;
    reader.read_all(partition, from, end, deadline, [&](const Message& message) {
      if (message.record.key != key) return;
      state.reset();
      if (message.record.value) state = std::string(*message.record.value);
    });
    if (state || from == low) return state;
  }
  return std::nullopt;
}

std::optional<std::string> committed_state(const ClientSettings& client, const LanePlace& place,
                                           std::chrono::milliseconds time) {
  PartitionReader reader(client, Isolation::read_committed, place.group);
  const Deadline deadline = in(time);
  return read_state(client, place, reader.watermarks(place.in(place.topics.state), deadline).high, deadline);
}

}  // namespace nustream::kafka
