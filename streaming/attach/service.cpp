// The process around the lanes: threads, timers, who has which place, what happens without brokers, and the end. What
// the group says is handled in service_events.cpp. Everything runs on the loop's thread; what may wait runs on one of
// three pools.
#include "attach/service.h"

#include <unistd.h>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "attach/lane_log.h"
#include "kafka/topic_checks.h"
#include "log/log.h"

namespace nustream::attach {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds tick_every{1'000};
constexpr milliseconds close_looks_every{20};
// How long a process waits at its end for the group to let it leave, if it is outside the group or has run out of
// time. Outside the group it would wait in vain, because its coordinator does not answer. A member in good standing
// waits for GroupConsumer::closing_patience.
constexpr milliseconds short_patience{1'000};
// How long an answer is waited for when the brokers are asked whether they are there.
constexpr milliseconds question_patience{5'000};

std::size_t commit_threads(const config::Kafka& kafka) {
  return static_cast<std::size_t>(kafka.commit_threads > 0 ? kafka.commit_threads
                                                           : std::min<std::uint64_t>(kafka.lanes_max, 8));
}

auto on(boost::asio::thread_pool& pool) {
  return [&pool](std::function<void()> work) { boost::asio::post(pool, std::move(work)); };
}

/// Whether any broker answers. An answer that refuses the request counts too.
bool is_there(const config::Kafka& kafka, kafka::Deadline deadline, const std::atomic<bool>& cancelled) {
  try {
    kafka::TopicChecks checks({kafka.brokers, kafka.properties, &cancelled});
    static_cast<void>(checks.partitions(kafka.topics.input, deadline));
    return true;
  } catch (const kafka::KafkaFailure& failure) {
    return failure.code() != Exit::unavailable;
  } catch (const std::exception&) {
    return false;  // it was told to end, or could not make a client
  }
}

}  // namespace

Service::Service(Front& front, const Setup& setup, const config::Mechanism& mechanism, std::uint32_t partitions,
                 const Options& options)
    : setup_(setup),
      partitions_(partitions),
      loop_(*front.loop),
      operators_(front.operators),
      pools_{boost::asio::thread_pool(commit_threads(setup.config.kafka)), boost::asio::thread_pool(1),
             boost::asio::thread_pool(
                 static_cast<std::size_t>(std::min<std::uint64_t>(setup.config.kafka.lanes_max, 16)))},
      consumer_({setup.config.kafka.brokers, setup.config.kafka.properties},
                {setup.config.kafka.topics.input, setup.config.kafka.group, setup.config.kafka.instance}),
      host_{loop_,
            setup,
            mechanism,
            consumer_,
            front.shown,
            operators_,
            front.locked,
            options.renewal,
            {},
            out_of_time_,
            2 * kafka::time_in_force({setup.config.kafka.brokers, setup.config.kafka.properties},
                                     kafka::Role::group_consumer, "heartbeat.interval.ms"),
            [this] { look_for_room(); },
            [this] { brokers_.answered(); },
            [this] { return brokers_.is_silent(); },
            on(pools_.commit),
            on(pools_.noise),
            on(pools_.spare),
            options.wrap_noise,
            std::minstd_rand(std::random_device{}()),
            {}},
      signals_(loop_, SIGINT, SIGTERM),
      timers_(loop_),
      reading_{boost::asio::posix::stream_descriptor(loop_, ::dup(consumer_.descriptor()))},
      brokers_(std::chrono::steady_clock::now(),
               {setup.config.kafka.give_up,
                kafka::time_in_force({setup.config.kafka.brokers, setup.config.kafka.properties},
                                     kafka::Role::group_consumer, "session.timeout.ms")}) {}

Service::~Service() {
  out_of_time_ = true;
  reading_.arrived.clear();
  model_clock_.reset();
  for (auto& [lane, worker] : lanes_) worker->drop();
  lanes_.clear();
  // Work on the pools refers to the lanes' clients, to the loop and to the consumer, so that it has to end before
  // they are destroyed. The spare pool is joined first: a lane that is being opened there waits for slices of its
  // transaction, which run on the commit pool.
  pools_.spare.join();
  pools_.commit.join();
  pools_.noise.join();
}

/// Enters an event. True where it led to another stage. This is the only place where the stage changes.
bool Service::enter(ServiceEvent event) {
  const ServiceStage before = std::exchange(stage_, next(stage_, event));
  return stage_ != before;
}

Exit Service::run() {
  signals_.async_wait([this](const boost::system::error_code& cancelled, int signal) {
    if (cancelled) return;
    renews_ = false;
    if (signal == SIGINT) exit_ = Exit::interrupted;
    shut_down(signal == SIGINT ? "" : "shutdown");
  });
  watch_consumer();
  tick();
  loop_.run();
  if (failure_) throw Failure(*failure_);
  return exit_;
}

void Service::renew() {
  if (is_ending(stage_)) return;
  renews_ = true;
  shut_down("");
}

// ---- lanes

/// Whether the lane writes the combined model, which lane 0 does where there is one. Such a lane is opened even
/// beyond kafka.max_lanes, and after it has stopped it takes up no other lane's place.
bool Service::keeps_model(LaneId lane) const {
  return lane == LaneId{0} && !setup_.config.kafka.topics.model.empty();
}

std::size_t Service::lanes_that_count() const {
  const bool idle_writer = lanes_.count(LaneId{0}) > 0 && roster_.has_stopped(LaneId{0}) && keeps_model(LaneId{0});
  return lanes_.size() - (idle_writer ? 1 : 0);
}

void Service::open_lane(LaneId lane) {
  if (lanes_that_count() >= setup_.config.kafka.lanes_max && !keeps_model(lane)) {
    if (!roster_.wait(lane)) return;  // it waited before, and the log has said so
    show_waiting(lane);
    log::info(
        "lane_waits",
        fmt::format("lane {} waits: this instance runs kafka.max_lanes = {} lanes already; raise kafka.max_lanes, or "
                    "start another instance",
                    lane.value(), setup_.config.kafka.lanes_max),
        {{"lane", std::uint64_t{lane.value()}}});
    return;
  }
  if (roster_.start(lane)) operators_.close_lane(lane);  // the entry that showed it as waiting
  const LaneWorker::Listener listener{
      [this](LaneId stopped, const LaneEnd& end) { lane_stopped(stopped, end); },
      [this](LaneId gone) { lane_gone(gone); },
      [this](LaneId lacking, const std::string& reason) { lane_lacks_partition(lacking, reason); },
      [this](LaneId waiting) { return lane_gives_way(waiting); }};
  const auto worker = std::make_shared<LaneWorker>(host_, lane, partitions_, listener);
  lanes_.emplace(lane, worker);
  worker->open();
  keep_model_clock();
}

void Service::show_waiting(LaneId lane) {
  static_cast<void>(operators_.open_lane(lane));
  operators_.set_state(
      lane, serve::LaneStatus::waiting,
      fmt::format("this instance runs kafka.max_lanes = {} lanes already", setup_.config.kafka.lanes_max));
}

void Service::model_looked(std::optional<ModelClock::Look> look) {
  const auto first = lanes_.find(LaneId{0});
  if (look) tell_of_model(look->waits_for);
  if (look && look->changed && first != lanes_.end()) first->second->publish_model(std::move(*look->changed));
  // Looks are only counted at the end, where end_if_none_can_go_on() waits for the last ones.
  if (looks_left_ == 0) return;
  if (--looks_left_ == 0) return shut_down("");
  model_clock_->look_now();
}

/// Writes one line to the log when the set of lanes that hold the combined model up has changed.
void Service::tell_of_model(const std::vector<LaneId>& waits_for) {
  operators_.set_model_waits(waits_for.size());
  if (waits_for == std::exchange(model_waits_for_, waits_for)) return;
  say_model_waits(waits_for);
}

/// Starts the clock of the combined model while this process has lane 0, and stops it otherwise. Of all instances
/// only the owner of lane 0 writes the model.
void Service::keep_model_clock() {
  // Without lane 0, or at the end, nobody here writes the model.
  const bool wanted = !setup_.config.kafka.topics.model.empty() && lanes_.count(LaneId{0}) > 0 && !is_ending(stage_);
  if (wanted && !model_clock_) {
    model_clock_ = std::make_unique<ModelClock>(setup_, [this](std::optional<ModelClock::Look> look) {
      boost::asio::post(loop_, [this, look = std::move(look)]() mutable { model_looked(std::move(look)); });
    });
  } else if (!wanted && model_clock_) {
    if (std::exchange(looks_left_, 0) > 0) boost::asio::post(loop_, [this] { shut_down(""); });
    model_waits_for_.clear();
    operators_.set_model_waits(0);
    // The clock may be waiting for a broker, and its destructor waits for that. So it is destroyed on a spare thread.
    host_.on_spare_thread([clock = std::shared_ptr<ModelClock>(std::move(model_clock_))] {});
  }
}

void Service::lane_stopped(LaneId lane, const LaneEnd& end) {
  say_ended(lane, end);
  roster_.stop(lane, end);
  if (severity(end.code) == ends_the_process) return fail(Failure(end.code, end.reason));
  if (is_ending(stage_)) return;
  // A lane that waits for a place may have the place of the lane that stopped. The writer of the combined model takes
  // up no place and stays. Any other lane leaves, and lane_gone() opens the lane that waits.
  if (const std::optional<LaneId> waiting = roster_.first_waiting()) {
    if (keeps_model(lane)) {
      open_lane(*waiting);
    } else {
      lanes_.at(lane)->drain("");
    }
  }
  end_if_none_can_go_on();
}

/// Takes note of a lane that waits for a partition. The log says so once; the lane looks again by itself.
void Service::lane_lacks_partition(LaneId lane, const std::string& reason) {
  if (reason.empty()) return roster_.has_partition(lane);
  if (!roster_.lacks_partition(lane, reason)) return;
  log::info("lane_waits", fmt::format("lane {} waits: {}", lane.value(), reason),
            {{"lane", std::uint64_t{lane.value()}}});
  end_if_none_can_go_on();
}

/// Called before a lane that waited for another one looks again. Where kafka.max_lanes are running, the other lane
/// may itself be waiting for a place. So `lane` gives up its own place to the first lane in the queue and goes to the
/// queue's end. Returns whether it did.
bool Service::lane_gives_way(LaneId lane) {
  if (is_ending(stage_) || !roster_.first_waiting()) return false;
  static_cast<void>(roster_.wait(lane));
  lanes_.at(lane)->drop();
  return true;
}

void Service::end_if_none_can_go_on() {
  if (is_ending(stage_)) return;
  std::optional<Verdict> verdict = roster_.verdict();
  if (!verdict) return;
  exit_ = verdict->code;
  if (verdict->failure) failure_ = std::move(verdict->failure);
  if (!model_clock_) return shut_down("");
  // The combined model takes in the last releases before the end. That needs two looks: one that is under way now may
  // have begun before the releases were there.
  looks_left_ = 2;
  model_clock_->look_now();
}

/// Erases the worker of a lane that has left, and opens the lanes that may have its place.
void Service::lane_gone(LaneId lane) {
  // The worker may be calling this from one of its own functions, so that it is erased later.
  boost::asio::post(loop_, [this, lane] {
    lanes_.erase(lane);
    keep_model_clock();
    if (revocation_) revocation_->waiting_for.erase(lane);
    finish_revocation();
    if (is_ending(stage_)) return close_if_drained();
    const bool gave_way = roster_.is_waiting(lane);
    if (gave_way) show_waiting(lane);
    // The lane was revoked and assigned again while its worker was leaving.
    if (roster_.is_assigned(lane) && !roster_.has_stopped(lane) && !gave_way) open_lane(lane);
    if (const std::optional<LaneId> waiting = roster_.first_waiting()) open_lane(*waiting);
    if (gave_way && keeps_model(lane)) open_lane(lane);  // a lane that writes the model needs no place
  });
}

void Service::tick() {
  // This is also the sign of life to the group, where no event has come for a second.
  poll_unasked();
  for (auto& [lane, worker] : lanes_) worker->tick();
  if (!is_ending(stage_)) look_at_brokers();
  timers_.ticker.expires_after(tick_every);
  timers_.ticker.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) tick();
  });
}

