// How a lane is taken over: it is opened on a thread that may wait, shown as it was committed, and read from its
// position on.
#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include <chrono>
#include <memory>
#include <utility>

#include "attach/lane_log.h"
#include "attach/lane_past.h"
#include "attach/lane_worker.h"
#include "attach/open_lane_parts.h"
#include "console/warnings.h"
#include "engine/noise_ahead.h"
#include "engine/subject.h"
#include "kafka/interruption.h"
#include "publish/epsilons.h"
#include "secrets/hex.h"
#include "serve/committed.h"

namespace nustream::attach {
namespace {

constexpr std::chrono::milliseconds start_again_after{200};
constexpr std::chrono::milliseconds partition_looks_every{5'000};
constexpr std::chrono::milliseconds others_looks_every{250};
constexpr int quick_looks = 20;        // after that, a lane that waits for others looks as rarely as for a partition
constexpr int looks_until_named = 30;  // after that, the log says that it waits
constexpr std::chrono::milliseconds past_within{30'000};

/// Closes the client of a lane that was opened and will not be run. That takes its time, so it is done on a spare
/// thread.
void close_client(const Host& host, OpenedLane& lane) {
  host.on_spare_thread([journal = std::shared_ptr<kafka::KafkaJournal>(std::move(lane.journal))] {});
}

/// The step at which privacy.budget ends the epoch, where that comes before the horizon of its noise; nothing where
/// the budget does not end it.
std::optional<StepCount> budget_stop(const config::Config& config, const LaneState& state) {
  const Position position = state.lane.position();
  const std::optional<StepCount> horizon = state.ledger.limit({}, position);
  const std::optional<StepCount> last = state.ledger.limit(config.privacy.budget, position);
  return last && (!horizon || *last < *horizon) ? last : std::nullopt;
}

}  // namespace

void LaneWorker::open() {
  static_cast<void>(enter(LaneEvent::open));
  start_opening();
}

/// Opens the lane again after a pause. The stage is asked once more: a timer may have fired just before it was
/// cancelled.
void LaneWorker::open_again() {
  if (stage_ != LaneStage::retrying && stage_ != LaneStage::homeless) return;
  if (stage_ == LaneStage::homeless && listener_.gives_way && listener_.gives_way(lane_)) return;
  static_cast<void>(enter(LaneEvent::pause_over));
  start_opening();
}

/// Opens the lane on a spare thread. opened() takes the result on the loop's thread.
void LaneWorker::start_opening() {
  if (stage_ == LaneStage::opening) show(serve::LaneStatus::restoring);
  auto order = std::make_shared<LaneOrder>();
  order->setup = &host_.setup;
  order->mechanism = std::make_unique<const config::Mechanism>(host_.mechanism);
  order->lane = lane_;
  order->partitions = partitions_;
  // The options of renewal are for the first opening in this process alone (Host::opened): a lane is not to begin
  // anew each time that it is opened again.
  if (!host_.opened.contains(lane_)) order->renewal = host_.renewal;
  // The member as it is now. A later generation of the group would refuse offsets in the name of an older one.
  order->member = std::make_shared<const kafka::GroupMetadata>(host_.consumer.group_metadata());
  order->post = host_.on_commit_thread;
  order->cancelled = cancelled_;
  order->out_of_time = &host_.out_of_time;
  host_.on_spare_thread([self = shared_from_this(), order] {
    std::exception_ptr failure;
    auto lane = std::make_shared<std::unique_ptr<OpenedLane>>();
    try {
      *lane = std::make_unique<OpenedLane>(open_lane(std::move(*order)));
    } catch (...) {
      failure = std::current_exception();
    }
    boost::asio::post(self->host_.loop,
                      [self, failure = std::move(failure), lane] { self->opened(failure, std::move(*lane)); });
  });
}

/// Takes what opening the lane gave, which may come after the lane was told to leave.
void LaneWorker::opened(const std::exception_ptr& failure, std::unique_ptr<OpenedLane> lane) {
  if (!machine::taking_over.contains(stage_)) {  // the lane was told to leave while it was opened
    if (lane) close_client(host_, *lane);
    if (stage_ == LaneStage::leaving) end_with(LaneEvent::quiet);
    return;
  }
  if (!failure) return begin_running(std::move(lane));
  // The order matters: a KafkaFailure is a Failure too.
  try {
    std::rethrow_exception(failure);
  } catch (const LaneWithoutPartition& lacking) {
    wait_for_partition(lacking.reason());
  } catch (const LaneHasToWait& waiting) {
    wait_for_others(waiting.reason());
  } catch (const kafka::LaneInterrupted& interrupted) {
    fail_or_reopen(interrupted.error());
  } catch (const kafka::KafkaFailure& kafka_failure) {
    // A token may have expired during the opening, and a fresh one is on its way.
    const bool late_token = kafka_failure.error().cause == kafka::Cause::authentication &&
                            config::renews_tokens(host_.setup.config.kafka.properties);
    if (kafka_failure.error().remedy == kafka::Remedy::none && !late_token) return fail(kafka_failure);
    reopen(kafka_failure.error());
  } catch (const Failure& other) {
    fail(other);
  } catch (const std::exception& other) {
    fail(Failure(Exit::internal, other.what()));
  }
}

/// Shows why the lane waits, and opens it again from the beginning after `time`.
void LaneWorker::open_again_after(std::chrono::milliseconds time, LaneEvent event, const std::string& reason) {
  static_cast<void>(enter(event));
  show(serve::LaneStatus::waiting, reason);
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled) self->open_again();
  });
}

