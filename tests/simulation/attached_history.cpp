#include <algorithm>

#include <fmt/format.h>

#include "attach/record_sizes.h"
#include "decode/message_decoder.h"
#include "history.h"
#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "played.h"
#include "secrets/random.h"
#include "shown_pages.h"
#include "simulated_clock.h"
#include "simulated_service.h"

namespace nustream::tests {
namespace {

using std::chrono::milliseconds;

constexpr const char* releases_topic = "simulated.releases";
constexpr const char* state_topic = "simulated.state";
constexpr const char* ledger_topic = "simulated.ledger";
constexpr const char* letters_topic = "dead";
constexpr LaneId given_lane{0};  // the shifts of given records are those of its noise

/// One lane as the outside sees it.
struct LaneRecord {
  std::vector<SimulatedEntry> coming;  ///< records of the input that are not there yet
  Watcher watcher;
  std::uint64_t durable_steps = 0;
  std::map<std::uint64_t, std::string> released;  ///< committed releases by step
  bool has_state = false;
};

class AttachedHistory {
 public:
  explicit AttachedHistory(std::uint64_t seed, const Given* given = nullptr)
      : seed_(seed),
        given_(given),
        random_(seed),
        broker_(seed ^ 0xabcdef12345U),
        keys_(secrets::Keyring::insecure(seed)) {}

  HistoryResult play() {
    if (!draw_settings()) return {"no settings were accepted", {}};
    draw_input();
    broker_.on_append = [this](const Place& place, const SimulatedEntry& entry) { watch(place, entry); };
    broker_.on_decided = [this](const SimulatedTransaction& transaction) { note_end(transaction); };
    live_disturbed();
    services_.clear();
    if (violation_.empty()) live_undisturbed();
    if (violation_.empty() && given_ == nullptr) check_end();
    log_pages();
    services_.clear();
    broker_.count(fresh_keys_ ? "under a fresh key" : "under an insecure seed");
    return {violation_, broker_.happened};
  }
  [[nodiscard]] std::string& log() { return log_; }
  [[nodiscard]] std::string for_operators() {
    std::string letters;
    for (const std::string& letter : broker_.committed_values({letters_topic, 0})) letters += letter + '\n';
    return letters;
  }

 private:
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  /// Not every correlation accounts for everything.
  bool draw_settings() {
    for (int tries = 0; tries < settings_tries_max; ++tries) {
      if (try_settings()) return true;
    }
    return false;
  }

  bool try_settings() {
    const std::uint64_t steps = 20 + draw(80);
    stream_ = given_ ? given_->stream
                     : random_stream(random_(), {.steps = steps, .replace_one = true, .beside_values = true});
    const RandomStream& stream = stream_;
    partitions_ = 1 + static_cast<std::uint32_t>(draw(2));
    records_ = given_ ? given_->records.size() : steps * stream.minibatch + draw(stream.minibatch);
    with_letters_ = chance(0.5);
    if (given_) broker_.apart = letters_topic;  // which are the operator's: of neighbours one may have more of them
    stops_ = !given_ && chance(0.3);
    const std::string more = fmt::format(
        "[state]\ncommit_records = {}\ncommit_seconds = {}\n[kafka]\nbrokers = \"simulated\"\n"
        "topic = \"input\"\ngroup = \"group\"\nbuffered_records = {}\n{}{}",
        stream.minibatch * (1 + draw(25)), chance(0.5) ? 0.05 : 5.0, stream.minibatch * (2 + draw(40)),
        with_letters_ ? fmt::format("dead_letter_topic = \"{}\"\n", letters_topic) : "",
        stops_ ? fmt::format("stop = {}\n", records_ / 2 + draw(records_)) : "");
    settings_ = settings_of(stream, more, privacy::Participation::once());
    if (!settings_) return false;
    fresh_keys_ = !given_ && chance(0.2);
    if (fresh_keys_) {
      const noise::KeyBytes master = secrets::random_key();
      keys_ = secrets::Keyring::from_master(master);
      settings_->digest = config::settings_digest(settings_->config, settings_->mechanism);
    }
    config::Config& config = settings_->config;
    const std::size_t release_max = attach::release_bytes(config, settings_->mechanism);
    config.release_linger = milliseconds(chance(0.5) ? 0 : 300);
    config.outbox_bytes_max = release_max * (1 + draw(8));
    setup_.emplace(attach::Setup{config, settings_->digest, keys_, release_max, 1 << 20, 1000});
    broker_.faults = {chance(0.5) ? 0.2 : 0, chance(0.5) ? 0.03 : 0, chance(0.5) ? 0.15 : 0, chance(0.5) ? 0.5 : 0};
    return true;
  }

