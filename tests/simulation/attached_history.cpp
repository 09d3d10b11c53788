#include <algorithm>

#include <fmt/format.h>

#include "attached_case.h"
#include "attached_watch.h"
#include "journal/state_record.h"
#include "lane_reference.h"
#include "played.h"
#include "simulated_broker.h"
#include "simulated_service.h"
#include "stored_users.h"

namespace nustream::tests {
namespace {

using std::chrono::milliseconds;

class AttachedHistory {
 public:
  explicit AttachedHistory(std::uint64_t seed, const Given* given = nullptr)
      : seed_(seed), given_(given), draws_{std::mt19937_64(seed)}, broker_(seed ^ 0xabcdef12345U) {}

  HistoryResult play() {
    case_ = draw_attached_case(draws_, seed_, given_, given_ == nullptr && is_by_user(seed_));
    if (!case_) return {"no settings were accepted", {}};
    setup_.emplace(case_->setup());
    watch_.expect(case_->partitions, EpochId{0});
    broker_.faults = case_->faults;
    broker_.lanes = partitions();
    broker_.gives_times = case_->stream.times == RandomStream::Times::of_broker;
    // Letters are the operator's: of two neighbours one may have more of them.
    if (given_) broker_.apart = attached_topics::letters;
    coming_ = draw_input(draws_, *case_, given_);
    if (changes()) kept_back_ = coming_.front().size() / (2 + draws_.draw(3));
    broker_.on_append = [this](const Place& place, const SimulatedEntry& entry) {
      look_at_pages();
      watch_.appended(place, entry);
    };
    broker_.on_decided = [this](const SimulatedTransaction& transaction) { watch_.decided(transaction); };
    live_disturbed();
    if (verdict_.holds() && changes()) change_lanes();
    services_.clear();
    if (verdict_.holds() && case_->settings.config.users) live_with_another_store();
    if (verdict_.holds()) live_undisturbed();
    if (verdict_.holds() && given_ == nullptr) end_undisturbed();
    if (verdict_.holds() && given_ == nullptr) {
      check_attached_end(now(), changed_ ? &*case_ : nullptr, broker_, verdict_);
    }
    log_pages();
    services_.clear();
    broker_.count(case_->fresh_keys ? "under a fresh key" : "under an insecure seed");
    return {verdict_.violation(), broker_.happened, broker_.stages};
  }
  [[nodiscard]] std::string& log() { return watch_.log(); }
  [[nodiscard]] std::string for_operators() {
    std::string letters;
    for (const std::string& letter : broker_.committed_values({attached_topics::letters, 0}))
      letters += letter + '\n';
    return letters;
  }

 private:
  /// The case as the processes that start now have it.
  [[nodiscard]] const AttachedCase& now() const { return changed_ ? *changed_ : *case_; }
  [[nodiscard]] std::int32_t partitions() const { return static_cast<std::int32_t>(now().partitions); }
  /// Whether the number of partitions changes in this history.
  [[nodiscard]] bool changes() const { return case_->partitions_later > case_->partitions; }
  /// Whether the process was started under the old number of partitions.
  [[nodiscard]] bool is_old(const SimulatedService& service) const { return service.partitions() < now().partitions; }

  void arrive(std::uint64_t count) {
    for (std::int32_t partition = 0; partition < partitions(); ++partition) {
      std::vector<SimulatedEntry>& coming = coming_[static_cast<std::size_t>(partition)];
      for (std::uint64_t i = 0; i < count && coming.size() > kept_back_; ++i) {
        broker_.append({attached_topics::input, partition}, std::move(coming.back()));
        coming.pop_back();
      }
    }
  }

  void log_pages() {
    for (const auto& service : services_) watch_.log_pages(service->process.name, service->shown());
  }

  /// Looks at the pages as somebody does who asks every process at this moment.
  void look_at_pages() {
    for (const auto& service : services_) {
      watch_.look_at(service->shown(), EpochId{changed_ && !is_old(*service) ? 1U : 0U});
    }
  }

  // ---- lives

  [[nodiscard]] SimulatedService::WrapNoise shift() const {
    if (!given_) return {};
    return [this](LaneId lane, std::unique_ptr<engine::NoiseSupply> noise) -> std::unique_ptr<engine::NoiseSupply> {
      if (lane != given_lane) return noise;
      return std::make_unique<ShiftedNoise>(std::move(noise), given_->shifts);
    };
  }

