"""A browser driven by the WebDriver protocol, with nothing but the standard library: chromedriver speaks it over HTTP.

    with Browser() as browser:
        browser.open(url)
        browser.find('#run-all').click()
        browser.wait(lambda: 'done' in browser.text('#log'))
"""
import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'  # the key under which the protocol names an element
KEYS = {'ctrl': '\ue009', 'shift': '\ue008', 'alt': '\ue00a', 'enter': '\ue007', 'tab': '\ue004', 'escape': '\ue00c', 'up': '\ue013',
        'down': '\ue015', 'left': '\ue012', 'right': '\ue014', 'home': '\ue011', 'end': '\ue010', 'f1': '\ue031', 'backspace': '\ue003',
        'delete': '\ue017', 'space': ' ', 'pageup': '\ue00e', 'pagedown': '\ue00f'}


class Failure(Exception):
    pass


def missing():
    """What there is not of what this needs; empty: all is there."""
    names = {'chromium': ('chromium', 'chromium-browser', 'google-chrome'), 'chromedriver': ('chromedriver',)}
    return [name for name, programs in names.items() if not any(map(shutil.which, programs))]


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Element:
    def __init__(self, browser, name):
        self.browser, self.name = browser, name

    def click(self):
        self.browser.call('POST', f'/element/{self.name}/click', {})

    def type(self, text):
        self.browser.call('POST', f'/element/{self.name}/value', {'text': text})

    @property
    def text(self):
        return self.browser.call('GET', f'/element/{self.name}/text')

    def attribute(self, name):
        return self.browser.call('GET', f'/element/{self.name}/attribute/{name}')


class Browser:
    def __init__(self, width=1440, height=900, dark=False, reduced_motion=False):
        self.port = free_port()
        # A group of its own, so that what it starts ends with it.
        self.driver = subprocess.Popen(['chromedriver', f'--port={self.port}', '--log-level=OFF'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       start_new_session=True)
        arguments = ['--headless=new', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
                     '--hide-scrollbars', f'--window-size={width},{height}', '--force-color-profile=srgb', '--disable-dev-shm-usage']
        if os.geteuid() == 0:
            arguments.append('--no-sandbox')
        if reduced_motion:
            arguments.append('--force-prefers-reduced-motion')
        binary = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))))
        options = {'binary': binary, 'args': arguments}
        wanted = {'goog:chromeOptions': options, 'goog:loggingPrefs': {'browser': 'ALL', 'performance': 'ALL'}, 'unhandledPromptBehavior': 'accept'}
        try:
            answer = self._patiently('POST', '/session', {'capabilities': {'alwaysMatch': wanted}})
            self.session = answer['sessionId']
            self.size(width, height)
            if dark:
                self.dark(True)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if getattr(self, 'session', None):
                self.call('DELETE', '')
        except (Failure, OSError):
            pass
        try:
            os.killpg(self.driver.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        self.driver.wait()

    # --- the protocol

    def _request(self, method, path, body=None, timeout=60):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f'http://127.0.0.1:{self.port}{path}', data, {'Content-Type': 'application/json'}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            value = json.load(error)['value']
            raise Failure(f'{value.get("error")}: {value.get("message", "").splitlines()[0]}') from None

    def _patiently(self, method, path, body):
        end = time.monotonic() + 40
        while True:
            try:
                return self._request(method, path, body)
            except (ConnectionError, urllib.error.URLError):
                if time.monotonic() > end or self.driver.poll() is not None:
                    raise Failure('chromedriver does not answer') from None
                time.sleep(0.1)

    def call(self, method, path, body=None):
        return self._request(method, f'/session/{self.session}{path}', body)

    def devtools(self, command, **parameters):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': parameters})

    # --- what tests say

    def open(self, url):
        self.call('POST', '/url', {'url': url})

    def reload(self):
        self.call('POST', '/refresh', {})

    def find(self, selector):
        return Element(self, self.call('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT])

    def js(self, script, *arguments):
        """Runs a function's body; `arguments[i]` are there."""
        return self.call('POST', '/execute/sync', {'script': script, 'args': list(arguments)})

    def js_async(self, script, *arguments):
        """The last of `arguments` is the function that gets the answer."""
        return self.call('POST', '/execute/async', {'script': script, 'args': list(arguments)})

    def text(self, selector):
        return self.js('return document.querySelector(arguments[0])?.innerText ?? ""', selector)

    def count(self, selector):
        return self.js('return document.querySelectorAll(arguments[0]).length', selector)

    def press(self, *keys):
        """One chord: press('ctrl', 'shift', 'enter')."""
        values = [KEYS.get(key, key) for key in keys]
        actions = [{'type': 'keyDown', 'value': value} for value in values] + [{'type': 'keyUp', 'value': value} for value in reversed(values)]
        self.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keys', 'actions': actions}]})

    def type(self, text):
        """Types into what has the focus."""
        actions = [{'type': kind, 'value': KEYS['enter'] if c == '\n' else c} for c in text for kind in ('keyDown', 'keyUp')]
        self.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keys', 'actions': actions}]})

    def hover(self, selector):
        element = self.find(selector)
        move = {'type': 'pointerMove', 'duration': 50, 'origin': {ELEMENT: element.name}, 'x': 0, 'y': 0}
        self.call('POST', '/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'}, 'actions': [move]}]})

    def drag(self, selector, x, y):
        element = self.find(selector)
        moves = [{'type': 'pointerMove', 'duration': 0, 'origin': {ELEMENT: element.name}, 'x': 0, 'y': 0}, {'type': 'pointerDown', 'button': 0},
                 {'type': 'pointerMove', 'duration': 50, 'origin': 'pointer', 'x': x, 'y': y}, {'type': 'pointerUp', 'button': 0}]
        self.call('POST', '/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'}, 'actions': moves}]})

    def wait(self, condition, seconds=15, what=''):
        """Until condition() is true; answers what it gave."""
        end = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise Failure(f'not within {seconds} s: {what or "what the test waits for"}')
            time.sleep(0.02)

    def wait_text(self, selector, text, seconds=15):
        try:
            self.wait(lambda: text in self.text(selector), seconds)
        except Failure:
            raise Failure(f'{selector} has no {text!r} after {seconds} s: {self.text(selector)[-600:]!r}') from None

    def size(self, width, height):
        """Of what is seen of the page, without a window around it."""
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark):
        self.devtools('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if is_dark else 'light'}])

    def new_tab(self):
        handle = self.call('POST', '/window/new', {'type': 'tab'})['handle']
        self.to_tab(handle)
        return handle

    def tab(self):
        return self.call('GET', '/window')

    def to_tab(self, handle):
        self.call('POST', '/window', {'handle': handle})

    def close_tab(self):
        self.call('DELETE', '/window')

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call('GET', '/screenshot')))

    def messages(self):
        """What the page wrote to the console since the last call: errors, warnings, things that its policy refused."""
        return [entry for entry in self.call('POST', '/se/log', {'type': 'browser'}) if entry['level'] in ('SEVERE', 'WARNING')]

    def requests(self):
        """The addresses that were asked for since the last call."""
        urls = []
        for entry in self.call('POST', '/se/log', {'type': 'performance'}):
            message = json.loads(entry['message'])['message']
            if message['method'] == 'Network.requestWillBeSent':
                urls.append(message['params']['request']['url'])
            elif message['method'] == 'Network.webSocketCreated':
                urls.append(message['params']['url'])
        return urls
