// The same order as in a session, but in one call: state, ledger line and release are committed together, and the
// call returns when they are durable. The witness is asked before, and told afterwards.
#include "folder/one_step_account.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "engine/epoch_ledger.h"
#include "engine/seal_batch.h"
#include "engine/spent.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "located.h"
#include "nustream/base/error.h"

namespace nustream::folder {
namespace {

constexpr StepCount one_step{1};

/// What such an epoch asks of decide(): it begins over all records of its file, behind whatever epochs there are, and
/// is refused where a run that goes on would be.
engine::Asked asked_behind(const engine::Found& found) {
  engine::Asked asked;
  if (found.state != engine::Found::State::none) asked.new_epoch = engine::Asked::NewEpoch::always;
  asked.stands_for_resume = true;
  asked.from = Position{0};
  return asked;
}

}  // namespace

OneStepAccount::OneStepAccount(const AccountPlace& place)
    : folder_(place.folder),
      stream_(place.stream),
      lane_(place.lane),
      way_on_(place.way_on),
      disk_(journal::posix_disk()) {
  disk_->require_trusted(folder_);
  journal_.emplace(*disk_, journal::FolderOptions{folder_, place.is_private});
  // load() takes the folder's lock, so that two runs never go on from one ledger.
  const std::optional<std::string> sealed = journal_->load();
  engine::Found found;
  found.state = sealed ? engine::Found::State::committed : engine::Found::State::none;
  found.input = engine::InputFound::not_known;  // nobody knows which records two versions of a file have in common
  found.has_remains = journal_->has_remains();
  static_cast<void>(decided(found));  // before a key is made
  std::tie(keys_, key_file_) = place.keys(sealed.has_value());
  witness_ = place.witness(key_file_, *keys_);
  if (sealed) {
    look_at_state(*sealed, found);
  } else if (witness_) {
    witness_->find(std::nullopt);
    found.behind_witness = witness_->found().has_value();
  }
  const engine::Begin begin = decided(found);
  epoch_ = begin.epoch;
  overlap_ = begin.overlap;
  if (witness_) witness_->keep();
}

engine::Begin OneStepAccount::decided(const engine::Found& found) const {
  const engine::Decision decision =
      engine::decide(found, ledger_.epochs, asked_behind(found), engine::Keeping::folder);
  if (const auto* refused = std::get_if<engine::Refuse>(&decision)) refuse(refused->reason, found);
  return std::get<engine::Begin>(decision);
}

void OneStepAccount::look_at_state(const std::string& sealed, engine::Found& found) {
  const secrets::ExpectedIdentity expected{stream_, lane_, std::nullopt, std::nullopt, keys_->is_private()};
  const auto advice = [this] { return "restore the folder as it was, or " + way_on_(); };
  const journal::State state = located(folder_, [&] {
    return with_own_advice(advice, [&] { return journal::open_state(*keys_, sealed, expected); });
  });
  found.epoch = state.identity.epoch;
  if (witness_) {
    witness_->find(state.record.account, &state);
    found.behind_witness = !witness_->is_held_by(*disk_, state.identity.epoch, state.identity.steps, state.record);
  }
  static_cast<void>(decided(found));  // before anything is written
  // Writes the line and the release that a crash kept from their files. Only then does the ledger have to end with
  // the state's line.
  with_own_advice(advice, [&] { journal_->recover(state.record.recovery()); });
  ledger_ = journal::read_ledger(*disk_, folder_, *keys_);
  if (ledger_.head != state.record.ledger_head) {
    found.state = engine::Found::State::ahead_of_ledger;
    return;
  }
  // Only after the heads were compared: the state's spends are those of the ledger that ends with its own line.
  journal::settle(ledger_, state.record);
}

void OneStepAccount::refuse(engine::Refusal reason, const engine::Found& found) const {
  using engine::Refusal;
  switch (reason) {
    case Refusal::remains_without_state:
      // No option of a fit or of a measuring begins behind them.
      throw refusal("holds releases or a ledger and no state");
    case Refusal::behind_witness:
      if (found.state == engine::Found::State::none) throw is_emptied();
      throw Failure(
          Exit::data,
          fmt::format(
              "{}: holds an older state than the last one that was committed ({}, as {} tells), and lacks what was "
              "spent since; restore the newest copy of the folder, or {}",
              folder_, witness_->told(), witness_->file().string(), way_on_()));
    case Refusal::ledger_lost:
      throw refusal(
          "the ledger does not end with the state's entry: another copy of the folder has written to it, or "
          "lines were removed");
    default:
      contract_violated("a refusal that nobody has words for", __FILE__, __LINE__);
  }
}

/// The folder is empty, but a witness knows of fits in it: their spend would be forgotten.
Failure OneStepAccount::is_emptied() const {
  return refusal(fmt::format("the ledger is gone, and with it what was spent ({}, as {} tells)", witness_->told(),
                             witness_->file().string()));
}

Failure OneStepAccount::refusal(const std::string& found) const {
  return {Exit::data, fmt::format("{}: {}; restore the folder as it was, or {}", folder_, found, way_on_())};
}

Rho OneStepAccount::spent(privacy::Neighbours neighbours) const {
  return ledger_.epochs.empty() ? Rho{0} : engine::total_spent(ledger_.epochs, neighbours);
}

void OneStepAccount::require_summable(bool framing_is_trusted, const users::Limits* limits) const {
  engine::require_same_framing(ledger_.epochs, framing_is_trusted);
  if (limits != nullptr) engine::require_same_windows(ledger_.epochs, *limits);
}

Rho OneStepAccount::with(Rho rho, privacy::Neighbours neighbours) const {
  std::vector<journal::LedgerEntry> all = ledger_.epochs;
  // The number of records is not known yet, and changes nothing: of two fits entry() says that any records may be in
  // both.
  all.push_back(entry({rho, 1, neighbours, {}, {}, {}}));
  return engine::total_spent(all, neighbours);
}

journal::LedgerEntry OneStepAccount::entry(const OneStep& spent) const {
  journal::LedgerEntry entry{stream_,   lane_,     epoch_,       Position{0},      Position{spent.records}, one_step,
                             spent.rho, spent.rho, spent.digest, spent.neighbours, keys_->is_private(),     overlap_};
  entry.trusts_framing = spent.trusts_framing;
  entry.user = spent.user;
  return entry;
}

void OneStepAccount::commit(const OneStep& spent) {
  journal::StateRecord record;
  record.stop.emplace(spent.records);
  record.outbox = spent.release;
  record.ranges = spent.ranges;
  // The one release of the epoch is after its only step.
  record.released = StepCount{spent.release.empty() ? 0U : 1U};
  record.bookmark = journal_->bookmark();
  if (witness_) record.account = witness_->account();
  // The epoch has one step, so that its release is one by cadence, every 1 steps.
  journal::ReleaseChain releases{1, journal::last_release_head(*disk_, folder_)};
  journal::LedgerEntry line = entry(spent);
  // Two copies of the folder may take the same step with the same settings. Their noise differs, and so do their
  // lines: the witness of one must not pass for that of the other.
  if (keys_->is_private()) line.run = engine::new_run();
  journal::commit_and_wait(*journal_, engine::seal_one_step(*keys_, std::move(line), ledger_, releases,
                                                            std::move(record), engine::Keeping::folder));
  // The witness is told of a commit only once it is durable. If it knew of a commit that a crash then undid, it would
  // take the folder for an older copy.
  if (witness_) witness_->committed(epoch_, one_step, ledger_.head, ledger_.epochs);
  journal::flush_and_wait(*journal_);
  if (witness_) witness_->finish();
}

}  // namespace nustream::folder
