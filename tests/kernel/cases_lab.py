"""JupyterLab in headless Chromium. Where there is a jupyter-lab: in PATH, or named by $JUPYTER_LAB.

$PICTURE names a file for the picture that docs/jupyter.md shows.
"""
import os
import shutil
import socket
import subprocess
import time
import urllib.request

import nbformat
import notebooks

WAIT = 60
CELLS = (
    'F = torch.arange(10.)\nW = torch.rand(10, 5, requires_grad=True)\noutput = F.unsqueeze(0) @ W\noutput.shape',
    'F.unsqueeze(1) @ W',
    ':tensors',
    "plt.figure(figsize=(5, 1.8))\nplt.hist(torch.rand(5000).numpy(), bins=40, range=(-4, 4), alpha=0.6, label='rand')\n"
    "plt.hist(torch.randn(5000).numpy(), bins=40, range=(-4, 4), alpha=0.6, label='randn')\nplt.legend()\nplt.show()",
)
TEXT = ('# Why tensors matter\n\n`F` is a vector of 10 features, `W` a matrix of weights of shape (10, 5). A row of a matrix product '
        'has as many numbers as the other matrix has rows.')


class Lab:
    """A server, a browser, a notebook in it."""

    def __init__(self, case, program, browser):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        address = f'http://127.0.0.1:{port}'
        with open(os.path.join(case.folder, 'lab.log'), 'w') as log:
            self.server = subprocess.Popen([program, '--no-browser', '--allow-root', f'--port={port}', '--ServerApp.port_retries=0',
                                            '--IdentityProvider.token=', f'--ServerApp.root_dir={case.folder}',
                                            '--LabApp.news_url=', '--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate'],
                                           env=case.env, stdout=log, stderr=subprocess.STDOUT)
        self.browser = browser

        def answers():
            try:
                return urllib.request.urlopen(address + '/api', timeout=2)
            except OSError:
                return False

        self.address, self.folder = address, case.folder
        self.until(answers, 'no answer from the server')

    def open(self, name):
        browser = self.browser
        browser.get(f'{self.address}/lab/tree/{name}?reset')
        self.until(lambda: 'Tessera | Idle' in self.text('.jp-Notebook, #jp-main-statusbar'), 'the kernel is not ready')
        time.sleep(1)
        browser.execute_script('[...document.querySelectorAll("button")].filter(e => e.innerText.trim() == "No").forEach(e => e.click())')  # of news

    def until(self, look, problem):
        end = time.monotonic() + WAIT
        while True:
            found = look()
            if found:
                return found
            assert time.monotonic() < end, problem
            time.sleep(0.1)

    def text(self, selector):
        return self.browser.execute_script(
            'return [...document.querySelectorAll(arguments[0])].map(e => e.innerText).join("\\n")', selector)

    def menu(self, name, item):
        find = 'return [...document.querySelectorAll(arguments[0])].find(e => e.innerText.includes(arguments[1]))'
        self.browser.execute_script(find, '.lm-MenuBar-item', name).click()
        self.until(lambda: self.browser.execute_script(find, '.lm-Menu-item', item), f'no {item}').click()

    def cell(self, index):
        return self.browser.find_elements('css selector', '.jp-CodeCell')[index]

    def output(self, index):
        return self.cell(index).find_element('css selector', '.jp-Cell-outputWrapper').text

    def keys(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.browser).send_keys(*keys).perform()

    def chord(self, holding, key):
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.browser).key_down(holding).send_keys(key).key_up(holding).perform()

    def edit(self, index, text=None):
        from selenium.webdriver.common.keys import Keys
        cell = self.cell(index)
        self.browser.execute_script('arguments[0].scrollIntoView({block: "center"})', cell)
        cell.find_element('css selector', '.cm-content').click()
        if text is not None:
            self.chord(Keys.CONTROL, 'a')
            self.keys(text)

    def run(self, index, text=None):
        from selenium.webdriver.common.keys import Keys
        self.edit(index, text)
        self.keys(Keys.ESCAPE)
        self.chord(Keys.CONTROL, Keys.ENTER)

    def saved(self, name):
        """What the file has, once its last cell has run and been saved."""
        from selenium.webdriver.common.keys import Keys

        def whole():
            self.chord(Keys.CONTROL, 's')
            time.sleep(0.5)
            found = nbformat.read(os.path.join(self.folder, name), 4)
            return found if [each for each in found.cells if each.cell_type == 'code'][-1].execution_count else None

        return self.until(whole, f'{name} has not run to its end')

    def close(self):
        self.server.terminate()
        self.server.wait()


def browser_of(case):
    try:
        from selenium import webdriver
    except ImportError:
        case.skip('no selenium')
    chromium = shutil.which('chromium') or shutil.which('google-chrome')
    driver = shutil.which('chromedriver')
    if not chromium or not driver:
        case.skip('no Chromium with its driver')
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for each in ('--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--window-size=1120,1245'):
        options.add_argument(each)
    return webdriver.Chrome(service=Service(driver), options=options)


