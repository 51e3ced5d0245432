#include "runtime/ops/refuse.h"

namespace tessera::tensor {
namespace {

// Where the rule below does not make the one name of the other, as PyTorch's libtorch_cuda has them.
constexpr std::string_view kOthers =
    " GeluKernelImpl=GeluCUDAKernelImpl adaptive_avg_pool2d=adaptive_avg_pool2d_cuda "
    "adaptive_max_pool2d=adaptive_max_pool2d_cuda addcmul_cpu_out=addcmul_cuda avg_pool2d=avg_pool2d_out_cuda_frame "
    "avg_pool3d_out_frame=avg_pool3d_out_cuda batch_norm=batch_norm_stats_cuda "
    "binary_cross_entropy=binary_cross_entropy_out_cuda cdist=cdist_cuda cholesky_cpu=cholesky_cusolver "
    "cholesky_inverse_out_cpu=cholesky_cuda_potri cholesky_solve_cpu=cholesky_cuda_potrs "
    "cumprod_out_cpu=cumprod_cuda cumsum_out_cpu=cumsum_cuda digamma=digamma_cuda dirichlet=gamma_cuda "
    "fractional_max_pool2d_out_frame=fractional_max_pool2d_out_cuda_frame ge_cpu=compare_cuda "
    "grid_sampler3d_cpu=grid_sampler_3d_cuda grid_sampler_2d_cpu_kernel_impl=grid_sampler_2d_cuda "
    "gt_cpu=compare_cuda histogram_cpu=histc index_func_=index_reduce ldexp_cpu_exp=ldexp_cuda "
    "ldl_factor_kernel_cpu=ldl_factor_looped_cusolver ldl_solve_kernel_cpu=ldl_solve_looped_cusolver "
    "le_cpu=compare_cuda lerp_kernel_scalar=lerp_cuda lerp_kernel_tensor=lerp_cuda "
    "linalg.lu_solve_cpu=lu_solve_cusolver linalg_eig_out_cpu=linalg_eig_cuda linalg_svd_cpu=svd_cuda_gesvdj "
    "log_sigmoid_cpu=log_sigmoid_forward_cuda log_softmax_backward_kernel_impl=host_softmax_backward "
    "log_softmax_backward_lastdim_kernel_impl=host_softmax_backward log_softmax_kernel_impl=host_softmax "
    "log_softmax_lastdim_kernel_impl=host_softmax logcumsumexp_out_cpu=logcumsumexp_cuda lt_cpu=compare_cuda "
    "lu_cpu=lu_factor_cusolver max_all=max_all_cuda max_pool1d_impl=max_pool2d_with_indices_out_cuda_frame "
    "max_pool2d=max_pool2d_with_indices_out_cuda_frame max_pool3d=max_pool3d_with_indices_out_frame "
    "max_unpool2d=max_unpooling2d_forward_kernel max_unpool2d_channels_last=max_unpooling2d_forward_kernel "
    "max_unpool3d=max_unpooling3d_forward_kernel max_unpool3d_channels_last=max_unpooling3d_forward_kernel "
    "maximum_cpu=max_elementwise_cuda median_cpu=median_out_impl median_out=median_out_impl min_all=min_all_cuda "
    "minimum_cpu=min_elementwise_cuda mode_cpu=cuda_mode multi_margin_loss_cpu_kernel=multi_margin_loss_cuda "
    "multilabel_margin_loss_forward_out_frame=multilabel_margin_loss_forward_kernel "
    "nll_loss2d_forward_out_frame=nll_loss2d_forward_kernel "
    "nll_loss_out_frame=nll_loss_forward_reduce_cuda_kernel_2d ormqr_cpu=orgmr_cuda pdist=pdist_cuda "
    "polygamma=polygamma_cuda pow=pow_cuda reflection_pad1d=reflection_pad1d_out "
    "reflection_pad2d=reflection_pad2d_out_template reflection_pad3d=reflection_pad3d_out_cuda "
    "replication_pad1d=replication_pad1d_cuda replication_pad2d=replication_pad2d_cuda "
    "replication_pad3d=replication_pad3d_cuda "
    "scatter_gather_tensor_cpu_reduce_amax=cuda_scatter_gather_base_kernel_func "
    "scatter_gather_tensor_cpu_reduce_amin=cuda_scatter_gather_base_kernel_func "
    "scatter_gather_tensor_cpu_reduce_mean=cuda_scatter_gather_base_kernel_func "
    "softmax_backward_kernel_impl=host_softmax_backward softmax_backward_lastdim_kernel_impl=host_softmax_backward "
    "softmax_kernel_impl=host_softmax softmax_lastdim_kernel_impl=host_softmax softshrink_check=softshrink_cuda "
    "trace=trace_cuda trigamma=trigamma_cuda tril_indices=tril_indices_cuda triu_indices=triu_indices_cuda ";

}  // namespace

std::string cuda_kernel(std::string_view cpu_kernel) {
  std::string name = text(' ', cpu_kernel, '=');
  if (const size_t at = kOthers.find(name); at != kOthers.npos) {
    const size_t begin = at + name.size();
    return std::string(kOthers.substr(begin, kOthers.find(' ', begin) - begin));
  }
  name = cpu_kernel;
  if (const size_t at = name.find("_vml"); at != name.npos) name.erase(at, 4);
  if (const size_t at = name.find("_cpu"); at != name.npos) name.replace(at, 4, "_cuda");
  return name;
}

void refuse_type(DType t, Device device, const char* cpu_kernel) {
  refuse_type(t, device.is_cuda() ? cuda_kernel(cpu_kernel).c_str() : cpu_kernel);
}
void refuse_type(const Tensor& t, const char* cpu_kernel) { refuse_type(t.dtype(), t.device(), cpu_kernel); }

}  // namespace tessera::tensor
