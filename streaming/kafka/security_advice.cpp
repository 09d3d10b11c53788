// Advice on settings that are allowed, but give a secret away or take any broker for the right one. Nothing here
// refuses to run.
#include "kafka/secret_properties.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "config/settings_tree.h"
#include "kafka/client_settings.h"

namespace nustream::kafka {
namespace {

using Sentences = std::vector<std::string>;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Whether the group or others may read the file.
bool others_read(const std::string& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 && (status.st_mode & (S_IRGRP | S_IROTH)) != 0;
}

/// Advises on secrets that stand in the settings file or on the command line, and not in a file of their own.
void advise_on_places(const Properties& properties, const std::string& file, Sentences& sentences) {
  // What stands in the file itself. `properties` also holds what -X has set or replaced.
  const Properties written =
      config::SettingsTree(file, {}).root().section("kafka").section("librdkafka").properties();
  for (const auto& [name, value] : properties) {
    // A name with one of these endings says where the secret is, and its value is none.
    if (!is_secret(name) || name.ends_with("_file") || name.ends_with("_env")) continue;
    const auto found = written.find(name);
    const bool in_file = found != written.end() && found->second == value;  // otherwise -X has set or replaced it
    const std::string remedy =
        "; put it into a file of mode 0600 and name that as kafka.librdkafka.\"" + name + "_file\"";
    if (!in_file) {
      sentences.push_back("\"" + name +
                          "\" stands on the command line, where every user of this machine can read it" + remedy);
    } else if (others_read(file)) {
      sentences.push_back(file + " holds \"" + name + "\" and can be read by others" + remedy +
                          ", or run chmod 600 on it");
    }
  }
}

/// Whether every broker of "host:port,host:port" is this machine.
bool are_loopback(std::string_view brokers) {
  while (!brokers.empty()) {
    const std::size_t end = std::min(brokers.find(','), brokers.size());
    std::string_view broker = brokers.substr(0, end);
    brokers.remove_prefix(std::min(end + 1, brokers.size()));
    // A broker may be written with its protocol, such as "SSL://host:9093".
    if (const std::size_t scheme = broker.find("://"); scheme != std::string_view::npos)
      broker.remove_prefix(scheme + 3);
    if (!broker.starts_with("localhost") && !broker.starts_with("127.") && !broker.starts_with("[::1]")) return false;
  }
  return true;
}

/// Advises on what crosses the network. It goes by the values in force, since a default can be as weak as a setting.
void advise_on_network(const config::Kafka& kafka, Sentences& sentences) {
  const auto in_force = [&](const char* name) {
    return lower(property_in_force({kafka.brokers, kafka.properties}, Role::committed_reader, name));
  };
  const std::string protocol = in_force("security.protocol");
  const std::string mechanism = in_force("sasl.mechanism");
  // These two mechanisms send the secret itself; others only send a proof that the client knows it.
  if (protocol == "sasl_plaintext" && (mechanism == "plain" || mechanism == "oauthbearer") &&
      !are_loopback(kafka.brokers)) {
    sentences.push_back("SASL/" + mechanism +
                        " without TLS sends its secret over the network as it is; set \"security.protocol\" = "
                        "\"sasl_ssl\"");
  }
  // Without TLS there is no certificate to check.
  if (!protocol.ends_with("ssl")) return;
  if (in_force("enable.ssl.certificate.verification") == "false") {
    sentences.push_back(
        "\"enable.ssl.certificate.verification\" = false takes any broker for the right one; give the "
        "authority's certificate as \"ssl.ca.location\"");
  } else if (in_force("ssl.endpoint.identification.algorithm") == "none") {
    sentences.push_back(
        "the brokers' certificates are not checked against their names; set "
        "\"ssl.endpoint.identification.algorithm\" = \"https\"");
  }
}

}  // namespace

Sentences security_advice(const config::Kafka& kafka, const std::string& file) {
  Sentences sentences;
  advise_on_places(kafka.properties, file, sentences);
  advise_on_network(kafka, sentences);
  return sentences;
}

}  // namespace nustream::kafka
