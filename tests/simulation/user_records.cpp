#include "user_records.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "decode/message_decoder.h"
#include "user_windows.h"

namespace nustream::tests {
namespace {

constexpr const char* the_other = "9";

std::string features_of(std::mt19937_64& random, std::size_t features, double length) {
  std::normal_distribution<double> normal;
  std::string text;
  for (std::size_t j = 0; j < features; ++j) {
    text += fmt::format("{}{:.4g}", j == 0 ? "" : ",", length * normal(random));
  }
  return text;
}

std::string target_of(std::mt19937_64& random, const WorldOfUsers& world, double length) {
  if (world.is_label) return random() % 2 == 0 ? "1" : "0";
  return fmt::format("{:.4g}", length * std::normal_distribution<double>()(random));
}

}  // namespace

std::vector<Fields> draw_records(const WorldOfUsers& world, std::mt19937_64& random, bool hostile) {
  const std::size_t count = static_cast<std::size_t>(world.steps * world.minibatch());
  const std::vector<double> times = some_times(random, count);
  const std::string far = features_of(random, world.features, 1e3);
  std::vector<Fields> records;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t who = hostile && random() % 8 != 0 ? 1 : random() % 5;
    const double length = random() % 6 == 0 ? 30 : 1;
    Fields fields{features_of(random, world.features, length), who == 0 ? "" : std::to_string(who),
                  target_of(random, world, 2), times[i]};
    if (hostile && who == 1) {
      fields.x = far;
      fields.y = world.is_label ? "1" : "1e7";
    } else if (random() % 20 == 0) {
      fields.y = "n/a";
    }
    records.push_back(std::move(fields));
  }
  return records;
}

Fields in_its_place(const WorldOfUsers& world, Fields record, std::mt19937_64& random, bool opposite) {
  if (world.settings->config.privacy.adjacency == privacy::Adjacency::zero_out || random() % 6 == 0) {
    switch (random() % 3) {
      case 0:
        record.who = random() % 2 == 0 ? "" : "0";
        break;
      case 1:
        record.y = "?";
        break;
      default:
        record = {std::string(world.features - 1, ','), random() % 2 == 0 ? "" : the_user, "", record.when};
    }
    return record;
  }
  record.who = the_other;
  if (opposite) {
    record.y = world.is_label ? "0" : "-" + record.y;
  } else {
    record.x = features_of(random, world.features, 2);
    record.y = target_of(random, world, 2);
  }
  return record;
}

record::RowBatch rows_of(const WorldOfUsers& world, const std::vector<Fields>& records) {
  record::RowBatch rows;
  rows.dimension = world.settings->config.schema.dimension();
  decode::MessageDecoder decoder(world.settings->config.input, world.settings->config.schema);
  std::vector<std::string> texts;
  for (const Fields& fields : records) texts.push_back(fields.text());
  decode::MessageBatch batch;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    decode::Message message;
    message.offset = i;
    message.value = texts[i];
    if (!std::isnan(records[i].when)) {
      message.time_kind = decode::TimeKind::producer;
      message.milliseconds = std::llround(1000 * (1e6 + records[i].when));
    }
    batch.add(message);
  }
  decoder.decode(batch.messages(), rows);
  rows.rejects.clear();
  return rows;
}

}  // namespace nustream::tests
