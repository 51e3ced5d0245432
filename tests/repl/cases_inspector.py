"""The inspector at the prompt: tables, pictures and sequences as a terminal gets them."""
import base64
import pathlib
import re
import struct

from driver import KEY


def test_tensors_after_each_block(case):
    s = case.session()
    s.run(1, 'x = torch.ones(2, 3)')
    s.run(2, 'x.sum()', 'tensor(6.)')
    s.line(':tensors')
    s.expect_screen('''
In [3]: :tensors
name    shape   dtype    bytes  min  mean  max  std
Out[2]  []      float32    4 B    6     6    6
x       [2, 3]  float32   24 B    1     1    1    0
cpu: 2 tensors, 28 B

In [4]:''')


def test_watch_marks_what_changed(case):
    s = case.session()
    s.run(1, 'x = torch.zeros(3); kept = torch.zeros(3)')
    s.run(2, ':watch')
    s.run(3, 'x += 1; fresh = x[:2]')
    s.expect(re.compile(r'^\+  fresh .*shares x$', re.M))
    s.expect(re.compile(r'^\*  x  ', re.M))
    s.expect(re.compile(r'^   kept ', re.M))
    s.run(4, 'del x')
    s.expect(re.compile(r'^-  x  ', re.M))
    s.run(5, ':watch off', 'not watched any more')


def test_nan_is_red(case):
    s = case.session()
    s.run(1, "x = torch.tensor([float('nan'), 1.0])")
    s.run(2, ':tensors', '1 nan')
    row, line = next((i, line) for i, line in enumerate(s.lines()) if '1 nan' in line)
    assert s.style_at(row, line.index('1 nan')).fg == 'red'


def test_no_color_has_no_colour(case):
    s = case.session(env={'NO_COLOR': '1'})
    s.run(1, "x = torch.tensor([[float('nan'), 1.0]])")
    s.run(2, ':inspect x', 'heat map')
    assert b'\x1b[31' not in s.received and b';31m' not in s.received and '▀' not in s.text()


def test_the_table_keeps_to_the_window(case):
    s = case.session(columns=60)
    s.run(1, 'a_tensor_with_a_name_that_goes_on_and_on_and_on = torch.randn(3, requires_grad=True) * 2')
    s.run(2, ':tensors', 'cpu: 1 tensor')
    assert any('…' in line for line in s.lines())
    assert len([line for line in s.scrolled() if 'on_and_on' in line and '[3]' in line]) == 1
    s.resize(30, 120)
    s.run(3, ':tensors')
    s.expect(re.compile('a_tensor_with_a_name_that_goes_on_and_on_and_on +.3. +float32 .*MulBackward0'))


def test_a_heat_map_has_two_values_in_a_character(case):
    s = case.session(env={'COLORTERM': 'truecolor'})
    s.run(1, 'x = torch.tensor([[1.0, -1.0], [-1.0, 1.0]])')
    s.run(2, ':inspect x', '▀▀▀▀▀▀▀▀')
    row = next(i for i, line in enumerate(s.lines()) if line == '▀▀▀▀▀▀▀▀')
    red, blue = s.style_at(row, 0).fg, s.style_at(row, 7).fg
    assert (red, blue) == ('b40426', '3b4cc0'), (red, blue)


def test_inspecting_a_large_tensor_is_stopped(case):
    s = case.session()
    s.run(1, 'x = torch.zeros(10**6, dtype=torch.int8).unfold(0, 10**5, 1)')  # minutes of work in 1 MB of memory
    s.keys(KEY.paste('print("be" + "gun")\n:inspect x[1:, 1:]') + KEY.enter)
    s.expect('begun')
    s.keys(KEY.control('c'))
    s.expect('stopped: the numbers were not looked at')
    s.expect('KeyboardInterrupt')
    s.expect_prompt(3)
    s.run(3, 'x.shape', 'torch.Size([900001, 100000])')


def test_graph_and_model(case):
    s = case.session()
    s.run(1, 'model = nn.Linear(3, 2); y = model(torch.ones(1, 3)).sum()')
    s.run(2, ':graph y', '└─ model.weight [2, 3]')
    s.run(3, ':model model', '8 parameters (32 B), 8 trainable')
    s.run(4, ':graph y y.dot', 'y.dot has the graph')
    with open(f'{s.folder}/y.dot') as f:
        assert f.read().startswith('digraph "y" {')


def test_the_documents_examples(case):
    """docs/inspector.md, typed in order, shows what it shows."""
    text = (pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'inspector.md').read_text()
    shown = {8: (':watch', None), 11: (':watch off', None)}  # which it tells of in words
    for block in re.findall('^```\n(.*?)^```', text, re.M | re.S):
        for number, line, answer in re.findall(r'^In \[([0-9]+)\]: (.*)\n((?:(?!In \[).*\n)*)', block, re.M):
            shown[int(number)] = line, answer.rstrip('\n')
    assert len(shown) == 17, sorted(shown)
    s = case.session(rows=60, columns=100, env={'NO_COLOR': '1'})
    for number, (line, answer) in sorted(shown.items()):
        s.run(number, line, *([answer] if answer else []))


FIGURE = 'import matplotlib.pyplot as plt; lines = plt.plot([1, 2, 3]); plt.show()'


def test_a_figure_at_a_kitty_terminal(case):
    s = case.session(env={'TERM': 'xterm-kitty'})
    s.run(1, FIGURE)
    parts = re.findall(rb'\x1b_G(?:a=T,f=100,)?m=([01]);([^\x1b]*)\x1b\\', s.received)
    png = base64.b64decode(b''.join(part for _, part in parts))
    assert png.startswith(b'\x89PNG') and struct.unpack('>II', png[16:24]) == (640, 480)
    assert 'figure-' not in s.text()


def test_a_figure_at_a_terminal_that_draws_sixels(case):
    s = case.session(env={'TESSERA_IMAGES': 'sixel'})
    s.run(1, FIGURE)
    assert re.search(rb'\x1bP0;1q"1;1;640;480#0;2;[0-9;]+.*-\x1b\\', s.received, re.S)


def test_a_figure_in_half_blocks(case):
    s = case.session(rows=60, env={'COLORTERM': 'truecolor', 'TESSERA_FIGURES': case.folder})
    s.run(1, FIGURE, 'figure-')
    drawn = [line for line in s.scrolled() if line.startswith('▀' * 100)]
    assert len(drawn) == 38, len(drawn)


def test_a_value_that_is_a_picture(case):
    s = case.session(env={'COLORTERM': 'truecolor'})
    s.run(1, 'from PIL import Image')
    s.run(2, "Image.new('RGB', (12, 4), (255, 0, 0))", '▀' * 12)
    row = next(i for i, line in enumerate(s.lines()) if line == '▀' * 12)
    assert (s.style_at(row, 0).fg, s.style_at(row, 11).bg) == ('ff0000', 'ff0000')
    assert s.lines()[row - 1].startswith('Out[2]: <PIL.Image.Image')


def test_a_progress_bar_is_redrawn_in_place(case):
    s = case.session()
    s.run(1, 'from tqdm import tqdm; import time')
    s.run(2, 'for i in tqdm(range(20)): time.sleep(0.02)\n', '20/20')
    assert sum('it/s' in line for line in s.scrolled()) == 1, s.text()
    assert s.received.count(b'it/s') > 1


def test_a_figure_at_a_terminal_without_colours(case):
    s = case.session(env={'TERM': 'vt100', 'TESSERA_FIGURES': case.folder})
    s.run(1, FIGURE, 'figure-')
    assert '▀' not in '\n'.join(s.scrolled())
