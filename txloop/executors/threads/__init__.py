"""Workers that are threads of this process, and share the store with it."""
