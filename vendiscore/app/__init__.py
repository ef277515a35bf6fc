"""The Space: a page on which anybody can score a set of samples, without writing code.

`inputs` reads samples within `quotas`; `answers` scores them by the library, for the page and the
API alike; `serving` is gradio's server with the page's own routes; `static` is the page itself.
"""
