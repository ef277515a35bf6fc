"""The Space: a page on which anybody can score a set of samples, without writing code.

`reading` turns what a visitor sends into samples, within `limits`; `answers` score and compare them
by the library, in steps where it takes long, and give plain values. `handlers` are the API.

The `server` is gradio's, for the API and the tools of MCP, with the page's own `routes` before it
and a `guard` before both. Work has its `lanes`, what was sent is `kept` for a while, and `static`
has what a browser is given. gradio, matplotlib, Pillow and RDKit are imported here, for reports,
and by the kernels that need them, and nowhere else in the package.
"""