// ---- brokers that are gone

/// Ends the process where no broker has let it in for longer than kafka.give_up, and asks brokers that are silent.
void Service::look_at_brokers() {
  const auto now = std::chrono::steady_clock::now();
  const config::Kafka& kafka = setup_.config.kafka;
  if (brokers_.gave_up(now)) {
    // Transactions that are under way can no longer end, and are not waited for.
    out_of_time_ = true;
    for (const auto& [lane, worker] : std::map(lanes_)) worker->drop();
    return fail(
        Failure(Exit::unavailable,
                fmt::format("no broker of {} has let this instance into group {} for {} s; {}start again when "
                            "they are back",
                            kafka.brokers, kafka.group, kafka.give_up.count() / 1000,
                            brokers_.has_joined() ? "everything committed is safe: " : "")));
  }
  if (brokers_.takes_question(now)) ask_brokers();
  tell_of_brokers();
}

/// Says in the log that the process has joined the group for the first time. After an outage tell_of_brokers() says
/// so.
void Service::tell_of_joining() const {
  if (brokers_.has_joined()) return;
  const config::Kafka& kafka = setup_.config.kafka;
  log::info("joined", fmt::format("joined group {} of {}", kafka.group, kafka.brokers), {{"group", kafka.group}});
}

/// Says in the log when the process is out of the group, and when it is back. The phase changes with it: a process
/// outside the group has no lanes, and by its lanes alone it would look as ready as one that was assigned none.
void Service::tell_of_brokers() {
  const bool out = brokers_.is_out(std::chrono::steady_clock::now());
  if (is_ending(stage_) || out == (stage_ == ServiceStage::outside)) return;
  if (!enter(out ? ServiceEvent::went_out : ServiceEvent::assigned)) return;
  const config::Kafka& kafka = setup_.config.kafka;
  if (out) {
    const std::string waiting = fmt::format("waiting for {}: out of group {}", kafka.brokers, kafka.group);
    log::warning("group_left", waiting, {{"group", kafka.group}});
    operators_.set_phase(serve::Phase::rejoining, waiting);
  } else {
    log::info("joined", fmt::format("back in group {} of {}", kafka.group, kafka.brokers), {{"group", kafka.group}});
    operators_.set_phase(serve::Phase::serving);
  }
}

