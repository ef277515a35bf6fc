"""Python code and addresses that the page shows: of its Space if it runs in one."""

import os

# Samples and arguments of more characters than this are not written out.
INLINE = 1_500


def called(samples: str, options: str) -> str:
    """Write Python that scores samples: by this Space if the page runs in one, else the package."""
    after = f", {options}" if options else ""
    if space := os.environ.get("SPACE_ID"):
        return f'evaluate.load("{space}").compute(samples={samples}{after})'
    return f"vendiscore.compute({samples}{after})"


def imported(modules: str) -> str:
    """Write the import of what `called` needs, and of these modules."""
    caller = "evaluate" if os.environ.get("SPACE_ID") else "vendiscore"
    return f"import {caller}, {modules}" if modules else f"import {caller}"


def links() -> dict[str, str]:
    """Return the addresses of code and documents, which a copy that is not a Space has not."""
    if space := os.environ.get("SPACE_ID"):
        files = f"https://huggingface.co/spaces/{space}/tree/main"
        return {"Code": files, "Documents": f"{files}/docs"}
    return {}
