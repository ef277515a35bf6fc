"""Coroutines to their end, whatever runs in this thread: a browser's driver has a loop in it."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_coroutine(coroutine: Coroutine[Any, Any, Any]) -> Any:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
