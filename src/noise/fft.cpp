// The generator for long windows: overlap-save, one stretch of steps at a time. The first call in a stretch convolves
// all of it, and the blocks of the stretch are then copied out.
#include "generator.h"

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

// Memory that FFTW aligned has to go back to FFTW.
struct FreeFftw {
  void operator()(void* memory) const noexcept { fftw_free(memory); }
};
using RealBuffer = std::unique_ptr<double[], FreeFftw>;
using ComplexBuffer = std::unique_ptr<fftw_complex[], FreeFftw>;

// FFTW's planner shares its state between all plans of the process, so only one thread may plan at a time.
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

// The number of columns that are transposed together: a row of eight doubles is one cache line.
constexpr std::size_t most_columns = 8;

// Convolves real series of one length circularly with one kernel.
class Convolution {
 public:
  Convolution(std::span<const double> kernel, std::size_t length)
      : length_(length),
        frequencies_(length / 2 + 1),
        series_(fftw_alloc_real(most_columns * length)),
        spectrum_(fftw_alloc_complex(frequencies_)),
        kernel_spectrum_(frequencies_) {
    {
      const std::lock_guard lock(planner());
      const int size = static_cast<int>(length);
      // FFTW_ESTIMATE, because measuring would choose another algorithm, with other roundings, from run to run.
      forward_.reset(fftw_plan_dft_r2c_1d(size, series_.get(), spectrum_.get(), FFTW_ESTIMATE));
      backward_.reset(fftw_plan_dft_c2r_1d(size, spectrum_.get(), series_.get(), FFTW_ESTIMATE));
    }
    // The kernel is β, with zeros behind it up to the length of the transform.
    std::fill_n(series_.get(), length, 0.0);
    std::copy(kernel.begin(), kernel.end(), series_.get());
    fftw_execute_dft_r2c(forward_.get(), series_.get(), spectrum_.get());
    // FFTW's pair of transforms multiplies by the length; the kernel takes that out once.
    const auto unnormalised = static_cast<double>(length);
    for (std::size_t i = 0; i < frequencies_; ++i) {
      kernel_spectrum_[i] = {spectrum_[i][0] / unnormalised, spectrum_[i][1] / unnormalised};
    }
  }

  [[nodiscard]] std::size_t length() const { return length_; }

  /// Room for one of most_columns series, which run() convolves in place. All of them are aligned as the plans
  /// expect.
  [[nodiscard]] double* series(std::size_t column) { return series_.get() + column * length_; }

  void run(std::size_t column) {
    fftw_execute_dft_r2c(forward_.get(), series(column), spectrum_.get());
    // A product of spectra is a circular convolution.
    for (std::size_t i = 0; i < frequencies_; ++i) {
      const auto [real, imaginary] = kernel_spectrum_[i];
      const double x = spectrum_[i][0];
      const double y = spectrum_[i][1];
      spectrum_[i][0] = x * real - y * imaginary;
      spectrum_[i][1] = x * imaginary + y * real;
    }
    fftw_execute_dft_c2r(backward_.get(), spectrum_.get(), series(column));
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

// A quarter of each transform is lost to entries that wrap around. A shorter transform is used where the horizon ends
// before a long one would pay.
std::size_t transform_length(std::size_t window, const std::optional<StepCount>& horizon) {
  constexpr std::size_t shortest = 2048;
  // A window of 1000 terms, for example, has transforms of 4096, and stretches of 4096 − 999 steps.
  const std::size_t endless = std::max(4 * std::bit_ceil(window), shortest);
  if (!horizon || horizon->value() > endless) return endless;
  return std::min(endless, std::max(std::bit_ceil(window + horizon->value()), shortest));
}

class Fft final : public Generator {
 public:
  Fft(std::span<const double> beta, std::size_t dimension, const std::optional<StepCount>& horizon)
      : earlier_(beta.size() - 1),
        dimension_(dimension),
        convolution_(beta, transform_length(beta.size(), horizon)),
        stretch_(convolution_.length() - earlier_),
        rows_(convolution_.length() * dimension) {}

  [[nodiscard]] std::size_t seed_width() const override { return dimension_; }

  [[nodiscard]] StepIndex oldest_needed(StepIndex block_first) const override {
    const std::uint64_t begin = block_first.value() / stretch_ * stretch_;
    return StepIndex{begin - std::min<std::uint64_t>(begin, earlier_)};
  }

  // A block may begin at the last step of a stretch, whose first step reads W − 1 steps further back.
  [[nodiscard]] std::uint64_t reach() const override { return earlier_ + stretch_ - 1; }
  [[nodiscard]] std::vector<double> memory() const override { return {}; }
  [[nodiscard]] bool memoryless() const override { return true; }

  // Nothing but the place is restored: the stretch is convolved once more from the keys.
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
      // After restore() the first block may lie in the middle of a stretch, which is then convolved whole.
      if (current_ != step / stretch_) convolve_stretch(step / stretch_, seed);
      const std::size_t offset = step % stretch_;
      const std::size_t count = std::min(steps - done, stretch_ - offset);
      std::copy_n(row(offset), count * dimension_, z.begin() + static_cast<std::ptrdiff_t>(done * dimension_));
      done += count;
    }
    next_ = StepIndex{block_first.value() + steps};
  }

