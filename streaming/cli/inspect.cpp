// `nustream inspect`: opens what a lane has committed, checks it against its ledger, releases and witness, and shows
// it. Nothing is locked, taken over or written, so that it can be used while a run goes on; the order in which files
// are read takes that into account. How it is printed is in inspect_text.cpp and inspect_json.cpp.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "attach/edit_users.h"
#include "attach/lane_past.h"
#include "check/tally.h"
#include "cli/commands.h"
#include "cli/inspected.h"
#include "config/ranges.h"
#include "console/operator_counts.h"
#include "engine/seal_batch.h"
#include "folder/user_edits.h"
#include "journal/file_journal.h"
#include "journal/folder_witness.h"
#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "journal/outbox_folder.h"
#include "journal/state_record.h"
#include "kafka/client_settings.h"
#include "kafka/kafka_journal.h"
#include "kafka/lane_checks.h"
#include "kafka/topic_checks.h"
#include "located.h"
#include "publish/release_json.h"
#include "report/report.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"
#include "secrets/key_place.h"
#include "secrets/locked_memory.h"
#include "serve/committed.h"
#include "serve/history.h"

namespace nustream::cli {
namespace {

/// The content of the state file. Where there is none, the failure says what else the operator may have meant.
std::string read_whole(const journal::Disk::Path& path, journal::Disk& disk) {
  const auto file = disk.open(path, journal::Access::read);
  if (!file) {
    throw Failure(Exit::data, path.string() +
                                  ": there is no state here; name a state folder, or the configuration of a "
                                  "stream whose state.directory is right, seen from the folder where this "
                                  "runs");
  }
  std::string bytes(file->size(), '\0');
  bytes.resize(file->read(0, bytes));
  return bytes;
}

/// Checks that the file still begins with what the state says was published before it.
void require_published(journal::Disk& disk, const journal::Disk::Path& path, const journal::Extent& published) {
  const auto file = disk.open(path, journal::Access::read);
  journal::RunningHash hash;
  std::string chunk(std::size_t{1} << 16, '\0');
  for (std::uint64_t offset = 0; offset < published.length;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(chunk.size(), published.length - offset);
    const std::size_t got = file ? file->read(offset, std::span(chunk).first(wanted)) : 0;
    if (got == 0) {
      throw Failure(Exit::data,
                    path.string() + " is shorter than the state says: it lost lines; restore it as it was");
    }
    hash.add(std::string_view(chunk).substr(0, got));
    offset += got;
  }
  // Of an empty beginning there is nothing to compare.
  if (published.length > 0 && hash.value() != published.hash) {
    throw Failure(Exit::data,
                  path.string() + " was changed: it is not what the state says was published; restore it as it was");
  }
}

/// The keys that the arguments name. A seed takes the place of the file.
secrets::Keyring load_keys(const InspectArguments& arguments, const std::string& key_file) {
  if (arguments.insecure_seed) return secrets::Keyring::insecure(*arguments.insecure_seed);
  return with_advice(Exit::permission,
                     "--key-file names another one, --insecure-seed the seed of a run without a key",
                     [&] { return secrets::load_key_file(key_file); });
}

/// The folder's witness, at the place that `key` and `witness` name, or else at the folder's own.
journal::FolderWitness witness_of(const std::filesystem::path& folder, const secrets::KeySettings& key,
                                  const std::string& witness, const secrets::StateIdentity& identity,
                                  const secrets::Keyring& keys) {
  const std::filesystem::path key_file = secrets::key_file_of(folder, identity.stream, key);
  return {journal::witness_settings(witness, key_file, folder, key.directory, identity.stream, identity.lane), keys};
}

/// Asks the witness. An unbelievable witness is reported, and the state is shown all the same.
void find_witness(journal::FolderWitness& witness, const journal::State& state) try {
  witness.find(state.record.account, &state);
} catch (const Failure& failure) {
  fmt::print(stderr, "nustream: warning: {}; more may have been spent than is shown\n", failure.what());
}

/// Warns where the witness tells of more than the folder holds. What is shown is then too little, and is shown all
/// the same.
void warn_of_older(const std::filesystem::path& folder, const journal::FolderWitness& witness,
                   const journal::State& state, journal::Disk& disk) {
  if (witness.is_held_by(disk, state.identity.epoch, state.identity.steps, state.record)) return;
  fmt::print(
      stderr,
      "nustream: warning: {}: holds an older state than the last one that was committed ({}, as {} tells): more "
      "was spent than is shown\n",
      folder.string(), witness.told(), witness.file().string());
}

/// The limits of the present epoch's users.
const users::Limits& limits_of(const journal::Ledger& ledger, const std::string& place) {
  if (ledger.epochs.empty() || !ledger.epochs.back().user)
    throw Failure(Exit::data, place + ": its unit is the record, which has no users; leave out --users");
  return ledger.epochs.back().user->limits;
}

/// Notes how many records the epoch has read, and how many of them could not be used.
void count_records(const journal::StateRecord& record, Inspected& report) {
  report.rejected = record.rejected;
  report.records = record.position.value() - record.start.value();
}

/// Prints on standard error how many records were unusable, even where nothing else is shown: an answer that is only
/// noise looks like any other answer.
void say_what_was_unusable(const Inspected& report, const std::string& place) {
  const std::string line = check::unusable_of_epoch(report.rejected, report.records);
  if (!line.empty()) console::say_for_operator(fmt::format("{}: {}", place, line));
}

/// Reads a state folder. Where `key_file` or `witness` is empty, the folder's own is used.
Inspected read_folder(const InspectArguments& arguments, const std::filesystem::path& folder,
                      const secrets::KeySettings& key, const std::string& witness) {
  const auto disk = journal::posix_disk();
  disk->require_trusted(folder);
  const std::filesystem::path releases = folder / journal::folder_files::releases;
  // The release is read before the state. If a run goes on meanwhile, the state may then know of more spend than the
  // release, but never of less.
  const std::string last_release = journal::last_line(*disk, releases);
  const std::string sealed = read_whole(folder / journal::folder_files::state, *disk);
  // What the header claims is enough to find the key; the state is believed once it opens under it.
  const secrets::StateIdentity claimed = located(folder.string(), [&] { return secrets::read_identity(sealed); });
  const std::string key_file = secrets::key_file_of(folder, claimed.stream, key).string();
  const secrets::Keyring keys = load_keys(arguments, key_file);
  const auto opened = [&](const std::string& bytes) {
    return located(folder.string(), [&] { return journal::open_state(keys, bytes); });
  };
  // The witness is read before the state is read again. If a run goes on meanwhile, the witness may then be behind
  // the state, but never ahead of it.
  journal::FolderWitness seen = witness_of(folder, key, witness, claimed, keys);
  // A run under an insecure seed keeps no witness.
  if (claimed.is_private) find_witness(seen, opened(sealed));
  const journal::State state = opened(read_whole(folder / journal::folder_files::state, *disk));
  require_published(*disk, releases, journal::decode_bookmark(state.record.bookmark).releases);
  Inspected report{state.identity, state.record.position,
                   journal::read_committed_ledger(*disk, folder, keys, state.record), last_release,
                   secrets::to_hex(keys.public_key())};
  // Lines of the ledger may pay for steps that were never taken; the state knows how many were.
  journal::settle(report.ledger, state.record);
  count_records(state.record, report);
  // A seed stands in for the key, and no file belongs to it.
  if (!arguments.insecure_seed) report.key_file = key_file;
  if (arguments.users) {
    report.users = folder::count_users(*disk, folder, state, limits_of(report.ledger, folder.string()));
  }
  if (seen.found()) report.witness_file = seen.file().string();
  warn_of_older(folder, seen, state, *disk);
  // A crash may have torn the last line, which the next run cuts.
  if (!report.last_release.empty() && !publish::read_release(report.last_release)) {
    throw Failure(Exit::data, releases.string() +
                                  ": its last line is no release; replay --resume tells whether a crash left it so");
  }
  return report;
}

/// Reads the lanes of a topic that have a state, from committed records. It takes no lane over and writes nothing.
std::vector<std::pair<std::string, Inspected>> read_topics(const InspectArguments& arguments,
                                                           const config::Config& config,
                                                           const std::string& key_file) {
  const config::Kafka& kafka = config.kafka;
  const secrets::Keyring keys = load_keys(arguments, key_file);
  kafka::check_properties(kafka, config.file);
  const kafka::ClientSettings client{kafka.brokers, kafka.properties};
  const auto soon = [&] { return kafka::in(kafka.person_gives_up()); };
  const std::atomic<bool> cancelled = false;
  kafka::PartitionReader reader(client, kafka::Isolation::read_uncommitted, kafka.group);
  std::vector<std::pair<std::string, Inspected>> reports;
  const std::int32_t lanes = kafka::TopicChecks(client).partitions(kafka.topics.input, soon()).value_or(0);
  for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(lanes); ++lane) {
    const kafka::LanePlace place{config.stream, LaneId{lane}, kafka.group, kafka.topics};
    const kafka::Offset end = reader.watermarks(place.in(kafka.topics.state), soon()).high;
    const auto sealed = kafka::read_state(client, place, end, soon());
    // A lane that nobody has opened yet has no state, and is not shown.
    if (!sealed) continue;
    const journal::State state = journal::open_state(keys, *sealed);
    const kafka::Offset from = kafka::decode_bookmark(state.record.bookmark).releases_from;
    kafka::LaneChecks checks(client, place, keys, kafka.transaction, cancelled);
    const auto last = checks.last_published(kafka::Offset{std::max<std::int64_t>(from.value() - 1, 0)});
    Inspected report{state.identity, state.record.position, engine::ledger_of(state.record), last ? last->text : "",
                     secrets::to_hex(keys.public_key())};
    count_records(state.record, report);
    if (arguments.users) {
      report.users = attach::count_users(config, client, place, keys, limits_of(report.ledger, place.name()));
    }
    if (arguments.chart) report.past = attach::read_past(client, place, kafka.person_gives_up(), cancelled);
    reports.emplace_back(place.name(), std::move(report));
  }
  return reports;
}

/// Draws the path of the folder's last epoch. Its releases are in the folder, so that no reader of a topic is asked.
void print_chart_of_folder(const Inspected& report, const std::string& folder) {
  serve::History history{StepCount{1}};
  report::add_history(std::filesystem::path(folder) / journal::folder_files::releases, report.last_release, history);
  print_chart(report.identity.stream, report.last_release, history);
}

/// Draws the path of the lane's epoch, from the releases that every reader of the topic finds.
void print_chart_of_lane(const Inspected& report) {
  const secrets::StateIdentity& identity = report.identity;
  serve::History history{StepCount{1}};
  history.add(serve::CommittedPast::found(identity.lane, identity.epoch, report.past).lines());
  history.add(report.last_release + '\n');
  print_chart(fmt::format("{}, lane {}", identity.stream, identity.lane.value()), report.last_release, history);
}

/// Shows the lanes of an attached stream one after the other; as JSON they are one array.
Exit inspect_topics(const InspectArguments& arguments, const config::Config& config, const std::string& key_file) {
  std::string json;
  for (const auto& [place, report] : read_topics(arguments, config, key_file)) {
    say_what_was_unusable(report, place);
    if (arguments.json) {
      json += json.empty() ? '[' : ',';
      json += to_json(report);
    } else {
      print(report, place);
      if (arguments.chart) print_chart_of_lane(report);
      fmt::print("\n");
    }
  }
  if (arguments.json) fmt::print("{}]\n", json.empty() ? "[" : json);
  return Exit::done;
}

}  // namespace

