// The files of a folder that may be witnesses: how they are named, listed and read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "journal/witness.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// The file that an account's witness is written to, such as "mine-0123456789abcdef.witness". Readers go by what is
/// in a file, not by its name.
[[nodiscard]] std::filesystem::path witness_file(const std::filesystem::path& place, const std::string& stream,
                                                 const AccountId& account);

/// True for a name that witness_file() gives for some account of the stream.
[[nodiscard]] bool has_name_of(const std::string& stream, const std::filesystem::path& file);

/// The files in a folder whose names end as a witness's do, in the order of the names; none where there is no such
/// folder. Where the folder could not be listed to its end, `unknown` is set to the reason.
[[nodiscard]] std::vector<std::filesystem::path> witness_files(const std::filesystem::path& place,
                                                               std::error_code& unknown);

/// What a file claims that may be a witness under any key, as claims_of(); nothing where none can be read. As
/// read_witness_file(), for callers without a key.
[[nodiscard]] std::optional<Witness> claims_in(const std::filesystem::path& file);

/// A witness's file as it was read.
struct WitnessFile {
  std::string bytes;
  ReadWitness read;
};

/// The witness in a file, whichever key it is under; nothing where none can be read. Only a regular file is opened,
/// since a pipe could make the start wait for ever.
[[nodiscard]] std::optional<WitnessFile> read_witness_file(const std::filesystem::path& file,
                                                           const secrets::Keyring& keys);

}  // namespace nustream::journal
