// Two interpreters at once, each on a thread of its own and each with threads of the language: queues, locks, conditions, tensors
// and exceptions. Built with the thread sanitizer (preset tsan) it shows that the baton orders whatever the threads share.
//
//   tessera_language_threads [ROUNDS]
#include <tessera/tessera.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

namespace {

const char* const kProgram = R"(
import queue, threading
from concurrent.futures import ThreadPoolExecutor
import torch

totals, lock, tasks, answers = [], threading.Lock(), queue.Queue(4), queue.SimpleQueue()
ready, counted, own = threading.Condition(), [0], threading.local()
barrier, event = threading.Barrier(4), threading.Event()

def work(number):
    own.sum = 0
    barrier.wait()
    while True:
        task = tasks.get()
        if task is None:
            break
        x = torch.full((64, 64), float(task), requires_grad=True)
        (x @ x).sum().backward()
        own.sum += int(x.grad[0, 0].item())
        with lock:
            totals.append(task)
        with ready:
            counted[0] += 1
            ready.notify_all()
    answers.put((number, own.sum))

threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for thread in threads: thread.start()
for task in range(40): tasks.put(task)
with ready:
    assert ready.wait_for(lambda: counted[0] == 40)
for _ in threads: tasks.put(None)
for thread in threads: thread.join()
assert sorted(totals) == list(range(40)), totals
assert sum(answers.get()[1] for _ in threads) == 128 * sum(range(40))

class Noisy:
    def __del__(self): event.set()

def fails(x):
    noisy = Noisy()
    if x % 2: raise ValueError(x)
    return torch.rand(1000).sort().values[0].item() >= 0

with ThreadPoolExecutor(3) as pool:
    futures = [pool.submit(fails, x) for x in range(20)]
good = [f.exception() is None and f.result() for f in futures]
assert good == [x % 2 == 0 for x in range(20)], good
assert event.is_set()

def forever():
    while True: sum(range(100))

threading.Thread(target=forever, daemon=True).start()
total = sum(range(200000))
)";

// The total that each script ends with; 0 if it fails.
long long run(int rounds) {
  try {
    long long total = 0;
    for (int i = 0; i < rounds; ++i) {
      tessera::Interpreter tsr({.threads = 16});
      tsr.run(kProgram);
      total += tsr.get("total").as<long long>();
    }
    return total;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 0;
  }
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 3;
  constexpr int kInterpreters = 2;
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kInterpreters; ++i)
    threads.emplace_back([&] { right += run(rounds) == rounds * 19999900000LL ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  std::printf("%d passed, %d failed\n", right.load(), kInterpreters - right.load());
  return right.load() == kInterpreters ? 0 : 1;
}
