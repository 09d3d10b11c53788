// One lane over the simulated broker: it is taken over, steps in batches that a test makes, and commits them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "attach/lane_transactions.h"
#include "attach/open_lane.h"
#include "attached_case.h"
#include "decode/message_decoder.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "secrets/locked_memory.h"
#include "serve/operator_surface.h"
#include "simulated_kafka.h"

namespace nustream::tests {

/// A case with a topic for dead letters, of a stream that takes more than a few steps. It runs under an insecure
/// seed, or under a key file, whose noise heals.
inline AttachedCase case_with_letters(bool fresh_keys) {
  for (std::uint64_t seed = 1;; ++seed) {
    Draws draws{std::mt19937_64(seed)};
    auto drawn = draw_attached_case(draws, seed, nullptr);
    if (drawn && drawn->with_letters && drawn->fresh_keys == fresh_keys && !drawn->settings.mechanism.horizon()) {
      return std::move(*drawn);
    }
  }
}

class LaneTransactionsOver : public ::testing::Test {
 protected:
  explicit LaneTransactionsOver(bool fresh_keys = false) : case_(case_with_letters(fresh_keys)) {
    broker_.process = &process_;
    SimulatedBroker::current() = &broker_;
    broker_.faults = {};
    broker_.join(member_);
    for (int record = 0; record < 100; ++record) {  // the records from which the batches are made
      SimulatedEntry entry;
      entry.value = "a record";
      broker_.append({attached_topics::input, 0}, std::move(entry));
    }
    open();
  }
  ~LaneTransactionsOver() override { broker_.process = nullptr; }

  /// Takes the lane over, as a worker does, and shows what it finds.
  void open() {
    transactions_.reset();
    batch_.reset();
    attach::LaneOrder order;
    order.setup = &setup_;
    order.mechanism = std::make_unique<const config::Mechanism>(case_.settings.mechanism);
    order.partitions = 1;
    order.member = member();
    order.post = [](const std::function<void()>& work) { work(); };
    order.cancelled = std::make_shared<std::atomic<bool>>(false);
    order.out_of_time = &out_of_time_;
    attach::OpenedLane opened = attach::open_lane(std::move(order));
    resumed_ = opened.resumed;
    state_ = std::make_unique<attach::LaneState>(std::move(opened.state));
    const config::Config& config = case_.settings.config;
    const engine::EpochIdentity& epoch = state_->ledger.identity();
    const engine::ReleaseIdentity identity{LaneId{0}, epoch.epoch, epoch.digest, epoch.is_private};
    if (!metrics_) {
      metrics_ = &operators_.open_lane(LaneId{0});
      const config::Mechanism& mechanism = case_.settings.mechanism;
      shown_.open_lane({engine::release_header(config, identity), mechanism.spend.limit(), mechanism.main().sigma,
                        mechanism.main().sensitivity, config.descent.schedule, config.privacy.budget,
                        StepCount{config.descent.release_every}});
    }
    attach::BatchLimits limits = attach::batch_limits(setup_);
    limits.records_max = 1'000 * limits.minibatch;
    limits.outbox_bytes_max = 1 << 20;
    batch_ = std::make_unique<attach::OpenBatch>(
        limits, state_->lane,
        std::make_unique<engine::NoiseFeed>(*state_->mechanism, opened.noise, StepIndex{state_->lane.steps().value()},
                                            &locked_, setup_.keys.healing(opened.resumed)),
        engine::release_encoder(config, *state_->mechanism, identity), std::nullopt, opened.released, now());
    transactions_ = std::make_unique<attach::LaneTransactions>(setup_, *state_, std::move(opened.journal), shown_,
                                                               *metrics_, kept_);
  }

  [[nodiscard]] attach::LaneTransactions::Member member() {
    return std::make_shared<const kafka::GroupMetadata>(kafka::metadata_of(member_, broker_.generation));
  }
  [[nodiscard]] attach::LaneTransactions::Time now() {
    return attach::LaneTransactions::Time{} + std::chrono::hours(1) + (elapsed_ += std::chrono::milliseconds(1));
  }

  /// A batch of unusable records, of so many steps, with a release.
  attach::ClosedBatch batch(std::size_t steps) {
    record::RowBatch rows;
    rows.dimension = decode::MessageDecoder(case_.settings.config.input, case_.settings.config.schema).dimension();
    const std::size_t records = steps * case_.settings.config.descent.minibatch;
    rows.x.assign(records * rows.dimension, 0.0);
    rows.y.assign(records, 0.0);
    std::uint64_t position = state_->lane.position().value();
    for (std::size_t i = 0; i < records; ++i) rows.next.push_back(++position);
    rows.rejects.push_back({Position{position - 1}, "not a record"});
    batch_->step(
        rows,
        [&](std::size_t rejects) {
          const journal::DeadLetter letter{Position{position - 1}, "not a record", "key", "its bytes", {}, 0, 12};
          return std::vector(rejects, letter);
        },
        now());
    batch_->release_now("shutdown");
    return batch_->close(now());
  }
  void commit(attach::ClosedBatch closed) { transactions_->commit(std::move(closed), member(), now(), completion()); }
  void commit_again() { transactions_->commit_again(member(), completion()); }
  [[nodiscard]] journal::Completion completion() {
    return [this](std::exception_ptr failure) { told_ = std::move(failure); };
  }
  /// Takes in what the journal said.
  attach::Ended ended() { return transactions_->ended(std::exchange(told_, nullptr), now()); }
  /// Takes in an end that a script gives.
  template <class Exception>
  attach::Ended ended_as(const Exception& exception) {
    return transactions_->ended(std::make_exception_ptr(exception), now());
  }

  /// Whether anybody, a reader of aborted transactions too, can read `line` among the releases.
  [[nodiscard]] bool is_readable(const std::string& line) {
    const auto& log = broker_.log({attached_topics::releases, 0});
    return std::any_of(log.begin(), log.end(), [&](const SimulatedEntry& entry) {
      return entry.value && line.starts_with(*entry.value) && !entry.value->empty();
    });
  }
  [[nodiscard]] std::vector<std::string> states() {
    std::vector<std::string> all;
    for (const SimulatedEntry& entry : broker_.log({attached_topics::state, 0})) {
      if (entry.value) all.push_back(*entry.value);
    }
    return all;
  }
  [[nodiscard]] kafka::Error letters_error(kafka::Cause cause) const {
    return kafka::error(cause, kafka::Remedy::new_client, "refused", attached_topics::letters);
  }

  SimulatedBroker broker_{7};
  SimulatedBroker::Process process_{"member", 0, false};
  std::string member_ = "member";
  std::atomic<bool> out_of_time_{false};
  AttachedCase case_;
  attach::Setup setup_ = case_.setup();
  secrets::LockedMemory locked_;
  serve::PublicSurface shown_{case_.settings.config.stream};
  serve::OperatorSurface operators_{shown_};
  serve::OperatorMetrics::Lane* metrics_ = nullptr;
  attach::Kept kept_;
  std::chrono::milliseconds elapsed_{0};
  bool resumed_ = false;
  std::exception_ptr told_;
  std::unique_ptr<attach::LaneState> state_;
  std::unique_ptr<attach::OpenBatch> batch_;
  std::unique_ptr<attach::LaneTransactions> transactions_;
};

}  // namespace nustream::tests
