#include "simulated_service.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace nustream::tests {
namespace {

LaneId lane_of(kafka::PartitionIndex partition) {
  return LaneId{static_cast<std::uint32_t>(partition.value())};
}

}  // namespace

SimulatedService::SimulatedService(SimulatedBroker& broker, const attach::Setup& setup,
                                   const config::Mechanism& mechanism, std::uint32_t partitions, std::uint64_t seed,
                                   attach::Renewal renewal, WrapNoise wrap_noise)
    : process{"member-" + std::to_string(seed), 0, false},
      broker_(broker),
      partitions_(partitions),
      random_(seed),
      shown_(setup.config.stream),
      operators_(shown_) {
  use();
  const config::Kafka& kafka = setup.config.kafka;
  consumer_ = std::make_unique<kafka::GroupConsumer>(kafka::ClientSettings{kafka.brokers, {}, nullptr},
                                                     kafka::GroupMember{kafka.topics.input, kafka.group, {}});
  const auto on_commit_thread = [this](std::function<void()> work) {
    if (waits_inside_) return work();
    tasks_.push_back({std::move(work), false});
  };
  const auto at_once = [](std::function<void()> work) { work(); };
  const auto on_spare_thread = [this](std::function<void()> work) { tasks_.push_back({std::move(work), true}); };
  host_.emplace(attach::Host{loop_,
                             setup,
                             mechanism,
                             *consumer_,
                             shown_,
                             operators_,
                             locked_,
                             renewal,
                             {},
                             out_of_time_,
                             std::chrono::milliseconds(4000),
                             [this] { static_cast<void>(is_full()); },
                             [] {},
                             [] { return false; },
                             on_commit_thread,
                             at_once,
                             on_spare_thread,
                             std::move(wrap_noise),
                             std::minstd_rand(seed),
                             [this](LaneId lane, attach::LaneStage from, attach::LaneEvent event,
                                    attach::LaneStage to) { watch(lane, from, event, to); }});
}

/// A lane whose stage is not the one to which its table and its last event led it has broken its contract.
void SimulatedService::watch(LaneId lane, attach::LaneStage from, attach::LaneEvent event, attach::LaneStage to) {
  const auto last = stages_.try_emplace(lane, attach::LaneStage::idle).first;
  const auto allowed = attach::machine::lane_table.next(from, event);
  NUSTREAM_REQUIRE(last->second == from && allowed == to, "a lane does what its table says");
  last->second = to;
  if (from == to) return;
  ++broker_.stages[fmt::format("{} --> {}: {}", name(from), name(to), name(event))];
}

SimulatedService::~SimulatedService() {
  use();
  process.ended = true;
  broker_.members.erase(process.name);
  arrived_.clear();
  tasks_.clear();
  workers_.clear();
  broker_.process = nullptr;
}

void SimulatedService::use() const {
  broker_.process = const_cast<SimulatedBroker::Process*>(&process);
  SimulatedBroker::current() = &broker_;
}

bool SimulatedService::run_task() {
  if (tasks_.empty()) return false;
  const std::size_t which = random_() % tasks_.size();
  const Task task = std::move(tasks_[which]);
  tasks_.erase(tasks_.begin() + static_cast<std::ptrdiff_t>(which));
  waits_inside_ = task.may_wait;
  try {
    task.work();
  } catch (...) {
    waits_inside_ = false;
    throw;
  }
  waits_inside_ = false;
  return true;
}

bool SimulatedService::step() {
  use();
  if (process.ended) throw SimulatedCrash{};
  switch (random_() % 3) {
    case 0:
      if (loop_.poll_one() > 0) return true;
      break;
    case 1:
      if (run_task()) return true;
      break;
    default:
      if (poll_consumer()) return true;
  }
  // The process crashed within work that caught the exception.
  if (process.ended) throw SimulatedCrash{};
  return loop_.poll_one() > 0 || run_task() || poll_consumer();
}

void SimulatedService::look_at_the_clock() {
  use();
  loop_.restart();
  for (auto& [lane, worker] : workers_) worker->tick();
}

/// The service asks this of its lanes whenever one of them calls it, in whatever state that lane is just then.
bool SimulatedService::is_full() const {
  return std::ranges::any_of(workers_, [](const auto& entry) { return entry.second->is_full(); });
}