Exit inspect(const InspectArguments& arguments) {
  secrets::harden_process();
  std::string folder = arguments.place;
  std::string key = arguments.key_file;
  std::string key_directory;
  std::string witness = arguments.witness;
  std::error_code unknown;  // the function that opens the file reports it
  // A file is a configuration. Where it names brokers, the lanes are in topics; else it leads to a folder and its
  // key.
  if (std::filesystem::is_regular_file(arguments.place, unknown)) {
    const std::vector<std::string> typed = overrides_of({arguments.place, {}}, arguments.kafka);
    config::Config config =
        config::read_config_to_measure(arguments.place, typed, config::purpose_of(arguments.place, {}));
    add_properties(arguments.kafka, config.kafka);
    if (key.empty()) key = config.state.key_file;
    if (!config.kafka.brokers.empty() && key.empty() && !arguments.insecure_seed) {
      throw Failure(Exit::configuration, arguments.place +
                                             ": state.key_file is missing, and states in topics open with "
                                             "it alone: set it, or name the key's file with --key-file");
    }
    if (!config.kafka.brokers.empty()) return inspect_topics(arguments, config, key);
    folder = config.state.directory;
    key_directory = config.state.key_directory;
    // What was typed goes before what the configuration says.
    if (witness.empty()) witness = config.state.witness;
  }
  const Inspected report = read_folder(arguments, folder, {key, key_directory}, witness);
  say_what_was_unusable(report, folder);
  if (arguments.json) {
    fmt::print("{}\n", to_json(report));
  } else {
    print(report, folder);
    if (arguments.chart) print_chart_of_folder(report, folder);
  }
  return Exit::done;
}

}  // namespace nustream::cli
