// Eight interpreters train at once, each on a thread of its own, while others are created, cancelled and destroyed: the losses must
// be those of a run alone. Built with the thread sanitizer (preset tsan) it shows that they share nothing without a lock.
//
//   tessera_threads [INTERPRETERS] [STEPS]
#include <tessera/tessera.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

const char* const kProgram = R"(
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(seed)
kinds = {
    'mlp': lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4)),
    'conv': lambda: nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 4)),
}
class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 4)
    def forward(self, x):
        return self.head(self.lstm(x[:, 0])[0][:, -1])
kinds['rnn'] = Rnn
kinds['attention'] = lambda: nn.Sequential(nn.Flatten(1, 2), nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0), nn.Flatten(), nn.Linear(64, 4))
model = kinds[kind]()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(128, 1, 8, 8), torch.randint(0, 4, (128,))
losses = []
for step in range(steps):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
order = torch.randn(20000).sort().indices[:5].tolist()
)";

const char* const kKinds[] = {"mlp", "conv", "rnn", "attention"};

std::vector<double> train(int number, int steps) {
  tessera::Interpreter tsr;
  tsr.set("seed", number);
  tsr.set("steps", steps);
  tsr.set("kind", kKinds[number % 4]);
  tsr.run(kProgram);
  return tsr.get("losses").as<std::vector<double>>();
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 8, steps = argc > 2 ? std::atoi(argv[2]) : 10;
  std::vector<std::vector<double>> alone, together(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) alone.push_back(train(i, steps));
  std::atomic<bool> over{false};
  std::thread others([&] {  // they come and go, cancelled from here
    while (!over) {
      tessera::Interpreter endless;
      std::thread runner([&] {
        tessera::ScriptError error;
        endless.try_run("import torch\nwhile True: torch.ones(8, 8) @ torch.ones(8, 8)\n", nullptr, &error);
      });
      std::atomic<bool> ended{false};
      std::thread watcher([&] {  // a cancellation that comes before the run has nobody to stop: so again and again
        while (!ended) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          endless.cancel();
        }
      });
      runner.join();
      ended = true;
      watcher.join();
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] { together[static_cast<size_t>(i)] = train(i, steps); });
  for (std::thread& thread : threads) thread.join();
  over = true;
  others.join();
  int wrong = 0;
  for (size_t i = 0; i < alone.size(); ++i) wrong += alone[i] != together[i];
  std::printf("%d interpreters, %d steps each: %d differ from a run alone\n", count, steps, wrong);
  return wrong == 0 ? 0 : 1;
}
