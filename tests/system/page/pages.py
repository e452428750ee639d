"""A page of `latecomer report` as its parts, for tests."""
import base64
import gzip
import hashlib
import json
import re


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as page:
            self.text = page.read()
        self.packed = dict(re.findall(r'<script type="application/octet-stream" data-block="([^"]*)">([^<]*)</script>', self.text))

    def block(self, name):
        return gzip.decompress(base64.b64decode(self.packed[name], validate=True))

    def json(self, name):
        return json.loads(self.block(name))

    def policy(self):
        return re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', self.text).group(1)

    def hashes(self):
        """Of the script and of the style that stand in the page, as a policy names them."""
        script = re.search(r"<script>(.*?)</script>", self.text, re.S).group(1)
        style = re.search(r"<style>(.*?)</style>", self.text, re.S).group(1)
        return ["'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" for text in (script, style)]

    def timeline(self, k=0):
        data = self.block(f"{k}/timeline")
        length = int.from_bytes(data[:8], "little")
        return json.loads(data[8:8 + length]), data[8 + length:]
