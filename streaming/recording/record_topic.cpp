// The command: it asks what the topic is like, opens or makes every partition's file, and then records with one
// thread for each (partition_recorder.h). Starts and stops are resolved once, before the first record, and written
// into the headers (docs/formats/segment.md), so that a resumed recording does not depend on when it was resumed.
#include "recording/record_topic.h"

#include <atomic>
#include <csignal>
#include <exception>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "console/signals.h"
#include "decode/segment_rows.h"
#include "kafka/interruption.h"
#include "kafka/partition_reader.h"
#include "kafka/place_offset.h"
#include "kafka/topic_checks.h"
#include "publish/json_writer.h"
#include "recording/partition_recorder.h"
#include "recording/segment_writer.h"
#include "secrets/locked_memory.h"

namespace nustream::recording {
namespace {

namespace fs = std::filesystem;

// Settings of each partition's client: queues long enough that fetching never pauses, and bounded for where the disk
// is slower than the network.
constexpr const char* queued_messages = "1000000";
constexpr const char* queued_kilobytes = "65536";

kafka::ClientSettings client_of(const config::Kafka& settings) {
  kafka::ClientSettings client{settings.brokers, settings.properties};
  client.properties.try_emplace("queued.min.messages", queued_messages);
  client.properties.try_emplace("queued.max.messages.kbytes", queued_kilobytes);
  // A fetch waits for this long where no record comes, which is about the time after which a signal is noticed.
  client.properties.try_emplace("fetch.wait.max.ms", "100");
  return client;
}

fs::path file_of(const std::string& folder, std::uint32_t partition) {
  return fs::path(folder) / fmt::format("partition-{}.segment", partition);
}

kafka::TopicPartition partition_of(const config::Kafka& settings, std::uint32_t partition) {
  return {settings.topics.input, kafka::PartitionIndex{static_cast<std::int32_t>(partition)}};
}

// --- before anything is recorded ---------------------------------------------------------------------------------

/// Returns the number of the topic's partitions. Where times decide what is recorded, it checks that they may be
/// public: with the broker's own times they are, but a producer's times are data.
std::uint32_t check_topic(const config::Config& config, kafka::TopicChecks& checks) {
  const config::Kafka& settings = config.kafka;
  const kafka::Deadline deadline = kafka::in(settings.give_up);
  const auto refuse = [&](const std::string& what) {
    throw Failure(Exit::configuration, fmt::format("topic '{}' (kafka.topic) {}", settings.topics.input, what));
  };
  const auto is_time = [](const config::Place& place) { return std::holds_alternative<config::AtTime>(place); };
  const bool by_time = is_time(settings.start) || (settings.stop && is_time(*settings.stop));
  std::optional<std::int32_t> partitions;
  // Only here does it matter whose times they are, and only then the right to read the topic's configuration is
  // needed.
  if (by_time && !config.input.times_public) {
    const std::optional<kafka::TopicDescription> topic = checks.describe(settings.topics.input, deadline);
    if (topic && topic->message_timestamp_type != "LogAppendTime") {
      refuse(
          "keeps the producers' times: a start or stop by time would tell of them; give an offset, or declare them "
          "public with stream.times_public = true");
    }
    if (topic) partitions = topic->partitions;
  } else {
    partitions = checks.partitions(settings.topics.input, deadline);
  }
  const auto count = static_cast<std::uint32_t>(partitions.value_or(0));
  if (count == 0) refuse("does not exist: check its name");
  if (count > settings.lanes_max) {
    refuse(fmt::format("has {} partitions, each of which takes a client: raise kafka.max_lanes = {}", count,
                       settings.lanes_max));
  }
  return count;
}

/// Makes or opens the files of the folder, all of them before the first record is read.
class Folder {
 public:
  Folder(const config::Config& config, const Options& options)
      : config_(config), options_(options), disk_(journal::posix_disk()) {
    disk_->make_folder(options.folder);
    disk_->require_trusted(options.folder);  // because a replay takes what is in the folder for what the topic held
    lock_ = lock();
  }

  /// A writer for each partition. An existing file goes on from its end, and a missing one is made with its header.
  std::vector<SegmentWriter> writers(std::uint32_t partitions, const std::string& cluster) {
    check_empty(partitions);
    kafka::ClientSettings asking = client_of(config_.kafka);
    asking.cancelled = &console::signalled();
    kafka::PartitionReader reader(asking, kafka::Isolation::read_committed, config_.kafka.group);
    std::vector<SegmentWriter> writers;
    for (std::uint32_t partition = 0; partition < partitions; ++partition) {
      const fs::path path = file_of(options_.folder, partition);
      writers.push_back(fs::exists(path) ? go_on(path, partition, cluster)
                                         : SegmentWriter::create(*disk_, path, header(partition, cluster, reader)));
    }
    return writers;
  }

 private:
  /// The folder's lock, with a message about recordings.
  std::unique_ptr<journal::Lock> lock() {
    try {
      return disk_->lock(fs::path(options_.folder) / "lock");
    } catch (const Failure& failure) {
      if (failure.code() != Exit::locked) throw;
      throw Failure(Exit::locked,
                    options_.folder + ": another run records to it; wait for it or name another folder");
    }
  }

  /// Refuses a folder that holds a recording, unless it is resumed: a recording is never written over, nor made
  /// beside an older one.
  void check_empty(std::uint32_t partitions) const {
    if (options_.resume) return;
    for (std::uint32_t partition = 0; partition < partitions; ++partition) {
      if (!fs::exists(file_of(options_.folder, partition))) continue;
      throw Failure(Exit::data, options_.folder +
                                    ": holds a recording; go on with it by --resume, or name another "
                                    "folder");
    }
  }

