// Turns the command line's words for [kafka] into overrides, as if they were written in the file.
#include "cli/commands.h"
#include "config/ranges.h"
#include "kafka/secret_properties.h"

namespace nustream::cli {

// For example -b localhost:9092 --until-end becomes kafka.brokers="localhost:9092" and kafka.stop="end". The
// arguments stand behind the overrides of --set, so that they count where both name a setting.
std::vector<std::string> overrides_of(const ConfigArguments& config, const KafkaArguments& kafka) {
  std::vector<std::string> overrides = config.overrides;
  // Values are quoted, so that a topic named "7" stays a text. An empty value means that the option was not typed.
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) overrides.push_back(std::string(key) + "=\"" + value + "\"");
  };
  set("kafka.brokers", kafka.brokers);
  set("kafka.topic", kafka.topic);
  set("kafka.group", kafka.group);
  set("kafka.start", kafka.start);
  set("kafka.stop", kafka.stop);
  if (kafka.until_end) set("kafka.stop", "end");
  return overrides;
}

void add_properties(const KafkaArguments& arguments, config::Kafka& kafka) {
  for (const std::string& property : arguments.properties) {
    const std::size_t equals = property.find('=');
    // The name ends at the first "=", since values may hold more of them.
    if (equals == std::string::npos || equals == 0) {
      throw Failure(Exit::usage, "-X " + property + ": write it as name=value");
    }
    const std::string name = property.substr(0, equals);
    kafka.properties[name] = property.substr(equals + 1);
    kafka.places[name] = "-X " + name;
  }
}

config::Config read_config(const ConfigArguments& config, const KafkaArguments& kafka) {
  config::Config result =
      config::read_config_to_measure(config.file, overrides_of(config, kafka), config::Purpose::stream);
  add_properties(kafka, result.kafka);
  // Beside brokers a check reads the files of the settings, unless it is told how many records of the topic to read.
  if (!result.input.files.empty() && !result.kafka.brokers.empty()) result.input.look += " --records 10000";
  result.input.look += kafka::typed_properties(kafka.properties);
  return result;
}

}  // namespace nustream::cli
