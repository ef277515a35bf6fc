"""The server: routes, queues and worker processes, stored samples, and refused requests."""
