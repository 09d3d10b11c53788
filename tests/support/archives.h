// Makes compressed files for tests, beyond those of decode_rows.h: bzip2, xz, and zip archives byte by byte.
#pragma once

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "decode_rows.h"

namespace nustream::tests {

/// One stream of bzip2 with `text`.
inline std::string bzip2(std::string text) {
  auto size = static_cast<unsigned>(text.size() + text.size() / 50 + 1000);
  std::string out(size, '\0');
  if (BZ2_bzBuffToBuffCompress(out.data(), &size, text.data(), static_cast<unsigned>(text.size()), 1, 0, 0) !=
      BZ_OK) {
    throw std::runtime_error("bzip2");
  }
  out.resize(size);
  return out;
}

/// One stream of xz with `text`.
inline std::string xz(const std::string& text, std::uint32_t dictionary_bytes = 1 << 20) {
  lzma_options_lzma options;
  if (lzma_lzma_preset(&options, 1)) throw std::runtime_error("lzma_lzma_preset");
  options.dict_size = dictionary_bytes;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  if (lzma_stream_buffer_encode(const_cast<lzma_filter*>(filters), LZMA_CHECK_CRC32, nullptr,
                                reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) != LZMA_OK) {
    throw std::runtime_error("xz");
  }
  out.resize(size);
  return out;
}

struct ZipFile {
  std::string name;
  std::string text;
  bool is_deflated = true;
  bool is_encrypted = false;
};

/// An archive of `files` as APPNOTE.TXT describes it, with `comment` at its end.
inline std::string zip(const std::vector<ZipFile>& files, const std::string& comment = "") {
  const auto number = [](std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
    return out;
  };
  std::string out;
  std::string directory;
  for (const ZipFile& file : files) {
    const std::string stored = file.is_deflated ? deflated(file.text, -15) : file.text;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(file.text.data()), static_cast<uInt>(file.text.size()));
    const std::string common = number(20, 2) + number(file.is_encrypted ? 1 : 0, 2) +
                               number(file.is_deflated ? 8 : 0, 2) + number(0, 4) + number(crc, 4) +
                               number(stored.size(), 4) + number(file.text.size(), 4) + number(file.name.size(), 2) +
                               number(0, 2);
    directory += "PK\x01\x02" + number(20, 2) + common + number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                 number(out.size(), 4) + file.name;
    out += "PK\x03\x04" + common + file.name + stored;
  }
  return out + directory + "PK\x05\x06" + number(0, 4) + number(files.size(), 2) + number(files.size(), 2) +
         number(directory.size(), 4) + number(out.size(), 4) + number(comment.size(), 2) + comment;
}

}  // namespace nustream::tests
