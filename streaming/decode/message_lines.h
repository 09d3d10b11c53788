// Makes the values of messages a run of lines for a line decoder.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "decode/csv_kernel.h"
#include "decode/line_buffer.h"

namespace nustream::decode {

/// Copies values one after the other, each with a newline, as many as a decoder reads at once. As with a LineBuffer,
/// bytes up to LineBuffer::slack beyond either end may be read.
class MessageLines {
 public:
  MessageLines() { grow(segment_bytes_max); }

  /// Whether another value of `bytes` bytes would not fit. Never true while no value is there.
  [[nodiscard]] bool is_full_for(std::size_t bytes) const noexcept {
    return size_ != 0 && size_ + bytes + 1 > segment_bytes_max;
  }
  /// Appends a value and returns the copy, which may be changed until the next call.
  char* append(std::string_view value) {
    if (size_ + value.size() + 1 > capacity_) grow(value.size() + 1);
    char* const copy = data() + size_;
    value.copy(copy, value.size());
    copy[value.size()] = '\n';
    size_ += value.size() + 1;
    ++count_;
    return copy;
  }
  void clear() noexcept { size_ = count_ = 0; }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::string_view view() const noexcept { return {data(), size_}; }

 private:
  // Only called while no value is there: a value that is longer than segment_bytes_max comes alone.
  void grow(std::size_t capacity) {
    capacity_ = capacity;
    memory_ = std::make_unique<char[]>(capacity + 2 * LineBuffer::slack);
  }
  [[nodiscard]] char* data() const noexcept { return memory_.get() + LineBuffer::slack; }

  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t count_ = 0;
};

}  // namespace nustream::decode
