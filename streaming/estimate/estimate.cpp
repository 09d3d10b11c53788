#include "estimate/estimate.h"

#include <csignal>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "engine/budget_advice.h"
#include "engine/release_encoder.h"
#include "engine/stepper.h"
#include "estimate/comparison.h"
#include "estimate/design.h"
#include "estimate/path.h"
#include "estimate/report.h"
#include "estimate/table.h"
#include "nustream/privacy/epsilon.h"
#include "planted.h"
#include "replay/path_printer.h"
#include "replay/session.h"
#include "replay/signals.h"
#include "secrets/harden.h"

namespace nustream::estimate {
namespace {

constexpr std::size_t outbox_bytes_max = std::size_t{8} << 20;

/// How one run ended, and what the report needs of it.
struct RunEnd {
  int signal = 0;
  EpochId epoch{0};
  std::string digest;
  std::string key_file;
  double ledger_rho = 0;
  replay::RejectsList rejects;
};

/// One run of the descent over the table, in one noise epoch. Its first commit writes `rejects` down.
class Run {
 public:
  Run(const config::Config& config, const config::Mechanism& mechanism, const Design& design, const Table& table,
      const replay::Options& options, replay::PathPrinter& printer, TableWitness& witness, std::string rejects)
      : config_(config),
        mechanism_(mechanism),
        design_(design),
        table_(table),
        session_(config, mechanism, design.window(), options, printer, witness),
        encoder_(engine::release_encoder(config, mechanism,
                                         {config.lane, session_.epoch(), session_.digest(), session_.is_private()})),
        released_(session_.released_at()),
        rejects_(std::move(rejects)) {}

  RunEnd go(const std::atomic<int>& stop) {
    const std::optional<StepCount> limit = session_.step_limit();
    auto opened = std::chrono::steady_clock::now();
    while (session_.lane().steps() < *limit && stop.load() == 0) {
      step();
      const auto now = std::chrono::steady_clock::now();
      if (outbox_.size() < outbox_bytes_max &&
          now - opened < std::chrono::duration<double>(config_.state.commit_seconds)) {
        continue;
      }
      commit();
      opened = now;
    }
    session_.lane().release_now(releases_);
    encode("end");
    commit();
    session_.finish();
    if (session_.lane().steps().value() < design_.steps && stop.load() == 0) {
      throw Failure(Exit::exhausted, "stopped: " + session_.limit_reached() + "; what was released stays");
    }
    return {stop.load(),
            session_.epoch(),
            session_.digest(),
            session_.key_file(),
            session_.ledger_total(session_.lane().steps()).value(),
            session_.rejects()};
  }

  /// False where it goes on with a run that had finished.
  [[nodiscard]] bool has_steps_left() { return session_.lane().steps().value() < design_.steps; }
  [[nodiscard]] const std::string& digest() const { return session_.digest(); }
  /// One sentence where privacy.budget ends this run before its last step; "" else.
  [[nodiscard]] std::string short_of_budget() const {
    return engine::short_of_budget(mechanism_, session_.step_limit());
  }

 private:
  /// Minibatches in the order of the table, pass after pass: who takes part when is fixed before any data is read.
  void step() {
    const std::uint64_t m = design_.minibatch;
    const std::size_t first = (session_.lane().steps().value() % design_.steps_of_a_pass) * m;
    session_.lane().advance({table_.dimension, m, table_.x.values().data() + first * table_.dimension,
                             table_.y.values().data() + first, nullptr},
                            session_.feed().take(1), releases_);
    encode("cadence");
  }

  void encode(std::string_view tag) {
    for (std::size_t i = 0; i < releases_.size(); ++i) {
      if (releases_[i].steps.value() <= released_) continue;
      encoder_.append(releases_[i], tag, outbox_);
      released_ = releases_[i].steps.value();
    }
    releases_.clear();
  }

  void commit() {
    session_.commit({std::exchange(outbox_, {}), std::exchange(rejects_, {})}, table_.counts.rejected, released_);
  }

