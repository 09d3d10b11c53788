// A topic on the simulated broker whose settings are measured where the unit is the user, and the processes that
// measure them and open its lanes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "attach/measuring.h"
#include "attach/open_lane.h"
#include "attach/record_sizes.h"
#include "config/mechanism.h"
#include "config/ranges.h"
#include "engine/spent.h"
#include "history.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "measure/fit.h"
#include "simulated_kafka.h"
#include "users/user_key.h"

namespace nustream::tests {

inline constexpr LaneId lane_zero{0};
inline constexpr LaneId lane_one{1};

/// A record `who,x,y`, and its key.
struct UsersRecord {
  std::string who;
  std::string rest;
  std::int64_t milliseconds = 0;
};

/// Records of 400 users, of whom number 7 has every third one; of nobody; and some that cannot be used.
inline std::vector<UsersRecord> some_records(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<UsersRecord> records;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = normal(random);
    const std::string who = i % 3 == 0 ? "7" : std::to_string(random() % 401);
    const std::string rest = i % 50 == 49 ? "none,none" : fmt::format("{},{}", x, 1 - x / 2 + normal(random));
    records.push_back({who, rest, 1'700'000'000'000 + static_cast<std::int64_t>(i) * 60'000});
  }
  return records;
}

class MeasuredWorld {
 public:
  static constexpr std::uint64_t measured_records = 600;
  static constexpr double rho = 4000;
  static constexpr double rho_ranges = 800;

  struct Choices {
    std::uint32_t partitions = 2;
    std::string user = "@key";
    std::string limits = "participations = 3\nseparation = 2\n";
    bool private_noise = false;  ///< under a key file, so that each measuring has noise of its own
  };

  explicit MeasuredWorld(const Choices& choices, std::uint64_t seed = 1)
      : keys(choices.private_noise ? secrets::Keyring::from_master(noise::KeyBytes{static_cast<std::uint8_t>(seed)})
                                   : secrets::Keyring::insecure(seed)),
        broker(seed),
        asked(settings_to_measure(choices)),
        partitions_(choices.partitions) {
    broker.lanes = static_cast<std::int32_t>(partitions_);
    broker.gives_times = true;
    begin_process();
  }
  ~MeasuredWorld() { broker.process = nullptr; }
  MeasuredWorld(const MeasuredWorld&) = delete;
  MeasuredWorld& operator=(const MeasuredWorld&) = delete;

  /// A new process, which crashes at its call number `calls`; with 0 it never does.
  void begin_process(std::uint64_t calls = 0) {
    broker.members.erase(process_.name);
    process_ = {"member-" + std::to_string(++members_), calls, false};
    broker.process = &process_;
    SimulatedBroker::current() = &broker;
    broker.join(process_.name);
    out_of_time_ = false;
  }

  void write(const std::vector<UsersRecord>& records, std::int32_t partition = 0) {
    for (const UsersRecord& record : records) {
      SimulatedEntry entry;
      entry.key = record.who;
      entry.value = record.who + "," + record.rest;
      entry.milliseconds = record.milliseconds;
      broker.append({"input", partition}, std::move(entry));
    }
  }

  [[nodiscard]] std::string measure() {
    const attach::MeasuringOrder order{asked,
                                       keys,
                                       std::min(partitions_, lanes_with_room),
                                       std::min(partitions_, lanes_with_room),
                                       [](const std::string&) {},
                                       [](const std::function<void()>& work) { work(); }};
    return attach::measure_stream(order, std::atomic<bool>(false));
  }

  /// How the present settings have what was measured: as "private", or as the numbers of --write-config.
  enum class Settled { measured, by_numbers };

  /// The settings with what was measured, divided among the topic's partitions as attach does.
  void settle(const std::string& ranges, Settled how = Settled::measured) {
    config_ = measure::settled_config(asked, config::Purpose::stream, ranges, "lane 0", "other topics");
    config_->kafka = asked.kafka;
    config_->users->lanes = partitions_;
    if (how == Settled::by_numbers) config_->ranges.clear();
    mechanism_.emplace(config::make_mechanism(*config_, privacy::Participation::once()));
    const std::size_t release_max = attach::release_bytes(*config_, *mechanism_);
    config_->publishing.outbox_bytes_max = 8 * release_max;
    setup_.emplace(
        attach::Setup{*config_, config::EpochDigests(*config_, *mechanism_, keys.is_private()), keys, release_max,
                      std::size_t{1} << 20, partitions_, std::size_t{1} << 20, 100,
                      how == Settled::by_numbers ? std::string() : attach::ranges_rule(asked, keys.is_private())});
  }
  /// The same with another number of partitions, of which there are as many in each topic.
  void repartition(std::uint32_t partitions, const std::string& ranges, Settled how = Settled::measured) {
    partitions_ = partitions;
    broker.lanes = static_cast<std::int32_t>(partitions);
    settle(ranges, how);
  }
  [[nodiscard]] const attach::Setup& setup() const { return *setup_; }
  [[nodiscard]] const config::Mechanism& mechanism() const { return *mechanism_; }

  /// Opens a lane, and tries again after each interruption.
  [[nodiscard]] attach::OpenedLane open(LaneId lane, attach::Renewal renewal = {}) {
    attach::LaneOrder order;
    order.setup = &*setup_;
    order.mechanism = std::make_unique<const config::Mechanism>(*mechanism_);
    order.lane = lane;
    order.partitions = partitions_;
    order.renewal = renewal;
    order.member = std::make_shared<const kafka::GroupMetadata>(kafka::metadata_of(process_.name, broker.generation));
    order.post = [](const std::function<void()>& work) { work(); };
    order.cancelled = std::make_shared<std::atomic<bool>>(false);
    order.out_of_time = &out_of_time_;
    return attach::open_lane(std::move(order));
  }

  // ---- what anybody finds in the topics
  [[nodiscard]] std::vector<std::string> committed(const std::string& topic, std::int32_t lane = 0) {
    broker.settle();
    return broker.committed_values({"measured." + topic, lane});
  }
  [[nodiscard]] journal::State state(std::int32_t lane = 0) {
    return journal::open_state(keys, committed("state", lane).back());
  }
  [[nodiscard]] journal::Ledger ledger(std::int32_t lane = 0) {
    journal::LedgerVerifier verifier(keys);
    for (const std::string& line : committed("ledger", lane)) verifier.add(line);
    return std::move(verifier).finish();
  }
  /// What a user of the lane may have spent by the lines of its ledger, where its last epoch goes on for ever.
  [[nodiscard]] double charged(std::int32_t lane = 0) {
    return engine::total_spent(ledger(lane).epochs, asked.privacy.neighbours()).value();
  }

  secrets::Keyring keys;
  SimulatedBroker broker;
  config::Config asked;
  std::uint32_t lanes_with_room = 1'000;  ///< of what is measured from here on

 private:
  [[nodiscard]] static config::Config settings_to_measure(const Choices& choices) {
    const std::string file = scratch_folder() + "/measured.toml";
    std::ofstream(file, std::ios::binary) << fmt::format(
        "[stream]\nname = \"measured\"\nformat = \"csv\"\nheader = false\ncolumns = [\"who\", \"x\", \"y\"]\n"
        "[target]\ncolumn = \"y\"\ncenter = \"private\"\nscale = \"private\"\n"
        "[[features]]\ncolumn = \"x\"\ncenter = \"private\"\nscale = \"private\"\n"
        "[descent]\nstep_size = 0.01\nclip_norm = \"private\"\nminibatch = 5\n"
        "[privacy]\nunit = \"user\"\nuser = \"{}\"\nuser_null = [\"0\"]\nrho = {}\ndelta = 1e-6\n"
        "[users]\n{}[noise]\nnu = 0.01\n[release]\nevery = 10\n[state]\ncommit_records = 250\n"
        "[ranges]\nrecords = {}\n[kafka]\nbrokers = \"simulated\"\ntopic = \"input\"\ngroup = \"group\"\n",
        choices.user, rho, choices.limits, measured_records);
    return config::read_config_to_measure(file, {}, config::Purpose::stream);
  }

  std::uint32_t partitions_;
  SimulatedBroker::Process process_{};
  std::uint64_t members_ = 0;
  std::atomic<bool> out_of_time_{false};
  std::optional<config::Config> config_;
  std::optional<config::Mechanism> mechanism_;
  std::optional<attach::Setup> setup_;
};

}  // namespace nustream::tests
