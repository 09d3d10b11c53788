// The files of a folder that may be witnesses: their names, and what is in them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "journal/witness.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// The file that an account's witness is written to: "mine-0123456789abcdef.witness". Readers go by what is in it.
[[nodiscard]] std::filesystem::path witness_file(const std::filesystem::path& place, const std::string& stream,
                                                 const AccountId& account);

/// True for a name that witness_file() gives for some account of the stream.
[[nodiscard]] bool has_name_of(const std::string& stream, const std::filesystem::path& file);

/// What has the ending of a witness in a folder, in the order of the names; nothing where there is no such folder.
/// `unknown`: why there may be more.
[[nodiscard]] std::vector<std::filesystem::path> witness_files(const std::filesystem::path& place,
                                                               std::error_code& unknown);

/// A witness's file as it was read.
struct WitnessFile {
  std::string bytes;
  ReadWitness read;
};

/// The witness in a file, under whatever key; nothing where there is none that can be read. What is no regular file
/// is not opened: a pipe would hold up the start.
[[nodiscard]] std::optional<WitnessFile> read_witness_file(const std::filesystem::path& file,
                                                           const secrets::Keyring& keys);

}  // namespace nustream::journal
