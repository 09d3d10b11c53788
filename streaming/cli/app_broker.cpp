// The grammar of the commands that may talk to a broker.
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/commands.h"

namespace nustream::cli {

// For example: nustream attach stream.toml -b localhost:9092. What the command line says of brokers and topics goes
// before [kafka] of the file (kafka_arguments.cpp).
void add_attach(CLI::App& app, Job& job) {
  static AttachArguments arguments;
  CLI::App* command = app.add_subcommand("attach", "a Kafka topic becomes a live private model");
  add_config_arguments(*command, arguments.config);
  add_kafka_arguments(*command, arguments.kafka);
  command->add_flag("--new-epoch", arguments.options.renewal.new_epoch,
                    "lanes that cannot go on under these settings begin a new noise epoch");
  command
      ->add_flag(
          "--accept-gap", arguments.options.renewal.accept_gap,
          "with --new-epoch: go on although records are gone that were never read, or the input is another one "
          "(its spend is then added), or nobody knows any more whom 'users close' closed in a lane")
      ->needs("--new-epoch");
  command
      ->add_flag("--from-start", arguments.options.renewal.from_start,
                 "with --new-epoch: begin at descent.start, not where the lane's last release is")
      ->needs("--new-epoch");
  command->add_option("--write-config", arguments.options.write_config,
                      "new file for the settings, with what was measured in place of \"private\"");
  command->add_option("--insecure-seed", arguments.options.insecure_seed,
                      "noise that anybody can compute, for tests: every output says private: false");
  // The option is known, and left out of the help, so that its refusal can say why and what to do instead.
  command->add_option("--min-usable", arguments.min_usable, "refused here: see check --data")->group("");
  command->callback([&job] { job = [] { return attach(arguments); }; });
}

// For example: nustream record stream.toml --to-folder recorded --until-end
void add_record(CLI::App& app, Job& job) {
  static RecordArguments arguments;
  CLI::App* command = app.add_subcommand("record", "a Kafka topic becomes a folder of recorded segments");
  add_config_arguments(*command, arguments.config);
  // The two ways to say where a recording ends exclude each other.
  CLI::Option* until_end = add_kafka_arguments(*command, arguments.kafka);
  command->add_option("--to-folder", arguments.options.folder, "where to: one file a partition, made if missing")
      ->required();
  command->add_option("--start", arguments.kafka.start,
                      "earliest, latest, an offset or an ISO 8601 time (kafka.start)");
  command->add_option("--stop", arguments.kafka.stop, "end, an offset or a time (kafka.stop); none: until a signal")
      ->excludes(until_end);
  command->add_flag("--resume", arguments.options.resume,
                    "go on with the folder's files, from where they are to the stop that they began with");
  command->add_flag("--json", arguments.options.json, "print what was recorded as JSON");
  command->callback([&job] { job = [] { return record(arguments); }; });
}

// For example: nustream topics stream.toml --create --partitions 4 --replication 3
void add_topics(CLI::App& app, Job& job) {
  static TopicsArguments arguments;
  CLI::App* command = app.add_subcommand("topics", "the topics that attach needs, with their settings");
  add_config_arguments(*command, arguments.config);
  add_broker_arguments(*command, arguments.kafka);
  command->add_flag("--create", arguments.create, "make those that do not exist");
  command->add_flag("--input", arguments.input, "the input topic too");
  command->add_option("--partitions", arguments.partitions, "as many as the input has")->check(positive());
  command->add_option("--replication", arguments.replication, "replicas of each")->check(positive());
  command->callback([&job] { job = [] { return topics(arguments); }; });
}

// For example: nustream check stream.toml --data orders.csv --min-usable 0.9. Options about records need --data,
// without which no record is read.
void add_check(CLI::App& app, Job& job) {
  static CheckArguments arguments;
  CLI::App* command = app.add_subcommand("check", "validate a configuration without running it");
  add_config_arguments(*command, arguments.config);
  add_broker_arguments(*command, arguments.kafka);
  command->add_option("-t,--topic", arguments.kafka.topic, "the topic that --data reads (kafka.topic)");
  auto* data = command->add_flag("--data", arguments.data,
                                 "a dry run over records too, NOT PRIVATE: nothing is charged, nothing is kept");
  command->add_option("FILE", arguments.files, "records in place of stream.input; - is standard input")->needs(data);
  command
      ->add_option("--records", arguments.records,
                   "the first so many; without FILE of the topic, where the configuration has one")
      ->check(positive())
      ->needs(data);
  command->add_option("--min-usable", arguments.min_usable, "exit with 66 where a smaller share of them can be used")
      ->check(share())
      ->needs(data);
  command->add_flag("--json", arguments.json, "print JSON");
  command->callback([&job] { job = [] { return check(arguments); }; });
}

// For example: nustream inspect runs/mine --chart, or nustream inspect stream.toml for the lanes of a topic.
void add_inspect(CLI::App& app, Job& job) {
  static InspectArguments arguments;
  CLI::App* command = app.add_subcommand("inspect", "state, ledger and last release");
  command->add_option("STATE", arguments.place, "a state folder, or a stream's configuration")->required();
  command->add_option("--key-file", arguments.key_file, "the key file, where no link in the folder leads to it");
  command->add_option("--witness", arguments.witness, "the folder of the witness, where it is not beside the key");
  command->add_option("--insecure-seed", arguments.insecure_seed, "the seed of a run that is not private");
  command->add_flag("--users", arguments.users, "how much its users have used up; NOT PRIVATE");
  add_broker_arguments(*command, arguments.kafka);
  command->add_flag("--chart", arguments.chart, "draw the path of the main coefficient in the terminal")
      ->excludes(command->add_flag("--json", arguments.json, "print JSON"));
  command->callback([&job] { job = [] { return inspect(arguments); }; });
}

// For example: nustream users close stream.toml < closed.txt
void add_users(CLI::App& app, Job& job) {
  static UsersArguments closing;
  static UsersArguments ending;
  CLI::App* command = app.add_subcommand("users", "close some users of a stream, or end what is known of them");
  command->require_subcommand(1);
  // Both subcommands take the same arguments.
  const auto add = [&](const char* name, const char* help, UsersArguments& arguments) {
    CLI::App* one = command->add_subcommand(name, help);
    add_config_arguments(*one, arguments.config);
    one->add_option("--insecure-seed", arguments.insecure_seed, "the seed of a run that is not private");
    add_broker_arguments(*one, arguments.kafka);
    return one;
  };
  add("close", "the identifiers on standard input, one a line, never count again", closing)->callback([&job] {
    job = [] { return users_close(closing); };
  });
  add("end", "the stream is over: destroy the key of its users, and their store", ending)->callback([&job] {
    job = [] { return users_end(ending); };
  });
}

// For example: nustream key new FILE, and later nustream key rotate runs/mine NEW_FILE
void add_key(CLI::App& app, Job& job) {
  static KeyArguments key;
  static RotateArguments rotation;
  CLI::App* command = app.add_subcommand("key", "make or change the key files that wrap states");
  command->require_subcommand(1);
  CLI::App* make = command->add_subcommand("new", "write 32 fresh random bytes to a new file, mode 0600");
  make->add_option("FILE", key.file, "the key file; never overwritten")->required();
  make->add_flag("--json", key.json, "print JSON");
  make->callback([&job] { job = [] { return key_new(key); }; });
  CLI::App* rotate =
      command->add_subcommand("rotate", "seal a folder's state, or those of a stream, under a new key file");
  rotate->add_option("PLACE", rotation.place, "the state folder, or the configuration of an attached stream")
      ->required();
  rotate->add_option("NEW_KEY", rotation.new_key, "the new key file, made with 'key new'")->required();
  rotate->add_option("--key-file", rotation.old_key,
                     "the present key file, where no link in the folder leads to it, or the configuration");
  rotate->add_option("--witness", rotation.witness, "the folder of the witness, where it is not beside the key");
  add_broker_arguments(*rotate, rotation.kafka);
  rotate->add_flag("--json", rotation.json, "print JSON");
  rotate->callback([&job] { job = [] { return key_rotate(rotation); }; });
}

}  // namespace nustream::cli
