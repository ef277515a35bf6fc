"""The callback for transformers' Trainer, which is now part of the package.

pip install -e '.[train]'     # in a clone of vendiscore
"""

from vendiscore.integrations.transformers import DiversityCallback

__all__ = ["DiversityCallback"]
