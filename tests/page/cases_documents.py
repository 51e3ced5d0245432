"""The document: edits, cells, files, notebooks, drafts."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time


def test_edits_make_versions_and_reach_other_tabs(case):
    server = case.server()
    one, two = server.tab(), server.tab()
    one.edit([(0, 0, 'a😀b\n'), (5, 5, 'c')], 0)
    assert one.wait('edited') == {'type': 'edited', 'version': 1, 'taken': True}
    assert two.wait('edited')['changes'] == [{'from': 0, 'to': 0, 'text': 'a😀b\n'}, {'from': 5, 'to': 5, 'text': 'c'}]
    two.edit([(1, 3, 'x')], 1)  # the emoji is two units
    two.wait('edited')
    assert server.tab().hello['document']['text'] == 'axb\nc'
    assert not server.tab().hello['document']['saved']


def test_an_edit_of_an_old_version_is_refused_with_the_text(case):
    server = case.server()
    one, two = server.tab(), server.tab()
    one.edit([(0, 0, 'first')], 0)
    one.wait('edited')
    two.edit([(0, 0, 'second')], 0)
    assert two.wait('refused') == {'type': 'refused', 'version': 1, 'text': 'first'}


def test_edits_that_make_no_sense(case):
    server = case.server()
    tab = server.tab()
    tab.edit([(0, 0, 'abc')], 0)
    tab.wait('edited')
    for changes in ([{'from': 2, 'to': 1, 'text': ''}], [{'from': 0, 'to': 4, 'text': ''}], [{'from': -1, 'to': 0, 'text': ''}], [{'from': 0, 'to': 0}],
                    [{'from': 0, 'to': 0, 'text': 'x'}, {'from': 9, 'to': 9, 'text': 'x'}], [{'from': 1.5, 'to': 2, 'text': ''}], ['x'], 7, None,
                    [{'from': 1 << 62, 'to': 1 << 63, 'text': ''}], [{'from': 0, 'to': 0, 'text': 5}]):
        tab.send('edit', version=1, changes=changes)
        tab.wait('problem')
        assert tab.wait('refused')['text'] == 'abc', changes
    tab.socket.sendall(__import__('client').frame(1, b'{"type":"edit","version":1,"changes":[{"from":0,"to":0,"text":"\\ud83d"}]}'))
    tab.wait('problem')
    assert tab.wait('refused')['text'] == 'abc'
    tab.edit([(0, 3, 'fine')], 1)
    assert tab.wait('edited')['version'] == 2


def test_a_program_is_saved_and_opened(case):
    server = case.server()
    tab = server.tab()
    tab.edit([(0, 0, '# %% one\nx = "ü"\n')], 0)
    tab.wait('edited')
    tab.send('save', path='new', format='tsr')
    saved = tab.wait('saved')
    assert saved['path'] == 'new.tsr' and saved['version'] == 1
    assert (case.folder / 'new.tsr').read_text(encoding='utf-8') == '# %% one\nx = "ü"\n'
    assert server.tab().hello['document']['saved']
    tab.send('new')
    assert tab.wait('document')['text'] == ''
    tab.send('open', path='new.tsr')
    opened = tab.wait('document')
    assert opened['text'] == '# %% one\nx = "ü"\n' and opened['path'] == 'new.tsr' and opened['saved']
    tab.edit([(0, 0, '#\n')], opened['version'])
    tab.wait('edited')
    tab.send('save')  # where it came from
    tab.wait('saved')
    assert (case.folder / 'new.tsr').read_text(encoding='utf-8').startswith('#\n# %%')
    assert [name for name in os.listdir(case.folder) if name.endswith('.tmp')] == []


def test_what_another_program_wrote_is_not_written_over(case):
    case.file('mine.tsr', 'a = 1\n')
    case.file('other.tsr', 'other\n')
    tab = case.tab()
    tab.send('open', path='mine.tsr')
    version = tab.wait('document')['version']
    tab.edit([(0, 0, 'b\n')], version)
    tab.wait('edited')
    tab.send('save', path='other.tsr', format='tsr')
    assert tab.wait('exists')['changed'] is False
    case.file('mine.tsr', 'somebody else was here\n')
    tab.send('save', path='mine.tsr', format='tsr')
    assert tab.wait('exists')['changed'] is True
    assert (case.folder / 'mine.tsr').read_text() == 'somebody else was here\n'
    tab.send('save', path='mine.tsr', format='tsr', overwrite=True)
    tab.wait('saved')
    assert (case.folder / 'mine.tsr').read_text() == 'b\na = 1\n'


def test_a_file_keeps_its_mode_and_ends_of_lines(case):
    path = case.file('dos.py', b'\xef\xbb\xbfa = 1\r\nb = 2\r\n')
    path.chmod(0o640)
    tab = case.tab('dos.py')
    document = tab.hello['document']
    assert document['text'] == 'a = 1\nb = 2\n' and document['name'] == 'dos.py'
    tab.edit([(5, 5, '0')], document['version'])
    tab.wait('edited')
    tab.send('save')
    assert tab.wait('saved')['path'] == 'dos.py'
    assert path.read_bytes() == b'\xef\xbb\xbfa = 10\r\nb = 2\r\n' and path.stat().st_mode & 0o777 == 0o640


def test_files_that_cannot_be_opened(case):
    case.file('bytes.tsr', b'\xff\xfe\x00')
    case.file('folder.tsr/x.tsr')
    os.mkfifo(case.folder / 'pipe.tsr')
    case.file('kept.tsr', 'kept\n')
    tab = case.tab('kept.tsr')
    for path, word in (('bytes.tsr', 'UTF-8'), ('folder.tsr', 'folder'), ('pipe.tsr', 'no file with a text'), ('missing.tsr', 'No such file'), ('', 'no file'),
                       ('/etc/passwd', 'no file'), ('../x', 'no file'), ('a/../../x', 'no file'), ('x' * 5000, 'no file'), ('a\0b', 'no file'), ('kept.tsr/x', 'Not a directory')):
        tab.send('open', path=path)
        problem = tab.wait('problem')
        assert word in problem['text'] and problem['about'] == 'open', (path, problem)
    assert case.servers[0].tab().hello['document']['text'] == 'kept\n'
    tab.send('open', example='no such')
    assert 'no example' in tab.wait('problem')['text']
    tab.send('open', example='regression.tsr')
    assert 'line through points' in tab.wait('document')['text']


def test_saving_where_it_is_not_possible(case):
    case.file('folder.tsr/x.tsr')
    case.file('file.tsr', 'x')
    tab = case.tab()
    for path in ('missing/x.tsr', 'folder.tsr', '../x.tsr', '/tmp/x.tsr', 'file.tsr/x.tsr', 'x' * 300, 'a\0.tsr'):
        tab.send('save', path=path, format='tsr', overwrite=True)
        assert tab.wait('problem')['about'] == 'save', path
    if os.geteuid() != 0:
        os.chmod(case.folder / 'folder.tsr', 0o500)
        tab.send('save', path='folder.tsr/y.tsr', format='tsr')
        assert 'Permission' in tab.wait('problem')['text']


def test_the_list_of_files(case):
    for name in ('b.tsr', 'a.py', 'c.ipynb', '.hidden.tsr', 'picture.png', 'sub/inner/deep.tsr'):
        case.file(name)
    tab = case.tab()
    listed = tab.ask('files', folder='')
    assert [(e['name'], e['kind'], e['path']) for e in listed['entries']] == [
        ('sub', 'folder', 'sub'), ('a.py', 'file', 'a.py'), ('b.tsr', 'file', 'b.tsr'), ('c.ipynb', 'file', 'c.ipynb')], listed
    assert listed['parent'] is None
    inner = tab.ask('files', folder='sub/inner/')
    assert inner['parent'] == 'sub' and inner['entries'][0]['path'] == 'sub/inner/deep.tsr'
    for folder in ('..', '/etc', 'sub/../..', 'missing', 'a.py', 'sub\0', './..'):
        assert tab.ask('files', folder=folder)['problem'], folder


def notebook(cells, minor=5, **more):
    return json.dumps({'nbformat': 4, 'nbformat_minor': minor, 'metadata': {'kernelspec': {'name': 'python3', 'display_name': 'Python 3'}, 'mine': [1, {'a': None}]}, 'cells': cells, **more})


def code(source, outputs=(), number=None, **more):
    return {'cell_type': 'code', 'id': f'id-{abs(hash(str(source))) % 10**6}', 'metadata': {}, 'source': source, 'outputs': list(outputs), 'execution_count': number, **more}


def test_a_notebook_becomes_cells_and_stays_itself(case):
    stream = {'output_type': 'stream', 'name': 'stdout', 'text': ['1\n', '2\n']}
    shown = {'output_type': 'display_data', 'data': {'image/png': 'iVBORw0KGgo=', 'text/plain': ['<Figure>'], 'application/x+json': {'k': [1]}}, 'metadata': {'w': 1}}
    result = {'output_type': 'execute_result', 'execution_count': 4, 'data': {'text/plain': ['3']}, 'metadata': {}}
    error = {'output_type': 'error', 'ename': 'E', 'evalue': 'v', 'traceback': ['a', 'b']}
    cells = [{'cell_type': 'markdown', 'id': 'm', 'metadata': {'tags': ['t']}, 'source': ['# Title\n', '\n', 'text']},
             code(['print(1)\n', 'print(2)'], [stream, shown], 3, metadata={'title': 'Printing', 'collapsed': True}),
             code('1 + 2', [result, error], 4),
             {'cell_type': 'raw', 'id': 'r', 'metadata': {'format': 'x'}, 'source': 'raw', 'attachments': {'a.png': {'image/png': 'AA=='}}}]
    case.file('n.ipynb', notebook(cells, extra=True))
    tab = case.tab('n.ipynb')
    document = tab.hello['document']
    assert document['format'] == 'ipynb'
    assert document['text'] == ('# %% [markdown]\n# # Title\n#\n# text\n\n# %% Printing\nprint(1)\nprint(2)\n\n# %%\n1 + 2\n\n# %% [raw]\n# raw\n'), document['text']
    assert [(o['cell'], [m['type'] for m in o['messages']]) for o in document['outputs']] == [(1, ['stream', 'display']), (2, ['result', 'error'])]
    tab.send('save')
    tab.wait('saved')
    before, after = json.loads(notebook(cells, extra=True)), json.loads((case.folder / 'n.ipynb').read_text())
    assert after == before, (after, before)


ODD = '''\ufeff{
    "metadata": {"big": 123456789012345678901234567890, "small": 1.10, "z": 1, "a": "\\u00fc\\/"},
    "cells": [
     {"source": ["x = 1\\r\\n", "y\\r\\n", "\\r\\n"], "cell_type": "code", "metadata": {"n": 98765432109876543210987, "title": " odd\\n[raw] "}, "outputs": [
        {"output_type": "of tomorrow", "x": 1}, 5, {"output_type": "stream", "name": "stdout", "text": "a\\rb", "more": true}], "execution_count": "4"},
     {"cell_type": "markdown", "metadata": {}, "source": "%% a\\n\\n\\n", "attachments": {}}   ,
     {"cell_type": "code", "source": "\\n\\n", "outputs": [], "metadata": {"tags": []}, "execution_count": null, "id": "q"},
     {"cell_type": "code", "source": "z", "outputs": [], "metadata": {}, "execution_count": 3, "id": "\\"]}{"}
    ],
    "nbformat": 4, "nbformat_minor": 5, "cells_of_more": [1e3]
}
'''


def test_what_nobody_touched_goes_back_as_it_was(case):
    path = case.file('odd.ipynb', ODD)
    tab = case.tab('odd.ipynb')
    document = tab.hello['document']
    tab.send('save')
    tab.wait('saved')
    assert path.read_text(encoding='utf-8') == ODD, path.read_text(encoding='utf-8')
    # One cell is changed, one runs: the others and the file around them stay as they are written.
    at = document['text'].rindex('z')
    tab.edit([(at, at + 1, 'new\nlines')], document['version'])
    tab.wait('edited')
    tab.execute('print(1)', where='editor', cell=2, line=0)
    tab.send('save')
    tab.wait('saved')
    text = path.read_text(encoding='utf-8')
    before, after = json.loads(ODD[1:]), json.loads(text[1:])
    before['cells'][3]['source'] = ['new\n', 'lines']
    before['cells'][2].update(outputs=[{'output_type': 'stream', 'name': 'stdout', 'text': ['1\n']}], execution_count=1)
    assert after == before, text
    assert text.startswith(ODD[:ODD.index('{"cell_type": "code", "source": "\\n')]) and text.endswith(ODD[-60:])
    # One goes, one comes.
    text_now = tab_text = case.servers[0].tab().hello['document']
    tab.edit([(0, text_now['text'].index('# %% [markdown]'), '# %% New\n1\n\n')], tab_text['version'])
    tab.wait('edited')
    tab.send('save')
    tab.wait('saved')
    last = json.loads(path.read_text(encoding='utf-8')[1:])
    assert last['cells'][1:] == after['cells'][1:] and last['cells'][0]['source'] in (['1'], '1'), last
    assert last['metadata'] == before['metadata']


def test_a_notebook_without_cells_stays_without(case):
    text = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    path = case.file('none.ipynb', text)
    tab = case.tab('none.ipynb')
    tab.send('save')
    tab.wait('saved')
    assert path.read_text() == text
    tab.edit([(0, 0, 'x')], tab.hello['document']['version'])
    tab.wait('edited')
    tab.send('save')
    tab.wait('saved')
    assert [c['source'] for c in json.loads(path.read_text())['cells']] == [['x']]


def test_names_that_cannot_be_saved_by(case):
    os.symlink('/tmp', case.folder / 'out')
    server = case.server()
    tab = server.tab()
    for path, word in (('.hidden.tsr', 'begin with a dot'), ('.tsr', 'begin with a dot'), ('a\nb.tsr', 'control characters'), ('a\x1b[31m.tsr', 'control characters'), ('\x7f', 'control characters'),
                       ('a\0b', 'control characters'), (5, 'is no text'), (None, 'is no text'), (['a'], 'is no text'), ('out/x.tsr', 'leads out of this folder'), ('x' * 5000, 'no file')):
        tab.send('save', path=path, format='tsr')
        problem = tab.wait('problem')
        assert word in problem['text'] and len(problem['text']) < 400 and problem['about'] == 'save' and min(problem['text']) >= ' ', (path, problem)
    assert [name for name in os.listdir(case.folder) if name not in ('.state', 'out')] == []


def test_lines_that_look_like_a_new_cell(case):
    sources = ['x = 1\n# %% no cell\ny = 2', 's = """\n# %% in a string\n"""\n# \\%% kept', 's = """never closed\n#%%', '%%writefile out.py\n# %% first\nprint()', '"""doc"""']
    case.file('n.ipynb', notebook([code(source, id=f'c{i}') for i, source in enumerate(sources)] + [{'cell_type': 'markdown', 'id': 'm', 'metadata': {}, 'source': '%% a\n\n# %% b'}]))
    tab = case.tab('n.ipynb')
    text = tab.hello['document']['text']
    assert text.startswith('# %%\nx = 1\n# \\%% no cell\ny = 2\n\n# %%\ns = """\n# %% in a string\n') and '# %% [open string]\n' in text, text
    out, _, _ = tab.execute('%%writefile out.py\n# \\%% first\nprint()', where='editor', cell=3, line=12)
    assert (case.folder / 'out.py').read_text() == '# %% first\nprint()\n', out
    tab.send('save')
    tab.wait('saved')
    after = json.loads((case.folder / 'n.ipynb').read_text())
    assert [(c['id'], ''.join(c['source'])) for c in after['cells']] == [(f'c{i}', source) for i, source in enumerate(sources)] + [('m', '%% a\n\n# %% b')], after


