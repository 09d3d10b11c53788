// Files of RocksDB that nobody can read without the users' key (docs/formats/users.md).
#pragma once

#include <rocksdb/env.h>

#include <cstddef>
#include <memory>

#include "users/user_key.h"

namespace nustream::users {

/// What every file begins with: the nonce and zeros. A page, as RocksDB advises, so that its own reads stay aligned.
inline constexpr std::size_t file_prefix_bytes = 4096;

/// The machine's file system, on which every file begins with a fresh random nonce and goes on with its bytes under
/// XChaCha20. RocksDB never writes a place of a file twice, so that no part of a key stream is used twice.
///
/// This hides the bytes, but does not authenticate them. So a run that opens a table compares its digest with the one
/// in the lane's sealed state. Any thread may use it.
[[nodiscard]] std::unique_ptr<rocksdb::Env> sealed_files(const UserKey& key);

}  // namespace nustream::users
