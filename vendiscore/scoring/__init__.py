"""`compute` and its parts: validation of arguments, groups, intervals and details of results."""
