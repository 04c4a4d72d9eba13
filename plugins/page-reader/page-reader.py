#!/usr/bin/env python3
"""A fetch tool without a network: pages are files in a folder, found by the last part of their address."""
import hashlib
import html
import json
import os
import re
import sys
from urllib.parse import unquote, urlparse

CONTENT_MAX = 100_000


def answer(**document):
    print(json.dumps(document))
    sys.exit(0)


def refuse(message, retry=False):
    answer(status="error", result=message, error=message, retry=retry)


def page_at(folder, url):
    name = unquote(urlparse(url).path).strip("/").replace("/", "-") or "index"
    path = os.path.realpath(os.path.join(folder, name + ".html"))
    if not path.startswith(os.path.realpath(folder) + os.sep) or not os.path.isfile(path):
        refuse(f"there is no page at {url[:200]}")
    with open(path, encoding="utf-8") as page:
        return page.read()


def text_of(page):
    page = re.sub(r"(?is)<(script|style).*?</\1>|<!--.*?-->", " ", page)
    page = re.sub(r"(?i)</(p|h[1-6]|li|div|title)>|<br[^>]*>", "\n", page)
    lines = (re.sub(r"\s+", " ", line).strip() for line in html.unescape(re.sub(r"<[^>]*>", "", page)).split("\n"))
    return "\n".join(line for line in lines if line)


def main():
    try:
        request = json.load(sys.stdin)
    except ValueError:
        sys.exit(78)
    if request.get("protocol") != 2:
        sys.exit(78)
    folder = request.get("config", {}).get("pages_dir")
    if not isinstance(folder, str) or not os.path.isdir(folder):
        refuse("pages_dir is not a folder")
    if request["command"] == "health":
        answer(status="ok", result=f"{len(os.listdir(folder))} pages")
    payload = request.get("event", {}).get("payload", {})
    url = payload.get("url")
    if not isinstance(url, str) or not url:
        refuse("url is missing")
    text = text_of(page_at(folder, url))
    ready = {
        "url": url,
        "content": text[:CONTENT_MAX],
        "content_hash": hashlib.sha256(text.encode()).hexdigest(),
        "truncated": len(text) > CONTENT_MAX,
    }
    answer(status="ok", result=f"read {url[:150]}", events=[{"type": "content_ready", "payload": ready}])


main()