bool SimulatedService::poll_consumer() {
  for (const auto& [lane, worker] : workers_) {
    if (!worker->is_full()) continue;
    if (random_() % 4 != 0) return false;
    worker->pause_if_full();
  }
  bool any = false;
  for (auto rounds = 1 + random_() % 32; rounds > 0; --rounds) {
    auto event = consumer_->next();
    if (!event) break;
    any = true;
    std::visit([this](auto&& one) { handle(std::forward<decltype(one)>(one)); }, std::move(*event));
  }
  deliver();
  return any;
}

void SimulatedService::deliver() {
  for (auto& [lane, messages] : arrived_) {
    if (messages.empty()) continue;
    if (const auto found = workers_.find(lane); found != workers_.end()) found->second->take(messages);
    messages.clear();
  }
}

void SimulatedService::handle(kafka::Message&& message) {
  arrived_[lane_of(message.partition)].push_back(std::move(message));
}

void SimulatedService::handle(const kafka::EndOfPartition& end) {
  deliver();
  const auto found = workers_.find(lane_of(end.partition));
  if (found != workers_.end()) found->second->end_of_partition(static_cast<std::uint64_t>(end.offset.value()));
}

void SimulatedService::handle(const kafka::Assigned& assigned) {
  deliver();
  static_cast<void>(consumer_->assign(assigned.partitions));
  for (const kafka::PartitionIndex partition : assigned.partitions) {
    assigned_.insert(lane_of(partition));
    if (!ending_ && workers_.count(lane_of(partition)) == 0) open_lane(lane_of(partition));
  }
  if (!ending_) operators_.set_phase(serve::Phase::serving);
}

void SimulatedService::open_lane(LaneId lane) {
  const attach::LaneWorker::Listener listener{
      [this](LaneId stopped, const attach::LaneEnd& end) {
        const bool is_end = end.code == Exit::done || end.code == Exit::exhausted;
        stopped_.insert_or_assign(stopped, end);
        if (!is_end && !failure_) failure_ = end;
      },
      [this](LaneId gone) { boost::asio::post(loop_, [this, gone] { lane_gone(gone); }); },
      [](LaneId, const std::string&) {}};
  const auto worker = std::make_shared<attach::LaneWorker>(*host_, lane, partitions_, listener);
  workers_.emplace(lane, worker);
  worker->open();
}

void SimulatedService::lane_gone(LaneId lane) {
  workers_.erase(lane);
  stages_.erase(lane);
  waiting_for_.erase(lane);
  finish_revocation();
  if (!ending_ && assigned_.count(lane) > 0 && stopped_.count(lane) == 0) open_lane(lane);
}

void SimulatedService::handle(const kafka::Revoked& revoked) {
  deliver();
  revoked_ = revoked;
  for (const kafka::PartitionIndex partition : revoked.partitions) {
    const LaneId lane = lane_of(partition);
    assigned_.erase(lane);
    stopped_.erase(lane);
    if (workers_.count(lane) > 0) waiting_for_.insert(lane);
  }
  for (const LaneId lane : std::set(waiting_for_)) {
    const auto worker = workers_.at(lane);
    if (revoked.lost) {
      worker->drop();
    } else {
      worker->drain("");
    }
  }
  if (revoked.lost) waiting_for_.clear();
  finish_revocation();
}

void SimulatedService::finish_revocation() {
  if (!revoked_ || !waiting_for_.empty()) return;
  const kafka::Revoked over = *std::exchange(revoked_, std::nullopt);
  static_cast<void>(consumer_->unassign(over.partitions));
}

void SimulatedService::handle(const kafka::PartitionError& error) {
  const auto found = workers_.find(lane_of(error.partition));
  if (found != workers_.end()) found->second->fail(kafka::KafkaFailure("read", error.error));
}

void SimulatedService::handle(const kafka::Membership& membership) {
  for (auto& [lane, worker] : workers_) {
    if (membership.confirmed) worker->membership_confirmed();
  }
}

void SimulatedService::shut_down() {
  use();
  ending_ = true;
  operators_.set_phase(serve::Phase::draining);
  for (const auto& [lane, worker] : std::map(workers_)) worker->drain("shutdown");
}

}  // namespace nustream::tests
