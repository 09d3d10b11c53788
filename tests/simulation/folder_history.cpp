#include <array>
#include <csignal>

#include <fmt/format.h>

#include "engine/release_encoder.h"
#include "folder/session.h"
#include "folder_case.h"
#include "folder_watch.h"
#include "journal/outbox_folder.h"
#include "played.h"
#include "printed_path.h"
#include "replay/stream_input.h"
#include "replay/summarise.h"
#include "secrets/seal.h"
#include "simulated_broker.h"
#include "simulated_disk.h"
#include "stored_users.h"
#include "users/identifiers.h"

namespace nustream::tests {
namespace {

/// Hands on a few rows at a time, so that a short input makes many batches.
class Trickle final : public decode::Reader {
 public:
  Trickle(decode::Reader& reader, std::mt19937_64& random) : reader_(reader), random_(random) {}
  bool read(record::RowBatch& batch, std::size_t rows_max) override {
    const std::size_t most = std::min<std::size_t>(rows_max, 1 + random_() % 16);
    const std::size_t before = batch.count();
    // A resume may take several calls to pass over records, and their number depends on what the lines hold. What
    // happens in a history must not depend on it.
    bool more = true;
    while (more && batch.count() == before) more = reader_.read(batch, most);
    return more;
  }
  bool pass(std::span<const std::uint64_t> positions, const Look& look) override {
    return reader_.pass(positions, look);
  }
  [[nodiscard]] std::vector<decode::ReadRecord> at_hand(std::uint64_t position) const override {
    return reader_.at_hand(position);
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return reader_.bytes_read(); }
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override { return reader_.bytes_total(); }

 private:
  decode::Reader& reader_;
  std::mt19937_64& random_;
};

/// Lends a session the noise of its owner, which outlives the session.
class LentNoise final : public engine::NoiseSupply {
 public:
  explicit LentNoise(engine::NoiseSupply& noise) : noise_(noise) {}
  std::span<const noise::GridNoise> take(std::size_t steps_max) override { return noise_.take(steps_max); }
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override { return noise_.checkpoints(); }

 private:
  engine::NoiseSupply& noise_;
};

class FolderHistory {
 public:
  explicit FolderHistory(std::uint64_t seed, const Given* given = nullptr, std::uint64_t passes = 1)
      : seed_(seed),
        given_(given),
        given_passes_(passes),
        draws_{std::mt19937_64(seed)},
        disk_(seed ^ 0x9e3779b97f4a7c15U) {}

  HistoryResult play() {
    case_ = draw_folder_case(draws_, seed_, given_, given_passes_);
    if (!case_) return {"no settings were accepted", {}};
    present_disk() = &disk_;
    disk_.keeps_order = false;
    if (given_)
      // Rejects are the operator's: of two neighbours one may have more of them.
      disk_.apart = journal::folder_files::rejects;
    disk_.on_change = [this](const journal::Disk::Path& path) { watch_.changed(path.string()); };
    play_epoch();
    if (given_) log() += disk_.seen(folder_paths::releases) + disk_.seen(folder_paths::ledger);
    if (seed_ % 3 == 0 && verdict_.holds() && given_ == nullptr) {
      if (by_user() && draws_.draw(3) == 0) put_store(disk_, {});
      first_ = first_epoch_of(*case_, disk_);
      older_ = {};
      reference_.reset();
      if (first_ && by_user()) {
        count(first_->next.users ? "an epoch in which users go on counting" : "an epoch in which users begin anew");
      }
      if (first_) play_epoch();
    }
    count_losses();
    return {verdict_.violation(), happened_};
  }
  [[nodiscard]] std::string& log() { return watch_.log(); }
  [[nodiscard]] std::string for_operators() const { return disk_.seen(folder_paths::rejects); }

 private:
  void count(const std::string& what) { ++happened_[what]; }

  /// Plays lives until the epoch's input is read to its end.
  void play_epoch() {
    undisturbed_life_ = false;
    for (auto lives = 2 + draws_.draw(5); lives > 0 && verdict_.holds(); --lives) {
      disturbed_life();
      check_counts();
      if (by_user() && verdict_.holds() && draws_.draw(3) == 0) live_with_another_store();
    }
    undisturbed_life_ = true;
    if (verdict_.holds()) live({});
    disk_.lose_power();
    check_counts();
    if (verdict_.holds() && given_ == nullptr) check_folder_end(*case_, disk_, first_, verdict_, happened_);
  }

  /// Lets a second epoch read all records again, and begin from the last release of the first one.
  void choose_start(folder::Options& options) const {
    const std::string sealed = disk_.seen(folder_paths::state);
    options.start = sealed.empty() ? folder::Start::fresh : folder::Start::resume;
    if (!first_ || secrets::read_identity(sealed).epoch == first_->next.epoch) return;
    options.start = folder::Start::new_epoch;
    options.from = "0";
  }