  void draw_input() {
    lanes_.resize(partitions_);
    std::int64_t time = 1'700'000'000'000;
    for (LaneRecord& lane : lanes_) {
      const bool is_given = given_ && &lane == &lanes_[given_lane.value()];
      for (std::uint64_t i = 0; i < records_; ++i) {
        SimulatedEntry entry;
        RandomRecord record = is_given ? given_->records[i] : random_message(stream_, random_());
        entry.value = std::move(record.value);
        entry.key = std::move(record.key);
        entry.headers = std::move(record.headers);
        time += static_cast<std::int64_t>(draw(1000)) - 300;  // clocks of producers go back
        entry.milliseconds = time;
        lane.coming.push_back(std::move(entry));
        if (chance(0.1)) {  // offsets that are no records
          SimulatedEntry marker;
          marker.is_control = true;
          lane.coming.push_back(std::move(marker));
        }
      }
      std::reverse(lane.coming.begin(), lane.coming.end());
    }
  }

  void arrive(std::uint64_t count) {
    for (std::uint32_t lane = 0; lane < partitions_; ++lane) {
      std::vector<SimulatedEntry>& coming = lanes_[lane].coming;
      for (std::uint64_t i = 0; i < count && !coming.empty(); ++i) {
        broker_.append({"input", static_cast<std::int32_t>(lane)}, std::move(coming.back()));
        coming.pop_back();
      }
    }
  }

  // ---- what the outside sees

