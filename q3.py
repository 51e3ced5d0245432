import torch
from torch.profiler import profile, record_function, ProfilerActivity, schedule
steps=[]
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1,warmup=1,active=2,repeat=1), on_trace_ready=lambda p: steps.append(sorted({e.key for e in p.key_averages()})), record_shapes=True, profile_memory=True) as p:
    for i in range(6):
        with record_function('step'): (torch.ones(4,4)@torch.ones(4,4)).sum()
        p.step()
print(steps)
t=p.key_averages().table(sort_by='cpu_time_total', row_limit=5); print(t.split('\n')[1])
with torch.autograd.profiler.profile() as q: torch.ones(2,2).mm(torch.ones(2,2))
print([e.name for e in q.function_events])
print(sorted(k for k in vars(p.key_averages()[0]))[:8] and p.key_averages()[0].count>0)
with profile(activities=[ProfilerActivity.CPU], with_stack=False) as p:
    x=torch.ones(3,3,requires_grad=True); (x@x).relu().sum().backward()
print(sorted({e.key for e in p.key_averages()}))
p.export_chrome_trace('/tmp/door/p/t.json'); import json; d=json.load(open('/tmp/door/p/t.json')); print(sorted({e.get('ph') for e in d['traceEvents']}), sorted(d)[:3])
