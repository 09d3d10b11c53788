// Secrets of the client library: in files or in the environment, whether they have changed, and what an operator
// should be told of them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/kafka.h"
#include "error.h"
#include "journal/running_hash.h"

namespace nustream::kafka {

using Properties = std::map<std::string, std::string>;

/// The refusal of a property, as the settings name it. It says nothing of where the property stands, which
/// check_properties() adds.
class RefusedProperty : public Failure {
 public:
  /// `reason` follows the property's name: "cannot be changed: …".
  RefusedProperty(Exit code, std::string name, std::string reason)
      : Failure(code, "kafka.librdkafka: the property '" + name + "' " + reason),
        name_(std::move(name)),
        reason_(std::move(reason)) {}
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string name_;
  std::string reason_;
};

/// Whether a property's value is a secret, such as a password, a key or a client secret.
[[nodiscard]] bool is_secret(std::string_view name);

/// " -X NAME=VALUE" for each of what was typed behind -X, as words of a shell that may be printed. The value of a
/// secret is left out.
[[nodiscard]] std::string typed_properties(const std::vector<std::string>& typed);

/// Returns `properties` with each secret itself instead of the file or the variable that holds it.
/// "sasl.password_file" = PATH becomes "sasl.password" with the first line of that file, and "sasl.password_env" =
/// NAME the same with the environment variable's value. A certificate or key in PEM form ("ssl.key.pem_file") is the
/// whole file. That holds for every property that is_secret(), and for sasl.username. The places are read at each
/// call, so that a client that is made later has the secret of that time. The properties that say where OAuth tokens
/// come from (oauth_token.h) stay as they are.
///
/// Throws RefusedProperty: with Exit::permission for a file that is not private (secrets::SecretFile), else with
/// Exit::configuration, for a property that is no secret, one that is given twice, and a variable that is not set. No
/// message holds a secret.
[[nodiscard]] Properties with_secrets(const Properties& properties);

/// Remembers, by hashes, what the files held when this was made.
class SecretFiles {
 public:
  /// Remembers the files that properties name: librdkafka's own "ssl.….location", and this project's
  /// "….password_file", "….pem_file" and the like. What is no regular file, such as a folder of authorities, is left
  /// out.
  explicit SecretFiles(const Properties& properties);

  /// The names of the properties whose files hold something else by now, separated by commas; empty where there are
  /// none. A file that cannot be read does not count as changed, since somebody may be about to write it.
  [[nodiscard]] std::string changed() const;

 private:
  struct Seen {
    std::string path;
    journal::Hash contents;
  };
  std::map<std::string, Seen> files_;  // by property
};

/// One sentence for each thing that is allowed, but hardly meant: a secret in a settings file that others may read,
/// or on the command line, where every user of the machine can see it; a password or token that crosses a network in
/// the clear; a certificate that is not checked. `file` is the settings file. It is read again, to see which
/// properties stand in it and which came from the command line.
[[nodiscard]] std::vector<std::string> security_advice(const config::Kafka& kafka, const std::string& file);

}  // namespace nustream::kafka
