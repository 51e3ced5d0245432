"""Whole notebooks, as nbclient runs them; those of scripts/examples are for notebooks.py."""
import driver
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def run(case, notebook, **options):
    with driver.environment(case.env):
        NotebookClient(notebook, kernel_name='tessera', timeout=120, **options).execute()
    return notebook


def made(*cells):
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(each) for each in cells]
    return notebook


def test_outputs(case):
    notebook = run(case, made('import torch\ntorch.manual_seed(0)\nx = torch.arange(6.).reshape(2, 3)', 'x', 'print(x.sum())\nx.mean()',
                              'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()',
                              'from IPython.display import HTML, display\ndisplay(HTML("<i>i</i>"))'))
    nbformat.validate(notebook)
    assert [each.execution_count for each in notebook.cells] == [1, 2, 3, 4, 5]
    assert notebook.cells[0].outputs == [] or notebook.cells[0].outputs[0].output_type == 'execute_result'
    assert notebook.cells[1].outputs[0].data['text/plain'] == 'tensor([[0., 1., 2.],\n        [3., 4., 5.]])'
    assert notebook.cells[2].outputs[0].text == 'tensor(15.)\n'
    assert notebook.cells[2].outputs[1].data['text/plain'] == 'tensor(2.5000)'
    assert 'image/png' in notebook.cells[3].outputs[0].data
    assert notebook.cells[4].outputs[0].data['text/html'] == '<i>i</i>'
    assert notebook.metadata.language_info.file_extension == '.tsr'


def test_a_failing_cell_stops_it(case):
    notebook = made('a = torch.ones(2)', 'a @ torch.ones(3)', 'print("not run")')
    try:
        run(case, notebook)
        raise AssertionError('it went on')
    except CellExecutionError as error:
        assert error.ename == 'RuntimeError', error
    assert notebook.cells[1].outputs[0].output_type == 'error' and notebook.cells[2].outputs == []


def test_failures_may_be_allowed(case):
    notebook = run(case, made('1/0', 'print("run")'), allow_errors=True)
    assert notebook.cells[0].outputs[0].ename == 'ZeroDivisionError'
    assert notebook.cells[1].outputs[0].text == 'run\n'