def test_the_browser_divides_as_the_server_does(case):
    node = shutil.which('node')
    if not node:
        case.skip('needs node')
    pieces = ['# %%', '#%% a', '# \\%%', '# %% [markdown] t', '# %% [open string] u', '# %% T [raw]', '"""', "x = \'\'\'", "\'a\\", "it\'s # \"", 'x', '', '\\', '# "', 'f"""\\"""', '# %% \u2028 b', '\xa0']
    pick = random.Random(7)
    texts = ['\n'.join(pick.choice(pieces) for _ in range(pick.randrange(1, 12))) for _ in range(60)]
    module = case.file('cells.mjs', (pathlib.Path(__file__).resolve().parents[2] / 'repl/page/web/cells.js').read_text(encoding='utf-8'))
    case.file('texts.json', json.dumps(texts))
    program = ("import {cellsOf} from '%s'; import {readFileSync} from 'fs';"
               "console.log(JSON.stringify(JSON.parse(readFileSync('texts.json')).map((t) => cellsOf(t.split('\\n')).map((c) => [c.title, c.isText]))))" % module)
    found = json.loads(subprocess.run([node, '--input-type=module', '-e', program], cwd=case.folder, check=True, capture_output=True, text=True).stdout)
    tab = case.tab()
    for text, expected in zip(texts, found):
        tab.send('new')
        document = tab.wait('document')
        tab.edit([(0, 0, text)], document['version'])
        tab.wait('edited')
        tab.send('save', path='t.ipynb', format='ipynb', overwrite=True)
        tab.wait('saved')
        cells = json.loads((case.folder / 't.ipynb').read_text())['cells']
        assert [[c['metadata'].get('title', ''), c['cell_type'] != 'code'] for c in cells] == expected, (text, cells, expected)


