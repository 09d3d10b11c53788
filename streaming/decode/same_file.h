// Refuses an input that names one file twice, whose records would take part more often than they are charged for.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "error.h"

namespace nustream::decode {

/// Where an input's files are named, which decides the exit code and the beginning of a message.
struct NamedIn {
  std::string config;    ///< the configuration file
  bool by_hand = false;  ///< the command line names them instead
  bool passes = false;   ///< the command can read its input several times: --passes
};

/// Two of these names that lead to one regular file, by whatever links; the same name where it comes twice. A file
/// that is not there is passed over, since it is told of when it is read. Standard input is looked at like a file
/// where it is one.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> same_file(const std::vector<std::string>& files);

/// Throws Failure(usage) where the command line names one file twice, and Failure(configuration) where stream.input
/// does. The names alone decide, and no record is read.
void require_different_files(const std::vector<std::string>& files, const NamedIn& named);

}  // namespace nustream::decode
