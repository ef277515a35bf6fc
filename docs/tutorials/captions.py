"""
Captions of two decoders
========================

To be written.
"""

# %%
# A first score.
from vendiscore import score

score(["a cat", "a dog"], "ngram_overlap")