def test_outputs_of_the_last_run_go_into_the_notebook(case):
    case.file('n.ipynb', notebook([code('print("old")', [{'output_type': 'stream', 'name': 'stdout', 'text': ['old\n']}], 1), code('2', [], None), code('3', [], None)], minor=4))
    tab = case.tab('n.ipynb')
    text = tab.hello['document']['text']
    tab.execute('import sys\nprint("new")\nprint("e", file=sys.stderr)\n5', where='editor', cell=1, line=4)
    version = tab.hello['document']['version']
    # A new cell before it, and the first one changed: outputs stay with their cells.
    tab.edit([(0, 0, '# %% added\n0\n\n')], version)
    tab.wait('edited')
    tab.execute('for i in range(3): print(i, end="\\r")\nprint("done")', where='editor', cell=3, line=9)
    tab.send('save')
    tab.wait('saved')
    after = json.loads((case.folder / 'n.ipynb').read_text())
    outputs = [[o.get('text') or o.get('data') for o in cell['outputs']] for cell in after['cells']]
    assert outputs == [[], [['old\n']], [['new\n'], ['e\n'], {'text/plain': ['5']}], [['done\n']]], outputs
    assert [cell['execution_count'] for cell in after['cells']] == [None, 1, 1, 2]
    assert 'id' not in after['cells'][0]  # of a minor version that has none
    assert text


