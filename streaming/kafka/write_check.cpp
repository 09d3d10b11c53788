// Finds out whether a topic may be written to by writing to it, in a transaction that is aborted.
#include "kafka/topic_checks.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "kafka/interruption.h"
#include "kafka/producer.h"

namespace nustream::kafka {
namespace {

// The pauses between two records. Another one is written until a broker has taken one.
constexpr std::chrono::milliseconds first_wait{20};
constexpr std::chrono::milliseconds longest_wait{500};

class WriteCheck {
 public:
  WriteCheck(const ClientSettings& settings, const std::string& transactional_id, std::string topic,
             Deadline deadline)
      : settings_(settings),
        id_(transactional_id),
        topic_(std::move(topic)),
        deadline_(deadline),
        producer_(transactional_producer(settings, id_, {topic_})) {}

  void run() {
    // init() shows whether the transactional id may be used, and a record whether the topic may be written to.
    if (const auto error = finish([this] { return producer_->init(deadline_); })) {
      return judge("write under transactional id '" + id_ + "'", *error);
    }
    auto error = producer_->begin();
    if (!error) error = write();
    if (error) return judge("write to topic '" + topic_ + "'", *error);
    // If the abort fails, the broker aborts the transaction after transaction.timeout.ms.
    static_cast<void>(finish([this] { return producer_->abort(deadline_); }));
  }

 private:
  /// Writes until the broker has taken a record, or the transaction has failed.
  std::optional<Error> write() {
    for (auto wait = first_wait; !producer_->last_offset(topic_); wait = std::min(2 * wait, longest_wait)) {
      std::optional<Error> error =
          producer_->produce({.topic = topic_, .key = "nustream", .value = "may this client write here?"});
      // The transaction has failed. A commit tells why, and cannot succeed any more.
      if (error && error->cause == Cause::state) return finish([this] { return producer_->commit(deadline_); });
      if (error || std::chrono::steady_clock::now() >= deadline_) return error;
      give_up_if_unwanted();
      std::this_thread::sleep_for(wait);
      static_cast<void>(producer_->complaint());  // has the library deliver what the broker has answered
    }
    return std::nullopt;
  }

  std::optional<Error> finish(const std::function<Progress()>& call) {
    while (true) {
      give_up_if_unwanted();
      const Progress progress = call();
      if (progress.is_done()) return std::nullopt;
      if (progress.error() != nullptr) return *progress.error();
      // A client that is not let in would be waited for in vain.
      std::optional<Error> complaint = producer_->complaint();
      if (complaint && complaint->cause == Cause::authentication) return complaint;
    }
  }

  void give_up_if_unwanted() const {
    if (settings_.cancelled != nullptr && settings_.cancelled->load()) throw Cancelled();
  }

  /// Only an answer about rights counts. A broker that is away, or a partition without a leader, says nothing about
  /// them.
  static void judge(const std::string& attempt, const Error& error) {
    if (error.cause == Cause::authorization || error.cause == Cause::authentication) {
      throw KafkaFailure(attempt, error);
    }
  }

  const ClientSettings& settings_;
  std::string id_;
  std::string topic_;
  Deadline deadline_;
  std::unique_ptr<Producer> producer_;
};

}  // namespace

void require_right_to_write(const ClientSettings& settings, const std::string& transactional_id,
                            const std::string& topic, Deadline deadline) {
  WriteCheck(settings, transactional_id, topic, deadline).run();
}

}  // namespace nustream::kafka
