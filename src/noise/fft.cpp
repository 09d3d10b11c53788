#include "fft.h"

#include <fftw3.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

struct FreeFftw {
  void operator()(void* memory) const noexcept { fftw_free(memory); }
};
using RealBuffer = std::unique_ptr<double[], FreeFftw>;
using ComplexBuffer = std::unique_ptr<fftw_complex[], FreeFftw>;

// FFTW's planner shares its state between all plans of the process: one at a time.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

struct DestroyPlan {
  void operator()(fftw_plan plan) const noexcept {
    const std::lock_guard lock(planner());
    fftw_destroy_plan(plan);
  }
};
using Plan = std::unique_ptr<std::remove_pointer_t<fftw_plan>, DestroyPlan>;

// Circular convolution of real series of one length with one kernel.
class Convolution {
 public:
  Convolution(std::span<const double> kernel, std::size_t length)
      : length_(length),
        frequencies_(length / 2 + 1),
        series_(fftw_alloc_real(length)),
        spectrum_(fftw_alloc_complex(frequencies_)),
        kernel_spectrum_(frequencies_) {
    {
      const std::lock_guard lock(planner());
      const int size = static_cast<int>(length);
      // FFTW_ESTIMATE: measuring would choose another algorithm, and other roundings, from run to run.
      forward_.reset(fftw_plan_dft_r2c_1d(size, series_.get(), spectrum_.get(), FFTW_ESTIMATE));
      backward_.reset(fftw_plan_dft_c2r_1d(size, spectrum_.get(), series_.get(), FFTW_ESTIMATE));
    }
    std::fill_n(series_.get(), length, 0.0);
    std::copy(kernel.begin(), kernel.end(), series_.get());
    fftw_execute(forward_.get());
    const double unnormalised = static_cast<double>(length);
    for (std::size_t i = 0; i < frequencies_; ++i) {
      kernel_spectrum_[i] = {spectrum_[i][0] / unnormalised, spectrum_[i][1] / unnormalised};
    }
  }

  /// The series that run() convolves in place.
  [[nodiscard]] std::span<double> series() { return {series_.get(), length_}; }

  void run() {
    fftw_execute(forward_.get());
    for (std::size_t i = 0; i < frequencies_; ++i) {
      const auto [real, imaginary] = kernel_spectrum_[i];
      const double x = spectrum_[i][0];
      const double y = spectrum_[i][1];
      spectrum_[i][0] = x * real - y * imaginary;
      spectrum_[i][1] = x * imaginary + y * real;
    }
    fftw_execute(backward_.get());
  }

 private:
  std::size_t length_;
  std::size_t frequencies_;
  RealBuffer series_;
  ComplexBuffer spectrum_;
  std::vector<std::pair<double, double>> kernel_spectrum_;
  Plan forward_;
  Plan backward_;
};

constexpr std::size_t shortest_stretch = 512;

class Fft final : public Generator {
 public:
  Fft(std::span<const double> beta, std::size_t dimension)
      : window_(beta.size()),
        dimension_(dimension),
        stretch_(std::max(std::bit_ceil(beta.size()), shortest_stretch)),
        convolution_(beta, 2 * stretch_),
        seed_(2 * stretch_ * dimension),
        z_(stretch_ * dimension) {}

  [[nodiscard]] std::size_t seed_width() const override { return dimension_; }

  [[nodiscard]] StepIndex oldest_needed(StepIndex block_first) const override {
    const std::uint64_t begin = block_first.value() / stretch_ * stretch_;
    return StepIndex{begin - std::min<std::uint64_t>(begin, window_ - 1)};
  }

  [[nodiscard]] std::vector<double> memory() const override { return {}; }
  [[nodiscard]] bool memoryless() const override { return true; }

  void restore(StepIndex block_first, std::span<const double> memory) override {
    if (!memory.empty()) throw InvalidParameter("checkpoint", "other than empty", "no memory for a window");
    next_ = block_first;
    current_.reset();
  }

  void generate(StepIndex block_first, std::size_t steps, SeedNoise& seed, std::span<double> z) override {
    NUSTREAM_REQUIRE(block_first == next_, "noise blocks are generated in order");
    NUSTREAM_REQUIRE(z.size() == steps * dimension_, "a block of noise has its place");
    for (std::size_t done = 0; done < steps;) {
      const std::uint64_t step = block_first.value() + done;
      if (current_ != step / stretch_) convolve_stretch(step / stretch_, seed);
      const std::size_t offset = step % stretch_;
      const std::size_t count = std::min(steps - done, stretch_ - offset);
      std::copy_n(z_.begin() + static_cast<std::ptrdiff_t>(offset * dimension_), count * dimension_,
                  z.begin() + static_cast<std::ptrdiff_t>(done * dimension_));
      done += count;
    }
    next_ = StepIndex{block_first.value() + steps};
  }

 private:
  // seed_ = the stretch before (zeros before step 0 and beyond the window), then this one.
  void load(std::uint64_t number, SeedNoise& seed) {
    const std::size_t half = stretch_ * dimension_;
    const std::span<double> before = std::span(seed_).first(half);
    if (current_ && *current_ + 1 == number) {
      std::copy_n(seed_.begin() + static_cast<std::ptrdiff_t>(half), half, seed_.begin());
    } else {
      std::fill(before.begin(), before.end(), 0.0);
      const std::size_t known = number == 0 ? 0 : window_ - 1;
      if (known > 0) {
        seed.fill(StepIndex{number * stretch_ - known}, known, before.last(known * dimension_));
      }
    }
    seed.fill(StepIndex{number * stretch_}, stretch_, std::span(seed_).last(half));
  }

  // Of a circular convolution over two stretches, the second is the one that nothing wrapped into.
  void convolve_stretch(std::uint64_t number, SeedNoise& seed) {
    load(number, seed);
    const std::span<double> series = convolution_.series();
    for (std::size_t j = 0; j < dimension_; ++j) {
      for (std::size_t t = 0; t < 2 * stretch_; ++t) series[t] = seed_[t * dimension_ + j];
      convolution_.run();
      for (std::size_t t = 0; t < stretch_; ++t) z_[t * dimension_ + j] = series[stretch_ + t];
    }
    current_ = number;
  }

  std::size_t window_;
  std::size_t dimension_;
  std::size_t stretch_;
  Convolution convolution_;
  std::vector<double> seed_;
  std::vector<double> z_;
  std::optional<std::uint64_t> current_;  // the stretch that z_ holds
  StepIndex next_{0};
};

}  // namespace

std::unique_ptr<Generator> make_fft(std::vector<double> beta, std::size_t dimension) {
  NUSTREAM_REQUIRE(!beta.empty() && beta.front() == 1, "beta begins with 1: the fresh noise");
  return std::make_unique<Fft>(beta, dimension);
}

}  // namespace nustream::noise