  void start_service(bool may_crash) {
    // Once every lane has begun behind a change, --new-epoch is of no use any more.
    const attach::Renewal renewal{.new_epoch = is_changing()};
    services_.push_back(std::make_unique<SimulatedService>(broker_, changed_ ? *changed_setup_ : *setup_,
                                                           now().settings.mechanism, now().partitions,
                                                           ++members_ + (seed_ << 8U), renewal, shift()));
    if (!may_crash || !draws_.chance(0.7)) return;
    services_.back()->process.calls_left = 2 + draws_.draw(draws_.chance(0.5) ? 60 : 600);
  }

  void disturb() {
    if (draws_.chance(0.2) && !broker_.is_away()) arrive(1 + draws_.draw(8));
    if (draws_.chance(0.002)) broker_.restart();
    if (draws_.chance(0.01)) broker_.time_out_one();
    if (draws_.chance(0.01)) broker_.move_one();
    // Somebody runs the present number of lanes, whoever else may run the old one.
    const bool all_are_old = std::ranges::all_of(services_, [&](const auto& service) { return is_old(*service); });
    if (all_are_old || (services_.size() < 2 && draws_.chance(0.01))) start_service(true);
    if (draws_.chance(0.004)) broker_.lose(services_[draws_.draw(services_.size())]->process.name);
    broker_.share_out(partitions());
    if (draws_.chance(0.002)) {
      pass_time(milliseconds(1000 * draws_.draw(draws_.chance(0.5) ? 120 : 20'000)));
      broker_.count("a jump of the clock");
    }
  }

  void live_disturbed() {
    for (std::uint64_t moments = 300 + draws_.draw(900); moments > 0 && verdict_.holds(); --moments) {
      disturb();
      const auto service = services_.begin() + static_cast<std::ptrdiff_t>(draws_.draw(services_.size()));
      try {
        const bool stepped = (*service)->step();
        log_pages();
        if (!stepped) {
          pass_time(milliseconds(draws_.draw(400)));
          (*service)->look_at_the_clock();
        }
        if (draws_.chance(0.003)) (*service)->shut_down();
        look_at_pages();
        if ((*service)->is_drained()) {
          broker_.count("a process that was told to end");
          services_.erase(service);
        } else if ((*service)->failure()) {
          judge_failure(**service);
          services_.erase(service);
        }
      } catch (const SimulatedCrash&) {
        if (is_changing()) broker_.count("a crash while the number of lanes changes");
        look_at_pages();
        services_.erase(service);
      }
    }
  }

  /// A process may end by itself only because the brokers are gone for too long, or because it still has the old
  /// number of lanes, one of which is closed.
  void judge_failure(const SimulatedService& service) {
    const attach::LaneEnd& end = *service.failure();
    if (is_old(service) && end.code != Exit::unavailable) {
      return broker_.count("a process of the old number of lanes that is refused");
    }
    broker_.count("a process that gave up");
    if (end.code != Exit::unavailable) verdict_.violate("a process ended: " + end.reason);
  }

  // ---- the barrier

  /// All topics get more partitions, and processes are started that divide users among these. An old one may still
  /// run. It holds the change up until its lanes move, or until it ends.
  void change_lanes() {
    const std::uint64_t waited = waits();
    if (draws_.chance(0.5)) services_.clear();
    kept_back_ = 0;
    if (!may_change_lanes(*case_, broker_)) return;
    changed_ = case_->divided_anew();
    changed_setup_.emplace(changed_->setup());
    broker_.lanes = partitions();
    watch_.expect(changed_->partitions, EpochId{1});
    if (!services_.empty()) broker_.count("a process that runs on under the old number of lanes");
    live_disturbed();
    if (waits() > waited) broker_.happened["a lane that waits for closing marks"] += waits() - waited;
  }

  /// How often a lane has had to wait for another one.
  [[nodiscard]] std::uint64_t waits() const {
    std::uint64_t times = 0;
    for (const auto& [arrow, count] : broker_.stages) times += arrow.ends_with(": must_wait") ? count : 0;
    return times;
  }
  [[nodiscard]] bool is_changing() { return changed_ && !all_began(*changed_, broker_, EpochId{1}); }

  // ---- the users

  /// The users of the lane's last state; empty where it has none.
  [[nodiscard]] std::optional<Counts> users_of(std::int32_t partition) {
    const std::vector<std::string> states = broker_.committed_values({attached_topics::state, partition});
    if (states.empty()) return std::nullopt;
    return stored_counts(broker_, {attached_topics::users, partition}, case_->settings.config.stream,
                         *journal::open_state(case_->keys, states.back()).record.users);
  }

  /// While nothing runs, the store of one lane's users loses some of its records: all, the last ones, or some between
  /// them. The next process refuses to go on with the lane; or it goes on where nothing of what it needs is missing,
  /// and what users have used up is seen at the end. Then the records are there again.
  void live_with_another_store() {
    broker_.settle();
    if (is_changing()) return;
    const auto partition = static_cast<std::int32_t>(draws_.draw(now().partitions));
    const std::optional<Counts> known = users_of(partition);
    if (!known) return;
    const Place users{attached_topics::users, partition};
    const Place state{attached_topics::state, partition};
    const std::size_t states = broker_.committed_values(state).size();
    const std::uint64_t kind = draws_.draw(3);
    const std::vector<std::size_t> hidden = some_records(users, kind);
    for (const std::size_t offset : hidden) broker_.hide(users, offset, true);
    start_service(false);
    live_until_idle();
    const std::optional<attach::LaneEnd> failure = services_.back()->failure();
    services_.clear();
    for (const std::size_t offset : hidden) broker_.hide(users, offset, false);
    if (!failure) {
      if (kind == 0 && !known->empty()) verdict_.violate("a lane goes on whose users are lost");
      return;
    }
    if (failure->code != Exit::data) return verdict_.violate("a process ended: " + failure->reason);
    constexpr const char* names[] = {"a lost store of users", "an older store of users", "a thinned store of users"};
    broker_.count(std::string(names[kind]) + " that is refused");
    if (broker_.committed_values(state).size() != states) verdict_.violate("a lane that is refused commits");
  }

  /// The offsets of all records of a store, of the last ones, or of about every fourth one.
  [[nodiscard]] std::vector<std::size_t> some_records(const Place& store, std::uint64_t kind) {
    const std::deque<SimulatedEntry>& log = broker_.log(store);
    const std::size_t from = kind == 1 ? draws_.draw(log.size() + 1) : 0;
    std::vector<std::size_t> offsets;
    for (std::size_t offset = from; offset < log.size(); ++offset) {
      if (!log[offset].is_control && (kind != 2 || draws_.chance(0.25))) offsets.push_back(offset);
    }
    return offsets;
  }

  /// Lets the last process go on until it fails, or nothing has happened for long.
  void live_until_idle() {
    SimulatedService& service = *services_.back();
    for (int idle = 0; idle < 60 && !service.failure(); ++idle) {
      broker_.share_out(partitions());
      while (service.step()) {
        look_at_pages();
        idle = 0;
      }
      broker_.go_on();
      pass_time(milliseconds(500));
      service.look_at_the_clock();
    }
  }

  void live_undisturbed() {
    broker_.settle();
    arrive(2 * case_->records);
    start_service(false);
    SimulatedService& service = *services_.back();
    for (int idle = 0; idle < 60; ++idle) {
      broker_.share_out(partitions());
      while (service.step()) {
        log_pages();
        look_at_pages();
        idle = 0;
      }
      broker_.go_on();
      if (service.failure()) return verdict_.violate("the last life ended: " + service.failure()->reason);
      pass_time(milliseconds(500));
      service.look_at_the_clock();
    }
  }

  /// Told to end, whatever the lanes are at, and with no fault any more.
  void end_undisturbed() {
    SimulatedService& service = *services_.back();
    service.shut_down();
    for (int idle = 0; idle < 60 && !service.is_drained(); ++idle) {
      while (service.step()) idle = 0;
      broker_.go_on();
      pass_time(milliseconds(500));
      service.look_at_the_clock();
    }
    look_at_pages();
    if (!service.is_drained()) verdict_.violate("the last life does not end");
  }

  std::uint64_t seed_;
  const Given* given_;
  Draws draws_;
  SimulatedBroker broker_;
  Verdict verdict_;
  AttachedWatch watch_{broker_, verdict_, given_ != nullptr};
  std::optional<AttachedCase> case_;
  std::optional<attach::Setup> setup_;
  std::optional<AttachedCase> changed_;  ///< once there are more partitions
  std::optional<attach::Setup> changed_setup_;
  std::vector<std::vector<SimulatedEntry>> coming_;  ///< records of each partition that have not arrived yet
  std::size_t kept_back_ = 0;                        ///< how many of these do not arrive before the change
  std::uint64_t members_ = 0;
  std::vector<std::unique_ptr<SimulatedService>> services_;  // declared last, so that they are destroyed first
};

}  // namespace

PublicHistory play_records(std::uint64_t seed, const Given& given) {
  return played(AttachedHistory(seed, &given));
}

HistoryResult play_attached(std::uint64_t seed) {
  return played(AttachedHistory(seed)).result;
}

}  // namespace nustream::tests
