"""Arrays of many libraries, read and checked before samples are compared."""
