"""The Space: a page on which anybody can score a set of samples, without writing code.

`reading` and `pictures` turn what a visitor sends into samples, within `limits`; `jobs` say how to
score and show them, with `encoders` that the page offers; `analysis` and `comparing` ask the
library, in steps where it takes long; `views` draw, `report` and `comparison_report` word the
answer. `handlers` are the API; `shows` what each of the `tabs` of the `page` shows; `guard` stands
before the server and `tidy` cleans up behind it. gradio, matplotlib, Pillow and RDKit are imported
here, for reports, and by the kernels that need them, and nowhere else in the package.
"""
