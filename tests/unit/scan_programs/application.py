"""Programs that write what the application holds. See `test_scan`."""

from __future__ import annotations

PROGRAMS = {
    "attribute": """
    class Handler:
        def get(self):
            self.application.hits = 1  # WRITES_APPLICATION application.hits
            self.application.hits += 1  # WRITES_APPLICATION application.hits
    """,
    "setting": """
    class Handler:
        def get(self, k):
            self.settings["a"] = 1  # WRITES_APPLICATION application.settings["a"]
            self.settings[k] = 1  # WRITES_APPLICATION application.settings
            self.settings.update(b=1)  # WRITES_APPLICATION application.settings
    """,
    "list that the source hangs there": """
    class Handler:
        def get(self):
            self.application.users.append(1)  # WRITES_APPLICATION application.users
    def main(application):
        application.users = []
    """,
    "dict that the source passes as a setting": """
    from tornado.web import Application
    class Handler:
        def get(self, key):
            self.settings["zz"][0] = 1  # WRITES_APPLICATION application.settings["zz"]
    def main():
        return Application([], zz={})
    """,
    "application by its global name": """
    from tornado.web import Application
    app = Application()
    class Handler:
        def get(self):
            app.hits = 1  # WRITES_APPLICATION application.hits
    """,
}
