"""How long a person waits. Bounds are several times what an idle machine takes."""
import statistics
import time


def test_timed_start(case):
    times = []
    for _ in range(3):
        begin = time.monotonic()
        k = case.kernel()
        times.append(time.monotonic() - begin)
    case.say(f'start to ready {1000 * min(times):.0f} ms')
    assert min(times) < 1.5 * case.slow, times


def test_timed_round_trip(case):
    k = case.kernel()
    k.good('1 + 1')
    times = [k.good('1 + 1').seconds for _ in range(50)]
    case.say(f'1 + 1: {1000 * statistics.median(times):.1f} ms')
    assert statistics.median(times) < 0.02 * case.slow, times


def test_timed_lines(case):
    k = case.kernel()
    k.good('1')
    result = k.good('for i in range(10_000):\n    print("line", i)')
    case.say(f'10,000 lines: {1000 * result.seconds:.0f} ms, {len(result.of("stream"))} messages')
    assert result.text() == ''.join(f'line {i}\n' for i in range(10_000))
    assert result.seconds < 0.5 * case.slow and len(result.of('stream')) < 200, result.seconds


def test_timed_first_output(case):
    k = case.kernel()
    k.good('import time')
    name = k.start('print("now")\ntime.sleep(1)')
    begin = time.monotonic()
    while k.client.get_iopub_msg(timeout=5)['msg_type'] != 'stream':
        pass
    seconds = time.monotonic() - begin
    case.say(f'first output {1000 * seconds:.1f} ms')
    assert seconds < 0.05 * case.slow, seconds
    k.result(name)