/// Waits for a partition that a topic lacks. Other lanes go on meanwhile, and somebody may add partitions at any
/// time.
void LaneWorker::wait_for_partition(const std::string& reason) {
  open_again_after(partition_looks_every, LaneEvent::lacks_partition, reason);
  listener_.lacks_partition(lane_, reason);
}

/// Waits for another lane, which mostly takes a moment. Where it takes long, the lane counts as one that lacks a
/// partition, so that it does not keep a process alive in which all other lanes are done.
void LaneWorker::wait_for_others(const std::string& reason) {
  int& waited = host_.waited[lane_];
  open_again_after(waited < quick_looks ? others_looks_every : partition_looks_every, LaneEvent::must_wait, reason);
  if (++waited == looks_until_named) listener_.lacks_partition(lane_, reason);
}

/// Runs the lane from its restored state: makes its noise supply, shows it, and begins to read.
void LaneWorker::begin_running(std::unique_ptr<OpenedLane> lane) {
  // Whatever was lacking or waited for is there.
  listener_.lacks_partition(lane_, {});
  host_.waited.erase(lane_);
  // Weak, because the noise supply belongs to the lane: a wake-up that holds the worker would keep both alive.
  const auto wake = [weak = weak_from_this(), &loop = host_.loop] {
    boost::asio::post(loop, [weak] {
      if (const auto self = weak.lock()) self->pump();
    });
  };
  std::unique_ptr<engine::NoiseSupply> noise;
  try {
    // Before anything is shown: where the noise cannot go on, the lane has failed.
    noise = std::make_unique<engine::NoiseAhead>(
        *lane->state.mechanism, lane->noise, StepIndex{lane->state.lane.steps().value()}, &host_.locked,
        host_.setup.keys.healing(lane->resumed), host_.on_noise_thread, wake);
  } catch (const Failure& failure) {
    close_client(host_, *lane);
    return fail(failure);
  }
  if (host_.wrap_noise) noise = host_.wrap_noise(lane_, std::move(noise));
  // The opening has heard from the brokers.
  all_is_well();
  host_.opened.insert(lane_);
  show_restored(*lane);
  say_gained(lane_, lane->state.ledger.identity().epoch, lane->state.lane.steps(), lane->state.lane.position());
  // Only now is the lane moved into place: what is shown above was read from it.
  open_ = std::make_unique<Open>(host_, std::move(*lane), std::move(noise), metrics_, kept_);
  static_cast<void>(enter(LaneEvent::opened));
  show(serve::LaneStatus::running);
  show_past(open_->state.ledger.identity().epoch);
  start_reading();
  pump();
}

