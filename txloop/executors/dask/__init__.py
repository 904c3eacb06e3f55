"""Workers on many machines, on a cluster of Dask's."""
