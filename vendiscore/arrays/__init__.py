"""Arrays as they come and what is computed of them before anything is similar to anything."""
