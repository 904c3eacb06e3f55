"""Programs that have a library change what they give it. See `test_scan`."""

from __future__ import annotations

LOGGING = """
import io, logging
class Rows(logging.Handler):
    def __init__(self):
        super().__init__()
        self.rows, self.count, self.size = [], 0, 1
    def emit(self, record):
        self.rows.append(record)
        self.count += 1
class Once(logging.Filter):
    seen = set()
    def filter(self, record):
        self.seen.add(record.msg)
        return True
def note(record):
    noted.append(record)
    return True
noted, text, other = [], io.StringIO(), io.StringIO()
log, rows, once = logging.Logger("app"), Rows(), Once()
rows.filters, log.handlers = [once, note], [logging.StreamHandler(text), rows]
def get():
    log.info("a")
    found = rows.rows  # READS_WRITTEN app.rows.rows
    found = rows.count  # READS_WRITTEN app.rows.count
    found = noted  # READS_WRITTEN app.noted
    found = once.seen  # READS_WRITTEN app.Once.seen
    return rows.size, other.getvalue(), text.getvalue()  # READS_WRITTEN app.text
"""
"""Apart from the others: handlers are known as long as they exist."""

PROGRAMS = {
    "streams that a library writes to, or reads": """
    import contextlib, csv, gzip, io, json, pickle, shutil, zipfile
    text, data, partly = io.StringIO(), io.BytesIO(), io.StringIO()
    def get(row, image):
        csv.writer(text).writerow(row)  # MUTATES_GLOBAL app.text
        json.dump(row, text)  # MUTATES_GLOBAL app.text
        print(row, file=text)  # MUTATES_GLOBAL app.text
        for each in csv.reader(text):  # MUTATES_GLOBAL app.text
            pass
        with contextlib.redirect_stdout(text):  # MUTATES_GLOBAL app.text
            print(row)
        pickle.Pickler(data).dump(row)  # MUTATES_GLOBAL app.data
        shutil.copyfileobj(image, data)  # MUTATES_GLOBAL app.data
        gzip.GzipFile(fileobj=data, mode="wb")  # MUTATES_GLOBAL app.data
        with zipfile.ZipFile(data, "a") as archive:  # MUTATES_GLOBAL app.data
            archive.writestr("a", row)
        image.save(data)  # MUTATES_GLOBAL app.data
        return len(partly.getvalue()), str(partly), isinstance(partly, io.StringIO)
    """,
    "bytes that a library fills": """
    import array, ctypes, io, struct
    pair, numbers = struct.Struct("HH"), array.array("B")
    data, view, letters = bytearray(8), memoryview(bytearray(8)), (ctypes.c_char * 8)()
    only, number = bytearray(8), (ctypes.c_int * 2)()
    def get(file):
        struct.pack_into("H", data, 0, 1)  # MUTATES_GLOBAL app.data
        pair.pack_into(data, 0, 1, 2)  # MUTATES_GLOBAL app.data
        file.readinto(data)  # MUTATES_GLOBAL app.data
        io.BytesIO(b"a").readinto(data)  # MUTATES_GLOBAL app.data
        memoryview(data)[1:2] = b"a"  # MUTATES_GLOBAL app.data
        view[0] = 1  # MUTATES_GLOBAL app.view
        numbers.frombytes(data)  # MUTATES_GLOBAL app.numbers
        letters.value = b"a"  # MUTATES_GLOBAL app.letters
        ctypes.memset(number, 0, 4)  # MUTATES_GLOBAL app.number
        found = struct.unpack_from("H", only, 0), pair.unpack_from(only), bytes(only)
        return found, memoryview(only)[0], file.write(only)
    """,
    "what is seen by a view": """
    data = bytearray(8)
    view = memoryview(data)
    def get():
        return data.hex()  # READS_WRITTEN app.data
    def put():
        view[0] = 1
    """,
    "writers over a stream": """
    import codecs, csv, io, pickle
    rows, data, letters = io.StringIO(), io.BytesIO(), io.BytesIO()
    writer, table = csv.writer(rows), csv.DictWriter(rows, ["a"])
    pickler, encoded = pickle.Pickler(data), codecs.getwriter("utf-8")(letters)
    def get(row):
        writer.writerow([row])  # MUTATES_GLOBAL app.writer
        table.writerow({"a": row})  # MUTATES_GLOBAL app.table
        pickler.dump(row)  # MUTATES_GLOBAL app.pickler
        encoded.write(row)  # MUTATES_GLOBAL app.encoded
    """,
    "what methods of the standard library call of the program's": """
    import html.parser, string
    from collections.abc import MutableMapping
    class Tags(html.parser.HTMLParser):
        found = 0
        def __init__(self):
            super().__init__()
            self.tags = []
        def handle_starttag(self, tag, attributes):
            self.tags.append(tag)  # MUTATES_GLOBAL app.tags.tags
            Tags.found += 1  # WRITES_CLASS app.Tags.found
        def handle_data(self, data):
            return data
        def unused(self):
            self.tags.clear()
    class Counting(string.Formatter):
        def __init__(self):
            self.count = 0
        def get_value(self, key, args, kwargs):
            self.count += 1  # MUTATES_GLOBAL app.counting.count
            return ""
    class Store(MutableMapping):
        def __init__(self):
            self.rows, self.asked = {}, []
        def __getitem__(self, key):
            return self.rows[key]
        def __setitem__(self, key, value):
            self.rows[key] = value  # MUTATES_GLOBAL app.store.rows
        def __delitem__(self, key):
            del self.other[key]
        def __iter__(self):
            return iter(self.rows)
        def __len__(self):
            return len(self.rows)
    tags, counting, store, only = Tags(), Counting(), Store(), Store()
    def get(text):
        tags.feed(text)
        Tags().feed(text)
        counting.format(text)
        store.update(a=1)
        return only.get(text)
    """,
    "methods by which mails and cookies change": """
    import email.message, http.cookies
    mail, cookies = email.message.EmailMessage(), http.cookies.SimpleCookie()
    def get(name):
        mail.add_header("a", name)  # MUTATES_GLOBAL app.mail
        cookies.load(name)  # MUTATES_GLOBAL app.cookies
        return mail.as_string(), cookies.output()
    """,
    "what named tuples hold, and functions": """
    from typing import NamedTuple
    class Room(NamedTuple):
        name: str
        users: list
        @property
        def size(self):
            return len(self.users)
    def work():
        pass
    room = Room("a", [])
    def get(name):
        room.users.append(name)  # MUTATES_GLOBAL app.room.users
        work.__dict__["a"] = 1  # MUTATES_GLOBAL app.work.__dict__
        return room.name, room.size
    """,
    "what templates do with what they are given": """
    import itertools
    from tornado.template import DictLoader, Template
    class Cart:
        def __init__(self):
            self.rows, self.seen, self.shown = [1], 0, 0
        def take(self):
            return self.rows.pop()  # MUTATES_GLOBAL app.cart.rows
        def count(self):
            return len(self.rows)
        @property
        def size(self):
            self.seen += 1  # MUTATES_GLOBAL app.cart.seen
            return len(self.rows)
    class Ticket:
        def use(self):
            self.used = True  # MUTATES_GLOBAL app.tickets.used
    PAGES = DictLoader({
        "a": "{{ cart.take() }} {% if cart.size %} {% set cart.shown = 1 %} {% end %}",
        "b": "{% for one in tickets %}{{ one.use() }}{% end %} {{ next(ids) }}",
        "c": "{% set rows = waiting['a'] %}{% set _ = rows.append(1) %}",
        "d": "{% set sizes['a'] = 1 %}{% for k, v in prices.items() %}{{ k }}{% end %}",
        "e": "{{ only.count() }}{{ [x.upper() for x in names] }}{{ a b.clear() }}",
    })
    cart, only, tickets, ids = Cart(), Cart(), [Ticket()], itertools.count()
    waiting, sizes, prices, names, sums = {"a": []}, {}, {}, [], {}
    page = Template("{{ cart.count() }}")
    class Handler:
        def get(self):
            self.render("a", cart=cart)  # MUTATES_GLOBAL app.cart.shown
            page = PAGES.load("b")
            page.generate(tickets=tickets, ids=ids)  # MUTATES_GLOBAL app.ids
            self.render_string("c", waiting=waiting)  # MUTATES_GLOBAL app.waiting
            self.render("d", sizes=sizes, prices=prices)  # MUTATES_GLOBAL app.sizes
            self.render("e", names=names, b=sums, only=only)  # MUTATES_GLOBAL app.sums
    """,
}
