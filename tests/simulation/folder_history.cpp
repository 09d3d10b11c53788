#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "engine/release_encoder.h"
#include "history.h"
#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "journal/outbox_folder.h"
#include "journal/sealed_state.h"
#include "nustream/privacy/epsilon.h"
#include "played.h"
#include "printed_path.h"
#include "replay/session.h"
#include "replay/stream_input.h"
#include "replay/summarise.h"
#include "secrets/key_file.h"
#include "simulated_clock.h"
#include "simulated_posix_disk.h"

namespace nustream::tests {
namespace {

const std::string folder = "/run";
const std::string releases_path = folder + "/releases.jsonl";
const std::string ledger_path = folder + "/ledger";
const std::string state_path = folder + "/state";

/// Hands on a few rows at a time, so that a short input makes many batches.
class Trickle final : public decode::Reader {
 public:
  Trickle(decode::Reader& reader, std::mt19937_64& random) : reader_(reader), random_(random) {}
  bool read(record::RowBatch& batch, std::size_t rows_max) override {
    return reader_.read(batch, std::min<std::size_t>(rows_max, 1 + random_() % 16));
  }
  bool pass(std::span<const std::uint64_t> positions, const Look& look) override {
    return reader_.pass(positions, look);
  }
  [[nodiscard]] std::vector<decode::ReadRecord> at_hand(std::uint64_t position) const override {
    return reader_.at_hand(position);
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return reader_.bytes_read(); }
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override { return reader_.bytes_total(); }

 private:
  decode::Reader& reader_;
  std::mt19937_64& random_;
};

/// Whoever copies a growing file at every moment: what stood at a place stays what it is, or was taken back by a
/// power failure as NUL or not at all.
class ByteWatcher {
 public:
  [[nodiscard]] bool look(const std::string& content) {
    const std::size_t known = std::min(seen_.size(), content.size());
    if (std::memcmp(seen_.data(), content.data(), known) != 0) {
      for (std::size_t i = 0; i < known; ++i) {
        if (seen_[i] != content[i] && seen_[i] != '\0' && content[i] != '\0') return false;
        if (seen_[i] == '\0') seen_[i] = content[i];
      }
    }
    if (content.size() > known) seen_.append(content, known);
    return true;
  }

 private:
  std::string seen_;
};

/// The key file of this process, for histories whose epochs draw fresh keys.
const std::string& key_file() {
  static const std::string path = [] {
    std::string made = scratch_folder() + "/key";
    secrets::create_key_file(made);
    return made;
  }();
  return path;
}

/// A session's own noise, which outlives this.
class LentNoise final : public engine::NoiseSupply {
 public:
  explicit LentNoise(engine::NoiseSupply& noise) : noise_(noise) {}
  std::span<const noise::GridNoise> take(std::size_t steps_max) override { return noise_.take(steps_max); }
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override { return noise_.checkpoints(); }

 private:
  engine::NoiseSupply& noise_;
};

class FolderHistory {
 public:
  explicit FolderHistory(std::uint64_t seed, const Given* given = nullptr, std::uint64_t passes = 1)
      : seed_(seed),
        given_(given),
        given_passes_(passes),
        random_(seed),
        disk_(seed ^ 0x9e3779b97f4a7c15U),
        keys_(secrets::Keyring::insecure(seed)) {}