  Faults draw_faults() {
    // Few lives make more calls, and by then most of the work is done.
    constexpr std::array<std::uint64_t, 3> calls{10, 40, 200};
    const std::uint64_t at = 1 + draws_.draw(calls[draws_.draw(calls.size())]);
    switch (draws_.draw(8)) {
      case 0:
        return {};
      case 1:
        return {.fail_at = at};
      case 2:
        return {.fail_at = at, .fails = 2 + draws_.draw(8)};
      case 3:
        return {.crash_at = at + 1 + draws_.draw(8), .fail_at = at};
      default:
        return {.crash_at = at};
    }
  }

  // ---- the users

  [[nodiscard]] bool by_user() const { return case_->settings.config.users.has_value(); }
  /// The state of the epoch that is played; empty before its first commit.
  [[nodiscard]] std::optional<journal::State> committed() const {
    const std::string sealed = disk_.seen(folder_paths::state);
    if (sealed.empty()) return std::nullopt;
    journal::State state = journal::open_state(case_->keys, sealed);
    if (first_ && state.identity.epoch != first_->next.epoch) return std::nullopt;
    return state;
  }

  /// What users have used up is that of the steps of the state that a resume would go on from.
  void check_counts() {
    if (!by_user() || !verdict_.holds()) return;
    disk_.start_process({});
    const auto state = committed();
    if (!state) return;
    if (older_ == StoreFiles{}) older_ = store_in(disk_);
    const journal::UsersOfState& known = *state->record.users;
    Counts stored;
    try {
      stored = stored_counts(disk_, case_->settings.config.stream, known);
    } catch (const Failure& failure) {
      return verdict_.violate(std::string("the store does not hold the users of its state: ") + failure.what());
    }
    if (!reference_ || reference_key_ != known.key) reference_ = folder_reference(*case_, first_, &known.key);
    reference_key_ = known.key;
    const std::uint64_t steps = state->identity.steps.value();
    if (steps >= reference_->users.size()) return verdict_.violate("a state of more steps than there are");
    const UsersAt& undisturbed = reference_->users[steps];
    std::string what = clock_difference(known, undisturbed);
    // What users use up follows from the noise. That of fresh keys is known to nobody.
    if (what.empty() && !case_->fresh_keys) what = difference(stored, undisturbed.counts);
    if (!what.empty()) return verdict_.violate(fmt::format("of {} steps {}", steps, what));
    if (!case_->fresh_keys) count_users(case_->settings.config, stored, happened_);
  }

  /// While nothing runs, the store of users becomes another one. The next process refuses to go on, and the state
  /// stays what it is; or it goes on where nothing of what it needs is missing, and what users have used up is seen
  /// later on.
  void live_with_another_store() {
    disk_.start_process({});
    const auto state = committed();
    if (!state) return;
    const StoreFiles before = store_in(disk_);
    const bool holds_users = !stored_counts(disk_, case_->settings.config.stream, *state->record.users).empty();
    const auto fault = static_cast<StoreFault>(draws_.draw(4));
    put_store(disk_, with_fault(draws_, fault, before, older_));
    if (store_in(disk_) == before) return;
    const std::string sealed = disk_.seen(folder_paths::state);
    if (!is_refused()) {
      if (fault == StoreFault::lost && holds_users) verdict_.violate("a run goes on whose users are lost");
      return;
    }
    count(std::string(name(fault)) + " that is refused");
    if (disk_.seen(folder_paths::state) != sealed) verdict_.violate("a run that is refused changes the state");
    put_store(disk_, before);
  }

  /// Whether the next process refuses what it finds in the folder. Otherwise it lives like any other.
  [[nodiscard]] bool is_refused() {
    may_be_refused_ = true;
    was_refused_ = false;
    live({});
    disk_.kill_process();
    may_be_refused_ = false;
    return was_refused_;
  }

  // ---- a life

  void disturbed_life() {
    Faults faults = draw_faults();
    if (draws_.draw(6) == 0) faults.broken = journal::folder_files::rejects;
    live(std::move(faults));
    if (draws_.draw(2) == 0) {
      disk_.lose_power();
      count("a power failure");
    } else {
      disk_.kill_process();
    }
    watch_.changed(folder_paths::releases);
    watch_.changed(folder_paths::ledger);
  }

  void live(const Faults& faults) {
    disk_.start_process(faults);
    try {
      run();
    } catch (const SimulatedCrash&) {
      count("a crash");
      if (disk_.failed_calls() > 0) count("a crash after a failed call");
    } catch (const Failure& failure) {
      was_refused_ = may_be_refused_ && failure.code() == Exit::data;
      if (was_refused_) return;
      if (failure.code() != Exit::io || faults.fail_at == 0)
        verdict_.violate(std::string("a life ended: ") + failure.what());
    }
    if (disk_.failed_calls() > 1) count("a life with several failed calls");
    if (!faults.broken.empty() && disk_.failed_calls() > 0) count("a life whose rejects could not be written");
  }

