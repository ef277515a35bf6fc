"""Which samples make a set as diverse as it is, and which repeat others."""

from .layout import clustered_order as clustered_order
from .thinning import thinning as thinning