  SegmentWriter go_on(const fs::path& path, std::uint32_t partition, const std::string& cluster) {
    // The header is read first: a file of another topic is refused by its name before all of it is read.
    const decode::SegmentHeader header = decode::segment_header({.files = {path.string()}});
    // A broker may not tell its cluster's id. Where one of the two is unknown, it proves nothing.
    const bool same = header.topic == config_.kafka.topics.input && header.partition == partition &&
                      (header.cluster.empty() || cluster.empty() || header.cluster == cluster);
    if (!same) {
      throw Failure(Exit::data, fmt::format("{}: is a recording of partition {} of '{}' in cluster '{}', and not of "
                                            "this one; name another folder",
                                            path.string(), header.partition, header.topic, header.cluster));
    }
    return SegmentWriter::resume(*disk_, path);
  }

  decode::SegmentHeader header(std::uint32_t partition, const std::string& cluster, kafka::PartitionReader& reader) {
    const config::Kafka& settings = config_.kafka;
    const kafka::TopicPartition place = partition_of(settings, partition);
    const kafka::Deadline deadline = kafka::in(settings.give_up);
    decode::SegmentHeader header{.topic = settings.topics.input, .cluster = cluster, .partition = partition};
    header.start = kafka::place_offset(settings.start, reader, place, deadline);
    // A stop before the start would be an empty recording: it ends where it begins.
    if (settings.stop)
      header.stop = std::max(header.start, kafka::place_offset(*settings.stop, reader, place, deadline));
    return header;
  }

  const config::Config& config_;
  const Options& options_;
  std::unique_ptr<journal::Disk> disk_;
  std::unique_ptr<journal::Lock> lock_;
};

// --- recording ---------------------------------------------------------------------------------------------------

/// Records with a thread for each partition, until all are done, one fails or a signal comes. Throws the first
/// failure.
void record_all(const config::Kafka& settings, std::vector<SegmentWriter>& writers, const std::atomic<int>& signal) {
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> running = writers.size();
  // Each thread writes its own place. They are read after all threads have ended.
  std::vector<std::exception_ptr> failures(writers.size());
  std::vector<std::jthread> threads;
  const auto record = [&](std::size_t i) {
    try {
      const kafka::TopicPartition place = partition_of(settings, static_cast<std::uint32_t>(i));
      PartitionRecorder({client_of(settings), settings.group, place, settings.give_up}, writers[i]).run(stop);
    } catch (...) {
      failures[i] = std::current_exception();
      // One failure ends the recording of all partitions. The others end their files in order.
      stop = true;
    }
    --running;
  };
  try {
    for (std::size_t i = 0; i < writers.size(); ++i) threads.emplace_back(record, i);
  } catch (...) {
    stop = true;  // the threads that run end soon, and jthread waits for them
    throw;
  }
  // The main thread only waits for signals: a handler sets `signal`, and the threads see `stop` between two slices.
  while (running > 0) {
    if (signal != 0) stop = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // Joined here, so that every failure is in its place.
  threads.clear();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

/// Whether the stop was reached, which a file that was ended by a signal has not.
bool is_finished(const SegmentWriter& writer) {
  const decode::SegmentHeader& header = writer.header();
  return header.stop.has_value() && writer.next() >= *header.stop;
}

void print_json(const Options& options, const std::vector<SegmentWriter>& writers) {
  std::string text;
  publish::JsonWriter json(text);
  {
    const auto array = json.array();
    for (const SegmentWriter& writer : writers) {
      const decode::SegmentHeader& header = writer.header();
      const auto object = json.object();
      json.field("partition", header.partition);
      json.field("start", header.start);
      json.field("next", writer.next());
      json.field("records", writer.records());
      json.field("bytes", writer.bytes());
      json.field("finished", is_finished(writer));
      json.field("file", file_of(options.folder, header.partition).string());
    }
  }
  fmt::print("{}\n", text);
}

void print(const Options& options, const std::vector<SegmentWriter>& writers) {
  if (options.json) return print_json(options, writers);
  for (const SegmentWriter& writer : writers) {
    const decode::SegmentHeader& header = writer.header();
    fmt::print("partition {}: {} records, offsets {} to {}, {} bytes in {}\n", header.partition, writer.records(),
               header.start, writer.next(), writer.bytes(), file_of(options.folder, header.partition).string());
  }
}

}  // namespace

Exit run(const config::Config& config, const Options& options) try {
  secrets::harden_process();
  const std::atomic<int>& signal = console::watch_signals();
  if (config.kafka.brokers.empty()) {
    throw Failure(Exit::configuration, config.file + ": kafka.brokers is missing; set it, or name them with -b");
  }
  kafka::check_properties(config.kafka, config.file);
  kafka::ClientSettings asking = client_of(config.kafka);
  asking.cancelled = &console::signalled();
  kafka::TopicChecks checks(asking);
  // Asked before the folder is made, so that a topic that is missing leaves no folder behind.
  const std::uint32_t partitions = check_topic(config, checks);
  Folder folder(config, options);
  std::vector<SegmentWriter> writers = folder.writers(partitions, checks.cluster(kafka::in(config.kafka.give_up)));
  record_all(config.kafka, writers, signal);
  print(options, writers);
  // SIGTERM asks for an end in order, and gets exit code 0.
  if (signal != SIGINT) return Exit::done;
  fmt::print(stderr, "nustream: interrupted; everything so far is recorded; go on with --resume\n");
  return Exit::interrupted;
} catch (const kafka::Cancelled&) {
  // A signal came while the command waited for brokers; nothing was begun.
  return console::watch_signals() == SIGINT ? Exit::interrupted : Exit::done;
}

}  // namespace nustream::recording
