"""What the prompt takes, in the processor time of the program: the machine may be busy. Each case says the time that passed, too.

Asked: ready in 10 ms, a key in 5 ms with 500 lines in the block, a completion in 20 ms.
"""
import os
import time

from driver import KEY

# A sanitized program takes many times as long and is not what is measured.
SLOW = 20 if any(os.environ.get(name) for name in ('ASAN_OPTIONS', 'TSAN_OPTIONS')) else 1


def machine_slowness():
    """How many times longer than on the machine of docs/repl.md this processor takes now: CPython's loop is the peer. At least 1."""
    began = time.process_time()
    for _ in range(10**6):
        pass
    return max(1, (time.process_time() - began) / 0.011)


def say(what, took, passed, asked):
    slowness = machine_slowness()
    print(f'{what}: {took * 1000:.2f} ms of processor, {passed * 1000:.2f} ms passed '
          f'(asked: {asked * 1000:.0f} on a machine {slowness:.2f} times as fast)')
    assert took < asked * slowness * SLOW, (what, took, asked, slowness)


def test_timed_prompt_ready(case):
    took, passed = [], []
    for _ in range(10):
        s = case.session()
        s.expect_prompt(1)
        passed.append(time.perf_counter() - s.began)
        took.append(s.processor_time())
        s.close()
    say('prompt ready', min(took), min(passed), 0.010)


def test_timed_prompt_ready_with_a_full_history(case):
    with open(case.folder + '/history', 'w') as file:
        file.writelines(f'value_{i} = torch.relu(x @ weights[{i}] + bias)\\n    # and a second line\n' for i in range(10_000))
    took, passed = [], []
    for _ in range(10):
        s = case.session()
        s.expect_prompt(1)
        passed.append(time.perf_counter() - s.began)
        took.append(s.processor_time())
        s.close()
    say('prompt ready, 10,000 blocks of history', min(took), min(passed), 0.010)


def timed_keys(s, keys, shown):
    """Processor time and time of one key, the middle of many."""
    took, passed = [], []
    for key in keys:
        before = s.processor_time()
        passed.append(s.time_to_answer(key))
        s.wait(lambda: shown(s), 'expected the line')
        took.append(s.processor_time() - before)
    return sorted(took)[len(took) // 2], sorted(passed)[len(passed) // 2]


def test_timed_key_in_500_lines(case):
    s = case.session(rows=50)
    s.expect_prompt(1)
    lines = [f'    value_{i} = torch.relu(x @ w{i} + b[{i}])  # layer "{i}"' for i in range(1, 500)]
    s.keys(KEY.paste('\n'.join(['def forward(x):'] + lines)))
    s.wait(lambda: 'value_499' in s.text(), 'expected the end')
    say('a key at the end of 500 lines', *timed_keys(s, 'abcdefgh(ijkl', lambda s: 'value_499' in s.cursor_line()), 0.005)
    s.keys(KEY.up * 250)
    s.wait(lambda: 'value_249' in s.cursor_line(), 'expected the middle')
    say('a key in the middle of them', *timed_keys(s, 'abcdefgh(ijkl', lambda s: 'value_249' in s.cursor_line()), 0.005)
    say('a movement', *timed_keys(s, [KEY.left] * 10, lambda s: 'value_249' in s.cursor_line()), 0.005)


def timed_tab(s, typed, number):
    s.keys(typed)
    s.expect_prompt(number, typed)
    before = s.processor_time()
    passed = s.time_to(KEY.tab, lambda: not s.lines()[-1].startswith('In ['))
    took = s.processor_time() - before
    s.keys(KEY.escape)
    s.wait(lambda: s.lines()[-1].startswith(f'In [{number}]'), 'expected no menu')
    s.keys(KEY.control('a') + KEY.control('k'))
    s.expect_prompt(number)
    return took, passed


def test_timed_completion(case):
    s = case.session()
    s.run(1, 'import torch')
    say('the first completion of torch.', *timed_tab(s, 'x = torch.', 2), 0.030)  # reads every name once: 19 ms, of 1,400
    say('another', *timed_tab(s, 'x = torch.', 2), 0.020)
    say('of a tensor', *timed_tab(s, 'torch.ones(2).', 2), 0.020)
    say('of names', *timed_tab(s, 'x = ', 2), 0.020)


def test_timed_completion_without_import(case):
    s = case.session()
    s.expect_prompt(1)
    say('a completion of torch. that nobody has imported', *timed_tab(s, 'x = torch.', 1), 0.030)