  void violate(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  /// Of every process, whenever they are others than before.
  void log_pages() {
    if (given_ == nullptr) return;
    for (const auto& service : services_) {
      std::string pages = service->shown().metrics() + service->shown().state();
      std::string& last = pages_[service->process.name];
      if (pages == last) continue;
      log_ += service->process.name + '\n' + pages;
      last = std::move(pages);
    }
  }

  /// Of whoever asks a process at this moment: its public pages are never ahead of what is committed.
  void look_at_pages() {
    for (const auto& service : services_) {
      for (const ShownLane& shown : shown_lanes(service->shown())) look_at(shown);
    }
  }

  void look_at(const ShownLane& shown) {
    const LaneRecord& lane = lanes_.at(shown.lane);
    if (std::max(shown.steps_committed, shown.steps_total) > lane.durable_steps) {
      violate(fmt::format("a page shows {} and {} steps, of which {} are durable", shown.steps_committed,
                          shown.steps_total, lane.durable_steps));
    }
    if (!shown.released) return;
    const auto found = lane.released.find(*shown.released);
    if (found == lane.released.end()) {
      violate(fmt::format("a page shows the release of step {}, which is not committed", *shown.released));
    } else if (shown.estimate.empty() || estimate_in(found->second) != shown.estimate) {
      violate("a page shows another estimate than the release: " + shown.estimate + "\n" + found->second);
    }
    broker_.count("a page with a release");
  }

  void watch(const Place& place, const SimulatedEntry& entry) {
    look_at_pages();
    if (entry.is_control || !entry.value) return;
    LaneRecord& lane = lanes_[static_cast<std::size_t>(place.second)];
    if (given_ && (place.first == releases_topic || place.first == ledger_topic)) {
      log_ += fmt::format("{} {} {}", (std::chrono::steady_clock::now() - began_).count(),
                          entry.key.value_or("no key"), *entry.value);
      for (const auto& [name, value] : entry.headers) log_ += fmt::format(" {}={}", name, value.value_or("null"));
      log_ += '\n';
    }
    if (place.first == state_topic) pending_states_[entry.transaction.get()] = *entry.value;
    if (place.first != releases_topic) return;
    pending_releases_[entry.transaction.get()].push_back(*entry.value);
    if (!lane.watcher.look(*entry.value)) violate("a step is readable with two values: " + *entry.value);
    if (!lane.has_state || lane.watcher.furthest() > lane.durable_steps) {
      violate(fmt::format("step {} is readable before its state is durable (step {})", lane.watcher.furthest(),
                          lane.durable_steps));
    }
  }

  void note_end(const SimulatedTransaction& transaction) {
    const auto found = pending_states_.find(&transaction);
    if (found == pending_states_.end()) return;
    if (transaction.will_commit()) {
      const secrets::StateIdentity identity = secrets::read_identity(found->second);
      LaneRecord& lane = lanes_[identity.lane.value()];
      if (lane.has_state && identity.steps.value() < lane.durable_steps) violate("a committed state went back");
      if (identity.epoch != EpochId{0}) violate("a new epoch that nobody asked for");
      lane.durable_steps = identity.steps.value();
      lane.has_state = true;
      for (const std::string& line : pending_releases_[&transaction]) {
        lane.released.emplace(journal::parse_last_release(line).steps.value(), line);
      }
      broker_.count("a committed transaction");
    }
    pending_states_.erase(found);
    pending_releases_.erase(&transaction);
  }

  // ---- lives

  void start_service(bool may_crash) {
    SimulatedService::WrapNoise shift;
    if (given_) {
      shift = [this](LaneId lane,
                     std::unique_ptr<engine::NoiseSupply> noise) -> std::unique_ptr<engine::NoiseSupply> {
        if (lane != given_lane) return noise;
        return std::make_unique<ShiftedNoise>(std::move(noise), given_->shifts);
      };
    }
    services_.push_back(std::make_unique<SimulatedService>(broker_, *setup_, settings_->mechanism, partitions_,
                                                           ++members_ + (seed_ << 8U), std::move(shift)));
    if (may_crash && chance(0.7)) services_.back()->process.calls_left = 2 + draw(chance(0.5) ? 60 : 600);
  }

  void disturb() {
    if (chance(0.2) && !broker_.is_away()) arrive(1 + draw(8));
    if (chance(0.002)) broker_.restart();
    if (chance(0.01)) broker_.time_out_one();
    if (chance(0.01)) broker_.move_one();
    if (services_.empty() || (services_.size() < 2 && chance(0.01))) start_service(true);
    if (chance(0.004)) broker_.lose(services_[draw(services_.size())]->process.name);
    broker_.share_out(static_cast<std::int32_t>(partitions_));
    if (chance(0.002)) {
      pass_time(milliseconds(1000 * draw(chance(0.5) ? 120 : 20'000)));
      broker_.count("a jump of the clock");
    }
  }

  void live_disturbed() {
    for (std::uint64_t moments = 300 + draw(900); moments > 0 && violation_.empty(); --moments) {
      disturb();
      const auto service = services_.begin() + static_cast<std::ptrdiff_t>(draw(services_.size()));
      try {
        const bool stepped = (*service)->step();
        log_pages();
        if (!stepped) {
          pass_time(milliseconds(draw(400)));
          (*service)->look_at_the_clock();
        }
        if (chance(0.003)) (*service)->shut_down();
        look_at_pages();
        if ((*service)->is_drained()) {
          broker_.count("a process that was told to end");
          services_.erase(service);
        } else if ((*service)->failure()) {
          judge_failure(*(*service)->failure());
          services_.erase(service);
        }
      } catch (const SimulatedCrash&) {
        look_at_pages();
        services_.erase(service);
      }
    }
  }

  /// The brokers may be gone for too long; nothing else ends a process.
  void judge_failure(const attach::LaneEnd& end) {
    broker_.count("a process that gave up");
    if (end.code != Exit::unavailable) violate("a process ended: " + end.reason);
  }

  void live_undisturbed() {
    broker_.settle();
    arrive(2 * records_);
    start_service(false);
    SimulatedService& service = *services_.back();
    for (int idle = 0; idle < 60; ++idle) {
      broker_.share_out(static_cast<std::int32_t>(partitions_));
      while (service.step()) {
        log_pages();
        look_at_pages();
        idle = 0;
      }
      broker_.go_on();
      if (service.failure()) return violate("the last life ended: " + service.failure()->reason);
      pass_time(milliseconds(500));
      service.look_at_the_clock();
    }
  }

  // ---- the end

  Reference reference_of(std::uint32_t lane) {
    record::RowBatch rows;
    decode::MessageDecoder decoder(settings_->config.input, settings_->config.schema);
    rows.dimension = decoder.dimension();
    decode::MessageBatch batch;
    const std::deque<SimulatedEntry>& log = broker_.log({"input", static_cast<std::int32_t>(lane)});
    const auto& stop = settings_->config.kafka.stop;
    const std::uint64_t end = stop ? std::get<config::AtOffset>(*stop).offset : log.size();
    for (std::uint64_t offset = 0; offset < std::min<std::uint64_t>(end, log.size()); ++offset) {
      const SimulatedEntry& entry = log[offset];
      if (entry.is_control) continue;
      decode::Message message{offset, entry.milliseconds, decode::TimeKind::producer};
      if (entry.key) message.key = *entry.key;
      message.headers = entry.views;
      if (entry.value) message.value = *entry.value;
      batch.add(message);
    }
    decoder.decode(batch.messages(), rows);
    return undisturbed(*settings_, keys_, LaneId{lane}, std::move(rows), Position{0},
                       stop.has_value() && end <= log.size());
  }

  void check_end() {
    for (std::uint32_t lane = 0; lane < partitions_ && violation_.empty(); ++lane) check_lane(lane);
  }

  void check_lane(std::uint32_t lane) {
    const auto partition = static_cast<std::int32_t>(lane);
    const Reference reference = reference_of(lane);
    const std::string what =
        difference(broker_.committed_values({releases_topic, partition}), reference, !fresh_keys_);
    if (!what.empty())
      return violate(fmt::format("lane {}: releases differ: {}\n{}{}", lane, what, stream_.toml, story(lane)));
    const std::vector<std::string> states = broker_.committed_values({state_topic, partition});
    if (states.empty()) return violate("no state");
    const journal::State state = journal::open_state(keys_, states.back());
    if (state.identity.steps.value() != reference.steps || state.record.position.value() != reference.position) {
      violate(fmt::format("lane {}: step {} at {}, undisturbed {} at {}", lane, state.identity.steps.value(),
                          state.record.position.value(), reference.steps, reference.position));
    }
    if (state.record.rejected != reference.rejected) violate("another number of unusable records");
    if (!state.record.outbox.empty()) violate("an outbox was never published");
    const auto committed = broker_.committed_offset({"input", partition});
    if (committed != static_cast<std::int64_t>(reference.position)) violate("the group's offset is not the state's");
    check_ledger(lane, reference);
    if (with_letters_ && broker_.committed_values({letters_topic, partition}).size() > reference.rejected) {
      violate("a dead letter was committed twice");
    }
    broker_.happened["steps"] += reference.steps;
  }

  /// For whoever looks into a violation.
  std::string story(std::uint32_t lane) {
    const auto partition = static_cast<std::int32_t>(lane);
    const auto& stop = settings_->config.kafka.stop;
    std::string text =
        fmt::format("input ends at {}, group's offset {}, stop {}\n", broker_.end({"input", partition}),
                    broker_.committed_offset({"input", partition}).value_or(-1),
                    stop ? fmt::format("{}", std::get<config::AtOffset>(*stop).offset) : "none");
    for (const std::string& line : broker_.committed_values({releases_topic, partition})) text += line + '\n';
    return text;
  }

  void check_ledger(std::uint32_t lane, const Reference& reference) {
    journal::LedgerVerifier verifier(keys_);
    std::uint64_t last = 0;
    for (const std::string& line : broker_.committed_values({ledger_topic, static_cast<std::int32_t>(lane)})) {
      verifier.add(line);
      const journal::LedgerEntry entry = journal::read_entry(line);
      if (entry.rho != settings_->mechanism.spend.after(entry.steps)) violate("a ledger line's spend is not exact");
      if (entry.steps.value() < last) violate("the ledger went back");
      last = entry.steps.value();
    }
    const journal::Ledger ledger = std::move(verifier).finish();
    if (ledger.epochs.size() != 1 || ledger.epochs.front().steps.value() != reference.steps ||
        ledger.epochs.front().to.value() != reference.position) {
      violate(fmt::format("lane {}: the ledger does not end with what was spent", lane));
    }
  }

  std::uint64_t seed_;
  const Given* given_;
  std::mt19937_64 random_;
  SimulatedBroker broker_;
  secrets::Keyring keys_;
  bool fresh_keys_ = false;
  RandomStream stream_;
  std::uint32_t partitions_ = 1;
  std::uint64_t records_ = 0;
  bool with_letters_ = false;
  bool stops_ = false;
  std::optional<Settings> settings_;
  std::optional<attach::Setup> setup_;
  std::vector<LaneRecord> lanes_;
  std::map<const SimulatedTransaction*, std::string> pending_states_;
  std::map<const SimulatedTransaction*, std::vector<std::string>> pending_releases_;
  std::string violation_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::string log_;
  std::map<std::string, std::string> pages_;  ///< as they were logged last, by process
  std::uint64_t members_ = 0;
  std::vector<std::unique_ptr<SimulatedService>> services_;  // last: they go first
};

}  // namespace

PublicHistory play_records(std::uint64_t seed, const Given& given) {
  return played(AttachedHistory(seed, &given));
}

HistoryResult play_attached(std::uint64_t seed) {
  return played(AttachedHistory(seed)).result;
}

}  // namespace nustream::tests
