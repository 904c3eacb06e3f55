"""Where attempts run: on the loop thread or in forked workers."""
