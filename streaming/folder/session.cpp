// The running half of a session: batches are sealed, handed to the journal's thread, and shown once they are durable.
// open_session.cpp opens the folder, and begin_epoch.cpp begins an epoch in it. One batch is in flight while the next
// one is stepped.
#include "folder/session.h"

#include <filesystem>
#include <future>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "engine/budget_advice.h"
#include "engine/seal_batch.h"
#include "journal/completion.h"
#include "journal/outbox_folder.h"
#include "journal/state_record.h"

namespace nustream::folder {

std::vector<std::string> Session::warnings() const {
  std::vector<std::string> all = warnings_of(config_, keys_.file, witness_);
  if (!lost_users_.empty()) all.push_back(lost_users_);
  return all;
}

std::optional<StepCount> Session::step_limit() const {
  return ledger_->limit(config_.privacy.budget, touched());
}

Rho Session::ledger_total(StepCount steps) const {
  return ledger_->total(steps, touched());
}

publish::LedgerTotal Session::ledger_total() const {
  // The function may outlive the session and is asked from another object, so that it has copies of the ledger and
  // the window.
  return [ledger = *ledger_, window = window_](Rho spent, StepCount steps, Position position) {
    return ledger.total(spent, steps, Position{window.touched(position.value())});
  };
}

std::string_view Session::budget_in_words() const noexcept {
  return limit_.empty() ? engine::own_budget : "what the account (privacy.account) leaves to this stream";
}

std::string Session::limit_reached() const {
  const StepCount steps = lane_->steps();
  // The horizon is told first: a lane at its horizon can also be at its budget, and a larger budget would not help
  // it.
  if (mechanism_.horizon() == steps) {
    return fmt::format(
        "all {} steps of the horizon, over which the noise is correlated, are taken; --new-epoch begins another one, "
        "and adds its cost",
        steps.value());
  }
  const double budget = config_.privacy.budget.value_or(Rho{0}).value();
  return fmt::format("rho {:.6g} is spent, and another step would cross {}", ledger_total(steps).value(),
                     limit_.empty() ? fmt::format("privacy.budget = {:g}", budget) : limit_);
}

void Session::wait() {
  if (!in_flight_.done.valid()) return;
  // get() throws what the commit failed with. Nothing below may run then: neither the table of users nor a reader may
  // learn of a batch that is not durable.
  in_flight_.done.get();
  if (users_) users_->committed();
  if (!in_flight_.outbox.empty()) published_(in_flight_.outbox);  // a batch may have released nothing
  in_flight_.outbox.clear();
}

/// Adds marks of records that are still in memory, a few for each commit. The records between them cost nothing.
void Session::mark_input() {
  for (const decode::ReadRecord& read : input_.at_hand(touched())) {
    const Position position{read.position};
    if (!marks_.seen.empty() && position <= marks_.seen.back().position) continue;
    journal::add_mark({position, journal::record_mark(position, read.bytes, marks_.key)}, marks_.seen);
  }
}

void Session::commit(BatchResult result, std::uint64_t rejected, std::uint64_t released) {
  committed_.rejected = rejected;
  committed_.released = released;
  journal::StateRecord record;
  if (window_.end) record.stop = Position{*window_.end};
  record.rejected = before_.rejected + rejected;
  record.noise = feed_->checkpoints();
  record.outbox = std::move(result.outbox);
  mark_input();
  record.seen = marks_.seen;
  record.seen_key = marks_.key;
  if (witness_) record.account = witness_->account();
  record.released = StepCount{released};
  record.ranges = config_.ranges;
  // The witness is asked before each batch is sealed: if another run writes to it too, each of the two would spend
  // without counting the other.
  if (witness_) witness_->check();
  wait();  // only one batch may be in flight, and the next bookmark has to follow what that batch publishes
  // The bookmark is where the public files end now, right before this batch's lines.
  record.bookmark = journal_->bookmark();
  if (users_) record.users = users_->close();
  journal::Batch batch = engine::seal_batch(*keys_.ring, *lane_, *ledger_, releases_, std::move(record),
                                            {engine::Keeping::folder, touched(), committed_.steps, result.closes});
  committed_.steps = lane_->steps();
  batch.rejects = std::move(result.rejects);
  if (users_) batch.before_state = [this] { users_->sync(); };
  in_flight_.outbox = batch.outbox;
  committed_.is_there = true;
  auto done = std::make_shared<std::promise<void>>();
  in_flight_.done = done->get_future();
  journal_->commit(std::move(batch), journal::that_ends(std::move(done), tell_witness(lane_->steps())));
}

/// A function that tells the witness of the commit that is about to begin. It is called once that commit is durable,
/// on the journal's thread. So everything that it needs is copied here.
std::function<void()> Session::tell_witness(StepCount steps) {
  if (!witness_) return {};
  return [this, steps, epoch = epoch(), head = ledger_->head(), epochs = ledger_->with_own(steps, touched())] {
    witness_->committed(epoch, steps, head, epochs);
  };
}

/// Commits once more, without a step, where the ledger's last line still reserves steps. That happens where the last
/// batch did not know that it was the last, or was the first batch after a resume. If steps were taken that are not
/// committed, a failure ended the run. Those steps are lost, with what they would have released, and no line is
/// written.
void Session::close_ledger() {
  if (committed_.steps != lane_->steps() || !ledger_->reserves_beyond(lane_->steps())) return;
  // The batch has no release and takes no step: its line is all that it is for.
  commit({.closes = true}, committed_.rejected, committed_.released);
  wait();
}

void Session::finish(Ended ended) {
  wait();
  // A lane that failed in the middle of steps may hold a part of them, which its step count does not show.
  if (ended == Ended::well) close_ledger();
  journal::flush_and_wait(*journal_);
  if (witness_) witness_->finish();
}

std::string Session::rejects_file() const {
  if (!config_.state.rejects) return {};
  return (std::filesystem::path(config_.state.directory) / journal::folder_files::rejects).string();
}

}  // namespace nustream::folder
