"""`compute` and what it needs: validated arguments, groups, intervals, details of a result."""
