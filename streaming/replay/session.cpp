#include "replay/session.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "journal/sealed_state.h"
#include "replay/spent.h"
#include "secrets/key_file.h"

namespace nustream::replay {
namespace {

std::string restart_hint(const config::Config& config) {
  return "go on from it with: " + replay_command(config, "--resume") +
         "; or begin a new noise epoch behind it with: " + replay_command(config, "--new-epoch");
}

bool holds_public_files(const std::filesystem::path& folder) {
  for (const char* name : {journal::folder_files::releases, journal::folder_files::ledger}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(folder / name, missing);
    if (!missing && size > 0) return true;
  }
  return false;
}

}  // namespace

Session::Session(const config::Config& config, const config::Mechanism& mechanism, const Window& window,
                 const Options& options, PathPrinter& printer)
    : config_(config),
      mechanism_(mechanism),
      window_(window),
      printer_(printer),
      digest_(config::settings_digest(config, mechanism)),
      disk_(journal::posix_disk()) {
  const std::filesystem::path folder = config.state.directory;
  journal_.emplace(*disk_, journal::FolderOptions{folder, !options.insecure_seed, options.start == Start::new_epoch});
  const std::optional<std::string> sealed = journal_->load();
  if (sealed && options.start == Start::fresh) {
    const secrets::StateIdentity found = secrets::read_identity(*sealed);
    throw Failure(Exit::data, fmt::format("{}: holds a state (stream {}, lane {}, epoch {}, step {}); {}",
                                          folder.string(), found.stream, found.lane.value(), found.epoch.value(),
                                          found.steps.value(), restart_hint(config)));
  }
  if (!sealed && options.start == Start::resume) {
    throw Failure(Exit::data, folder.string() + ": holds no state to resume; start without --resume");
  }
  load_keys(config, options, sealed.has_value());
  if (options.start == Start::resume) {
    resume(*sealed);
  } else if (options.start == Start::new_epoch) {
    new_epoch(sealed, options);
  } else {
    begin_epoch(EpochId{0}, window_.first, journal::Overlap::disjoint);
  }
}

void Session::load_keys(const config::Config& config, const Options& options, bool state_exists) {
  if (options.insecure_seed) {
    keys_ = secrets::Keyring::insecure(*options.insecure_seed);
    return;
  }
  const std::filesystem::path own = std::filesystem::path(config.state.directory) / journal::folder_files::key;
  key_file_ = config.state.key_file.empty() ? own.string() : config.state.key_file;
  if (config.state.key_file.empty() && !state_exists && !std::filesystem::exists(own)) secrets::create_key_file(own);
  keys_ = secrets::load_key_file(key_file_);
}

void Session::begin_epoch(EpochId epoch, std::uint64_t start, journal::Overlap overlap) {
  epoch_ = epoch;
  start_ = start;
  overlap_ = overlap;
  released_at_ = 0;
  noise::KeyBytes key = keys_->epoch_key(config_.stream);
  const journal::NoiseCheckpoints first{noise::first_checkpoint(key, {config_.lane, epoch, 0})};
  noise::wipe(key);
  lane_.emplace(config_.descent, mechanism_.grid, Position{start});
  feed_.emplace(mechanism_, first.stages.front(), StepIndex{0}, &locked_);
}

void Session::resume(const std::string& sealed) {
  const journal::State state =
      journal::open_state(*keys_, sealed, {config_.stream, config_.lane, std::nullopt, digest_, keys_->is_private()});
  check_same_passes(state.record);
  journal_->recover(state.record.recovery());
  ledger_ = journal::read_ledger(*disk_, config_.state.directory, *keys_);
  if (ledger_.head != state.record.ledger_head) {
    throw Failure(Exit::data, config_.state.directory +
                                  ": the ledger does not end with this state's entry; restore the "
                                  "folder as it was");
  }
  epoch_ = state.identity.epoch;
  start_ = state.record.start.value();
  rejected_before_ = state.record.rejected;
  const auto mine = std::find_if(
      ledger_.epochs.begin(), ledger_.epochs.end(),
      [&](const journal::LedgerEntry& entry) { return entry.lane == config_.lane && entry.epoch == epoch_; });
  if (mine != ledger_.epochs.end()) overlap_ = mine->overlap;
  const auto released = journal_->last_release();
  if (released && released->epoch == epoch_) released_at_ = released->steps.value();
  lane_ = lane::Lane::decode(config_.descent, mechanism_.grid, state.record.lane);
  NUSTREAM_REQUIRE(lane_->steps() == state.identity.steps, "the sealed lane is at another step than its seal says");
  feed_.emplace(mechanism_, state.record.noise.stages.front(), StepIndex{lane_->steps().value()}, &locked_);
}

/// Several passes are accounted for over one window: another one, even of as many steps, would let a record take part
/// more often, or sooner again, than the spend says.
void Session::check_same_passes(const journal::StateRecord& record) const {
  if (window_.passes == 1) return;
  if (record.start == Position{window_.first} && record.stop == Position{*window_.end}) return;
  const std::string stop = record.stop ? std::to_string(record.stop->value()) : "the end";
  throw Failure(Exit::data,
                fmt::format("{}: this state's passes read records {} to {}, not {} to {}; resume with that "
                            "input and the same --from and --to",
                            config_.state.directory, record.start.value(), stop, window_.first, *window_.end));
}

/// Files without a state are taken only where the ledger vouches for everything that they show.
void Session::check_ledger_covers(const journal::LastRelease& release) const {
  const bool covered =
      std::any_of(ledger_.epochs.begin(), ledger_.epochs.end(), [&](const journal::LedgerEntry& entry) {
        return entry.lane == release.lane && entry.epoch == release.epoch && entry.steps >= release.steps;
      });
  if (covered && release.lane == config_.lane) return;
  throw Failure(Exit::data,
                fmt::format("{}: releases.jsonl shows lane {}, epoch {}, step {}, which {}; restore the "
                            "folder, or begin in another one",
                            config_.state.directory, release.lane.value(), release.epoch.value(),
                            release.steps.value(), covered ? "is not this lane" : "the ledger has no spend for"));
}

void Session::new_epoch(const std::optional<std::string>& sealed, const Options& options) {
  std::uint64_t furthest = window_.first;
  std::uint32_t epoch = 0;
  bool unknown = false;
  if (sealed) {
    // The old epoch's outbox is published first, whatever its settings were.
    const journal::State state = journal::open_state(
        *keys_, *sealed, {config_.stream, config_.lane, std::nullopt, std::nullopt, keys_->is_private()});
    journal_->recover(state.record.recovery());
    epoch = state.identity.epoch.value() + 1;
  } else if (holds_public_files(config_.state.directory)) {
    const journal::Adopted adopted = journal_->adopt();
    unknown = adopted.torn_release;
    ledger_ = journal::read_ledger(*disk_, config_.state.directory, *keys_);
    if (adopted.last_release) {
      check_ledger_covers(*adopted.last_release);
      epoch = adopted.last_release->epoch.value() + 1;
      furthest = std::max(furthest, adopted.last_release->position.value());
    }
  }
  ledger_ = journal::read_ledger(*disk_, config_.state.directory, *keys_);
  for (const journal::LedgerEntry& entry : ledger_.epochs) {
    if (entry.lane != config_.lane || entry.stream != config_.stream) {
      throw Failure(Exit::data, config_.state.directory +
                                    ": its ledger is of another stream or lane; choose another "
                                    "state.directory");
    }
    epoch = std::max(epoch, entry.epoch.value() + 1);
    furthest = std::max(furthest, entry.to.value());
  }
  if (window_.passes > 1 && !options.from) {
    throw Failure(Exit::usage,
                  "--new-epoch with --passes needs --from: every pass reads the window from its beginning, "
                  "and what was read before is charged again");
  }
  const std::uint64_t start = options.from ? window_.first : furthest;
  const journal::Overlap overlap = unknown            ? journal::Overlap::unknown
                                   : start < furthest ? journal::Overlap::overlapping
                                                      : journal::Overlap::disjoint;
  begin_epoch(EpochId{epoch}, start, overlap);
}

journal::LedgerEntry Session::ledger_entry(StepCount steps) const {
  return {config_.stream,
          config_.lane,
          epoch_,
          Position{start_},
          Position{window_.touched(lane_->position().value())},
          steps,
          mechanism_.spend.after(steps),
          mechanism_.spend.limit(),
          digest_,
          keys_->is_private(),
          overlap_};
}

std::optional<StepCount> Session::step_limit() const {
  const std::optional<StepCount> horizon = mechanism_.correlation.horizon();
  if (!config_.privacy.budget || total_with(mechanism_.spend.limit(), StepCount{1}) <= *config_.privacy.budget) {
    return horizon;
  }
  return furthest_within(horizon, *config_.privacy.budget, [this](StepCount steps) { return ledger_total(steps); });
}

Rho Session::ledger_total(StepCount steps) const {
  return total_with(mechanism_.spend.after(steps), steps);
}

Rho Session::total_with(Rho spent, StepCount steps) const {
  std::vector<journal::LedgerEntry> entries;
  for (const journal::LedgerEntry& entry : ledger_.epochs) {
    if (entry.lane != config_.lane || entry.epoch != epoch_) entries.push_back(entry);
  }
  if (steps.value() > 0) {
    entries.push_back(ledger_entry(steps));
    entries.back().rho = spent;
  }
  return total_spent(entries);
}

void Session::wait() {
  if (!in_flight_.valid()) return;
  in_flight_.get();
  printer_.published(outbox_in_flight_);
  outbox_in_flight_.clear();
}

void Session::commit(BatchResult result, std::uint64_t rejected) {
  journal::StateRecord record;
  record.position = lane_->position();
  record.start = Position{start_};
  if (window_.end) record.stop = Position{*window_.end};
  record.rejected = rejected_before_ + rejected;
  record.lane = lane_->encode();
  record.noise = journal::NoiseCheckpoints{feed_->checkpoint()};
  record.outbox = result.outbox;
  const StepCount steps = lane_->steps();
  wait();  // one batch in flight; the next bookmark stands behind what it published
  record.ledger_entry = journal::ledger_line(ledger_entry(steps), ledger_.head, *keys_);
  record.ledger_head = journal::hash_of(record.ledger_entry);
  record.bookmark = journal_->bookmark();
  const secrets::StateIdentity identity{config_.stream, config_.lane, epoch_, steps, digest_, keys_->is_private()};

  journal::Batch batch{journal::seal_state(*keys_, identity, record), record.position, record.ledger_entry,
                       std::move(result.rejects), std::move(record.outbox)};
  ledger_.head = record.ledger_head;
  outbox_in_flight_ = batch.outbox;
  auto done = std::make_shared<std::promise<void>>();
  in_flight_ = done->get_future();
  journal_->commit(std::move(batch), [done](const std::exception_ptr& failure) {
    if (failure) {
      done->set_exception(failure);
    } else {
      done->set_value();
    }
  });
}

void Session::finish() {
  wait();
  journal::flush_and_wait(*journal_);
}

}  // namespace nustream::replay
