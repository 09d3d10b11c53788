#include "fit/account.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/spent.h"
#include "journal/sealed_state.h"
#include "located.h"
#include "planted.h"
#include "secrets/key_file.h"
#include "secrets/key_place.h"

namespace nustream::fit {
namespace {

constexpr const char* stream = "fit";
constexpr LaneId lane{0};
constexpr StepCount one_step{1};

std::string folder_of(const Options& options) {
  return options.state.empty() ? options.file + ".fit" : options.state;
}

}  // namespace

Account::Account(const Options& options) : folder_(folder_of(options)), disk_(journal::posix_disk()) {
  disk_->require_trusted(folder_);
  journal_.emplace(*disk_, journal::FolderOptions{folder_, !options.insecure_seed});
  const std::optional<std::string> sealed = journal_->load();
  open_keys(options, sealed.has_value());
  if (sealed) {
    go_on(*sealed);
  } else {
    begin();
  }
  if (witness_) witness_->keep();
}

void Account::open_keys(const Options& options, bool state_exists) {
  if (options.insecure_seed) {
    keys_ = secrets::Keyring::insecure(*options.insecure_seed);
    return;
  }
  const secrets::KeySettings settings{{}, options.key_directory};
  key_file_ = (state_exists ? secrets::key_file_of(folder_, stream, settings)
                            : secrets::make_key_file(folder_, stream, settings))
                  .string();
  keys_ = secrets::load_key_file(key_file_);
  witness_.emplace(
      journal::witness_settings(options.witness, key_file_, folder_, options.key_directory, stream, lane), *keys_);
}

void Account::go_on(const std::string& sealed) {
  const secrets::ExpectedIdentity expected{stream, lane, std::nullopt, std::nullopt, keys_->is_private()};
  const journal::State state = located(folder_, [&] { return journal::open_state(*keys_, sealed, expected); });
  if (witness_) {
    witness_->find(state.record.account, state.record.ledger_head);
    if (!witness_->is_held_by(*disk_, state.identity.epoch, state.record)) {
      throw Failure(Exit::data,
                    fmt::format("{}: holds an older state than the last fit's ({}, as {} tells), and lacks what was "
                                "spent since; restore the newest copy of the folder",
                                folder_, witness_->told(), witness_->file().string()));
    }
  }
  journal_->recover(state.record.recovery());
  ledger_ = journal::read_ledger(*disk_, folder_, *keys_);
  if (ledger_.head != state.record.ledger_head) {
    throw Failure(Exit::data,
                  folder_ + ": the ledger does not end with the last fit's entry; restore the folder as it was");
  }
  epoch_ = EpochId{state.identity.epoch.value() + 1};
}

void Account::begin() {
  if (!witness_) return;
  witness_->find(std::nullopt);
  if (!witness_->found()) return;
  throw Failure(Exit::data,
                fmt::format("{}: the ledger of earlier fits is gone, and with it what was spent ({}, as {} tells); "
                            "restore the folder, or name another one with --state, for other records",
                            folder_, witness_->told(), witness_->file().string()));
}

Rho Account::spent(privacy::Neighbours neighbours) const {
  return ledger_.epochs.empty() ? Rho{0} : engine::total_spent(ledger_.epochs, neighbours);
}

Rho Account::with(Rho rho, privacy::Neighbours neighbours) const {
  std::vector<journal::LedgerEntry> all = ledger_.epochs;
  all.push_back(entry({rho, 0, neighbours, {}, {}}));
  all.back().overlap = journal::Overlap::unknown;  // whatever records the file will hold
  return engine::total_spent(all, neighbours);
}

journal::LedgerEntry Account::entry(const Spent& spent) const {
  const bool is_first = ledger_.epochs.empty() || NUSTREAM_PLANTED("fits-cost-the-dearest");
  const auto overlap = is_first ? journal::Overlap::disjoint : journal::Overlap::unknown;
  const Position first{NUSTREAM_PLANTED("fits-cost-the-dearest") ? epoch_.value() * spent.records : 0};
  const Position end{first.value() + spent.records};
  return {stream,
          lane,
          epoch_,
          first,
          end,
          one_step,
          spent.rho,
          spent.rho,
          spent.digest,
          spent.neighbours,
          keys_->is_private(),
          overlap};
}

void Account::commit(const Spent& spent) {
  const journal::LedgerEntry own = entry(spent);
  journal::StateRecord record;
  record.position = record.stop.emplace(spent.records);
  record.outbox = spent.release;
  record.ledger_entry = journal::ledger_line(own, ledger_.head, *keys_);
  record.ledger_head = ledger_.head = journal::hash_of(record.ledger_entry);
  record.released = StepCount{spent.release.empty() ? 0U : 1U};
  record.bookmark = journal_->bookmark();
  if (witness_) record.account = witness_->account();
  const secrets::StateIdentity identity{stream, lane, epoch_, one_step, spent.digest, keys_->is_private()};
  journal::Batch batch{
      journal::seal_state(*keys_, identity, record), record.position, record.ledger_entry, {}, record.outbox};
  journal::commit_and_wait(*journal_, std::move(batch));
  ledger_.keep(own);
  if (witness_) witness_->committed(epoch_, one_step, ledger_.head, ledger_.epochs);
  journal::flush_and_wait(*journal_);
  if (witness_) witness_->finish();
}

}  // namespace nustream::fit
