"""Jupyter's own tests of a kernel, with all of their samples: jupyter_kernel_test."""
import unittest

import driver
import jupyter_kernel_test

SHOW = 'from IPython.display import display, HTML, SVG, Image, Markdown; '


class Samples(jupyter_kernel_test.KernelTests):
    __test__ = False
    kernel_name = 'tessera'
    language_name = 'python'
    file_extension = '.tsr'
    code_hello_world = 'print("hello, world")'
    code_stderr = 'import sys; print("wrong", file=sys.stderr)'
    completion_samples = [
        {'text': 'torch.arang', 'matches': ['arange']},
        {'text': 'zi', 'matches': ['zip']},
        {'text': 'torch.nn.functional.softm', 'matches': ['softmax', 'softmin']},
    ]
    complete_code_samples = ['1', 'print("hello, world")', 'def f(x):\n  return x * 2\n\n', 'x = torch.ones(2)', ':tensors']
    incomplete_code_samples = ['print("""hello', 'def f(x):\n  x * 2', 'torch.ones(', 'for i in range(3):']
    invalid_code_samples = ['import = 7q', 'print(1))', '1 +* 2']
    code_page_something = 'torch.add?'
    code_generate_error = 'torch.ones(2, 3) @ torch.ones(2, 3)'
    code_execute_result = [
        {'code': '1 + 2 + 3', 'result': '6'},
        {'code': '[n * n for n in range(1, 4)]', 'result': '[1, 4, 9]'},
        {'code': 'torch.ones(2)', 'result': 'tensor([1., 1.])'},
    ]
    code_display_data = [
        {'code': SHOW + 'display(HTML("<b>test</b>"))', 'mime': 'text/html'},
        {'code': SHOW + 'display(SVG("<svg xmlns=\'http://www.w3.org/2000/svg\'></svg>"))', 'mime': 'image/svg+xml'},
        {'code': SHOW + 'display(Markdown("*test*"))', 'mime': 'text/markdown'},
        {'code': 'plt.plot([1, 2]); plt.show()', 'mime': 'image/png'},
        {'code': ':tensors', 'mime': 'text/html'},
    ]
    code_history_pattern = '1 ?*'
    supported_history_operations = ('tail', 'range', 'search')
    code_inspect_sample = 'torch.add'
    code_clear_output = 'from IPython.display import clear_output; clear_output()'


def test_jupyter_kernel_test(case):
    with driver.environment(case.env):
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(Samples)
        outcome = unittest.TestResult()
        suite.run(outcome)
    case.say(f'{outcome.testsRun} tests of jupyter_kernel_test {jupyter_kernel_test.__version__}')
    problems = [f'{test}\n{text}' for test, text in outcome.failures + outcome.errors]
    assert not problems, '\n'.join(problems)
    assert not outcome.skipped, outcome.skipped
    assert outcome.testsRun >= 12