 private:
  [[nodiscard]] std::vector<double>::iterator row(std::size_t number) {
    return rows_.begin() + static_cast<std::ptrdiff_t>(number * dimension_);
  }

  // Fills rows_ with the seed noise of the W − 1 steps before the stretch (zeros before step 0), and then of the
  // stretch.
  void load(std::uint64_t number, SeedNoise& seed) {
    const std::uint64_t first = number * stretch_;
    // These steps are known: convolve_stretch() left them behind the stretch before.
    if (current_ && *current_ + 1 == number) {
      std::copy_n(row(stretch_), earlier_ * dimension_, row(0));
    } else {
      const std::size_t known = std::min<std::uint64_t>(first, earlier_);
      std::fill(row(0), row(earlier_ - known), 0.0);
      if (known > 0) seed.fill(StepIndex{first - known}, known, {row(earlier_ - known), row(earlier_)});
    }
    seed.fill(StepIndex{first}, stretch_, {row(earlier_), rows_.end()});
  }

  // Leaves in rows_ the z of the stretch, and then the seed noise of its last W − 1 steps, which the next stretch
  // needs.
  void convolve_stretch(std::uint64_t number, SeedNoise& seed) {
    load(number, seed);
    for (std::size_t first = 0; first < dimension_; first += most_columns) {
      const std::size_t columns = std::min(most_columns, dimension_ - first);
      // Rows become series, several columns at a time, so that whole cache lines of rows_ are read.
      for (std::size_t t = 0; t < convolution_.length(); ++t) {
        for (std::size_t j = 0; j < columns; ++j) convolution_.series(j)[t] = rows_[t * dimension_ + first + j];
      }
      for (std::size_t j = 0; j < columns; ++j) convolution_.run(j);
      // The first W − 1 entries wrapped around, so the stretch is read from behind them.
      for (std::size_t t = 0; t < stretch_; ++t) {
        for (std::size_t j = 0; j < columns; ++j) {
          rows_[t * dimension_ + first + j] = convolution_.series(j)[earlier_ + t];
        }
      }
    }
    current_ = number;
  }

  std::size_t earlier_;  // W − 1
  std::size_t dimension_;
  Convolution convolution_;
  std::size_t stretch_;
  std::vector<double> rows_;
  std::optional<std::uint64_t> current_;  // the stretch that rows_ holds
  StepIndex next_{0};
};

}  // namespace

std::unique_ptr<Generator> make_fft(std::span<const double> beta, std::size_t dimension,
                                    const std::optional<StepCount>& horizon) {
  NUSTREAM_REQUIRE(!beta.empty() && beta.front() == 1, "beta begins with 1: the fresh noise");
  return std::make_unique<Fft>(beta, dimension, horizon);
}

}  // namespace nustream::noise
