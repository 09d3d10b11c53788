#include "nustream/descent/projection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nustream/base/error.h"

namespace nustream::descent {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<double> projected(const Projection& projection, std::vector<double> theta) {
  projection.apply(theta);
  return theta;
}

TEST(Projection, DoesNothingByDefault) {
  EXPECT_EQ(projected(Projection{}, {1e300, -inf}), (std::vector<double>{1e300, -inf}));
}

TEST(BallProjection, ShortensWhatIsOutsideAndKeepsWhatIsInside) {
  const Projection ball{Ball{10}};
  EXPECT_EQ(projected(ball, {6, -8}), (std::vector<double>{6, -8}));
  const std::vector<double> theta = projected(ball, {30, -40});
  EXPECT_DOUBLE_EQ(theta[0], 6);
  EXPECT_DOUBLE_EQ(theta[1], -8);
}

TEST(BallProjection, WorksWhereTheSquaredNormOverflowsOrUnderflows) {
  for (const double scale : {1e-320, 1e-200, 1e200, 3e307}) {
    const std::vector<double> theta = projected(Projection{Ball{scale}}, {3 * scale, -4 * scale});
    const double tolerance = scale < 1e-300 ? 1e-3 : 1e-15;  // subnormal numbers have few bits
    EXPECT_NEAR(theta[0] / scale, 0.6, tolerance);
    EXPECT_NEAR(theta[1] / scale, -0.8, tolerance);
  }
  EXPECT_NEAR(projected(Projection{Ball{1}}, {1e300, 0})[0], 1, 1e-15);
  EXPECT_EQ(projected(Projection{Ball{1e300}}, {1e-300, 0})[0], 1e-300);
}

TEST(BoxProjection, ClampsEachCoordinate) {
  EXPECT_EQ(projected(Projection{Box{{-1}, {2}}}, {-5, 0, 5}), (std::vector<double>{-1, 0, 2}));
  EXPECT_EQ(projected(Projection{Box{{0, -inf}, {inf, 0}}}, {-3, 3}), (std::vector<double>{0, 0}));
}

TEST(Projection, ShowsADivergedIterate) {
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(projected(Projection{Box{{-1}, {1}}}, {nan})[0]));
  const std::vector<double> theta = projected(Projection{Ball{1}}, {inf, 5});
  EXPECT_EQ(theta, (std::vector<double>{inf, 5}));
}

TEST(Projection, RefusesWhatIsNoSet) {
  for (const double radius : {0.0, -1.0, inf, std::nan("")}) {
    EXPECT_THROW((Projection{Ball{radius}}), InvalidParameter);
  }
  EXPECT_THROW((Projection{Box{{}, {}}}), InvalidParameter);
  EXPECT_THROW((Projection{Box{{0}, {1, 2}}}), InvalidParameter);
  EXPECT_THROW((Projection{Box{{2}, {1}}}), InvalidParameter);
  EXPECT_THROW((Projection{Box{{std::nan("")}, {1}}}), InvalidParameter);
  EXPECT_THROW((Projection{Box{{inf}, {inf}}}), InvalidParameter);
  EXPECT_NO_THROW((Projection{Box{{0, 0}, {1, 1}}}.check(2)));
  EXPECT_NO_THROW((Projection{Box{{0}, {1}}}.check(7)));
  EXPECT_THROW((Projection{Box{{0, 0}, {1, 1}}}.check(3)), InvalidParameter);
}

}  // namespace
}  // namespace nustream::descent
