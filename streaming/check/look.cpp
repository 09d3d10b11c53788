#include "check/look.h"

#include <algorithm>
#include <memory>
#include <variant>

#include <fmt/format.h>

#include "decode/message_decoder.h"
#include "decode/reader.h"
#include "error.h"
#include "kafka/message.h"
#include "kafka/partition_reader.h"
#include "kafka/place_offset.h"
#include "kafka/topic_checks.h"

namespace nustream::check {
namespace {

constexpr std::size_t rows_per_look = 2048;

/// The offsets [first, second) of one partition to look at: at most `records` of them.
std::pair<kafka::Offset, kafka::Offset> offsets_of(const config::Config& config, kafka::PartitionReader& reader,
                                                   const kafka::TopicPartition& partition, std::int64_t records,
                                                   kafka::Deadline deadline) {
  const kafka::Watermarks log = reader.watermarks(partition, deadline);
  if (std::holds_alternative<config::Latest>(config.kafka.start)) {
    return {kafka::Offset{std::max(log.low.value(), log.high.value() - records)}, log.high};
  }
  const auto start = static_cast<std::int64_t>(place_offset(config.kafka.start, reader, partition, deadline));
  const std::int64_t from = std::min(start, log.high.value());
  return {kafka::Offset{from}, kafka::Offset{std::min(log.high.value(), from + records)}};
}

}  // namespace

std::string look_at_files(const config::Config& config, std::optional<std::uint64_t> records, DataCheck& check) {
  decode::InputSettings input = config.input;
  input.may_show_header = true;
  const std::uint64_t first = decode::first_position(input);
  input.from = first;
  if (records) input.to = first + *records;
  const auto reader = decode::open_reader(input, check.schema());
  record::RowBatch rows;
  rows.dimension = check.schema().dimension();
  for (bool more = true; more;) {
    more = reader->read(rows, rows_per_look);
    check.take(rows);
  }
  check.members() = decode::first_members(input);
  std::string source = records ? "the first of " : "";
  for (const std::string& file : input.files) source += (file == input.files.front() ? "" : ", ") + file;
  return source;
}

std::string look_at_topic(const config::Config& config, std::uint64_t records, DataCheck& check) {
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
  const auto of_each = static_cast<std::int64_t>((records + static_cast<std::uint64_t>(partitions) - 1) /
                                                 static_cast<std::uint64_t>(partitions));
  decode::InputSettings input = config.input;
  decode::MessageDecoder decoder(input, check.schema());
  decode::MessageBatch one;
  record::RowBatch rows;
  rows.dimension = check.schema().dimension();
  kafka::PartitionReader reader(client, kafka::Isolation::read_committed, settings.group);
  for (std::int32_t p = 0; p < partitions; ++p) {
    const kafka::TopicPartition place{topic, kafka::PartitionIndex{p}};
    const auto [from, end] = offsets_of(config, reader, place, of_each, kafka::in(patience));
    reader.read_patiently(place, from, end, patience, [&](const kafka::Message& message) {
      const bool is_json = input.format == config::Format::json_lines && message.record.value.has_value();
      if (is_json && !check.members().is_full()) check.members().add(*message.record.value);
      one.clear();
      add_to(one, message, true);
      decoder.decode(one.messages(), rows);
      if (rows.count() >= rows_per_look) check.take(rows);
    });
    check.take(rows);  // an offset tells records apart within one partition only, so that its rows end here
  }
  return fmt::format("topic '{}', {} {}", topic, partitions, partitions == 1 ? "partition" : "partitions");
}

}  // namespace nustream::check
