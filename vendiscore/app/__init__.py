"""The Space: a page on which anybody can score a set of samples, without writing code.

`given` turns what a visitor sends into samples, within `quotas`; `answers` scores and compares
them by the library, in steps where it takes long, and gives plain values, to the page and the API
alike. `serving` is gradio's server, for the API and the tools of MCP, with the page's own routes
before it and a guard before both: work has its lanes, and what was sent is kept for a while. The
page itself is in `static`: `asking` is its input side, `showing` its results. gradio, matplotlib,
Pillow and RDKit are imported here, for reports, and by the kernels that need them, and nowhere else
in the package.
"""