/// Shows the lane as its committed state has it.
void LaneWorker::show_restored(const OpenedLane& lane) {
  const config::Mechanism& mechanism = *lane.state.mechanism;
  const config::Config& config = host_.setup.config;
  const StepCount steps = lane.state.lane.steps();
  const Position position = lane.state.lane.position();
  const engine::EpochIdentity& epoch = lane.state.ledger.identity();
  // These are the records that the lane has stepped. Its position says less, being an offset, which is large from the
  // beginning in a topic that is read from its end. What follows from plan.records was told at the start.
  const std::uint64_t records = steps.value() * config.descent.minibatch;
  const std::string large = publish::large_delta(config.privacy.deltas(), records);
  if (!large.empty() && records > config.problem.records)
    console::warn(fmt::format("lane {}: {}", lane_.value(), large));
  publish::ReleaseHeader header =
      engine::release_header(config, {lane_, epoch.epoch, epoch.digest, epoch.is_private});
  header.public_key = secrets::to_hex(host_.setup.keys.public_key());
  host_.shown.open_lane({std::move(header), mechanism.spend.limit(), mechanism.main().sigma,
                         mechanism.main().sensitivity,
                         config.moments ? std::nullopt : std::optional(config.descent.schedule),
                         config.privacy.budget, StepCount{config.descent.release_every},
                         budget_stop(config, lane.state), config.descent.minibatch, engine::subject_of(config),
                         [spend = mechanism.spend](StepCount most) { return serve::spend_by_age(spend, most); }});
  // Of the state that opening has found or made durable.
  host_.shown.update(serve::CommittedSpend::committed(lane.state.ledger.entry(steps, position),
                                                      lane.state.ledger.total(steps, position)));
  if (!lane.last_published) return;
  std::optional<double> at;
  if (lane.last_published->milliseconds) at = static_cast<double>(*lane.last_published->milliseconds) / 1000;
  host_.shown.update(serve::CommittedRelease::published(lane.last_published->text, at));
}

/// Reads the lane's past releases for the status page, once in a process: the picture of a lane begins where the lane
/// did, not where the process did.
void LaneWorker::show_past(EpochId epoch) {
  // Another opening in this process has read it already.
  if (!host_.shown.lacks_past(lane_)) return;
  const config::Kafka& kafka = host_.setup.config.kafka;
  const kafka::LanePlace place{host_.setup.config.stream, lane_, kafka.group, kafka.topics};
  host_.on_spare_thread([self = shared_from_this(), epoch, place, ended = cancelled_] {
    const config::Kafka& settings = self->host_.setup.config.kafka;
    const std::string lines =
        read_past({settings.brokers, settings.properties, ended.get()}, place, past_within, *ended);
    auto past = serve::CommittedPast::found(self->lane_, epoch, lines);
    boost::asio::post(self->host_.loop, [self, past = std::move(past)] { self->host_.shown.update(past); });
  });
}

/// Has the client fetch records from the lane's position on.
void LaneWorker::start_reading() {
  // A lane whose end is reached already reads nothing.
  if (stage_ != LaneStage::starting || open_->input.is_over()) return;
  const auto error = host_.consumer.start(partition(), offset_of(open_->state.lane.position()));
  if (!error) {
    static_cast<void>(enter(LaneEvent::reading_began));
    return;
  }
  if (error->cause == kafka::Cause::lost_membership) return;  // the group takes the lane away in a moment
  if (error->remedy != kafka::Remedy::call_again) {
    return fail(kafka::KafkaFailure("read partition " + std::to_string(lane_.value()), *error));
  }
  // The client is still busy with the partition. It is asked again in a moment.
  read_timer_.expires_after(start_again_after);
  read_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled) self->start_reading();
  });
}

}  // namespace nustream::attach
