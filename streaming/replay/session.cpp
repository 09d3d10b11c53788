#include "replay/session.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "journal/record_marks.h"
#include "located.h"
#include "planted.h"
#include "replay/owed_spend.h"
#include "replay/replay.h"
#include "secrets/key_file.h"
#include "secrets/random.h"

namespace nustream::replay {
namespace {

std::string restart_hint(const config::Config& config, const Options& options) {
  return "go on from it with: " + replay_command(config, options, "--resume") +
         "; or begin a new noise epoch behind it with: " + replay_command(config, options, "--new-epoch");
}

bool holds_public_files(const std::filesystem::path& folder) {
  for (const char* name : {journal::folder_files::releases, journal::folder_files::ledger}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(folder / name, missing);
    if (!missing && size > 0) return true;
  }
  return false;
}

/// What a header claims; empty where not even that is left of a damaged state.
std::optional<secrets::StateIdentity> identity_of(const std::string& sealed) {
  try {
    return secrets::read_identity(sealed);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

bool is_private_run(const Options& options) {
  return !options.insecure_seed && !options.compared;
}

/// Said before any key is looked for, which is not what such a state lacks.
void refuse_other_kind(const std::string& sealed, const config::Config& config, bool wanted) {
  const auto found = identity_of(sealed);  // --new-epoch may go on behind a damaged one
  if (!found || found->is_private == wanted) return;
  throw Failure(
      Exit::data,
      config.state.directory +
          (wanted ? ": holds a state that is not private (insecure seed or comparison) and never becomes so; "
                    "choose another state.directory"
                  : ": holds a private state, which no insecure seed and no comparison may go on with; choose "
                    "another state.directory"));
}

Failure nothing_to_resume(const std::filesystem::path& folder) {
  return {Exit::data, folder.string() +
                          ": holds no state to resume; is state.directory right, seen from the folder where this "
                          "runs? A first run starts without --resume"};
}

}  // namespace

Session::Session(const config::Config& config, const config::Mechanism& mechanism, const Window& window,
                 const Options& options, PathPrinter& printer, InputWitness& input)
    : config_(config),
      mechanism_(mechanism),
      window_(window),
      printer_(printer),
      input_(input),
      digest_(config::settings_digest(config, mechanism, is_private_run(options))),
      disk_(journal::posix_disk()) {
  const std::filesystem::path folder = config.state.directory;
  if (options.start == Start::resume) require_any_file(folder);
  journal_.emplace(*disk_, journal::FolderOptions{folder, is_private_run(options), options.start == Start::new_epoch,
                                                  config.state.rejects});
  const std::optional<std::string> sealed = journal_->load();
  if (sealed && options.start == Start::fresh) {
    const secrets::StateIdentity found = located(folder.string(), [&] { return secrets::read_identity(*sealed); });
    throw Failure(Exit::data, fmt::format("{}: holds a state (stream {}, lane {}, epoch {}, step {}); {}",
                                          folder.string(), found.stream, found.lane.value(), found.epoch.value(),
                                          found.steps.value(), restart_hint(config, options)));
  }
  if (!sealed && options.start == Start::resume) throw nothing_to_resume(folder);
  if (sealed) refuse_other_kind(*sealed, config, is_private_run(options));
  load_keys(config, options, sealed.has_value());
  if (options.start == Start::resume) {
    resume(*sealed);
  } else if (options.start == Start::new_epoch) {
    new_epoch(sealed, options);
  } else {
    begin_epoch(EpochId{0}, window_.first, journal::Overlap::disjoint, {});
  }
}

/// Before anything is made there: the folder may be a mistyped one.
void Session::require_any_file(const std::filesystem::path& folder) const {
  for (const char* name : {journal::folder_files::state, journal::folder_files::ledger,
                           journal::folder_files::releases, journal::folder_files::lock}) {
    if (disk_->open(folder / name, journal::Access::read)) return;
  }
  throw nothing_to_resume(folder);
}

void Session::load_keys(const config::Config& config, const Options& options, bool state_exists) {
  if (options.insecure_seed) {
    keys_ = secrets::Keyring::insecure(*options.insecure_seed);
    return;
  }
  const std::filesystem::path own = std::filesystem::path(config.state.directory) / journal::folder_files::key;
  key_file_ = config.state.key_file.empty() ? own.string() : config.state.key_file;
  std::error_code unknown;  // told by whoever makes it
  const bool may_be_made = config.state.key_file.empty() && !state_exists;
  if (may_be_made && !std::filesystem::exists(own, unknown)) secrets::create_key_file(own);
  keys_ = secrets::load_key_file(key_file_);
  if (options.compared) keys_ = keys_->beside_nonprivate();
}

void Session::use_ledger(EpochId epoch, Position start, journal::Overlap overlap, journal::Ledger ledger) {
  ledger_.emplace(engine::EpochIdentity{config_.stream, config_.lane, epoch, start, overlap, digest_,
                                        config_.privacy.neighbours(), keys_->is_private()},
                  mechanism_, std::move(ledger));
}

void Session::begin_epoch(EpochId epoch, std::uint64_t start, journal::Overlap overlap, journal::Ledger ledger) {
  use_ledger(epoch, Position{start}, overlap, std::move(ledger));
  released_at_ = 0;
  seen_.clear();
  seen_key_ = secrets::random_key();
  noise::KeyBytes key = keys_->epoch_key(config_.stream);
  const journal::NoiseCheckpoints first =
      journal::first_checkpoints(key, config_.lane, epoch, mechanism_.stages.size());
  noise::wipe(key);
  lane_.emplace(config_.descent, mechanism_.grids, Position{start});
  feed_.emplace(mechanism_, first, StepIndex{0}, &locked_);
}

journal::State Session::open_state(const std::string& sealed, const secrets::ExpectedIdentity& expected) const {
  return located(config_.state.directory, [&] { return journal::open_state(*keys_, sealed, expected); });
}

void Session::resume(const std::string& sealed) {
  secrets::ExpectedIdentity expected{config_.stream, config_.lane, std::nullopt, std::nullopt, keys_->is_private()};
  input_.require_same_size(open_state(sealed, expected).record);
  expected.settings_digest = digest_;
  const journal::State state = open_state(sealed, expected);
  check_same_passes(state.record);
  input_.check(state.record);
  journal_->recover(state.record.recovery());
  is_committed_ = true;
  journal::Ledger ledger = journal::read_ledger(*disk_, config_.state.directory, *keys_);
  if (ledger.head != state.record.ledger_head) {
    throw Failure(Exit::data, config_.state.directory +
                                  ": the ledger does not end with this state's entry; restore the "
                                  "folder as it was");
  }
  const EpochId epoch = state.identity.epoch;
  rejected_before_ = state.record.rejected;
  const auto mine = std::find_if(ledger.epochs.begin(), ledger.epochs.end(), [&](const journal::LedgerEntry& entry) {
    return entry.lane == config_.lane && entry.epoch == epoch;
  });
  const journal::Overlap overlap = mine == ledger.epochs.end() ? journal::Overlap::disjoint : mine->overlap;
  use_ledger(epoch, state.record.start, overlap, std::move(ledger));
  released_at_ = state.record.released.value();
  seen_ = state.record.seen;
  seen_key_ = seen_.empty() ? secrets::random_key() : state.record.seen_key;
  lane_ = lane::Lane::decode(config_.descent, mechanism_.grids, state.record.lane);
  NUSTREAM_REQUIRE(lane_->steps() == state.identity.steps, "the sealed lane is at another step than its seal says");
  feed_.emplace(mechanism_, state.record.noise, StepIndex{lane_->steps().value()}, &locked_);
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

/// Publishes what the old epoch still owes, whatever its settings were. Nothing where its state does not open, or was
/// rolled back: then it says nothing about what is public. A state of another stream or lane, or under another key,
/// is no damage; and where the state knows of spends that the ledger has lost, nobody else knows them.
///
/// An epoch that goes on behind the old one, without --from, takes what it reads for records that nobody has read
/// yet: then the input is looked at as by --resume. With --from it may be another one, whose ordinals say nothing of
/// what was read before.
std::optional<Session::OldInput> Session::publish_old_epoch(const std::string& sealed, bool goes_on) {
  const secrets::ExpectedIdentity expected{config_.stream, config_.lane, std::nullopt, std::nullopt,
                                           keys_->is_private()};
  std::optional<journal::State> state;
  const auto throw_unless_damaged = [&](const Failure& failure) {
    if (failure.code() != Exit::data || secrets::is_foreign(sealed, expected)) throw;
    if (state && !journal::ledger_follows(*disk_, config_.state.directory, *keys_, state->record)) throw;
  };
  try {
    state = open_state(sealed, expected);
  } catch (const Failure& failure) {
    throw_unless_damaged(failure);
    return std::nullopt;
  }
  if (goes_on && window_.passes == 1) input_.check(state->record);
  const bool held = goes_on || input_.holds(state->record);
  try {
    journal_->recover(state->record.recovery());
    return held ? OldInput::held : OldInput::not_known;
  } catch (const Failure& failure) {
    throw_unless_damaged(failure);
    return std::nullopt;
  }
}

void Session::new_epoch(const std::optional<std::string>& sealed, const Options& options) {
  journal::Overlap overlap = journal::Overlap::disjoint;
  std::optional<journal::Adopted> adopted;
  const std::optional<OldInput> old = sealed ? publish_old_epoch(*sealed, !options.from) : std::nullopt;
  is_like_last_epoch_ = old == OldInput::held && identity_of(*sealed)->settings_digest == digest_;
  if (!old && (sealed || holds_public_files(config_.state.directory))) adopted = journal_->adopt();
  journal::Ledger ledger = journal::read_ledger(*disk_, config_.state.directory, *keys_);
  std::optional<journal::LedgerEntry> owed;
  if (adopted) {
    owed = owed_by(*adopted, ledger, config_, keys_->is_private());
    if (adopted->torn_release) overlap = journal::Overlap::unknown;
  }
  const bool goes_on_from_unknown =
      std::any_of(ledger.epochs.begin(), ledger.epochs.end(),
                  [](const journal::LedgerEntry& entry) { return entry.overlap == journal::Overlap::unknown; });
  const bool nobody_looked = old != OldInput::held && (owed || !ledger.epochs.empty());
  if (goes_on_from_unknown || nobody_looked) overlap = journal::Overlap::unknown;
  std::uint64_t furthest = owed ? owed->to.value() : window_.first;
  std::uint32_t epoch = owed ? owed->epoch.value() + 1 : 0;
  for (const journal::LedgerEntry& entry : ledger.epochs) {
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
  // Behind an epoch over another input the furthest position is of that one.
  if (goes_on_from_unknown && old) furthest = ledger.epochs.back().to.value();
  const std::uint64_t start = options.from ? window_.first : furthest;
  if (start < furthest && overlap == journal::Overlap::disjoint) overlap = journal::Overlap::overlapping;
  begin_epoch(EpochId{epoch}, start, overlap, std::move(ledger));
  if (owed) ledger_->owe(*owed);
}

std::optional<StepCount> Session::step_limit() const {
  return ledger_->limit(config_.privacy.budget, touched());
}

Rho Session::ledger_total(StepCount steps) const {
  return ledger_->total(steps, touched());
}

std::string Session::limit_reached() const {
  const StepCount steps = lane_->steps();
  if (mechanism_.horizon() == steps) {
    return "all " + std::to_string(steps.value()) +
           " steps of the horizon, over which the noise is correlated, are taken";
  }
  return fmt::format("rho {:.6g} is spent, and another step would cross privacy.budget = {:g}",
                     ledger_total(steps).value(), config_.privacy.budget.value_or(Rho{0}).value());
}

void Session::wait() {
  if (!in_flight_.valid()) return;
  in_flight_.get();
  printer_.published(outbox_in_flight_);
  outbox_in_flight_.clear();
}

/// One mark a commit or two: nothing is done for the records between them.
void Session::mark_input() {
  for (const decode::ReadRecord& read : input_.at_hand(touched())) {
    const Position position{read.position};
    if (!seen_.empty() && position <= seen_.back().position) continue;
    journal::add_mark({position, journal::record_mark(position, read.bytes, seen_key_)}, seen_);
  }
}

void Session::commit(BatchResult result, std::uint64_t rejected, std::uint64_t released) {
  journal::StateRecord record;
  record.position = lane_->position();
  record.start = ledger_->identity().start;
  if (window_.end) record.stop = Position{*window_.end};
  record.rejected = rejected_before_ + rejected;
  record.lane = lane_->encode();
  record.noise = feed_->checkpoints();
  record.outbox = result.outbox;
  mark_input();
  record.seen = seen_;
  record.seen_key = seen_key_;
  const StepCount steps = lane_->steps();
  wait();  // one batch in flight; the next bookmark stands behind what it published
  record.ledger_entry = ledger_->append_lines(steps, touched(), *keys_);
  record.ledger_head = ledger_->head();
  record.bookmark = journal_->bookmark();
  record.released = StepCount{released};
  const secrets::StateIdentity identity{config_.stream, config_.lane, epoch(), steps, digest_, keys_->is_private()};

  journal::Batch batch{journal::seal_state(*keys_, identity, record), record.position, record.ledger_entry,
                       std::move(result.rejects), std::move(record.outbox)};
  outbox_in_flight_ = batch.outbox;
  is_committed_ = true;
  if (NUSTREAM_PLANTED("printed-ahead-of-its-state")) printer_.published(std::exchange(outbox_in_flight_, {}));
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

RejectsList Session::rejects() const {
  if (!config_.state.rejects) return {};
  return {(std::filesystem::path(config_.state.directory) / journal::folder_files::rejects).string(),
          !journal_->rejects_given_up()};
}

}  // namespace nustream::replay
