// One run in one epoch: steps over minibatches in the table's order, a commit every few seconds or megabytes, and a
// last release at the end. Releases wait in the outbox until the commit that holds their state.
#include "estimate/descent_run.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/budget_advice.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::estimate {
namespace {

constexpr std::size_t outbox_bytes_max = std::size_t{8} << 20;

}  // namespace

DescentRun::DescentRun(const config::Config& config, const config::Mechanism& mechanism,
                       const engine::TableDesign& design, const Table& table, const folder::Options& options,
                       console::PathPrinter& printer, TableWitness& witness, std::string rejects)
    : config_(config),
      mechanism_(mechanism),
      design_(design),
      table_(table),
      session_(
          config, mechanism, folder::Window{0, design.rows, design.passes()}, options,
          [&printer](std::string_view released) { printer.published(released); }, witness),
      encoder_(engine::release_encoder(config, mechanism,
                                       {config.lane, session_.epoch(), session_.digest(), session_.is_private()},
                                       session_.ledger_total())),
      released_(session_.released_at()),
      rejects_(std::move(rejects)) {
  session_.lane().use(changes_);
}

RunEnd DescentRun::go(const std::atomic<int>& stop) {
  const std::optional<StepCount> limit = session_.step_limit();
  steps_before_ = session_.lane().steps().value();
  auto opened = std::chrono::steady_clock::now();
  while (session_.lane().steps() < *limit && stop.load() == 0) {
    step();
    // A commit costs two syncs or more, so several steps share one. What is released waits meanwhile.
    const auto now = std::chrono::steady_clock::now();
    if (outbox_.size() < outbox_bytes_max &&
        now - opened < std::chrono::duration<double>(config_.state.commit_seconds)) {
      continue;
    }
    commit();
    opened = now;
  }
  // A signal that comes with the last step changes nothing: the run is finished.
  const int signal = has_steps_left() ? stop.load() : 0;
  // However the run ended, its last iterate is released, because the answer of a table is its last release. Running
  // sums have no answer before their first step.
  const bool has_answer = !config_.moments || session_.lane().steps().value() > 0;
  if (has_answer) {
    session_.lane().release_now();
    encode(signal != 0 ? "shutdown" : "end");
  }
  commit(true);
  session_.finish();
  const std::string rejects_file = session_.rejects_file();
  const console::RejectsList rejects{rejects_file, !rejects_file.empty() && session_.rejects_are_written()};
  console::warn_of_lost(rejects);
  return {session_.lane().steps().value(),
          signal,
          has_steps_left() && signal == 0 ? session_.limit_reached() : std::string(),
          session_.epoch(),
          session_.digest(),
          session_.key_file(),
          session_.ledger_total(session_.lane().steps()).value(),
          rejects,
          gradients_since(steps_before_),
          session_.lane().clipped()};
}

/// How many gradients of usable records were taken: those of whole passes, and of an unfinished pass a share as large
/// as the part that was stepped.
std::uint64_t DescentRun::gradients_since(std::uint64_t steps_before) {
  if (config_.users) return session_.lane().contributions();
  const auto usable = static_cast<double>(table_.counts.records - table_.counts.rejected);
  const auto steps = static_cast<double>(session_.lane().steps().value() - steps_before);
  return static_cast<std::uint64_t>(std::llround(usable * steps / static_cast<double>(design_.steps_of_a_pass)));
}

std::string DescentRun::short_of_budget(std::uint64_t later) {
  if (!config_.privacy.budget) return {};
  const std::string of_this = engine::short_of_budget(mechanism_, session_.step_limit(), session_.budget_in_words());
  if (!of_this.empty()) return of_this;
  std::vector<Rho> all(later, mechanism_.spend.limit());
  all.push_back(session_.ledger_total(StepCount{design_.steps}));
  return engine::short_of_runs(*config_.privacy.budget, privacy::compose(all), later + (has_steps_left() ? 1 : 0),
                               session_.budget_in_words());
}

/// Takes one step. Minibatches are in the order of the table, pass after pass. So it is fixed before any data are
/// read which record takes part in which step.
void DescentRun::step() {
  const std::uint64_t m = design_.minibatch;
  const std::size_t first = (session_.lane().steps().value() % design_.steps_of_a_pass) * m;
  session_.lane().advance(table_.slice(first, m), session_.feed().take(1));
  encode("cadence");
}

void DescentRun::encode(std::string_view tag) {
  session_.lane().take_releases(encoder_, tag, released_, outbox_);
}

void DescentRun::commit(bool is_last) {
  session_.commit({std::exchange(outbox_, {}), std::exchange(rejects_, {}), is_last}, table_.counts.rejected,
                  released_);
}

}  // namespace nustream::estimate