  HistoryResult play() {
    if (!draw_settings()) return {"no settings were accepted", {}};
    present_disk() = &disk_;
    disk_.keeps_order = false;
    if (given_)
      disk_.apart = journal::folder_files::rejects;  // the operator's: of neighbours one may have more of them
    disk_.on_change = [this](const journal::Disk::Path& path) { watch(path.string()); };
    for (auto lives = 2 + draw(5); lives > 0 && violation_.empty(); --lives) {
      Faults faults = draw_faults();
      if (draw(6) == 0) faults.broken = journal::folder_files::rejects;
      live(std::move(faults));
      if (draw(2) == 0) {
        disk_.lose_power();
        count("a power failure");
      } else {
        disk_.kill_process();
      }
      watch(releases_path);
      watch(ledger_path);
    }
    undisturbed_life_ = true;
    if (violation_.empty()) live({});
    disk_.lose_power();
    if (given_) log_ += disk_.seen(releases_path) + disk_.seen(ledger_path);
    if (violation_.empty() && given_ == nullptr) check_end();
    count_losses();
    return {violation_, happened_};
  }
  [[nodiscard]] std::string& log() { return log_; }
  [[nodiscard]] std::string for_operators() const {
    return disk_.seen(folder + '/' + journal::folder_files::rejects);
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  void count(const std::string& what) { ++happened_[what]; }
  void violate(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  /// Not every correlation accounts for everything.
  bool draw_settings() {
    for (int tries = 0; tries < settings_tries_max; ++tries) {
      if (try_settings()) return true;
    }
    return false;
  }

  bool try_settings() {
    const std::uint64_t steps = 20 + draw(80);
    const std::uint64_t passes = given_ ? given_passes_ : draw(3) == 0 ? 2 + draw(2) : 1;
    const RandomStream stream =
        given_ ? given_->stream : random_stream(random_(), {.steps = steps * passes, .replace_one = true});
    const std::uint64_t records = given_ ? given_->records.size() : steps * stream.minibatch + draw(stream.minibatch);
    window_ = {0, records, passes};
    const std::string input = scratch_folder() + "/records";
    std::string text;
    for (std::uint64_t i = 0; i < records; ++i)
      text += (given_ ? given_->records[i].value.value_or("") : random_record(stream, random_())) + '\n';
    std::ofstream(input, std::ios::binary) << text;
    fresh_keys_ = !given_ && draw(5) == 0;
    const std::string more =
        fmt::format("[state]\ndirectory = \"{}\"\ncommit_records = {}\ncommit_seconds = {}\nrejects = {}\n{}", folder,
                    1 + draw(60), draw(2) == 0 ? 0.05 : 5.0, draw(2) == 0,
                    fresh_keys_ ? "key_file = \"" + key_file() + "\"\n" : "");
    settings_ = settings_of(stream, more, replay::participation(window_, stream.minibatch));
    if (!settings_) return false;
    settings_->config.input.files = {input};
    if (fresh_keys_) {
      keys_ = secrets::load_key_file(key_file());
      settings_->digest = config::settings_digest(settings_->config, settings_->mechanism);
    }
    return true;
  }

  Faults draw_faults() {
    constexpr std::array<std::uint64_t, 3> calls{10, 40, 200};  // few lives have more: most of the work is done
    const std::uint64_t at = 1 + draw(calls[draw(calls.size())]);
    switch (draw(8)) {
      case 0:
        return {};
      case 1:
        return {.fail_at = at};
      case 2:
        return {.fail_at = at, .fails = 2 + draw(8)};
      case 3:
        return {.crash_at = at + 1 + draw(8), .fail_at = at};
      default:
        return {.crash_at = at};
    }
  }

  // ---- a life

  void live(const Faults& faults) {
    disk_.start_process(faults);
    try {
      run();
    } catch (const SimulatedCrash&) {
      count("a crash");
      if (disk_.failed_calls() > 0) count("a crash after a failed call");
    } catch (const Failure& failure) {
      if (failure.code() != Exit::io || faults.fail_at == 0) violate(std::string("a life ended: ") + failure.what());
    }
    if (disk_.failed_calls() > 1) count("a life with several failed calls");
    if (!faults.broken.empty() && disk_.failed_calls() > 0) count("a life whose rejects could not be written");
  }

  /// As replay::run(), without the terminal.
  void run() {
    const config::Config& config = settings_->config;
    const config::Mechanism mechanism = settings_->mechanism;
    replay::Options options;
    options.start = disk_.seen(state_path).empty() ? replay::Start::fresh : replay::Start::resume;
    options.passes = window_.passes;
    if (!fresh_keys_) options.insecure_seed = seed_;
    const StandardOutput printed([this](std::string_view text) { look_at_printed(text); });
    replay::PathPrinter printer(printed.file());
    std::atomic<int> stop{0};
    replay::StreamInput stream(config, window_, stop);
    replay::Session session(config, mechanism, window_, options, printer, stream);
    stream.open(session.lane().position().value());
    Trickle reader(stream.reader(), random_);
    publish::ReleaseEncoder encoder = engine::release_encoder(
        config, mechanism, {config.lane, session.epoch(), session.digest(), session.is_private()});
    ShiftedNoise shifted(std::make_unique<LentNoise>(session.feed()), given_ ? given_->shifts : Shifts());
    engine::Stepper stepper(session.lane(), shifted, encoder, config.descent.minibatch, session.step_limit(),
                            session.released_at());
    replay::Engine engine(
        stepper, reader, config.descent,
        replay::Cadence{config.state.commit_records, std::chrono::duration<double>(config.state.commit_seconds),
                        config.state.rejects},
        replay::Pacer({}));
    const replay::Ending ending = engine.run(
        stop,
        [&](replay::BatchResult result) {
          session.commit(std::move(result), engine.counts().rejected, stepper.released_at());
        },
        [&](std::uint64_t) { disturb(stop); });
    session.finish();
    printer.finish();
    if (given_) log_summary(replay::summarise(config, mechanism, session, printer, engine, ending));
  }

  /// What the table at the end says to everybody: the operator's counts are taken out.
  void log_summary(replay::Summary summary) {
    summary.counts = {};
    log_ += replay::to_json(summary) + '\n';
    const StandardOutput table([this](std::string_view text) { log_ += text; });
    replay::print_table(summary, table.file());
  }

  void disturb(std::atomic<int>& stop) {
    pass_time(std::chrono::milliseconds(draw(30)));
    if (undisturbed_life_) return;
    if (draw(60) == 0) {
      pass_time(std::chrono::seconds(draw(10'000)));
      count("a jump of the clock");
    }
    if (draw(60) == 0) {
      stop = draw(2) == 0 ? SIGINT : SIGTERM;
      count("a signal");
    }
  }

  // ---- what the outside sees

  void watch(const std::string& path) {
    if (path != releases_path && path != ledger_path) return;
    const std::string content = disk_.seen(path);
    if (given_) {
      // Not when: the journal writes on a thread of its own, while the clock goes on.
      log_ += fmt::format("{}: {} bytes, {:x}\n", path, content.size(), std::hash<std::string>{}(content));
    }
    if (!(path == releases_path ? releases_bytes_ : ledger_bytes_).look(content)) {
      return violate(path + ": a byte is readable with two values");
    }
    if (path == ledger_path || content.empty()) return;
    const std::size_t end = content.rfind('\n');
    if (end == std::string::npos || end + 1 <= looked_to_) return;
    const std::uint64_t durable = durable_steps();
    for (const std::string& line : lines_of_text(content.substr(looked_to_, end + 1 - looked_to_))) {
      if (line.find('\0') != std::string::npos) return;  // what a power failure left
      if (!watcher_.look(line)) violate("a step is readable with two values: " + line);
      if (watcher_.furthest() > durable) {
        violate(
            fmt::format("step {} is readable before its state is durable (step {})", watcher_.furthest(), durable));
      }
      readable_.insert_or_assign(std::to_string(journal::parse_last_release(line).position.value()), line);
    }
    looked_to_ = end + 1;
  }

  /// The journal is at rest whenever something is printed: nothing is in flight.
  void look_at_printed(std::string_view printed) {
    if (given_) log_.append("printed:\n").append(printed);
    const auto found = readable_.find(printed_position(printed));
    if (found == readable_.end() || !shows_release(printed, found->second)) {
      return violate("something else is printed than what is readable:\n" + std::string(printed));
    }
    if (disk_.seen(releases_path).find(found->second) == std::string::npos) {
      violate("a release is printed that was lost: " + found->second);
    }
    if (journal::parse_last_release(found->second).steps.value() > durable_steps()) {
      violate("a release is printed before its state is durable: " + found->second);
    }
    count("a release that was printed");
  }

  [[nodiscard]] std::uint64_t durable_steps() const {
    const std::string state = disk_.durable(state_path);
    return state.empty() ? 0 : secrets::read_identity(state).steps.value();
  }

  // ---- the end

  void check_end() {
    record::RowBatch rows;
    rows.dimension = lane::row_entries(settings_->config.descent);
    const auto reader = replay::open_window(settings_->config, window_, 0);
    while (reader->read(rows, 4096)) {
    }
    const Reference reference =
        undisturbed(*settings_, keys_, settings_->config.lane, std::move(rows), Position{0}, true);
    const std::string what = difference(lines_of_text(disk_.seen(releases_path)), reference, !fresh_keys_);
    if (!what.empty()) return violate("releases differ: " + what);
    if (reference.steps == 0) {
      if (!disk_.seen(ledger_path).empty()) violate("a ledger line of no step");
      return;
    }
    const journal::State state = journal::open_state(keys_, disk_.seen(state_path));
    if (state.identity.steps.value() != reference.steps || state.record.position.value() != reference.position) {
      return violate(fmt::format("step {} at {}, undisturbed {} at {}", state.identity.steps.value(),
                                 state.record.position.value(), reference.steps, reference.position));
    }
    if (state.record.rejected != reference.rejected) violate("another number of unusable records");
    if (state.identity.epoch != EpochId{0}) violate("a new epoch that nobody asked for");
    check_ledger(reference);
    happened_["steps"] += reference.steps;
    if (window_.passes > 1) count("several passes");
    count(fresh_keys_ ? "under a fresh key" : "under an insecure seed");
  }

  void check_ledger(const Reference& reference) {
    const journal::Ledger ledger = journal::read_ledger(disk_, folder, keys_);
    for (const std::string& line : lines_of_text(disk_.seen(ledger_path))) {
      const journal::LedgerEntry entry = journal::read_entry(line);
      if (entry.rho != settings_->mechanism.spend.after(entry.steps)) violate("a ledger line's spend is not exact");
    }
    if (ledger.epochs.size() != 1 || ledger.epochs.front().steps.value() != reference.steps ||
        ledger.epochs.front().to.value() != window_.touched(reference.position)) {
      violate("the ledger does not end with what was spent");
    }
  }

  void count_losses() {
    const SimulatedDisk::Losses& losses = disk_.losses();
    happened_["writes lost"] += losses.lost;
    happened_["writes torn"] += losses.torn;
    happened_["writes that arrived out of order"] += losses.reordered;
    happened_["syncs that failed"] += losses.failed_syncs;
    happened_["calls that failed"] += losses.failed_calls;
  }

  std::uint64_t seed_;
  const Given* given_;
  std::uint64_t given_passes_;
  std::mt19937_64 random_;
  SimulatedDisk disk_;
  secrets::Keyring keys_;
  bool fresh_keys_ = false;
  std::optional<Settings> settings_;
  replay::Window window_;
  bool undisturbed_life_ = false;
  ByteWatcher releases_bytes_;
  ByteWatcher ledger_bytes_;
  Watcher watcher_;
  std::size_t looked_to_ = 0;
  std::map<std::string, std::string> readable_;  // releases by position, as text
  FaultCounts happened_;
  std::string violation_;
  std::string log_;
};

}  // namespace

PublicHistory play_records_in_folder(std::uint64_t seed, const Given& given, std::uint64_t passes) {
  return played(FolderHistory(seed, &given, passes));
}

HistoryResult play_folder(std::uint64_t seed) {
  return played(FolderHistory(seed)).result;
}

}  // namespace nustream::tests
