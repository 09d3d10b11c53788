// Reads [kafka], [serve] and [log]. Names of topics have defaults made of the stream's name, such as
// "retail.releases", and are checked together, since two that are equal would mix records of different kinds.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "config/read_sections.h"
#include "nustream/record/timestamp.h"

namespace nustream::config {
namespace {

/// Reads an offset, "earliest", "latest" or "end", or an ISO 8601 time.
Place read_place(const Section& kafka, const char* key, const std::string& text, bool is_stop) {
  if (text == "earliest" && !is_stop) return Earliest{};
  if (text == (is_stop ? "end" : "latest")) return Latest{};
  std::uint64_t offset = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
  if (error == std::errc{} && rest == text.data() + text.size()) return AtOffset{offset};
  const auto time = record::parse_timestamp(text);
  if (!time) {
    kafka.refuse(key, is_stop ? R"("end", an offset or an ISO 8601 time)"
                              : R"("earliest", "latest", an offset or an ISO 8601 time)");
  }
  // Kafka counts times in milliseconds.
  return AtTime{static_cast<std::int64_t>(std::llround(time->epoch_seconds * 1000))};
}

/// A place may be written as a number or as a text. Both are read as text from here on.
std::optional<std::string> place_text(const Section& kafka, const char* key) {
  if (kafka.is_count(key)) return std::to_string(*kafka.count(key));
  return kafka.text(key);
}

std::chrono::milliseconds seconds(const Section& section, const char* key, std::chrono::milliseconds fallback) {
  const auto value = section.number(key);
  if (!value) return fallback;
  // The upper bound keeps the milliseconds far from an overflow. The negation refuses NaN as well.
  if (!(*value > 0) || *value > 1e6) section.refuse(key, "a number of seconds > 0");
  return std::chrono::milliseconds(std::llround(*value * 1000));
}

/// Reads the topics. Those for releases, state, ledger and users have defaults; dead letters and the combined model
/// exist only where they are named.
Topics read_topics(const Section& kafka, const std::string& stream, bool of_user) {
  const auto users = kafka.some_text("user_topic");
  return {kafka.text_or_refuse("topic"),
          kafka.some_text("release_topic").value_or(stream + ".releases"),
          kafka.some_text("state_topic").value_or(stream + ".state"),
          kafka.some_text("ledger_topic").value_or(stream + ".ledger"),
          kafka.some_text("dead_letter_topic").value_or(""),
          kafka.some_text("model_topic").value_or(""),
          of_user ? users.value_or(stream + ".users") : std::string()};
}

/// Whether Kafka takes the text as a topic's name; an empty one stands for no topic.
bool is_name_of_topic(std::string_view text) {
  constexpr std::size_t longest = 249;
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return text.size() <= longest && text.find_first_not_of(allowed) == text.npos && text != "." && text != "..";
}

/// Requires that all topics have names that Kafka takes, and differ. Otherwise an unusable record could be written to
/// the release topic, or come back as input. Names that no key sets are made of stream.name, which `stream` is from.
void require_different(const Section& kafka, const Section& stream, const Topics& topics) {
  const std::pair<const char*, const std::string*> named[] = {
      {"topic", &topics.input},       {"release_topic", &topics.releases},
      {"state_topic", &topics.state}, {"ledger_topic", &topics.ledger},
      {"model_topic", &topics.model}, {"dead_letter_topic", &topics.dead_letters},
      {"user_topic", &topics.users}};
  for (auto one = std::begin(named); one != std::end(named); ++one) {
    if (!is_name_of_topic(*one->second)) {
      constexpr const char* allowed = "at most 249 letters, digits, and . _ -, but not . or .. alone";
      if (kafka.has(one->first)) kafka.refuse(one->first, fmt::format("a topic's name: {}", allowed));
      stream.refuse("name",
                    fmt::format("what topics may be called after, since kafka.{0} is not set, and '{1}' is no "
                                "topic's name ({2}): change the name, or set kafka.{0}",
                                one->first, *one->second, allowed));
    }
    // Each pair once.
    for (auto other = std::begin(named); other != one; ++other) {
      if (one->second->empty() || *one->second != *other->second) continue;
      // The key that stands in the file is the one to refuse: nobody finds a topic's default name there.
      const bool is_default = !kafka.text(one->first);
      const auto [key, same] = is_default ? std::pair(other->first, one->first) : std::pair(one->first, other->first);
      kafka.refuse(key, fmt::format("a topic of its own, not that of kafka.{}", same));
    }
  }
}

/// Reads what clients are configured with, and notes where each property stands.
void read_properties(const Section& kafka, Kafka& settings) {
  const Section librdkafka = kafka.section("librdkafka");
  settings.properties = librdkafka.properties();
  for (const auto& [name, value] : settings.properties) settings.places[name] = librdkafka.place_of(name);
  // The two keys about tokens travel among the properties of librdkafka. The client takes them out before
  // librdkafka sees the others.
  if (const auto file = kafka.some_text("oauth_token_file")) settings.properties.emplace(oauth_file_property, *file);
  if (const auto words = kafka.texts("oauth_token_command"); !words.empty()) {
    std::string& lines = settings.properties[std::string(oauth_command_property)];
    // One word a line, since a word may hold blanks.
    for (const std::string& word : words) lines += (lines.empty() ? "" : "\n") + word;
  }
  // Other keys of [kafka] that become a property.
  const std::pair<std::string_view, std::string_view> becoming[] = {
      {oauth_file_property, oauth_file_property},
      {oauth_command_property, oauth_command_property},
      {"transaction_seconds", "transaction.timeout.ms"}};
  for (const auto& [key, property] : becoming) {
    if (kafka.has(key)) settings.places.try_emplace(std::string(property), kafka.place_of(key));
  }
}

}  // namespace

Kafka read_kafka(const Section& root, const std::string& stream, bool of_user) {
  const Section kafka = root.section("kafka");
  Kafka settings;
  settings.brokers = kafka.some_text("brokers").value_or("");
  if (settings.brokers.empty()) {
    // A file without [kafka] is for recorded streams, and has no topics.
    if (!kafka.is_empty()) kafka.missing("brokers");
    return settings;
  }
  settings.topics = read_topics(kafka, stream, of_user);
  require_different(kafka, root.section("stream"), settings.topics);
  settings.group = kafka.some_text("group").value_or("nustream-" + stream);
  settings.instance = kafka.some_text("group_instance_id").value_or("");
  if (const auto text = place_text(kafka, "start")) settings.start = read_place(kafka, "start", *text, false);
  if (const auto text = place_text(kafka, "stop")) settings.stop = read_place(kafka, "stop", *text, true);
  settings.commit_threads = kafka.count("commit_threads").value_or(settings.commit_threads);
  settings.lanes_max = kafka.count("max_lanes").value_or(settings.lanes_max);
  if (settings.lanes_max == 0) kafka.refuse("max_lanes", "a whole number > 0");
  settings.transaction = seconds(kafka, "transaction_seconds", settings.transaction);
  settings.give_up = seconds(kafka, "give_up_seconds", settings.give_up);
  settings.drain = seconds(kafka, "drain_seconds", settings.drain);
  settings.model_every = seconds(kafka, "model_seconds", settings.model_every);
  settings.dead_letter_bytes_max = kafka.count("dead_letter_bytes_max").value_or(settings.dead_letter_bytes_max);
  settings.buffered_records = kafka.count("buffered_records").value_or(settings.buffered_records);
  if (settings.buffered_records == 0) kafka.refuse("buffered_records", "a whole number > 0");
  read_properties(kafka, settings);
  return settings;
}

Serve read_serve(const Section& section) {
  Serve settings;
  settings.public_address = section.text("public_address").value_or(settings.public_address);
  settings.operator_address = section.text("operator_address").value_or(settings.operator_address);
  settings.health_address = section.text("health_address").value_or("");
  settings.public_token_file = section.some_text("public_token_file").value_or("");
  settings.operator_token_file = section.text("operator_token_file").value_or("");
  ServeLimits& limits = settings.limits;
  limits.header_bytes_max = section.count("header_bytes_max").value_or(limits.header_bytes_max);
  limits.connections_max = section.count("connections_max").value_or(limits.connections_max);
  limits.connections_per_address_max =
      section.count("connections_per_address_max").value_or(std::max<std::size_t>(1, limits.connections_max / 2));
  limits.events_max = section.count("events_max").value_or(limits.events_max);
  limits.events_per_address_max = section.count("events_per_address_max").value_or(limits.events_per_address_max);
  limits.request_time = seconds(section, "timeout_seconds", limits.request_time);
  return settings;
}

Log read_log(const Section& section) {
  using log::Format;
  using Choice = std::optional<Format>;
  return {section.choice<Choice>("format", Choice{},
                                 {{"plain", Format::plain}, {"text", Format::text}, {"json", Format::json}}),
          section.text("file").value_or("")};
}

}  // namespace nustream::config
