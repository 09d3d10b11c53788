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

/// How a run ended, and what the report needs of it.
struct RunEnd {
  std::uint64_t steps = 0;  ///< that it has taken
  int signal = 0;           ///< that stopped it; 0 for none
  std::string exhausted;    ///< what the budget says where it stopped it; "" else
  EpochId epoch{0};
  std::string digest;
  std::string key_file;
  double ledger_rho = 0;  ///< over all epochs of the folder
  console::RejectsList rejects;
  std::uint64_t gradients = 0;  ///< that this run took of usable records, for the operator
  std::uint64_t clipped = 0;    ///< of those
};

/// Opens the folder as `options` say; what it is made with outlives it. Its first commit writes `rejects` down.
class DescentRun {
 public:
  DescentRun(const config::Config& config, const config::Mechanism& mechanism, const engine::TableDesign& design,
             const Table& table, const folder::Options& options, console::PathPrinter& printer, TableWitness& witness,
             std::string rejects);

  /// To the design's last step, to what the budget allows, or until `stop` holds a signal.
  [[nodiscard]] RunEnd go(const std::atomic<int>& stop);

  /// Of usable records: gradients that go() took so far, and those of them that were clipped. For the operator.
  [[nodiscard]] std::uint64_t gradients() { return gradients_since(steps_before_); }
  [[nodiscard]] std::uint64_t clipped() { return session_.lane().clipped(); }
  /// False where it goes on with a run that had finished.
  [[nodiscard]] bool has_steps_left() { return session_.lane().steps().value() < design_.steps; }
  /// False for a new epoch that is not known to have the table and the settings of the epoch before it.
  [[nodiscard]] bool is_like_last_epoch() const noexcept { return session_.is_like_last_epoch(); }
  [[nodiscard]] const std::string& digest() const noexcept { return session_.digest(); }
  /// ρ of the whole ledger as it is now.
  [[nodiscard]] Rho ledger_total() { return session_.ledger_total(session_.lane().steps()); }
  /// As Session::warnings().
  [[nodiscard]] std::vector<std::string> warnings() const { return session_.warnings(); }
  /// One sentence where privacy.budget ends this run, or one of the `later` ones, before its last step; "" else.
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
  users::Table
      users_;  // every user may take part in every step: nobody is ever at a limit, and nothing of it is kept
  users::Changes changes_{users_};
  folder::Session session_;
  publish::ReleaseEncoder encoder_;
  std::uint64_t released_;
  std::uint64_t steps_before_ = 0;  ///< when go() began
  std::string outbox_;
  std::string rejects_;
};

}  // namespace nustream::estimate