def test_a_cell_that_is_moved_keeps_its_outputs(case):
    case.file('n.ipynb', notebook([code('a', [{'output_type': 'stream', 'name': 'stdout', 'text': ['of a\n']}], 1), code('b', [{'output_type': 'stream', 'name': 'stdout', 'text': ['of b\n']}], 2)]))
    tab = case.tab('n.ipynb')
    document = tab.hello['document']
    assert document['text'] == '# %%\na\n\n# %%\nb\n'
    tab.edit([(0, 8, ''), (7, 7, '\n# %%\na\n')], document['version'])
    tab.wait('edited')
    tab.send('save')
    tab.wait('saved')
    after = json.loads((case.folder / 'n.ipynb').read_text())
    assert [(c['source'], c['outputs'][0]['text']) for c in after['cells']] == [('b', ['of b\n']), ('a', ['of a\n'])], after


def test_a_program_is_saved_as_a_notebook_and_back(case):
    tab = case.tab()
    tab.edit([(0, 0, '# about\n\n# %% [markdown]\n# **words**\n\n# %% First\nx = 1\n\n\nprint(x)\n')], 0)
    tab.wait('edited')
    tab.send('save', path='made', format='ipynb')
    assert tab.wait('saved')['path'] == 'made.ipynb'
    made = json.loads((case.folder / 'made.ipynb').read_text())
    assert [(c['cell_type'], ''.join(c['source'])) for c in made['cells']] == [('code', '# about'), ('markdown', '**words**'), ('code', 'x = 1\n\n\nprint(x)')]
    assert made['metadata']['kernelspec'] == {'display_name': 'Tessera', 'language': 'python', 'name': 'tessera'} and made['metadata']['language_info']['name'] == 'python' and made['nbformat'] == 4 and len({c['id'] for c in made['cells']}) == 3
    ids = [c['id'] for c in made['cells']]
    tab.send('open', path='made.ipynb')
    assert tab.wait('document')['text'] == '# %%\n# about\n\n# %% [markdown]\n# **words**\n\n# %% First\nx = 1\n\n\nprint(x)\n'
    tab.send('save')
    tab.wait('saved')
    assert [c['id'] for c in json.loads((case.folder / 'made.ipynb').read_text())['cells']] == ids
    tab.send('save', path='back.tsr', format='tsr')
    tab.wait('saved')