def check_examples(lab):
    """Each shows what it was saved with."""
    for path in sorted(notebooks.FOLDER.glob('*.ipynb')):
        kept = nbformat.read(path, 4)
        fresh = nbformat.read(path, 4)
        for cell in fresh.cells:
            if cell.cell_type == 'code':
                cell.outputs, cell.execution_count = [], None
        nbformat.write(fresh, os.path.join(lab.folder, path.name))
        lab.open(path.name)
        lab.menu('Run', 'Run All Cells')
        problems = list(notebooks.compare(kept, lab.saved(path.name)))
        assert not problems, (path.name, problems)


def check(lab):
    from selenium.webdriver.common.keys import Keys
    lab.open('notebook.ipynb')
    lab.menu('Run', 'Run All Cells')
    lab.until(lambda: 'made at In [1]:2' in lab.output(1), 'no error with its notes')
    assert '[1]:' in lab.text('.jp-InputPrompt') and 'torch.Size([1, 5])' in lab.output(0)
    assert lab.output(2) == '', 'what stands behind an error is not run'
    lab.run(2)
    lab.until(lambda: 'MmBackward0' in lab.output(2), 'no table')
    table = lab.cell(2).find_element('css selector', 'table')
    names = lambda: [each.text for each in table.find_elements('css selector', 'tbody tr td:first-child, tbody tr th:first-child')]
    assert names() == ['F', 'W', 'output'], names()
    [size] = [each for each in table.find_elements('css selector', 'th') if each.text == 'bytes']
    size.click()
    lab.until(lambda: names() == ['output', 'F', 'W'], 'the table does not sort')
    size.click()
    lab.until(lambda: names() == ['W', 'F', 'output'], 'the table does not sort')
    lab.run(2)
    lab.run(3)
    lab.until(lambda: lab.cell(3).find_elements('css selector', '.jp-OutputArea-output img'), 'no plot')
    if os.environ.get('PICTURE'):
        lab.chord(Keys.CONTROL, 's')
        lab.chord(Keys.CONTROL, 'b')
        lab.browser.execute_script('document.querySelectorAll(".jp-WindowedPanel-outer").forEach(e => e.scrollTop = 0)')
        time.sleep(2)
        lab.browser.save_screenshot(os.environ['PICTURE'])
    # A question below the cell.
    lab.run(0, 'who = input("who? ")\nprint("hello", who)')
    field = lab.until(lambda: lab.cell(0).find_elements('css selector', '.jp-Stdin-input'), 'no field')[0]
    field.send_keys('Zoe' + Keys.ENTER)
    lab.until(lambda: 'hello Zoe' in lab.output(0), 'no answer')
    # An interrupt.
    lab.run(0, 'while True: pass')
    lab.until(lambda: 'Busy' in lab.text('#jp-main-statusbar'), 'it does not run')
    lab.menu('Kernel', 'Interrupt Kernel')
    lab.until(lambda: 'KeyboardInterrupt' in lab.output(0), 'not interrupted')
    # Completion, with types, and the help on the call.
    lab.edit(0, 'torch.aran')
    lab.keys(Keys.TAB)
    lab.until(lambda: 'arange' in lab.text('.jp-Completer') and 'function' in lab.text('.jp-Completer'), 'no completion')
    lab.keys(Keys.ENTER)
    lab.until(lambda: lab.cell(0).find_element('css selector', '.cm-content').text == 'torch.arange', 'not completed')
    lab.edit(0, 'torch.add(')
    lab.chord(Keys.SHIFT, Keys.TAB)
    lab.until(lambda: 'alpha' in lab.text('.jp-Tooltip'), 'no help')
    lab.keys(Keys.ESCAPE)
    # A page.
    lab.run(0, 'torch.add?')
    lab.until(lambda: 'scaled by alpha' in lab.text('body'), 'no page')
    # What is written over stays one line.
    lab.run(0, 'from tqdm import tqdm\nfor i in tqdm(range(30000)): pass')
    lab.until(lambda: '30000/30000' in lab.output(0), 'no bar')
    assert len(lab.output(0).splitlines()) <= 2, lab.output(0)


def test_timed_lab(case):
    program = os.environ.get('JUPYTER_LAB') or shutil.which('jupyter-lab')
    if not program:
        case.skip('no jupyter-lab')
    notebook = nbformat.v4.new_notebook(metadata={'kernelspec': {'name': 'tessera', 'display_name': 'Tessera', 'language': 'python'}})
    notebook.cells = [nbformat.v4.new_markdown_cell(TEXT)] + [nbformat.v4.new_code_cell(each) for each in CELLS]
    nbformat.write(notebook, os.path.join(case.folder, 'notebook.ipynb'))
    browser = browser_of(case)
    lab = Lab(case, program, browser)
    try:
        check(lab)
        check_examples(lab)
    except Exception:
        if os.environ.get('PICTURE'):
            browser.save_screenshot(os.environ['PICTURE'] + '.failed.png')
        raise
    finally:
        browser.quit()
        lab.close()