  const config::Config& config_;
  const config::Mechanism& mechanism_;
  const Design& design_;
  const Table& table_;
  replay::Session session_;
  publish::ReleaseEncoder encoder_;
  std::uint64_t released_;
  lane::Releases releases_;
  std::string outbox_;
  std::string rejects_;
};

replay::Options session_options(const Options& options, replay::Start start) {
  replay::Options session;
  session.command = "estimate";
  session.start = start;
  session.insecure_seed = options.insecure_seed;
  session.compared = options.compare_nonprivate;
  session.from = std::to_string(0);  // every run begins at the table's first record
  return session;
}

Report report_of(const config::Config& config, const config::Mechanism& mechanism, const Design& design,
                 const RunEnd& end, const std::vector<publish::ShownRelease>& path) {
  const Rho spent{static_cast<double>(design.runs) * mechanism.spend.limit().value()};
  return {.stream = config.stream,
          .design = design,
          .correlation = mechanism.main().correlation.name(),
          .last = path.back(),
          .intervals = intervals_along(config, path),
          .rho = spent.value(),
          .epsilon = privacy::epsilon(spent, config.privacy.delta).value(),
          .ledger_rho = end.ledger_rho,
          .ledger_epsilon = privacy::epsilon(Rho{end.ledger_rho}, config.privacy.delta).value(),
          .delta = config.privacy.delta.value(),
          .predicted_stddev = predicted_stddev(config, mechanism, design),
          .is_private = path.back().promise.is_private,
          .folder = config.state.directory,
          .key_file = end.key_file,
          .counts = {},
          .rejects = end.rejects,
          .degeneracy = {},
          .comparison = {}};
}

std::optional<std::pair<double, double>> adassp_bounds(const Options& options) {
  if (!options.compare_x_bound || !options.compare_y_bound) return std::nullopt;
  return std::pair{*options.compare_x_bound, *options.compare_y_bound};
}

void say_interrupted(const config::Config& config) {
  fmt::print(stderr,
             "nustream: interrupted; everything so far is committed; go on with the same command and --resume "
             "(state in {})\n",
             config.state.directory);
}

/// Before anything is spent: settings and n alone decide it.
void warn_of_noise(const std::optional<double>& stddev, std::uint64_t steps) {
  constexpr double large = 1;  // coefficients of centred and scaled columns are smaller
  if (!stddev || *stddev < large) return;
  fmt::print(
      stderr,
      "nustream: warning: after {} steps the noise of this budget has a standard deviation of {:.3g} in a "
      "coordinate (working units): take fewer steps, a smaller clip norm or more rho; nustream plan shows what "
      "they leave\n",
      steps, *stddev);
}

/// What is spent by then is not given back. Of a run that goes on it was said when that began.
void warn_of_budget(const std::string& advice) {
  if (!advice.empty()) fmt::print(stderr, "nustream: warning: {}\n", advice);
}

/// Runs under these settings that the folder holds whole; their releases may not be there yet.
std::uint64_t finished_before(const config::Config& config, const std::string& digest, const Design& design) {
  std::error_code unknown;
  const auto releases = std::filesystem::path(config.state.directory) / journal::folder_files::releases;
  if (!std::filesystem::exists(releases, unknown)) return 0;
  return finished_runs(released_under(config.state.directory, digest), design.steps);
}

void say_which_run(std::uint64_t finished, const Design& design) {
  fmt::print("run {} of {}, under noise and rho of its own\n", finished % design.runs + 1, design.runs);
}

}  // namespace

Exit run(config::Config config, const Options& options) {
  secrets::harden_process();
  const std::atomic<int>& stop = replay::watch_signals();
  if (options.compare_nonprivate && !is_comparable(config)) {
    throw Failure(Exit::usage,
                  "--compare-nonprivate: there is a comparator for linear and Huber losses alone; leave it out");
  }
  Table table = read_table(config);
  TableWitness witness(table);
  const Design design = settle_design(
      config, NUSTREAM_PLANTED("table-counts-usable-records") ? table.rows() - table.counts.rejected : table.rows());
  const config::Mechanism mechanism = make_mechanism(config, design.participation(), StepCount{design.steps});

  if (!options.quiet) {
    warn_of_noise(predicted_stddev(config, mechanism, design), design.steps);
    if (options.start == replay::Start::fresh) {
      warn_of_budget(engine::short_of_budget(config, mechanism, design.runs));
    }
  }

  Report report;
  const std::string degenerate = degeneracy(config, table);
  const Rho all{static_cast<double>(design.runs) * config.privacy.rho->value()};
  std::vector<Compared> comparison;
  if (options.compare_nonprivate)
    comparison = compare(config, table, StepCount{design.steps}, all, adassp_bounds(options));
  table.pad_to_multiple_of(design.minibatch);

  const bool lines = !options.quiet && !options.json;
  replay::PathPrinter printer(lines ? stdout : nullptr, replay::PathPrinter::Count::steps);
  replay::Start start = options.start;
  RunEnd end;
  bool rejects_written = true;
  std::vector<publish::ShownRelease> path;
  do {
    {
      Run one(config, mechanism, design, table, session_options(options, start), printer, witness,
              std::exchange(table.reject_lines, {}));  // all runs are over the same table
      if (!options.quiet && start == replay::Start::new_epoch) warn_of_budget(one.short_of_budget());
      if (lines && design.runs > 1 && one.has_steps_left()) {
        say_which_run(finished_before(config, one.digest(), design), design);
      }
      end = one.go(stop);
      rejects_written = rejects_written && end.rejects.is_written;
    }
    if (end.signal != 0) {
      printer.finish();
      say_interrupted(config);
      return end.signal == SIGINT ? Exit::interrupted : Exit::done;
    }
    path = released_under(config.state.directory, end.digest);
    start = replay::Start::new_epoch;
  } while (finished_runs(path, design.steps) % design.runs != 0);
  printer.finish();

  report = report_of(config, mechanism, design, end, path);
  report.counts = table.counts;
  report.rejects.is_written = rejects_written;
  report.degeneracy = degenerate;
  report.comparison = std::move(comparison);
  if (options.json) fmt::print("{}\n", to_json(report));
  if (lines) print(report, stdout);
  return Exit::done;
}

}  // namespace nustream::estimate