def test_notebooks_of_version_3(case):
    old = {'nbformat': 3, 'nbformat_minor': 0, 'metadata': {'name': 'old'}, 'worksheets': [{'metadata': {}, 'cells': [
        {'cell_type': 'heading', 'level': 2, 'metadata': {}, 'source': 'Head'},
        {'cell_type': 'code', 'language': 'python', 'collapsed': False, 'metadata': {}, 'input': ['1\n', '2'], 'prompt_number': 5, 'outputs': [
            {'output_type': 'stream', 'stream': 'stdout', 'text': 's\n'}, {'output_type': 'pyout', 'prompt_number': 5, 'text': ['2'], 'html': '<b>2</b>'},
            {'output_type': 'display_data', 'png': 'AAAA'}, {'output_type': 'pyerr', 'ename': 'E', 'evalue': '', 'traceback': []}]}]}]}
    case.file('old.ipynb', json.dumps(old))
    tab = case.tab('old.ipynb')
    assert tab.hello['document']['text'] == '# %% [markdown]\n# ## Head\n\n# %%\n1\n2\n'
    messages = tab.hello['document']['outputs'][0]['messages']
    assert [m['type'] for m in messages] == ['stream', 'result', 'display', 'error'] and messages[1]['forms'] == {'text/plain': '2', 'text/html': '<b>2</b>'}, messages
    tab.send('save')
    tab.wait('saved')
    now = json.loads((case.folder / 'old.ipynb').read_text())
    assert now['nbformat'] == 4 and [c['cell_type'] for c in now['cells']] == ['markdown', 'code'] and 'worksheets' not in now
    try:
        import nbformat
    except ImportError:
        return
    nbformat.validate(nbformat.reads(json.dumps(now), as_version=4))


