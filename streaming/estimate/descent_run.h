// One run of a private descent over a table, in one noise epoch.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/mechanism.h"
#include "console/path_printer.h"
#include "engine/release_encoder.h"
#include "engine/table_design.h"
#include "estimate/table.h"
#include "folder/options.h"
#include "folder/session.h"

namespace nustream::estimate {

/// How a run ended, with what the report needs of it.
struct RunEnd {
  std::uint64_t steps = 0;  ///< how many steps its epoch has taken
  int signal = 0;           ///< the signal that stopped it; 0 for none
  std::string exhausted;    ///< why the budget stopped it; "" where it did not
  EpochId epoch{0};
  std::string digest;
  std::string key_file;
  double ledger_rho = 0;  ///< ρ over all epochs of the folder
  console::RejectsList rejects;
  std::uint64_t gradients = 0;  ///< how many gradients of usable records this run took, for the operator
  std::uint64_t clipped = 0;    ///< how many of those were clipped
};

/// One run over one state folder, which is opened as `options` say. The constructor's arguments outlive it. Its first
/// commit writes the lines `rejects`.
class DescentRun {
 public:
  DescentRun(const config::Config& config, const config::Mechanism& mechanism, const engine::TableDesign& design,
             const Table& table, const folder::Options& options, console::PathPrinter& printer, TableWitness& witness,
             std::string rejects);

  /// Runs to the design's last step, as far as the budget allows, or until `stop` holds a signal.
  [[nodiscard]] RunEnd go(const std::atomic<int>& stop);

  /// How many gradients of usable records go() has taken so far; clipped() says how many of them were clipped. For
  /// the operator.
  [[nodiscard]] std::uint64_t gradients() { return gradients_since(steps_before_); }
  [[nodiscard]] std::uint64_t clipped() { return session_.lane().clipped(); }
  /// Whether a step is left to be taken. False where the folder holds a run that has finished.
  [[nodiscard]] bool has_steps_left() { return session_.lane().steps().value() < design_.steps; }
  /// False for a new epoch, unless it is known to have the table and the settings of the epoch before.
  [[nodiscard]] bool is_like_last_epoch() const noexcept { return session_.is_like_last_epoch(); }
  [[nodiscard]] const std::string& digest() const noexcept { return session_.digest(); }
  /// ρ of the whole ledger at present.
  [[nodiscard]] Rho ledger_total() { return session_.ledger_total(session_.lane().steps()); }
  /// As Session::name_limit().
  void name_limit(const std::string& limit) { session_.name_limit(limit); }
  /// As Session::begun().
  [[nodiscard]] const std::string& begun() const noexcept { return session_.begun(); }
  /// As Session::warnings().
  [[nodiscard]] std::vector<std::string> warnings() const { return session_.warnings(); }
  /// One sentence where privacy.budget ends this run, or one of the `later` runs after it, before its last step; else
  /// "".
  [[nodiscard]] std::string short_of_budget(std::uint64_t later);

 private:
  void step();
  void encode(std::string_view tag);
  void commit(bool is_last = false);
  [[nodiscard]] std::uint64_t gradients_since(std::uint64_t steps_before);

  const config::Config& config_;
  const config::Mechanism& mechanism_;
  const engine::TableDesign& design_;
  const Table& table_;
  users::Table users_;  // every user may take part in every step: nobody is ever at a limit, and it is not kept
  users::Changes changes_{users_};
  folder::Session session_;
  publish::ReleaseEncoder encoder_;
  std::uint64_t released_;
  std::uint64_t steps_before_ = 0;  ///< the steps that were taken when go() began
  std::string outbox_;
  std::string rejects_;
};

}  // namespace nustream::estimate
