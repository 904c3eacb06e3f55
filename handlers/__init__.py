"""The request handlers of the demo servers. Not installed with txloop."""
