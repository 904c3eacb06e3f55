"""A to-do list in a list of the module."""

from __future__ import annotations

import json
import sys

from tornado.ioloop import IOLoop
from tornado.web import Application, HTTPError, RequestHandler

items = []
last_id = 0


def find(item_id):
    return [item for item in items if item["id"] == int(item_id)]


class BaseHandler(RequestHandler):
    def answer(self, data, status=200):
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.write(json.dumps(data))


class Items(BaseHandler):
    def get(self):
        done = self.get_argument("done", None)
        rows = [item for item in items if done is None or str(item["done"]) == done]
        self.answer(sorted(rows, key=lambda item: item["id"]))

    def post(self):
        global last_id
        data = json.loads(self.request.body or "{}")
        if "name" not in data:
            raise HTTPError(400, reason="No name")
        last_id += 1
        items.append({"id": last_id, "name": data["name"], "done": False})
        self.answer(items[-1], 201)

    def delete(self):
        global items
        kept = [item for item in items if not item["done"]]
        removed = len(items) - len(kept)
        items = kept
        self.answer({"removed": removed})


class Item(BaseHandler):
    def get(self, item_id):
        self.answer(find(item_id)[0])

    def put(self, item_id):
        found = find(item_id)
        if not found:
            raise HTTPError(404, reason="No such item")
        items.remove(found[0])
        items.append({**found[0], **json.loads(self.request.body or "{}")})
        self.answer(items[-1])

    def delete(self, item_id):
        for item in find(item_id):
            item["done"] = True
        self.answer({"open": sum(not item["done"] for item in items)})


def main():
    application = Application([(r"/items", Items), (r"/items/(\d+)", Item)])
    http_server = application.listen(int(sys.argv[1]), "127.0.0.1")
    [socket] = http_server._sockets.values()
    print("port", socket.getsockname()[1], flush=True)
    IOLoop.current().start()


if __name__ == "__main__":
    main()