def test_notebooks_that_are_damaged(case):
    whole = notebook([code('x')])
    files = {'cut': (whole[:60], 'is damaged at byte'), 'empty': ('', 'is empty'), 'list': ('[]', 'no JSON object'), 'none': ('{}', 'has no "nbformat"'), 'text': ('hello', 'is damaged at byte 1'),
             'two': ('{"nbformat": 2, "worksheets": []}', 'too old'), 'five': ('{"nbformat": 5, "cells": []}', 'newer'), 'cells': ('{"nbformat": 4}', 'has no "cells"'),
             'cell': ('{"nbformat": 4, "cells": [5]}', 'cell 1 is no object'), 'type': ('{"nbformat": 4, "cells": [{"cell_type": "x", "source": ""}]}', 'of the type "x"'),
             'source': ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": 5}]}', 'is no text'), 'no_source': ('{"nbformat": 4, "cells": [{"cell_type": "code"}]}', 'has no "source"'),
             'bytes': (b'{"nbformat": 4, "x": "\xff"}', 'is damaged at byte'), 'deep': ('{"nbformat": 4, "x": ' + '[' * 100000 + ']' * 100000 + '}', 'nested deeper'),
             'format': ('{"nbformat": "4"}', 'is no number'), 'sheets': ('{"nbformat": 3, "worksheets": {}}', 'no list')}
    case.file('kept.tsr', 'kept\n')
    server = case.server('kept.tsr')
    tab = server.tab()
    for name, (text, word) in files.items():
        case.file(f'{name}.ipynb', text)
        tab.send('open', path=f'{name}.ipynb')
        problem = tab.wait('problem')
        assert word in problem['text'] and f'{name}.ipynb' in problem['text'], (name, problem)
    # Outputs and metadata that make no sense are no reason to refuse the cells.
    case.file('odd.ipynb', json.dumps({'nbformat': 4, 'metadata': 5, 'cells': [
        {'cell_type': 'code', 'source': ['a'], 'metadata': [], 'outputs': [5, {'output_type': 'new'}, {'output_type': 'display_data', 'data': {'text/plain': 5}}], 'execution_count': 'x'}]}))
    assert server.tab().hello['document']['text'] == 'kept\n'
    tab.send('open', path='odd.ipynb')
    assert tab.wait('document')['text'] == '# %%\na\n'
    tab.send('save')
    tab.wait('saved')


