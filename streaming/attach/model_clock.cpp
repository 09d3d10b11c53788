// A thread that follows the release topic of all lanes and combines their last releases. It reads what everybody can
// read, so that the combined model costs no privacy.
#include "attach/model_clock.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "engine/release_encoder.h"
#include "kafka/partition_reader.h"
#include "kafka/topic_checks.h"
#include "publish/combined_model.h"

namespace nustream::attach {
namespace {

// How long one look may wait. A broker that does not answer within it is asked again at the next tick.
constexpr std::chrono::milliseconds patience{5'000};
// The last release of a partition is first sought among this number of its last offsets, and only then from the
// beginning.
constexpr std::int64_t near_end = 1'024;

}  // namespace

/// The last committed release of each lane, followed from look to look.
class ModelClock::Releases {
 public:
  explicit Releases(const config::Kafka& kafka)
      : kafka_(kafka),
        checks_({kafka.brokers, kafka.properties}),
        reader_({kafka.brokers, kafka.properties}, kafka::Isolation::read_committed, kafka.group) {}

  void look() {
    const kafka::Deadline deadline = kafka::in(patience);
    const auto partitions = [&](const std::string& topic) {
      return static_cast<std::uint32_t>(checks_.partitions(topic, deadline).value_or(0));
    };
    lanes_ = partitions(kafka_.topics.input);
    // Where only the input has more partitions, their lanes wait for the other topics, and have released nothing.
    const std::uint32_t with_releases = std::min(lanes_, partitions(kafka_.topics.releases));
    for (std::uint32_t lane = 0; lane < with_releases; ++lane) follow(LaneId{lane}, deadline);
  }
  [[nodiscard]] std::uint32_t lanes() const noexcept { return lanes_; }
  [[nodiscard]] const std::map<LaneId, std::string>& last() const noexcept { return last_; }

 private:
  void follow(LaneId lane, kafka::Deadline deadline) {
    const kafka::TopicPartition partition{kafka_.topics.releases,
                                          kafka::PartitionIndex{static_cast<std::int32_t>(lane.value())}};
    const kafka::Watermarks log = reader_.watermarks(partition, deadline);
    // The first look begins near the end of the partition, and later ones where the look before ended.
    const auto known = next_.find(lane);
    std::int64_t from = known != next_.end() ? known->second : log.high.value() - near_end;
    // The log may have been cut since.
    from = std::clamp(from, log.low.value(), log.high.value());
    read(lane, partition, from, log.high, deadline);
    // No release near the end: the whole partition is looked through, once.
    if (last_.count(lane) == 0 && from > log.low.value()) read(lane, partition, log.low.value(), log.high, deadline);
    next_[lane] = log.high.value();
  }

  void read(LaneId lane, const kafka::TopicPartition& partition, std::int64_t from, kafka::Offset end,
            kafka::Deadline deadline) {
    reader_.read_all(partition, kafka::Offset{from}, end, deadline, [&](const kafka::Message& message) {
      if (message.record.value) last_[lane] = std::string(*message.record.value);
    });
  }

  const config::Kafka& kafka_;
  kafka::TopicChecks checks_;
  kafka::PartitionReader reader_;
  std::uint32_t lanes_ = 0;
  std::map<LaneId, std::string> last_;
  std::map<LaneId, std::int64_t> next_;
};

ModelClock::ModelClock(const Setup& setup, Looked looked)
    : setup_(setup), looked_(std::move(looked)), thread_([this] { run(); }) {}

void ModelClock::look_now() {
  const std::lock_guard hold(mutex_);
  now_ = true;
  wake_.notify_one();
}

ModelClock::~ModelClock() {
  {
    const std::lock_guard hold(mutex_);
    leaving_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

/// Sleeps until the next tick, or until look_now(). Returns false where the clock is being destroyed.
bool ModelClock::sleep() {
  std::unique_lock hold(mutex_);
  // A look that was asked for during the last one is not slept over.
  wake_.wait_for(hold, setup_.config.kafka.model_every, [this] { return leaving_ || now_; });
  now_ = false;
  return !leaving_;
}

void ModelClock::run() {
  Releases releases(setup_.config.kafka);
  const std::optional<publish::SolvedModel> solved = engine::solved_model(setup_.config);
  std::string shown;
  do {
    std::optional<Look> look;
    try {
      releases.look();
      auto model = publish::combined_model(releases.last(), releases.lanes(), setup_.digests.both(), solved);
      look = Look{{}, std::move(model.waits_for)};
      // A model is told of only when it has changed: it is written to a topic, and shown.
      if (model.json && *model.json != shown) {
        shown = *model.json;
        look->changed = std::move(model.json);
      }
    } catch (const Failure&) {
      // The lanes report a broker that is away. Here the next tick simply looks again.
    }
    looked_(std::move(look));
  } while (sleep());
}

}  // namespace nustream::attach
