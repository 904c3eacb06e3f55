"""Workers that are forked processes, each with a replica of the store."""
