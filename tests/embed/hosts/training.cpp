// The tensor library alone: a line fitted to points by gradient descent. Status 0 when it found it.
#include <tessera/tensor.h>

#include <cmath>
#include <cstdio>

using namespace tessera::tensor;

int main() {
  const Tensor x = Tensor::from_values<float>({-2, -1, 0, 1, 2, 3}, {6, 1});
  const Tensor y = x * 3.0 + 0.5;
  Tensor w = Tensor::from_values<float>({0}, {1, 1}), b = Tensor::from_values<float>({0}, {1});
  set_requires_grad(w, true);
  set_requires_grad(b, true);
  float loss_value = 0;
  for (int step = 0; step < 200; ++step) {
    const Tensor error = matmul(x, w) + b - y;
    const Tensor loss = mean(error * error);
    const TensorList gradients = grad({loss}, {w, b});
    const GradMode off(false);
    add_(w, gradients[0] * -0.1);
    add_(b, gradients[1] * -0.1);
    loss_value = static_cast<float>(loss.item().to_double());
  }
  std::printf("loss %g, w %g, b %g\n", double(loss_value), w.item().to_double(), b.item().to_double());
  return std::fabs(w.item().to_double() - 3) < 1e-3 && std::fabs(b.item().to_double() - 0.5) < 1e-3 ? 0 : 1;
}
