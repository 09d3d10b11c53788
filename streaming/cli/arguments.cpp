// Options and checks that several commands share. The checks have texts of their own, since the parser's own ranges
// print their bounds as numbers only.
#include "cli/arguments.h"

#include <cmath>

#include <CLI/CLI.hpp>

namespace nustream::cli {

void add_config_arguments(CLI::App& command, ConfigArguments& arguments) {
  command.add_option("CONFIG", arguments.file, "configuration file (TOML)")->required();
  command.add_option("--set", arguments.overrides, "override a setting: --set section.key=value (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)  // one value each, because FILE may follow
      ->take_all();
}

void add_broker_arguments(CLI::App& command, KafkaArguments& arguments) {
  command.add_option("-b,--brokers", arguments.brokers, "host:port, several with commas (kafka.brokers)");
  command
      .add_option("-X", arguments.properties, "a setting of librdkafka, such as security.protocol=SSL (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->take_all();
}

// The letters are those that kcat has for the same things.
CLI::Option* add_kafka_arguments(CLI::App& command, KafkaArguments& arguments) {
  add_broker_arguments(command, arguments);
  command.add_option("-t,--topic", arguments.topic, "the input topic (kafka.topic)");
  command.add_option("-G,--group", arguments.group, "the consumer group (kafka.group)");
  return command.add_flag("--until-end", arguments.until_end,
                          "stop at the end that the topic has now (kafka.stop = \"end\")");
}

CLI::Validator positive() {
  return {[](const std::string& text) {
            double number = 0;
            // "inf" is read as a number above 0, and is refused.
            const bool valid = CLI::detail::lexical_cast(text, number) && number > 0 && std::isfinite(number);
            return valid ? std::string() : "allowed is a number above 0";
          },
          "> 0"};
}

CLI::Validator not_negative() {
  return {[](const std::string& text) {
            double number = 0;
            const bool valid = CLI::detail::lexical_cast(text, number) && number >= 0 && std::isfinite(number);
            return valid ? std::string() : "allowed is a number from 0 on";
          },
          ">= 0"};
}

CLI::Validator share() {
  return {[](const std::string& text) {
            double number = 0;
            const bool valid = CLI::detail::lexical_cast(text, number) && number >= 0 && number <= 1;
            return valid ? std::string() : "allowed is a number from 0 to 1";
          },
          "0 to 1"};
}

}  // namespace nustream::cli
