// An encrypted environment for RocksDB: RocksDB asks FileCiphers for a cipher for each file that it opens, and passes
// every block of bytes through it with its place in the file (docs/formats/users.md, "A table on disk").
#include "users/sealed_files.h"

#include <rocksdb/env_encryption.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>

#include "secrets/random.h"

namespace nustream::users {
namespace {

constexpr std::size_t file_nonce_bytes = crypto_stream_xchacha20_NONCEBYTES;
constexpr std::size_t stream_block_bytes = 64;  // of XChaCha20, which counts its key stream in such blocks
using FileNonce = std::array<std::uint8_t, file_nonce_bytes>;

/// The cipher of one file. A stream cipher that can begin at any block suits RocksDB, which reads and writes at
/// arbitrary places.
class FileCipher final : public rocksdb::BlockAccessCipherStream {
 public:
  FileCipher(UserKey key, const FileNonce& nonce) : key_(std::move(key)), nonce_(nonce) {}

  size_t BlockSize() override { return stream_block_bytes; }
  /// Hides or shows `size` bytes at place `offset` of the file, which counts its first page too.
  rocksdb::Status Encrypt(uint64_t offset, char* data, size_t size) override {
    apply(offset, reinterpret_cast<unsigned char*>(data), size);
    return rocksdb::Status::OK();
  }
  // The key stream is added by exclusive-or, so that encrypting once more gives the plain bytes.
  rocksdb::Status Decrypt(uint64_t offset, char* data, size_t size) override { return Encrypt(offset, data, size); }

 protected:
  // Nobody calls these: the two above do all the work.
  void AllocateScratch(std::string& /*scratch*/) override {}
  rocksdb::Status EncryptBlock(uint64_t block, char* data, char* /*scratch*/) override {
    return Encrypt(block * stream_block_bytes, data, stream_block_bytes);
  }
  rocksdb::Status DecryptBlock(uint64_t block, char* data, char* /*scratch*/) override {
    return Encrypt(block * stream_block_bytes, data, stream_block_bytes);
  }

 private:
  void apply(std::uint64_t offset, unsigned char* data, std::size_t size) const {
    // libsodium begins at a whole block of the key stream. The bytes that precede `offset` in that
    // block are thrown away.
    std::uint64_t block = offset / stream_block_bytes;
    const std::size_t skipped = offset % stream_block_bytes;
    if (skipped != 0) {  // the rest of a block that was begun
      std::array<unsigned char, stream_block_bytes> whole{};
      const std::size_t taken = std::min(stream_block_bytes - skipped, size);
      std::memcpy(whole.data() + skipped, data, taken);
      xor_stream(whole.data(), whole.size(), block++);
      std::memcpy(data, whole.data() + skipped, taken);
      data += taken;
      size -= taken;
    }
    if (size != 0) xor_stream(data, size, block);
  }
  void xor_stream(unsigned char* data, std::size_t size, std::uint64_t block) const {
    static_cast<void>(
        crypto_stream_xchacha20_xor_ic(data, data, size, nonce_.data(), block, key_.table_key().data()));
  }

  UserKey key_;
  FileNonce nonce_;
};

class FileCiphers final : public rocksdb::EncryptionProvider {
 public:
  explicit FileCiphers(UserKey key) : key_(std::move(key)) {}

  const char* Name() const override { return "nustream-users"; }
  size_t GetPrefixLength() const override { return file_prefix_bytes; }
  rocksdb::Status CreateNewPrefix(const std::string& /*name*/, char* prefix, size_t size) const override {
    FileNonce nonce{};
    // RocksDB also makes files in threads of its own, where an exception would end the process. DiskTable
    // knows this failure by its status, since RocksDB itself never answers "aborted" to what a table asks for.
    try {
      secrets::fill_random(nonce);
    } catch (const std::exception& failure) {
      return rocksdb::Status::Aborted(failure.what());
    }
    // The rest of the page is zeros: it only keeps RocksDB's own reads aligned.
    std::memset(prefix, 0, size);
    std::memcpy(prefix, nonce.data(), nonce.size());
    return rocksdb::Status::OK();
  }
  rocksdb::Status AddCipher(const std::string& /*descriptor*/, const char* /*cipher*/, size_t /*size*/,
                            bool /*for_write*/) override {
    return rocksdb::Status::NotSupported("one key for all files");
  }
  rocksdb::Status CreateCipherStream(const std::string& name, const rocksdb::EnvOptions& /*options*/,
                                     rocksdb::Slice& prefix,
                                     std::unique_ptr<rocksdb::BlockAccessCipherStream>* result) override {
    // A file that a crash cut within its first page has no nonce, and hence no key stream.
    if (prefix.size() < file_nonce_bytes) return rocksdb::Status::Corruption("no nonce", name);
    FileNonce nonce{};
    std::memcpy(nonce.data(), prefix.data(), nonce.size());
    *result = std::make_unique<FileCipher>(key_, nonce);
    return rocksdb::Status::OK();
  }

 private:
  UserKey key_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> sealed_files(const UserKey& key) {
  return std::unique_ptr<rocksdb::Env>(
      rocksdb::NewEncryptedEnv(rocksdb::Env::Default(), std::make_shared<FileCiphers>(key)));
}

}  // namespace nustream::users
