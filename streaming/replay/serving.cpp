// Everything that is shown belongs to the loop's thread. The replay's thread posts copies to it and goes on, so that
// a slow reader of a page never holds up a step. What is posted as public comes from commits that are durable.
#include "replay/serving.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "journal/outbox_folder.h"
#include "nustream/base/error.h"
#include "report/report.h"
#include "secrets/hex.h"
#include "serve/bearer_token.h"
#include "serve/servers.h"

namespace nustream::replay {
namespace {

/// The settings of [serve], with the file of the operator's token. A token that no setting names lies beside the key,
/// or in the state folder where there is no key.
config::Serve settled(const config::Config& config, const folder::Session& session) {
  config::Serve settings = config.serve;
  const std::filesystem::path key(session.key_file());
  const std::filesystem::path beside =
      key.empty() ? std::filesystem::path(config.state.directory) : key.parent_path();
  const serve::SettledToken token = serve::settle_operator_token(settings, config.stream, beside);
  if (!token.path.empty()) {
    fmt::print(stderr, "nustream: the operator's pages ask for the token in {}{}\n", token.path.string(),
               token.is_new ? ", which was made now" : "");
  }
  if (!token.path.empty()) settings.operator_token_file = token.path.string();
  return settings;
}

// Enough lines for one update of the charts; a file of releases may have gigabytes.
constexpr std::size_t piece_bytes = 1U << 20U;

/// The ledger entry of the state that a published line came from, as far as the line tells it.
journal::LedgerEntry entry_of(const publish::ShownRelease& release) {
  return {release.stream,
          release.lane,
          release.epoch,
          Position{0},
          Position{release.position},
          StepCount{release.step},
          Rho{release.rho},
          Rho{release.rho_limit},
          release.digest,
          {},
          release.promise.is_private,
          journal::Overlap::disjoint};
}

/// Tells on standard error where a listener answers.
void say_where(const char* what, const std::optional<serve::Listener>& listener, const std::string& address) {
  if (!listener) return;
  fmt::print(stderr, "nustream: {}: http://{}:{}/\n", what, address.substr(0, address.rfind(':')), listener->port());
}

}  // namespace

struct Serving::Front {
  Front(const config::Config& config, const config::Serve& settings)
      : shown(config.stream, now), operators(shown), servers(loop, settings, shown, operators) {}

  // The clock of the pages, in seconds since 1970. No record has an influence on it.
  [[nodiscard]] static double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  template <class Call>
  void on_loop(Call call) {
    boost::asio::post(loop, std::move(call));
  }

  /// Shows releases and the spend of the last one. Published lines come from a state that is durable, so that its
  /// spend may be shown too.
  void show(const std::string& lines) {
    const serve::CommittedRelease release = serve::CommittedRelease::published(lines);
    const publish::ShownRelease& last = release.last();
    shown.update(serve::CommittedSpend::committed(entry_of(last), Rho{last.rho_ledger}));
    shown.update(release);
  }

  /// Shows the releases that the folder holds already: those of `epoch` in the charts, and the last one as the
  /// newest. They are read in pieces, since the file may be large.
  void show_past(const std::filesystem::path& file, EpochId epoch) {
    std::ifstream lines(file);
    std::string last;
    std::string past;
    for (std::string line; std::getline(lines, line);) {
      last = line + '\n';
      past += last;
      if (past.size() < piece_bytes) continue;
      // Lines of other epochs are passed on too: CommittedPast::found() picks those of `epoch`.
      shown.update(serve::CommittedPast::found(lane, epoch, past));
      past.clear();
    }
    shown.update(serve::CommittedPast::found(lane, epoch, past));
    if (!last.empty()) show(last);
  }

  boost::asio::io_context loop{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{loop.get_executor()};
  serve::PublicSurface shown;
  serve::OperatorSurface operators;
  serve::Servers servers;
  LaneId lane{0};
  serve::OperatorMetrics::Lane* figures = nullptr;
  std::thread thread{};
};

Serving::Serving(const config::Config& config, const config::Mechanism& mechanism, const folder::Session& session)
    : front_(std::make_unique<Front>(config, settled(config, session))) {
  front_->lane = config.lane;
  // The same description of the lane as in a report, with what only the session knows: epoch, digest, key and limits.
  const std::filesystem::path releases =
      std::filesystem::path(config.state.directory) / journal::folder_files::releases;
  serve::PublicLane lane = report::shown_lane(config, mechanism, releases).settings;
  lane.header.epoch = session.epoch();
  lane.header.settings_digest = session.digest();
  lane.header.promise.is_private = session.is_private();
  lane.header.public_key = secrets::to_hex(session.public_key());
  lane.rho_limit = mechanism.spend.limit();
  // A limit that is the horizon is told by the mechanism already. Here is the step at which a budget ends the run.
  if (session.step_limit() != mechanism.horizon()) lane.last_step = session.step_limit();
  lane.spend_by_age = [spend = mechanism.spend](StepCount most) { return serve::spend_by_age(spend, most); };
  front_->shown.open_lane(std::move(lane));
  front_->show_past(releases, session.epoch());
  front_->figures = &front_->operators.open_lane(config.lane);
  front_->operators.set_state(config.lane, serve::LaneStatus::running);
  // Everything is in place before the thread runs: from here on only the loop touches it.
  front_->operators.set_phase(serve::Phase::serving);
  front_->thread = std::thread([front = front_.get()] { front->loop.run(); });
  say_where("status page", front_->servers.public_listener(), config.serve.public_address);
  say_where("operator's pages", front_->servers.operator_listener(), config.serve.operator_address);
}

Serving::~Serving() {
  // The servers are stopped on their own thread. Without `work` the loop then ends by itself.
  front_->on_loop([front = front_.get()] { front->servers.stop(); });
  front_->work.reset();
  front_->thread.join();
}

void Serving::published(std::string_view lines) {
  front_->on_loop([front = front_.get(), lines = std::string(lines)] { front->show(lines); });
}

void Serving::counted(const check::Tally& counts) {
  front_->on_loop([front = front_.get(), records = counts.records, rejected = counts.rejected] {
    // A counter only rises, by what is new since the last call.
    const auto raise = [](prometheus::Counter& counter, std::uint64_t total) {
      counter.Increment(static_cast<double>(total) - counter.Value());
    };
    raise(*front->figures->records, records);
    raise(front->figures->records_rejected[serve::RejectReason::unusable_field], rejected);
  });
}

void Serving::stay_until(const std::atomic<int>& signal) {
  front_->on_loop([front = front_.get()] { front->operators.set_state(front->lane, serve::LaneStatus::finished); });
  fmt::print(stderr, "nustream: the status page stays up until this is interrupted\n");
  while (signal.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace nustream::replay