def test_notebooks_that_were_cut_anywhere(case):
    cells = [{'cell_type': 'markdown', 'metadata': {}, 'source': 'ü'}, code('x = 1', [{'output_type': 'stream', 'name': 'stdout', 'text': 'é'}], 1)]
    whole = notebook(cells).encode()
    server = case.server()
    tab = server.tab()
    for size in range(0, len(whole) - 1, 7):
        case.file('cut.ipynb', whole[:size])
        tab.send('open', path='cut.ipynb')
        assert tab.wait('problem')['about'] == 'open', size


def test_a_killed_server_loses_no_text(case):
    server = case.server()
    tab = server.tab()
    tab.edit([(0, 0, 'worth ü keeping')], 0)
    tab.wait('edited')
    time.sleep(0.1)
    for i in range(20):
        tab.edit([(0, 0, str(i % 10))], i + 1)
        tab.wait('edited')
    time.sleep(0.6)
    server.process.kill()
    server.process.wait()
    again = case.server()
    one, two = again.tab(), again.tab()
    draft = one.hello['draft']
    assert draft['text'].endswith('worth ü keeping') and len(draft['text']) == 35 and draft['name'] == 'untitled.tsr' and time.time() - draft['changed'] < 60
    (kept,) = (case.state / 'tessera/drafts').glob(draft['id'] + '.json')
    assert kept.stat().st_mode & 0o777 == 0o600 and kept.parent.stat().st_mode & 0o777 == 0o700
    two.send('draft', id=draft['id'], take=True)
    document = one.wait('document')
    assert document['text'] == draft['text'] and not document['saved']
    one.send('draft', id=draft['id'], take=False)
    assert 'no such draft' in one.wait('problem')['text']
    # It is this document's now, and not offered elsewhere.
    assert again.tab().hello['draft'] is None
    one.send('save', path='rescued.tsr', format='tsr')
    one.wait('saved')
    assert list((case.state / 'tessera/drafts').iterdir()) == []


def test_drafts_are_of_their_folder_and_can_be_refused(case):
    other = case.folder / 'other'
    other.mkdir()
    server = case.server()
    tab = server.tab()
    tab.edit([(0, 0, 'mine')], 0)
    tab.wait('edited')
    assert case.server().tab().hello['draft'] is None  # of a server that runs
    server.end(signal.SIGKILL)
    assert case.server(folder=other).tab().hello['draft'] is None
    tab = case.tab()
    tab.send('draft', id=tab.hello['draft']['id'], take=False)
    tab.execute('1')
    assert case.tab().hello['draft'] is None


def test_another_document_leaves_the_unsaved_one_as_a_draft(case):
    server = case.server()
    tab = server.tab()
    tab.edit([(0, 0, 'not saved')], 0)
    tab.wait('edited')
    tab.send('new')
    tab.wait('document')
    assert server.tab().hello['draft']['text'] == 'not saved'


def test_the_end_says_what_is_not_saved(case):
    server = case.server()
    tab = server.tab()
    tab.edit([(0, 0, 'text')], 0)
    tab.wait('edited')
    assert server.end(signal.SIGINT) == 0
    assert '“untitled.tsr” is not saved. Its text is kept' in server.said()
    server = case.server()
    assert server.tab().hello['draft']['text'] == 'text'
    assert server.end(signal.SIGTERM) == 128 + 15 and 'not saved' not in server.said()


def test_a_long_document(case):
    server = case.server()
    tab = server.tab()
    text = 'x = 1  # ü\n' * 900000
    tab.edit([(0, 0, text)], 0)
    assert tab.wait('edited', 20)['taken']
    begin = time.monotonic()
    for i in range(10):
        tab.edit([(5, 5, 'y')], i + 1)
        tab.wait('edited')
    assert case.slow or time.monotonic() - begin < 3
    tab.send('save', path='long.tsr', format='tsr')
    tab.wait('saved', 20)
    assert (case.folder / 'long.tsr').stat().st_size == len(text.encode()) + 10
    version = server.tab().hello['document']['version']
    tab.edit([(0, 0, 'z' * (8 << 20))], version)
    assert '16 million' in tab.wait('problem', 20)['text']
