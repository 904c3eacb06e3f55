"""Tornado's loop made transactional, and programs set up to run on it."""
