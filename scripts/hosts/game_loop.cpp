// A game loop (the pictures are text) whose script trains an agent meanwhile: each frame the agent plays one move and learns for
// two milliseconds, wherever in its loops that stops it. Without arguments it checks itself; `game_loop show` draws.
#include <tessera/tessera.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace {

// A ball falls, a paddle below it has to be where it lands. Scripts know it as `game.World`.
class World {
 public:
  static constexpr int kColumns = 7, kRows = 6;

  explicit World(unsigned seed) : random_(seed) { drop_ball(); }
  void drop_ball() {
    ball_ = {std::uniform_int_distribution<int>(0, kColumns - 1)(random_), kRows - 1};
    paddle_ = std::uniform_int_distribution<int>(0, kColumns - 1)(random_);
  }
  void move(int step) {
    paddle_ = std::min(std::max(paddle_ + step, 0), kColumns - 1);
    --ball_.height;
  }
  bool landed() const { return ball_.height == 0; }
  bool caught() const { return landed() && std::abs(ball_.column - paddle_) <= 1; }
  // The agent's senses, as numbers about as large as one.
  tessera::Tensor see() const {
    return tessera::Tensor::from_values<float>(
        {static_cast<float>(ball_.column - paddle_) / kColumns, static_cast<float>(paddle_) / kColumns,
         static_cast<float>(ball_.height) / kRows},
        {3});
  }
  void draw() const {
    std::string picture(static_cast<size_t>(kRows * (kColumns + 1)), ' ');
    const auto at = [&](int column, int height) -> char& {
      return picture[static_cast<size_t>((kRows - 1 - height) * (kColumns + 1) + column)];
    };
    for (int height = 0; height < kRows; ++height) at(kColumns, height) = '\n';
    for (int column = paddle_ - 1; column <= paddle_ + 1; ++column)
      if (column >= 0 && column < kColumns) at(column, 0) = '=';
    at(ball_.column, ball_.height) = 'o';
    std::printf("\033[H%s", picture.c_str());
  }

 private:
  struct Ball {
    int column, height;
  };
  std::mt19937 random_;
  Ball ball_{};
  int paddle_ = 0;
};

void add_world(tessera::Interpreter& tsr) {
  tessera::Module game = tsr.module("game", "The game's world.");
  auto type = game.add_class<World>("World", "A falling ball and a paddle.");
  type.init("__init__(self, seed: int)", [](unsigned seed) { return World(seed); });
  type.method("see(self) -> Tensor", "What an agent sees.", &World::see);
  type.method("move(self, step: int)", "Move the paddle by -1, 0 or 1; the ball falls by one.", &World::move);
  type.method("drop_ball(self)", "A new ball.", &World::drop_ball);
  type.property("landed", "Whether the ball is down.", &World::landed);
  type.property("caught", "Whether it fell on the paddle.", &World::caught);
}

// How many of the latest balls were caught.
class Score {
 public:
  void add(bool caught) { balls_[next_++ % balls_.size()] = caught; }
  int caught() const { return static_cast<int>(std::count(balls_.begin(), balls_.end(), true)); }
  bool full() const { return next_ >= balls_.size(); }

 private:
  std::array<bool, 50> balls_{};
  size_t next_ = 0;
};

int play(bool show) {
  tessera::Interpreter tsr({.memory_limit = 256 << 20});
  add_world(tsr);
  tsr.run_file("game_loop.tsr");

  World world(1);
  const auto steer = tsr.get("steer").as<std::function<int(World*)>>();
  tessera::Task learning(tsr.compile("learn(150)", TSR_EXPRESSION));

  Score score;
  int frames = 0, frames_of_learning = 0;
  for (bool learned = false; !learned || !score.full(); ++frames) {
    if (show) {
      world.draw();
      std::printf("caught %d of the latest 50\n", score.caught());
      std::this_thread::sleep_for(16ms);
    }
    world.move(steer(&world));  // the script sees the very object
    if (world.landed()) {
      score.add(world.caught());
      world.drop_ball();
    }
    if (!learned) {
      learned = learning.run_for(2ms);  // the rest of the frame's time
      ++frames_of_learning;
      if (learned) score = {};
    }
  }
  std::printf("%d rounds learned in %d frames, then %d of 50 balls caught\n", learning.result().as<int>(),
              frames_of_learning, score.caught());
  return learning.result().as<int>() == 150 && frames_of_learning > 1 && score.caught() >= 45 ? 0 : 1;
}

}  // namespace

int main(int argc, char**) {
  try {
    return play(argc > 1);
  } catch (const tessera::ScriptError& error) {
    std::fprintf(stderr, "%s", error.what());
    return 1;
  }
}
