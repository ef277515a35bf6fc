"""The Space: a page on which anybody can score a set of samples, without writing code.

`reading` turns what a visitor sends into samples, within `limits`; `analysis` and `comparing` ask
the library; `views` draws, `report` words the answer; `handlers` ties these together as plain
functions; `page` puts them behind a browser, an API and MCP; `guard` stands before the server.
gradio, matplotlib, Pillow and RDKit are imported here and nowhere else in the package.
"""
