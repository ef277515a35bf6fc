"""Standard errors of scores, by leaving samples out or by drawing subsets."""