  /// Does what replay::run() does, without the terminal.
  void run() {
    config::Config config = case_->settings.config;
    users::Identifiers identifiers(config::partitioner_of(config));
    if (config.schema.user) config.schema.user->reader = &identifiers;
    const config::Mechanism mechanism = case_->settings.mechanism;
    folder::Options options;
    choose_start(options);
    options.passes = case_->window.passes;
    if (!case_->fresh_keys) options.insecure_seed = seed_;
    const StandardOutput printed([this](std::string_view text) {
      watch_.printed(text);
      count("a release that was printed");
    });
    console::PathPrinter printer(printed.file());
    std::atomic<int> stop{0};
    replay::StreamInput stream(config, case_->window, stop);
    folder::Session session(
        config, mechanism, case_->window, options, [&](std::string_view released) { printer.published(released); },
        stream);
    if (const users::UserKey* key = session.user_key()) identifiers.use(*key);
    stream.open(session.lane().position().value());
    if (is_behind_recentring(config, session.lane().steps().value())) count("a resume of sums behind a recentring");
    Trickle reader(stream.reader(), draws_.random);
    publish::ReleaseEncoder encoder = engine::release_encoder(
        config, mechanism, {config.lane, session.epoch(), session.digest(), session.is_private()});
    ShiftedNoise shifted(std::make_unique<LentNoise>(session.feed()), given_ ? given_->shifts : Shifts());
    engine::Stepper stepper(session.lane(), shifted, encoder, config.descent.minibatch, session.step_limit(),
                            session.released_at());
    replay::RecordLoop loop(
        stepper, reader, config.descent,
        replay::Cadence{config.state.commit_records, std::chrono::duration<double>(config.state.commit_seconds),
                        config.state.rejects, session.step_limit() == mechanism.horizon()},
        replay::Pacer({}));
    const replay::Ending ending = loop.run(
        stop,
        [&](folder::BatchResult result) {
          session.commit(std::move(result), loop.counts().rejected, stepper.released_at());
        },
        [&](std::uint64_t) { disturb(stop); });
    session.finish();
    printer.finish();
    if (given_) log_summary(replay::summarise(config, mechanism, session, printer, loop, ending));
  }

  /// Logs what the end says to everybody, although the summary was made with the operator's counts: the JSON, and the
  /// part of the table that goes to standard output.
  void log_summary(const console::Summary& summary) {
    log() += console::to_json(summary) + '\n';
    const StandardOutput table([this](std::string_view text) { log() += text; });
    const WithoutStandardError silent;
    console::print_table(summary, table.file());
  }

  void disturb(std::atomic<int>& stop) {
    pass_time(std::chrono::milliseconds(draws_.draw(30)));
    if (undisturbed_life_) return;
    if (draws_.draw(60) == 0) {
      pass_time(std::chrono::seconds(draws_.draw(10'000)));
      count("a jump of the clock");
    }
    if (draws_.draw(60) == 0) {
      stop = draws_.draw(2) == 0 ? SIGINT : SIGTERM;
      count("a signal");
    }
  }

  void count_losses() {
    const SimulatedDisk::Losses& losses = disk_.losses();
    happened_["writes lost"] += losses.lost;
    happened_["writes torn"] += losses.torn;
    happened_["writes that arrived out of order"] += losses.reordered;
    happened_["syncs that failed"] += losses.failed_syncs;
    happened_["calls that failed"] += losses.failed_calls;
  }

  std::uint64_t seed_;
  const Given* given_;
  std::uint64_t given_passes_;
  Draws draws_;
  SimulatedDisk disk_;
  Verdict verdict_;
  FolderWatch watch_{disk_, verdict_, given_ != nullptr};
  std::optional<FolderCase> case_;
  std::optional<FirstEpoch> first_;  // the end of the first epoch, where a second one is played
  StoreFiles older_;                 // an earlier copy of the epoch's store of users
  std::optional<Reference> reference_;
  noise::KeyBytes reference_key_{};  // the key of users in that
  bool may_be_refused_ = false;
  bool was_refused_ = false;
  bool undisturbed_life_ = false;
  FaultCounts happened_;
};

}  // namespace

PublicHistory play_records_in_folder(std::uint64_t seed, const Given& given, std::uint64_t passes) {
  return played(FolderHistory(seed, &given, passes));
}

HistoryResult play_folder(std::uint64_t seed) {
  return played(FolderHistory(seed)).result;
}

}  // namespace nustream::tests
