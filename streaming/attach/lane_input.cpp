// Records become rows as they arrive, before it is known in which batch they take their step. Each record below the
// stop becomes exactly one row, usable or not, so that positions and steps follow from offsets alone. Dead letters
// wait in the order of their rejects.
#include "attach/lane_input.h"

#include <algorithm>
#include <utility>

#include "decode/message_columns.h"
#include "kafka/dead_letter.h"

namespace nustream::attach {
namespace {

// The most bytes that all waiting dead letters may hold. A letter that comes beyond that keeps its reason alone,
// without the record's own bytes.
constexpr std::size_t letters_bytes_max = std::size_t{8} << 20;
// The fewest rows that may wait. Where batches are smaller than that, several are decoded at once, which is faster.
constexpr std::size_t rows_min = 1024;

/// Whether any column of the schema is a header. Parsing headers costs time, and most streams have none.
bool reads_headers(const record::Schema& schema) {
  const auto is_header = [](const record::Term& term) { return term.column.starts_with(decode::header_prefix); };
  const auto reads = [&](const record::Feature& feature) {
    return is_header(feature.first) || (feature.second && is_header(*feature.second));
  };
  if (schema.user && schema.user->column.starts_with(decode::header_prefix)) return true;
  return std::any_of(schema.features.begin(), schema.features.end(), reads) ||
         (schema.target && reads(*schema.target)) || (schema.weight && is_header(schema.weight->term)) ||
         (schema.exposure && is_header(schema.exposure->term));
}

/// The schema of the settings. Where it has users, this lane's own `identifiers` read them.
record::Schema schema_of(const config::Config& config, users::Identifiers& identifiers) {
  record::Schema schema = config.schema;
  if (schema.user) schema.user->reader = &identifiers;
  return schema;
}

users::LaneOfUsers lane_of(const config::Config& config, LaneId lane) {
  if (!config.users) return {};
  return {lane, config.users->lanes};
}

std::size_t bytes_of(const journal::DeadLetter& letter) {
  std::size_t bytes = (letter.key ? letter.key->size() : 0) + (letter.value ? letter.value->size() : 0);
  for (const auto& [name, value] : letter.headers) bytes += name.size() + (value ? value->size() : 0);
  return bytes;
}

/// A copy of at most `most` bytes, since the record itself lies in memory of the client library.
std::optional<std::string> copy_of(const std::optional<std::string_view>& bytes, std::size_t most) {
  if (!bytes) return std::nullopt;
  return std::string(bytes->substr(0, most));
}

}  // namespace

LaneInput::LaneInput(const config::Config& config, const secrets::Keyring& keys, LaneId lane,
                     const users::UserKey* user_key, Position position, std::optional<Position> stop,
                     std::size_t letter_bytes_max)
    : config_(config),
      keys_(keys),
      identifiers_(config::partitioner_of(config), lane_of(config, lane)),
      decoder_(config.input, schema_of(config, identifiers_)),
      next_(position.value()),
      stop_(stop ? std::optional(stop->value()) : std::nullopt),
      over_(stop_ && next_ >= *stop_),
      rows_max_(std::min<std::size_t>(config.kafka.buffered_records,
                                      std::max<std::size_t>(config.state.commit_records, rows_min))),
      letter_bytes_max_(letter_bytes_max),
      with_headers_(!config.kafka.topics.dead_letters.empty() || reads_headers(config.schema)) {
  rows_.dimension = decoder_.dimension();
  if (user_key != nullptr) identifiers_.use(*user_key);
}

void LaneInput::take(std::span<const kafka::Message> messages, kafka::SeenRecords& seen) {
  batch_.clear();
  for (const kafka::Message& message : messages) {
    const std::uint64_t offset = message.record.offset;
    // Records may be given twice after a rebalance or a seek (kafka::GroupConsumer). Each takes one step.
    if (over_ || offset < next_) continue;
    if (stop_ && offset >= *stop_) {
      over_ = true;
      continue;
    }
    kafka::add_to(batch_, message, with_headers_);
    next_ = offset + 1;
  }
  // The stop may be right behind the last record taken.
  if (stop_ && next_ >= *stop_) over_ = true;
  if (batch_.count() == 0) return;
  const std::size_t rejects_before = rows_.rejects.size();
  const std::span<const decode::Message> taken = batch_.messages();
  decoder_.decode(taken, rows_);
  seen.add(taken, keys_);
  if (!config_.kafka.topics.dead_letters.empty()) keep_letters(rejects_before);
}

void LaneInput::end_at(std::uint64_t offset) {
  if (stop_ && offset >= *stop_) over_ = true;
}

void LaneInput::keep_letters(std::size_t rejects_before) {
  const std::span<const decode::Message> taken = batch_.messages();
  auto next = taken.begin();
  for (std::size_t i = rejects_before; i < rows_.rejects.size(); ++i) {
    const record::Reject& reject = rows_.rejects[i];
    // Rejects are in the order of their records, so that one pass over the records finds all of them.
    while (next->offset != reject.position.value()) ++next;
    // Beyond the bound on all waiting letters a letter keeps its reason alone.
    journal::DeadLetter letter{reject.position, reject.reason, {}, {}, {}, next->milliseconds};
    if (letter_bytes_ < letters_bytes_max) {
      const std::size_t most = config_.kafka.dead_letter_bytes_max;
      letter.key = copy_of(next->key, most);
      letter.value = copy_of(next->value, most);
      for (const decode::MessageHeader& header : next->headers) {
        letter.headers.emplace_back(std::string(header.name.substr(0, 256)), copy_of(header.value, 1024));
        // As many headers as an operator can look at; a record may have thousands.
        if (letter.headers.size() == 32) break;
      }
    }
    if (!kafka::fit(letter, config_.kafka.topics.input, letter_bytes_max_)) {
      // The reject keeps its place in the queue, so that next_letters() counts rejects.
      letters_.emplace_back();
      continue;
    }
    letter.bytes = bytes_of(letter);
    letter_bytes_ += letter.bytes;
    letters_.emplace_back(std::move(letter));
  }
}

std::vector<journal::DeadLetter> LaneInput::next_letters(std::size_t rejects) {
  std::vector<journal::DeadLetter> letters;
  if (config_.kafka.topics.dead_letters.empty()) return letters;
  for (std::size_t i = 0; i < rejects; ++i) {
    if (letters_.front()) letters.push_back(*std::move(letters_.front()));
    letters_.pop_front();
  }
  return letters;
}

}  // namespace nustream::attach