/// Asks the brokers whether they are there, with a client made for that question. The group's own client would wait
/// for its coordinator, and where that wait fails, librdkafka (2.0) ends the process by an assertion.
void Service::ask_brokers() {
  const kafka::Deadline deadline = kafka::in(question_patience);
  host_.on_spare_thread([this, deadline] {
    const bool there = is_there(setup_.config.kafka, deadline, out_of_time_);
    boost::asio::post(loop_, [this, there] { brokers_.question_over(there, std::chrono::steady_clock::now()); });
  });
}

// ---- the end

void Service::fail(const Failure& failure) {
  if (!failure_) failure_ = failure;
  shut_down("");
}

/// Lets every lane commit and publish what it has, then leaves the group.
void Service::shut_down(const std::string& tag) {
  if (!enter(ServiceEvent::shut_down)) return;
  operators_.set_phase(serve::Phase::draining);
  timers_.deadline.expires_after(setup_.config.kafka.drain);
  timers_.deadline.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    log::warning("out_of_time", fmt::format("kafka.drain_seconds = {} were over before everything was committed; the "
                                            "next start computes the rest again",
                                            static_cast<double>(setup_.config.kafka.drain.count()) / 1000));
    // Whatever is under way is left as it is. A transaction that is not committed is aborted by the next owner.
    out_of_time_ = true;
    static_cast<void>(enter(ServiceEvent::timed_out));
    for (const auto& [lane, worker] : std::map(lanes_)) worker->drop();
    consumer_.begin_close(short_patience);
    loop_.stop();
  });
  for (const auto& [lane, worker] : std::map(lanes_)) worker->drain(tag);  // over a copy: a worker may leave at once
  close_if_drained();
}

void Service::close_if_drained() {
  if (!lanes_.empty() || !enter(ServiceEvent::drained)) return;
  const bool is_member = brokers_.has_joined() && !brokers_.is_out(std::chrono::steady_clock::now());
  const milliseconds patience = is_member ? kafka::GroupConsumer::closing_patience : short_patience;
  timers_.close_until = std::chrono::steady_clock::now() + patience;
  consumer_.begin_close(patience);
  watch_close();
}

void Service::watch_close() {
  poll_unasked();
  if (consumer_.is_closed() || std::chrono::steady_clock::now() >= timers_.close_until) {
    static_cast<void>(enter(ServiceEvent::closed));
    return loop_.stop();
  }
  timers_.closer.expires_after(close_looks_every);
  timers_.closer.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) watch_close();
  });
}

}  // namespace nustream::attach
