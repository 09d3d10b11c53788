#include "printed_path.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

#include "console/path_printer.h"

namespace nustream::tests {
namespace {

ssize_t hand_on(void* look, const char* bytes, std::size_t count) {
  (*static_cast<StandardOutput::Look*>(look))({bytes, count});
  return static_cast<ssize_t>(count);
}

std::string_view without_first_line(std::string_view text) {
  return text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
}

}  // namespace

StandardOutput::StandardOutput(Look look)
    : look_(std::move(look)), file_(::fopencookie(&look_, "w", {nullptr, hand_on, nullptr, nullptr})) {
  if (file_ == nullptr) throw std::runtime_error("no stream for what is printed");
  static_cast<void>(std::setvbuf(file_, nullptr, _IOFBF, std::size_t{1} << 16U));
}

StandardOutput::~StandardOutput() {
  std::fclose(file_);
}

WithoutStandardError::WithoutStandardError() : before_(::dup(STDERR_FILENO)) {
  std::fflush(stderr);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (before_ < 0 || nowhere < 0) throw std::runtime_error("standard error cannot be set aside");
  ::dup2(nowhere, STDERR_FILENO);
  ::close(nowhere);
}

WithoutStandardError::~WithoutStandardError() {
  std::fflush(stderr);
  ::dup2(before_, STDERR_FILENO);
  ::close(before_);
}

std::string printed_position(std::string_view printed) {
  if (printed.find("rho spent") != std::string_view::npos) printed = without_first_line(printed);
  const std::size_t begin = std::min(printed.find_first_not_of(' '), printed.size());
  std::string digits;
  for (const char c : printed.substr(begin, printed.find(' ', begin) - begin)) {
    if (c != ',') digits += c;
  }
  return digits;
}

bool shows_release(std::string_view printed, const std::string& line) {
  std::string expected;
  {
    const StandardOutput output([&](std::string_view text) { expected += text; });
    console::PathPrinter(output.file()).published(line + '\n');
  }
  return printed == expected || printed == without_first_line(expected);
}

}  // namespace nustream::tests
