// Reads records for a dry run, from files or from a topic. A topic is read by assigned partitions, without a group,
// so that a look moves no offset and disturbs no lane.
#include "check/look.h"

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "check/times.h"
#include "decode/message_decoder.h"
#include "decode/one_line_files.h"
#include "decode/reader.h"
#include "error.h"
#include "kafka/message.h"
#include "kafka/partition_reader.h"
#include "kafka/place_offset.h"
#include "kafka/topic_checks.h"

namespace nustream::check {
namespace {

/// Offsets [from, end) of one partition.
struct Offsets {
  std::int64_t from;
  std::int64_t end;
};

/// The offsets of a partition that may be looked at.
Offsets offsets_of(const config::Config& config, kafka::PartitionReader& reader,
                   const kafka::TopicPartition& partition, kafka::Deadline deadline) {
  const kafka::Watermarks log = reader.watermarks(partition, deadline);
  // A run from "latest" would begin behind everything; the last records are looked at instead.
  if (std::holds_alternative<config::Latest>(config.kafka.start)) return {log.low.value(), log.high.value()};
  const auto start = static_cast<std::int64_t>(place_offset(config.kafka.start, reader, partition, deadline));
  return {std::min(start, log.high.value()), log.high.value()};
}

/// Leaves `records` of all these offsets, or all where they are fewer. Each partition gets an equal share, and more
/// where another partition has less than its share. Offsets at the end are kept with `last`, else those at the
/// beginning.
void share_out(std::vector<Offsets>& partitions, std::int64_t records, bool last) {
  std::vector<Offsets*> by_count;
  for (Offsets& each : partitions) by_count.push_back(&each);
  std::sort(by_count.begin(), by_count.end(),
            [](const Offsets* a, const Offsets* b) { return a->end - a->from < b->end - b->from; });
  auto left = static_cast<std::int64_t>(by_count.size());
  for (Offsets* const each : by_count) {
    // The partitions come in rising size, so what a small one leaves is shared by all that follow.
    const std::int64_t taken = std::min(each->end - each->from, (records + left - 1) / left);
    (last ? each->from : each->end) = last ? each->end - taken : each->from + taken;
    records -= taken;
    --left;
  }
}

/// Notes the record as an example where it brought a reject whose reason has no example yet.
void note_example(const config::Config& config, const kafka::Message& message, const record::RowBatch& rows,
                  std::size_t rejects_before, std::map<std::string, std::string>& examples) {
  if (rows.rejects.size() == rejects_before) return;
  const record::Reject& reject = rows.rejects.back();
  if (examples.contains(reject.reason)) return;
  const std::string place =
      fmt::format("partition {}, offset {}", message.partition.value(), reject.position.value());
  decode::SeenLine seen;
  if (message.record.value) seen.text = *message.record.value;
  config::InputSettings input = config.input;
  input.header = false;  // a message has no header line: stream.columns names its fields
  examples.emplace(reject.reason, example_of(reject.reason, place, seen, input, config.schema));
}

}  // namespace

std::string look_at_files(const config::Config& config, std::optional<std::uint64_t> records, DataCheck& check) {
  decode::InputSettings input = config.input;
  input.may_show_header = true;
  input.longest = std::make_shared<config::LongestRecord>();
  const std::uint64_t first = decode::first_position(input);
  input.from = first;
  if (records) input.to = first + *records;
  const record::Schema schema = check.schema_of_lane({});
  const auto reader = decode::open_reader(input, schema);
  record::RowBatch rows;
  rows.dimension = check.schema().dimension();
  for (bool more = true; more;) {
    more = reader->read(rows, check.rows_together());
    check.take(rows);
  }
  if (!records) check.note_end_of_input();
  check.note_long_record(*input.longest);
  check.members() = decode::first_members(input);
  check.note_first_records(reader->first_records());
  check.note_times(odd_times(config.input, config.schema, reader->first_records()));
  check.note_files(decode::files_of_one_line(input, config.schema));
  std::string source = records ? "the first of " : "";
  for (std::size_t i = 0; i < input.files.size(); ++i) source += (i == 0 ? "" : ", ") + input.files[i];
  return source;
}

std::string look_at_topic(const config::Config& config, std::uint64_t records, DataCheck& check,
                          std::map<std::string, std::string>& examples) {
  const config::Kafka& settings = config.kafka;
  const kafka::ClientSettings client{settings.brokers, settings.properties};
  const std::chrono::milliseconds patience = settings.person_gives_up();
  const std::string& topic = settings.topics.input;
  const std::int32_t partitions = kafka::TopicChecks(client).partitions(topic, kafka::in(patience)).value_or(0);
  if (partitions == 0) {
    throw Failure(Exit::configuration,
                  "topic '" + topic +
                      "' (kafka.topic) does not exist: check its name (nustream topics CONFIG shows "
                      "what is there)");
  }
  const decode::InputSettings input = config.input;
  decode::MessageBatch one;
  record::RowBatch rows;
  rows.dimension = check.schema().dimension();
  kafka::PartitionReader reader(client, kafka::Isolation::read_committed, settings.group);
  const auto lanes = static_cast<std::uint32_t>(partitions);
  const std::size_t together = check.rows_together();
  std::vector<Offsets> offsets;
  for (std::int32_t p = 0; p < partitions; ++p) {
    offsets.push_back(offsets_of(config, reader, {topic, kafka::PartitionIndex{p}}, kafka::in(patience)));
  }
  share_out(offsets, static_cast<std::int64_t>(records), std::holds_alternative<config::Latest>(settings.start));
  for (std::int32_t p = 0; p < partitions; ++p) {
    const kafka::TopicPartition place{topic, kafka::PartitionIndex{p}};
    const auto [from, end] = offsets[static_cast<std::size_t>(p)];
    decode::MessageDecoder decoder(input, check.schema_of_lane({LaneId{static_cast<std::uint32_t>(p)}, lanes}));
    reader.read_patiently(place, kafka::Offset{from}, kafka::Offset{end}, patience,
                          [&](const kafka::Message& message) {
                            const bool names_fields = has_members(input) && message.record.value.has_value();
                            if (names_fields && !check.members().is_full())
                              check.members().add(*message.record.value);
                            one.clear();
                            add_to(one, message, true);
                            const std::size_t rejects_before = rows.rejects.size();
                            decoder.decode(one.messages(), rows);
                            note_example(config, message, rows, rejects_before, examples);
                            if (rows.count() >= together) check.take(rows);
                          });
    check.take(rows);  // an offset identifies a record within one partition only, so this partition's rows end here
  }
  return fmt::format("topic '{}', {} {}", topic, partitions, partitions == 1 ? "partition" : "partitions");
}

}  // namespace nustream::check
