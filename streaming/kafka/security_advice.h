// What an operator should be told of how the brokers are spoken to.
#pragma once

#include <string>
#include <vector>

#include "config/kafka.h"

namespace nustream::kafka {

/// One sentence for each thing that is allowed and hardly meant: a secret in a settings file that others may read, or
/// on the command line, where every user of the machine sees it; a password or token that crosses a network in the
/// clear; a certificate that is not checked. `file`: the settings, read again for what stands in there.
[[nodiscard]] std::vector<std::string> security_advice(const config::Kafka& kafka, const std::string& file);

}  // namespace nustream::kafka
