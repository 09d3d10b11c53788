// What an operator should be told about the security of the connections to the brokers.
#pragma once

#include <string>
#include <vector>

#include "config/kafka.h"

namespace nustream::kafka {

/// One sentence for each thing that is allowed, but hardly meant: a secret in a settings file that others may read,
/// or on the command line, where every user of the machine can see it; a password or token that crosses a network in
/// the clear; a certificate that is not checked. `file` is the settings file. It is read again, to tell what stands
/// in it from what came from the command line.
[[nodiscard]] std::vector<std::string> security_advice(const config::Kafka& kafka, const std::string& file);

}  // namespace nustream::kafka
