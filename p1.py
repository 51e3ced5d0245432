import torch, operator
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_module import split_module
from torch.fx.experimental.optimization import fuse
from torch.fx import replace_pattern
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__(); self.c=nn.Conv2d(3,4,3); self.b=nn.BatchNorm2d(4); self.l=nn.Linear(4,2)
    def forward(self,x):
        y=self.b(self.c(x)).relu()
        return self.l(y.mean((2,3)))
m=M().eval()
g=fx.symbolic_trace(m)
ShapeProp(g).propagate(torch.randn(2,3,8,8))
for n in g.graph.nodes: print(n.name, n.meta['tensor_meta'].shape, n.meta['tensor_meta'].dtype, n.meta['tensor_meta'].stride)
f=fuse(m); print(f.code); x=torch.randn(2,3,8,8); print(torch.allclose(f(x),m(x),atol=1e-6))
class S(nn.Module):
    def forward(self,x,y):
        a=x+y; b=a.relu(); c=b*2; d=c-x; return d, b
s=fx.symbolic_trace(S())
i=[0]
def part(n): i[0]+=1; return (i[0]-1)//2
sp=split_module(s,S(),part); print(sp); print(sp.code); print(sp.submod_0.code, sp.submod_1.code); print(sp(torch.ones(2),torch.ones(2)))
s.graph.print_tabular()
from torch.fx.passes.graph_drawer import FxGraphDrawer
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import PassManager
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.operator_support import OperatorSupport
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.passes.tools_common import legalize_graph
from torch.fx.passes.param_fetch import lift_lowering_attrs_to_nodes
from torch.fx.passes.dialect.common.cse_pass import CSEPass
from torch.fx.passes.reinplace import reinplace
from torch.fx.passes.net_min_base import _MinimizerBase
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions
from torch.fx.passes.utils.source_matcher_utils import get_source_partitions
from torch.fx.passes.splitter_base import _SplitterBase
from torch.fx.passes.graph_manipulation import get_size_of_all_nodes
from torch.fx.passes.annotate_getitem_nodes import annotate_getitem_nodes
from torch.fx.passes.pass_manager import PassManager as PM
