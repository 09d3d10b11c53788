// The command `local randomize`: name each record, draw a report if it has none, commit, and only then write it out.
// Drawing twice for one record would spend its budget twice, so every draw is durable before it is seen.
#include "local/commands.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "console/signals.h"
#include "journal/failpoint.h"
#include "local/record_reader.h"
#include "local/report.h"
#include "local/report_store.h"
#include "publish/json_writer.h"
#include "secrets/locked_memory.h"
#include "secrets/random.h"

namespace nustream::local {
namespace {

// How many records share one commit, since a sync costs as much as some hundred reports.
constexpr std::size_t batch_records = 1024;

/// The file or standard output that reports go to.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path.empty() || path == "-" ? "standard output" : path) {
    if (path_ != path) return;
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor_ < 0) throw failure("open", errno);
  }
  ~Output() {
    if (descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw failure("write", written < 0 ? errno : ENOSPC);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

 private:
  [[nodiscard]] Failure failure(const char* attempt, int error) const {
    return system_failure(Exit::io, attempt, path_, error,
                          "every report is kept: the same command sends the same ones again");
  }

  std::string path_;
  int descriptor_ = STDOUT_FILENO;
};

/// What a store's reports are of. A store with another heading is refused, because a report of it may be of another
/// record or under other noise.
std::string heading(const Settings& settings, const ReportFormat& format) {
  return publish::object_text([&](publish::JsonWriter& json) {
    json.field("format", 1);
    json.field("stream", settings.stream);
    json.field("mechanism", format.mechanism());
    json.field("records", settings.record_key.empty() ? "by position" : "by key " + settings.record_key);
  });
}

struct Counts {
  std::uint64_t sent = 0;
  std::uint64_t again = 0;     ///< how many of those were stored before, or had come earlier in the input
  std::uint64_t unusable = 0;  ///< how many of the new ones could not be used and are reported as null
  std::uint64_t features = 0;  ///< how many of the new ones had their features projected
  std::uint64_t labels = 0;
  /// Records without a readable key, which are reported as null like other unusable ones.
  std::uint64_t nameless = 0;
};

class Randomizer {
 public:
  explicit Randomizer(const Settings& settings)
      : mechanism_(make_mechanism(settings)),
        format_(settings, mechanism_),
        reader_(settings),
        by_key_(!settings.record_key.empty()),
        store_(*disk_, settings.reports_directory, heading(settings, format_)),
        words_(mechanism_.words()),
        numbers_(mechanism_.report_size()) {}

  /// Handles one batch of records. Returns false once no record is left, or a signal came.
  bool run_batch(const Output& output, const std::atomic<int>& signal) {
    std::vector<RecordName> names;
    bool more = true;
    while (more && names.size() < batch_records && signal == 0) {
      // The first record of a batch is waited for. After that a pause of a pipe ends the batch, so that nobody waits
      // for reports that are drawn already.
      const RecordReader::Found found = reader_.next(names.empty());
      if (found == RecordReader::Found::nothing_yet) break;
      if (found == RecordReader::Found::interrupted) continue;
      more = found == RecordReader::Found::record;
      if (!more) break;
      names.push_back(use_record());
    }
    // A report leaves only after it is durable. Otherwise the run after a crash could draw a second report of a
    // record whose first one was seen, and spend its budget again.
    store_.commit();
    std::string text;
    for (const RecordName& name : names) {
      text += store_.report(name);
      text += '\n';
    }
    NUSTREAM_FAILPOINT("before-show-reports");
    const auto write = [&](std::string_view bytes) { output.write(bytes); };
    NUSTREAM_TORN_WRITE("during-show-reports", std::string_view(text), write);
    counts_.sent += names.size();
    return more && signal == 0;
  }

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  [[nodiscard]] const inference::LocalMechanism& mechanism() const noexcept { return mechanism_; }

 private:
  RecordName use_record() {
    const RecordName name = name_record();
    if (store_.contains(name)) {
      ++counts_.again;
    } else {
      store_.add(name, draw());
    }
    return name;
  }

  /// Names the record. One without a readable key gets a report like any other, as if it were nobody's: a missing
  /// report would show which record it is.
  RecordName name_record() {
    if (!by_key_) return name_of_position(reader_.ordinal());
    if (const std::optional<std::string_view> key = reader_.key()) return name_of_key(*key);
    ++counts_.nameless;
    reader_.forget();
    return name_of_line(reader_.line(), nameless_[name_of_line(reader_.line(), 0)]++);
  }

  std::string draw() {
    // Fresh bits of the kernel for this report alone; randomize() wipes them.
    secrets::fill_random({reinterpret_cast<std::uint8_t*>(words_.data()), words_.size() * sizeof(std::uint64_t)});
    const inference::Projected projected = mechanism_.randomize(reader_.x(), reader_.y(), words_, numbers_);
    if (!reader_.usable()) ++counts_.unusable;
    if (projected.features) ++counts_.features;
    if (projected.label && reader_.usable()) ++counts_.labels;
    // The id is random and tells nothing of the record; it only lets the collector count a repeated report once.
    ReportId id{};
    secrets::fill_random(id);
    return format_.encode(id, numbers_);
  }

  inference::LocalMechanism mechanism_;
  ReportFormat format_;
  RecordReader reader_;
  bool by_key_;
  std::map<RecordName, std::uint64_t> nameless_;  // how often each line without a key came
  std::unique_ptr<journal::Disk> disk_ = journal::posix_disk();
  ReportStore store_;
  std::vector<std::uint64_t> words_;
  std::vector<std::int64_t> numbers_;
  Counts counts_;
};

void print_summary(const Randomizer& randomizer, const Settings& settings) {
  const Counts& counts = randomizer.counts();
  const inference::LocalNoise& noise = randomizer.mechanism().noise();
  fmt::print(
      stderr,
      "nustream: {} reports, {} of them kept from before; each costs its record epsilon {:.6g} at delta {:.3g}; "
      "noise {:.6g} on x xᵀ, {:.6g} on x(y - {:.6g})\n",
      counts.sent, counts.again, randomizer.mechanism().epsilon().value(), settings.budget.delta.value(),
      noise.second_moment.value(), noise.cross_moment.value(), settings.bounds.label_centre);
  const auto note = [](std::uint64_t count, const char* what) {
    if (count > 0) fmt::print(stderr, "nustream: {} {}\n", count, what);
  };
  note(counts.nameless, "records without a readable key in local.record_key, reported as null");
  note(counts.unusable, "unusable records, reported as null");
  note(counts.features, "records whose features were beyond the bounds, and scaled");
  note(counts.labels, "records whose label was beyond the bounds, and moved to them");
}

}  // namespace

Exit randomize(const Settings& settings, const RandomizeOptions& options) {
  secrets::harden_process();
  const std::atomic<int>& signal = console::watch_signals();
  Randomizer randomizer(settings);
  const Output output(options.output);
  while (randomizer.run_batch(output, signal)) {
  }
  if (!options.quiet) print_summary(randomizer, settings);
  if (signal != SIGINT) return Exit::done;
  fmt::print(stderr, "nustream: interrupted; every report is kept: the same command sends the same ones again\n");
  return Exit::interrupted;
}

}  // namespace nustream::local
